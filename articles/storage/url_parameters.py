"""Detects dropped URL parameters that distinguish a newspaper's stories, and keeps them from then on.

normalize_url drops parameters that are decoration on most sites but number the stories on some. If different stories
of one newspaper get the same form, the parameter in which their URLs differ is learnt: it is added to the newspaper's
kept_url_parameters, with the two URLs as evidence, and the forms of that newspaper's URLs are updated.
"""

import logging
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations, islice
from operator import or_
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import MD5, Left

from articles.models import Article, ArticleURL, LearntParameter, Newspaper
from articles.normalization.parameters import is_tracker
from articles.normalization.urls import comparable_url, dropped_parameters
from articles.storage.fingerprints import md5

logger = logging.getLogger(__name__)

# More parameters of one newspaper are noise, or malice.
MAX_LEARNT = 20
# At most this many articles of a form are compared with each other.
MAX_ARTICLES = 25
_MAX_ROWS = 2_000
_MAX_PARAMETERS = 30  # of a URL
_NAME = re.compile(r"[a-z0-9_.-]{1,40}")
# A shorter text may be a notice instead of a story; teasers of feeds are longer.
_LEAST_CHARACTERS = 120
_READ_CHARACTERS = 20_000
_SHINGLE_WORDS = 4
# Measured on labelled pairs of news: none of 89 duplicates and 54 versions is taken for two stories, and 87 of 100
# pairs of different stories are.
_MOST_SHARED = 0.1
_MOST_SHARED_WORDS = 0.5  # of their titles
# Decoration may differ on one page whose content changes (a front page, a notice), but rarely on three stories.
_STORIES_OF_A_TRACKER = 3
# Normalised titles of pages that change under their URL, and of notices.
_NO_STORY = re.compile(
    r"\b(?:live|liveblog|liveticker|newsticker|ticker|updates|en direct|en vivo|ao vivo|error|not found|access denied"
    r"|forbidden|unavailable|captcha|just a moment|are you a robot|javascript|subscribe|log in|login|sign in)\b"
    r"|\A[45]\d\d\b"
)


@dataclass(slots=True)
class _Seen:
    """An article of a form, and the parameters dropped from its URLs: by name and value, the URL."""

    article_id: int
    title: str
    text_digest: UUID | None
    dropped: dict[str, dict[str, str]] = field(default_factory=lambda: defaultdict(dict))


@dataclass(frozen=True)
class _Collision:
    """Two articles with the same form."""

    first: _Seen
    second: _Seen

    @cached_property
    def names(self) -> frozenset[str]:
        """The parameters that were dropped from URLs of both, with different values."""
        first, second = self.first.dropped, self.second.dropped
        return frozenset(name for name in first.keys() & second.keys() if first[name].keys().isdisjoint(second[name]))


def learn_parameters(forms: Collection[str], new: Collection[int]) -> set[int]:
    """Learn from URLs whose forms other articles share; return the ids of the articles whose forms changed.

    `forms` are those of stored URLs that have decoration, and `new` the ids of the articles to learn from. Call it
    inside ingest.writing(). Costs one index query if no form is shared, and none without forms.
    """
    changed: set[int] = set()
    for newspaper_id, articles in _sharing(forms):
        some = sorted(articles, key=lambda row: (row.article_id not in new, row.article_id))[:MAX_ARTICLES]
        pairs = list(combinations(some, 2))
        suspected = [
            _Collision(one, other)
            for one, other in pairs
            if one.article_id in new and may_be_two_stories(one.title, other.title)
        ]
        confirmed = _confirmed([collision for collision in suspected if collision.names], newspaper_id, articles)
        one_text = [
            _Collision(*pair) for pair in pairs if pair[0].text_digest and pair[0].text_digest == pair[1].text_digest
        ]
        for collision, name in _distinguishing(confirmed, Counter(name for seen in one_text for name in seen.names)):
            changed |= _keep(newspaper_id, name, collision)
    return changed


def update_forms_with(newspaper: Newspaper, names: Collection[str]) -> set[int]:
    """Update the forms of a newspaper's URLs with one of these parameters; return the ids of the changed articles."""
    changed = []
    named = reduce(or_, (Q(url__icontains=name) for name in names), Q(pk__in=()))
    for url in ArticleURL.objects.filter(named, article__newspaper=newspaper):
        form = comparable_url(url.url, newspaper.kept_url_parameters)
        if url.normalized_url != form:
            url.normalized_url = form
            changed.append(url)
    ArticleURL.objects.bulk_update(changed, ["normalized_url"], batch_size=1_000)
    return {url.article_id for url in changed}


def _sharing(forms: Collection[str]) -> Iterator[tuple[int, list[_Seen]]]:
    """Yield the articles that share one of the forms with others of their newspaper. Uses article_url_normalized."""
    if not forms:
        return
    stored = ArticleURL.objects.annotate(digest=MD5("normalized_url")).order_by("-id")
    found = stored.filter(digest__in=[md5(form) for form in forms]).values_list("digest", "article_id")
    having = Counter(digest for digest, _ in set(found))
    shared = [digest for digest, articles in having.items() if articles > 1]
    rows = stored.filter(digest__in=shared, article__paywalled=False).values_list(
        "article__newspaper_id", "digest", "article_id", "article__normalized_title",
        "article__text_digest", "url", "article__newspaper__kept_url_parameters",
    )  # fmt: skip
    groups: dict[tuple[int, str], dict[int, _Seen]] = defaultdict(dict)
    for newspaper_id, digest, article_id, title, text_digest, url, kept in rows[:_MAX_ROWS]:
        article = groups[newspaper_id, digest].setdefault(article_id, _Seen(article_id, title, text_digest))
        named = ((name, value) for name, value in dropped_parameters(url, kept).items() if _NAME.fullmatch(name))
        for name, value in islice(named, _MAX_PARAMETERS):
            article.dropped[name].setdefault(value, url)
    for (newspaper_id, _), articles in groups.items():
        if len(articles) > 1:
            yield newspaper_id, list(articles.values())


def may_be_two_stories(first: str, second: str) -> bool:
    """Return whether two articles may be different stories, by their normalised titles."""
    if not (first and second) or _NO_STORY.search(first) or _NO_STORY.search(second):
        return False
    return _shared_share(set(first.split()), set(second.split())) <= _MOST_SHARED_WORDS


def _confirmed(suspected: Sequence[_Collision], newspaper_id: int, articles: Sequence[_Seen]) -> list[_Collision]:
    """Return the collisions of different stories, by their texts; `articles` are all of the form."""
    if not suspected:
        return []
    some = {url.article_id for collision in suspected for url in (collision.first, collision.second)}
    shingles = _shingles(some, newspaper_id, [article.article_id for article in articles])
    return [
        collision
        for collision in suspected
        if (first := shingles.get(collision.first.article_id))
        and (second := shingles.get(collision.second.article_id))
        and _shared_share(first, second) <= _MOST_SHARED
    ]


def _shingles(
    article_ids: Collection[int], newspaper_id: int, of_form: Collection[int]
) -> Mapping[int, set[tuple[str, ...]]]:
    """Return the shingles of each article's text.

    Short texts are left out, and those that the newspaper has under other URLs too: notices in place of the story.
    """
    rows = Article.objects.filter(pk__in=article_ids).annotate(beginning=Left("normalized_text", _READ_CHARACTERS))
    texts = list(rows.values_list("pk", "text_digest", "beginning"))
    elsewhere = Article.objects.filter(newspaper=newspaper_id, text_digest__in=[digest for _, digest, _ in texts])
    repeated = set(elsewhere.exclude(pk__in=of_form).values_list("text_digest", flat=True))
    found = {}
    for article_id, digest, text in texts:
        if len(text) >= _LEAST_CHARACTERS and digest not in repeated:
            words = text.split()
            found[article_id] = set(zip(*(words[start:] for start in range(_SHINGLE_WORDS)), strict=False))
    return found


def _shared_share(left: set[Any], right: set[Any]) -> float:
    """Return the share of the smaller set that is in the other."""
    return len(left & right) / (min(len(left), len(right)) or 1)


def _distinguishing(collisions: Sequence[_Collision], refuted: Mapping[str, int]) -> Iterator[tuple[_Collision, str]]:
    """Yield the fewest parameters that distinguish the stories, each with a collision that it resolves.

    `refuted` counts, by parameter, the pairs of the same text in which it differs too. Trackers come last.
    """
    left = list(collisions)
    while left:
        votes = Counter(name for collision in left for name in collision.names)
        values = {name: _values(name, left) for name in votes if votes[name] > refuted.get(name, 0)}
        candidates = [name for name in values if not is_tracker(name) or len(values[name]) >= _STORIES_OF_A_TRACKER]
        if not candidates:
            return
        numbers = {name for name in candidates if all(value.isdecimal() for value in values[name])}
        name = min(candidates, key=lambda name: (is_tracker(name), -votes[name], name not in numbers, name))
        yield next(collision for collision in left if name in collision.names), name
        left = [collision for collision in left if name not in collision.names]


def _values(name: str, collisions: Sequence[_Collision]) -> set[str]:
    named = [collision for collision in collisions if name in collision.names]
    return {value for collision in named for value in (*collision.first.dropped[name], *collision.second.dropped[name])}


def _keep(newspaper_id: int, name: str, collision: _Collision) -> set[int]:
    """Keep the parameter unless it was learnt before and removed; return the articles whose forms changed."""
    newspaper = Newspaper.objects.select_for_update().get(pk=newspaper_id)
    if name in newspaper.kept_url_parameters or newspaper.learnt_parameters.count() >= MAX_LEARNT:
        return set()
    first_url, second_url = (next(iter(url.dropped[name].values())) for url in (collision.first, collision.second))
    evidence = {"first_url": first_url, "second_url": second_url}
    _, created = LearntParameter.objects.get_or_create(newspaper=newspaper, name=name, defaults=evidence)
    if not created:
        return set()
    newspaper.kept_url_parameters.append(name)
    newspaper.save(update_fields=["kept_url_parameters"])
    message = "%s: the URL parameter %s distinguishes stories and is now kept; see %s and %s"
    logger.info(message, newspaper.name, name, first_url, second_url)
    return update_forms_with(newspaper, [name])
