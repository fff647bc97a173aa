"""The model behind the verdicts: three logistic regressions, applied in turn. Pure.

Is it a duplicate? If not, a template? If not, a version? Otherwise the two are only similar. Each answer is a sum of
features times coefficients: some eighty numbers in a readable file. Fitting needs only numpy.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import mul
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dedup.detection.verdicts.features import FEATURE_NAMES, FEATURE_PLACES, FEATURES, IDENTITY, without_series

FORMAT: Final = 1
# A pair is a duplicate from this probability on, unless a model says otherwise.
DUPLICATE_FROM: Final = 0.5
DEFAULT_MODEL = Path(__file__).with_name("model.json")

# The labels of pairs: duplicate, version, template, same event, nothing in common.
LABELS = ("D", "V", "T", "E", "N")
QUESTIONS = ("duplicate", "template", "version")
# Which labels answer a question with yes and which with no; pairs with other labels do not train it.
_YES = {"duplicate": "D", "template": "T", "version": "V"}
_NO = {"duplicate": "TENV", "template": "VEN", "version": "EN"}
# A version is partly a duplicate, so it says less about the boundary than a template does. For the other questions it
# counts more, because labelled templates and unrelated pairs represent many more pairs each.
_VERSION_WEIGHTS = {"duplicate": 0.3, "template": 2.0, "version": 2.0}
# Sampling weights span three powers of ten; this root of them keeps a few pairs from deciding the whole model.
_WEIGHT_POWER = 0.35
# The ridge penalty on coefficients of standardised features; from 0.3 to 10 it matters little.
_PENALTY = 1.0
# Each labelled pair is also learnt from as if nothing were known about its newspapers, because a young or small
# collection has no series.
_UNKNOWN_SERIES_WEIGHT = 0.3
_IDENTITY = FEATURE_PLACES[IDENTITY]
_SWEEPS = 3_000
_TOLERANCE = 1e-6

Floats = npt.NDArray[np.float64]


class ModelError(ValueError):
    """A model cannot be used or fitted; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression: probability = 1 / (1 + exp(-(intercept + features · coefficients))).

    Sums are exact (math.fsum), so that a probability is the same to the last bit on every processor: a sum by BLAS
    depends on how many numbers it adds at a time, and the built-in sum() on the version of Python.
    """

    intercept: float
    coefficients: tuple[float, ...]

    def total(self, features: Sequence[float]) -> float:
        """Return the logit of the probability of yes."""
        return math.fsum([self.intercept, *map(mul, self.coefficients, features)])

    def probability(self, features: Sequence[float]) -> float:
        """Return the probability of yes."""
        return chance_of(self.total(features))

    def times(self, slope: float, shift: float = 0.0) -> "Logistic":
        """Return the regression of shift + slope · total."""
        return Logistic(shift + slope * self.intercept, tuple(slope * value for value in self.coefficients))


def chance_of(total: float) -> float:
    """Return the probability, 0..1, of a logit."""
    return 1 / (1 + math.exp(-max(min(total, 500.0), -500.0)))


@dataclass(frozen=True, slots=True)
class Probabilities:
    """The probability of each verdict; they add up to 1."""

    duplicate: float
    version: float
    template: float
    similar: float


@dataclass(frozen=True, slots=True)
class VerdictModel:
    """The coefficients for the three questions, and the probability from which a pair is a duplicate.

    `learnt_from` is the number of labelled pairs of each kind that it was fitted on.
    """

    questions: Mapping[str, Logistic]
    threshold: float = DUPLICATE_FROM
    version: str = ""
    learnt_from: Mapping[str, int] = field(default_factory=dict)

    def total(self, name: str, features: Sequence[float]) -> float:
        """Return the logit of the answer to a question: of a duplicate, within what identity says."""
        total, sure = self.questions[name].total(features), features[_IDENTITY]
        if name != "duplicate" or not sure:
            return total
        return max(total, sure) if sure > 0 else min(total, sure)

    def probabilities(self, features: Sequence[float]) -> Probabilities:
        """Return the probabilities of a pair with these features, in the order of FEATURES."""
        duplicate, template, version = (chance_of(self.total(name, features)) for name in QUESTIONS)
        rest = 1 - duplicate
        return Probabilities(
            duplicate=duplicate,
            template=rest * template,
            version=rest * (1 - template) * version,
            similar=rest * (1 - template) * (1 - version),
        )


def dump_model(model: VerdictModel) -> str:
    """Return a model as readable JSON text, for load_model."""
    questions: dict[str, dict[str, Any]] = {}
    for name in QUESTIONS:
        asked = model.questions[name]
        values = zip(FEATURES, asked.coefficients, strict=True)
        questions[name] = {
            "intercept": round(asked.intercept, 4),
            "coefficients": {
                feature.name: round(value, 4) for feature, value in values if getattr(feature, name) is not None
            },
        }
    document = {
        "format": FORMAT,
        "version": model.version,
        "threshold": model.threshold,
        "learnt_from": dict(model.learnt_from),
        "questions": questions,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def load_model(text: str) -> VerdictModel:
    """Return the model in a JSON text. Raises ModelError if this version of the program cannot use it."""
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise ModelError(f"the model has format {document['format']!r}, not {FORMAT}; fit it again")
        questions = {name: _logistic(name, document["questions"][name]) for name in QUESTIONS}
        return VerdictModel(
            questions, float(document["threshold"]), str(document["version"]), dict(document["learnt_from"])
        )
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise ModelError(f"this is not a verdict model ({error!r}); fit it again") from error


def _logistic(name: str, stored: Mapping[str, Any]) -> Logistic:
    # Other versions have other features; one without weight may be missing.
    given = {feature: float(value) for feature, value in stored["coefficients"].items() if value}
    known = {feature.name for feature in FEATURES if getattr(feature, name) is not None}
    if differing := sorted((known - stored["coefficients"].keys()) | (given.keys() - known)):
        listed = ", ".join(differing)
        raise ModelError(f"the model's features for {name!r} differ from this version's ({listed}); fit it again")
    return Logistic(float(stored["intercept"]), tuple(given.get(feature, 0.0) for feature in FEATURE_NAMES))


@cache
def default_model() -> VerdictModel:
    """Return the model that ships with the program."""
    return load_model(DEFAULT_MODEL.read_text(encoding="utf-8"))


# ---- fitting ---------------------------------------------------------------------------------------


def fit(
    rows: Sequence[Sequence[float]], labels: Sequence[str], weights: Sequence[float], prior: VerdictModel | None = None
) -> VerdictModel:
    """Return the model fitted to rows of features with a label (LABELS) and a positive weight each; deterministic.

    With a `prior` model, coefficients are shrunk towards its own instead of 0, so that a few decisions change it a
    little. A question without both answers keeps the coefficients of the prior or the default model: decisions may
    have only the labels D and N. Raises ModelError unless there is a D and a label other than D and V.
    """
    _check(rows, labels, weights)
    tempered = np.asarray(weights, dtype=np.float64) ** _WEIGHT_POWER
    # Each pair, and then its variant without series.
    table = np.asarray([variant for row in rows for variant in (row, without_series(row))], dtype=np.float64)
    answers = np.repeat(labels, 2)
    tempered = np.outer(tempered, [1.0, _UNKNOWN_SERIES_WEIGHT]).ravel()
    questions = {}
    for name in QUESTIONS:
        yes, no = answers == _YES[name], np.isin(answers, list(_NO[name]))
        if not (yes.any() and no.any()):
            questions[name] = (prior or default_model()).questions[name]
            continue
        asked = yes | no
        given = np.where(answers == "V", _VERSION_WEIGHTS[name], 1.0) * tempered
        signs = [getattr(feature, name) for feature in FEATURES]
        drawn_to = prior.questions[name].coefficients if prior else (0.0,) * len(signs)
        questions[name] = _fit_logistic(table[asked], yes[asked], given[asked], signs, drawn_to)
    counts = {label: list(labels).count(label) for label in LABELS}
    return VerdictModel(questions, learnt_from=counts)


def _check(rows: Sequence[Sequence[float]], labels: Sequence[str], weights: Sequence[float]) -> None:
    if not len(rows) == len(labels) == len(weights):
        raise ModelError(f"{len(rows)} rows, {len(labels)} labels and {len(weights)} weights; give as many of each")
    if unknown := sorted(set(labels) - set(LABELS)):
        raise ModelError(f"unknown labels: {', '.join(unknown)}; known are {', '.join(LABELS)}")
    if bad := [weight for weight in weights if not weight > 0]:
        raise ModelError(f"the weight {bad[0]} must be above 0; to ignore a pair, leave it out")
    if "D" not in labels or not set(labels) & set("TEN"):
        raise ModelError("fitting needs at least one duplicate and one pair that is not; label more pairs")


def _fit_logistic(
    rows: Floats,
    answers: npt.NDArray[np.bool_],
    weights: Floats,
    signs: Sequence[int | None],
    drawn_to: Sequence[float],
) -> Logistic:
    """Return the ridge regression whose coefficients keep these signs; None marks an unused feature."""
    weights = weights * (len(weights) / weights.sum())
    means = np.average(rows, axis=0, weights=weights)
    deviations = np.sqrt(np.average((rows - means) ** 2, axis=0, weights=weights))
    used = [place for place, sign in enumerate(signs) if sign is not None and deviations[place] > 0]
    columns = (rows[:, used] - means[used]) / deviations[used]
    scaled = np.asarray(drawn_to, dtype=np.float64)
    low = np.array([0.0 if signs[place] == 1 else -np.inf for place in used])
    high = np.array([0.0 if signs[place] == -1 else np.inf for place in used])
    found, intercept = _descend(columns, answers, weights, (low, high), scaled[used] * deviations[used])
    scaled[used] = found / deviations[used]
    return Logistic(intercept - float(scaled @ means), tuple(scaled.tolist()))


def _descend(
    columns: Floats, answers: npt.NDArray[np.bool_], weights: Floats, bounds: tuple[Floats, Floats], centre: Floats
) -> tuple[Floats, float]:
    """Return the coefficients within their bounds and the intercept, by cyclic coordinate descent from the centre.

    Each step uses the upper bound of the curvature, 1/4, so that none overshoots (Böhning and Lindsay, 1988).
    """
    curvatures = weights @ columns**2 / 4 + _PENALTY
    found, intercept = centre.copy(), 0.0
    totals = columns @ found
    for _ in range(_SWEEPS):
        step = float(weights @ _residuals(answers, totals)) / (weights.sum() / 4)
        intercept += step
        totals += step
        largest = abs(step)
        for place, column in enumerate(columns.T):
            gradient = float(weights @ (column * _residuals(answers, totals))) - _PENALTY * (
                found[place] - centre[place]
            )
            wanted = found[place] + gradient / curvatures[place]
            step = min(max(wanted, bounds[0][place]), bounds[1][place]) - found[place]
            found[place] += step
            totals += step * column
            largest = max(largest, abs(step))
        if largest < _TOLERANCE:
            break
    return found, intercept


def _residuals(answers: npt.NDArray[np.bool_], totals: Floats) -> Floats:
    return answers - 1 / (1 + np.exp(-totals))
