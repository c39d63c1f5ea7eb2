"""MAST and TO-MAST: mean goals per move, and the weights of the moves that follow from them.

Playouts choose by Gibbs sampling, weight exp(mean goal of the move / tau); moves not made yet count like the
best one made. TO-MAST learns from the moves in the tree only. PAST uses these means for moves of which it
knows nothing else.
Source: Finnsson & Björnsson, "Learning Simulation Control in General Game-Playing Agents" (AAAI 2010).
"""

from __future__ import annotations

from ggp.jit.compiling import kernel
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.roulette import gibbs_weight
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import SearchMemory


@kernel
def learn_moves(memory: Unboxed[SearchMemory], walker: int, lane: int) -> None:
    """Enter the moves of the playout that ends in `lane` before this tick, with the goals in arrays.goal."""
    search = unboxed(memory)
    arrays, statistics = search.arrays, search.statistics
    ticks = arrays.history.shape[0]
    end = arrays.counter[c.TICK]
    for tick in range(max(search.walkers.start[walker], end - ticks), end):
        for role in range(arrays.history.shape[1]):
            move = arrays.history[tick & (ticks - 1), role, lane]
            statistics.visits[move] += 1.0
            statistics.total[move] += arrays.goal[role]
    arrays.counter[c.REFRESH_IN] -= 1


@kernel
def learn_tree_moves(memory: Unboxed[SearchMemory], walker: int, lane: int) -> None:
    """Enter the moves of the walker's path, with the goals in arrays.goal (TO-MAST)."""
    search = unboxed(memory)
    arrays, walkers, statistics = search.arrays, search.walkers, search.statistics
    for d in range(walkers.depth[walker]):
        for role in range(arrays.goal.shape[0]):
            move = search.tree.move[walkers.path_edge[walker, d, role]]
            statistics.visits[move] += 1.0
            statistics.total[move] += arrays.goal[role]
    arrays.counter[c.REFRESH_IN] -= 1


@kernel
def refresh_weights(memory: Unboxed[SearchMemory]) -> None:
    """Recompute the weights of the moves."""
    search = unboxed(memory)
    arrays, statistics, settings = search.arrays, search.statistics, search.settings
    arrays.counter[c.REFRESH_IN] = settings.refresh
    for role in range(arrays.first_move.shape[0] - 1):
        if role == settings.chance:
            continue
        first = arrays.first_move[role]
        end = arrays.first_move[role + 1]
        best = 0.0
        for move in range(first, end):
            if statistics.visits[move] > 0.0:
                best = max(best, statistics.total[move] / statistics.visits[move])
        is_as_before = best == statistics.best[role]
        statistics.best[role] = best
        for move in range(first, end):
            key = best
            if statistics.visits[move] > 0.0:
                key = statistics.total[move] / statistics.visits[move]
            if is_as_before and key == statistics.key[move]:
                continue  # a playout makes few of the moves, and computing weights takes longest here
            statistics.key[move] = key
            statistics.weight[move] = gibbs_weight(key, best, settings.temperature, end - first)
