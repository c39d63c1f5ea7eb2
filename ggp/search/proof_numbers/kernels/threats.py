"""count_threats: how many facts each role lacks one of which would reach its goal, in all lanes at once.

The formula of the goal distance is read as a circuit: a fact is a *threat* if the goal fails for want of it
alone and it may still come to hold, now or later. In connect four it is an empty cell that completes a line
(counted so by Pons, "Solving connect four", 2015). Finding them goes from the goal to the facts, as reverse
differentiation does.
"""

from __future__ import annotations

import numpy as np

from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import ALL_ONES, Index, Row, Rows, any_lane, fill, literal, load, store
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.proof_numbers.kernels import arrays as c

THREAT_PLANES = c.NOTE_PLANES // 2
"""Binary digits of a count."""
THREAT_WORTH = 16
"""Hundredths of a goal for each threat, of which there are at most 255."""


@inlined
def _settle_parts(formula: GoalFormula, value: Rows, holds: Rows) -> None:
    """Settle all parts of the formula; `value` has fluent f in row 1 + f."""
    leaves = formula.leaf.shape[0]
    for v in range(leaves):
        store(holds, v, literal(value, np.int64(formula.leaf[v]) + 2))
    for g in range(formula.is_any.shape[0]):
        x = fill(holds, np.uint64(0) if formula.is_any[g] else ALL_ONES)
        for j in range(formula.first_input[g], formula.first_input[g + 1]):
            part = load(holds, np.int64(formula.input[j]))
            x = x | part if formula.is_any[g] else x & part
        store(holds, leaves + g, x)


@inlined
def _find_decisive(formula: GoalFormula, holds: Rows, decisive: Rows, wanted: Index) -> None:
    """For each part, find the lanes in which `wanted` would hold if this part did."""
    leaves, gates = formula.leaf.shape[0], formula.is_any.shape[0]
    for each in range(leaves + gates):
        store(decisive, each, fill(decisive, np.uint64(0)))
    store(decisive, wanted, ~load(holds, wanted))
    for i in range(gates):
        g = gates - 1 - i
        here = load(decisive, leaves + g)
        if not formula.is_any[g]:
            all_hold, one_fails = fill(decisive, ALL_ONES), fill(decisive, np.uint64(0))
            for j in range(formula.first_input[g], formula.first_input[g + 1]):
                x = load(holds, np.int64(formula.input[j]))
                one_fails = (one_fails & x) | (all_hold & ~x)
                all_hold = all_hold & x
            here = here & one_fails
        # Any input that fails decides: of a conjunction it is the only one.
        for j in range(formula.first_input[g], formula.first_input[g + 1]):
            part = np.int64(formula.input[j])
            store(decisive, part, load(decisive, part) | (here & ~load(holds, part)))


@inlined
def _blocked(formula: GoalFormula, value: Rows, leaf: Index) -> Row:
    """The lanes in which a leaf can never come to hold."""
    blocked = fill(value, np.uint64(0))
    for j in range(formula.first_blocker[leaf], formula.first_blocker[leaf + 1]):
        blocked = blocked | load(value, np.int64(1 + formula.blocker[j]))
    return blocked


@piece
def count_threats(formula: GoalFormula, value: Rows, holds: Rows, decisive: Rows, counts: Rows) -> None:
    """Count the threats of both roles in the states of all lanes.

    value             rows of states, fluent f in row 1 + f
    holds, decisive   V + G rows of scratch
    counts            2 * THREAT_PLANES rows: the digits of role 0's number, lowest first, then role 1's
    """
    _settle_parts(formula, value, holds)
    for p in range(2 * THREAT_PLANES):
        store(counts, p, fill(counts, np.uint64(0)))
    for role in range(2):
        _find_decisive(formula, holds, decisive, np.int64(formula.wanted[role]))
        for v in range(formula.leaf.shape[0]):
            carry = load(decisive, v) & ~_blocked(formula, value, np.int64(v))
            p = role * THREAT_PLANES
            while p < (role + 1) * THREAT_PLANES and any_lane(carry):
                digit = load(counts, p)
                store(counts, p, digit ^ carry)
                carry = digit & carry
                p += 1
