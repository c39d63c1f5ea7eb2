"""What UCT compares when it chooses among the edges of a node that were all tried.

One short loop for each term, from 0 on, over slices, without branches that depend on the edge: so LLVM
computes several edges at a time, and a search with many moves a state runs up to 1.4 times as fast as with
all terms in one loop. `value` is scratch, float64[E] of the E edges of one role: value[i] is that of edge
first + i.

The plain-Python twin, `ggp.search.reference`, computes every float by the same operations in the same order.
"""

from __future__ import annotations

import math

from ggp.kernels.compiling import inlined
from ggp.kernels.rows import Index
from ggp.kernels.tree_arrays import AS_LOSSES, IGNORED, UNPROVEN, Float64Array, Settings, Tree
from ggp.tables import Int32Array

NEUTRAL_GOAL = 50.0


@inlined
def count_visits(tree: Tree, settings: Settings, first: Index, end: Index) -> tuple[Index, bool]:
    """Visits of the edges together, those in flight included where they count; and whether one has none."""
    visits = tree.visits[first:end]
    flight = tree.flight[first:end]
    all_visits: Index = 0
    untried = 0
    for i in range(end - first):
        n = visits[i] + (flight[i] if settings.in_flight != IGNORED else 0)
        all_visits += n
        untried += n == 0
    return all_visits, untried > 0


@inlined
def put_means(tree: Tree, settings: Settings, first: Index, end: Index, value: Float64Array) -> None:
    """Mean goals; that of the node where all visits of an edge are in flight, and do not count as losses."""
    visits = tree.visits[first:end]
    flight = tree.flight[first:end]
    total = tree.total[first:end]
    if settings.in_flight == AS_LOSSES:
        for i in range(end - first):
            value[i] = total[i] / (visits[i] + flight[i])
        return
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
def mix_in_amaf(
    tree: Tree,
    settings: Settings,
    first: Index,
    end: Index,
    all_visits: Index,
    reference: Index,
    value: Float64Array,
) -> None:
    """All-moves-as-first means, of the node (RAVE) or of the table `reference` (GRAVE), with weight beta."""
    beta = math.sqrt(settings.rave_k / (3.0 * all_visits + settings.rave_k))
    for i in range(end - first):
        if settings.grave_reference > 0:
            move = tree.move[first + i]
            seen = tree.table_visits[reference, move]
            total = tree.table_total[reference, move]
        else:
            seen = tree.rave_visits[first + i]
            total = tree.rave_total[first + i]
        if seen > 0:
            value[i] = beta * (total / seen) + (1.0 - beta) * value[i]


@inlined
def add_bonus(
    tree: Tree, settings: Settings, first: Index, end: Index, all_visits: Index, value: Float64Array
) -> None:
    """C · sqrt(ln N / n)."""
    visits = tree.visits[first:end]
    flight = tree.flight[first:end]
    bonus = settings.exploration * math.sqrt(math.log(all_visits))
    for i in range(end - first):
        n = visits[i] + (flight[i] if settings.in_flight != IGNORED else 0)
        value[i] += bonus / math.sqrt(n)


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
