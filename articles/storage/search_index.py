"""The index by which articles are found by words of their headlines and texts: its writer, and its readers.

An article is found in every form that its language gives a word, by PostgreSQL's own text search.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from operator import or_
from typing import Any

from django.contrib.postgres.search import SearchHeadline, SearchQuery
from django.db import transaction
from django.db.models import Func, Max, Q, QuerySet, Value
from django.db.models.functions import Left

from articles.grouping import by_key
from articles.models import Article, ArticleWords, Newspaper
from articles.normalization.searches import UNSEPARATED, SearchError, WordSearch, characters_apart, read_search
from articles.querysets import executed, fetched, given
from articles.storage.ingest import newest_revision
from articles.storage.locks import Lock, lock_transaction

# How articles of a language are read, by its ISO 639 code: PostgreSQL 15 knows the forms of its words, or it does not
# separate them. Words of others are taken as they are.
LANGUAGES = {
    **dict.fromkeys(("ja", "km", "lo", "my", "th", "zh"), "characters"),
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english", "es": "spanish",
    "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi", "hu": "hungarian",
    "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian", "ne": "nepali", "nl": "dutch",
    "no": "norwegian", "nb": "norwegian", "nn": "norwegian", "pt": "portuguese", "ro": "romanian", "ru": "russian",
    "sr": "serbian", "sv": "swedish", "ta": "tamil", "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
BY_CHARACTERS, _OTHER = "characters", "simple"
# Of an article; PostgreSQL takes a megabyte of words at most.
MOST_CHARACTERS = 100_000
# Passages are looked for in so much of a text, which takes a millisecond or two.
LOOKED_AT = 10_000
_PASSAGES: Any = {"max_fragments": 2, "max_words": 24, "min_words": 10, "short_word": 0, "fragment_delimiter": " … "}
_MARKS = re.compile("[\1\2]")
_APART = re.compile(f"(?<=[{UNSEPARATED}\1\2]) +(?=[{UNSEPARATED}\1\2])")
# Articles per transaction: about a second.
_AT_ONCE = 1_000

_INDEX_SQL = """
WITH portion AS MATERIALIZED (
    SELECT id, revision, normalized_title AS title, left(normalized_text, %(most)s) AS content,
           coalesce(%(readings)s::jsonb ->> language, %(other)s) AS reading
    FROM articles_article WHERE revision > %(after)s AND revision <= %(last)s ORDER BY revision LIMIT %(at_once)s
), separated AS (
    SELECT id, revision, reading, reading::regconfig AS language, title, content
    FROM portion WHERE reading <> %(by_characters)s
    UNION ALL
    SELECT id, revision, reading, %(other)s, regexp_replace(title, %(character)s, ' \\1 ', 'g'),
           regexp_replace(content, %(character)s, ' \\1 ', 'g')
    FROM portion WHERE reading = %(by_characters)s
)
INSERT INTO articles_articlewords (article_id, revision, reading, words)
SELECT id, revision, reading, setweight(to_tsvector(language, title), 'A') || to_tsvector(language, content)
FROM separated
ON CONFLICT (article_id) DO UPDATE
SET revision = excluded.revision, reading = excluded.reading, words = excluded.words
"""
# Each is looked up in the index article_words_reading.
_READINGS_SQL = """
SELECT reading FROM unnest(%(readings)s::text[]) AS known (reading)
WHERE EXISTS (SELECT FROM articles_articlewords AS words WHERE words.reading = known.reading)
"""


def index_words() -> Iterator[int]:
    """Bring the index up to date, some articles at a time, each portion in a transaction; yield how many it had."""
    if not not_indexed().exists():
        return
    last, indexed = newest_revision(), 1
    while indexed:
        with transaction.atomic():
            lock_transaction(Lock.SEARCH)
            indexed = executed(
                _INDEX_SQL,
                {
                    "after": _indexed_up_to(),
                    "last": last,
                    "at_once": _AT_ONCE,
                    "most": MOST_CHARACTERS,
                    "readings": json.dumps(LANGUAGES),
                    "other": _OTHER,
                    "by_characters": BY_CHARACTERS,
                    "character": f"([{UNSEPARATED}])",
                },
            )
        yield indexed


def not_indexed() -> QuerySet[Article]:
    """Return the articles that a search cannot find yet, or only by words that they had before."""
    return Article.objects.filter(revision__gt=_indexed_up_to()).order_by()


def _indexed_up_to() -> int:
    newest: int | None = ArticleWords.objects.aggregate(newest=Max("revision"))["newest"]
    return newest or 0


def checked(text: str) -> WordSearch:
    """Return what a text searches for. Raises SearchError, also if no words are indexed."""
    if text and not ArticleWords.objects.exists():
        raise SearchError("No words are indexed yet. A worker indexes them, and so does manage.py index_search.")
    return read_search(text)


def having_words(search: WordSearch, words: str = "") -> Q:
    """Return the condition for articles with the words of a search, which has some; `words` is the way to ArticleWords.

    Each language reads the words in its own way, so that an article is found by the forms of its own.
    """
    known = fetched(_READINGS_SQL, {"readings": sorted({*LANGUAGES.values(), BY_CHARACTERS, _OTHER})})
    return reduce(
        or_,
        (Q(**{f"{words}reading": reading, f"{words}words": query_of(search, reading)}) for (reading,) in known),
        Q(pk__in=[]),
    )


def snippets(search: WordSearch, articles: Iterable[int]) -> dict[int, list[tuple[str, bool]]]:
    """Return passages of these articles with words of a search, by id: stretches, each with whether it was searched.

    They are from the first LOOKED_AT characters; of a text that has none of the words there, it is its beginning.
    """
    found: dict[int, list[tuple[str, bool]]] = {}
    known = ArticleWords.objects.filter(pk__in=list(articles)).values_list("reading", "pk")
    for reading, ids in by_key((reading, pk) for reading, pk in known).items():
        text: Any = Left("content", LOOKED_AT)
        if reading == BY_CHARACTERS:
            text = Func(text, Value(f"([{UNSEPARATED}])"), Value(r" \1 "), Value("g"), function="regexp_replace")
        query, language = query_of(search, reading), _language_of(reading)
        shown = SearchHeadline(text, query, config=language, start_sel="\1", stop_sel="\2", **_PASSAGES)
        for pk, passage in Article.objects.filter(pk__in=ids).values_list("pk", shown):
            together = _APART.sub("", passage) if reading == BY_CHARACTERS else passage
            stretches = _MARKS.split(" ".join(together.split()))
            found[pk] = [(stretch, place % 2 == 1) for place, stretch in enumerate(stretches) if stretch]
    return found


def query_of(search: WordSearch, reading: str) -> SearchQuery:
    """Return the words of a search as they were read in some articles."""
    words = characters_apart(search.words) if reading == BY_CHARACTERS else search.words
    return SearchQuery(words, config=_language_of(reading), search_type="raw")


def _language_of(reading: str) -> str:
    return _OTHER if reading == BY_CHARACTERS else reading


_OF_NAME: dict[str, Callable[[str], Q]] = {
    "newspaper": lambda name: Q(newspaper__name__icontains=name),
    "collection": lambda name: Q(newspaper__in=Newspaper.objects.filter(collections__name__icontains=name)),
}


def narrowed_to(search: WordSearch) -> Q:
    """Return the condition of a search for newspapers, collections, languages and days of articles."""
    named, but = (
        reduce(or_, (_OF_NAME[field](name) for field, name in names), Q())
        for names in (search.newspapers, search.but_newspapers)
    )
    bounds = given(date__gte=search.after, date__lt=search.before, language__in=search.languages or None)
    return named & (~but if but else Q()) & bounds
