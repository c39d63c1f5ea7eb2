"""The row type: one circuit node in 64*W games, as a value.

A *row* holds W 64-bit words; bit b of word w belongs to lane 64*w + b, that is, to one game. Inside compiled
kernels it is an LLVM vector: with AVX-512 and W = 8 a row is one register and `x & y` one instruction for 512
games; for narrower machines LLVM splits it.

Arrays of rows are one-dimensional numpy arrays whose dtype carries W (`row_dtype`), 64-byte aligned
(`make_rows`). Because W is part of the array type, one kernel serves every W and caches on disk.

    load(rows, i)  store(rows, i, x)        memory
    literal(rows, l)                        row of node l >> 1, negated if l is odd
    x & y   x | y   x ^ y   ~x              all lanes at once
    fill(rows, word)                        a row of the width of `rows`, every word the same
    any_lane(x)                             is a bit set anywhere?
    get_word(rows, i, w)  set_word(...)     one word, for scalar code; these and word_count also take
                                            `words_of(rows)`
    shift_left, shift_right, add, popcount  word by word; `sum_words` adds up the words
    lowest_bit                              of one word
    fill_float, multiply, subtract          rows whose words are float64; get_float reads one
    choose_words(bits, x, y)                word w of x if bit w of `bits` is set, else of y

Numbers are 64 int32, one per lane of a word; also a value, in registers.

    fill_numbers(n)                         64 times the same
    load_numbers(memory, word)              from an array of int32 or rows, 64 * word numbers from its start
    add_where(numbers, word, n)             plus n, an int32, where a bit of `word` is set
    exceeds(numbers, others)                the word of the lanes where they are more (unsigned)
    share_of(numbers, share)                numbers * share / 2**32, rounded down (unsigned)

Between rows and arrays of bytes: what kernels compute is one bit per game, what readers want one byte.

    spread_64(target, place, word)          target[place : place + 64] = the bits of `word`, as 0 and 1
    store_where(target, place, word, n)     target[place + j] = n, an int32, where bit j of `word` is set
    bytes_equal(source, place, number)      bit j of a word: whether source[place + j] is `number`
    upper_halves_equal(words, place, half)  bit j of a word: whether words[place + j] >> 32 is `half`, j < 8
    prefetch(array, i)                      start loading the cache line of element i (into the second cache),
                                            so that many cache misses are under way at once

Rows are values. Write `x = x & y`, never `x &= y`: with NUMBA_DISABLE_JIT=1 rows are numpy arrays and
an augmented assignment would change the array under all of its names.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

import numpy as np
from numba.core import config
from numpy.typing import NDArray

from ggp.jit.plain_rows import Index as Index
from ggp.jit.plain_rows import Numbers as Numbers
from ggp.jit.plain_rows import Row as Row
from ggp.jit.vector_rows import ALIGNMENT as ALIGNMENT

if TYPE_CHECKING or config.DISABLE_JIT:
    from ggp.jit import plain_rows as operations
else:
    from ggp.jit import vector_rows as operations

load, store, literal, fill = operations.load, operations.store, operations.literal, operations.fill
any_lane, choose_words = operations.any_lane, operations.choose_words
get_word, set_word, word_count = operations.get_word, operations.set_word, operations.word_count
shift_left, shift_right, add = operations.shift_left, operations.shift_right, operations.add
popcount, sum_words = operations.popcount, operations.sum_words
lowest_bit = operations.lowest_bit
fill_float, get_float = operations.fill_float, operations.get_float
multiply, subtract = operations.multiply, operations.subtract
fill_numbers, load_numbers = operations.fill_numbers, operations.load_numbers
add_where, exceeds, share_of = operations.add_where, operations.exceeds, operations.share_of
spread_64, store_where = operations.spread_64, operations.store_where
bytes_equal, upper_halves_equal = operations.bytes_equal, operations.upper_halves_equal
prefetch = operations.prefetch

Rows: TypeAlias = NDArray[np.void]
_Memory = TypeVar("_Memory")
ALL_ONES = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@cache
def row_dtype(words: int) -> np.dtype[np.void]:
    """The dtype of an array of rows of `words` 64-bit words."""
    return np.dtype([("words", np.uint64, (words,))])


def make_rows(count: int, words: int) -> Rows:
    """Allocate `count` zeroed rows of `words` words, aligned to ALIGNMENT bytes.

    >>> rows = make_rows(3, 2)
    >>> width_of(rows), words_of(rows).shape, rows.ctypes.data % ALIGNMENT
    (2, (3, 2), 0)
    """
    size = 8 * words * count
    memory = np.zeros(size + ALIGNMENT, np.uint8)
    start = -memory.ctypes.data % ALIGNMENT
    return memory[start : start + size].view(row_dtype(words))


def words_of(rows: Rows) -> NDArray[np.uint64]:
    """The same memory as uint64[count, W]."""
    return rows["words"]


def in_words(memory: _Memory) -> _Memory:
    """The same memory, a NamedTuple of arrays, with uint64[count, W] for all rows, also in its members.

    What works lane by lane is compiled once for that, instead of once for every W.

    >>> from typing import NamedTuple
    >>> class Arrays(NamedTuple):
    ...     value: Rows
    ...     count: int
    >>> in_words(Arrays(make_rows(3, 2), 7)).value.shape
    (3, 2)
    """
    return type(memory)(*(_words_in(each) for each in cast("tuple[Any, ...]", memory)))


def _words_in(member: Any) -> Any:
    if isinstance(member, np.ndarray):
        return words_of(member) if member.dtype.names else member
    return in_words(member) if isinstance(member, tuple) else member


def width_of(rows: Rows) -> int:
    """W, the number of words per row."""
    return rows.dtype.itemsize // 8
