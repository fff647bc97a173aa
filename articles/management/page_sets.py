"""Reads sets of pages whose article is known, and scores what programs found on them.

Programs other than ours are for comparison; most of them are installed by an extra. Texts are scored by precision,
recall and F1 over sequences of four words: the measure of Scrapinghub's public article extraction benchmark
(scrapinghub/article-extraction-benchmark, evaluate.py), so that the figures can be compared with those published for
other programs. In scripts without blanks, where it counts a sentence as one word, each character counts as a word here.
"""

import gzip
import json
import random
import re
import statistics
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError
from django.core.management.base import CommandError

from articles.extraction.extract import decode_page, extract_article
from articles.extraction.html import join_paragraphs, paragraphs, parse_markup, parse_page
from articles.extraction.metadata import read_declared
from articles.extraction.relevance import shingles

RESAMPLES = 1_000
# In a normal distribution, 95 of 100 means are within this many standard deviations.
_DEVIATIONS = 1.96


@dataclass(frozen=True, slots=True)
class PageScore:
    """The shares of a page's shingles that are right, wrong and missed. Their sum is 1, or 0 if there are none."""

    right: float
    wrong: float
    missed: float

    @property
    def precision(self) -> float:
        return _share(self.right, self.wrong, nothing=0.0 if self.missed else 1.0)

    @property
    def recall(self) -> float:
        return _share(self.right, self.missed, nothing=0.0 if self.wrong else 1.0)

    @property
    def f1(self) -> float:
        return _harmonic_mean(self.precision, self.recall)


def score_page(expected: str, found: str) -> PageScore:
    """Compare a page's reference text with the text that was found; repeated shingles count repeatedly."""
    wanted, got = (Counter(shingles(text, least=1)) for text in (expected, found))
    right = (wanted & got).total()
    wrong, missed = got.total() - right, wanted.total() - right
    total = right + wrong + missed or 1
    return PageScore(right / total, wrong / total, missed / total)


def score_pages(pages: Sequence[PageScore]) -> dict[str, float]:
    """Return the mean precision and recall of all pages, the F1 of the two, and the share of exactly right texts.

    Pages where nothing was found count only for recall.
    """
    precision = statistics.fmean([page.precision for page in pages if page.right + page.wrong] or [0.0])
    recall = statistics.fmean([page.recall for page in pages if page.right + page.missed] or [0.0])
    accuracy = statistics.fmean([not page.wrong and not page.missed for page in pages] or [0.0])
    f1 = _harmonic_mean(precision, recall)
    return {"f1": f1, "precision": precision, "recall": recall, "accuracy": accuracy}


def margins(pages: Sequence[PageScore]) -> dict[str, float]:
    """Return half the 95% confidence interval of each figure (bootstrap over the pages)."""
    dice = random.Random(1)  # noqa: S311 - a sample, not a secret
    samples = [score_pages(dice.choices(pages, k=len(pages))) for _ in range(RESAMPLES)]
    return {name: _DEVIATIONS * statistics.stdev(sample[name] for sample in samples) for name in samples[0]}


def _share(part: float, rest: float, *, nothing: float) -> float:
    return part / (part + rest) if part or rest else nothing


def _harmonic_mean(left: float, right: float) -> float:
    return 2 * left * right / (left + right) if left + right else 0.0


GROUND_TRUTH = "ground-truth.json"
# A page with a lower recall has lost most of its text.
LOST = 0.5
# Of a page, besides its text.
FACTS = ("headline", "day", "authors")


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page and its article. Any of the `texts` is right; a fact that is not known is None."""

    name: str
    url: str
    body: bytes
    texts: tuple[str, ...]
    headline: str | None = None
    day: str | None = None
    authors: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """What a program found on a page. `doubt` is why it thinks that the text may be wrong.

    A fact is None if the program looks for none of its kind, and empty if it found none.
    """

    text: str = ""
    doubt: str | None = None
    headline: str | None = None
    day: str | None = None
    authors: frozenset[str] | None = None


def best_scores(pages: Sequence[KnownPage], found: Sequence[Found]) -> list[PageScore]:
    """Return of each page the score against the reference text that fits best."""
    return [
        max((score_page(text, what.text) for text in page.texts), key=lambda score: score.f1)
        for page, what in zip(pages, found, strict=True)
    ]


def figures(pages: Sequence[KnownPage], found: Sequence[Found], scores: Sequence[PageScore]) -> dict[str, object]:
    """Return the figures of a program that found this, by their names in the report.

    They are its score with margins of error, how many pages lost more than half of their text, how many of those were
    stored without a doubt about the text (None if the program expresses none), and how many have each fact as known.
    """
    lost = [what for score, what in zip(scores, found, strict=True) if score.recall < LOST]
    silently = sum(bool(what.text) and not what.doubt for what in lost)
    return {
        **score_pages(scores),
        **{f"{name}_margin": value for name, value in margins(scores).items()},
        "lost_half": len(lost),
        "lost_half_without_doubt": silently if any(what.doubt is not None for what in found if what.text) else None,
        **{fact: _right(pages, found, fact) for fact in FACTS},
    }


def _right(pages: Sequence[KnownPage], found: Sequence[Found], fact: str) -> int | None:
    """Return how many pages have this fact as known; None if the program looks for none."""
    values = [(getattr(page, fact), getattr(what, fact)) for page, what in zip(pages, found, strict=True)]
    if all(value is None for _, value in values):
        return None
    return sum(known is not None and known == value for known, value in values)


def as_headline(text: str) -> str:
    """Return a headline as it is compared: its letters and digits, without case."""
    return "".join(re.findall(r"[^\W_]", text.casefold()))


def as_authors(names: Sequence[str]) -> frozenset[str]:
    """Return authors as they are compared: a set of names, without case."""
    return frozenset(" ".join(name.split()).casefold() for name in names if name.strip())


def read_pages(folder: Path) -> list[KnownPage]:
    """Return the pages of the folder. Raises CommandError, which names the missing or damaged file."""
    path = folder / GROUND_TRUTH
    try:
        known = json.loads(path.read_bytes())
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}. Give the folder that contains it.") from error
    except ValueError as error:
        raise CommandError(f"{path} is not valid JSON: {error}.") from error
    if not isinstance(known, dict) or not known:
        raise CommandError(f'{path} lists no pages; it must be an object {{"ID": {{"articleBody": TEXT}}}}.')
    return [_read_page(folder, name, entry) for name, entry in known.items()]


def _read_page(folder: Path, name: str, entry: object) -> KnownPage:
    values: dict[str, Any] = entry if isinstance(entry, dict) else {}
    texts = {key: value for key, value in values.items() if isinstance(value, str)}
    if "articleBody" not in texts:
        raise CommandError(f"{folder / GROUND_TRUTH} has no articleBody for {name}; add one or remove the entry.")
    path = folder / "html" / f"{name}.html.gz"
    try:
        body = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CommandError(
            f"{path} cannot be read: {reason}. Every page in {GROUND_TRUTH} must have its file."
        ) from error
    longer, headline, authors = texts.get("articleBodyWithSummary", ""), texts.get("headline"), values.get("authors")
    return KnownPage(
        name=name,
        url=texts.get("url", ""),
        body=body,
        texts=(texts["articleBody"], longer) if longer.strip() else (texts["articleBody"],),
        headline=as_headline(headline) if headline else None,
        day=texts.get("date", "")[:10] or None,
        authors=as_authors([str(author) for author in authors]) if isinstance(authors, list) and authors else None,
    )


Extractor = Callable[[KnownPage], Found]


def newsdedup(page: KnownPage) -> Found:
    article = extract_article(page.body, page.url)
    return Found(
        text=article.text,
        doubt=article.text_doubt,
        headline=as_headline(article.headline),
        day=article.date.isoformat() if article.date else "",
        authors=as_authors(article.byline.split(", ")),
    )


def rivals() -> Mapping[str, Extractor]:
    """Return the other programs by name. Raises CommandError if one is not installed."""
    if missing := [name for name, (module, _) in _RIVALS.items() if not find_spec(module)]:
        fault = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise CommandError(f"{fault}. Install newsdedup[benchmarks], or leave --rivals out.")
    return {name: extractor for name, (_, extractor) in _RIVALS.items()}


def _trafilatura(page: KnownPage) -> Found:
    source = decode_page(page.body)
    text = import_module("trafilatura").extract(source, url=page.url or None, include_comments=False) or ""
    facts = import_module("trafilatura.metadata").extract_metadata(source, default_url=page.url or None)
    if facts is None:
        return Found(text, headline="", day="", authors=frozenset())
    authors = as_authors((facts.author or "").split("; "))
    return Found(text, headline=as_headline(facts.title or ""), day=facts.date or "", authors=authors)


def _readability(page: KnownPage) -> Found:
    document = import_module("readability").Document(decode_page(page.body))
    summary = document.summary(html_partial=True)
    text = join_paragraphs(paragraphs(parse_markup(summary))) if summary.strip() else ""
    return Found(text, headline=as_headline(document.short_title()))


def _newspaper(page: KnownPage) -> Found:
    article = import_module("newspaper").Article(page.url or "https://newspaper.invalid/", fetch_images=False)
    article.download(input_html=decode_page(page.body))
    article.parse()
    day = article.publish_date.date().isoformat() if article.publish_date else ""
    return Found(article.text, headline=as_headline(article.title or ""), day=day, authors=as_authors(article.authors))


def _resiliparse(page: KnownPage) -> Found:
    extract = import_module("resiliparse.extract.html2text").extract_plain_text
    return Found(extract(decode_page(page.body), main_content=True, alt_texts=False) or "")


def _justext(page: KnownPage) -> Found:
    justext = import_module("justext")
    declared = read_declared(parse_page(page.body), page.url).language
    try:
        language = Locale.parse(declared or "en").get_language_name("en")
    except (UnknownLocaleError, ValueError):
        language = ""
    if language in justext.get_stoplists():
        parts = justext.justext(decode_page(page.body).encode(), justext.get_stoplist(language), encoding="utf-8")
    else:  # what its documentation advises for other languages
        options = {"stopwords_low": 0, "stopwords_high": 0, "encoding": "utf-8"}
        parts = justext.justext(decode_page(page.body).encode(), frozenset(), **options)
    return Found("\n\n".join(part.text for part in parts if not part.is_boilerplate))


_RIVALS: Mapping[str, tuple[str, Extractor]] = {
    "trafilatura": ("trafilatura", _trafilatura),
    "readability-lxml": ("readability", _readability),
    "newspaper4k": ("newspaper", _newspaper),
    "resiliparse": ("resiliparse", _resiliparse),
    "jusText": ("justext", _justext),
}
