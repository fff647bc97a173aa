"""Blocks of a pass that found hubs, written as a run writes them."""

import datetime
from collections.abc import Iterable
from itertools import pairwise

from articles.models import Article
from dedup.detection.passes import PASSES
from dedup.detection.runs.dense_groups import update_groups
from dedup.detection.runs.evidence import forget_hubs, mark_stale, update_best_scores, write_block
from dedup.detection.runs.scope import Scope, judged_by
from dedup.detection.types import Candidate, Tally, Window
from dedup.models import DetectionRun
from tests.factories import make_run


def write_hubs(
    pairs: Iterable[tuple[Article, Article]],
    hubs: Iterable[Article],
    *,
    run: DetectionRun | None = None,
    by: str = "trigram",
) -> DetectionRun:
    """Store a block of one day, in which a pass proposes these pairs and finds that these articles are hubs."""
    run = run or make_run()
    date = datetime.date(2026, 3, 2)
    ends = sorted({(min(left.pk, right.pk), max(left.pk, right.pk)) for left, right in pairs})
    found = [Candidate(left, right, by, 0.9) for left, right in ends]
    write_block(run.pk, by, found, Window(date, date), Tally(hubs={article.pk: 60 for article in hubs}))
    return run


def write_group(*articles: Article, run: DetectionRun | None = None) -> DetectionRun:
    """Store the dense group of these articles, each paired with the first and with the next one."""
    pairs = [*((articles[0], article) for article in articles[1:]), *pairwise(articles)]
    run = write_hubs(pairs, articles, run=run)
    update_groups()
    return run


def finish(run: DetectionRun, by: str = "trigram", **covered: object) -> None:
    """Do what the end of a run does for a pass, except verdicts and clusters."""
    bounds = {"since": None, "until": None, "newspaper_ids": None, "newer_than": None, **covered}
    mark_stale(run, by, bounds | judged_by(by, PASSES[by].config_class(), Scope()))
    forget_hubs(run, by, only_new=bounds["newer_than"] is not None)
    update_best_scores()
    update_groups()


def copies_of(article: Article, count: int) -> list[Article]:
    """Return this article and as many copies of it as make `count`, stored without their URLs."""
    copies = [
        Article(
            **{name: getattr(article, name) for name in _COPIED},
            headline=f"{article.headline}, part {number}",
            url=f"{article.url}/{number}",
        )
        for number in range(1, count)
    ]
    return [article, *Article.objects.bulk_create(copies, batch_size=1_000)]


# Without what is unique, and what the database fills in.
_COPIED = [
    field.attname
    for field in Article._meta.concrete_fields
    if field.attname not in ("id", "headline", "url", "revision", "stored_at") and not field.generated
]
