"""Benchmark of an engine: uniformly random playouts for a while, counted per CPU second.

A playout asks in every state for the legal moves of all roles, picks one each, makes the joint move and
asks whether the state is terminal; at the end it asks for the goals. A playout that the time limit cuts
counts with what it did, so that games longer than the limit are measured too.
"""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable
from typing import Any

from ggp.bench.lanes import measure_lanes
from ggp.bench.measurement import Measurement, with_rates
from ggp.engines.compiled import CompiledGame
from ggp.game import Game, GoalError, NoLegalMoveError, engine_of

STEP_LIMIT = 10_000
"""Steps after which a playout is cut, for rule sheets whose matches never end."""


def measure_engine(load: Callable[[], Game[Any]], *, seconds: float) -> Measurement:
    """Load a game and measure it the way its engine plays fastest: `measure_lanes` or `measure`.

    Adds `setup_seconds`: wall-clock time from the rules to a game with its first legal moves.

    Raises what `load` raises.
    """
    begin = time.perf_counter()
    game = load()
    state = game.initial_state()
    with contextlib.suppress(NoLegalMoveError):
        for role in () if game.is_terminal(state) else game.roles:
            game.legal_moves(state, role)
    setup_seconds = time.perf_counter() - begin
    if isinstance(game, CompiledGame) and engine_of(game) == "lanes":
        result = measure_lanes(game, seconds=seconds)
    else:
        result = measure(game, seconds=seconds)
    return {**result, "setup_seconds": round(setup_seconds, 4)}


def measure(
    game: Game[Any], *, seconds: float, cpu_clock: Callable[[], float] = time.process_time
) -> Measurement:
    """Play random playouts through the interface of any engine for `seconds` of CPU time.

    playouts       finished ones: terminal, stuck or cut at the step limit
    states         states reached by a joint move, those of the unfinished playout too
    stuck          playouts that ended because a role had no move
    without_goal   missing goals of roles
    """
    tally = _Tally(game, random.Random(0), cpu_clock)
    begin = cpu_clock()
    while tally.playout(begin + seconds) and cpu_clock() < begin + seconds:
        pass
    return with_rates(
        {
            "game": game.name,
            "engine": engine_of(game),
            "cpu_seconds": cpu_clock() - begin,
            "playouts": tally.playouts,
            "states": tally.states,
            "stuck": tally.stuck,
            "without_goal": tally.without_goal,
            "mean_length": tally.finished_states / max(1, tally.playouts),
        }
    )


class _Tally:
    """Counts over the playouts of one game."""

    def __init__(self, game: Game[Any], rng: random.Random, cpu_clock: Callable[[], float]) -> None:
        self.game, self.rng, self.cpu_clock = game, rng, cpu_clock
        self.playouts = self.states = self.finished_states = self.stuck = self.without_goal = 0

    def playout(self, cpu_deadline: float) -> bool:
        """One playout; False if the deadline cut it."""
        game, roles, choice, cpu_clock = self.game, self.game.roles, self.rng.choice, self.cpu_clock
        state = game.initial_state()
        before = self.states
        while not game.is_terminal(state):
            if self.states - before >= STEP_LIMIT:
                break
            try:
                joint_move = [choice(game.legal_moves(state, role)) for role in roles]
            except NoLegalMoveError:
                self.stuck += 1
                break
            state = game.next_state(state, joint_move)
            self.states += 1
            if cpu_clock() >= cpu_deadline and not game.is_terminal(state):
                return False
        else:
            for role in roles:
                try:
                    game.goal(state, role)
                except GoalError:
                    self.without_goal += 1
        self.playouts += 1
        self.finished_states += self.states - before
        return True
