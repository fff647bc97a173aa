"""Corpora for the benchmarks: real articles, shuffled and re-dated, and perturbed copies if more are needed.

A copy must not be a duplicate of its original, but must look like news to every contestant. So each round of copies
has its own dictionary, which replaces most words by others of about the same frequency. It is the same for the
whole round: duplicates stay duplicates of each other, while an article and its copy share little. Rounds are
generated one at a time; only the real articles are in memory.
"""

import datetime
import gzip
import itertools
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, LiteralString, NamedTuple

from articles.normalization import NORMALIZER_VERSION
from articles.normalization.text import normalize_text, text_digest
from articles.normalization.titles import normalize_title
from articles.storage.fingerprints import md5

SEED = 20_260_301
FIRST_DAY = datetime.date(2000, 1, 1)
# The share of words that are replaced; an article and its copy then stay below every threshold.
EXCHANGED = 0.75
# The tables of articles, and those that no foreign key leads to.
OF_ARTICLES: LiteralString = (
    "articles_article, articles_newspaper, dedup_headlineform, dedup_articleshingles, dedup_articlesentences, "
    "dedup_openquestion, dedup_watermark, articles_articlewords"
)
# So many days lie between two rounds of copies on their own dates: more than any window of days.
APART = 30
# Words are replaced within groups of similar frequency, so that "the" becomes "of" and not a rare name.
_NEIGHBOURS = 64

_COPY_SQL = """
COPY articles_article (newspaper_id, external_id, date, headline, url, content, normalized_title, normalized_text,
    text_digest, normalizer_version, stored_at, language, byline, agency, dateline, date_source, date_doubt, paywalled,
    extractor_version)
FROM STDIN
"""
# Other columns are as for imported articles: no language, byline, date doubt, paywall or extraction.
_NO_DETAILS = ("", "", "", "", "", "", False, 0)


Exchanges = Mapping[str, str]


class CorpusError(Exception):
    """The file of real articles cannot be used; the message says why."""


class Source(NamedTuple):
    """A real article: its text normalised as an import would, its content as published, and its id if it has one."""

    date: datetime.date
    newspaper: str
    headline: str
    url: str
    text: str
    content: str = ""
    external_id: str = ""


class Row(NamedTuple):
    """An article of a corpus; `round` 0 is the real text, later ones are perturbed copies."""

    date: datetime.date
    newspaper: str
    headline: str
    url: str
    text: str
    round: int


def read_sources(path: Path) -> list[Source]:
    """Return the articles of a .jsonl.gz file in the import format, except those without text or date."""
    try:
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            found = [source for line in lines if (source := _source(json.loads(line))) is not None]
    except (OSError, EOFError, ValueError) as error:
        raise CorpusError(f"{path} cannot be read as .jsonl.gz: {error}") from error
    if not found:
        raise CorpusError(f"{path} has no article with a date (YYYY-MM-DD) and content")
    return found


def _source(fields: dict[str, Any]) -> Source | None:
    content = str(fields.get("content") or "")
    text = normalize_text(content)
    try:
        date = datetime.date.fromisoformat(str(fields.get("date"))[:10])
    except ValueError:
        return None
    if not text:
        return None
    named = (str(fields.get(name) or "") for name in ("newspaper", "headline", "url"))
    external_id = fields.get("id") or fields.get("external_id") or ""
    return Source(date, *named, text, content, str(external_id))


def corpus(sources: Sequence[Source], size: int, per_day: int | None) -> Iterator[Row]:
    """Yield `size` articles in order of date, `per_day` of them per day.

    None keeps the articles' own dates and yields the last `size` real articles, or all if there are fewer.
    """
    if per_day is None:
        for source in sorted(sources, key=lambda source: source.date)[-size:]:
            yield Row(*source[:5], round=0)
        return
    for date, source, number, exchanged in dealt(sources, size, per_day):
        text = perturbed(source.text, exchanged) if number else source.text
        yield Row(date, *source[1:4], text, round=number)


def dealt(
    sources: Sequence[Source], size: int, per_day: int | None
) -> Iterator[tuple[datetime.date, Source, int, Exchanges]]:
    """Yield `size` articles in order of date, each with the round of copies it is from and its words to replace.

    The articles come shuffled, then round after round of copies. Round 0 are the real articles. Without `per_day` they
    keep their own dates: the last ones if there are more than `size`, and each round of copies begins APART days after
    the one before has ended.
    """
    order = sorted(sources, key=lambda source: source.date)[-size:] if per_day is None else list(sources)
    days = (order[-1].date - order[0].date).days + APART
    if per_day is not None:
        random.Random(SEED).shuffle(order)
    words = by_frequency(source.text for source in order) if size > len(order) else []
    exchanged: Exchanges = {}
    for place in range(size):
        number, which = divmod(place, len(order))
        if number and not which:
            exchanged = exchanges(words, number)
        if per_day is None:
            date = order[which].date + datetime.timedelta(days=days * number)
        else:
            date = FIRST_DAY + datetime.timedelta(days=place // per_day)
        yield date, order[which], number, exchanged


def by_frequency(texts: Iterable[str]) -> list[str]:
    """Return the words of the texts, the most frequent first; equally frequent ones alphabetically."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.split())
    return sorted(counts, key=lambda word: (-counts[word], word))


def exchanges(words: Sequence[str], number: int) -> dict[str, str]:
    """Return the replacements of a round of copies: about EXCHANGED of the words, by words of similar frequency."""
    dice = random.Random(f"{SEED} {number}")
    exchanged: dict[str, str] = {}
    for start in range(0, len(words), _NEIGHBOURS):
        chosen = [word for word in words[start : start + _NEIGHBOURS] if dice.random() < EXCHANGED]
        dice.shuffle(chosen)
        # Each is replaced by the next: no two words become one.
        exchanged |= dict(zip(chosen, chosen[1:] + chosen[:1], strict=True))
    return exchanged


def perturbed(text: str, exchanged: Exchanges) -> str:
    """Return a normalised text with its words replaced; the result is normalised too."""
    return " ".join([exchanged.get(word, word) for word in text.split()])


def load(rows: Iterable[Row], connection: Any) -> int:
    """Replace the articles of a migrated database by a corpus, with COPY; return the number of articles.

    Call it in a transaction: foreign keys to newspapers are valid only at its end.

    Not through ingest, which would take most of an hour for a million articles and is not measured. The columns that
    passes read have the values that ingest would write; the content is the normalised text.
    """
    newspapers: dict[str, int] = {}
    stored_at = datetime.datetime.now(datetime.UTC)
    with connection.cursor() as cursor:
        # Revisions begin again: what an earlier run has noted as up to date would be believed of these articles.
        cursor.execute(f"TRUNCATE {OF_ARTICLES} RESTART IDENTITY CASCADE")
        with cursor.copy(_COPY_SQL) as copy:
            count = 0
            for count, row in enumerate(rows, start=1):  # noqa: B007 - its last value is the number of rows
                newspaper = newspapers.setdefault(row.newspaper[:200], len(newspapers) + 1)
                copy.write_row(_columns(row, newspaper, stored_at))
        cursor.executemany(
            "INSERT INTO articles_newspaper (name, host, title_affixes, learnt_affixes, refused_affixes,"
            " kept_url_parameters, crawl, feed_urls, sitemap_urls, section_urls, article_url_pattern)"
            " VALUES (%s, '', '{}', '{}', '{}', '{}', true, '{}', '{}', '{}', '')",
            [(name,) for name in newspapers],
        )
    return count


def _columns(row: Row, newspaper: int, stored_at: datetime.datetime) -> tuple[Any, ...]:
    url = f"{row.url}#copy-{row.round}" if row.round else row.url
    title = normalize_title(row.headline, [row.newspaper])
    digest = text_digest(row.text)
    fields = (newspaper, "", row.date, row.headline, url, row.text, title, row.text)
    return (*fields, digest, NORMALIZER_VERSION, stored_at, *_NO_DETAILS)


def pairs_in_window(articles_by_day: Mapping[int, int], days: int) -> int:
    """Return how many pairs of articles are at most `days` days apart; the keys are day numbers."""
    return sum(
        count * (count - 1) // 2 + count * sum(articles_by_day.get(day + ahead, 0) for ahead in range(1, days + 1))
        for day, count in articles_by_day.items()
    )


# The fastest level: a file of a million articles takes a minute to write, and decompressing costs nearly nothing.
_LEVEL = 1

Fields = dict[str, str]


class Spelling(dict[str, str]):
    """Replaces what stands between two blanks, and keeps its capitals and punctuation: “Ferry,” becomes “Bridge,”."""

    def __init__(self, exchanged: Exchanges) -> None:
        super().__init__()
        self._exchanged = exchanged

    def __missing__(self, token: str) -> str:
        words = normalize_text(token).split()
        replaced = [self._exchanged.get(word, word) for word in words]
        self[token] = token if words == replaced else _spelt_like(token, " ".join(replaced))
        return self[token]

    def of(self, content: str) -> str:
        """Return a text with its words replaced and its lines kept."""
        return "\n".join([" ".join([self[token] for token in line.split()]) for line in content.split("\n")])


def _spelt_like(token: str, words: str) -> str:
    """Return the words with the capitals of the token and the signs before and after its first and last letter."""
    places = [place for place, sign in enumerate(token) if sign.isalnum()]
    first, last = (places[0], places[-1]) if places else (0, len(token) - 1)
    core = token[first : last + 1]
    if len(core) > 1 and core.isupper():
        words = words.upper()
    elif core[:1].isupper():
        words = words[:1].upper() + words[1:]
    return token[:first] + words + token[last + 1 :]


def articles(sources: Sequence[Source], size: int, per_day: int | None) -> Iterator[Fields]:
    """Yield the fields of `size` articles in the import format, as `dealt` gives them."""
    spelling, round_ = Spelling({}), 0
    for date, source, number, exchanged in dealt(sources, size, per_day):
        if number != round_:
            spelling, round_ = Spelling(exchanged), number
        yield {
            "date": date.isoformat(),
            "newspaper": source.newspaper,
            "headline": spelling.of(source.headline) if number else source.headline,
            "url": _copied(source.url, number) if number else source.url,
            "content": spelling.of(source.content) if number else source.content,
        }


def _copied(url: str, number: int) -> str:
    """Return a URL of the same site, but of no page of the source: the number of a post would make both a pair."""
    return f"{'/'.join(url.split('/')[:3])}/copy-{number}/{md5(f'{url} {number}')}"


def write_files(rows: Iterable[Fields], files: Sequence[tuple[Path, int]]) -> None:
    """Write so many of the articles into each .jsonl.gz file, one file after the other."""
    remaining = iter(rows)
    for path, count in files:
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=_LEVEL) as file:
            for row in itertools.islice(remaining, count):
                file.write(json.dumps(row, ensure_ascii=False) + "\n")
