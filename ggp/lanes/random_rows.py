"""Random rows: one xorshift128+ generator per word (Vigna 2017). Its state is kept in registers during
use."""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined
from ggp.jit.rows import Row, Rows, add, make_rows, shift_left, shift_right, words_of


def seeded_random(words: int, seed: int, stream: int = 0) -> Rows:
    """State of W generators, two rows; independent for every (seed, stream).

    >>> words_of(seeded_random(8, seed=1)).shape
    (2, 8)
    """
    state = make_rows(2, words)
    sequence = np.random.SeedSequence([seed & (2**64 - 1), stream])
    words_of(state)[:] = sequence.generate_state(2 * words, np.uint64).reshape(2, words)
    words_of(state)[0] |= np.uint64(1)  # the all-zero state would stay zero
    return state


@inlined
def next_random(older: Row, newer: Row) -> tuple[Row, Row, Row]:
    """Return (older, newer, random row). Pass the first two to the next call."""
    x = older ^ shift_left(older, np.uint64(23))
    x = x ^ newer ^ shift_right(x, np.uint64(18)) ^ shift_right(newer, np.uint64(5))
    return newer, x, add(x, newer)
