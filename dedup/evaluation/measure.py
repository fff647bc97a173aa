"""How well verdicts, and each pass alone, agree with labelled pairs: measured on what is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

from articles.models import Article
from dedup.evaluation.labels import FoundPair
from dedup.evaluation.metrics import LabelledPair, cross_validate, score
from dedup.models import Evidence, Pair, Verdict
from dedup.passes import PASSES
from dedup.runs.judging import features_of_pairs
from dedup.runs.months import model_in_use
from dedup.verdicts.model import LABELS, ModelError

# The default window of most passes. Pairs further apart are rarer and harder to find.
NEAR_DAYS = 3
_FOLDS = 6
_COUNTED = "DTEN"
_LOOKED_UP_AT_ONCE = 2_000
MEASURES = (
    ("precision", "Precision"),
    ("recall", "Recall"),
    ("f1", "F1"),
    ("templates_called_duplicates", "T called duplicate"),
)

Numbers = dict[str, float | int | list[float] | None]


@dataclass(frozen=True, slots=True)
class Judged:
    """A labelled pair with what is stored about it; `pair` is None if no pass proposes it."""

    found: FoundPair
    left: Article
    right: Article
    pair: Pair | None = None
    passes: tuple[str, ...] = ()

    @property
    def ends(self) -> tuple[int, int]:
        """Return the ids of the two articles, the lower one first."""
        return (self.found.left, self.found.right)

    @property
    def days(self) -> int:
        """Return the days between the two: those of the label, or else those between the articles."""
        days = self.found.label.days
        return abs((self.left.date - self.right.date).days) if days is None else days

    @property
    def called(self) -> bool:
        """Return whether the verdict is duplicate."""
        return self.pair is not None and self.pair.verdict == Verdict.DUPLICATE

    @property
    def wrong(self) -> bool:
        """Return whether the verdict and the label contradict each other."""
        return self.found.label.label in _COUNTED and self.called != (self.found.label.label == "D")

    @property
    def label(self) -> str:
        """Return the letter of the label."""
        return self.found.label.label


def judged_pairs(found: Sequence[FoundPair]) -> list[Judged]:
    """Return labelled pairs with what is stored about them."""
    parts = range(0, len(found), _LOOKED_UP_AT_ONCE)
    return [each for start in parts for each in _looked_up(found[start : start + _LOOKED_UP_AT_ONCE])]


def _looked_up(found: Sequence[FoundPair]) -> Iterator[Judged]:
    ids = {article for each in found for article in (each.left, each.right)}
    articles = Article.objects.without_texts().select_related("newspaper").in_bulk(ids)
    pairs = {(pair.left_id, pair.right_id): pair for pair in Pair.objects.proposed().among(ids)}
    evidence = Evidence.objects.filter(pair__in=pairs.values(), stale=False)
    saying = set(evidence.values_list("pair", "pass_name"))
    for each in found:
        pair = pairs.get((each.left, each.right))
        passes = tuple(name for name in PASSES if pair and (pair.pk, name) in saying)
        yield Judged(each, articles[each.left], articles[each.right], pair, passes)


def report(judged: Sequence[Judged], passes: Sequence[str], *, cross_validated: bool) -> dict[str, Any]:
    """Return all numbers: shares in 0..1, null for a share of nothing, and 95% intervals.

    `passes` are those that took part. Pairs that no pass proposed count as not called.
    """
    near = [each for each in judged if each.days <= NEAR_DAYS]
    strata = sorted({each.found.label.stratum for each in judged} - {""})
    verdicts = _cross_validated(judged) if cross_validated else None
    return {
        **_scores(judged, passes),
        "within_3_days": _scores(near, passes),
        "cross_validated": verdicts,
        "strata": {name: _score_of([each for each in judged if each.found.label.stratum == name]) for name in strata},
        "errors": [_error(each) for each in _by_weight(each for each in judged if each.wrong)],
    }


def counts_of(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the number of labelled pairs, by label, and how many of them some pass proposed."""
    by_label = Counter(each.label for each in judged)
    proposed = Counter(each.label for each in judged if each.pair)
    return {
        "evaluated": len(judged),
        "by_label": {label: by_label[label] for label in LABELS},
        "proposed": {label: proposed[label] for label in LABELS},
        "within_3_days": sum(each.days <= NEAR_DAYS for each in judged),
    }


def _scores(judged: Sequence[Judged], passes: Sequence[str]) -> dict[str, Any]:
    return {
        "verdict": _score_of(judged),
        "passes": {name: _score_of(judged, partial(_proposes, name)) for name in passes},
    }


def _proposes(pass_name: str, judged: Judged) -> bool:
    return pass_name in judged.passes


def _score_of(
    judged: Sequence[Judged], called: Callable[[Judged], bool] = attrgetter("called")
) -> dict[str, float | int | list[float] | None]:
    """Return precision, recall, F1 and the share of templates called duplicates, each with its interval."""
    counted = [each for each in judged if each.label in _COUNTED]
    calls = [called(each) for each in counted]
    duplicates = sum(each.label == "D" for each in counted)
    templates = sum(each.label == "T" for each in counted)
    result: Numbers = {
        "pairs": len(counted),
        "duplicates": duplicates,
        "called": sum(calls),
    }
    wholes = (sum(calls), duplicates, duplicates or sum(calls), templates)
    measured = score([each.label for each in counted], [each.found.label.weight for each in counted], calls)
    estimates = (measured.precision, measured.recall, measured.f1, measured.templates)
    for (name, _), whole, estimate in zip(MEASURES, wholes, estimates, strict=True):
        result[name] = round(estimate.value, 4) if whole else None
        result[f"{name}_interval"] = [round(estimate.low, 4), round(estimate.high, 4)] if whole else None
    return result


# ---- cross-validation ------------------------------------------------------------------------------


def _cross_validated(judged: Sequence[Judged]) -> dict[str, Any]:
    """Return the scores of verdicts by models fitted to these labels, each on other dates than those it judges.

    Pairs that no pass proposed are used for fitting too, but are not called duplicates.
    """
    features = features_of_pairs([each.ends for each in judged])
    known = [each for each in judged if each.ends in features]
    rows = [features[each.ends] for each in known]
    try:
        probabilities = cross_validate([_labelled(each) for each in known], rows, folds=_FOLDS)
    except ModelError as error:
        return _not_validated(str(error))
    if not probabilities:
        return _not_validated("the labelled pairs are from too few days; label pairs from more days")
    threshold = model_in_use().threshold
    calls = {each.ends: False for each in judged if each.ends not in features}
    for place, probability in probabilities.items():
        each = known[place]
        calls[each.ends] = probability >= threshold and _by_the_model(each.pair)
    tested = [each for each in judged if each.ends in calls]
    near = [each for each in tested if each.days <= NEAR_DAYS]
    return {
        "verdict": _score_of(tested, lambda each: calls[each.ends]),
        "within_3_days": _score_of(near, lambda each: calls[each.ends]),
        "folds": _FOLDS,
    }


def _not_validated(reason: str) -> dict[str, Any]:
    return {"verdict": None, "within_3_days": None, "folds": 0, "reason": reason}


def _labelled(judged: Judged) -> LabelledPair:
    later = max(judged.left.date, judged.right.date)
    return LabelledPair((str(judged.left.pk), str(judged.right.pk)), later, judged.label, judged.found.label.weight)


def _by_the_model(pair: Pair | None) -> bool:
    """Return whether a pair was proposed and judged by the model, which never gives exactly 0; a rule does."""
    return pair is not None and pair.duplicate_probability != 0


# ---- errors ----------------------------------------------------------------------------------------


def _by_weight(judged: Iterable[Judged]) -> list[Judged]:
    """Return false duplicates before missed ones, those with the largest weight first."""
    return sorted(judged, key=lambda each: (not each.called, -each.found.label.weight, each.found.label.line))


def _error(judged: Judged) -> dict[str, Any]:
    label, pair = judged.found.label, judged.pair
    return {
        "kind": "false duplicate" if judged.called else "missed duplicate",
        "line": label.line,
        "label": label.label,
        "weight": label.weight,
        "stratum": label.stratum,
        "days": judged.days,
        "articles": [_described(judged.left), _described(judged.right)],
        "verdict": pair.verdict if pair else None,
        "probability": pair.probability if pair else None,
        "duplicate_probability": pair.duplicate_probability if pair else None,
        "passes": list(judged.passes),
        "reasons": pair.reasons if pair else [],
    }


def _described(article: Article) -> dict[str, Any]:
    return {
        "external_id": article.external_id,
        "newspaper": article.newspaper.name,
        "date": article.date.isoformat(),
        "headline": article.headline,
        "url": article.url,
    }
