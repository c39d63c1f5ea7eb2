"""step: begin games, and one step of every game.

One step of a block: put the actions into the move rows, find illegal ones, make every other move that leaves
no choice, settle, advance; let chance move where no agent can; write what became of it. Steps settle one part
of the circuit, states another one (`ggp.env.circuit_parts`), in the same rows.
Letters: `ggp.env.kernels.arrays`.
"""

from __future__ import annotations

import numpy as np

from ggp.circuit.tables import Int32Array
from ggp.env.kernels import arrays as c
from ggp.env.kernels.act import clear_all_moves, draw_chance, find_illegal, force, put_actions
from ggp.env.kernels.arrays import Batch, EnvTables, Readings, Scratch, Share, Step, environments_of, lanes_of
from ggp.env.kernels.write import give_rewards, write_block
from ggp.jit.compiling import inlined, kernel
from ggp.jit.rows import (
    Index,
    Row,
    Rows,
    any_lane,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    store,
    word_count,
)
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import has_lane, set_lane
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import advance, settle_choices, settle_successors


@inlined
def _sense(env: EnvTables, scratch: Scratch) -> None:
    """Remember what agents sense of the step of the MOVED lanes. SEES must be settled."""
    value, memory = scratch.value, scratch.memory
    moved = load(scratch.mask, c.MOVED)
    views, count = env.sensed.shape
    for v in range(views):
        for p in range(count):
            x = literal(value, np.int64(env.sensed[v, p])) & moved
            row = 2 * v * count + p
            store(memory, row, load(memory, row) | x)
            store(memory, row + count, load(memory, row + count) | x)


@inlined
def _recall(env: EnvTables, scratch: Scratch, old: Batch, playing: Row, block: Index) -> None:
    """Fetch the memory of a block, without the recent percepts of agents that act now."""
    views, count = env.sensed.shape
    flags = block * (2 + env.agent_role.shape[0])
    for v in range(views):
        acts = load(old.flags, flags + 1 + v) & playing
        for p in range(count):
            row = 2 * v * count + p
            first = 2 * views * count * block
            store(scratch.memory, row, load(old.memory, first + row) & ~acts)
            store(scratch.memory, row + count, load(old.memory, first + row + count))


@inlined
def _choices_of(tables: LaneTables, env: EnvTables, value: Rows, role: Index) -> tuple[Row, Row, Row]:
    """Lanes in which the role has a legal move, in which two, and in which one that is not of waiting."""
    one = fill(value, np.uint64(0))
    several = one
    acting = one
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        x = literal(value, np.int64(tables.slot_literal[s]))
        several = several | (one & x)
        one = one | x
        if env.is_waiting[s] == 0:
            acting = acting | x
    return one, several, acting


@inlined
def _read_choices(tables: LaneTables, env: EnvTables, scratch: Scratch) -> None:
    """Who has to act, in all lanes: STUCK, CONFLICT, CHANCE and WORK. LEGAL must be settled. Where
    no agent has a choice, the first acts whose move is not one of waiting, else the first of all."""
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    zero = fill(value, np.uint64(0))
    stuck, chosen, conflict = zero, zero, zero
    for a in range(agents):
        one, several, acting = _choices_of(tables, env, value, np.int64(env.agent_role[a]))
        stuck = stuck | ~one
        conflict = conflict | (chosen & several)
        chosen = chosen | several
        store(mask, c.WORK + a, several)
        store(mask, c.WORK + agents + a, acting)
    store(mask, c.CONFLICT, conflict if env.is_joint == 0 else zero)
    store(mask, c.CHANCE, zero)
    if env.chance >= 0:
        one, several, acting = _choices_of(tables, env, value, np.int64(env.chance))
        stuck = stuck | ~one
        store(mask, c.CHANCE, acting & ~chosen)
    store(mask, c.STUCK, stuck)
    if env.is_joint == 0:
        taken = chosen
        for a in range(agents):
            acting = load(mask, c.WORK + agents + a) & ~taken
            store(mask, c.WORK + a, load(mask, c.WORK + a) | acting)
            taken = taken | acting
        store(mask, c.WORK, load(mask, c.WORK) | ~taken)


@inlined
def _follow_moves(share: Share) -> None:
    """Bring the MOVED lanes into their next state, and read the choices there."""
    env, scratch = share.env, share.scratch
    settle_successors(share.of_step, scratch.value, env.sensed.shape[1] > 0)
    _sense(env, scratch)
    value, moved = scratch.value, load(scratch.mask, c.MOVED)
    advance(share.of_step, value, scratch.saved, moved, value, np.int64(1))
    settle_choices(share.of_state, scratch.value)
    _read_choices(share.of_state, env, scratch)


@inlined
def _move_without_choice(share: Share, batch: Batch, block: Index) -> None:
    """Let chance move in the MOVED lanes in which no agent has a choice, until none is left. LEGAL must be
    settled and the choices read; afterwards they are again."""
    of_state, of_step, env, scratch, _ = share
    if env.chance < 0:
        return
    value, mask = scratch.value, scratch.mask
    for _ in range(c.CHANCE_LIMIT):
        idle = load(mask, c.CHANCE) & load(mask, c.MOVED) & ~load(mask, c.STUCK)
        idle = idle & ~literal(value, np.int64(of_state.terminal))
        store(mask, c.MOVED, idle)
        if not any_lane(idle):
            return
        clear_all_moves(of_step, value)
        for role in range(of_state.role_count):
            if role != env.chance:
                force(of_state, value, role, idle)
        start, _ = lanes_of(batch, block)
        draw_chance(of_state, np.int64(env.chance), value, mask, batch.seed, start)
        settle_choices(of_step, value)
        _follow_moves(share)
    store(mask, c.STUCK, load(mask, c.STUCK) | load(mask, c.MOVED))


@inlined
def _find_ended(share: Share, batch: Batch, live: Row, block: Index) -> None:
    """Count a step in live lanes; ENDED: those whose game is over now."""
    mask, max_steps = share.scratch.mask, share.rules.max_steps
    over = literal(share.scratch.value, np.int64(share.of_state.terminal))
    store(mask, c.ENDED, (over | load(mask, c.BAD) | load(mask, c.STUCK)) & live)
    store(mask, c.OVER, ~live)
    for w in range(word_count(mask)):
        start, members = environments_of(batch, block, w)
        playing = ~get_word(mask, c.OVER, w)
        late = 0
        for lane in range(members):
            batch.steps[start + lane] += np.int32((playing >> np.uint64(lane)) & np.uint64(1))
            late += batch.steps[start + lane] >= max_steps
        if late > 0:
            for lane in range(members):
                if batch.steps[start + lane] >= max_steps and not has_lane(mask, c.OVER, 64 * w + lane):
                    set_lane(mask, c.ENDED, 64 * w + lane)


@inlined
def _begin_games(share: Share, batch: Batch, block: Index) -> None:
    tables, env, scratch, rules = share.of_state, share.env, share.scratch, share.rules
    value, mask = scratch.value, scratch.mask
    ended = load(mask, c.ENDED)
    for f in range(tables.fluent_count):
        x = fill(value, env.initial[f]) & ended
        store(value, 1 + f, (load(value, 1 + f) & ~ended) | x)
    for i in range(2 * env.sensed.shape[0] * env.sensed.shape[1]):
        store(scratch.memory, i, load(scratch.memory, i) & ~ended)
    agents = env.agent_role.shape[0]
    flags = block * (2 + agents)
    store(batch.flags, flags + 1 + agents, load(batch.flags, flags + 1 + agents) & ~ended)
    for w in range(word_count(mask)):
        start, _ = environments_of(batch, block, w)
        bits = get_word(mask, c.ENDED, w)
        while bits != 0:
            batch.steps[start + lowest_bit(bits)] = 0
            bits &= bits - np.uint64(1)
    # The lanes hold the initial state, without memory; who acts there is still to be found.
    if rules.begins_alike != 0:
        _offer_first_choice(tables, env, scratch, ended)
        return
    settle_choices(tables, value)
    _read_choices(tables, env, scratch)
    store(mask, c.MOVED, ended)
    _move_without_choice(share, batch, block)


@inlined
def _offer_first_choice(tables: LaneTables, env: EnvTables, scratch: Scratch, lanes: Row) -> None:
    """Copy who acts in the initial state, and its legal actions, to `lanes`: all that is read before the next
    step. Some game of a block begins again in most steps; settling it again would cost half a step."""
    value, mask = scratch.value, scratch.mask
    for a in range(env.agent_role.shape[0]):
        acts = fill(value, env.first_acts[a]) & lanes
        store(mask, c.WORK + a, (load(mask, c.WORK + a) & ~lanes) | acts)
        if env.is_joint == 0 and env.first_acts[a] == 0:
            continue
        for k in range(env.action_count):
            if env.slot[a, k] >= 0:
                legal = np.int64(tables.slot_literal[env.slot[a, k]])
                bits = env.first_legal[a, k] ^ (np.uint64(0) - np.uint64(legal & 1))
                if legal > 1:
                    x = fill(value, bits) & lanes
                    store(value, legal >> 1, (load(value, legal >> 1) & ~lanes) | x)


@kernel
def begin_blocks(
    share_in_memory: Unboxed[Share], batch_in_memory: Unboxed[Batch], readings_in_memory: Unboxed[Readings]
) -> bool:
    """Begin a game in every environment; whether two agents have a choice where one may."""
    share, batch, readings = unboxed(share_in_memory), unboxed(batch_in_memory), unboxed(readings_in_memory)
    scratch, mask = share.scratch, share.scratch.mask
    is_conflict = False
    for block in range(share.rules.first, share.rules.end):
        store(mask, c.ENDED, fill(mask, np.uint64(0)))
        _, count = lanes_of(batch, block)
        for lane in range(count):
            set_lane(mask, c.ENDED, lane)
        store(mask, c.BAD, fill(mask, np.uint64(0)))
        live = load(mask, c.ENDED)
        _begin_games(share, batch, block)
        # A game may be over as soon as it has begun: it is rewarded, and does not begin again.
        is_over = literal(scratch.value, np.int64(share.of_state.terminal))
        is_conflict |= any_lane(load(mask, c.CONFLICT) & live & ~is_over)
        store(mask, c.ENDED, live & (load(mask, c.STUCK) | is_over))
        store(mask, c.OVER, ~live)
        give_rewards(share, batch, readings, block)
        store(mask, c.OVER, ~live | load(mask, c.ENDED))
        write_block(share, batch, readings, block)
    return is_conflict


@kernel
def step_blocks(share_in_memory: Unboxed[Share], step_in_memory: Unboxed[Step], actions: Int32Array) -> bool:
    """One step of every environment; whether two agents have a choice where one may.

    actions   int32[N]: of the agent that acts; int32[N*A] if agents act at once, NO_CHOICE without one;
              HOLD or RESTART of the first agent concern the environment
    Games that are over stay as they are.
    """
    share, step = unboxed(share_in_memory), unboxed(step_in_memory)
    of_step, env, scratch, rules = share.of_step, share.env, share.scratch, share.rules
    old, batch, readings = step
    value, mask = scratch.value, scratch.mask
    by_rules = 1 + env.agent_role.shape[0]
    is_conflict = False
    for block in range(rules.first, rules.end):
        flags = block * (1 + by_rules)
        live = load(old.flags, flags + c.LIVE)
        start, members = lanes_of(batch, block)
        for n in range(start, start + members):
            batch.steps[n] = old.steps[n]
        for f in range(of_step.fluent_count):
            store(value, 1 + f, load(old.fluents, block * of_step.fluent_count + f))
        clear_all_moves(of_step, value)
        settle_choices(of_step, value)
        # The lanes hold the old states, their legal moves are known and none is made.

        put_actions(of_step, env, old, scratch, actions, block)
        restarted = load(mask, c.RESTARTED)
        playing = live & ~load(mask, c.HELD) & ~restarted
        store(batch.flags, flags + by_rules, load(old.flags, flags + by_rules) & ~restarted)
        _recall(env, scratch, old, playing, block)
        find_illegal(of_step, env, scratch, playing)
        if env.chance >= 0:
            for n in range(start, start + members):
                batch.seed[n] = old.seed[n]
            draw_chance(of_step, np.int64(env.chance), value, mask, batch.seed, start)
        # Every role has one move in the MOVED lanes; the other lanes keep their state.

        _follow_moves(share)
        _move_without_choice(share, batch, block)
        is_over = literal(value, np.int64(share.of_state.terminal))
        is_conflict |= any_lane(load(mask, c.CONFLICT) & live & ~is_over)
        _find_ended(share, batch, playing, block)
        store(mask, c.OVER, ~(live | restarted))
        give_rewards(share, batch, readings, block)
        # All lanes hold their new states, whose ends and rewards are written.

        ended = load(mask, c.ENDED)
        if rules.is_resetting == 0:
            store(mask, c.OVER, load(mask, c.OVER) | ended)
            ended = ended & ~ended
        store(mask, c.ENDED, ended | restarted)
        if any_lane(ended | restarted):
            _begin_games(share, batch, block)
        write_block(share, batch, readings, block)
    return is_conflict
