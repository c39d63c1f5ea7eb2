"""Environment kernels: actions in, one step of every game, observations out.

Games lie in *blocks* of 64*W lanes. A block's state is F rows of fluents and a few rows of flags. Letters:
B blocks, N environments, W words per row, F fluents, A agents (the roles but `random`), M moves of one agent
at most, K values of an observation, S slots (see `ggp.lanes.layout`), P percepts and own moves of an agent.

One step of a block: put the actions into the move rows, find illegal ones, make every other move that leaves
no choice, settle, advance; let chance move where no agent can; read what became of it. Steps settle one part
of the circuit, states another one (see `ggp.env.circuit_parts`). Everything but
chance, the goals of ended games and the actions of games with more than BYTE_ACTIONS is done in many lanes
at once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined, kernel, piece
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
    set_word,
    store,
    word_count,
)
from ggp.jit.spread import bytes_equal, spread_8, spread_16, spread_32, spread_64
from ggp.jit.unboxed import Unboxed, unboxed
from ggp.lanes.bits import has_lane, literal_in_lane, set_lane
from ggp.lanes.indices import transpose_bits, transpose_rows
from ggp.lanes.layout import LaneTables
from ggp.lanes.settle import settle_apart

NOBODY = -1
NO_GOAL = -1
NO_CHOICE = -1
HOLD = -2
"""An action: leave this environment as it is."""
RESTART = -3
"""An action: begin a new game in this environment."""

BYTE_ACTIONS = 250
"""Largest number of actions for which those of 64 lanes are compared at once, as bytes.

The same number as a byte stands for any value that is not an action.
"""
IDLE = 251
"""NO_CHOICE as a byte."""

LIVE = 0
"""Row of `Batch.flags`: the game goes on.

Row 1 + a: agent a acts (if agents act at once: has a choice). Row 1 + A: the game ended by its rules.
"""

MOVED, BAD, SEVERAL, STUCK, CONFLICT, CHANCE, ENDED, OVER, HELD, RESTARTED, WORK = range(11)
"""Rows of `Scratch.mask`.

MOVED      takes the next state          BAD        has an illegal action
SEVERAL    an agent has a choice         STUCK      a role has no legal move
CONFLICT   two agents have a choice, where actions are those of one
CHANCE     `random` moves, and no agent has a choice
ENDED      the game ends in this step    OVER       nothing is to be played
HELD       its action is HOLD            RESTARTED  its action is RESTART
WORK       A rows: the agent acts; A more: its legal moves are not all of waiting; A more: it is to blame
"""

CHANCE_LIMIT = 1000
"""Steps that chance or forced moves may take in a row before a game counts as stuck."""


class EnvTables(NamedTuple):
    """What environments know of a game besides its circuit.

    agent_role    int32[A]: the role of each agent
    chance        the role `random`, or NOBODY
    is_waiting    uint8[S]: 1 for moves that a role makes while another one acts (`noop`)
    action_count  M
    slot          int32[A, M]: the slot of each action, -1 where there is none
    observed      int32[V, K]: literals of fluents seen by agent v, or by everybody if V = 1
    sensed        int32[V, P]: literals of percepts and own moves in the circuit of steps, remembered for
                  agent v; K is then 2*P
    end_phase     end of the phases to settle after a move
    initial       uint64[F]: all bits or none
    reward_of     float32[*]: reward for each goal of `LaneTables`
    is_joint      1 where agents act at once, so that actions are int32[N, A]
    first_acts    uint64[A], first_legal uint64[A, M]: all bits or none, who acts in the initial state and
                  which of its actions are legal; read if `StepRules.begins_alike`
    """

    agent_role: Int32Array
    chance: int
    is_waiting: NDArray[np.uint8]
    action_count: int
    slot: Int32Array
    observed: Int32Array
    sensed: Int32Array
    end_phase: int
    initial: NDArray[np.uint64]
    reward_of: NDArray[np.float32]
    is_joint: int
    first_acts: NDArray[np.uint64]
    first_legal: NDArray[np.uint64]


class Batch(NamedTuple):
    """The states of N environments.

    fluents   B*F rows, block by block
    flags     B*(2+A) rows, see LIVE
    memory    B*V*2*P rows: per agent what it sensed since its last action, then in the whole game
    seed      uint64[N]: the random generator of each environment's chance
    steps     int32[N]: steps since the game began
    """

    fluents: Rows
    flags: Rows
    memory: Rows
    seed: NDArray[np.uint64]
    steps: Int32Array


class Readings(NamedTuple):
    """What agents read. Bytes are padded by 64 behind the end, so that whole vectors can be stored there.

    observation   uint8[N*K + 64], or [N*V*K + 64] if agents act at once
    mask   uint8[N*M + 64], or [N*A*M + 64] if agents act at once
    current       int32[N]: the agent that acts, NOBODY if several do or the game is over
    reward        float32[N*A]; goal   int32[N*A]: of games that ended in this step, else NO_GOAL
    terminated, truncated   uint8[N + 64]
    """

    observation: NDArray[np.uint8]
    mask: NDArray[np.uint8]
    current: Int32Array
    reward: NDArray[np.float32]
    goal: Int32Array
    terminated: NDArray[np.uint8]
    truncated: NDArray[np.uint8]


class Scratch(NamedTuple):
    """Memory of one thread: value and saved as in `ggp.lanes.playout`; block is uint64[64].

    mask   WORK + 3*A rows; rows: max(K, M) or, if agents act at once, max(V*K, A*M) rows, at least 64
    memory V*2*P rows; actions: uint8[64], of one agent in the lanes of a word
    """

    value: Rows
    saved: Rows
    mask: Rows
    rows: Rows
    memory: Rows
    block: NDArray[np.uint64]
    actions: NDArray[np.uint8]


class StepRules(NamedTuple):
    """How to step: blocks first .. end - 1; steps after which a game is truncated; switches 0 or 1.

    begins_alike   every game begins with the choice that `EnvTables.first_acts` and `first_legal` tell
    """

    first: int
    end: int
    max_steps: int
    is_resetting: int
    skips_forced: int
    begins_alike: int


class Step(NamedTuple):
    """From which states to which, and what is read of these."""

    old: Batch
    new: Batch
    readings: Readings


class Share(NamedTuple):
    """What one thread steps with: the part of the blocks that `rules` names."""

    of_state: LaneTables
    of_step: LaneTables
    env: EnvTables
    scratch: Scratch
    rules: StepRules


@inlined
def next_number(seed: NDArray[np.uint64], n: Index, count: Index) -> Index:
    """A uniform number below `count` (splitmix64, Steele, Lea & Flood 2014; without bias by rejection)."""
    bound = np.uint64(count)
    threshold = (np.uint64(0) - bound) % bound
    while True:
        seed[n] += np.uint64(0x9E3779B97F4A7C15)
        z = seed[n]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
        if z >= threshold:
            return np.int64(z % bound)


@inlined
def _clear_moves(tables: LaneTables, value: Rows) -> None:
    """Select no move, nor the spare row of padded slots, which the other part may use for a gate."""
    store(value, tables.row_count - 1, fill(value, np.uint64(0)))
    for m in range(tables.move_count):
        store(value, tables.move0 + m, fill(value, np.uint64(0)))


@inlined
def _put_action(
    tables: LaneTables, env: EnvTables, value: Rows, agent: Index, action: Index, lane: Index
) -> bool:
    """Select a move of an agent in a lane; False if there is no such move."""
    if action < 0 or action >= env.action_count or env.slot[agent, action] < 0:
        return False
    set_lane(value, np.int64(tables.slot_node[env.slot[agent, action]]), lane)
    return True


@inlined
def _lanes_of(batch: Batch, block: Index) -> tuple[Index, Index]:
    """The first environment of a block, and how many of its lanes have one."""
    lanes = 64 * word_count(batch.flags)
    return lanes * block, min(lanes, batch.steps.shape[0] - lanes * block)


@inlined
def _environments_of(batch: Batch, block: Index, w: Index) -> tuple[Index, Index]:
    """The first environment of word `w` of a block, and how many of its lanes have one; 0 or less: none."""
    first = 64 * (word_count(batch.flags) * block + w)
    return first, min(64, batch.steps.shape[0] - first)


@inlined
def _put_actions(
    tables: LaneTables, env: EnvTables, old: Batch, scratch: Scratch, actions: Int32Array, block: Index
) -> None:
    """Select the actions of live lanes; find the HELD and RESTARTED ones.

    WORK + a: agent a has said what it does; WORK + 2*A + a: what it said is no move.
    """
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    flags = block * (2 + agents)
    for a in range(agents):
        store(mask, WORK + a, load(old.flags, flags + 1 + a))
        store(mask, WORK + 2 * agents + a, fill(value, np.uint64(0)))
    store(mask, HELD, fill(value, np.uint64(0)))
    store(mask, RESTARTED, fill(value, np.uint64(0)))
    for w in range(word_count(mask)):
        start, members = _environments_of(old, block, w)
        others = 0
        for lane in range(members):
            others += actions[(start + lane) * _columns(env)] <= HOLD
        if others > 0:
            _hold_or_restart(env, scratch, actions, (start, members), w)
        free = get_word(old.flags, flags + LIVE, w) & ~(
            get_word(mask, HELD, w) | get_word(mask, RESTARTED, w)
        )
        for a in range(agents):
            acts = free if env.is_joint != 0 else free & get_word(mask, WORK + a, w)
            if env.action_count > BYTE_ACTIONS:
                _put_one_by_one(tables, env, scratch, actions, a, w, acts, start)
                continue
            if a == 0 or env.is_joint != 0:
                _note_actions(env, scratch, actions, a, (start, members))
            _put_noted(tables, env, scratch, a, w, acts)


@inlined
def _note_actions(
    env: EnvTables, scratch: Scratch, actions: Int32Array, agent: Index, part: tuple[Index, Index]
) -> None:
    """The actions of an agent in the lanes of a word as bytes.

    part: the first environment of the word, and how many it has
    """
    start, members = part
    columns = _columns(env)
    column = agent if env.is_joint != 0 else 0
    noted = scratch.actions
    for lane in range(members):
        action = actions[(start + lane) * columns + column]
        is_byte = np.uint32(action) < np.uint32(BYTE_ACTIONS)
        noted[lane] = np.uint8(action) if is_byte else np.uint8(IDLE if action == NO_CHOICE else BYTE_ACTIONS)


@inlined
def _put_noted(
    tables: LaneTables, env: EnvTables, scratch: Scratch, agent: Index, w: Index, lanes: np.uint64
) -> None:
    """Select the noted actions of one agent in `lanes` of word `w`, action by action."""
    value, mask, noted = scratch.value, scratch.mask, scratch.actions
    said = lanes
    if env.is_joint != 0:
        acts = get_word(mask, WORK + agent, w)
        said = lanes & (acts | ~bytes_equal(noted, 0, np.uint8(IDLE)))
        set_word(mask, WORK + agent, w, acts | said)
    wrong = said
    for k in range(env.action_count):
        slot = np.int64(env.slot[agent, k])
        if slot >= 0:
            chosen = said & bytes_equal(noted, 0, np.uint8(k))
            node = np.int64(tables.slot_node[slot])
            set_word(value, node, w, get_word(value, node, w) | chosen)
            wrong &= ~chosen
    row = WORK + 2 * env.agent_role.shape[0] + agent
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
    wrong = WORK + 2 * env.agent_role.shape[0] + agent
    while lanes != 0:
        lane: Index = 64 * w + lowest_bit(lanes)
        lanes &= lanes - np.uint64(1)
        column = agent if env.is_joint != 0 else 0
        action = np.int64(actions[(start + lane - 64 * w) * _columns(env) + column])
        if env.is_joint != 0:
            if action == NO_CHOICE and not has_lane(mask, WORK + agent, lane):
                continue
            set_lane(mask, WORK + agent, lane)
        if not _put_action(tables, env, scratch.value, agent, action, lane):
            set_lane(mask, wrong, lane)


@inlined
def _columns(env: EnvTables) -> Index:
    """Actions of an environment."""
    return env.agent_role.shape[0] if env.is_joint != 0 else 1


@inlined
def _hold_or_restart(
    env: EnvTables, scratch: Scratch, actions: Int32Array, part: tuple[Index, Index], w: Index
) -> None:
    """Find the HELD and RESTARTED lanes of word `w`; part: its first environment, and how many it has."""
    start, members = part
    for lane in range(members):
        action = actions[(start + lane) * _columns(env)]
        if action == HOLD:
            set_lane(scratch.mask, HELD, 64 * w + lane)
        elif action == RESTART:
            set_lane(scratch.mask, RESTARTED, 64 * w + lane)


@inlined
def _find_illegal(tables: LaneTables, env: EnvTables, scratch: Scratch, live: Row) -> None:
    """Make the moves of agents that said nothing, where they have no choice; find BAD and MOVED lanes."""
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    bad = fill(value, np.uint64(0))
    for a in range(agents):
        role = np.int64(env.agent_role[a])
        said = load(mask, WORK + a) & live
        wrong = load(mask, WORK + 2 * agents + a)
        for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
            is_legal = literal(value, np.int64(tables.slot_literal[s]))
            wrong = wrong | (load(value, np.int64(tables.slot_node[s])) & ~is_legal)
        store(mask, WORK + 2 * agents + a, wrong & said)
        bad = bad | (wrong & said)
        _force(tables, value, role, live & ~said)
    store(mask, BAD, bad)
    store(mask, MOVED, live & ~bad)


@inlined
def _force(tables: LaneTables, value: Rows, role: Index, lanes: Row) -> None:
    """Select what is legal for `role` in `lanes`, where that is one move."""
    for s in range(tables.first_slot[role], tables.first_slot[role + 1]):
        node = np.int64(tables.slot_node[s])
        x = literal(value, np.int64(tables.slot_literal[s])) & lanes
        store(value, node, load(value, node) | x)


@piece
def _draw_chance(
    tables: LaneTables, role: Index, value: Rows, mask: Rows, seed: NDArray[np.uint64], start: Index
) -> None:
    """Select a random legal move of `role` in the MOVED lanes, one lane after the other."""
    first, end = tables.first_slot[role], tables.first_slot[role + 1]
    for lane in range(min(64 * word_count(mask), seed.shape[0] - start)):
        if not has_lane(mask, MOVED, lane):
            continue
        legal = 0
        for s in range(first, end):
            legal += 1 if literal_in_lane(value, np.int64(tables.slot_literal[s]), lane) else 0
        k = next_number(seed, start + lane, legal) if legal > 1 else np.int64(0)
        for s in range(first, end):
            if literal_in_lane(value, np.int64(tables.slot_literal[s]), lane):
                if k == 0:
                    set_lane(value, np.int64(tables.slot_node[s]), lane)
                    break
                k -= 1


@inlined
def _sense(env: EnvTables, scratch: Scratch) -> None:
    """Remember what agents sense of the step of the MOVED lanes. SEES must be settled."""
    value, memory = scratch.value, scratch.memory
    moved = load(scratch.mask, MOVED)
    views, count = env.sensed.shape
    for v in range(views):
        for p in range(count):
            x = literal(value, np.int64(env.sensed[v, p])) & moved
            row = 2 * v * count + p
            store(memory, row, load(memory, row) | x)
            store(memory, row + count, load(memory, row + count) | x)


@inlined
def _recall(env: EnvTables, scratch: Scratch, old: Batch, playing: Row, block: Index) -> None:
    """Fetch the memory of a block; what preceded the action of an agent that acts now is no longer recent."""
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
def _advance(tables: LaneTables, scratch: Scratch) -> None:
    """Make the next state current in the MOVED lanes. NEXT must be settled."""
    value, saved = scratch.value, scratch.saved
    moved = load(scratch.mask, MOVED)
    following = tables.next
    for i in range(tables.next_saved.shape[0]):
        store(saved, i, literal(value, np.int64(following[tables.next_saved[i]])))
    for i in range(tables.next_order.shape[0]):
        f = np.int64(tables.next_order[i])
        x = literal(value, np.int64(following[f]))
        store(value, 1 + f, (x & moved) | (load(value, 1 + f) & ~moved))
    for i in range(tables.next_saved.shape[0]):
        f = np.int64(tables.next_saved[i])
        store(value, 1 + f, (load(saved, i) & moved) | (load(value, 1 + f) & ~moved))


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
    """Who has to act, in all lanes: SEVERAL, STUCK, CONFLICT, CHANCE and WORK. LEGAL must be settled."""
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    zero = fill(value, np.uint64(0))
    stuck = zero
    chosen = zero
    conflict = zero
    for a in range(agents):
        one, several, acting = _choices_of(tables, env, value, np.int64(env.agent_role[a]))
        stuck = stuck | ~one
        conflict = conflict | (chosen & several)
        chosen = chosen | several
        store(mask, WORK + a, several)
        store(mask, WORK + agents + a, acting)
    store(mask, SEVERAL, chosen)
    store(mask, CONFLICT, conflict if env.is_joint == 0 else zero)
    store(mask, CHANCE, zero)
    if env.chance >= 0:
        one, several, acting = _choices_of(tables, env, value, np.int64(env.chance))
        stuck = stuck | ~one
        store(mask, CHANCE, acting & ~chosen)
    store(mask, STUCK, stuck)
    if env.is_joint == 0:
        _name_one(mask, agents)


@inlined
def _name_one(mask: Rows, agents: Index) -> None:
    """Where no agent has a choice, the first acts whose move is not one of waiting, else the first of all."""
    taken = load(mask, SEVERAL)
    for a in range(agents):
        acting = load(mask, WORK + agents + a) & ~taken
        store(mask, WORK + a, load(mask, WORK + a) | acting)
        taken = taken | acting
    store(mask, WORK, load(mask, WORK) | ~taken)


@inlined
def _move_without_choice(share: Share, batch: Batch, block: Index) -> None:
    """Let chance move in the MOVED lanes in which no agent has a choice, until none is left.

    LEGAL must be settled and the choices read; afterwards they are again.
    """
    of_state, of_step, env, scratch, rules = share
    if env.chance < 0 and rules.skips_forced == 0:
        return
    value, mask = scratch.value, scratch.mask
    for _ in range(CHANCE_LIMIT):
        idle = load(mask, CHANCE) if rules.skips_forced == 0 else ~load(mask, SEVERAL)
        idle = idle & load(mask, MOVED) & ~load(mask, STUCK) & ~literal(value, np.int64(of_state.terminal))
        store(mask, MOVED, idle)
        if not any_lane(idle):
            return
        _clear_moves(of_step, value)
        for role in range(of_state.role_count):
            if role != env.chance:
                _force(of_state, value, role, idle)
        if env.chance >= 0:
            start, _ = _lanes_of(batch, block)
            _draw_chance(of_state, np.int64(env.chance), value, mask, batch.seed, start)
        settle_apart(of_step, value, 0, env.end_phase)
        _sense(env, scratch)
        _advance(of_step, scratch)
        settle_apart(of_state, value, 0, 1)
        _read_choices(of_state, env, scratch)
    store(mask, STUCK, load(mask, STUCK) | load(mask, MOVED))


@inlined
def _find_ended(
    tables: LaneTables, scratch: Scratch, batch: Batch, rules: StepRules, live: Row, block: Index
) -> None:
    """Count a step in live lanes; ENDED: those whose game is over now."""
    mask = scratch.mask
    over = literal(scratch.value, np.int64(tables.terminal)) | load(mask, BAD) | load(mask, STUCK)
    store(mask, ENDED, over & live)
    store(mask, OVER, ~live)
    for w in range(word_count(mask)):
        start, members = _environments_of(batch, block, w)
        playing = ~get_word(mask, OVER, w)
        late = 0
        for lane in range(members):
            batch.steps[start + lane] += np.int32((playing >> np.uint64(lane)) & np.uint64(1))
            late += batch.steps[start + lane] >= rules.max_steps
        if late > 0:
            for lane in range(members):
                if batch.steps[start + lane] >= rules.max_steps and not has_lane(mask, OVER, 64 * w + lane):
                    set_lane(mask, ENDED, 64 * w + lane)


@inlined
def _give_rewards(
    tables: LaneTables, env: EnvTables, scratch: Scratch, batch: Batch, readings: Readings, block: Index
) -> None:
    """How games ended, and rewards of those that end in this step (ENDED); OVER: those that ended before.

    Who makes an illegal move loses 1, as in PGX. LEGAL must be settled; GOAL is if games ended by the rules.
    """
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    by_rules = block * (2 + agents) + 1 + agents
    ended = load(mask, ENDED)
    over = load(mask, BAD) | literal(value, np.int64(tables.terminal))
    store(batch.flags, by_rules, load(batch.flags, by_rules) | (ended & over))
    for w in range(word_count(mask)):
        start, members = _environments_of(batch, block, w)
        if members <= 0:
            break
        for i in range(start * agents, (start + members) * agents):
            readings.reward[i] = 0.0
            readings.goal[i] = NO_GOAL
        well = get_word(batch.flags, by_rules, w)
        spread_64(readings.terminated, start, well)
        spread_64(readings.truncated, start, (get_word(mask, ENDED, w) | get_word(mask, OVER, w)) & ~well)
    _give_goals(tables, env, scratch, batch, readings, block)
    _punish(env, scratch, batch, readings, block)


@inlined
def _give_goals(
    tables: LaneTables, env: EnvTables, scratch: Scratch, batch: Batch, readings: Readings, block: Index
) -> None:
    """The goals of games that ended in this step by the rules."""
    value, mask, rows = scratch.value, scratch.mask, scratch.rows
    agents = env.agent_role.shape[0]
    over = load(mask, ENDED) & ~load(mask, BAD) & literal(value, np.int64(tables.terminal))
    if not any_lane(over):
        return
    # Only now: often no game of a block ends in a step, and goals can be most of a circuit.
    settle_apart(tables, value, 1, 2)
    for a in range(agents):
        role = env.agent_role[a]
        for q in range(tables.goal_first[role], tables.goal_first[role + 1]):
            store(rows, 0, literal(value, np.int64(tables.goal_literal[q])) & over)
            for w in range(word_count(mask)):
                start, _ = _environments_of(batch, block, w)
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
        start, _ = _environments_of(batch, block, w)
        bits = get_word(mask, ENDED, w) & get_word(mask, BAD, w)
        while bits != 0:
            lane = lowest_bit(bits)
            bits &= bits - np.uint64(1)
            for a in range(agents):
                is_guilty = has_lane(mask, WORK + 2 * agents + a, 64 * w + lane)
                readings.reward[(start + lane) * agents + a] = -1.0 if is_guilty else agents - 1.0


@inlined
def _write_rows(
    scratch: Scratch, count: Index, target: NDArray[np.uint8], total: Index, block: Index
) -> None:
    """target[n*count + k] = the bit that row k has in the lane of environment n. Destroys the rows.

    The last store of an environment may reach into the next one's bytes, which are written later; at the end
    of a block, whose neighbor may be another thread's, none reaches beyond it.
    """
    rows = scratch.rows
    last = 64 * ((count - 1) // 64)
    size = 8
    while size < count - last:
        size *= 2
    for first in range(0, last, 64):
        _transpose(scratch, first, 64)
    _transpose(scratch, last, size)
    lanes = 64 * word_count(rows)
    # Stores from this environment on would reach beyond the block.
    limit = lanes * (block + 1) - (size - (count - last) + count - 1) // count
    for w in range(word_count(rows)):
        start = lanes * block + 64 * w
        members = min(64, total - start)
        within = max(0, min(members, limit - start))
        _write_tails(rows, (last, size), target, (start * count + last, count), w, within)
        for lane in range(within if last > 0 else 0):
            for first in range(0, last, 64):
                spread_64(target, (start + lane) * count + first, get_word(rows, first + lane, w))
        for lane in range(within, members):
            for k in range(count):
                side = size if k >= last else 64
                row = k - k % 64  # `last` is a multiple of 64
                word = get_word(rows, row + lane % side, w) >> np.uint64(lane - lane % side + k - row)
                target[(start + lane) * count + k] = word & np.uint64(1)


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
def _write_tails(
    rows: Rows,
    tail: tuple[Index, Index],
    target: NDArray[np.uint8],
    places: tuple[Index, Index],
    w: Index,
    lanes: Index,
) -> None:
    """The last bytes of lanes 0 .. lanes - 1 of word `w`.

    tail: the first of the last rows, and the size of the squares that they were transposed in
    places: of lane 0, and from lane to lane
    """
    first, size = tail
    place, step = places
    if size == 8:
        for lane in range(lanes):
            word = get_word(rows, first + (lane & 7), w) >> np.uint64(lane & 56)
            spread_8(target, place + lane * step, word)
    elif size == 16:
        for lane in range(lanes):
            word = get_word(rows, first + (lane & 15), w) >> np.uint64(lane & 48)
            spread_16(target, place + lane * step, word)
    elif size == 32:
        for lane in range(lanes):
            word = get_word(rows, first + (lane & 31), w) >> np.uint64(lane & 32)
            spread_32(target, place + lane * step, word)
    else:
        for lane in range(lanes):
            spread_64(target, place + lane * step, get_word(rows, first + lane, w))


@inlined
def _write_observation(
    env: EnvTables, scratch: Scratch, readings: Readings, total: Index, block: Index
) -> None:
    """Every value of the observation in every lane.

    Where views differ: as seen by who acts, or by every agent if agents act at once.
    """
    value, mask, rows, memory = scratch.value, scratch.mask, scratch.rows, scratch.memory
    views, count = env.observed.shape
    is_sensed = env.sensed.shape[1] > 0
    is_each = env.is_joint != 0 and views > 1
    for k in range(count):
        x = fill(value, np.uint64(0))
        for v in range(views):
            seen = load(memory, v * count + k) if is_sensed else literal(value, np.int64(env.observed[v, k]))
            if is_each:
                store(rows, v * count + k, seen)
            elif v == 0:
                x = seen
            else:
                acts = load(mask, WORK + v)
                x = (x & ~acts) | (seen & acts)
        if not is_each:
            store(rows, k, x)
    _write_rows(scratch, views * count if is_each else count, readings.observation, total, block)


@inlined
def _write_mask(
    tables: LaneTables, env: EnvTables, scratch: Scratch, readings: Readings, total: Index, block: Index
) -> None:
    """Legal actions of who acts, or of every agent; all of them where the game is over."""
    value, mask, rows = scratch.value, scratch.mask, scratch.rows
    agents = env.agent_role.shape[0]
    over = load(mask, OVER)
    width = env.action_count if env.is_joint == 0 else agents * env.action_count
    for k in range(width):
        store(rows, k, over)
    for a in range(agents):
        offset = 0 if env.is_joint == 0 else a * env.action_count
        acts = load(mask, WORK + a) if env.is_joint == 0 else ~over
        for k in range(env.action_count):
            if env.slot[a, k] >= 0:
                x = literal(value, np.int64(tables.slot_literal[env.slot[a, k]])) & acts
                store(rows, offset + k, load(rows, offset + k) | x)
    _write_rows(scratch, width, readings.mask, total, block)


@inlined
def _write_current(env: EnvTables, batch: Batch, readings: Readings, block: Index) -> None:
    """The agent that acts in each lane, if it is one."""
    flags = block * (2 + env.agent_role.shape[0])
    for w in range(word_count(batch.flags)):
        start, members = _environments_of(batch, block, w)
        one = np.uint64(0)
        several = np.uint64(0)
        for a in range(env.agent_role.shape[0]):
            acts = get_word(batch.flags, flags + 1 + a, w)
            several |= one & acts
            one |= acts
        for n in range(start, start + members):
            readings.current[n] = NOBODY
        for a in range(env.agent_role.shape[0]):
            acts = get_word(batch.flags, flags + 1 + a, w) & ~several
            for lane in range(members):
                is_acting = np.int32((acts >> np.uint64(lane)) & np.uint64(1))
                readings.current[start + lane] += is_acting * np.int32(a - NOBODY)


@inlined
def _write_block(
    tables: LaneTables, env: EnvTables, scratch: Scratch, batch: Batch, readings: Readings, block: Index
) -> None:
    """Keep the state, and write what agents read. OVER and WORK must be right."""
    mask = scratch.mask
    agents = env.agent_role.shape[0]
    for f in range(tables.fluent_count):
        store(batch.fluents, block * tables.fluent_count + f, load(scratch.value, 1 + f))
    remembered = 2 * env.sensed.shape[0] * env.sensed.shape[1]
    for i in range(remembered):
        store(batch.memory, remembered * block + i, load(scratch.memory, i))
    live = ~load(mask, OVER)
    flags = block * (2 + agents)
    store(batch.flags, flags + LIVE, live)
    for a in range(agents):
        store(batch.flags, flags + 1 + a, load(mask, WORK + a) & live)
    _write_current(env, batch, readings, block)
    _write_observation(env, scratch, readings, batch.steps.shape[0], block)
    _write_mask(tables, env, scratch, readings, batch.steps.shape[0], block)


@inlined
def _begin_games(share: Share, batch: Batch, block: Index) -> None:
    """Begin new games in the lanes of ENDED."""
    tables, env, scratch, rules = share.of_state, share.env, share.scratch, share.rules
    value, mask = scratch.value, scratch.mask
    ended = load(mask, ENDED)
    for f in range(tables.fluent_count):
        x = fill(value, env.initial[f]) & ended
        store(value, 1 + f, (load(value, 1 + f) & ~ended) | x)
    for i in range(2 * env.sensed.shape[0] * env.sensed.shape[1]):
        store(scratch.memory, i, load(scratch.memory, i) & ~ended)
    agents = env.agent_role.shape[0]
    flags = block * (2 + agents)
    store(batch.flags, flags + 1 + agents, load(batch.flags, flags + 1 + agents) & ~ended)
    for w in range(word_count(mask)):
        start, _ = _environments_of(batch, block, w)
        bits = get_word(mask, ENDED, w)
        while bits != 0:
            batch.steps[start + lowest_bit(bits)] = 0
            bits &= bits - np.uint64(1)
    if rules.begins_alike != 0:
        _offer_first_choice(tables, env, scratch, ended)
        return
    settle_apart(tables, value, 0, 1)
    _read_choices(tables, env, scratch)
    store(mask, MOVED, ended)
    _move_without_choice(share, batch, block)


@inlined
def _offer_first_choice(tables: LaneTables, env: EnvTables, scratch: Scratch, lanes: Row) -> None:
    """In `lanes`, who acts in the initial state and its legal actions: all that is read before the next step.

    In most steps a game of the block begins anew, and settling it once more for that would cost half a step.
    """
    value, mask = scratch.value, scratch.mask
    for a in range(env.agent_role.shape[0]):
        acts = fill(value, env.first_acts[a]) & lanes
        store(mask, WORK + a, (load(mask, WORK + a) & ~lanes) | acts)
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
def begin_blocks(share: Unboxed[Share], batch: Unboxed[Batch], readings: Unboxed[Readings]) -> bool:
    """Begin a game in every environment; whether two agents have a choice where one may."""
    return _begin_blocks(unboxed(share), unboxed(batch), unboxed(readings))


@inlined
def _begin_blocks(share: Share, batch: Batch, readings: Readings) -> bool:
    of_state, scratch, rules = share.of_state, share.scratch, share.rules
    mask = scratch.mask
    is_conflict = False
    for block in range(rules.first, rules.end):
        store(mask, ENDED, fill(mask, np.uint64(0)))
        _, count = _lanes_of(batch, block)
        for lane in range(count):
            set_lane(mask, ENDED, lane)
        store(mask, BAD, fill(mask, np.uint64(0)))
        live = load(mask, ENDED)
        _begin_games(share, batch, block)
        is_conflict |= any_lane(load(mask, CONFLICT) & live)
        store(mask, ENDED, live & (load(mask, STUCK) | literal(scratch.value, np.int64(of_state.terminal))))
        store(mask, OVER, ~live)
        _give_rewards(of_state, share.env, scratch, batch, readings, block)
        store(mask, OVER, ~live | load(mask, ENDED))
        _write_block(of_state, share.env, scratch, batch, readings, block)
    return is_conflict


@kernel
def step_blocks(
    share: Unboxed[Share],
    step: Unboxed[Step],
    actions: Int32Array,
) -> bool:
    """One step of every environment; whether two agents have a choice where one may.

    actions   int32[N]: of the agent that acts; int32[N*A] if agents act at once, NO_CHOICE without one;
              HOLD or RESTART of the first agent concern the environment
    Games that are over stay as they are.
    """
    return _step_blocks(unboxed(share), unboxed(step), actions)


@inlined
def _step_blocks(share: Share, step: Step, actions: Int32Array) -> bool:
    of_state, of_step, env, scratch, rules = share
    old, batch, readings = step
    value, mask = scratch.value, scratch.mask
    agents = env.agent_role.shape[0]
    is_conflict = False
    for block in range(rules.first, rules.end):
        flags = block * (2 + agents)
        live = load(old.flags, flags + LIVE)
        start, members = _lanes_of(batch, block)
        for n in range(start, start + members):
            batch.steps[n] = old.steps[n]
        for f in range(of_step.fluent_count):
            store(value, 1 + f, load(old.fluents, block * of_step.fluent_count + f))
        _clear_moves(of_step, value)
        settle_apart(of_step, value, 0, 1)
        _put_actions(of_step, env, old, scratch, actions, block)
        restarted = load(mask, RESTARTED)
        playing = live & ~load(mask, HELD) & ~restarted
        store(batch.flags, flags + 1 + agents, load(old.flags, flags + 1 + agents) & ~restarted)
        _recall(env, scratch, old, playing, block)
        _find_illegal(of_step, env, scratch, playing)
        if env.chance >= 0:
            for n in range(start, start + members):
                batch.seed[n] = old.seed[n]
            _draw_chance(of_step, np.int64(env.chance), value, mask, batch.seed, start)
        settle_apart(of_step, value, 1, env.end_phase)
        _sense(env, scratch)
        _advance(of_step, scratch)
        settle_apart(of_state, value, 0, 1)
        _read_choices(of_state, env, scratch)
        _move_without_choice(share, batch, block)
        is_conflict |= any_lane(load(mask, CONFLICT) & live)
        _find_ended(of_state, scratch, batch, rules, playing, block)
        store(mask, OVER, ~(live | restarted))
        _give_rewards(of_state, env, scratch, batch, readings, block)
        ended = load(mask, ENDED)
        if rules.is_resetting == 0:
            store(mask, OVER, load(mask, OVER) | ended)
            ended = ended & ~ended
        store(mask, ENDED, ended | restarted)
        if any_lane(ended | restarted):
            _begin_games(share, batch, block)
        _write_block(of_state, env, scratch, batch, readings, block)
    return is_conflict
