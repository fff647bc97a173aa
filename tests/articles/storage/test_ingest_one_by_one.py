"""The writer of batches against one that stores article after article, each by queries of its own."""

import datetime
import random
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction

from articles.models import Article, ArticlePage, ArticleURL, DeclaredURL, HeadlineVariant, LearntParameter, Newspaper
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.times import parse_date
from articles.normalization.urls import comparable_url, has_decoration, url_key
from articles.storage import ingest, known_articles
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenHeadline, SeenURL, story_url
from articles.storage.ingest import Stored, store_articles
from articles.storage.newspapers import Naming, newspapers_for
from articles.storage.preparing import Forms
from articles.storage.url_parameters import learn_parameters

Kind = ArticleURL.Kind
SEED, BATCHES, BATCH = 14, 4, 40
TIMES = ("published_at", "published_offset", "published_precision", "date_source")
TEXTS = [f"Text {number}: " + " ".join(f"word{number}x{place}" for place in range(40)) for number in range(200)]
TEXTS[0] += '\ttab, back\\slash, "quotes"\r\nand a line with \\N and \\.'


def drawn(chance: random.Random) -> IncomingArticle:
    """Return an article that shares URLs, headlines and texts with others."""
    host, number = chance.choice(["a.example", "www.b.example"]), 1_000 + chance.randrange(40)
    page, day = f"https://{host}/story-{number}", datetime.date(2026, 3, 1 + number % 5)
    url = chance.choice([page, page, f"{page}?sid={number % 3}", f"https://www.google.com/url?url={page}"])
    time = chance.choice(["", f"{day}T10:{number % 60:02}:00+02:00", f"{day}T11:00", "2026-02-01T09:00"])
    others = [f"https://{host}/{chance.choice(['amp/', ''])}{chance.randrange(30)}" for _ in range(chance.randrange(3))]
    details = Details(language="en", byline=chance.choice(["", "Anna Berg"]), date_source="import")
    return IncomingArticle(
        date=day,
        headline=chance.choice(["", *(f"Headline {chance.randrange(25)}" for _ in range(9))]),
        url=url,
        content=chance.choice(TEXTS[: chance.choice([8, 200])]),
        newspaper=chance.choice(["", "Post", "Times", "b.example"]),
        kind=chance.choice(list(Kind)),
        other_urls=[SeenURL(other, Kind.CANONICAL) for other in others],
        details=details.with_time(parse_date(time)[1] if time else None),
        page=PageCopy(url, "text/html", b"<p>", 1) if chance.random() < 0.2 else None,
        headlines=[SeenHeadline("Again", day, url)] if chance.random() < 0.1 else [],
    )


def store_one_by_one(batch: Sequence[IncomingArticle]) -> list[Stored]:
    newspapers = newspapers_for([Naming.of(article.newspaper, article.url) for article in batch])
    before = set(ArticleURL.objects.values_list("pk", flat=True))
    results = [store_one(article, paper) for article, paper in zip(batch, newspapers, strict=True)]
    new = list(ArticleURL.objects.exclude(pk__in=before))
    learn_parameters({url.normalized_url for url in new if has_decoration(url.url)}, {url.article_id for url in new})
    return results


def store_one(new: IncomingArticle, paper: Newspaper) -> Stored:
    story = story_url(new.url)
    first = [SeenURL(story, new.kind if story == new.url else Kind.REDIRECT), SeenURL(new.url, new.kind)]
    seen: dict[UUID, SeenURL] = {}
    for url in (*first, *new.other_urls):
        seen.setdefault(url_key(url.url), url)
    own = [url_key(url.url) for url in first]
    own_forms = {comparable_url(url.url, paper.kept_url_parameters) for url in first}
    declared = {
        key: seen.pop(key)
        for key, url in list(seen.items())
        if key not in own and comparable_url(url.url, paper.kept_url_parameters) not in own_forms
    }
    forms = Forms.of(paper.affixes, new.headline, new.content)
    known = known_article(own, [*seen, *declared], declared, paper, forms)
    article = known or create(new, story, paper, forms)
    for key, url in seen.items():
        form = comparable_url(url.url, article.newspaper.kept_url_parameters)
        values = {"article": article, "url": url.url, "normalized_url": form, "kind": url.kind}
        ArticleURL.objects.get_or_create(key=key, defaults=values)
    for key, url in declared.items():
        there = DeclaredURL.objects.filter(key=key)
        is_told = there.filter(article=article).exists() or there.count() >= known_articles.MAX_DECLARING
        if not is_told and not ArticleURL.objects.filter(key=key).exists():
            DeclaredURL.objects.create(key=key, article=article, url=url.url, kind=url.kind)
    if known is None:
        for headline in new.headlines:
            keep(article, headline)
        return Stored("created", article.pk)
    from_page = known.extractor_version or new.page
    if not (from_page or known.published_at) and new.details.published_day == known.date:
        Article.objects.filter(pk=known.pk).update(**{name: getattr(new.details, name) for name in TIMES})
    came = (SeenHeadline(new.headline, new.date, story), *new.headlines)
    kept = [keep(article, headline) for headline in came if headline.headline not in ("", article.headline)]
    # An earlier "kept" is not overwritten by another one, but a "not kept" is the last word.
    word = "not kept" if "not kept" in kept else "kept" if "kept" in kept else ""
    return Stored("known", article.pk, headline=word)


def known_article(
    own: Sequence[UUID], keys: Sequence[UUID], declared: Mapping[UUID, SeenURL], paper: Newspaper, forms: Forms
) -> Article | None:
    for key in own:
        if found := Article.objects.filter(urls__key=key).first():
            return found
    named = [Article.objects.filter(urls__key=key).first() for key in keys]
    for key in (*own, *declared):
        if not ArticleURL.objects.filter(key=key).exists():
            named += Article.objects.filter(declared_urls__key=key).order_by("declared_urls__id")
    for found in named:
        same_title = found and len(forms.normalized_title) >= 12 and found.normalized_title == forms.normalized_title
        if found and found.newspaper == paper and (same_title or found.text_digest == forms.text_digest):
            return found
    return None


def create(new: IncomingArticle, url: str, paper: Newspaper, forms: Forms) -> Article:
    details = {name: getattr(new.details, name) for name in (*TIMES, "language", "byline")}
    article = Article.objects.create(
        newspaper=paper, date=new.date, headline=new.headline, url=url, content=new.content,
        extractor_version=new.page.extractor_version if new.page else 0, normalizer_version=NORMALIZER_VERSION,
        normalized_title=forms.normalized_title, normalized_text=forms.normalized_text,
        text_digest=forms.text_digest, **details,
    )  # fmt: skip
    if new.page:
        ArticlePage.objects.create(article=article, url=new.page.url, content_type=new.page.content_type, body=b"")
    return article


def keep(article: Article, seen: SeenHeadline) -> str:
    kept = HeadlineVariant.objects.filter(article=article)
    if kept.filter(headline=seen.headline).exists():
        return ""
    if kept.count() >= ingest.MAX_HEADLINE_VARIANTS:
        return "not kept"
    HeadlineVariant.objects.create(article=article, headline=seen.headline, day=seen.day, url=seen.url)
    return "kept"


def tables(first: int) -> list[list[dict[str, Any]]]:
    """Return the rows of all tables without the times of storing; the ids of articles are counted from `first`."""
    apart = {"stored_at", "revision", "seen_at", "fetched_at", "learnt_at", "body", "newspaper_id"}
    found = []
    for model in (Newspaper, Article, ArticleURL, DeclaredURL, HeadlineVariant, ArticlePage, LearntParameter):
        rows = list(model.objects.order_by("pk").values())  # type: ignore[attr-defined]
        for row in rows:
            if "article_id" in row:
                row["article_id"] -= first
        found.append([{name: row[name] for name in row if name not in apart and name != "id"} for row in rows])
    newspapers = Article.objects.order_by("pk").values_list("newspaper__name", flat=True)
    return [*found, [{"newspaper": name} for name in newspapers]]


@pytest.mark.django_db
def test_a_batch_gives_the_rows_that_its_articles_give_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ingest, "MAX_HEADLINE_VARIANTS", 3)
    monkeypatch.setattr(known_articles, "MAX_DECLARING", 2)
    chance = random.Random(SEED)
    batches = [[drawn(chance) for _ in range(BATCH)] for _ in range(BATCHES)]
    both = []
    for store in (store_articles, store_one_by_one):
        with transaction.atomic():
            results = [stored for batch in batches for stored in store(batch)]
            first = min(stored.article_id or 0 for stored in results)
            told = [(stored.outcome, (stored.article_id or 0) - first, stored.headline) for stored in results]
            both.append((told, tables(first)))
            transaction.set_rollback(True)
    (in_batches, stored), (one_by_one, expected) = both
    assert in_batches == one_by_one
    for found, wanted in zip(stored, expected, strict=True):
        assert found == wanted
    counts = [len(rows) for rows in stored[:5]]
    assert all(counts), counts
