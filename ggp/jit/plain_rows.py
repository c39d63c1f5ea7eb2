"""Operations of `ggp.jit.rows` in plain numpy, used by kernels when NUMBA_DISABLE_JIT=1.

A row is a uint64[W] array of its own, never a view. Hundreds of times slower than compiled rows: for
debugging, coverage and tests.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Row: TypeAlias = Any
Numbers: TypeAlias = Any
Index: TypeAlias = int | np.signedinteger[Any]


def load(rows: Any, index: Index) -> Row:
    return rows["words"][index].copy()


def store(rows: Any, index: Index, value: Row) -> None:
    rows["words"][index] = value


def literal(rows: Any, index: Index) -> Row:
    value: Row = rows["words"][index >> 1]
    return ~value if index & 1 else value.copy()


def fill(rows: Any, word: np.uint64) -> Row:
    return np.full(rows["words"].shape[1], word, np.uint64)


def any_lane(value: Row) -> bool:
    return bool(value.any())


def _words(rows: Any) -> Any:
    return rows if rows.dtype == np.uint64 else rows["words"]


def get_word(rows: Any, index: Index, word: Index) -> np.uint64:
    return np.uint64(_words(rows)[index, word])


def set_word(rows: Any, index: Index, word: Index, bits: np.uint64) -> None:
    _words(rows)[index, word] = bits


def word_count(rows: Any) -> int:
    return int(_words(rows).shape[1])


def shift_left(value: Row, count: np.uint64) -> Row:
    return value << count


def shift_right(value: Row, count: np.uint64) -> Row:
    return value >> count


def add(left: Row, right: Row) -> Row:
    return left + right


def fill_float(rows: Any, value: float | np.float64) -> Row:
    return np.full(rows["words"].shape[1], value, np.float64).view(np.uint64)


def get_float(rows: Any, index: Index, word: Index) -> np.float64:
    return np.float64(_words(rows)[index].view(np.float64)[word])


def multiply(left: Row, right: Row) -> Row:
    return (left.view(np.float64) * right.view(np.float64)).view(np.uint64)


def subtract(left: Row, right: Row) -> Row:
    return (left.view(np.float64) - right.view(np.float64)).view(np.uint64)


def choose_words(bits: np.uint64, left: Row, right: Row) -> Row:
    """Word w of `left` if bit w of `bits` is set, else of `right`."""
    places = np.arange(len(left), dtype=np.uint64)
    return np.where((bits >> places) & np.uint64(1) != 0, left, right)


def popcount(value: Row) -> Row:
    return np.array([int(word).bit_count() for word in value], np.uint64)


def sum_words(value: Row) -> int:
    return int(value.astype(np.int64).sum())


def lowest_bit(word: np.uint64) -> int:
    """Position of the lowest set bit; 64 if there is none.

    >>> lowest_bit(np.uint64(0b101000)), lowest_bit(np.uint64(0))
    (3, 64)
    """
    number = int(word)
    return (number & -number).bit_length() - 1 if number else 64


def _bits(word: np.uint64) -> NDArray[np.uint8]:
    return np.unpackbits(np.array([word], np.uint64).view(np.uint8), bitorder="little")


def spread_64(target: NDArray[np.uint8], place: Index, word: np.uint64) -> None:
    target[place : place + 64] = _bits(word)


def store_where(target: NDArray[np.int32], place: Index, word: np.uint64, number: np.int32) -> None:
    target[place + np.flatnonzero(_bits(word))] = number


def fill_numbers(number: Index) -> Numbers:
    return np.full(64, number, np.int32)


def load_numbers(memory: NDArray[Any], word: Index) -> Numbers:
    """Numbers 64 * word .. 64 * word + 63 of memory that is contiguous."""
    return memory.view(np.int32).ravel()[64 * word : 64 * word + 64].copy()


def add_where(numbers: Numbers, word: np.uint64, number: np.int32) -> Numbers:
    return np.where(_bits(word) != 0, numbers + number, numbers)


def exceeds(left: Numbers, right: Numbers) -> np.uint64:
    return _word_of(left.view(np.uint32) > right.view(np.uint32))


def share_of(numbers: Numbers, share: Numbers) -> Numbers:
    product = numbers.view(np.uint32).astype(np.uint64) * share.view(np.uint32)
    return (product >> np.uint64(32)).astype(np.uint32).view(np.int32)


def _word_of(bits: NDArray[np.bool_]) -> np.uint64:
    return np.uint64(np.packbits(bits, bitorder="little").view(np.uint64)[0])


def bytes_equal(source: NDArray[np.uint8], place: Index, number: np.uint8) -> np.uint64:
    return _word_of(source[place : place + 64] == number)


def upper_halves_equal(source: NDArray[np.uint64], place: Index, half: np.uint64) -> np.uint64:
    same = source[place : place + 8] >> np.uint64(32) == half
    return np.uint64(np.packbits(same, bitorder="little")[0])


def prefetch(array: NDArray[Any], index: Index | np.unsignedinteger[Any]) -> None:
    pass
