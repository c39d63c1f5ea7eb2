"""Three-valued evaluation of a circuit: what can still be true while part of the inputs is unknown.

Every literal has a bit per question: "can be true". A node is unknown if both its literals can be true.
Relations between unknown inputs are ignored, so the answer may be "can" when the rules say "cannot", never
the other way round.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import kernel


@kernel
def spread_possibilities(
    first_input: Int32Array, inputs: Int32Array, gate0: int, gates: int, can: NDArray[np.uint64]
) -> None:
    """Compute the first `gates` gates of a circuit, see `ggp.circuit.tables.CircuitTables`.

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
