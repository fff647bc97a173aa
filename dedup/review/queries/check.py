"""The check of a text: its likely copies among the stored articles. Nothing is stored."""

import datetime
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from heapq import nsmallest
from typing import NamedTuple

import numpy as np
from django.db import connection

from articles.boilerplate.mode import Mode
from articles.models import Article
from articles.normalization.language import detect_language
from articles.normalization.text import normalize_text, text_digest
from dedup.declarations import SettingEffect
from dedup.detection.article_sql import article_sql
from dedup.detection.bounds import bound_named
from dedup.detection.comparison.compare import compare
from dedup.detection.comparison.prepared import ArticleText, Preparer, count_words
from dedup.detection.kernels.masked_shingles import Hashes, ShingleSets, masked_shingle_sets, samples_of
from dedup.detection.passes import PASSES
from dedup.detection.passes.reading import read_shingles_of
from dedup.detection.passes.trigram import TrigramConfig
from dedup.detection.runs.judging import ARTICLES, model_in_use
from dedup.detection.runs.profiles import configs_of, default_profile, enabled
from dedup.detection.runs.text_indexes import holders
from dedup.detection.types import Mark, Window
from dedup.detection.verdicts.verdict import judgement_of
from dedup.models import Cluster, DetectionRun, Verdict
from dedup.models.base import read_rows
from dedup.review.answers.decisions import cluster_of
from dedup.review.queries.lists import LEAST_PROBABILITY

MAX_CHARACTERS = 200_000
MAX_HEADLINE_CHARACTERS = 2_000
SHOWN = 10
# Shingles that are looked up, and articles that are read for each: one that more have says little.
_LOOKED_UP = 300
_MOST_HOLDERS = 50
# The best of these, and the newest articles, which are not in the index before the next run, are scored in full.
_SCORED = 30
_NEWEST = 1_000
# Less of the shorter of the two texts in common is chance.
_LEAST_SHARED = 3
_LEAST_SHARE = 0.05

_TRIGRAMS_SQL = article_sql(
    """
SELECT id, similarity(left(%(text)s, %(prefix)s), left(normalized_text, %(prefix)s))
FROM {articles}
WHERE id = ANY (%(ids)s)
"""
)


class Pasted(NamedTuple):
    """A text to check. Without a day, it is compared as if it were of the day of each article."""

    content: str
    headline: str = ""
    day: datetime.date | None = None


class Copy(NamedTuple):
    """A stored article that may be a copy. `of_text` is the share of the text that it has, `of_article` the reverse.

    `trigrams` is the score of the trigram pass. `too_far` names passes whose window keeps the two apart.
    """

    article: Article
    verdict: Verdict
    duplicate_probability: float
    of_text: float
    of_article: float
    trigrams: float
    same_text: bool
    too_far: list[tuple[str, int]]
    cluster_id: int | None

    @property
    def likely(self) -> bool:
        """Whether it is worth an editor's look, as a pair would be."""
        return self.verdict in {Verdict.DUPLICATE, Verdict.VERSION} or self.duplicate_probability >= LEAST_PROBABILITY


class Checked(NamedTuple):
    """What a check found: articles, the most probable copies first, and the clusters of the likely ones.

    `unread` is the number of new articles that only equal texts were found among.
    """

    words: int
    language: str
    copies: list[Copy]
    clusters: list[Cluster]
    unread: int

    @property
    def likely(self) -> int:
        """The number of likely copies."""
        return sum(hit.likely for hit in self.copies)


def check(pasted: Pasted, *, but: int | None = None) -> Checked:
    """Return the stored articles that have much of a text, or its headline; `but` is an article to leave out.

    Below a second for 100,000 articles: of the others, only the best SHOWN are compared in full.
    """
    normalized = normalize_text(pasted.content)
    hashes = masked_shingle_sets([normalized]).values
    newest, unread = _newest()
    digest = text_digest(normalized)
    same = Article.objects.filter(text_digest=digest).order_by("date", "pk") if digest else Article.objects.none()
    equal = set(same.values_list("pk", flat=True)[:_SCORED])
    asked = {*_candidates(hashes), *newest, *equal, *_with_headline(pasted.headline)} - {but or 0}
    shares = _shares(hashes, asked)
    best = sorted(shares, key=lambda pk: (pk not in equal, -max(shares[pk]), pk))
    named = [pk for pk in _with_headline(pasted.headline) if pk != but]
    chosen = list(dict.fromkeys([*best[:SHOWN], *named]))[: SHOWN + 5]
    copies = _copies(pasted, normalized, chosen, shares, equal)
    clusters = {hit.cluster_id for hit in copies if hit.likely and hit.cluster_id}
    return Checked(
        words=count_words(pasted.content),
        language=detect_language(pasted.content),
        copies=copies,
        clusters=list(Cluster.objects.with_kept().filter(pk__in=clusters).order_by("-size", "pk")),
        unread=unread,
    )


def _newest() -> tuple[list[int], int]:
    """Return the articles stored or changed since the last run, at most _NEWEST, and how many more there are."""
    last = DetectionRun.objects.filter(state=DetectionRun.State.DONE).only("counts").first()
    since = (last.counts.get("newest") or 0) if last else 0
    newer = Article.objects.filter(revision__gt=since).order_by("-revision")
    found = list(newer.values_list("pk", flat=True)[:_NEWEST])
    return found, newer.count() - _NEWEST if len(found) == _NEWEST else 0


def _with_headline(headline: str) -> list[int]:
    """Return the newest articles with this headline, by the index article_headline_words."""
    if not headline.strip():
        return []
    found = Article.objects.filter(headline__iexact=headline.strip()).order_by("-date", "-pk")
    return list(found.values_list("pk", flat=True)[:5])


def _candidates(hashes: Hashes) -> list[int]:
    """Return the articles that share the most of the text's rare shingles."""
    sample = samples_of(ShingleSets.of([hashes], hashes.dtype)).values
    spread = np.linspace(0, len(sample) - 1, min(len(sample), _LOOKED_UP)).astype(np.int64)
    weights: defaultdict[int, float] = defaultdict(float)
    for articles in holders(sample[spread], _MOST_HOLDERS).values():
        for article in articles:
            weights[article] += 1 / len(articles)
    return nsmallest(_SCORED, weights, key=lambda article: (-weights[article], article))


def _shares(hashes: Hashes, articles: Collection[int]) -> dict[int, tuple[float, float]]:
    """Return the share of the text's shingles that each article has, and the reverse, where it is more than chance."""
    found = read_shingles_of(articles, Window(datetime.date.min, datetime.date.max), connection)
    shares: dict[int, tuple[float, float]] = {}
    for pk, members in zip(found.ids.tolist(), found.sets.split(), strict=True):
        shared = len(np.intersect1d(hashes, members, assume_unique=True))
        shorter = min(len(hashes), len(members))
        if shared and shared >= min(_LEAST_SHARED, shorter) and shared / shorter >= _LEAST_SHARE:
            shares[pk] = (shared / len(hashes), shared / len(members))
    return shares


def _copies(
    pasted: Pasted,
    normalized: str,
    chosen: Sequence[int],
    shares: Mapping[int, tuple[float, float]],
    equal: Collection[int],
) -> list[Copy]:
    """Return the chosen articles with their scores, compared in full."""
    articles = Article.objects.without_texts().select_related("newspaper").in_bulk(chosen)
    clusters = cluster_of(chosen)
    trigrams = _trigrams(normalized, chosen)
    model, preparer = model_in_use(), Preparer()
    copies = []
    try:
        stored = ARTICLES.fetch(set(chosen), Mode.KEEP)
        for pk, article in articles.items():
            text = ArticleText(0, pasted.day or article.date, pasted.headline, pasted.content)
            judgement = judgement_of(compare(preparer.prepare(text), stored[pk].article), model)
            copies.append(
                Copy(
                    article=article,
                    verdict=Verdict(judgement.kind.value),
                    duplicate_probability=judgement.duplicate_probability,
                    of_text=shares.get(pk, (0.0, 0.0))[0],
                    of_article=shares.get(pk, (0.0, 0.0))[1],
                    trigrams=trigrams[pk],
                    same_text=pk in equal,
                    too_far=_too_far(pasted, article),
                    cluster_id=clusters.get(pk),
                )
            )
    finally:
        ARTICLES.clear()
    return sorted(copies, key=lambda row: (-row.duplicate_probability, -row.of_text, row.article.pk))


def _trigrams(normalized: str, articles: Sequence[int]) -> dict[int, float]:
    config = configs_of(default_profile().settings)["trigram"]
    prefix = config.prefix if isinstance(config, TrigramConfig) else TrigramConfig().prefix
    return dict(read_rows(_TRIGRAMS_SQL, text=normalized, prefix=prefix, ids=list(articles)))


def _too_far(pasted: Pasted, article: Article) -> list[tuple[str, int]]:
    """Return the passes of the default profile whose window is too small for these days, each with its days.

    Without the pass for equal headlines if the headlines are not equal.
    """
    if pasted.day is None:
        return []
    apart = abs((pasted.day - article.date).days)
    windows = {
        name: getattr(config, bound)
        for name, config in enabled(configs_of(default_profile().settings)).items()
        if (bound := bound_named(name, SettingEffect.WITHIN_DAYS))
    }
    if normalize_text(pasted.headline) != normalize_text(article.headline):
        windows = {name: days for name, days in windows.items() if PASSES[name].mark is not Mark.HEADLINE}
    return [(name, days) for name, days in windows.items() if days < apart]
