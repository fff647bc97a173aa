import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dedup.detection.kernels.connected import lowest_of_each
from dedup.detection.kernels.disjoint_sets import lowest_connected

NUMBERS = st.integers(0, 25) | st.integers(2**61, 2**62)


@given(st.lists(st.tuples(NUMBERS, NUMBERS)))
def test_arrays_connect_what_sets_connect(pairs):
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    expected = lowest_connected(pairs)
    assert lowest_of_each(ends[:, 0], ends[:, 1]).tolist() == [expected[one] for one, _ in pairs]
