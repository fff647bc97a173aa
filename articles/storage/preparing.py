"""Prepares articles for the writer: all that can be computed before it has its lock, in any process."""

from __future__ import annotations

import dataclasses
import datetime
import gzip
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self
from uuid import UUID

from django.db import connection
from psycopg import sql

from articles.loading import when_used
from articles.models import ArticleURL
from articles.normalization import NORMALIZER_VERSION
from articles.normalization.language import detect_languages
from articles.normalization.text import normalize_text, teaser_of, text_digest
from articles.normalization.titles import normalize_title
from articles.normalization.urls import comparable_url, has_decoration, url_key
from articles.storage.incoming import Details, IncomingArticle, PageCopy, SeenHeadline, SeenURL, story_url, url_fault
from articles.storage.newspapers import Naming, Paper

if TYPE_CHECKING:
    from articles.extraction import bylines
else:
    bylines = when_used("articles.extraction.bylines")


@dataclass(frozen=True, slots=True)
class Forms:
    """The normalised forms of an article, which are compared; named as their columns."""

    normalized_title: str
    normalized_text: str
    text_digest: UUID | None

    @classmethod
    def of(cls, affixes: Sequence[str], headline: str, content: str) -> Self:
        """Return the forms by the rules of today and a newspaper's affixes."""
        text = normalize_text(content)
        return cls(normalize_title(headline, affixes), text, text_digest(text))


class PreparedURL(NamedTuple):
    """A URL of an article, its form, and whether decoration is dropped from it for a newspaper that keeps none."""

    url: str
    kind: ArticleURL.Kind
    form: str
    decorated: bool

    @classmethod
    def of(cls, seen: SeenURL, kept: Collection[str]) -> Self:
        """Return it with its form for a newspaper that keeps these parameters."""
        return cls(seen.url, seen.kind, comparable_url(seen.url, kept), has_decoration(seen.url))


def _packed(page: PageCopy) -> PageCopy:
    """Return a page with its bytes, and those of the further pages, compressed."""
    # Without a time in the header, so that the same page gives the same bytes.
    following = [further._replace(body=gzip.compress(further.body, mtime=0)) for further in page.following]
    return dataclasses.replace(page, body=gzip.compress(page.body, mtime=0), following=following)


class Prepared(NamedTuple):
    """A checked article: what the writer decides by, and what it then only passes on.

    `columns` are those of CAME_COLUMNS and `forms` those of FORM_COLUMNS, which follow in a row, as COPY reads them;
    `paper` is the newspaper as it was then. `time` has its time of publication and the source of that; None without
    one, and for an article that came with its page.
    """

    naming: Naming
    paper: Paper
    date: datetime.date
    headline: str
    published_at: datetime.datetime | None
    time: Details | None
    url: str  # of the article, without redirects
    own_keys: Sequence[UUID]  # of that URL, and of the redirect that led to it
    urls: dict[UUID, PreparedURL]  # its own first
    declared: dict[UUID, PreparedURL]  # those that its page declares and that are not believed yet
    headlines: Sequence[SeenHeadline]
    # What comes from the text, or is only passed on; none of it is there of an article that was known.
    normalized_title: str = ""
    text_digest: UUID | None = None
    page: PageCopy | None = None  # with its bytes compressed
    extractor_version: int = 0
    language: str = ""  # that came with it or was found; empty if there is none
    teaser: str = ""  # its normalised text if it is no longer than a teaser
    columns: bytes = b""
    forms: bytes = b""

    @property
    def is_known(self) -> bool:
        """Whether only that was prepared which a known article needs: nothing from its text."""
        return not self.columns


DETAILS = tuple(field.name for field in dataclasses.fields(Details))
CAME_COLUMNS = ("external_id", "date", "headline", "url", "content", "extra_columns", "extractor_version", *DETAILS)
FORM_COLUMNS = ("normalized_title", "normalized_text", "text_digest", "normalizer_version", "revision")
# A trigger counts it up.
_REVISION = 0


def prepare(incoming: IncomingArticle, naming: Naming, paper: Paper) -> Prepared:
    """Prepare a checked article of a newspaper."""
    return prepare_all([(incoming, naming, paper)])[0]


def prepare_again(before: Prepared, incoming: IncomingArticle, paper: Paper) -> Prepared:
    """Prepare an article in full, for another state of its newspaper; a language is not detected a second time."""
    if before.is_known:
        return prepare(incoming, before.naming, paper)
    return _prepared(incoming, before.naming, paper, _addresses(incoming), before.language)


def prepare_all(
    articles: Sequence[tuple[IncomingArticle, Naming, Paper]],
    stored: Callable[[Collection[UUID]], Collection[UUID]] = lambda _keys: (),
) -> list[Prepared]:
    """Prepare many articles; their languages are detected together.

    `stored` returns which of some keys are of URLs of stored articles. Of an article with such a URL only that is
    prepared which the writer needs of a known one.
    """
    addresses = [_addresses(incoming) for incoming, _, _ in articles]
    known = stored({key for address in addresses for key in address.own_keys})
    new = {
        place: incoming
        for place, ((incoming, _, _), address) in enumerate(zip(articles, addresses, strict=True))
        if not any(key in known for key in address.own_keys)
    }
    wanting = [place for place, article in new.items() if _wants_details(article) and not article.details.language]
    found = detect_languages([new[place].content for place in wanting])
    languages = dict.fromkeys(new, "") | dict(zip(wanting, found, strict=True))
    return [
        _prepared(*article, address, languages[place]) if place in languages else _known(*article, address, known)
        for place, (article, address) in enumerate(zip(articles, addresses, strict=True))
    ]


def _prepared(
    incoming: IncomingArticle, naming: Naming, paper: Paper, addresses: _Addresses, language: str
) -> Prepared:
    forms = Forms.of(paper.affixes, incoming.headline, incoming.content)
    details = _details(incoming, paper, language)
    version = incoming.page.extractor_version if incoming.page else 0
    decided = _decided(incoming, naming, paper, addresses)
    return decided._replace(
        normalized_title=forms.normalized_title,
        text_digest=forms.text_digest,
        page=_packed(incoming.page) if incoming.page else None,
        extractor_version=version,
        language=details.language,
        teaser=teaser_of(forms.normalized_text),
        columns=copy_row((
            *(incoming.external_id, incoming.date, decided.headline),
            *(addresses.url, incoming.content, incoming.extra_columns, version),
            *(getattr(details, name) for name in DETAILS),
        ), end=""),
        forms=b"\t" + copy_row((
            *(forms.normalized_title, forms.normalized_text, forms.text_digest, NORMALIZER_VERSION, _REVISION),
        )),
    )  # fmt: skip


def _known(
    incoming: IncomingArticle, naming: Naming, paper: Paper, addresses: _Addresses, known: Collection[UUID]
) -> Prepared:
    """Return what the writer needs of an article with one of these known URLs: nothing that comes from its text."""
    decided = _decided(incoming, naming, paper, addresses)
    return decided._replace(urls={key: url for key, url in decided.urls.items() if key not in known}, declared={})


def _decided(incoming: IncomingArticle, naming: Naming, paper: Paper, addresses: _Addresses) -> Prepared:
    """Return what the writer decides by, without what comes from the text or is only passed on."""
    urls = {key: PreparedURL.of(seen, paper.kept_url_parameters) for key, seen in addresses.urls.items()}
    believed, declared = (urls, {}) if incoming.restored else _split_declared(urls, addresses.own_keys)
    return Prepared(
        naming=naming,
        paper=paper,
        date=incoming.date,
        headline=incoming.headline.strip(),
        published_at=incoming.details.published_at,
        time=incoming.details if incoming.details.published_at and not incoming.page else None,
        url=addresses.url,
        own_keys=addresses.own_keys,
        urls=believed,
        declared=declared,
        headlines=incoming.headlines,
    )


class _Addresses(NamedTuple):
    """The URL of an article, the keys of its own URLs, and all its URLs by key."""

    url: str
    own_keys: tuple[UUID, ...]
    urls: dict[UUID, SeenURL]


def _addresses(incoming: IncomingArticle) -> _Addresses:
    if incoming.restored:  # its `other_urls` are all its URLs, in their order
        own_key = url_key(incoming.url)
        urls = {url_key(seen.url): seen for seen in reversed(incoming.other_urls)}
        urls = dict(reversed(urls.items()))  # of two URLs with one key, the first
        urls.setdefault(own_key, SeenURL(incoming.url, incoming.kind))
        return _Addresses(incoming.url, (own_key,), urls)
    came_under, url = SeenURL(incoming.url.strip(), incoming.kind), story_url(incoming.url.strip())
    own = [came_under] if url == came_under.url else [SeenURL(url, ArticleURL.Kind.REDIRECT), came_under]
    urls = {url_key(seen.url): seen for seen in own}
    own_keys = tuple(urls)
    for seen in incoming.other_urls:
        if not url_fault(seen.url):
            urls.setdefault(url_key(seen.url), seen)
    return _Addresses(url, own_keys, urls)


def _split_declared(
    urls: Mapping[UUID, PreparedURL], own_keys: Sequence[UUID]
) -> tuple[dict[UUID, PreparedURL], dict[UUID, PreparedURL]]:
    """Return the URLs that are believed, and those that its page declares and that have another form.

    The canonical link and the AMP page are declared. Some sites name one story as the canonical URL of all pages.
    """
    kinds = {ArticleURL.Kind.CANONICAL, ArticleURL.Kind.AMP}
    forms = {url.form for key, url in urls.items() if key in own_keys or url.kind not in kinds}
    believed = {key: url for key, url in urls.items() if url.form in forms}
    return believed, {key: url for key, url in urls.items() if key not in believed}


def _wants_details(incoming: IncomingArticle) -> bool:
    """Return whether the article's details are completed from its text: it came without its page."""
    return incoming.page is None and not incoming.restored


def _details(incoming: IncomingArticle, paper: Paper, language: str) -> Details:
    details = incoming.details
    if not _wants_details(incoming):
        return details
    found = bylines.text_bylines(incoming.content, (paper.name, paper.host))
    return dataclasses.replace(
        details,
        language=details.language or language,
        byline=details.byline or found.byline,
        agency=details.agency or found.agency,
        dateline=details.dateline or found.dateline,
    )


# Rows for COPY are written here and not by psycopg, because other processes make them (PostgreSQL manual, "COPY", File
# Formats, text). The backslash first, because the others become one.
_ESCAPES = (("\\", "\\\\"), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t"))


def copy_row(values: Iterable[object], *, end: str = "\n") -> bytes:
    r"""Return a row of texts, numbers, truth values, days, times in UTC and UUIDs, with its line break; None: NULL.

    With the end \t, or none, it is only a part of a row.
    """
    return ("\t".join(map(_cell, values)) + end).encode()


def copy_into(table: str, columns: Iterable[str], rows: Iterable[bytes]) -> None:
    """Add rows to a table, in their order. Raises DatabaseError."""
    names = sql.SQL(", ").join(map(sql.Identifier, columns))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(sql.Identifier(table), names)
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        copy.write(b"".join(rows))


def _cell(value: object) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, bool):
        return "t" if value else "f"
    text = str(value)
    for character, escaped in _ESCAPES:
        if character in text:
            text = text.replace(character, escaped)
    return text
