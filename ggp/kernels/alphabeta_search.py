"""The alpha-beta search itself: fail-soft, depth-first, with an explicit stack.

A search may stop at any node (deadline, node limit) and then says nothing; what it put into the
table stays true. Every refinement is a switch of `Search.option`; without horizon none changes the value.

Sources: Knuth and Moore (1975) for alpha-beta; Reinefeld (1983) for principal variation search; Akl and
Newborn (1977) for killers; Schaeffer (1989) for the history heuristic; Anantharaman, Campbell and Hsu
(1990) for singular extensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.kernels.alphabeta_arrays import (
    CUTOFFS,
    DEEPEST,
    EXACT,
    EXTENSIONS,
    FAULT,
    FIRST_CUTOFFS,
    FULL,
    HISTORY,
    HORIZON,
    INFINITE,
    KEPT_MOVES,
    KILLERS,
    LATE_MOVE_REDUCTION,
    LOWER,
    MOST_PLIES,
    NO_SCORE,
    NODE_LIMIT,
    NODES,
    ORDER_BY_TABLE,
    PRINCIPAL_VARIATION,
    REDUCED,
    RESOLVED,
    SCOUT,
    SINGULAR_EXTENSION,
    STATIC_ORDER,
    STOP,
    TRANSPOSITIONS,
    UPPER,
    VERIFYING,
    Search,
)
from ggp.kernels.alphabeta_children import make_children
from ggp.kernels.alphabeta_table import (
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    pack_entry,
    probe,
    store_entry,
)
from ggp.kernels.compiling import inlined, kernel
from ggp.kernels.lane_tables import LaneTables
from ggp.kernels.rows import Index
from ggp.kernels.solver_codes import StateCode
from ggp.tables import Int32Array

_TERMINAL_RANK = 1 << 50
_TABLE_RANK = 1 << 48
_KILLER_RANK = 1 << 46
_HISTORY_LIMIT = 1 << 24
_SINGULAR_MARGIN = 300
_REDUCED_FROM = 4
# Two plies: one would let the other side move at the horizon, which many estimates cannot judge alike.
_REDUCTION = 2
_PRUNED_FROM = 2


@inlined
def _rank_children(search: Search, ply: Index, mover: Index) -> None:
    """order[child]: the higher, the sooner it is searched."""
    frames = search.frames
    option = search.option
    first = frames.first[ply]
    for child in range(first, first + frames.children[ply]):
        move = np.int64(search.move[child])
        rank = np.int64(0)
        if option[STATIC_ORDER]:
            if search.end[child] != NO_SCORE:
                end = np.int64(search.end[child] if mover == 0 else -search.end[child])
                is_useful = end > frames.alpha[ply]
                rank = end + np.int64(_TERMINAL_RANK if is_useful else -_TERMINAL_RANK)
            else:
                score = np.int64(search.score[child])
                mobility = np.int64(search.mobility[child])
                rank = (score if mover == 0 else -score) * 64
                rank += mobility if search.mover[child] == mover else -mobility
        if search.end[child] == NO_SCORE and move >= 0:
            if option[HISTORY]:
                rank += search.history[move] << 20
            if option[KILLERS]:
                if search.killer[2 * ply] == move:
                    rank += np.int64(2 * _KILLER_RANK)
                elif search.killer[2 * ply + 1] == move:
                    rank += np.int64(_KILLER_RANK)
            if option[ORDER_BY_TABLE] and frames.table_move[ply] == move:
                rank += np.int64(_TABLE_RANK)
        search.order[child] = rank


@inlined
def _pick_child(search: Search, ply: Index) -> Any:
    """Bring the best-ranked child not yet tried to the front of those; returns its place."""
    frames = search.frames
    here = frames.first[ply] + frames.tried[ply]
    end = frames.first[ply] + frames.children[ply]
    best = here
    for child in range(here + 1, end):
        if search.order[child] > search.order[best]:
            best = child
    if best != here:
        search.order[best], search.order[here] = search.order[here], search.order[best]
        search.move[best], search.move[here] = search.move[here], search.move[best]
        search.mover[best], search.mover[here] = search.mover[here], search.mover[best]
        search.end[best], search.end[here] = search.end[here], search.end[best]
        search.score[best], search.score[here] = search.score[here], search.score[best]
        search.mobility[best], search.mobility[here] = search.mobility[here], search.mobility[best]
        words = search.key.shape[0] // search.move.shape[0]
        for d in range(words):
            a = best * words + d
            b = here * words + d
            search.key[a], search.key[b] = search.key[b], search.key[a]
    return here


@inlined
def _reward_cutoff(search: Search, ply: Index, move: Index) -> None:
    """A move that refuted its parent's move becomes a killer and gains history."""
    if move < 0:
        return
    if search.killer[2 * ply] != move:
        search.killer[2 * ply + 1] = search.killer[2 * ply]
        search.killer[2 * ply] = move
    depth = min(search.frames.depth[ply], 16)
    search.history[move] += depth * depth
    if search.history[move] > _HISTORY_LIMIT:
        for each in range(search.history.shape[0]):
            search.history[each] >>= 1


@inlined
def _remember(search: Search, ply: Index, words: Index) -> None:
    """Store what the finished node at `ply` has shown."""
    frames = search.frames
    best = frames.best[ply]
    if best >= frames.beta[ply]:
        bound = LOWER
    elif best > frames.alpha0[ply]:
        bound = EXACT
    else:
        bound = UPPER
    depth = min(frames.depth[ply], RESOLVED - 1) if frames.is_open[ply] else np.int64(RESOLVED)
    data = pack_entry(best, np.int64(bound), depth, frames.best_move[ply])
    store_entry(search, frames.place[ply], words, data)


@inlined
def _push(search: Search, ply: Index, place: Index, depth: Index, alpha: Index, beta: Index) -> None:
    frames = search.frames
    frames.place[ply] = place
    frames.depth[ply] = depth
    frames.alpha[ply] = alpha
    frames.alpha0[ply] = alpha
    frames.beta[ply] = beta
    frames.excluded[ply] = -1
    frames.children[ply] = -1


@inlined
def _take_score(search: Search, ply: Index, score: Index, is_open: Index) -> bool:
    """Count the score of the child at hand; whether it refutes the node."""
    frames = search.frames
    move = np.int64(search.move[frames.child[ply]])
    frames.is_open[ply] |= is_open
    if score > frames.best[ply]:
        frames.best[ply] = score
        frames.best_move[ply] = move
    frames.alpha[ply] = max(frames.alpha[ply], score)
    if score < frames.beta[ply]:
        return False
    frames.is_open[ply] = is_open
    search.counter[CUTOFFS] += 1
    search.counter[FIRST_CUTOFFS] += frames.tried[ply] == 1
    _reward_cutoff(search, ply, move)
    return True


@kernel
def search_tree(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    search: Search,
    depth: int,
    alpha: int,
    beta: int,
) -> int:
    """The score of the node at place 0 of the arena for its mover, within the window (alpha, beta).

    A result <= alpha is an upper bound, one >= beta a lower bound. After it, frames.best_move[0] is the move,
    frames.is_open[0] is 0 where the result is proven, and counter[STOP] or counter[FAULT] says that there is
    none. The root's mover and key must stand at place 0.
    """
    frames = search.frames
    counter = search.counter
    option = search.option
    words = code.word_count
    ply = np.int64(0)
    score: Any = np.int64(0)
    is_open: Any = np.int64(0)
    _push(search, 0, 0, depth, alpha, beta)
    is_entering = True
    is_delivering = False
    while ply >= 0:
        mover = np.int64(search.mover[frames.place[ply]])
        is_finished = False
        if is_entering:
            # A node is entered: is it known already? If not, make its children.
            is_entering = False
            counter[NODES] += 1
            if counter[STOP] or counter[NODES] > option[NODE_LIMIT]:
                counter[STOP] = 1
                return 0
            frames.best[ply] = -INFINITE
            frames.best_move[ply] = -1
            frames.tried[ply] = 0
            frames.is_open[ply] = 0
            frames.table_move[ply] = -1
            frames.extension[ply] = 0
            frames.mode[ply] = FULL
            if option[TRANSPOSITIONS]:
                data = probe(search, frames.place[ply], words)
                if data != np.uint64(0):
                    frames.table_move[ply] = entry_move(data)
                    known = entry_depth(data)
                    worth = entry_score(data)
                    bound = entry_bound(data)
                    is_deep = known == RESOLVED or known >= frames.depth[ply]
                    is_enough = (
                        bound == EXACT
                        or (bound == LOWER and worth >= frames.beta[ply])
                        or (bound == UPPER and worth <= frames.alpha[ply])
                    )
                    if is_deep and is_enough and frames.excluded[ply] < 0:
                        score = worth
                        is_open = np.int64(known != RESOLVED)
                        frames.best_move[ply] = frames.table_move[ply]
                        frames.is_open[ply] = is_open
                        ply -= 1
                        is_delivering = True
                        continue
                    if (
                        option[SINGULAR_EXTENSION]
                        and 0 < ply < 2 * frames.depth[0]
                        and frames.excluded[ply] < 0
                        and frames.depth[ply] >= 4
                        and frames.depth[ply] < MOST_PLIES
                        and known >= frames.depth[ply] - 3
                        and known != RESOLVED
                        and bound != UPPER
                        and frames.table_move[ply] >= 0
                    ):
                        frames.mode[ply] = VERIFYING
            top = np.int64(1)
            if ply > 0:
                top = frames.first[ply - 1] + frames.children[ply - 1]
            count = make_children(tables, code, first_move, search, frames.place[ply], top)
            if count < 0:
                return 0
            frames.first[ply] = top
            frames.children[ply] = count
            _rank_children(search, ply, mover)
            counter[DEEPEST] = max(counter[DEEPEST], ply)
            if frames.mode[ply] == VERIFYING and ply + 1 < MOST_PLIES:
                # Does every other move fail clearly below the table's move?
                data = probe(search, frames.place[ply], words)
                worth = entry_score(data) - _SINGULAR_MARGIN
                _push(search, ply + 1, frames.place[ply], frames.depth[ply] // 2, worth - 1, worth)
                frames.excluded[ply + 1] = frames.table_move[ply]
                ply += 1
                is_entering = True
                continue
        elif is_delivering:
            # The search of a child has ended with `score`.
            is_delivering = False
            if frames.mode[ply] == VERIFYING:
                frames.mode[ply] = FULL
                if score <= frames.alpha0[ply + 1]:
                    frames.extension[ply] = 1
                    counter[EXTENSIONS] += 1
            else:
                child = frames.child[ply]
                if search.mover[child] != mover:
                    score = -score
                is_better = score > frames.alpha[ply]
                if is_better and frames.mode[ply] != FULL:
                    if frames.mode[ply] == REDUCED:
                        frames.mode[ply] = SCOUT
                        low = frames.alpha[ply]
                        high = frames.alpha[ply] + 1
                        is_again = True
                    else:
                        frames.mode[ply] = FULL
                        low = frames.alpha[ply]
                        high = frames.beta[ply]
                        is_again = score < frames.beta[ply]
                    if is_again:
                        if search.mover[child] != mover:
                            low, high = -high, -low
                        following = frames.depth[ply] - 1
                        if frames.extension[ply] and search.move[child] == frames.table_move[ply]:
                            following += 1
                        _push(search, ply + 1, child, following, low, high)
                        ply += 1
                        is_entering = True
                        continue
                is_finished = _take_score(search, ply, score, is_open)
        # Go on with the next child, or leave the node.
        while not is_finished and not is_entering:
            if frames.tried[ply] == frames.children[ply]:
                is_finished = True
                break
            child = _pick_child(search, ply)
            frames.tried[ply] += 1
            frames.child[ply] = child
            move = np.int64(search.move[child])
            if move >= 0 and move == frames.excluded[ply]:
                continue
            left = frames.depth[ply]
            if search.end[child] != NO_SCORE:
                end = np.int64(search.end[child])
                is_finished = _take_score(search, ply, end if mover == 0 else -end, np.int64(0))
                continue
            if left <= 1 or ply + 1 >= MOST_PLIES:
                worth = np.int64(search.score[child])
                counter[HORIZON] += 1
                is_finished = _take_score(search, ply, worth if mover == 0 else -worth, np.int64(1))
                continue
            is_limited = left < MOST_PLIES
            late = frames.tried[ply] - 1
            if is_limited and 0 < option[KEPT_MOVES] <= late and left >= _PRUNED_FROM:
                frames.is_open[ply] = 1
                is_finished = True
                break
            low = frames.alpha[ply]
            high = frames.beta[ply]
            following = left - 1
            frames.mode[ply] = FULL
            if frames.best[ply] > -INFINITE:
                if is_limited and option[LATE_MOVE_REDUCTION] and late >= 3 and left >= _REDUCED_FROM:
                    frames.mode[ply] = REDUCED
                    following -= _REDUCTION
                    high = low + 1
                elif option[PRINCIPAL_VARIATION] and high - low > 1:
                    frames.mode[ply] = SCOUT
                    high = low + 1
            if frames.extension[ply] and move == frames.table_move[ply]:
                following += 1
            if search.mover[child] != mover:
                low, high = -high, -low
            _push(search, ply + 1, child, following, low, high)
            ply += 1
            is_entering = True
        if is_finished:
            score = frames.best[ply]
            is_open = frames.is_open[ply]
            if option[TRANSPOSITIONS] and frames.excluded[ply] < 0:
                _remember(search, ply, words)
            ply -= 1
            is_delivering = True
    if counter[FAULT]:
        return 0
    return score  # type: ignore[no-any-return]
