"""The page on which admins give a newspaper an extraction rule of its own."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django_tasks_db.models import DBTaskResult

from articles.extraction.extract import ExtractedArticle
from articles.extraction.rules import ExtractionRule
from articles.extraction.trial import Reading, Tried
from articles.models import ExtractionRule as SavedRule
from articles.models import Newspaper
from articles.storage.extraction_rules import rule_of
from dedup.review import rule_trials
from dedup.runs.reextraction import reextract_task
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


@pytest.fixture
def admin_client() -> Client:
    client = Client()
    client.force_login(make_user("ada", "admin"))
    return client


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
    # What takes too long cannot be saved either, nor what is not valid.
    for name, wrong in (("body", "//p["), ("headline", "//p[count(preceding::div[count(following::p) > 3]) > 2]")):
        monkeypatch.setattr(rule_trials, "try_rule", lambda *_args, **_named: _too_slow())
        refused = admin_client.post(page, EMPTY | {name: wrong, "save": "1"})
        assert (refused.status_code, SavedRule.objects.count()) == (400, 0)

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
    raise rule_trials.TrialError("The selector takes too long.")


def test_the_worker_extracts_the_pages_again(admin_client: Client) -> None:
    crawl(1)
    paper = Newspaper.objects.get()
    paper.extraction_rule = SavedRule.objects.create(
        newspaper=paper, body=["div.story"], saved_by=make_user("eve", "admin")
    )
    paper.save()
    for _ in range(2):
        admin_client.post(f"/newspapers/{paper.pk}/rule/apply/")
    [task] = DBTaskResult.objects.all()
    assert reextract_task.call(**task.args_kwargs["kwargs"]) == 1
    assert paper.articles.get().content == TEXT
    assert admin_client.get(f"/newspapers/{paper.pk}/rule/").context["outdated"] == 0
