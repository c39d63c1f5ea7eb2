"""Arguments that are unboxed once mean what the arguments themselves mean."""

import copy
import pickle
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ggp.jit.compiling import IS_COMPILED, kernel
from ggp.jit.rows import Rows, load, make_rows, store, words_of
from ggp.jit.unboxed import Unboxed, unboxed


class Inner(NamedTuple):
    rows: Rows
    factor: float


class Outer(NamedTuple):
    inner: Inner
    table: NDArray[np.int32]
    count: int


@kernel
def _combine(first: Unboxed[Outer], second: Unboxed[Outer]) -> float:
    a, b = unboxed(first), unboxed(second)
    store(a.inner.rows, 0, load(b.inner.rows, 1))
    a.table[1, 2] += b.count
    return a.table.sum() * b.inner.factor


def outer(words: int, factor: float, count: int) -> Outer:
    rows = make_rows(2, words)
    words_of(rows)[1] = count
    return Outer(Inner(rows, factor), np.arange(6, dtype=np.int32).reshape(2, 3), count)


def test_kernels_read_and_write_the_arrays_themselves():
    for words in (1, 8):
        first, second = outer(words, 1.0, 3), outer(words, 0.5, 7)
        assert _combine(Unboxed(first), Unboxed(second)) == (15 + 7) * 0.5
        assert first.table[1, 2] == 5 + 7
        assert words_of(first.inner.rows)[0].tolist() == [7] * words


def test_values_of_one_kind_share_their_type():
    made = [Unboxed(outer(8, 1.0, count), kind="test") for count in (1, 2, 3)]
    assert _combine(made[2], made[1]) == 15 + 2
    assert made[2].value.table[1, 2] == 5 + 2


@pytest.mark.skipif(not IS_COMPILED, reason="kernels run as plain Python")
@pytest.mark.parametrize("words", [1, 8])
def test_a_value_made_once_lies_in_memory_as_a_kernel_writes_it(words):
    value = outer(words, -0.5, 3)._replace(count=-3, table=np.zeros((4, 3), np.int32)[::-2].T)
    by_python, by_kernel = Unboxed.made_once(value)._memory, Unboxed(value)._memory
    # Rows: 7 words and a factor; then the table. The first two words of an array are its owners.
    owners = {0, 1, 8, 9}
    assert len(by_python) == len(by_kernel) == 7 + 1 + 9 + 1
    assert {i for i in range(len(by_python)) if by_python[i] != by_kernel[i]} <= owners
    assert not by_python[list(owners)].any()


def test_kernels_read_what_was_made_once():
    assert (
        _combine(Unboxed.made_once(outer(1, 1.0, 3)), Unboxed.made_once(outer(1, 0.5, 7))) == (15 + 7) * 0.5
    )


@pytest.mark.skipif(not IS_COMPILED, reason="kernels run as plain Python")
def test_other_members_than_arrays_and_numbers_are_refused():
    for member in (True, "text", 1j):
        with pytest.raises(TypeError):
            Unboxed.made_once(Inner(make_rows(1, 1), member))


def test_copies_have_arrays_of_their_own():
    first = Unboxed(outer(1, 1.0, 3))
    for other in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        _combine(other, first)
        assert other.value.table[1, 2] == 5 + 3
        assert first.value.table[1, 2] == 5
