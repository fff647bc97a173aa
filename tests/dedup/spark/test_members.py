"""Ascending numbers as tasks send them to each other."""

import numpy as np
import pytest

from dedup.detection.spark import members


@pytest.mark.parametrize("width", [4, 8])
def test_packed_numbers_come_back(width: int) -> None:
    kind = np.dtype(f"<u{width}")
    highest = np.iinfo(kind).max
    for numbers in ([], [0], [0, highest], [5, 6, 255, 256, 70_000, highest - 1]):
        ascending = np.array(numbers, dtype=kind)
        assert np.array_equal(members.unpacked(members.packed(ascending), width), ascending)
