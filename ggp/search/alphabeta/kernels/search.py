"""search_tree: alpha-beta, fail-soft and depth-first, on a stack of its own.

One turn of the loop in `search_tree` is one *step* of the node on top of the stack:

    ENTER      `_enter_node`: answer from the transposition table, or make and rank all children
    NEXT       `_try_children`: score children that need no search; push the first that does
    RECEIVE    `_receive_score`: a child's search is over: count its score, or search it again
    LEAVE      store the result; the parent receives it

Every refinement is a switch in `AlphaBetaMemory.option`; none changes the value of a search to the end.

Sources: Knuth and Moore (1975) for alpha-beta; Reinefeld (1983) for principal variation search; Akl and
Newborn (1977) for killers; Schaeffer (1989) for the history heuristic; Anantharaman, Campbell and Hsu
(1990) for singular extensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index
from ggp.lanes.keys.packing import StateCode
from ggp.lanes.layout import LaneTables
from ggp.search.alphabeta.kernels import arrays as c
from ggp.search.alphabeta.kernels.arrays import AlphaBetaMemory
from ggp.search.alphabeta.kernels.children import make_children, order_by_distance
from ggp.search.alphabeta.kernels.transposition_table import (
    entry_bound,
    entry_depth,
    entry_move,
    entry_score,
    pack_entry,
    prefetch_entries,
    probe,
    store_entry,
)

# Steps of a node. ANSWERED is LEAVE without anything to store; ABORT ends the search without a result.
ENTER, NEXT, RECEIVE, DESCEND, LEAVE, ANSWERED, ABORT = range(7)

_TERMINAL_RANK = 1 << 50
_TABLE_RANK = 1 << 48
_KILLER_RANK = 1 << 46
_HISTORY_LIMIT = 1 << 24
_SINGULAR_MARGIN = 300
_SINGULAR_FROM = 4
# Extensions end at this multiple of the depth asked for.
_MOST_EXTENDED = 2
_REDUCED_FROM = 4
_UNREDUCED_MOVES = 3
# Two plies: one would let the other side move at the horizon, which many estimates cannot judge alike.
_REDUCTION = 2
_PRUNED_FROM = 2
# Goal bounds are of use if they spare the search of one child in 32 nodes; else one node in 16 asks for them.
_USEFUL = 32
_SELDOM = 16
_FEW_ASKED, _MOST_ASKED = 512, 4096


@inlined
def _rank_children(memory: AlphaBetaMemory, ply: Index, mover: Index) -> None:
    """Set order[child] of all children; the highest rank is searched first."""
    frames = memory.frames
    option = memory.option
    first = frames.first[ply]
    for child in range(first, first + frames.children[ply]):
        move = np.int64(memory.move[child])
        rank = np.int64(0)
        if option[c.STATIC_ORDER]:
            if memory.end[child] != c.NO_SCORE:
                end = np.int64(memory.end[child] if mover == 0 else -memory.end[child])
                is_useful = end > frames.alpha[ply]
                rank = end + np.int64(_TERMINAL_RANK if is_useful else -_TERMINAL_RANK)
            else:
                score = np.int64(memory.score[child])
                mobility = np.int64(memory.mobility[child])
                rank = (score if mover == 0 else -score) * 64
                rank += mobility if memory.mover[child] == mover else -mobility
        if memory.end[child] == c.NO_SCORE and move >= 0:
            if option[c.HISTORY]:
                rank += memory.history[move] << 20
            if option[c.KILLERS]:
                if memory.killer[2 * ply] == move:
                    rank += np.int64(2 * _KILLER_RANK)
                elif memory.killer[2 * ply + 1] == move:
                    rank += np.int64(_KILLER_RANK)
            if option[c.ORDER_BY_TABLE] and frames.table_move[ply] == move:
                rank += np.int64(_TABLE_RANK)
        memory.order[child] = rank


@inlined
def _pick_child(memory: AlphaBetaMemory, ply: Index) -> Any:
    """Swap the best-ranked untried child to the front of the untried ones; return its place."""
    frames = memory.frames
    here = frames.first[ply] + frames.tried[ply]
    end = frames.first[ply] + frames.children[ply]
    best = here
    for child in range(here + 1, end):
        if memory.order[child] > memory.order[best]:
            best = child
    if best != here:
        memory.order[best], memory.order[here] = memory.order[here], memory.order[best]
        memory.move[best], memory.move[here] = memory.move[here], memory.move[best]
        memory.mover[best], memory.mover[here] = memory.mover[here], memory.mover[best]
        memory.end[best], memory.end[here] = memory.end[here], memory.end[best]
        memory.score[best], memory.score[here] = memory.score[here], memory.score[best]
        memory.mobility[best], memory.mobility[here] = memory.mobility[here], memory.mobility[best]
        words = memory.key.shape[0] // memory.move.shape[0]
        for d in range(words):
            a = best * words + d
            b = here * words + d
            memory.key[a], memory.key[b] = memory.key[b], memory.key[a]
    return here


@inlined
def _reward_cutoff(memory: AlphaBetaMemory, ply: Index, move: Index) -> None:
    """Make a move that caused a cutoff a killer, and raise its history."""
    if move < 0:
        return
    if memory.killer[2 * ply] != move:
        memory.killer[2 * ply + 1] = memory.killer[2 * ply]
        memory.killer[2 * ply] = move
    depth = min(memory.frames.depth[ply], 16)
    memory.history[move] += depth * depth
    if memory.history[move] > _HISTORY_LIMIT:
        for each in range(memory.history.shape[0]):
            memory.history[each] >>= 1


@inlined
def _remember(memory: AlphaBetaMemory, ply: Index, words: Index) -> None:
    """Store the bound that the finished node at `ply` has shown in the transposition table."""
    frames = memory.frames
    best = frames.best[ply]
    if best >= frames.beta[ply]:
        bound = c.LOWER
    elif best > frames.alpha0[ply]:
        bound = c.EXACT
    else:
        bound = c.UPPER
    depth = min(frames.depth[ply], c.RESOLVED - 1) if frames.is_open[ply] else np.int64(c.RESOLVED)
    data = pack_entry(best, np.int64(bound), depth, frames.best_move[ply])
    store_entry(memory, frames.place[ply], words, data)


@inlined
def _push(memory: AlphaBetaMemory, ply: Index, place: Index, depth: Index, alpha: Index, beta: Index) -> None:
    """Put the node at `place` on the stack, to be entered at `ply`."""
    frames = memory.frames
    frames.place[ply] = place
    frames.depth[ply] = depth
    frames.alpha[ply] = alpha
    frames.alpha0[ply] = alpha
    frames.beta[ply] = beta
    frames.excluded[ply] = -1
    frames.children[ply] = -1


@inlined
def _may_extend(memory: AlphaBetaMemory, ply: Index) -> bool:
    """Whether a node this deep may be extended; not in a search to the end, nor without limit."""
    frames = memory.frames
    return bool(
        0 < ply < _MOST_EXTENDED * frames.depth[0]
        and frames.depth[ply] < c.MOST_PLIES
        and ply + 1 < c.MOST_PLIES
    )


@inlined
def _extension(memory: AlphaBetaMemory, ply: Index, child: Index) -> Any:
    """Plies added to the search of `child`.

    At the horizon a child is extended if the move changes the static score by the margin of the quiescence
    search: a capture, say, which may be answered.
    """
    frames = memory.frames
    if frames.extension[ply] == c.EVERY_MOVE:
        return 1
    if frames.extension[ply] == c.TABLE_MOVE:
        return int(memory.move[child] == frames.table_move[ply])
    margin = memory.option[c.QUIESCENCE]
    if margin > 0 and frames.depth[ply] <= 1 and _may_extend(memory, ply):
        change = np.int64(memory.score[child]) - np.int64(memory.score[frames.place[ply]])
        return int(abs(change) >= margin)
    return 0


@inlined
def _push_child(memory: AlphaBetaMemory, ply: Index, depth: Index, low: Index, high: Index) -> None:
    """Push the current child, with the window from its mover's point of view and its extension."""
    frames = memory.frames
    child = frames.child[ply]
    depth += _extension(memory, ply, child)
    if memory.mover[child] != memory.mover[frames.place[ply]]:
        low, high = -high, -low
    _push(memory, ply + 1, child, depth, low, high)


@inlined
def _clear_frame(memory: AlphaBetaMemory, ply: Index) -> None:
    frames = memory.frames
    frames.best[ply] = -c.INFINITE
    frames.best_move[ply] = -1
    frames.tried[ply] = 0
    frames.is_open[ply] = 0
    frames.table_move[ply] = -1
    frames.extension[ply] = c.NO_MOVE
    frames.mode[ply] = c.FULL


@inlined
def _answer_from_table(memory: AlphaBetaMemory, ply: Index, data: np.uint64) -> bool:
    """Take the result of a table entry if it was searched deep enough and its bound decides the window."""
    frames = memory.frames
    known = entry_depth(data)
    if frames.excluded[ply] >= 0 or (known != c.RESOLVED and known < frames.depth[ply]):
        return False
    worth = entry_score(data)
    bound = entry_bound(data)
    is_enough = (
        bound == c.EXACT
        or (bound == c.LOWER and worth >= frames.beta[ply])
        or (bound == c.UPPER and worth <= frames.alpha[ply])
    )
    if is_enough:
        frames.best[ply] = worth
        frames.best_move[ply] = frames.table_move[ply]
        frames.is_open[ply] = np.int64(known != c.RESOLVED)
    return is_enough


@inlined
def _may_be_singular(memory: AlphaBetaMemory, ply: Index, data: np.uint64) -> bool:
    """Whether the table's move deserves a singular-extension test: a deep search found it good enough."""
    frames = memory.frames
    known = entry_depth(data)
    return bool(
        memory.option[c.SINGULAR_EXTENSION] != 0
        and data != np.uint64(0)
        and _may_extend(memory, ply)
        and frames.excluded[ply] < 0
        and frames.extension[ply] == c.NO_MOVE
        and frames.depth[ply] >= _SINGULAR_FROM
        and known >= frames.depth[ply] - 3
        and known != c.RESOLVED
        and entry_bound(data) != c.UPPER
        and frames.table_move[ply] >= 0
    )


@inlined
def _cut_off_by_table(memory: AlphaBetaMemory, words: Index, ply: Index) -> bool:
    """Whether the table knows a child that is good enough for a cutoff, which is then the node's result."""
    frames = memory.frames
    first = frames.first[ply]
    mover = memory.mover[frames.place[ply]]
    prefetch_entries(memory, words, first, frames.children[ply])
    for child in range(first, first + frames.children[ply]):
        if memory.end[child] != c.NO_SCORE or 0 <= memory.move[child] == frames.excluded[ply]:
            continue
        data = probe(memory, child, words)
        if data == np.uint64(0):
            continue
        known = entry_depth(data)
        if known != c.RESOLVED and known < frames.depth[ply] - 1:
            continue
        score = entry_score(data)
        bound = entry_bound(data)
        if memory.mover[child] != mover:
            score = -score
            bound = c.LOWER if bound == c.UPPER else c.UPPER if bound == c.LOWER else bound
        if bound != c.UPPER and score >= frames.beta[ply]:
            frames.best[ply] = score
            frames.best_move[ply] = memory.move[child]
            frames.is_open[ply] = np.int64(known != c.RESOLVED)
            memory.counter[c.TABLE_CUTOFFS] += 1
            return True
        is_decided = bound == c.EXACT or (bound == c.UPPER and score <= frames.alpha[ply])
        if is_decided and known == c.RESOLVED:
            memory.end[child] = entry_score(data) if memory.mover[child] == 0 else -entry_score(data)
    return False


@inlined
def _ask_for_bounds(memory: AlphaBetaMemory) -> None:
    """Decide whether the next node's children are asked for goal bounds: seldom if that is of little use."""
    counter = memory.counter
    counter[c.ASKING] = 0
    if memory.option[c.GOAL_BOUNDS] == 0:
        return
    is_useful = counter[c.ASKED] < _FEW_ASKED or counter[c.BOUNDED] * _USEFUL >= counter[c.ASKED]
    if is_useful or counter[c.NODES] % _SELDOM == 0:
        counter[c.ASKING] = 1
        counter[c.ASKED] += 1
        if counter[c.ASKED] == _MOST_ASKED:
            counter[c.ASKED] //= 2
            counter[c.BOUNDED] //= 2


@inlined
def _cut_off_by_bounds(memory: AlphaBetaMemory, ply: Index) -> bool:
    """Whether what a child can still end with suffices for a cutoff, and is then the node's result.

    Children that can no longer end with more than the window asks for need no search.
    """
    frames = memory.frames
    mover = memory.mover[frames.place[ply]]
    first = frames.first[ply]
    for child in range(first, first + frames.children[ply]):
        is_left_out = 0 <= memory.move[child] == frames.excluded[ply]
        if memory.end[child] != c.NO_SCORE or is_left_out or memory.least[child] > memory.most[child]:
            continue
        low, high = np.int64(memory.least[child]), np.int64(memory.most[child])
        if mover != 0:
            low, high = -high, -low
        if low >= frames.beta[ply]:
            frames.best[ply] = low
            frames.best_move[ply] = memory.move[child]
            memory.counter[c.BOUNDED] += 1
            return True
        if high <= frames.alpha[ply]:
            memory.end[child] = high if mover == 0 else -high
            memory.counter[c.BOUNDED] += 1
    return False


@stage
def _enter_node(
    tables: LaneTables, code: StateCode, first_move: Int32Array, memory: AlphaBetaMemory, ply: Index
) -> Any:
    """Begin the node at `ply`; return its next step."""
    frames = memory.frames
    counter = memory.counter
    counter[c.NODES] += 1
    is_used_up = 0 < memory.option[c.PASS_LIMIT] <= counter[c.PASSES]
    if counter[c.STOP] or is_used_up or counter[c.NODES] > memory.option[c.NODE_LIMIT]:
        counter[c.STOP] = 1
        return ABORT
    _clear_frame(memory, ply)
    place = frames.place[ply]
    data = np.uint64(0)
    if memory.option[c.TRANSPOSITIONS]:
        data = probe(memory, place, code.word_count)
        if data != np.uint64(0):
            frames.table_move[ply] = entry_move(data)
            if _answer_from_table(memory, ply, data):
                return ANSWERED
    top = np.int64(1)
    if ply > 0:
        top = frames.first[ply - 1] + frames.children[ply - 1]
    _ask_for_bounds(memory)
    count = make_children(tables, code, first_move, memory, place, top)
    if count < 0:
        return ABORT
    frames.first[ply] = top
    frames.children[ply] = count
    if counter[c.ASKING] and ply > 0 and _cut_off_by_bounds(memory, ply):
        return LEAVE
    if memory.option[c.ENHANCED_CUTOFFS] and ply > 0 and _cut_off_by_table(memory, code.word_count, ply):
        return LEAVE
    order_by_distance(memory, top, count)
    _rank_children(memory, ply, np.int64(memory.mover[place]))
    counter[c.DEEPEST] = max(counter[c.DEEPEST], ply)
    if memory.option[c.FORCED_EXTENSION] and count == 1 and _may_extend(memory, ply):
        frames.extension[ply] = c.EVERY_MOVE
        counter[c.EXTENSIONS] += 1
    if _may_be_singular(memory, ply, data):
        # Singular-extension test: do all other moves fail low by the margin?
        frames.mode[ply] = c.VERIFYING
        bound = entry_score(data) - _SINGULAR_MARGIN
        _push(memory, ply + 1, place, frames.depth[ply] // 2, bound - 1, bound)
        frames.excluded[ply + 1] = frames.table_move[ply]
        return DESCEND
    return NEXT


@inlined
def _take_score(memory: AlphaBetaMemory, ply: Index, score: Index, is_open: Index) -> bool:
    """Count the score of the current child; return whether it causes a cutoff.

    A cutoff rests on this child alone, so the node is as open as the child; otherwise it is open if any is.
    """
    frames = memory.frames
    move = np.int64(memory.move[frames.child[ply]])
    frames.is_open[ply] |= is_open
    if score > frames.best[ply]:
        frames.best[ply] = score
        frames.best_move[ply] = move
    frames.alpha[ply] = max(frames.alpha[ply], score)
    if score < frames.beta[ply]:
        return False
    frames.is_open[ply] = is_open
    memory.counter[c.CUTOFFS] += 1
    memory.counter[c.FIRST_CUTOFFS] += frames.tried[ply] == 1
    _reward_cutoff(memory, ply, move)
    return True


@inlined
def _push_first_search(memory: AlphaBetaMemory, ply: Index, late: Index) -> None:
    """Push the current child, number `late` in order, with its first window and depth."""
    frames = memory.frames
    left = frames.depth[ply]
    low = frames.alpha[ply]
    high = frames.beta[ply]
    depth = left - 1
    frames.mode[ply] = c.FULL
    if frames.best[ply] > -c.INFINITE:
        is_late = _REDUCED_FROM <= left < c.MOST_PLIES and late >= _UNREDUCED_MOVES
        if is_late and memory.option[c.LATE_MOVE_REDUCTION]:
            frames.mode[ply] = c.REDUCED
            depth -= _REDUCTION
            high = low + 1
        elif memory.option[c.PRINCIPAL_VARIATION] and high - low > 1:
            frames.mode[ply] = c.SCOUT
            high = low + 1
    _push_child(memory, ply, depth, low, high)


@inlined
def _horizon_score(memory: AlphaBetaMemory, child: Index) -> Index:
    """The score of a child at the horizon, for role 0."""
    if memory.option[c.EVEN_HORIZON]:
        return np.int64(memory.option[c.NULL_SCORE])
    return np.int64(memory.score[child])


@stage
def _try_children(memory: AlphaBetaMemory, ply: Index) -> Any:
    """Score the next children; return DESCEND at the first one to be searched, LEAVE when no more count."""
    frames = memory.frames
    mover = memory.mover[frames.place[ply]]
    left = frames.depth[ply]
    while frames.tried[ply] < frames.children[ply]:
        child = _pick_child(memory, ply)
        late = frames.tried[ply]
        frames.tried[ply] += 1
        frames.child[ply] = child
        if 0 <= memory.move[child] == frames.excluded[ply]:
            continue
        is_terminal = memory.end[child] != c.NO_SCORE
        is_horizon = left - 1 + _extension(memory, ply, child) <= 0 or ply + 1 >= c.MOST_PLIES
        if is_terminal or is_horizon:
            score = np.int64(memory.end[child] if is_terminal else _horizon_score(memory, child))
            is_open = np.int64(not is_terminal)
            memory.counter[c.HORIZON] += is_open
            if _take_score(memory, ply, score if mover == 0 else -score, is_open):
                return LEAVE
        elif 0 < memory.option[c.KEPT_MOVES] <= late and _PRUNED_FROM <= left < c.MOST_PLIES:
            frames.is_open[ply] = 1
            return LEAVE
        else:
            _push_first_search(memory, ply, late)
            return DESCEND
    return LEAVE


@stage
def _receive_score(memory: AlphaBetaMemory, ply: Index, score: Index, is_open: Index) -> Any:
    """Take the result of the current child, from its mover's point of view; return the next step."""
    frames = memory.frames
    if frames.mode[ply] == c.VERIFYING:
        frames.mode[ply] = c.FULL
        if score <= frames.alpha0[ply + 1]:
            frames.extension[ply] = c.TABLE_MOVE
            memory.counter[c.EXTENSIONS] += 1
        return NEXT
    if memory.mover[frames.child[ply]] != memory.mover[frames.place[ply]]:
        score = -score
    if score > frames.alpha[ply] and frames.mode[ply] != c.FULL:
        # A reduced or null-window search failed high, which proves nothing yet.
        high = frames.beta[ply]
        is_reduced = frames.mode[ply] == c.REDUCED
        frames.mode[ply] = c.SCOUT if is_reduced else c.FULL
        if is_reduced or score < high:
            if is_reduced:
                high = frames.alpha[ply] + 1
            _push_child(memory, ply, frames.depth[ply] - 1, frames.alpha[ply], high)
            return DESCEND
    return LEAVE if _take_score(memory, ply, score, is_open) else NEXT


@kernel
def search_tree(
    tables: LaneTables,
    code: StateCode,
    first_move: Int32Array,
    memory: AlphaBetaMemory,
    depth: int,
    alpha: int,
    beta: int,
) -> int:
    """The score of the node at place 0 of the arena for its mover, within the window (alpha, beta).

    The result r bounds v, the value of the tree that is cut off `depth` plies below the root and scored there
    by the static estimate: r <= alpha says v <= r, r >= beta says v >= r, anything between says v = r. Table
    entries from deeper searches may stand for parts of that tree, which only brings v closer to the game's
    value. If frames.is_open[0] is 0, no score that counts came from the horizon, and the same holds for the
    game's value: it is proven. Ordering (table move, killers, history, static order) may change how many
    nodes are searched, never the bound. Late-move reductions, kept moves, extensions and quiescence change
    which tree is searched while there is a horizon, and nothing in a search to the end.

    Afterwards frames.best_move[0] is the best move, -1 without one. If counter[STOP] or counter[FAULT] is
    set, there is no result: 0 is returned, and the entries in the table remain true. A stopped search resumes
    if it is called again with the same arguments, counter[STOP] = 0 and counter[PAUSED] as it was left.
    Before, the root's key and mover must stand at place 0, and counter[PAUSED] be 0.
    """
    frames = memory.frames
    ply = np.int64(0)
    score: Any = np.int64(0)
    is_open: Any = np.int64(0)
    step: Any = ENTER
    paused = memory.counter[c.PAUSED]
    if paused > 0:
        ply = np.int64(paused - 1)
    else:
        _push(memory, 0, 0, depth, alpha, beta)
    while ply >= 0:
        if step == ENTER:
            step = _enter_node(tables, code, first_move, memory, ply)
        elif step == RECEIVE:
            step = _receive_score(memory, ply, score, is_open)
        if step == NEXT:
            step = _try_children(memory, ply)
        if step == ABORT:
            memory.counter[c.PAUSED] = ply + 1
            return 0
        if step == DESCEND:
            ply += 1
            step = ENTER
            continue
        score = frames.best[ply]
        is_open = frames.is_open[ply]
        if step == LEAVE and memory.option[c.TRANSPOSITIONS] and frames.excluded[ply] < 0:
            _remember(memory, ply, code.word_count)
        ply -= 1
        step = RECEIVE
    memory.counter[c.PAUSED] = 0
    return score  # type: ignore[no-any-return]


@kernel
def probe_children(memory: AlphaBetaMemory, words: int, low: Int32Array, high: Int32Array) -> None:
    """Bounds that are proven for the children of the root, in their order in the arena, as scores for role 0.

    low, high   int32[children of the root]; -INFINITE and INFINITE where nothing is proven
    words       64-bit words per key
    """
    first = memory.frames.first[0]
    for i in range(low.shape[0]):
        child = np.int64(first + i)
        low[i] = -c.INFINITE
        high[i] = c.INFINITE
        if memory.end[child] != c.NO_SCORE:
            low[i] = memory.end[child]
            high[i] = memory.end[child]
            continue
        data = probe(memory, child, np.int64(words))
        if data == np.uint64(0) or entry_depth(data) != c.RESOLVED:
            continue
        score = entry_score(data)
        is_low = entry_bound(data) != c.UPPER
        is_high = entry_bound(data) != c.LOWER
        if memory.mover[child] != 0:
            score = -score
            is_low, is_high = is_high, is_low
        if is_low:
            low[i] = score
        if is_high:
            high[i] = score
