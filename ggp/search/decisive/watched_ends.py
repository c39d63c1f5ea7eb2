"""Random playouts watched for moves that win and moves that wait."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE
from ggp.jit.compiling import announced_compilation
from ggp.lanes.engine import BoolArray, Lanes

WINNING_GOAL = 100
"""Of the role that makes the move; also the sum of the goals."""

WATCHED_PLAYOUTS, WATCHED_STEPS = 512, 256
"""Random playouts to watch, and steps of each."""


class WatchedEnds(NamedTuple):
    """Findings of random playouts; moves are counted over all roles.

    passive           by role the move that it has while another one chooses
    winning           moves that ended a match with goal 100 for their role
    """

    passive: tuple[int, ...]
    winning: frozenset[int]


def watch_ends(game: CompiledGame, seed: int = 0) -> WatchedEnds | None:
    """Watch random playouts for waiting moves and winning moves.

    None unless there are two roles whose goals add up to 100, that never both choose at once, and that have
    exactly one passive move each. Moves that win so rarely that no playout shows it are not worth their
    gates.
    """
    if len(game.roles) != 2 or RANDOM_ROLE in game.roles:
        return None
    stretches = list(pairwise(game.tables.first_move.tolist()))
    passive: list[set[int]] = [set(), set()]
    winning: set[int] = set()
    for chosen, goals, is_over, legal in _random_playouts(game, seed):
        if (goals.sum(axis=0)[is_over] != WINNING_GOAL).any():
            return None
        for role in range(2):
            won = is_over & (goals[role] == WINNING_GOAL)
            winning.update(np.flatnonzero(chosen[:, won].any(axis=1)).tolist())
        chooses = np.array([legal[begin:end].sum(axis=0) > 1 for begin, end in stretches])
        if (chooses.all(axis=0) & ~is_over).any():
            return None
        for role, (begin, end) in enumerate(stretches):
            waits = chooses[1 - role] & ~chooses[role] & ~is_over
            passive[role].update((begin + np.flatnonzero(legal[begin:end, waits].any(axis=1))).tolist())
    if any(len(of_role) != 1 for of_role in passive):
        return None
    waiting = (passive[0].pop(), passive[1].pop())
    return WatchedEnds(waiting, frozenset(winning - set(waiting)))


def _random_playouts(
    game: CompiledGame, seed: int
) -> Iterator[tuple[BoolArray, NDArray[np.int64], BoolArray, BoolArray]]:
    """WATCHED_PLAYOUTS at once, state by state: of the N playouts that are running or just ended

    chosen    bool[M, N]: the joint move that led here; none in the initial state
    goals     int[R, N]: as the rules give them; 0 for none
    is_over   bool[N]
    legal     bool[M, N]
    Uses `settle` alone: the kernel of `Lanes.play`, which a match does not need, takes seconds to compile.
    """
    tables = game.lane_tables
    lanes = Lanes(tables, words=game.words)
    count = min(WATCHED_PLAYOUTS, lanes.lane_count)
    rng = np.random.default_rng(seed)
    states = np.repeat(game.unpack(game.initial_state())[:, None], count, axis=1)
    chosen = np.zeros((tables.move_count, count), np.bool_)
    terminal = np.array([tables.terminal], np.int32)
    with announced_compilation():
        lanes.settle()
    for _ in range(WATCHED_STEPS):
        lanes.set_states(states)
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        count = states.shape[1]
        goals = lanes.read(tables.goal_literal, count) * tables.goal_value[:, None].astype(np.int64)
        of_roles = pairwise(tables.goal_first.tolist())
        is_over, legal = lanes.read(terminal, count)[0], lanes.read(game.legal_literals, count)
        yield chosen, np.array([goals[begin:end].sum(axis=0) for begin, end in of_roles]), is_over, legal
        draw = rng.random(legal.shape, np.float32)
        draw[~legal] = -1.0
        chosen = np.zeros_like(legal)
        for begin, end in pairwise(game.tables.first_move.tolist()):
            chosen[begin + draw[begin:end].argmax(axis=0), np.arange(count)] = True
        lanes.set_moves(chosen)
        lanes.settle(Phase.NEXT, Phase.NEXT)
        if is_over.all():
            return
        states, chosen = lanes.read(tables.next, count)[:, ~is_over], chosen[:, ~is_over]
