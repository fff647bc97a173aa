"""The page on which admins give a newspaper an extraction rule of its own."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import NO_RULE, ExtractionRule
from articles.extraction.trial import Reading, TrialError, Tried
from articles.jobs.work import do_job
from articles.models import ExtractionRule as SavedRule
from articles.models import Job, Newspaper
from articles.storage.extraction_rules import rule_of
from dedup.review.rules import trials as rule_trials
from dedup.review.rules.trials import RuleTrial, TriedPage
from tests.articles.storage.test_extraction_rules import OFFER, TEXT, crawl
from tests.factories import make_user
from tests.pages import notices

pytestmark = pytest.mark.django_db
EMPTY = dict.fromkeys(("body", "headline", "day", "authors", "drop", "note", "url", "restores"), "")
ASKED: list[ExtractionRule] = []


def fetch_made_up(url: str, rule: ExtractionRule) -> ExtractedArticle:
    ASKED.append(rule)
    if url.endswith("/gone"):
        raise ValueError("The page does not exist.")
    return ExtractedArticle(text=TEXT, headline="A made-up page", date=None, date_source=None, canonical_url=None)


def test_a_rule_is_tried_saved_replaced_and_saved_again(
    admin_client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch, django_assert_max_num_queries: Any
) -> None:
    crawl(1, 2, 3)
    paper = Newspaper.objects.get()
    page = f"/newspapers/{paper.pk}/rule/"
    settings.PAGE_FETCHER = f"{__name__}.fetch_made_up"
    url = "https://paper.example/refused"
    assert f'value="{url}"' in admin_client.get(page, {"url": url}).content.decode()

    values = EMPTY | {"body": "  main\r\n\r\ndiv.story ", "headline": "title"}
    with django_assert_max_num_queries(30):
        tried = admin_client.post(page, values | {"url": url})
    trial = tried.context["trial"]
    assert (len(trial.pages), trial.fetched.headline) == (3, "A made-up page")
    assert [ExtractionRule(body=("main", "div.story"), headline=("title",))] == ASKED
    counts = dict(trial.counts)
    assert (counts["Another text"], counts["Other day"], counts["No article with the rule"]) == (3, 0, 0)
    shown = tried.content.decode()
    assert f"<del>{OFFER[:30]}" in shown
    assert 'name="save"' in shown
    assert not SavedRule.objects.exists()
    # Neither what is not valid can be saved, nor what takes too long.
    for wrong in ("//p[", "//p[count(preceding::div[count(following::p) > 3]) > 2]"):
        refused = admin_client.post(page, EMPTY | {"body": wrong, "save": "1"})
        assert (refused.status_code, SavedRule.objects.count()) == (400, 0)
    monkeypatch.setattr(rule_trials, "try_rule", lambda *_args, **_named: _too_slow())
    assert "The trial took too long." in admin_client.post(page, values).content.decode()

    nothing = Tried(Reading(), Reading())
    monkeypatch.setattr(rule_trials, "try_rule", lambda _rule, pages, **_named: [nothing] * len(pages))
    saved = admin_client.post(page, values | {"note": "An advertisement", "save": "1"}, follow=True)
    assert notices(saved.content.decode()) == [("success", [])]
    first = SavedRule.objects.get()
    assert (first.body, first.headline, first.note) == (["main", "div.story"], ["title"], "An advertisement")
    assert (str(first.saved_by), saved.context["outdated"]) == ("ada", 3)
    again = admin_client.post(page, values | {"save": "1"})
    assert "the newspaper has this rule already" in again.content.decode()

    admin_client.post(page, EMPTY | {"save": "1"})
    paper.refresh_from_db()
    assert not rule_of(paper)
    older = admin_client.get(page, {"version": first.pk}).context["form"]
    assert (older.initial["body"], older.initial["restores"]) == (("main", "div.story"), first.pk)
    admin_client.post(page, values | {"restores": first.pk, "save": "1"})
    admin_client.post(page, values | {"body": "div.story", "restores": first.pk, "save": "1"})
    assert list(paper.extraction_rules.values_list("restores", flat=True)) == [None, first.pk, None, None]

    missing = admin_client.post(page, values | {"url": "https://paper.example/gone"})
    assert "The page does not exist." in missing.content.decode()
    assert admin_client.get("/newspapers/987654321/rule/").status_code == 404


def _too_slow() -> Any:
    raise TrialError("The trial took too long.")


def test_the_worker_extracts_the_pages_again(admin_client: Client) -> None:
    crawl(1)
    paper = Newspaper.objects.get()
    paper.extraction_rule = SavedRule.objects.create(
        newspaper=paper, body=["div.story"], saved_by=make_user("eve", "admin")
    )
    paper.save()
    for _ in range(2):
        admin_client.post(f"/newspapers/{paper.pk}/rule/apply/")
    job = Job.objects.get()
    do_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", 1)
    assert paper.articles.get().content == TEXT
    assert admin_client.get(f"/newspapers/{paper.pk}/rule/").context["outdated"] == 0


def test_a_trial_lists_what_differs_and_how_often() -> None:
    same = Reading("The old ferry sails at noon.", "Ferry", "2026-03-02", "", "")
    other = Reading("The old ferry sails at noon again.", "Ferry", "2026-03-03", "Liv Dahl", "")
    pages = [
        TriedPage(Tried(same, other), "https://paper.example/1"),
        TriedPage(Tried(same, same), "https://paper.example/2"),
        TriedPage(Tried(Reading(reason="It has no text."), same), "https://paper.example/3"),
        TriedPage(Tried(same, Reading(reason="It has no text.")), "https://paper.example/4"),
    ]
    assert [page.has_changed for page in pages] == [True, False, True, True]
    assert pages[0].facts == [
        ("Headline", "Ferry", "Ferry"),
        ("Day", "2026-03-02", "2026-03-03"),
        ("Authors", "", "Liv Dahl"),
    ]
    assert pages[2].facts == [("Headline", "", "Ferry"), ("Day", "", "2026-03-02")]
    assert (pages[0].text.same, pages[0].text.inserted, pages[0].text.deleted) == (6, 1, 0)
    trial = RuleTrial(pages)
    assert trial.counts == [
        ("Another text", 3),
        ("Other headline", 2),
        ("Other day", 3),
        ("Other authors", 1),
        ("Other doubts", 0),
        ("No article before", 1),
        ("No article with the rule", 1),
    ]
    assert (trial.fetched, trial.fetch_fault, pages[0].article) == (None, "", None)


def test_a_trial_reads_stored_pages_and_one_that_is_fetched(
    editor: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(1, 2)
    tried = Tried(Reading("Before."), Reading("After."))

    def try_rule(wanted: ExtractionRule, pages: Sequence[Any], *, current: Any = None) -> list[Tried]:
        assert (wanted, current or NO_RULE) == (rule, NO_RULE)
        assert {page.url for page in pages} <= {article.url for article in paper.articles.all()}
        return [tried] * len(pages)

    monkeypatch.setattr(rule_trials, "try_rule", try_rule)
    paper = Newspaper.objects.get()
    settings.PAGE_FETCHER = f"{__name__}.fetch_made_up"
    rule = ExtractionRule(body=("div.story",))
    trial = rule_trials.try_on_pages(paper, rule, url="", user=editor)
    assert {(page.article, page.url) for page in trial.pages} == {
        (article, article.url) for article in paper.articles.all()
    }
    assert [page.tried for page in trial.pages] == [tried, tried]
    assert (trial.fetched, trial.fetch_fault) == (None, "")
    ASKED.clear()
    fetched = rule_trials.try_on_pages(paper, rule, url="https://paper.example/9", user=editor)
    assert (fetched.fetched, fetched.fetch_fault, ASKED) == (Reading(TEXT, "A made-up page"), "", [rule])
    gone = rule_trials.try_on_pages(paper, rule, url="https://paper.example/gone", user=editor)
    assert (gone.fetched, gone.fetch_fault, len(gone.pages)) == (None, "The page does not exist.", 2)
