"""Parts are called by their addresses, with the memory that they were given."""

from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ggp.jit.compiling import IS_COMPILED, kernel
from ggp.jit.entry_points import NO_ENTRY, call_entry, entry_point
from ggp.jit.unboxed import Unboxed, unboxed


class Counts(NamedTuple):
    of: NDArray[np.int64]
    factor: int


@kernel
def _scaled(counts: Unboxed[Counts], i: int) -> int:
    return unboxed(counts).factor * unboxed(counts).of[i]


@kernel
def _exchange(counts: Unboxed[Counts], i: int, j: int) -> None:
    of = unboxed(counts).of
    of[i], of[j] = of[j], of[i]


@kernel
def _halved(counts: Unboxed[Counts], i: int) -> float:
    return unboxed(counts).of[i] / 2


@kernel
def _total(read: int, change: int, counts: int) -> int:
    if change != NO_ENTRY:
        call_entry(change, counts, 0, 2)
    return call_entry(read, counts, 0) + 10 * call_entry(read, counts, 1)


def test_a_kernel_calls_parts_that_it_was_not_compiled_with():
    one, other = (Unboxed(Counts(np.array(of), factor)) for of, factor in (([1, 2, 3], 1), ([4, 5, 6], 2)))
    read, exchange = entry_point(_scaled, one, 0), entry_point(_exchange, one, 0, 0)
    assert NO_ENTRY not in (read, exchange)
    assert _total(read, NO_ENTRY, one.address) == 1 + 20
    assert _total(read, exchange, other.address) == 2 * (6 + 50)
    assert other.value.of.tolist() == [6, 5, 4]
    assert one.value.of.tolist() == [1, 2, 3]


@pytest.mark.skipif(not IS_COMPILED, reason="kernels run as plain Python")
def test_a_part_that_returns_another_number_is_refused():
    with pytest.raises(TypeError, match="_halved returns float64"):
        entry_point(_halved, Unboxed(Counts(np.zeros(1, np.int64), 1)), 0)
