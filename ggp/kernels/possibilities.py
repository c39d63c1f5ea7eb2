"""Three-valued evaluation of a circuit: what can still be true while part of the inputs is unknown.

Every literal has a bit per question: "can be true". A node whose two literals both can be true is unknown.
Ignores that unknown inputs may be related, so it may say "can" where the rules say "cannot", never the
other way round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.compiling import kernel
from ggp.tables import Int32Array


@kernel
def spread_possibilities(
    first_input: Int32Array, inputs: Int32Array, gate0: int, gates: int, can: NDArray[np.uint64]
) -> None:
    """Work out the first `gates` gates of a circuit, see `ggp.tables.CircuitTables`.

    can   uint64[2K, W]: bit = question, row = literal: whether it can be true; gates are overwritten
    """
    for g in range(gates):
        node = gate0 + g
        for w in range(can.shape[1]):
            can_hold = ~np.uint64(0)
            can_fail = np.uint64(0)
            for j in range(first_input[g], first_input[g + 1]):
                can_hold = can_hold & can[inputs[j], w]
                can_fail = can_fail | can[inputs[j] ^ 1, w]
            can[2 * node, w] = can_hold
            can[2 * node + 1, w] = can_fail
