"""Random rows: xorshift128+ (Vigna 2017), one generator per word, kept in registers while it is used."""

from __future__ import annotations

import numpy as np

from ggp.kernels.compiling import inlined
from ggp.kernels.rows import Row, Rows, add, make_rows, shift_left, shift_right, words_of


def seeded_random(words: int, seed: int, stream: int = 0) -> Rows:
    """The state of W generators, two rows; independent for every (seed, stream)."""
    state = make_rows(2, words)
    sequence = np.random.SeedSequence([seed & (2**64 - 1), stream])
    words_of(state)[:] = sequence.generate_state(2 * words, np.uint64).reshape(2, words)
    words_of(state)[0] |= np.uint64(1)  # the all-zero state would stay zero
    return state


@inlined
def next_random(older: Row, newer: Row) -> tuple[Row, Row, Row]:
    """(older, newer, random row): pass the first two on to the next call."""
    x = older ^ shift_left(older, np.uint64(23))
    x = x ^ newer ^ shift_right(x, np.uint64(18)) ^ shift_right(newer, np.uint64(5))
    return newer, x, add(x, newer)
