"""The data of environment kernels.

Games lie in *blocks* of 64*W lanes. A block's state is F rows of fluents and a few rows of flags. Letters:
B blocks, N environments, W words per row, F fluents, A agents (the roles but `random`), M moves of one agent
at most, V views, K values of an observation, S slots (see `ggp.lanes.layout`), P percepts and own moves of an
agent.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Int32Array
from ggp.jit.compiling import inlined
from ggp.jit.rows import Index, Rows, word_count
from ggp.lanes.layout import LaneTables

NO_AGENT = -1
NO_GOAL = -1
NO_CHOICE = -1
HOLD = -2
"""An action: leave this environment as it is."""
RESTART = -3
"""An action: begin a new game in this environment."""
ILLEGAL = 2**31 - 1
"""An action of no agent. Adapters give it for all numbers that are none, lest these be commands."""

BYTE_ACTIONS = 250
"""Largest number of actions for which those of 64 lanes are compared at once, as bytes.

The same number as a byte stands for any value that is not an action.
"""
IDLE = 251
"""NO_CHOICE as a byte."""

LIVE = 0
"""Row of `Batch.flags`: the game is not over.

Row 1 + a: agent a acts (if agents act at once: has a choice). Row 1 + A: the game ended by its rules.
"""

MOVED, BAD, STUCK, CONFLICT, CHANCE, ENDED, OVER, HELD, RESTARTED, WORK = range(10)
"""Rows of `Scratch.mask`.

MOVED      takes the next state          BAD        has an illegal action
STUCK      a role has no legal move
CONFLICT   two agents have a choice, where actions are those of one
CHANCE     `random` moves, and no agent has a choice
ENDED      the game ends in this step    OVER       nothing is to be played
HELD       its action is HOLD            RESTARTED  its action is RESTART
WORK       A rows: the agent acts; A more: its legal moves are not all of waiting; A more: it is to blame
"""

CHANCE_LIMIT = 1000
"""Steps that chance may take in a row before a game counts as stuck."""


class EnvTables(NamedTuple):
    """Tables of a game besides its circuit.

    agent_role    int32[A]: the role of each agent
    chance        the role `random`, or NO_AGENT
    is_waiting    uint8[S]: 1 for moves that a role makes while another one acts (`noop`)
    action_count  M
    slot          int32[A, M]: the slot of each action, -1 where there is none
    observed      int32[V, K]: literals of fluents seen by agent v, or by everybody if V = 1
    sensed        int32[V, P]: literals of percepts and own moves in the circuit of steps, remembered for
                  agent v; K is then 2*P
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
    """The outputs for agents. Bytes are padded by 64 at the end, so that whole vectors can be stored there.

    observation   uint8[N*K + 64], or [N*V*K + 64] if agents act at once
    mask   uint8[N*M + 64], or [N*A*M + 64] if agents act at once
    current       int32[N]: the agent that acts, NO_AGENT if several do or the game is over
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

    mask   WORK + 3*A rows; rows, packed: max(K, M) or, if agents act at once, max(V*K, A*M) rows, at least 64
    memory V*2*P rows; actions: uint8[64], of one agent in the lanes of a word
    """

    value: Rows
    saved: Rows
    mask: Rows
    rows: Rows
    packed: Rows
    memory: Rows
    block: NDArray[np.uint64]
    actions: NDArray[np.uint8]


class StepRules(NamedTuple):
    """How to step: blocks first .. end - 1; steps after which a game is truncated; switches 0 or 1.

    begins_alike   every game begins with the choice in `EnvTables.first_acts` and `first_legal`
    """

    first: int
    end: int
    max_steps: int
    is_resetting: int
    begins_alike: int


class Step(NamedTuple):
    """The states before and after a step, and the readings of the latter."""

    old: Batch
    new: Batch
    readings: Readings


class Share(NamedTuple):
    """The data of one thread's steps: the part of the blocks that `rules` names."""

    of_state: LaneTables
    of_step: LaneTables
    env: EnvTables
    scratch: Scratch
    rules: StepRules


@inlined
def lanes_of(batch: Batch, block: Index) -> tuple[Index, Index]:
    """The first environment of a block, and how many of its lanes have one."""
    lanes = 64 * word_count(batch.flags)
    return lanes * block, min(lanes, batch.steps.shape[0] - lanes * block)


@inlined
def environments_of(batch: Batch, block: Index, w: Index) -> tuple[Index, Index]:
    """The first environment of word `w` of a block, and how many of its lanes have one; 0 or less: none."""
    first = 64 * (word_count(batch.flags) * block + w)
    return first, min(64, batch.steps.shape[0] - first)
