"""Size of the transposition table.

The table itself is `ggp.search.alphabeta.kernels.transposition_table`: pairs of slots with whole keys, so
that proofs are never confused.
"""

from __future__ import annotations

DEFAULT_MEBIBYTES = 256
_LEAST_SLOTS = 1 << 10


def slot_count(mebibytes: int, words: int) -> int:
    """The number of slots (a power of two) that fit into memory, for keys of `words` 64-bit words.

    >>> slot_count(1, 1)
    65536
    """
    fitting = (mebibytes << 20) // (8 * words + 8)
    return max(_LEAST_SLOTS, 1 << max(0, fitting.bit_length() - 1))
