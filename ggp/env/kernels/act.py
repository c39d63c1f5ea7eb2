"""act: from actions to one move of every role in every lane that plays.

Everything but chance and the actions of games with more than BYTE_ACTIONS is done in many lanes at once.
Letters: `ggp.env.kernels.arrays`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ggp.beliefs.step_kernels import mixed_number
from ggp.circuit.tables import Int32Array
from ggp.env.kernels import arrays as c
from ggp.env.kernels.arrays import Batch, EnvTables, Scratch, environments_of
from ggp.jit.compiling import inlined, piece
from ggp.jit.rows import (
    Index,
    Row,
    Rows,
    bytes_equal,
    fill,
    get_word,
    literal,
    load,
    lowest_bit,
    set_word,
    store,
    word_count,
)
from ggp.lanes.bits import has_lane, literal_in_lane, set_lane
from ggp.lanes.layout import LaneTables
from ggp.lanes.step import clear_moves


@inlined
def next_number(seed: NDArray[np.uint64], n: Index, count: Index) -> Index:
    """A uniform number below `count` (splitmix64, Steele, Lea & Flood 2014; without bias by rejection)."""
    bound = np.uint64(count)
    threshold = (np.uint64(0) - bound) % bound
    while True:
        z = mixed_number(seed[n])
        seed[n] += np.uint64(0x9E3779B97F4A7C15)
        if z >= threshold:
            return np.int64(z % bound)


@inlined
def clear_all_moves(tables: LaneTables, value: Rows) -> None:
    """Select no move, nor the spare row of padded slots, which the other part may use for a gate."""
    store(value, tables.row_count - 1, fill(value, np.uint64(0)))
    clear_moves(tables, value)


@inlined
def _columns(env: EnvTables) -> Index:
    return env.agent_role.shape[0] if env.is_joint != 0 else 1


@inlined
def put_actions(
    tables: LaneTables, env: EnvTables, old: Batch, scratch: Scratch, actions: Int32Array, block: Index
) -> None:
    """Select the actions of live lanes; find the HELD and RESTARTED ones. WORK + a: agent a has said what it
    does; WORK + 2*A + a: what it said is not a move."""
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    flags = block * (2 + agents)
    for a in range(agents):
        store(mask, c.WORK + a, load(old.flags, flags + 1 + a))
        store(mask, c.WORK + 2 * agents + a, fill(value, np.uint64(0)))
    store(mask, c.HELD, fill(value, np.uint64(0)))
    store(mask, c.RESTARTED, fill(value, np.uint64(0)))
    for w in range(word_count(mask)):
        start, members = environments_of(old, block, w)
        others = 0
        for lane in range(members):
            others += actions[(start + lane) * _columns(env)] <= c.HOLD
        if others > 0:
            _hold_or_restart(env, scratch, actions, start, members, w)
        free = get_word(old.flags, flags + c.LIVE, w) & ~(
            get_word(mask, c.HELD, w) | get_word(mask, c.RESTARTED, w)
        )
        # Lanes outside `free` keep the flags of the old state as what agents said, and get no move.
        for a in range(agents):
            acts = free if env.is_joint != 0 else free & get_word(mask, c.WORK + a, w)
            if env.action_count > c.BYTE_ACTIONS:
                _put_one_by_one(tables, env, scratch, actions, a, w, acts, start)
                continue
            if a == 0 or env.is_joint != 0:
                _note_actions(env, scratch, actions, a, start, members)
            _put_noted(tables, env, scratch, a, w, acts)


@inlined
def _hold_or_restart(
    env: EnvTables, scratch: Scratch, actions: Int32Array, start: Index, members: Index, w: Index
) -> None:
    """Find the HELD and RESTARTED lanes of word `w`, whose environments are `members` from `start` on."""
    for lane in range(members):
        action = actions[(start + lane) * _columns(env)]
        if action == c.HOLD:
            set_lane(scratch.mask, c.HELD, 64 * w + lane)
        elif action == c.RESTART:
            set_lane(scratch.mask, c.RESTARTED, 64 * w + lane)


@inlined
def _note_actions(
    env: EnvTables, scratch: Scratch, actions: Int32Array, agent: Index, start: Index, members: Index
) -> None:
    """The actions of an agent in `members` environments from `start` on, a word of lanes, as bytes."""
    columns = _columns(env)
    column = agent if env.is_joint != 0 else 0
    noted = scratch.actions
    for lane in range(members):
        action = actions[(start + lane) * columns + column]
        is_byte = np.uint32(action) < np.uint32(c.BYTE_ACTIONS)
        noted[lane] = (
            np.uint8(action) if is_byte else np.uint8(c.IDLE if action == c.NO_CHOICE else c.BYTE_ACTIONS)
        )


@inlined
def _put_noted(
    tables: LaneTables, env: EnvTables, scratch: Scratch, agent: Index, w: Index, lanes: np.uint64
) -> None:
    """Select the noted actions of one agent in `lanes` of word `w`, action by action."""
    value, mask, noted = scratch.value, scratch.mask, scratch.actions
    said = lanes
    if env.is_joint != 0:
        acts = get_word(mask, c.WORK + agent, w)
        said = lanes & (acts | ~bytes_equal(noted, 0, np.uint8(c.IDLE)))
        set_word(mask, c.WORK + agent, w, acts | said)
    wrong = said
    for k in range(env.action_count):
        slot = np.int64(env.slot[agent, k])
        if slot >= 0:
            chosen = said & bytes_equal(noted, 0, np.uint8(k))
            node = np.int64(tables.slot_node[slot])
            set_word(value, node, w, get_word(value, node, w) | chosen)
            wrong &= ~chosen
    row = c.WORK + 2 * env.agent_role.shape[0] + agent
    set_word(mask, row, w, get_word(mask, row, w) | wrong)


@inlined
def _put_one_by_one(
    tables: LaneTables,
    env: EnvTables,
    scratch: Scratch,
    actions: Int32Array,
    agent: Index,
    w: Index,
    lanes: np.uint64,
    start: Index,
) -> None:
    """Select the actions of one agent in `lanes` of word `w`, whose first environment is `start`."""
    mask = scratch.mask
    while lanes != 0:
        place = lowest_bit(lanes)
        lanes &= lanes - np.uint64(1)
        lane: Index = 64 * w + place
        column = agent if env.is_joint != 0 else 0
        action = np.int64(actions[(start + place) * _columns(env) + column])
        if env.is_joint != 0:
            if action == c.NO_CHOICE and not has_lane(mask, c.WORK + agent, lane):
                continue
            set_lane(mask, c.WORK + agent, lane)
        if 0 <= action < env.action_count and env.slot[agent, action] >= 0:
            set_lane(scratch.value, np.int64(tables.slot_node[env.slot[agent, action]]), lane)
        else:
            set_lane(mask, c.WORK + 2 * env.agent_role.shape[0] + agent, lane)


@inlined
def find_illegal(tables: LaneTables, env: EnvTables, scratch: Scratch, live: Row) -> None:
    """Make the moves of agents that said nothing, where they have no choice; find BAD and MOVED lanes."""
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    bad = fill(value, np.uint64(0))
    for a in range(agents):
        role = np.int64(env.agent_role[a])
        said = load(mask, c.WORK + a) & live
        wrong = load(mask, c.WORK + 2 * agents + a)
        for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
            is_legal = literal(value, np.int64(tables.slot_literal[s]))
            wrong = wrong | (load(value, np.int64(tables.slot_node[s])) & ~is_legal)
        store(mask, c.WORK + 2 * agents + a, wrong & said)
        bad = bad | (wrong & said)
        force(tables, value, role, live & ~said)
    store(mask, c.BAD, bad)
    store(mask, c.MOVED, live & ~bad)


@inlined
def force(tables: LaneTables, value: Rows, role: Index, lanes: Row) -> None:
    """Select what is legal for `role` in `lanes`, where that is one move."""
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        node = np.int64(tables.slot_node[s])
        x = literal(value, np.int64(tables.slot_literal[s])) & lanes
        store(value, node, load(value, node) | x)


@piece
def draw_chance(
    tables: LaneTables, role: Index, value: Rows, mask: Rows, seed: NDArray[np.uint64], start: Index
) -> None:
    """Select a random legal move of `role` in the MOVED lanes, one lane after the other."""
    first, end = tables.first_slot[role], tables.first_slot[role + 1]
    for lane in range(min(64 * word_count(mask), seed.shape[0] - start)):
        if not has_lane(mask, c.MOVED, lane):
            continue
        legal = 0
        for s in range(first, end):
            legal += literal_in_lane(value, np.int64(tables.slot_literal[s]), lane)
        k = next_number(seed, start + lane, legal) if legal > 1 else np.int64(0)
        for s in range(first, end):
            if literal_in_lane(value, np.int64(tables.slot_literal[s]), lane):
                if k == 0:
                    set_lane(value, np.int64(tables.slot_node[s]), lane)
                    break
                k -= 1
