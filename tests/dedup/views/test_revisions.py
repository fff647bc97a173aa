"""The later versions of an article, on its own page, on a page of their own, and on the page of a pair."""

from __future__ import annotations

import datetime
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from articles.models import Article, ArticleRevision
from tests.conftest import StoreArticle
from tests.factories import make_pair
from tests.pages import opened

pytestmark = pytest.mark.django_db
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


def shown(client: Client, name: str, *numbers: int) -> str:
    return unescape(opened(client, name, *numbers))


def test_what_changed_is_shown_with_its_times(editor_client: Client, store: StoreArticle) -> None:
    pier = store("The pier closes on Monday.", headline="Pier closes", newspaper="Harbour Post", date="2026-03-02")
    other = store("The pier shuts on Monday.", headline="Pier shuts", newspaper="Coast Telegraph", date="2026-03-02")
    pair = make_pair(pier, other, trigram=0.8)
    assert "ater version" not in shown(editor_client, "article", pier.pk)
    assert "ater version" not in shown(editor_client, "pair", pair.pk)

    revise(pier, 1, Kind.CHANGED, "Pier closes", "The pier closes on Tuesday.")
    revise(pier, 2, Kind.GONE, note="HTTP 410")
    revise(pier, 3, Kind.BACK, "Pier closes", "The pier closes on Tuesday.")
    revise(pier, 4, Kind.CHANGED, "Pier stays open", "The pier stays open.")
    revise(pier, 5, Kind.GONE, note="HTTP 404")

    page = shown(editor_client, "article", pier.pk)
    assert "The pier closes on Monday." in page  # the first version
    assert "changed 2 Mar 2026, 12:00 by its feed or sitemap" in page
    assert page.index("Version 2") < page.index("HTTP 410") < page.index("Back again") < page.index("Version 3")
    assert page.count("“Pier stays open”") == 1
    first = shown(editor_client, "article_revision", pier.pk, 1)
    assert "<del>Monday</del>" in first
    assert "<ins>Tuesday</ins>" in first
    assert "Previous version" not in first
    last = shown(editor_client, "article_revision", pier.pk, 4)
    assert "version 2, seen 2 Mar 2026, 15:00" in last
    assert "Next version" not in last
    assert reverse("article_revision", args=[pier.pk, 3]) in last

    page = shown(editor_client, "pair", pair.pk)
    assert "First article: " in page
    assert "2 later versions" in page
    assert "since 2 Mar 2026, 17:00" in page
    assert "Second article: " not in page.split('class="versions-note"')[1].split("</p>")[0]
    for missing in (2, 5, 6):  # gone, or never stored
        assert editor_client.get(reverse("article_revision", args=[pier.pk, missing])).status_code == 404
