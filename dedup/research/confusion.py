"""Which verdicts the pairs of each label got: the confusion matrix. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dedup.detection.types import VerdictKind
from dedup.detection.verdicts.model import LABELS
from dedup.research.resampling import Estimate, Floats, estimates, ratio

NOT_PROPOSED = "not_proposed"
OUTCOMES = (*(str(kind) for kind in VerdictKind), NOT_PROPOSED)


@dataclass(frozen=True, slots=True)
class Cell:
    """The pairs of a label with one outcome, and their share of the label's weight."""

    pairs: int
    share: Estimate


def confusion(labels: Sequence[str], outcomes: Sequence[str], weights: Sequence[float]) -> dict[str, dict[str, Cell]]:
    """Return, for each label (LABELS), its pairs by outcome (OUTCOMES). The shares of a label without pairs are 0."""
    amounts = np.asarray(weights, dtype=np.float64)
    labelled = np.array([[label == each for label in labels] for each in LABELS], dtype=np.bool_)
    judged = np.array([[outcome == each for outcome in outcomes] for each in OUTCOMES], dtype=np.bool_)
    both = labelled[:, None, :] & judged[None, :, :]
    shares = iter(estimates((both * amounts).reshape(len(LABELS) * len(OUTCOMES), len(amounts)), _shares))
    return {
        label: {outcome: Cell(int(both[row, column].sum()), next(shares)) for column, outcome in enumerate(OUTCOMES)}
        for row, label in enumerate(LABELS)
    }


def _shares(sums: Floats) -> Floats:
    """Return each cell's share of its label, from the sums of all cells."""
    cells = sums.reshape(len(LABELS), len(OUTCOMES), -1)
    wholes = np.broadcast_to(cells.sum(axis=1, keepdims=True), cells.shape)
    return ratio(cells, wholes).reshape(sums.shape)
