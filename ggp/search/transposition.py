"""How large a transposition table may be, and what it costs.

The table itself is `ggp.kernels.alphabeta_table`: pairs of slots, whole keys, so that a proof is a proof.
"""

from __future__ import annotations

DEFAULT_MEBIBYTES = 256
_LEAST_SLOTS = 1 << 10


def slot_count(mebibytes: int, words: int) -> int:
    """How many slots (a power of two) fit into so much memory, for keys of so many 64-bit words."""
    fitting = (mebibytes << 20) // (8 * words + 8)
    return max(_LEAST_SLOTS, 1 << max(0, fitting.bit_length() - 1))
