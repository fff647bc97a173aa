"""Features of pairs that were made up: two of them have values, whichever features the model has."""

from dedup.detection.verdicts.features import FEATURES, without_series


def _unit(place: int) -> tuple[float, ...]:
    return tuple(float(column == place) for column in range(len(FEATURES)))


# Two features that speak for a duplicate, and do not depend on what else the newspapers print.
FIRST, SECOND = [
    place
    for place, feature in enumerate(FEATURES)
    if feature.duplicate == 1 and without_series(_unit(place))[place] == 1.0
][:2]


def row(first: float, second: float = 0.0) -> tuple[float, ...]:
    """Return features of which all but two are 0."""
    values = {FIRST: first, SECOND: second}
    return tuple(values.get(place, 0.0) for place in range(len(FEATURES)))
