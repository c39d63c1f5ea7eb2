"""The values that UCT compares, once all edges of a node were tried.

Each term has a short loop of its own, from 0 on, over slices, without branches that depend on the edge: so
LLVM computes several edges at a time, and a search with many moves per state runs up to 1.4 times as fast as
with all terms in one loop. `value` is scratch, float64[E] of the E edges of one role: value[i] is that of
edge first + i.

The plain-Python twin, `ggp.search.tree.reference.search`, computes every float by the same operations in
the same order.
"""

from __future__ import annotations

import math

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import Index
from ggp.search.tree.kernels.arrays import UNPROVEN, Float64Array, Settings, Tree

NEUTRAL_GOAL = 50.0


@inlined
def count_visits(tree: Tree, first: Index, end: Index) -> tuple[Index, bool]:
    """Total visits of the edges, those in flight included; and whether an edge has none."""
    visits = tree.visits[first:end]
    flight = tree.flight[first:end]
    all_visits: Index = 0
    untried = 0
    for i in range(end - first):
        n = visits[i] + flight[i]
        all_visits += n
        untried += n == 0
    return all_visits, untried > 0


@inlined
def put_means(tree: Tree, first: Index, end: Index, value: Float64Array) -> None:
    """Mean goals; that of the node if all visits of an edge are in flight."""
    visits = tree.visits[first:end]
    total = tree.total[first:end]
    unknown = 0
    for i in range(end - first):
        value[i] = total[i] / max(visits[i], 1)
        unknown += visits[i] == 0
    if unknown > 0:
        mean = _mean_of_all(visits, total)
        for i in range(end - first):
            value[i] = value[i] if visits[i] > 0 else mean


@inlined
def _mean_of_all(visits: Int32Array, total: Float64Array) -> float:
    """Mean goal of all playouts that have ended; neutral before the first one."""
    ended = 0
    sum_of_goals = 0.0
    for i in range(visits.shape[0]):
        ended += visits[i]
        sum_of_goals += total[i]
    return sum_of_goals / ended if ended > 0 else NEUTRAL_GOAL


@inlined
def add_bonus(
    tree: Tree, settings: Settings, first: Index, end: Index, all_visits: Index, value: Float64Array
) -> None:
    """C · sqrt(ln N / n), where visits in flight count in N and n (WU-UCT: Liu et al. 2020)."""
    visits = tree.visits[first:end]
    flight = tree.flight[first:end]
    bonus = settings.exploration * math.sqrt(math.log(all_visits))
    for i in range(end - first):
        value[i] += bonus / math.sqrt(visits[i] + flight[i])


@inlined
def put_proofs(tree: Tree, first: Index, end: Index, value: Float64Array) -> None:
    """A proven goal needs no estimate."""
    goal = tree.goal[first:end]
    for i in range(end - first):
        value[i] = goal[i] if goal[i] != UNPROVEN else value[i]


@inlined
def first_highest(value: Float64Array) -> Index:
    best: Index = 0
    best_value = value[0]
    for i in range(1, value.shape[0]):
        if value[i] > best_value:
            best_value = value[i]
            best = i
    return best
