"""write: the results of a step for agents: rewards, ends, observations and legal actions.
Letters: `ggp.env.kernels.arrays`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.env.kernels import arrays as c
from ggp.env.kernels.arrays import Batch, EnvTables, Readings, Scratch, Share, environments_of
from ggp.jit.compiling import inlined
from ggp.jit.rows import (
    ALL_ONES,
    Index,
    any_lane,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    set_word,
    shift_left,
    shift_right,
    spread_64,
    store,
    store_where,
    word_count,
)
from ggp.lanes.bits import has_lane
from ggp.lanes.indices import transpose_bits, transpose_rows
from ggp.lanes.step import settle_goals


@inlined
def give_rewards(share: Share, batch: Batch, readings: Readings, block: Index) -> None:
    """How games ended, and rewards of those that end in this step (ENDED); OVER: those that ended before. Who
    makes an illegal move loses 1, as in PGX. LEGAL must be settled; GOAL is if games ended by the rules."""
    value, mask = share.scratch.value, share.scratch.mask
    agents = share.env.agent_role.shape[0]
    by_rules = block * (2 + agents) + 1 + agents
    ended = load(mask, c.ENDED)
    over = load(mask, c.BAD) | literal(value, np.int64(share.of_state.terminal))
    store(batch.flags, by_rules, load(batch.flags, by_rules) | (ended & over))
    for w in range(word_count(mask)):
        start, members = environments_of(batch, block, w)
        if members <= 0:
            break
        for i in range(start * agents, (start + members) * agents):
            readings.reward[i] = 0.0
            readings.goal[i] = c.NO_GOAL
        well = get_word(batch.flags, by_rules, w)
        spread_64(readings.terminated, start, well)
        spread_64(readings.truncated, start, (get_word(mask, c.ENDED, w) | get_word(mask, c.OVER, w)) & ~well)
    _give_goals(share, batch, readings, block)
    _punish(share.env, share.scratch, batch, readings, block)


@inlined
def _give_goals(share: Share, batch: Batch, readings: Readings, block: Index) -> None:
    tables, env, scratch = share.of_state, share.env, share.scratch
    value, mask, rows = scratch.value, scratch.mask, scratch.rows
    agents = env.agent_role.shape[0]
    over = load(mask, c.ENDED) & ~load(mask, c.BAD) & literal(value, np.int64(tables.terminal))
    if not any_lane(over):
        return
    # Only now: often no game of a block ends in a step, and goals can be most of a circuit.
    settle_goals(tables, value)
    for a in range(agents):
        role = env.agent_role[a]
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            store(rows, 0, literal(value, np.int64(tables.goal_literal[q])) & over)
            for w in range(word_count(mask)):
                start, _ = environments_of(batch, block, w)
                bits = get_word(rows, 0, w)
                while bits != 0:
                    place = (start + lowest_bit(bits)) * agents + a
                    bits &= bits - np.uint64(1)
                    readings.goal[place] = tables.goal_value[q]
                    readings.reward[place] = env.reward_of[q]


@inlined
def _punish(env: EnvTables, scratch: Scratch, batch: Batch, readings: Readings, block: Index) -> None:
    """The rewards of games that ended in this step by an illegal action."""
    mask = scratch.mask
    agents = env.agent_role.shape[0]
    for w in range(word_count(mask)):
        start, _ = environments_of(batch, block, w)
        bits = get_word(mask, c.ENDED, w) & get_word(mask, c.BAD, w)
        while bits != 0:
            lane = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for a in range(agents):
                is_guilty = has_lane(mask, c.WORK + 2 * agents + a, 64 * w + lane)
                readings.reward[(start + lane) * agents + a] = -1.0 if is_guilty else agents - 1.0


@inlined
def _write_rows(
    scratch: Scratch, count: Index, target: NDArray[np.uint8], total: Index, block: Index
) -> None:
    """target[n*count + k] = the bit that row k has in the lane of environment n. Destroys the rows.

    The 64 lanes of a word fill `count` vectors of 64 bytes, aligned as `target` is, each stored once. Only
    the last one of all may reach into the padding.
    """
    packed = scratch.packed
    if count == 0:  # no fluents to observe, or no moves
        return
    _pack_lanes(scratch, count)
    lanes = 64 * word_count(packed)
    for w in range(word_count(packed)):
        start = lanes * block + 64 * w
        for i in range((min(64, total - start) * count + 63) >> 6):
            spread_64(target, start * count + 64 * i, get_word(packed, i, w))


@inlined
def _pack_lanes(scratch: Scratch, count: Index) -> None:
    """Bit lane*count + k of the words w of `packed`, as one string: bit `lane` of word w of row k.

    All words at once, in which every lane has the same place.
    """
    rows, packed = scratch.rows, scratch.packed
    last = 64 * ((count - 1) // 64)
    size = 8
    while size < count - last:
        size *= 2
    for first in range(0, last, 64):
        _transpose(scratch, first, 64)
    _transpose(scratch, last, size)
    tail = np.uint64(count - last)
    within = fill(rows, ALL_ONES >> (np.uint64(64) - tail))
    # `filled` < 64 bits, those of `joined`, are still to be stored, in row i.
    joined, filled, i = fill(rows, np.uint64(0)), np.uint64(0), 0
    for lane in range(64):
        for first in range(0, last, 64):
            word = load(rows, first + lane)
            store(packed, i, joined | shift_left(word, filled))
            joined = shift_right(shift_right(word, np.uint64(1)), np.uint64(63) - filled)
            i += 1
        square = lane & (size - 1)
        word = shift_right(load(rows, last + square), np.uint64(lane - square)) & within
        joined = joined | shift_left(word, filled)
        filled += tail
        if filled >= np.uint64(64):
            store(packed, i, joined)
            filled -= np.uint64(64)
            joined = shift_right(shift_right(word, np.uint64(1)), tail - filled - np.uint64(1))
            i += 1


@inlined
def _transpose(scratch: Scratch, first: Index, size: Index) -> None:
    """`transpose_rows`, the quickest way."""
    rows, block = scratch.rows, scratch.block
    if word_count(rows) > 1 or size < 64:
        transpose_rows(rows, first, size)
        return
    for i in range(64):
        block[i] = get_word(rows, first + i, 0)
    transpose_bits(block)
    for i in range(64):
        set_word(rows, first + i, 0, block[i])


@inlined
def _write_observation(
    env: EnvTables, scratch: Scratch, readings: Readings, total: Index, block: Index
) -> None:
    """Every value of the observation in every lane. Where views differ: as seen by who acts, or by every
    agent if agents act at once."""
    value, mask, rows, memory = scratch.value, scratch.mask, scratch.rows, scratch.memory
    views, count = env.observed.shape
    is_sensed = env.sensed.shape[1] > 0
    is_each = env.is_joint != 0 and views > 1
    for v in range(views):
        is_chosen = v > 0 and not is_each
        acts = load(mask, c.WORK + v) if is_chosen else fill(mask, ALL_ONES)
        first = v * count if is_each else 0
        for k in range(count):
            seen = load(memory, v * count + k) if is_sensed else literal(value, np.int64(env.observed[v, k]))
            if is_chosen:
                seen = (load(rows, k) & ~acts) | (seen & acts)
            store(rows, first + k, seen)
    _write_rows(scratch, views * count if is_each else count, readings.observation, total, block)


@inlined
def _write_mask(share: Share, readings: Readings, total: Index, block: Index) -> None:
    """Legal actions of the agent that acts, or of every agent; all of them where the game is over."""
    tables, env, scratch = share.of_state, share.env, share.scratch
    value, mask, rows = scratch.value, scratch.mask, scratch.rows
    agents = env.agent_role.shape[0]
    over = load(mask, c.OVER)
    width = env.action_count if env.is_joint == 0 else agents * env.action_count
    for k in range(width):
        store(rows, k, over)
    for a in range(agents):
        offset = 0 if env.is_joint == 0 else a * env.action_count
        acts = load(mask, c.WORK + a) if env.is_joint == 0 else ~over
        for k in range(env.action_count):
            if env.slot[a, k] >= 0:
                x = literal(value, np.int64(tables.slot_literal[env.slot[a, k]])) & acts
                store(rows, offset + k, load(rows, offset + k) | x)
    _write_rows(scratch, width, readings.mask, total, block)


@inlined
def _write_current(env: EnvTables, batch: Batch, readings: Readings, block: Index) -> None:
    flags = block * (2 + env.agent_role.shape[0])
    for w in range(word_count(batch.flags)):
        start, members = environments_of(batch, block, w)
        if members <= 0:
            break
        one = np.uint64(0)
        several = np.uint64(0)
        for a in range(env.agent_role.shape[0]):
            acts = get_word(batch.flags, flags + 1 + a, w)
            several |= one & acts
            one |= acts
        readings.current[start : start + members] = c.NO_AGENT
        for a in range(env.agent_role.shape[0]):
            acts = get_word(batch.flags, flags + 1 + a, w) & ~several & (ALL_ONES >> np.uint64(64 - members))
            store_where(readings.current, start, acts, np.int32(a))


@inlined
def write_block(share: Share, batch: Batch, readings: Readings, block: Index) -> None:
    """Keep the state, and write the outputs for agents. OVER and WORK must be right."""
    tables, env, scratch = share.of_state, share.env, share.scratch
    mask = scratch.mask
    agents = env.agent_role.shape[0]
    for f in range(tables.fluent_count):
        store(batch.fluents, block * tables.fluent_count + f, load(scratch.value, 1 + f))
    remembered = 2 * env.sensed.shape[0] * env.sensed.shape[1]
    for i in range(remembered):
        store(batch.memory, remembered * block + i, load(scratch.memory, i))
    live = ~load(mask, c.OVER)
    flags = block * (2 + agents)
    store(batch.flags, flags + c.LIVE, live)
    for a in range(agents):
        store(batch.flags, flags + 1 + a, load(mask, c.WORK + a) & live)
    # The batch is the new state; what follows only reads it.
    total = batch.steps.shape[0]
    _write_current(env, batch, readings, block)
    _write_observation(env, scratch, readings, total, block)
    _write_mask(share, readings, total, block)
