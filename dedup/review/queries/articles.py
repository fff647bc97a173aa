"""Articles: the search by what an editor types, the page of one with its later versions; and repeated sentences."""

import copy
import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, Max, Min, OuterRef, Q, QuerySet, Sum, Value
from django.db.models.functions import MD5

from articles.boilerplate.mode import Mode
from articles.boilerplate.rules import monday_of
from articles.files.records import members_of, plain
from articles.models import (
    Article,
    ArticleRevision,
    ArticleURL,
    ArticleWords,
    RepeatedSentence,
    WhitelistedSentence,
)
from articles.normalization.logins import without_login
from articles.normalization.searches import SearchError, WordSearch, check_length, read_search
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.urls import comparable_url, normalize_url, url_key
from articles.numbers import is_number, read_number
from articles.paging import COUNT_CEILING
from articles.querysets import ArticleQuerySet
from articles.storage.boilerplate_marks import history_of
from articles.storage.incoming import story_url
from articles.storage.search_index import having_words, narrowed_to, snippets
from dedup.detection.comparison.shown_text import MarkedText, passages
from dedup.detection.runs.judging import boilerplate_of_last_run
from dedup.models import Cluster, DenseGroup, Pair
from dedup.review.queries.lists import IsAnyOf, ids_of, most_probable
from dedup.review.queries.series_and_groups import series_of_article

# Articles shown for each week.
EXAMPLES = 3


def by_sentence(rows: QuerySet[RepeatedSentence]) -> QuerySet[Any]:
    """Return a row for each sentence of these weeks, the most frequent first; `add_texts` completes those shown."""
    grouped = rows.order_by().values("newspaper", "digest")
    counted = grouped.annotate(total=Sum("articles"), weeks=Count("pk"), first_week=Min("week"), last_week=Max("week"))
    return counted.order_by("-total", "newspaper", "digest")


def add_texts(rows: Sequence[Any]) -> None:
    """Add to the rows of by_sentence the text of the sentence and the name of its newspaper."""
    shown = {name: {row[name] for row in rows} for name in ("newspaper", "digest")}
    found = RepeatedSentence.objects.filter(newspaper__in=shown["newspaper"], digest__in=shown["digest"]).order_by()
    grouped = found.values_list("newspaper", "newspaper__name", "digest").annotate(Min("sentence"))
    texts = {(newspaper, digest): (name, text) for newspaper, name, digest, text in grouped}
    for row in rows:
        row["newspaper__name"], row["text"] = texts[row["newspaper"], row["digest"]]


def mark_whitelisted(rows: Sequence[Any]) -> None:
    """Add to the rows of by_sentence whether their sentence is whitelisted."""
    found = WhitelistedSentence.objects.filter(digest__in={row["digest"] for row in rows})
    whitelisted = set(found.order_by().values_list("newspaper", "digest"))
    for row in rows:
        row["whitelisted"] = (row["newspaper"], row["digest"]) in whitelisted


def compared_texts(articles: Sequence[Article]) -> list[MarkedText]:
    """Return the texts of articles with their boilerplate, and whether verdicts leave it out, for their differences."""
    mode = boilerplate_of_last_run() if any(article.boilerplate for article in articles) else Mode.KEEP
    return [MarkedText(article.content, article.boilerplate, date=article.date, mode=mode) for article in articles]


def weeks_of(newspaper_id: int, digest: UUID) -> QuerySet[RepeatedSentence]:
    """Return the weeks in which a newspaper repeats a sentence, the latest first."""
    return RepeatedSentence.objects.filter(newspaper=newspaper_id, digest=digest).order_by("-week")


def sentence_details(newspaper_id: int, digest: UUID) -> dict[str, Any] | None:
    """Return what the page of a sentence shows; None if it is neither repeated nor whitelisted."""
    weeks = weeks_of(newspaper_id, digest)
    latest = weeks.first()
    kept = WhitelistedSentence.objects.select_related("whitelisted_by")
    whitelisted = kept.filter(newspaper=newspaper_id, digest=digest).first()
    known = latest or whitelisted
    if known is None:
        return None
    marked = latest is not None and latest.kind == RepeatedSentence.Kind.WHITELISTED
    return {
        "text": known.sentence,
        "total": weeks.aggregate(total=Sum("articles"))["total"] or 0,
        "latest": latest,
        "whitelisted": whitelisted,
        # Whether the whitelist has changed since the weeks were updated.
        "pending": latest is not None and marked != (whitelisted is not None),
        "history": history_of(newspaper_id, digest),
    }


def with_examples(weeks: Iterable[RepeatedSentence]) -> list[tuple[RepeatedSentence, list[Article]]]:
    """Return these weeks of a sentence, each with the first EXAMPLES articles that have it."""
    named = [(week, week.article_ids[:EXAMPLES]) for week in weeks]
    articles = Article.objects.without_texts().in_bulk({pk for _, ids in named for pk in ids})
    return [(week, [articles[pk] for pk in ids if pk in articles]) for week, ids in named]


def explained(article: Article) -> list[tuple[str, bool, RepeatedSentence | None]]:
    """Return the article's content in stretches, each with whether it is boilerplate and the repeated sentence to show.

    Among neighbouring sentences with the same number of articles, only the last has it.
    """
    found = RepeatedSentence.objects.filter(newspaper=article.newspaper_id, week=monday_of(article.date))
    inside = found.filter(article_ids__contains=[article.pk]) if article.boilerplate else ()
    rows: dict[UUID | None, RepeatedSentence] = {row.digest: row for row in inside}
    stretches: list[tuple[str, bool, RepeatedSentence | None]] = []
    said = 0
    for passage in reversed(list(passages(MarkedText(article.content, article.boilerplate)))):
        row = rows.get(text_digest(normalize_text(passage.text))) if passage.boilerplate else None
        stretches.append((passage.text, passage.boilerplate, row if row and row.articles != said else None))
        if passage.text.strip():
            said = row.articles if row else 0
    return stretches[::-1]


Kind = ArticleRevision.Kind


class ListedRevision(NamedTuple):
    """A revision in a list, without its text. `version` counts the texts, of which the article itself is number 1."""

    stored: ArticleRevision
    version: int
    new_headline: str  # empty if it is the headline of the version before


class ArticleVersions(NamedTuple):
    """An article of a pair, and its revisions, the oldest first."""

    name: str
    article: Article
    revisions: list[ListedRevision]

    @property
    def texts(self) -> int:
        """How many later texts there are."""
        return self.revisions[-1].version - 1

    @property
    def gone(self) -> ListedRevision | None:
        """The last revision if it says that the article is gone."""
        return self.revisions[-1] if self.revisions[-1].stored.kind == Kind.GONE else None


def listed_revisions(article: Article) -> list[ListedRevision]:
    """Return the revisions of an article, the oldest first."""
    listed = []
    headline, version = article.headline, 1
    for row in article.revisions.order_by("number").defer("content", "body"):
        has_text = row.kind != Kind.GONE
        version += row.kind == Kind.CHANGED
        new_headline = row.headline if has_text and row.headline != headline else ""
        headline = row.headline if has_text else headline
        listed.append(ListedRevision(row, version, new_headline))
    return listed


def versions_of(left: Article, right: Article) -> list[ArticleVersions]:
    """Return the revisions of those of two articles that have any."""
    both = (("First article", left), ("Second article", right))
    of = [ArticleVersions(name, article, listed_revisions(article)) for name, article in both]
    return [versions for versions in of if versions.revisions]


def revision(article: Article, number: int) -> dict[str, Any] | None:
    """Return the revision of this number; None if there is none, or one without a text.

    `after` is the article with its text, `before` with that of the version before; `previous` and `following` are its
    neighbours with a text.
    """
    texts = [listed for listed in listed_revisions(article) if listed.stored.kind != Kind.GONE]
    place = next((place for place, listed in enumerate(texts) if listed.stored.number == number), None)
    if place is None:
        return None
    previous, following = texts[place - 1] if place else None, texts[place + 1] if place + 1 < len(texts) else None
    return {
        "listed": texts[place],
        "before": _as_article(article, previous.stored.number) if previous else article,
        "after": _as_article(article, number),
        "previous": previous,
        "following": following,
    }


def _as_article(article: Article, number: int) -> Article:
    """Return the article with the text of a revision, and without the marks of its own text."""
    stored = article.revisions.defer("body").get(number=number)
    shown = copy.copy(article)
    shown.headline, shown.content, shown.boilerplate = stored.headline, stored.content, []
    return shown


CHOICES = 10

# The words and phrases of a search that are not excluded.
_WANTED = re.compile("(?<!!)'([^']+)'")
_SCHEME = re.compile(r"https?:/", re.IGNORECASE)
# A host with a top-level domain of letters, and perhaps a path: not "U.S." and not "3.5".
_ADDRESS = re.compile(r"(?:[\w-]+\.)+[^\W\d_]{2,}(?::\d+)?(?:[/?#]\S*)?")


class Search(NamedTuple):
    """The articles that were found, and a sentence that says why there is none; empty if there are some."""

    articles: list[Article]
    fault: str


def search(text: str) -> Search:
    """Return the first CHOICES articles that fit a text, the newest first, or why none does."""
    text = without_login(text.replace("\0", "").strip())
    try:
        found = matching(Article.objects.without_texts().select_related("newspaper"), text)
    except SearchError as error:
        return Search([], str(error))
    articles = list(found.order_by("-date", "-id")[:CHOICES])
    if articles or not text:
        return Search(articles, "")
    shown = text if len(text) <= 60 else f"{text[:60]}…"
    if is_number(text) and read_number(text) is None:
        return Search([], f"{text[:20]}… has {len(text):,} digits; no article has so high a number.")
    if is_number(text):
        return Search([], f"There is no article {shown}, and no article mentions this number.")
    if is_address(text):
        return Search([], f"No article is stored under {shown}. Look for words of it instead.")
    return Search([], f"No article has all of these words: {shown}. Try fewer words, or the URL.")


def matching(articles: ArticleQuerySet, text: str) -> ArticleQuerySet:
    """Return those of the articles that fit a text, unordered. Raises SearchError.

    A number fits the article with it, and those that have it as a word. A URL fits the article that has it; if none
    has, those with the same URL but for tracking parameters; if there is none either, those with it as a part of
    theirs. Other texts are searches by words (articles/normalization/searches.py); as long as no words are indexed,
    those of headlines are looked at. Served by the indexes article_words, article_headline_words, article_url_parts
    and article_url_normalized.
    """
    text = text.strip()
    check_length(text)
    if is_address(text):
        urls = _with_address(text)
        if (numbers := ids_of(urls, "article")) is not None:
            return articles.filter(IsAnyOf("pk", numbers))
        return articles.filter(Exists(urls.filter(article=OuterRef("pk"))))
    if (number := read_number(text)) is not None and (numbered := articles.filter(pk=number)).exists():
        return numbered
    asked = read_search(text)
    found = articles.filter(narrowed_to(asked))
    if not asked.words:
        return found if asked != WordSearch() else articles.none()
    if not ArticleWords.objects.exists():
        return found.filter(*(Q(headline__icontains=word) for word in _WANTED.findall(asked.words)))
    # Lists do not count more, and to look up more of a phrase takes long.
    numbers = ids_of(ArticleWords.objects.filter(having_words(asked)), most=COUNT_CEILING)
    return found.filter(having_words(asked, "words__") if numbers is None else IsAnyOf("pk", numbers))


def add_snippets(articles: Iterable[Article], text: str) -> None:
    """Add to articles that `matching` found by words the passages that have them, as `snippets` gives them."""
    with suppress(SearchError):
        asked = WordSearch() if is_address(text) else read_search(text)
        found = snippets(asked, [article.pk for article in articles]) if asked.words else {}
        for article in articles:
            vars(article)["snippet"] = found.get(article.pk)


def is_address(text: str) -> bool:
    """Return whether this is a URL or a part of one, such as example.com/2024 or /2024/05/ferry."""
    return bool(_SCHEME.match(text) or _ADDRESS.fullmatch(text) or (text.startswith("/") and " " not in text))


def stored_under(url: str) -> Article | None:
    """Return the article with this URL, or with the same URL but for tracking parameters; None if there is none."""
    exact, same_story = (found.select_related("article__newspaper") for found in _with_url(url))
    owner = exact.first() or same_story.order_by("-id").first()
    return owner.article if owner else None


def _with_address(text: str) -> QuerySet[ArticleURL]:
    if not text.startswith("/"):
        for found in _with_url(text if _SCHEME.match(text) else f"http://{text}"):
            if found.exists():
                return found
    if text.startswith("/"):  # ids of random letters have kept their case
        return ArticleURL.objects.filter(Q(normalized_url__contains=text.lower()) | Q(normalized_url__contains=text))
    return ArticleURL.objects.filter(normalized_url__contains=normalize_url(text).removeprefix("http://") or text)


def _with_url(url: str) -> tuple[QuerySet[ArticleURL], QuerySet[ArticleURL]]:
    """Return the rows of this URL, and those with the same lossy form, which is not that of a front page."""
    known = ArticleURL.objects.filter(key__in={url_key(url), url_key(story_url(url))})
    form = comparable_url(url)
    if form.count("/") < 3 or form.endswith("/"):
        return known, ArticleURL.objects.none()
    by_digest = ArticleURL.objects.alias(digest=MD5("normalized_url")).filter(digest=MD5(Value(form)))
    return known, by_digest.filter(normalized_url=form)


PAIRS_SHOWN = 50


def article_details(article: Article) -> dict[str, Any]:
    """Return what the page of an article shows: its URLs, other headlines, cluster, pairs and series."""
    return {
        "urls": article.urls.all(),
        "headlines": article.headline_variants.all(),
        "revisions": listed_revisions(article),
        "copies": article.attached_copies.defer("page"),
        "extra": [(plain(member.name_json), plain(member.value_json)) for member in members_of(article.extra_columns)],
        "cluster": Cluster.objects.with_kept().filter(memberships__article=article).first(),
        "pairs": most_probable(Pair.objects.touching([article.pk]), PAIRS_SHOWN),
        "series": series_of_article(article),
        "group": DenseGroup.objects.filter(members=article.pk).first(),
        "passages": explained(article),
        "pairs_shown": PAIRS_SHOWN,
    }
