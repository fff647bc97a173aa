"""The dashboard, articles and their later versions, history, the faults, reports, and the admin pages."""

import datetime
import html
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from articles.models import Article, ArticleRevision, ArticleURL, Newspaper
from articles.paging import count_up_to_ceiling, write_count
from articles.storage.incoming import SeenURL
from articles.storage.ingest import attach_urls
from dedup.answers import Answer
from dedup.models import Decision, DetectionRun, Pair
from dedup.reports import REPORTS
from dedup.reports.exact import ExactReport
from dedup.review.answers import decisions
from tests.conftest import StoreArticle
from tests.factories import make_cluster, make_pair, make_run, make_series, make_user
from tests.pages import opened, text_of

pytestmark = pytest.mark.django_db

PAGES = [
    "dashboard",
    "queue",
    "clusters",
    "series_list",
    "groups",
    "articles",
    "runs",
    "crawls",
    "history",
    "password_change",
]


# ---- what every page keeps ----


@pytest.mark.parametrize("name", PAGES)
def test_pages_keep_a_strict_policy_and_are_clean(visitor: Client, name: str) -> None:
    answer = visitor.get(reverse(name))
    page = answer.content.decode()

    assert answer.status_code == 200
    assert "default-src 'self'" in answer["Content-Security-Policy"]
    assert " style=" not in page
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]* src=)", page)
    assert not re.search(r"\son[a-z]+=", page)


# ---- dashboard ----


def test_the_dashboard_counts(editor_client: Client, store: StoreArticle) -> None:
    make_cluster(store(), store(), store(), score=0.8)
    store()
    make_pair(store(), store(), trigram=0.95)
    page = text_of(editor_client, "/")

    assert "<h1>2 questions " in page
    assert 'href="/queue/next/">Start reviewing' in page
    assert "33.3%" in page
    assert "2 articles repeat " in page
    assert "Run " in page


def test_the_dashboard_counts_what_waits_by_verdict(editor_client: Client, editor: User, store: StoreArticle) -> None:
    for verdict in ("duplicate", "version", "template", "template", "similar", ""):
        make_pair(store(), store(), verdict=verdict, trigram=0.9)
    decisions.decide_pair(make_pair(store(), store(), trigram=0.9).pk, "reject", user=editor)
    page = text_of(editor_client, "/")

    assert "<h1>1 question " in page
    counts = re.findall(r'href="/queue/\?verdict=(\w+)"><strong>(\d+)</strong>', page)
    wanted = [("duplicate", "1"), ("version", "1"), ("template", "2"), ("similar", "1"), ("unjudged", "1")]
    assert counts == wanted


def test_the_dashboard_counts_beyond_the_ceiling_what_the_last_run_knows(
    editor_client: Client, editor: User, store: StoreArticle, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("dedup.review.queries.runs.COUNT_CEILING", "articles.paging.COUNT_CEILING"):
        monkeypatch.setattr(module, 1)
    monkeypatch.setattr(count_up_to_ceiling, "__defaults__", (1,))
    monkeypatch.setattr(write_count, "__defaults__", (1,))
    pairs = [
        make_pair(store(), store(), verdict=kind, trigram=0.9) for kind in ("version", "version", "version", "similar")
    ]
    counts = re.compile(r'href="/queue/\?verdict=(\w+)"><strong>([^<]+)</strong>')
    assert counts.findall(text_of(editor_client, "/")) == [("version", "more than 1"), ("similar", "1")]
    DetectionRun.objects.update(counts={"verdicts": {"version": 3, "similar": 1}})
    assert counts.findall(text_of(editor_client, "/"))[0] == ("version", "3")
    decisions.decide_pair(pairs[0].pk, "reject", user=editor)
    assert counts.findall(text_of(editor_client, "/"))[0] == ("version", "2")


def test_the_dashboard_when_only_clear_cases_are_left(editor_client: Client, store: StoreArticle) -> None:
    make_run()
    make_pair(store(), store(), verdict="template", trigram=0.9)
    page = text_of(editor_client, "/")

    assert "Nothing is waiting for a decision" in page
    assert "clear cases" in page


def test_the_dashboard_costs_a_fixed_number_of_queries(
    editor_client: Client, store: StoreArticle, django_assert_num_queries: Any
) -> None:
    for _ in range(3):
        make_cluster(store(), store(), score=0.8)
        make_run()
    # session, user with permissions and keys, articles, clusters, newspapers, waiting pairs by verdict (5), series,
    # runs; questions less those put off; progress, agreement, disagreements
    with django_assert_num_queries(34):
        text_of(editor_client, "/")


# ---- articles ----


def test_articles_are_filtered(editor_client: Client, store: StoreArticle) -> None:
    first = store(headline="Ferry sails", newspaper="Harbour Post", date="2026-03-02")
    second = store(headline="Pier closes", newspaper="Coast Telegraph", date="2026-03-05")

    def listed(**query: Any) -> list[int]:
        return [
            int(pk)
            for pk in re.findall(
                r'headline-cell"><a href="/articles/(\d+)/', text_of(editor_client, "/articles/", **query)
            )
        ]

    assert listed() == [second.pk, first.pk]
    assert listed(q="ferry") == [first.pk]
    assert listed(date_from="2026-03-03") == [second.pk]
    assert listed(date_to="2026-03-02") == [first.pk]
    assert listed(newspaper=first.newspaper_id) == [first.pk]
    assert listed(newspaper="x", date_from="x", page="zzz") == [second.pk, first.pk]

    Article.objects.filter(pk=first.pk).update(date_doubt="The page names two days.", agency="Reuters")
    Article.objects.filter(pk=second.pk).update(paywalled=True)
    assert listed(look="day") == [first.pk]
    Article.objects.filter(pk=second.pk).update(text_doubt="covers 40% of the page's prose")
    assert listed(look="text") == [second.pk]
    assert listed(look="agency") == [first.pk]
    assert listed(look="paywall") == [second.pk]


def test_an_article_shows_what_is_known_beside_its_text(editor_client: Client, store: StoreArticle) -> None:
    known, unknown = store(), store()
    Article.objects.filter(pk=unknown.pk).update(language="")
    Article.objects.filter(pk=known.pk).update(
        byline="Ilse <Corrigan>",
        agency="Reuters",
        dateline="PORT SELBY, March 2",
        language="si",
        date_source=Article.DateSource.META,
        date_doubt="its address says 5 March 2026",
        text_doubt="covers 40% of the page's prose",
        paywalled=True,
    )

    page = text_of(editor_client, f"/articles/{known.pk}/")
    assert "<b>By</b> <bdi>Ilse &lt;Corrigan&gt;</bdi>" in page
    assert "<b>Agency</b> <bdi>Reuters</bdi>" in page
    assert "<b>Dateline</b> <bdi>PORT SELBY, March 2</bdi>" in page
    assert "<b>Language</b> Sinhala" in page
    assert "its address says 5 March 2026" in page
    assert "Uncertain text: covers 40% of the page&#x27;s prose" in page
    assert "Behind a paywall" in page
    assert f" {html.escape(Article.DateSource.META.label)}." in page
    assert 'class="details"' not in text_of(editor_client, f"/articles/{unknown.pk}/")


def test_an_article_shows_its_headlines_columns_urls_cluster_pairs_and_series(
    editor_client: Client, store: StoreArticle
) -> None:
    first = store(url="https://harbour.example/1", headline="Ferry sails")
    store(url="http://harbour.example/1#top", headline="Ferry <sails> twice", date="2026-03-05")
    other = text_of(editor_client, f"/articles/{store().pk}/")
    extra = r'{"section": "Sport & <sea>", "page": 4.0, "tags": null, "odd": "\ud800"}'
    Article.objects.filter(pk=first.pk).update(extra_columns=extra)
    page = text_of(editor_client, f"/articles/{first.pk}/")

    assert re.search(
        'Ferry &lt;sails&gt; twice</span> <span class="aside">5 Mar 2026, seen .*"http://harbour.example/1#top"', page
    )
    shown = re.findall(r"<dt dir=\"auto\">(.*?)</dt><dd dir=\"auto\">(.*?)</dd>", page)
    assert shown == [
        ("section", "Sport &amp; &lt;sea&gt;"),
        ("page", "4.0"),
        ("tags", "—"),
        ("odd", r"&quot;\ud800&quot;"),
    ]
    assert "Other headlines" not in other
    assert "Extra columns" not in other

    first, second = store("Text <b>bold</b>."), store()
    attach_urls([SeenURL("https://feed.example/1", ArticleURL.Kind.FEED)], known_as=first.url)
    cluster = make_cluster(first, second)
    page = text_of(editor_client, f"/articles/{first.pk}/")

    assert "Text &lt;b&gt;bold&lt;/b&gt;." in page
    assert 'href="https://feed.example/1"' in page
    assert f'href="/clusters/{cluster.pk}/"' in page
    assert f'href="/pairs/{Pair.objects.get().pk}/"' in page
    text_of(editor_client, "/articles/4711000000/", 404)

    first, second = store(headline="Rates of Monday"), store(headline="Rates of Tuesday", date="2026-03-03")
    series = make_series(first.newspaper, "rates of #", first, second)

    link = f'<a href="/series/{series.pk}/" dir="auto">Rates of Tuesday</a>'
    assert f'{link} <span class="aside">(2 articles on 2 days, 2 Mar 2026 to 3 Mar 2026)</span>' in text_of(
        editor_client, f"/articles/{first.pk}/"
    )
    assert "<h2>Series</h2>" not in text_of(editor_client, f"/articles/{store().pk}/")


# ---- history ----


def test_the_history_tells_who_did_what_and_offers_to_undo(
    editor_client: Client, visitor: Client, editor: User, store: StoreArticle
) -> None:
    pair = make_pair(store(headline="Ferry"), store(headline="Pier"), trigram=0.9)
    decision = decisions.decide_pair(pair.pk, "confirm", user=editor, note="<b>Same</b> wire.")
    page = text_of(editor_client, "/history/")

    assert "<strong>mara</strong> confirmed the pair" in page
    assert re.search(r">Ferry</span> / <span lang=\"\w*\" dir=\"auto\">Pier</span>", page)
    assert "&lt;b&gt;Same&lt;/b&gt; wire." in page
    assert f'action="/decisions/{decision.pk}/undo/"' in page
    assert "/undo/" not in text_of(visitor, "/history/")

    answer = editor_client.post(reverse("undo", args=[decision.pk]), {"next": "/history/?kind=undo"})
    assert answer["Location"] == "/history/?kind=undo"
    page = text_of(editor_client, "/history/")
    assert Decision.Kind.UNDO.label in page
    assert "undone by mara" in page
    assert "/undo/" not in page
    pair.refresh_from_db()
    assert pair.state == "undecided"
    again = decisions.decide_pair(pair.pk, "confirm", user=editor)
    answer = editor_client.post(f"{reverse('undo', args=[again.pk])}?same=False", {"next": "https://evil.example/"})
    assert answer["Location"] == f"/pairs/{pair.pk}/?same=False"


def test_the_history_is_filtered(editor_client: Client, editor: User, store: StoreArticle) -> None:
    other = make_user("otto", "editor")
    pair = make_pair(store(), store(), trigram=0.9)
    decisions.decide_pair(pair.pk, "confirm", user=editor)
    decisions.decide_pair(pair.pk, "reject", user=other)

    assert "1 decision<" in text_of(editor_client, "/history/", decided_by=other.pk)
    assert Answer.REJECT.facts.did not in text_of(editor_client, "/history/", kind="confirm").split('id="results"')[1]
    assert "2 decisions" in text_of(editor_client, "/history/", kind="nonsense", decided_by="x")


# ---- faults ----


def test_pages_that_are_not_there_and_forms_without_a_token(editor_client: Client, editor: User) -> None:
    assert "Page not found" in text_of(editor_client, "/no/such/page/", 404)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(editor)
    assert "This form has expired" in strict.post("/pairs/1/decide/").content.decode()


def test_the_page_of_an_error_needs_nothing(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dedup.views.articles.page_of", None)
    editor_client.raise_request_exception = False

    assert "Something went wrong" in text_of(editor_client, "/articles/", 500)


def test_the_list_names_each_report_and_runs_none(editor_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ExactReport, "result", lambda *_: pytest.fail("the list ran a report"))
    page = editor_client.get("/reports/").content.decode()
    assert all(f'href="/reports/{name}/"' in page and report.label in page for name, report in REPORTS.items())
    assert page.count('class="row-item') == len({report.page for report in REPORTS.values()}) == 10


def test_the_parts_of_a_page_have_tabs_that_keep_the_options(editor_client: Client) -> None:
    page = editor_client.get("/reports/advice/?since=2026-03-01").content.decode()
    assert "<h1>Detection</h1>" in page
    tabs = re.findall(r'<a href="(/reports/\w+/\?[^"]*)"', page.split('<nav class="tabs"')[1].split("</nav>")[0])
    assert tabs == [f"/reports/{name}/?since=2026-03-01" for name in ("passes", "thresholds", "gaps", "advice")]


def test_options_stay_in_the_address_of_the_files(editor_client: Client, store: StoreArticle) -> None:
    store("The ferry sails.", newspaper="Harbour Post", date="2026-03-02")
    store("The ferry sails.", newspaper="Inland Courier", date="2026-03-03")
    paper = Newspaper.objects.get(name="Harbour Post")
    query = f"since=2026-03-01&until=2026-03-02&newspapers={paper.pk}"
    page = editor_client.get(f"/reports/exact/?{query}")

    assert page.context["summary"].startswith("0 of 1 articles (0.00%)")
    assert f"/reports/exact.csv?{query.replace('&', '&amp;')}" in page.content.decode()
    assert editor_client.get(f"/reports/exact.json?{query}").json()["exact"]["articles"] == 1
    csv = editor_client.get(f"/reports/exact.csv?{query}")
    assert csv["Content-Disposition"] == 'attachment; filename="exact.csv"'
    assert csv.content.decode().splitlines()[:2] == [
        '"table","repeated","groups","articles","share"',
        '"exact","the same headline",0,0,0.0',
    ]


def test_what_makes_no_sense_is_refused(editor_client: Client) -> None:
    page = editor_client.get("/reports/exact/?since=2026-03-02&until=2026-03-01")
    assert page.status_code == 400
    assert "2026-03-01 is before 2026-03-02" in page.content.decode()
    assert "Nothing was computed." in page.content.decode()
    assert editor_client.get("/reports/exact.json?newspapers=0").status_code == 400
    for address in ("/reports/nothing/", "/reports/nothing.csv", "/reports/nothing.json"):
        assert editor_client.get(address).status_code == 404


NOON = datetime.datetime(2026, 3, 2, 12, tzinfo=datetime.UTC)
Kind = ArticleRevision.Kind


def revise(article: Article, number: int, kind: str, headline: str = "", content: str = "", note: str = "") -> None:
    ArticleRevision.objects.create(
        article=article,
        number=number,
        kind=kind,
        seen_at=NOON + datetime.timedelta(hours=number),
        updated_at=NOON if number == 1 else None,
        headline=headline,
        content=content,
        note=note,
        url=article.url,
        body=b"",
    )


def read(client: Client, name: str, *numbers: int) -> str:
    return unescape(opened(client, name, *numbers))


def test_what_changed_is_shown_with_its_times(editor_client: Client, store: StoreArticle) -> None:
    pier = store("The pier closes on Monday.", headline="Pier closes", newspaper="Harbour Post", date="2026-03-02")
    other = store("The pier shuts on Monday.", headline="Pier shuts", newspaper="Coast Telegraph", date="2026-03-02")
    pair = make_pair(pier, other, trigram=0.8)
    assert "ater version" not in read(editor_client, "article", pier.pk)
    assert "ater version" not in read(editor_client, "pair", pair.pk)

    revise(pier, 1, Kind.CHANGED, "Pier closes", "The pier closes on Tuesday.")
    revise(pier, 2, Kind.GONE, note="HTTP 410")
    revise(pier, 3, Kind.BACK, "Pier closes", "The pier closes on Tuesday.")
    revise(pier, 4, Kind.CHANGED, "Pier stays open", "The pier stays open.")
    revise(pier, 5, Kind.GONE, note="HTTP 404")

    page = read(editor_client, "article", pier.pk)
    assert "The pier closes on Monday." in page  # the first version
    assert "changed 2 Mar 2026, 12:00 by its feed or sitemap" in page
    assert page.index("Version 2") < page.index("HTTP 410") < page.index("Back again") < page.index("Version 3")
    assert page.count("“Pier stays open”") == 1
    first = read(editor_client, "article_revision", pier.pk, 1)
    assert "<del>Monday</del>" in first
    assert "<ins>Tuesday</ins>" in first
    assert "Previous version" not in first
    last = read(editor_client, "article_revision", pier.pk, 4)
    assert "version 2, seen 2 Mar 2026, 15:00" in last
    assert "Next version" not in last
    assert reverse("article_revision", args=[pier.pk, 3]) in last

    page = read(editor_client, "pair", pair.pk)
    assert "First article: " in page
    assert "2 later versions" in page
    assert "since 2 Mar 2026, 17:00" in page
    assert "Second article: " not in page.split('class="versions-note"')[1].split("</p>")[0]
    for missing in (2, 5, 6):  # gone, or never stored
        assert editor_client.get(reverse("article_revision", args=[pier.pk, missing])).status_code == 404
