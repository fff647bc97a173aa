"""The rows of the API: what programs read of articles, clusters, pairs, decisions and runs."""

from __future__ import annotations

import datetime
from typing import Any

from ninja import Schema
from pydantic import Field

from articles.models import Article
from dedup.models import Cluster, Decision, DetectionRun, Pair, RunRequest


class ArticleRow(Schema):
    """An article without its text."""

    id: int
    url: str
    newspaper: str
    date: datetime.date = Field(description="The day of publication.")
    published_at: str | None = Field(description="The time of publication in ISO 8601; null if only the day is known.")
    headline: str
    lang: str = Field(description="The ISO 639 code of the language; empty if uncertain.")
    external_id: str = Field(description="Its id in the collection that it came from.")
    cluster: int | None = Field(description="The cluster that it is in.")


class ArticleFull(ArticleRow):
    """An article with its text and all its URLs."""

    content: str
    byline: str
    agency: str
    dateline: str
    text_doubt: str = Field(description="Why the text may be incomplete, or not the article's; empty if certain.")
    urls: list[str] = Field(description="Every URL that it was seen under.")
    other_headlines: list[str] = Field(description="Other headlines under which it came again.")
    stored_at: datetime.datetime


class ClusterRow(Schema):
    """Articles that a reader would call the same."""

    id: int
    state: str = Field(description="“proposed”, or “confirmed”: held together by decisions alone.")
    size: int = Field(description="The number of its articles.")
    lowest_probability: float = Field(description="The lowest probability of the pairs that hold it together, 0 to 1.")
    first_day: datetime.date
    last_day: datetime.date
    kept: ArticleRow = Field(description="The article that represents the cluster.")


class EvidenceRow(Schema):
    """What a pass found about a pair."""

    pass_name: str
    score: float = Field(description="0 to 1.")


class PairRow(Schema):
    """Two articles that a pass has proposed as a pair."""

    id: int
    left: ArticleRow = Field(description="The article published first; of one day and time, the one stored first.")
    right: ArticleRow
    state: str = Field(description="What editors decided last, or “undecided”.")
    implied: bool = Field(description="Whether the state follows from decisions on other pairs alone.")
    verdict: str | None = Field(description="What the full comparison calls the pair; null: not compared yet.")
    probability: float | None = Field(description="The probability of the verdict, 0 to 1.")
    duplicate_probability: float | None = Field(description="The probability that they are duplicates, 0 to 1.")
    best_score: float = Field(description="The highest score that a pass gives it, 0 to 1.")
    days_apart: int
    same_newspaper: bool


class PairFull(PairRow):
    """A pair with the evidence and the reasons."""

    reasons: list[str] = Field(description="The reasons for the verdict, one sentence each.")
    left_matched: float | None = Field(description="The share of the left article's words that the right one has.")
    right_matched: float | None = Field(description="The share of the right article's words that the left one has.")
    evidence: list[EvidenceRow]
    decision: int | None = Field(description="The latest decision on it.")


class DecisionRow(Schema):
    """One decision of an editor."""

    id: int
    kind: str
    decided_by: str
    decided_at: datetime.datetime
    pair: int | None
    cluster: int | None = Field(description="The number that the cluster had.")
    group: int | None = Field(description="The number that the dense group had.")
    articles: list[int] = Field(description="The articles that it was about.")
    article: int | None = Field(description="The article that was taken out or chosen.")
    note: str
    undoes: int | None = Field(description="The decision that it undoes.")
    undone_by: int | None = Field(description="The decision that undoes it.")


class RunRow(Schema):
    """A run of the detection."""

    id: int
    profile: str
    state: str
    scope: dict[str, Any] = Field(description="What was compared.")
    counts: dict[str, Any] = Field(description="What it found; complete when it is done.")
    started_at: datetime.datetime
    finished_at: datetime.datetime | None
    error: str


class RequestRow(Schema):
    """A run that somebody asked for; `run` is null while it waits for a worker."""

    id: int
    profile: str
    since: datetime.date | None
    until: datetime.date | None
    new: bool
    requested_at: datetime.datetime
    run: int | None


def article_row(article: Article) -> ArticleRow:
    """Return the row of an article that was read with its newspaper and its membership."""
    return row_in(article, _cluster_of(article))


def row_in(article: Article, cluster: int | None) -> ArticleRow:
    """Return the row of an article in this cluster that was read with its newspaper."""
    return ArticleRow(**_article(article, cluster))


def article_full(article: Article) -> ArticleFull:
    """Return an article in full."""
    return ArticleFull(
        **_article(article, _cluster_of(article)),
        content=article.content,
        byline=article.byline,
        agency=article.agency,
        dateline=article.dateline,
        text_doubt=article.text_doubt,
        urls=[each.url for each in article.urls.all()],
        other_headlines=[variant.headline for variant in article.headline_variants.all()],
        stored_at=article.stored_at,
    )


def _cluster_of(article: Article) -> int | None:
    member = getattr(article, "membership", None)
    return member.cluster_id if member else None


def _article(article: Article, cluster: int | None) -> dict[str, Any]:
    time = article.publication_time
    return {
        "id": article.pk,
        "url": article.url,
        "newspaper": article.newspaper.name,
        "date": article.date,
        "published_at": str(time) if time else None,
        "headline": article.headline,
        "lang": article.language,
        "external_id": article.external_id,
        "cluster": cluster,
    }


def cluster_row(cluster: Cluster) -> ClusterRow:
    """Return the row of a cluster that was read with its kept article."""
    return ClusterRow(
        id=cluster.pk,
        state=cluster.state,
        size=cluster.size,
        lowest_probability=cluster.lowest_score,
        first_day=cluster.first_day,
        last_day=cluster.last_day,
        kept=row_in(cluster.kept, cluster.pk),
    )


def pair_row(pair: Pair) -> PairRow:
    """Return the row of a pair that was read with its articles."""
    return PairRow(**_pair(pair))


def pair_full(pair: Pair, decision: Decision | None) -> PairFull:
    """Return a pair in full; `decision` is the latest one on it."""
    matched = (pair.left_matched, pair.right_matched)
    if pair.earlier != pair.left:
        matched = matched[::-1]
    current = sorted((each for each in pair.evidence.all() if not each.stale), key=lambda each: each.pass_name)
    return PairFull(
        **_pair(pair),
        reasons=pair.reasons,
        left_matched=matched[0],
        right_matched=matched[1],
        evidence=[EvidenceRow(pass_name=each.pass_name, score=each.score) for each in current],
        decision=decision.pk if decision else None,
    )


def _pair(pair: Pair) -> dict[str, Any]:
    names = ("state", "implied", "probability", "duplicate_probability", "best_score", "days_apart", "same_newspaper")
    return {
        "id": pair.pk,
        "left": article_row(pair.earlier),
        "right": article_row(pair.later),
        "verdict": pair.verdict or None,
        **{name: getattr(pair, name) for name in names},
    }


def decision_row(decision: Decision) -> DecisionRow:
    """Return the row of a decision that was read with its editor and its undo."""
    undone_by = getattr(decision, "undone_by", None)
    return DecisionRow(
        id=decision.pk,
        kind=decision.kind,
        decided_by=decision.decided_by.get_username(),
        decided_at=decision.decided_at,
        pair=decision.pair_id,
        cluster=decision.cluster_number,
        group=decision.group_number,
        articles=decision.articles,
        article=decision.article_id,
        note=decision.note,
        undoes=decision.undoes_id,
        undone_by=undone_by.pk if undone_by else None,
    )


def run_row(run: DetectionRun) -> RunRow:
    """Return the row of a run."""
    return RunRow(
        id=run.pk,
        profile=run.profile_name,
        state=run.state,
        scope=run.scope,
        counts=run.counts,
        started_at=run.started_at,
        finished_at=run.finished_at,
        error=run.error,
    )


def request_row(request: RunRequest) -> RequestRow:
    """Return the row of a request that was read with its profile."""
    return RequestRow(
        id=request.pk,
        profile=request.profile.name,
        since=request.since,
        until=request.until,
        new=request.new,
        requested_at=request.requested_at,
        run=request.run_id,
    )
