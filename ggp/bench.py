"""Measuring engines: uniformly random playouts for a while, counted per CPU second.

A playout asks in every state for the legal moves of all roles, picks one each, makes the joint move and
asks whether the state is terminal; at the end it asks for the goals. What a playout did counts also
where the time limit cuts it, so that games longer than the limit are measured too.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from ggp.game import Game, GoalError, NoLegalMoveError, engine_of

STEP_LIMIT = 10_000
"""Steps after which a playout is given up, for rule sheets whose matches never end."""

CALIBRATION_ROUNDS = 2_000_000


@dataclass(frozen=True)
class Measurement:
    """What random playouts of one game cost.

    setup_seconds         wall-clock time from the rules to a game with its first legal moves
    playouts              finished ones: terminal, stuck or given up at the step limit
    states                states reached by a joint move, those of the unfinished playout too
    stuck, without_goal   playouts that ended where a role had no move; roles' goals that were missing
    calibration_seconds   CPU time of `calibrate` beside it, to compare machines by
    """

    game: str
    engine: str
    setup_seconds: float
    cpu_seconds: float
    playouts: int
    states: int
    stuck: int
    without_goal: int
    playouts_per_cpu_second: float
    states_per_cpu_second: float
    mean_length: float
    calibration_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """This measurement as JSON-able data."""
        return asdict(self)


def measure(
    load: Callable[[], Game[Any]],
    *,
    engine: str,
    seconds: float,
    seed: int = 0,
    calibration_seconds: float | None = None,
    cpu_clock: Callable[[], float] = time.process_time,
) -> Measurement:
    """Load a game and play random playouts for `seconds` of CPU time.

    Raises whatever `load` does. `calibration_seconds` None: measured here.
    """
    calibration = calibrate() if calibration_seconds is None else calibration_seconds
    begin = time.perf_counter()
    game = load()
    state = game.initial_state()
    if not game.is_terminal(state):
        for role in game.roles:
            try:
                game.legal_moves(state, role)
            except NoLegalMoveError:
                break
    setup_seconds = time.perf_counter() - begin
    tally = _Tally(game, random.Random(seed), cpu_clock)
    cpu_seconds = tally.play(seconds)
    return Measurement(
        game=game.name,
        engine=engine,
        setup_seconds=round(setup_seconds, 4),
        cpu_seconds=round(cpu_seconds, 4),
        playouts=tally.playouts,
        states=tally.states,
        stuck=tally.stuck,
        without_goal=tally.without_goal,
        playouts_per_cpu_second=_rate(tally.playouts, cpu_seconds),
        states_per_cpu_second=_rate(tally.states, cpu_seconds),
        mean_length=round(tally.finished_states / tally.playouts, 2) if tally.playouts else 0.0,
        calibration_seconds=round(calibration, 4),
    )


def measure_engine(
    load: Callable[[], Game[Any]],
    *,
    seconds: float,
    seed: int = 0,
    threads: int = 1,
    words: int | None = None,
    calibration_seconds: float | None = None,
) -> dict[str, Any]:
    """Load a game and measure it the way its engine plays fastest: `bench_lanes` or `measure`.

    threads, words   of lanes only

    Raises whatever `load` does.
    """
    begin = time.perf_counter()
    game = load()
    load_seconds = time.perf_counter() - begin
    engine = engine_of(game)
    if engine == "lanes":
        from ggp.lanes_bench import bench_lanes

        result = bench_lanes(
            lambda: game,  # type: ignore[arg-type,return-value]
            seconds=seconds,
            seed=seed,
            threads=threads,
            words=words,
            calibration_seconds=calibration_seconds,
        )
    else:
        result = measure(
            lambda: game, engine=engine, seconds=seconds, seed=seed, calibration_seconds=calibration_seconds
        ).to_dict()
    result["setup_seconds"] = round(load_seconds + result["setup_seconds"], 4)
    return result


def calibrate(rounds: int = CALIBRATION_ROUNDS) -> float:
    """CPU seconds of a fixed loop of integer arithmetic: a yardstick for this machine, now."""
    begin = time.process_time()
    value = 1
    for _ in range(rounds):
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
    return time.process_time() - begin


class _Tally:
    """Counts over the playouts of one game."""

    def __init__(self, game: Game[Any], rng: random.Random, cpu_clock: Callable[[], float]) -> None:
        self.game, self.rng, self.cpu_clock = game, rng, cpu_clock
        self.playouts = self.states = self.finished_states = self.stuck = self.without_goal = 0

    def play(self, seconds: float) -> float:
        """Playouts until `seconds` of CPU time are over; the CPU seconds that really passed."""
        begin = self.cpu_clock()
        while self.playout(begin + seconds) and self.cpu_clock() < begin + seconds:
            pass
        return self.cpu_clock() - begin

    def playout(self, cpu_deadline: float) -> bool:
        """One playout; false where the deadline cut it."""
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
            self.ask_goals(state)
        self.playouts += 1
        self.finished_states += self.states - before
        return True

    def ask_goals(self, state: Any) -> None:
        for role in self.game.roles:
            try:
                self.game.goal(state, role)
            except GoalError:
                self.without_goal += 1


def _rate(count: int, seconds: float) -> float:
    return round(count / seconds, 3) if seconds > 0 else 0.0
