"""Slices of arrays compared with lists of lists."""

import numpy as np
import pytest

from gdl.slices import slice_offsets, slice_places


@pytest.mark.parametrize("seed", range(5))
def test_slices_agree_with_loops(seed):
    rng = np.random.default_rng(seed)
    length = rng.integers(0, 4, 20)
    start = rng.integers(0, 96, 20)
    taken = [list(range(begin, begin + count)) for begin, count in zip(start, length, strict=True)]
    assert slice_places(start, length).tolist() == [place for places in taken for place in places]
    assert slice_offsets(length).tolist() == [sum(map(len, taken[:i])) for i in range(21)]


def test_no_slices_have_no_places():
    nothing = np.zeros(0, np.int64)
    assert slice_offsets(nothing).tolist() == [0]
    assert slice_places(nothing, nothing).tolist() == []
