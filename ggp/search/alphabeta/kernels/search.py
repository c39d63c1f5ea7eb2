"""search_tree: fail-soft alpha-beta on an explicit stack.

One turn of the loop in `search_tree` is one *step* of the node on top of the stack:

    ENTER      `_enter_node`: answer from the transposition table, or make and rank all children
    NEXT       `_try_children`: score children that need no search; push the first that does
    RECEIVE    `_receive_score`: a child's search is over: count its score, or search it again
    LEAVE      store the result; the parent receives it

`ggp.search.alphabeta.reference` is the same search to read, one function per refinement, with its sources:
both search the same nodes in the same order, if it has no other refinements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, stage
from ggp.jit.rows import Index
from ggp.lanes.keys.state_code import StateCode
from ggp.lanes.layout import LaneTables
from ggp.search.alphabeta.kernels import arrays as c
from ggp.search.alphabeta.kernels.arrays import AlphaBetaMemory
from ggp.search.alphabeta.kernels.children import make_children
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


@inlined
def _rank_children(memory: AlphaBetaMemory, ply: Index, mover: Index) -> None:
    """Set order[child] of all children; the highest rank is searched first.

    Certain scores first if they raise alpha, else last; between them the table's move, killers, then the rest
    by static score and mobility. In a search to the end, what caused cutoffs elsewhere spoils this order:
    killers need a horizon.
    """
    frames = memory.frames
    first = frames.first[ply]
    has_killers = frames.depth[ply] < c.MAX_PLIES
    for child in range(first, first + frames.children[ply]):
        if memory.end[child] != c.NO_SCORE:
            end = np.int64(memory.end[child] if mover == 0 else -memory.end[child])
            is_useful = end > frames.alpha[ply]
            memory.order[child] = end + np.int64(_TERMINAL_RANK if is_useful else -_TERMINAL_RANK)
            continue
        score = np.int64(memory.score[child])
        mobility = np.int64(memory.mobility[child])
        rank = (score if mover == 0 else -score) * 64
        rank += mobility if memory.mover[child] == mover else -mobility
        move = np.int64(memory.move[child])
        if move >= 0:
            if has_killers and memory.killer[2 * ply] == move:
                rank += np.int64(2 * _KILLER_RANK)
            elif has_killers and memory.killer[2 * ply + 1] == move:
                rank += np.int64(_KILLER_RANK)
            if frames.table_move[ply] == move:
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
        # All arrays of the two children are swapped.
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
def _remember(memory: AlphaBetaMemory, ply: Index, words: Index) -> None:
    """Store the bound of the finished node at `ply` in the transposition table."""
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
    frames.best[ply] = -c.INFINITE
    frames.best_move[ply] = -1
    frames.children[ply] = -1
    frames.tried[ply] = 0
    frames.is_open[ply] = 0
    frames.is_scouted[ply] = 0
    frames.table_move[ply] = -1


@inlined
def _push_child(memory: AlphaBetaMemory, ply: Index, low: Index, high: Index) -> None:
    """Push the current child with a window for the node's mover; it changes sign if the other role moves."""
    frames = memory.frames
    child = frames.child[ply]
    if memory.mover[child] != memory.mover[frames.place[ply]]:
        low, high = -high, -low
    _push(memory, ply + 1, child, frames.depth[ply] - 1, low, high)


@inlined
def _decide(memory: AlphaBetaMemory, ply: Index, score: Index, move: Index, is_open: Index) -> None:
    """Make a score that needed no search the node's result."""
    memory.frames.best[ply] = score
    memory.frames.best_move[ply] = move
    memory.frames.is_open[ply] = is_open


@inlined
def _answer_from_table(memory: AlphaBetaMemory, ply: Index, data: np.uint64) -> bool:
    """Take the result of a table entry if it was searched deep enough and its bound decides the window."""
    frames = memory.frames
    known = entry_depth(data)
    if known != c.RESOLVED and known < frames.depth[ply]:
        return False
    worth = entry_score(data)
    bound = entry_bound(data)
    is_enough = (
        bound == c.EXACT
        or (bound == c.LOWER and worth >= frames.beta[ply])
        or (bound == c.UPPER and worth <= frames.alpha[ply])
    )
    if is_enough:
        _decide(memory, ply, worth, frames.table_move[ply], np.int64(known != c.RESOLVED))
    return is_enough


@inlined
def _cut_off_by_table(memory: AlphaBetaMemory, words: Index, ply: Index) -> bool:
    """Whether a child's table entry suffices for a cutoff, and is then the node's result.
    Otherwise children whose value is proven, or proven to be at most alpha, have it as their `end`."""
    frames = memory.frames
    first = frames.first[ply]
    mover = memory.mover[frames.place[ply]]
    prefetch_entries(memory, words, first, frames.children[ply])
    for child in range(first, first + frames.children[ply]):
        if memory.end[child] != c.NO_SCORE:
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
            _decide(memory, ply, score, np.int64(memory.move[child]), np.int64(known != c.RESOLVED))
            return True
        is_decided = bound == c.EXACT or (bound == c.UPPER and score <= frames.alpha[ply])
        if is_decided and known == c.RESOLVED:
            memory.end[child] = entry_score(data) if memory.mover[child] == 0 else -entry_score(data)
    return False


@stage
def _enter_node(
    tables: LaneTables, code: StateCode, first_move: Int32Array, memory: AlphaBetaMemory, ply: Index
) -> Any:
    frames = memory.frames
    counter = memory.counter
    counter[c.NODES] += 1
    is_used_up = 0 < memory.option[c.PASS_LIMIT] <= counter[c.PASSES]
    if counter[c.STOP] or is_used_up or counter[c.NODES] > memory.option[c.NODE_LIMIT]:
        counter[c.STOP] = 1
        return ABORT
    place = frames.place[ply]
    data = probe(memory, place, code.word_count)
    if data != np.uint64(0):
        frames.table_move[ply] = entry_move(data)
        if _answer_from_table(memory, ply, data):
            counter[c.HITS] += 1
            return ANSWERED
    top = np.int64(1)
    if ply > 0:
        top = frames.first[ply - 1] + frames.children[ply - 1]
    count = make_children(tables, code, first_move, memory, place, top)
    if count < 0:
        return ABORT
    frames.first[ply] = top
    frames.children[ply] = count
    # The root needs a move of its own.
    if ply > 0 and _cut_off_by_table(memory, code.word_count, ply):
        return LEAVE
    _rank_children(memory, ply, np.int64(memory.mover[place]))
    return NEXT


@inlined
def _take_score(memory: AlphaBetaMemory, ply: Index, score: Index, is_open: Index) -> bool:
    """Count the score of the current child; return whether it causes a cutoff. A cutoff rests on this child
    alone, so the node is as open as the child; otherwise it is open if any is."""
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
    # It becomes the first killer of its ply; -1, the only move, is none.
    if move >= 0 and memory.killer[2 * ply] != move:
        memory.killer[2 * ply + 1] = memory.killer[2 * ply]
        memory.killer[2 * ply] = move
    return True


@inlined
def _push_first_search(memory: AlphaBetaMemory, ply: Index) -> None:
    """Push the current child: with the whole window, or with a null window once a move has a score."""
    frames = memory.frames
    low = frames.alpha[ply]
    high = frames.beta[ply]
    frames.is_scouted[ply] = frames.best[ply] > -c.INFINITE and high - low > 1
    _push_child(memory, ply, low, low + 1 if frames.is_scouted[ply] else high)


@stage
def _try_children(memory: AlphaBetaMemory, ply: Index) -> Any:
    """Score the next children; return DESCEND at the first one to be searched, LEAVE when no more count."""
    frames = memory.frames
    mover = memory.mover[frames.place[ply]]
    left = frames.depth[ply]
    while frames.tried[ply] < frames.children[ply]:
        child = _pick_child(memory, ply)
        frames.tried[ply] += 1
        frames.child[ply] = child
        is_open = np.int64(memory.end[child] == c.NO_SCORE)
        if is_open and left > 1 and ply + 1 < c.MAX_PLIES:
            _push_first_search(memory, ply)
            return DESCEND
        memory.counter[c.LEAVES] += 1
        score = np.int64(memory.score[child] if is_open else memory.end[child])
        if _take_score(memory, ply, score if mover == 0 else -score, is_open):
            return LEAVE
    return LEAVE


@stage
def _receive_score(memory: AlphaBetaMemory, ply: Index, score: Index, is_open: Index) -> Any:
    """Take the result of the current child, from its mover's point of view; return the next step."""
    frames = memory.frames
    if memory.mover[frames.child[ply]] != memory.mover[frames.place[ply]]:
        score = -score
    if frames.is_scouted[ply] and frames.alpha[ply] < score < frames.beta[ply]:
        # Failing high in a null window shows only that the move is better than alpha.
        frames.is_scouted[ply] = 0
        _push_child(memory, ply, frames.alpha[ply], frames.beta[ply])
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
    by the static estimate: r <= alpha means v <= r, r >= beta means v >= r, all else v = r. Table
    entries from deeper searches may stand for parts of that tree, which only brings v closer to the game's
    value. If frames.is_open[0] is 0, no score that counts came from the horizon, and the same holds for the
    game's value: it is proven. The order of moves may change how many nodes are searched, never the bound.

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
    # `step` is what the node at `ply` does next; score and is_open are the result of its latest child.
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
        if step == LEAVE:
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
