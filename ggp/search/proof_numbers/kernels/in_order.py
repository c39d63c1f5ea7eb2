"""walk_in_order: depth-first search in an order by many walkers at once, over one table.

What alpha-beta with a null window does: a walker stays below a child until it is answered, and takes the
children of a node in the order of their scores. Until one is answered all walkers follow the best one ("young
brothers wait", Feldmann 1993); then those with the fewest others below come first (as in ABDADA, Weill
1996). All walkers use what any of them has answered. Numbers play no part: in the table a state is answered
(one number is 0) or not.

A *tick* serves all walkers: each needs the children of one node, which are made together (`make_children`).
Those that circuits decide are dropped at once; of the others the keys are hashed and their entries
prefetched, then those that the table answers are dropped. A node's frame so lists its open children only, one
after another; one that is answered later makes room for the last. Walkers climb without looking at the table:
what they leave is written at the end of the tick, when its entry is in the cache. Where one has to choose
among children that were made earlier, it waits for a round while the entry is on its way.

An answer holds whatever the order: a node is answered by answered children only. So states that occur again
in a line spoil no answer, but a walker could follow them for ever; it gives up instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ggp.jit.compiling import inlined, kernel, piece
from ggp.jit.rows import Index, any_lane, fill, get_word, load, popcount, set_word, store, sum_words
from ggp.lanes.keys.key_table import hash_of
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import OrderMemory
from ggp.search.proof_numbers.kernels.children import make_children, note_place, score_states
from ggp.search.proof_numbers.kernels.lane_search import (
    ANSWER,
    DEEP,
    DONE,
    LIVE,
    PUT,
    ask,
    can_step,
    place_in_keys,
    put_tasks,
    step_lanes,
)
from ggp.search.proof_numbers.kernels.table import (
    NO,
    YES,
    data_of,
    entry_busy,
    find_entry,
    logarithm,
    make_room,
    prefetch_bucket,
    settled_entry,
    store_answer,
)

# Fields of a frame. AT: where the record of the node begins in `child`; FIRST: where those of its open
# children do; MADE: how many of CHILDREN have been made; OPENED: how many of them are open, CHOICE: how many
# were once all had been made; WORK: nodes entered below it; FLAGS: see below.
AT, FIRST, CHILDREN, MADE, OPENED, CHOICE, WORK, FLAGS = range(8)
# Flags. SECOND: role 1 moves; MARKED: the table counts the walker among those below; WON: a child is answered
# for who moves; HAS_ANSWERS: a child has been answered against it, not by circuits.
SECOND, MARKED, WON, HAS_ANSWERS = 1, 2, 4, 8

# A record is a key, its hash and a rank, whose least comes next. From the lowest bit on: the note of a state
# without DECIDED and YES, its move, how far its score is from the best one, and walkers below.
MOVE_BIT, WORSE_BIT, BUSY_BIT = 14, 27, 54
ASIDE_BITS = 13
"""For how far from the middle a move is, next to the score."""

SENT, HARD = np.uint64(1 << 61), np.uint64(1 << 62)
"""Bits of a rank: the child's task is in a lane; it was given up."""
# Numbers in `front`. FRONT_PLY: nodes from this ply on are tasks for lanes; STEPS: made so far; USED: walkers
# in use; DEEPEST: the greatest ply of a node; ENDED: tasks on this ply that have ended since it was set, and
# SPENT: their steps.
FRONTS = 6
FRONT_PLY, STEPS, USED, DEEPEST, ENDED, SPENT = range(FRONTS)
WARM_NODES, NEAR_END = 2048, 6
"""Nodes before lanes take part, and how many plies above the deepest node they begin."""
MOST_STEPS = 8192
"""Steps after which a task is given up."""
FEW_STEPS, MANY_STEPS, SAMPLE = 150, 600, 128
"""Lanes begin a ply higher or lower if the last SAMPLE tasks took fewer or more steps in the mean."""
FULL, BATCH, IDLE_WALKERS = c.TASK_LANES * 3 // 4, 40, 12
"""Lanes step at most BATCH times, or until BATCH tasks are done; they begin once FULL lanes have a task, or
fewer than IDLE_WALKERS walkers have something to do."""
OVERDUE_BITS = 9
"""Binary logarithm of the steps between looking for tasks to give up."""
MORE_WALKERS = 2
"""Walkers that join where lanes are free and all others wait for tasks."""

_JUST_MADE = -2
"""In `chosen`: the entries of all children were read in this tick."""
_REPEATED_EVERY = 16
"""Plies after which a walker looks whether it goes round in circles."""
_NOTHING = np.uint64(0)


@inlined
def _record(memory: OrderMemory) -> Any:
    """Words of a record."""
    return memory.entry_words + 2


@inlined
def _rank(memory: OrderMemory, at: Index) -> Any:
    return np.int64(memory.child[at + memory.entry_words + 1])


@inlined
def _move_of(rank: Index) -> Any:
    return (rank >> MOVE_BIT) & ((1 << WORSE_BIT - MOVE_BIT) - 1)


@inlined
def _is_answered(data: np.uint64) -> bool:
    return bool(data & (YES | NO) != _NOTHING)


@inlined
def _find(memory: OrderMemory, at: Index) -> Any:
    """The entry of the state with the record at `at`; -1: none."""
    return find_entry(memory, memory.child, at, memory.child[at + memory.entry_words])


@inlined
def _finish_record(memory: OrderMemory, at: Index, rank: Index) -> None:
    """Complete a record whose key is written: the words up to those of an entry, the hash and the rank."""
    words, size = memory.maker.code.word_count, memory.entry_words
    for d in range(words, size):
        memory.child[at + d] = np.uint64(0)
    memory.child[at + size] = hash_of(memory.child, at, words)
    memory.child[at + size + 1] = np.uint64(rank)


@inlined
def _enter(memory: OrderMemory, k: Index, at: Index, first: Index, marked: Index) -> None:
    """Make the node at `at` the one that walker k waits for; its children's records begin at `first`."""
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    rank = _rank(memory, at)
    frame = memory.frame
    frame[f + AT] = at
    frame[f + FIRST] = first
    frame[f + CHILDREN] = ((rank >> 1) & ((1 << c.COUNT_PLANES) - 1)) + 1
    frame[f + MADE] = 0
    frame[f + OPENED] = 0
    frame[f + WORK] = 1
    frame[f + FLAGS] = (rank & 1) | marked
    memory.front[DEEPEST] = max(memory.front[DEEPEST], memory.ply[k])
    memory.path[memory.ply[k] * memory.option[c.WALKERS] + k] = memory.child[at + memory.entry_words]
    end = first + frame[f + CHILDREN] * _record(memory)
    if memory.ply[k] + 1 >= memory.plies or end > (k + 1) * memory.places * _record(memory):
        memory.counter[c.FAULT] = c.NO_ROOM


@kernel
def begin_in_order(memory: OrderMemory, note: int) -> None:
    """Put all walkers at the root, whose key is at the beginning of the arena of walker 0."""
    words, size = memory.maker.code.word_count, _record(memory)
    memory.counter[c.PENDING] = 0
    memory.path[:] = 0
    memory.owner[:] = -1
    memory.waiting[:] = 0
    memory.tasks[:] = 0
    memory.front[:] = 0
    memory.front[FRONT_PLY] = memory.plies
    memory.front[USED] = memory.option[c.FIRST_WALKERS]
    for i in (LIVE, DONE, PUT):
        store(memory.rest.rows, i, fill(memory.rest.rows, np.uint64(0)))
    ask(memory.rest, memory.option[c.GOAL])
    for k in range(memory.option[c.WALKERS]):
        root = k * memory.places * size
        for d in range(words):
            memory.child[root + d] = memory.child[d]
        _finish_record(memory, root, note >> c.MOVER_BIT)
        memory.ply[k] = 0
        memory.cut[k] = memory.plies
        _enter(memory, k, root, root + size, np.int64(0))


@inlined
def _hand_out_lanes(memory: OrderMemory) -> Any:
    """Give lanes to the walkers' nodes in turn, write keys and numbers of moves; return how many lanes."""
    words, walkers, frame = memory.maker.code.word_count, memory.front[USED], memory.frame
    memory.lanes[:] = 0
    used: Any = np.int64(0)
    waiting: Any = np.int64(-1)
    for j in range(walkers):
        k = memory.counter[c.FIRST] + j
        if k >= walkers:
            k -= walkers
        f = (k * memory.plies + memory.ply[k]) * c.FRAME
        left = frame[f + CHILDREN] - frame[f + MADE]
        lanes = min(left, c.LANES - used)
        memory.first_lane[k] = used
        memory.lanes[k] = lanes
        at = frame[f + AT]
        for i in range(lanes):
            lane = used + i
            for d in range(words):
                set_word(
                    memory.maker.keys,
                    64 * d + (lane >> c.WORD_BITS),
                    lane & (c.WORDS - 1),
                    memory.child[at + d],
                )
            memory.maker.note_of[note_place(lane)] = frame[f + MADE] + i
        used += lanes
        memory.counter[c.NODES] += left > 0 and lanes == left
        if lanes < left and waiting < 0:
            waiting = k
    memory.counter[c.FIRST] = max(waiting, 0)  # comes first in the next tick
    return used


@inlined
def _win(memory: OrderMemory, k: Index, f: Index, move: Index) -> None:
    """A child is answered for who moves in the node of a frame."""
    memory.frame[f + FLAGS] |= WON
    if f == k * memory.plies * c.FRAME:
        memory.counter[c.BEST] = move


@inlined
def _collect_children(memory: OrderMemory, k: Index) -> None:
    """Write the records of new children that are not decided, and prefetch their entries.

    `first_lane` becomes the number of those that were open before.
    """
    words, size, frame = memory.maker.code.word_count, _record(memory), memory.frame
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    at = frame[f + FIRST] + frame[f + OPENED] * size
    is_second = frame[f + FLAGS] & SECOND
    for i in range(memory.lanes[k]):
        lane = memory.first_lane[k] + i
        note = np.int64(memory.maker.note_of[note_place(lane)])
        move = frame[f + MADE] + i
        if not (note >> c.DECIDED_BIT) & 1:
            for d in range(words):
                memory.child[at + d] = get_word(
                    memory.maker.keys, 64 * d + (lane >> c.WORD_BITS), lane & (c.WORDS - 1)
                )
            _finish_record(memory, at, (move << MOVE_BIT) | (note >> c.MOVER_BIT))
            prefetch_bucket(memory, memory.child[at + size - 2])
            at += size
        elif (note >> c.YES_BIT) & 1 != is_second:
            _win(memory, k, f, move)
    memory.first_lane[k] = frame[f + OPENED]
    frame[f + OPENED] = (at - frame[f + FIRST]) // size
    frame[f + MADE] += memory.lanes[k]


@inlined
def _copy_record(memory: OrderMemory, source: Index, target: Index) -> None:
    for d in range(_record(memory)):
        memory.child[target + d] = memory.child[source + d]


@inlined
def _look_up_children(memory: OrderMemory, k: Index) -> None:
    """Drop the new children that the table answers; take the number of walkers below the others."""
    size, frame = _record(memory), memory.frame
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    at = frame[f + FIRST] + memory.first_lane[k] * size
    end = frame[f + FIRST] + frame[f + OPENED] * size
    kept = at
    while at < end:
        data = data_of(memory, _find(memory, at))
        if _is_answered(data):
            if (data & YES != _NOTHING) != frame[f + FLAGS] & SECOND:
                _win(memory, k, f, _move_of(_rank(memory, at)))
            else:
                frame[f + FLAGS] |= HAS_ANSWERS
        else:
            if kept < at:
                _copy_record(memory, at, kept)
            memory.child[kept + size - 1] |= np.uint64(min(entry_busy(data), 127) << BUSY_BIT)
            kept += size
        at += size
    frame[f + OPENED] = (kept - frame[f + FIRST]) // size


@inlined
def _put_open(memory: OrderMemory, f: Index, count: Index) -> Any:
    """Put the open children of a complete node into lanes from `count` on; return the lanes in use."""
    words, size, frame = memory.maker.code.word_count, _record(memory), memory.frame
    at = frame[f + FIRST]
    for lane in range(count, count + frame[f + OPENED]):
        for d in range(words):
            set_word(memory.maker.keys, 64 * d + (lane & 63), lane >> 6, memory.child[at + d])
        at += size
    return count + frame[f + OPENED]


@inlined
def _take_scores(memory: OrderMemory, f: Index, lane: Index) -> None:
    """Rank the open children of a node by their scores, those of lanes from `lane` on, for its mover.

    Among equals those in the middle come first: moves are listed in the order of the board.
    """
    size, frame = _record(memory), memory.frame
    at = frame[f + FIRST]
    for i in range(frame[f + OPENED]):
        score = np.int64(memory.maker.distance[lane + i])
        worse = score if frame[f + FLAGS] & SECOND else 10000 - score
        aside = abs(2 * _move_of(_rank(memory, at)) - frame[f + CHILDREN] + 1)
        memory.child[at + size - 1] |= np.uint64(((worse << ASIDE_BITS) | aside) << WORSE_BIT)
        at += size


@inlined
def _next_child(memory: OrderMemory, f: Index, is_apart: bool) -> Any:
    """The record of the open child that comes next."""
    size, frame = _record(memory), memory.frame
    at = frame[f + FIRST]
    mask = (
        np.int64(-1)
        if is_apart or frame[f + FLAGS] & HAS_ANSWERS
        else np.int64((1 << BUSY_BIT) - 1) | np.int64(HARD)
    )
    best = at
    least = _rank(memory, at) & mask
    for _ in range(frame[f + OPENED] - 1):
        at += size
        rank = _rank(memory, at) & mask
        best = at if rank < least else best
        least = min(least, rank)
    return best


@piece
def _write_pending(memory: OrderMemory) -> None:
    """Write to the table what walkers have left."""
    size, pending = memory.entry_words, memory.pending
    for i in range(memory.counter[c.PENDING]):
        start = i * (size + 3)
        entry = settled_entry(memory, pending, start, pending[start + size])
        walkers = np.int64(pending[start + size + 1] & np.uint64(1))
        answer = pending[start + size + 1] & (YES | NO)
        store_answer(memory, entry, answer, -walkers, np.int64(pending[start + size + 2]))
    memory.counter[c.PENDING] = 0


@inlined
def _leave(memory: OrderMemory, k: Index, f: Index, answer: np.uint64) -> None:
    """Climb from the node of a frame. answer: YES, NO or 0."""
    size, frame, pending = memory.entry_words, memory.frame, memory.pending
    if memory.counter[c.PENDING] == c.MOST_PENDING:
        _write_pending(memory)
    start = memory.counter[c.PENDING] * (size + 3)
    for d in range(size + 1):
        pending[start + d] = memory.child[frame[f + AT] + d]
    prefetch_bucket(memory, pending[start + size])
    pending[start + size + 1] = answer | (np.uint64(1) if frame[f + FLAGS] & MARKED else np.uint64(0))
    pending[start + size + 2] = np.uint64(logarithm(frame[f + WORK]))
    memory.counter[c.PENDING] += 1
    memory.path[memory.ply[k] * memory.option[c.WALKERS] + k] = 0
    if memory.ply[k] > 0:
        frame[f - c.FRAME + WORK] += frame[f + WORK]
    memory.ply[k] -= 1


@inlined
def _set_answer(memory: OrderMemory, f: Index, is_yes: bool) -> None:
    """Make the node of a frame answered."""
    flags = memory.frame[f + FLAGS] & (SECOND | MARKED)
    memory.frame[f + FLAGS] = flags | (WON if is_yes != flags & SECOND else 0)
    memory.frame[f + OPENED] = 0


@inlined
def _share_answer(memory: OrderMemory, k: Index, at: Index, is_yes: bool) -> None:
    """Let the walkers below the node that walker k leaves know its answer; they are `cut` there."""
    ply, walkers = memory.ply[k], memory.option[c.WALKERS]
    mixed = memory.child[at + memory.entry_words]
    below: Any = np.int64(0)
    for other in range(ply * walkers, (ply + 1) * walkers):
        below += memory.path[other] == mixed
    if below > 1:
        for other in range(walkers):
            if other != k and memory.path[ply * walkers + other] == mixed and memory.cut[other] > ply:
                memory.cut[other] = ply
                _set_answer(memory, (other * memory.plies + ply) * c.FRAME, is_yes)


@inlined
def _take_answer(memory: OrderMemory, k: Index, f: Index, at: Index, is_yes: bool) -> None:
    """A child of the node of a frame is answered, that with the record at `at`."""
    frame = memory.frame
    if is_yes != frame[f + FLAGS] & SECOND:
        _win(memory, k, f, _move_of(_rank(memory, at)))
    else:
        frame[f + FLAGS] |= HAS_ANSWERS
        frame[f + OPENED] -= 1
        _copy_record(memory, frame[f + FIRST] + frame[f + OPENED] * _record(memory), at)


@inlined
def _climb(memory: OrderMemory, k: Index) -> Any:
    """Let walker k leave nodes that are answered; return the frame of one that is not."""
    frame = memory.frame
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    while memory.counter[c.ANSWER] == c.OPEN and (frame[f + FLAGS] & WON or frame[f + OPENED] == 0):
        is_won = np.int64(1) if frame[f + FLAGS] & WON else np.int64(0)
        is_yes = is_won != frame[f + FLAGS] & SECOND
        at = frame[f + AT]
        if memory.ply[k] == 0:
            memory.counter[c.ANSWER] = c.YES if is_yes else c.NO
        _share_answer(memory, k, at, is_yes)
        _leave(memory, k, f, YES if is_yes else NO)
        if memory.ply[k] >= 0:
            f -= c.FRAME
            _take_answer(memory, k, f, at, is_yes)
            memory.chosen[k] = -1
    return f


@piece
def _is_repeated(memory: OrderMemory, k: Index, at: Index) -> bool:
    """Whether a child is a state that walker k is below."""
    words = memory.maker.code.word_count
    for ply in range(memory.ply[k] + 1):
        place = memory.frame[(k * memory.plies + ply) * c.FRAME + AT]
        d = 0
        while d < words and memory.child[place + d] == memory.child[at + d]:
            d += 1
        if d == words:
            return True
    return False


@inlined
def _free_lane(memory: OrderMemory, lane: Index) -> None:
    word, bit = lane & (c.TASK_WORDS - 1), np.uint64(lane >> c.TASK_BITS)
    live = get_word(memory.rest.rows, LIVE, word)
    set_word(memory.rest.rows, LIVE, word, live & ~(np.uint64(1) << bit))
    memory.owner[lane] = -1


@piece
def _drop_tasks(memory: OrderMemory, k: Index) -> None:
    """Let walker k wait no more."""
    if memory.tasks[k] > 0:
        for lane in range(c.TASK_LANES):
            if memory.owner[lane] == k:
                _free_lane(memory, lane)
    memory.tasks[k] = 0
    memory.waiting[k] = 0


@piece
def _cut_back(memory: OrderMemory, k: Index) -> None:
    """Let walker k climb to the highest node that others have answered."""
    root = k * memory.plies * c.FRAME
    while memory.ply[k] > memory.cut[k]:
        _leave(memory, k, root + memory.ply[k] * c.FRAME, _NOTHING)
    memory.cut[k] = memory.plies
    memory.chosen[k] = -1
    _drop_tasks(memory, k)


@inlined
def _move_on(memory: OrderMemory, k: Index) -> bool:
    """Let walker k, whose node has its children, climb as far as nodes are answered and descend to a child;
    return whether it has to move on, once the entry of the child is in the cache."""
    size, frame = _record(memory), memory.frame
    if memory.cut[k] < memory.plies:
        _cut_back(memory, k)
    f = _climb(memory, k)
    if memory.counter[c.ANSWER] != c.OPEN:
        return False
    at = _next_child(memory, f, memory.ply[k] + 2 >= memory.front[FRONT_PLY])
    if memory.ply[k] + 1 >= memory.front[FRONT_PLY] and memory.child[at + size - 1] & HARD == _NOTHING:
        memory.waiting[k] = 1
        return False
    if memory.chosen[k] != at and memory.chosen[k] != _JUST_MADE:
        memory.chosen[k] = at
        prefetch_bucket(memory, memory.child[at + size - 2])
        return True
    marked: Any = np.int64(0)
    if memory.chosen[k] != _JUST_MADE or frame[f + OPENED] > 1:
        # Others may have searched the child since its entry was read.
        entry = _find(memory, at)
        data = data_of(memory, entry)
        if _is_answered(data):
            _take_answer(memory, k, f, at, data & YES != _NOTHING)
            return True
        rank = memory.child[at + size - 1]
        seen = (rank & ~np.uint64(127 << BUSY_BIT)) | np.uint64(min(entry_busy(data), 127) << BUSY_BIT)
        if seen != rank:
            memory.child[at + size - 1] = seen
            return True
        if entry < 0:
            entry = make_room(memory, memory.child, at, memory.child[at + size - 2])
        store_answer(memory, entry, _NOTHING, np.int64(1), np.int64(0))
        marked = np.int64(MARKED)
    if memory.ply[k] % _REPEATED_EVERY == _REPEATED_EVERY - 1 and _is_repeated(memory, k, at):
        memory.counter[c.FAULT] = c.REPETITION
    memory.ply[k] += 1
    _enter(memory, k, at, frame[f + FIRST] + frame[f + OPENED] * size, marked)
    return False


@inlined
def _put_task(memory: OrderMemory, k: Index, at: Index, lane: Index) -> None:
    """Give a lane the task of the child with the record at `at` of walker k."""
    size, words = memory.entry_words, memory.maker.code.word_count
    word, bit = lane & (c.TASK_WORDS - 1), np.uint64(lane >> c.TASK_BITS)
    for d in range(words):
        set_word(memory.rest.keys, place_in_keys(lane, d), word, memory.child[at + d])
    for d in range(size + 1):
        memory.task[lane * (size + 1) + d] = memory.child[at + d]
    put = get_word(memory.rest.rows, PUT, word)
    set_word(memory.rest.rows, PUT, word, put | (np.uint64(1) << bit))
    memory.child[at + size + 1] |= SENT
    memory.owner[lane] = k
    memory.asked[lane] = _move_of(_rank(memory, at))
    memory.born[lane] = memory.front[STEPS]
    memory.tasks[k] += 1


@inlined
def _next_lane(memory: OrderMemory, lane: Index) -> Any:
    """The first free lane from `lane` on; TASK_LANES: none."""
    while lane < c.TASK_LANES and memory.owner[lane] >= 0:
        lane += 1
    return lane


@inlined
def _priority(memory: OrderMemory, k: Index) -> Any:
    """How soon walker k may give a task to a lane: 0 if its first child is to come, 1 if that is answered,
    2 if it is in a lane; 3 never."""
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    if not memory.waiting[k] or memory.tasks[k] >= memory.frame[f + OPENED]:
        return np.int64(3)
    if memory.tasks[k] == 0:
        return np.int64(0)
    return np.int64(1) if memory.frame[f + FLAGS] & HAS_ANSWERS else np.int64(2)


@piece
def _feed_lanes(memory: OrderMemory) -> bool:
    """Give free lanes the children that walkers wait for; return whether there is a task in any lane.

    First comes one child of each, then the brothers of those that are answered, last all others.
    """
    walkers, frame, size = memory.front[USED], memory.frame, _record(memory)
    lane: Any = _next_lane(memory, np.int64(0))
    fed = lane
    for priority in range(3):
        for k in range(walkers):
            if lane == c.TASK_LANES:
                break
            if priority == 0:
                memory.lanes[k] = _priority(memory, k)
            if memory.lanes[k] != priority:
                continue
            f = (k * memory.plies + memory.ply[k]) * c.FRAME
            most = np.int64(1) if priority == 0 else frame[f + OPENED]
            while most > 0 and lane < c.TASK_LANES:
                at = _next_child(memory, f, True)
                if memory.child[at + size - 1] & (SENT | HARD) != _NOTHING:
                    break
                _put_task(memory, k, at, lane)
                lane = _next_lane(memory, lane)
                most -= 1
            memory.lanes[k] = _priority(memory, k)
    if lane != fed:
        put_tasks(memory.rest)
    return bool(any_lane(load(memory.rest.rows, LIVE)))


@inlined
def _set_front(memory: OrderMemory, steps: Index) -> None:
    """A task has ended after `steps`: see whether tasks should be larger or smaller."""
    front = memory.front
    front[ENDED] += 1
    front[SPENT] += steps
    if front[ENDED] == SAMPLE:
        highest = max(1, front[DEEPEST] - (1 << c.DIGITS) + 3)  # lanes would not reach the end from above
        if front[SPENT] < FEW_STEPS * SAMPLE and front[FRONT_PLY] > highest:
            front[FRONT_PLY] -= 1
        elif front[SPENT] > MANY_STEPS * SAMPLE:
            front[FRONT_PLY] += 1
        front[ENDED] = front[SPENT] = 0


@inlined
def _note_answer(memory: OrderMemory, lane: Index, answer: np.uint64) -> None:
    """Write the answer of a lane's task to what is pending for the table."""
    size, pending = memory.entry_words, memory.pending
    if memory.counter[c.PENDING] == c.MOST_PENDING:
        _write_pending(memory)
    start = memory.counter[c.PENDING] * (size + 3)
    for d in range(size + 1):
        pending[start + d] = memory.task[lane * (size + 1) + d]
    prefetch_bucket(memory, pending[start + size])
    pending[start + size + 1] = answer
    pending[start + size + 2] = np.uint64(logarithm((memory.front[STEPS] - memory.born[lane]) >> 4))
    memory.counter[c.PENDING] += 1


@inlined
def _end_task(memory: OrderMemory, lane: Index, answer: np.uint64) -> bool:
    """Let the owner of a lane's task know its answer, 0: none; return whether it need not wait any more."""
    frame, k, last = memory.frame, memory.owner[lane], memory.entry_words + 1
    f = (k * memory.plies + memory.ply[k]) * c.FRAME
    at: Any = frame[f + FIRST]
    while _move_of(_rank(memory, at)) != memory.asked[lane]:
        at += _record(memory)
    _free_lane(memory, lane)
    memory.tasks[k] -= 1
    if memory.ply[k] + 1 == memory.front[FRONT_PLY]:
        is_given_up = answer == _NOTHING
        _set_front(memory, MOST_STEPS if is_given_up else memory.front[STEPS] - memory.born[lane])
    if answer == _NOTHING:
        memory.child[at + last] = (memory.child[at + last] & ~SENT) | HARD
    else:
        _note_answer(memory, lane, answer)
        _take_answer(memory, k, f, at, answer == YES)
    if frame[f + FLAGS] & WON or frame[f + OPENED] == 0:
        _drop_tasks(memory, k)
        return True
    if memory.tasks[k] > 0:
        return False
    at = frame[f + FIRST]
    for _ in range(frame[f + OPENED]):
        if memory.child[at + last] & HARD == _NOTHING:
            return False  # and no lane was free for it yet
        at += _record(memory)
    memory.waiting[k] = 0
    return True


@inlined
def _is_time_to_step(memory: OrderMemory) -> bool:
    """Whether lanes are full, or walkers have little else to do. If nothing but free lanes is left, more
    walkers join."""
    active: Any = np.int64(0)
    for k in range(memory.front[USED]):
        active += memory.waiting[k] == 0
    live = np.int64(sum_words(popcount(load(memory.rest.rows, LIVE))))
    front = memory.front
    if active < IDLE_WALKERS and live < FULL:
        front[USED] = min(front[USED] + MORE_WALKERS, memory.option[c.WALKERS])
    return bool(live >= FULL or active < IDLE_WALKERS)


@inlined
def _place_of(bit: np.uint64) -> Any:
    """The binary logarithm of a word with one bit."""
    place: Any = np.int64(0)
    shift: Any = np.int64(32)
    while shift > 0:
        if bit >> np.uint64(shift) != _NOTHING:
            place += shift
            bit >>= np.uint64(shift)
        shift >>= 1
    return place


@piece
def _overdue(memory: OrderMemory, word: Index) -> np.uint64:
    """The lanes of a word whose tasks have had too many steps."""
    found = _NOTHING
    for bit in range(64):
        lane = (bit << c.TASK_BITS) | word
        if memory.owner[lane] >= 0 and memory.front[STEPS] - memory.born[lane] > MOST_STEPS:
            found |= np.uint64(1) << np.uint64(bit)
    return found


@piece
def _search_rest(memory: OrderMemory) -> Any:
    """Let lanes search; return the number of walkers that need not wait any more, listed in `moving`."""
    rows, front = memory.rest.rows, memory.front
    moving: Any = np.int64(0)
    is_ready = can_step(memory.rest) and memory.option[c.WITH_LANES] and memory.counter[c.NODES] > WARM_NODES
    if is_ready and front[FRONT_PLY] == memory.plies:
        front[FRONT_PLY] = max(np.int64(1), front[DEEPEST] - NEAR_END)
    if front[FRONT_PLY] == memory.plies or not _feed_lanes(memory) or not _is_time_to_step(memory):
        return moving
    done: Any = np.int64(0)
    steps: Any = np.int64(0)
    while steps < BATCH and done < BATCH:
        step_lanes(memory.rest, np.int64(4), memory.counter)
        steps += 4
        done = np.int64(sum_words(popcount(load(rows, DONE))))
    front[STEPS] += steps
    # A task ends with an answer, too many steps, or at a depth that lanes do not reach.

    for word in range(c.TASK_WORDS):
        ended = get_word(rows, DONE, word) | get_word(rows, DEEP, word)
        if front[STEPS] >> OVERDUE_BITS != (front[STEPS] - steps) >> OVERDUE_BITS:
            ended |= _overdue(memory, word)
        while ended != _NOTHING:
            bit = ended & (~ended + np.uint64(1))
            ended ^= bit
            lane = (_place_of(bit) << c.TASK_BITS) | word
            k = memory.owner[lane]
            if k < 0:
                continue
            is_done = get_word(rows, DONE, word) & bit != _NOTHING
            is_yes = get_word(rows, ANSWER, word) & bit != _NOTHING
            if _end_task(memory, lane, (YES if is_yes else NO) if is_done else _NOTHING):
                memory.moving[moving] = k
                moving += 1
                memory.chosen[k] = -1
    store(rows, DONE, fill(rows, _NOTHING))
    return moving


@inlined
def _tick(memory: OrderMemory) -> None:
    """Make children for all walkers and let those whose nodes are complete move on."""
    frame, walkers = memory.frame, memory.option[c.WALKERS]
    moving: Any = _search_rest(memory)
    lanes = _hand_out_lanes(memory)
    if lanes > 0:
        make_children(memory.maker, lanes, memory.option[c.GOAL], memory.counter)
    memory.counter[c.TICKS] += 1
    memory.counter[c.CHILDREN] += lanes
    for k in range(memory.front[USED]):
        if memory.lanes[k] > 0:
            _collect_children(memory, k)
    # The arenas hold the new children, and their entries are on the way to the caches.

    count: Any = np.int64(0)
    made: Any = moving
    for k in range(walkers):
        if memory.lanes[k] == 0:
            continue
        _look_up_children(memory, k)
        f = (k * memory.plies + memory.ply[k]) * c.FRAME
        if frame[f + MADE] < frame[f + CHILDREN]:
            continue
        frame[f + CHOICE] = frame[f + OPENED]
        memory.moving[moving] = k
        moving += 1
        memory.chosen[k] = _JUST_MADE
        memory.first_lane[k] = -1
        has_choice = not frame[f + FLAGS] & WON and frame[f + OPENED] > 1
        if has_choice and count + frame[f + OPENED] <= c.LANES:
            memory.first_lane[k] = count
            count = _put_open(memory, f, count)
    if count > 0:
        score_states(memory.maker, count)
    # `moving` lists the walkers whose nodes are complete; the scores of those with a choice are in lanes.

    for i in range(made, moving):
        k = memory.moving[i]
        if memory.first_lane[k] >= 0:
            f = (k * memory.plies + memory.ply[k]) * c.FRAME
            _take_scores(memory, f, memory.first_lane[k])
    while moving > 0 and memory.counter[c.ANSWER] == c.OPEN:
        left: Any = np.int64(0)
        for i in range(moving):
            k = memory.moving[i]
            if memory.counter[c.ANSWER] == c.OPEN and _move_on(memory, k):
                memory.moving[left] = k
                left += 1
        moving = left
        for k in range(walkers if moving == 0 else 0):
            if memory.cut[k] < memory.plies:
                memory.moving[moving] = k
                moving += 1
    _write_pending(memory)


@kernel
def walk_in_order(memory: OrderMemory, ticks: int) -> int:
    """Search for at most `ticks` ticks; return counter[ANSWER].

    It ends early at counter[STOP], counter[FAULT] or option[NODE_LIMIT]; the next call resumes.
    """
    counter = memory.counter
    for _ in range(ticks):
        is_over = counter[c.ANSWER] != c.OPEN or counter[c.NODES] > memory.option[c.NODE_LIMIT]
        if is_over or counter[c.STOP] or counter[c.FAULT]:
            break
        _tick(memory)
    return counter[c.ANSWER]  # type: ignore[no-any-return]


def closed_moves(memory: OrderMemory) -> set[int]:
    """Which legal moves at the root are answered against who moves there; for Python, not for kernels."""
    size, found = memory.entry_words + 2, set[int]()
    for frame in memory.frame.reshape(-1, c.FRAME)[:: memory.plies].tolist():
        if frame[MADE] == frame[CHILDREN] and not frame[FLAGS] & WON:
            ranks = memory.child[frame[FIRST] :][size - 1 :: size][: frame[OPENED]].tolist()
            moves = {(rank >> MOVE_BIT) & ((1 << WORSE_BIT - MOVE_BIT) - 1) for rank in ranks}
            found |= set(range(frame[CHILDREN])) - moves
    return found


def way_of(memory: OrderMemory) -> list[tuple[int, int]]:
    """For each node of the first walker that is complete, the root first: how many children were open when
    all had been made, and how many of these are answered; for Python, not for kernels."""
    frames = memory.frame.reshape(-1, c.FRAME)[: max(0, int(memory.ply[0])) + 1].tolist()
    complete = [frame for frame in frames if frame[MADE] == frame[CHILDREN]]
    return [(frame[CHOICE], frame[CHOICE] - frame[OPENED]) for frame in complete]
