"""Whether the page of a pair shows as shared the words that its verdict counted as shared."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.models import QuerySet

from dedup.detection.comparison.differences import Differences, compare_texts
from dedup.models import DetectionRun, Pair
from dedup.review.queries.boilerplate import compared_texts
from dedup.rows.files import in_batches
from newsdedup_site.doctor.articles import sampled
from newsdedup_site.doctor.invariant import FULL_RUN, Found, Invariant, Sample, listed

_TEXTS = [f"{side}__{name}" for side in ("left", "right") for name in ("content", "boilerplate", "date")]


def _look(sample: Sample) -> Found:
    last = DetectionRun.objects.order_by("pk").last()
    if last is None or last.state != DetectionRun.State.DONE:
        return Found(waiting="The last run is not done; the next one judges what has changed.")
    # An article that has changed since waits for the next run.
    newest = last.counts.get("newest") or 0
    pairs = Pair.objects.filter(
        left_matched__isnull=False,
        rests_on__isnull=False,
        left__revision__lte=newest,
        right__revision__lte=newest,
        left__withheld=False,
        right__withheld=False,
    )
    ids = sampled(Pair.objects.all(), sample)
    chosen = pairs if ids is None else pairs.filter(pk__in=ids)
    rows = chosen.select_related("left", "right").only("left_matched", "right_matched", *_TEXTS).order_by()
    return listed(fault for fault in _faults(rows) if fault)


def _faults(pairs: QuerySet[Pair]) -> Iterator[str]:
    for batch in in_batches(pairs):
        texts = compared_texts([article for pair in batch for article in (pair.left, pair.right)])
        for pair, left, right in zip(batch, texts[::2], texts[1::2], strict=True):
            yield _fault(pair, compare_texts(left, right))


def _fault(pair: Pair, shown: Differences) -> str:
    counted = pair.left_matched, pair.right_matched
    if shown.too_long or counted == (_share(shown.same, shown.left_words), _share(shown.same, shown.right_words)):
        return ""
    return (
        f"pair {pair.pk} shows {shown.same} words in both, of {shown.left_words} and {shown.right_words}; its verdict "
        f"counted shares of {counted[0]} and {counted[1]}"
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


INVARIANTS = (
    Invariant(
        "shared-words",
        "The page of a pair shows as shared the words that its verdict counted.",
        FULL_RUN,
        _look,
    ),
)
