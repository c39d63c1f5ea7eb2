"""Matches: the local referee, for players inside this process or behind a `Player`.

What it fills, and the game manager with it, is the record in `ggp.match_record`.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

from gdl.errors import ReasoningError
from ggp.game import RANDOM_ROLE, Game, GameError, GoalError, Move, Role
from ggp.match_record import (
    MatchRecord,
    RecordError,
    new_match_id,
    new_record,
    now_ms,
    program_version,
    read_record,
    state_text,
    write_record,
)
from ggp.players import MatchQuitError, MatchSetup, Player, PlayerFaultError

__all__ = [
    "MatchRecord",
    "Moment",
    "NotStartedError",
    "RecordError",
    "Watcher",
    "derived_seed",
    "goals_or_none",
    "new_match_id",
    "new_record",
    "now_ms",
    "play_match",
    "program_version",
    "read_record",
    "state_text",
    "write_record",
]


class NotStartedError(Exception):
    """A player did not get ready for a match that is nothing without it.

    index   of its seat
    code    of the fault, as in the match record
    """

    def __init__(self, message: str, index: int, code: str) -> None:
        super().__init__(message)
        self.index, self.code = index, code


STEP_LIMIT = 10_000
"""Steps after which the referee gives up on a match that does not end."""


def derived_seed(seed: int, purpose: str) -> int:
    """A seed of its own for one seat or purpose of a match, the same in every run and on every machine."""
    return random.Random(f"{seed}/{purpose}").getrandbits(62)


def goal_faults(game: Game[Any], state: Hashable) -> list[str]:
    """What is wrong with the goals of `state`, one sentence per role at fault; empty in well-formed games."""
    faults = []
    for role in game.roles:
        try:
            game.goal(state, role)
        except GoalError as error:
            faults.append(str(error))
    return faults


def goals_or_none(game: Game[Any], state: Hashable) -> list[int | None]:
    """Each role's goal in `state`; None for `random` without one, and wherever the rules give no value."""
    goals: list[int | None] = []
    for role in game.roles:
        try:
            goals.append(game.goal(state, role))
        except GoalError:
            goals.append(None)
    return goals


@dataclass(frozen=True)
class Moment:
    """What somebody who watches a match is shown: once per state, and when a seat starts to think.

    joint_move   what led to `state`; None in the initial one
    thinking     the role whose clock runs, if one does
    deadline     when that clock ends, `time.monotonic()` seconds
    """

    record: MatchRecord
    game: Game[Any]
    state: Hashable
    step: int
    joint_move: tuple[Move, ...] | None
    thinking: Role | None = None
    deadline: float | None = None
    is_over: bool = False


Watcher = Callable[[Moment], None]


def play_match(
    game: Game[Any],
    players: Sequence[Player | None],
    *,
    start_clock_seconds: float,
    play_clock_seconds: float,
    seed: int = 0,
    match_id: str | None = None,
    watch: Watcher | None = None,
    grace_seconds: float = 0.5,
    step_limit: int = STEP_LIMIT,
    all_must_start: bool = False,
    clock: Callable[[], float] = time.monotonic,
) -> MatchRecord:
    """Play one match to its end and return its record.

    players          one per role, in rule-sheet order; None lets chance play, as it always does for `random`
    all_must_start   whether a fault at START ends the match: all are told, and NotStartedError is raised

    A move that is late by more than `grace_seconds`, illegal or missing is replaced by a random legal
    one and noted in the record. The match is aborted where a person quits or interrupts it, or the rules
    leave a role without a move, or it does not end within `step_limit` steps. Players that have something
    to compile do so before the first clock starts (`prepare`). Raises ValueError for a wrong number of
    players.
    """
    if len(players) != len(game.roles):
        raise ValueError(f"{game.name} has {len(game.roles)} roles, got {len(players)} players")
    seats = [
        None if role == RANDOM_ROLE else player for role, player in zip(game.roles, players, strict=True)
    ]
    record = new_record(
        game,
        match_id=match_id or new_match_id(game.name),
        start_clock_seconds=start_clock_seconds,
        play_clock_seconds=play_clock_seconds,
        player_names=["random" if seat is None else seat.name for seat in seats],
        is_player_human=[bool(getattr(seat, "is_human", False)) for seat in seats],
        seed=seed,
    )
    for seat in seats:
        prepare_player(seat, game)
    referee = _Referee(game, seats, record, seed, watch, grace_seconds, step_limit, clock)
    referee.all_must_start = all_must_start
    return referee.run()


def prepare_player(player: Player | None, game: Game[Any]) -> None:
    """Let a player that has something to compile do so, before a clock starts."""
    prepare = getattr(player, "prepare", None)
    if prepare is not None:
        prepare(game)


class _Referee:
    """One local match while it lasts."""

    def __init__(
        self,
        game: Game[Any],
        seats: Sequence[Player | None],
        record: MatchRecord,
        seed: int,
        watch: Watcher | None,
        grace_seconds: float,
        step_limit: int,
        clock: Callable[[], float],
    ) -> None:
        self.game, self.seats, self.record, self.seed = game, seats, record, seed
        self.step_limit = step_limit
        self.watch, self.grace_seconds, self.clock = watch, grace_seconds, clock
        self.all_must_start = False
        self.chance = random.Random(derived_seed(seed, "chance"))
        self.state: Hashable = game.initial_state()
        self.step = 0
        self.joint_move: tuple[Move, ...] | None = None

    def run(self) -> MatchRecord:
        record = self.record
        not_started: NotStartedError | None = None
        with ThreadPoolExecutor(max_workers=max(1, len(self.seats))) as pool:
            try:
                record.add_state(self.game.facts(self.state), now_ms())
                self.show()
                self.start_players(pool)
                while not self.game.is_terminal(self.state):
                    if self.step >= self.step_limit:
                        record.abort(f"no end after {self.step_limit:,} steps")
                        break
                    self.make_step(pool)
                else:
                    record.complete(goals_or_none(self.game, self.state))
                    record.fault = "; ".join(goal_faults(self.game, self.state))
            except NotStartedError as error:
                record.abort(str(error))
                not_started = error
            except MatchQuitError as error:
                record.abort(str(error))
            except KeyboardInterrupt:
                record.abort("interrupted")
            except GameError as error:
                record.abort(str(error.at_step(self.step)))
            except ReasoningError as error:
                record.abort(f"step {self.step}: {error}")
            for seat in self.seats:
                if seat is not None:
                    seat.stop(self.joint_move)
        self.show(is_over=True)
        if not_started is not None:
            raise not_started
        return record

    def start_players(self, pool: ThreadPoolExecutor) -> None:
        def start(index: int, seat: Player, deadline: float) -> None:
            role = self.game.roles[index]
            setup = MatchSetup(
                self.record.match_id,
                self.game,
                role,
                self.record.start_clock,
                self.record.play_clock,
                derived_seed(self.seed, f"player {index}"),
            )
            try:
                seat.start(setup, deadline)
            except PlayerFaultError as fault:
                if self.all_must_start:
                    raise NotStartedError(f"{seat.name} did not start: {fault}", index, fault.code) from None
                raise

        _, errors, seconds = self.ask_all(pool, start, self.record.start_clock)
        self.record.errors.append(errors)
        self.record.move_seconds.append(seconds)

    def make_step(self, pool: ThreadPoolExecutor) -> None:
        # Drawn before anybody is asked, so that chance depends on the seed alone and not on who was late.
        legal = [self.game.legal_moves(self.state, role) for role in self.game.roles]
        substitutes = [self.chance.choice(moves) for moves in legal]

        def choose(index: int, seat: Player, deadline: float) -> Move:
            move = seat.choose(self.state, deadline, self.joint_move)
            if move not in legal[index]:
                raise PlayerFaultError(f"IL {move}")
            return move

        moves, errors, seconds = self.ask_all(pool, choose, self.record.play_clock)
        reports = [getattr(seat, "last_report", None) for seat in self.seats]
        joint_move = tuple(
            substitute if move is None else move for move, substitute in zip(moves, substitutes, strict=True)
        )
        self.state = self.game.next_state(self.state, joint_move)
        self.joint_move = joint_move
        self.step += 1
        self.record.moves.append([str(move) for move in joint_move])
        self.record.errors.append(errors)
        self.record.move_seconds.append(seconds)
        self.record.reports.append([report and report.to_dict() for report in reports])
        self.record.add_state(self.game.facts(self.state), now_ms())
        self.show()

    def ask_all(
        self, pool: ThreadPoolExecutor, ask: Callable[[int, Player, float], Any], limit_seconds: float
    ) -> tuple[list[Any], list[str], list[float | None]]:
        """Ask every seat once, remote ones all at the same time: answers, error codes, seconds."""

        def timed(index: int, seat: Player) -> tuple[Any, str, float]:
            begin = self.clock()
            try:
                answer, code = ask(index, seat, begin + limit_seconds), ""
            except PlayerFaultError as fault:
                answer, code = None, fault.code
            seconds = self.clock() - begin
            is_late = seconds > limit_seconds + self.grace_seconds and not getattr(seat, "is_human", False)
            return (None, "TO", seconds) if is_late and not code else (answer, code, seconds)

        futures: dict[int, Future[tuple[Any, str, float]]] = {
            index: pool.submit(timed, index, seat)
            for index, seat in enumerate(self.seats)
            if seat is not None and getattr(seat, "is_remote", False)
        }
        results: list[tuple[Any, str, float | None]] = []
        try:
            for index, seat in enumerate(self.seats):
                if seat is None:
                    results.append((None, "", None))
                    continue
                self.show(thinking=self.game.roles[index], deadline=self.clock() + limit_seconds)
                if index in futures:
                    results.append(futures[index].result())
                    continue
                with self.others_pondering(pool, index, limit_seconds):
                    results.append(timed(index, seat))
        finally:
            wait(futures.values())  # who is still being asked must not be told before that it is over
        return (
            [answer for answer, _, _ in results],
            [code for _, code, _ in results],
            [None if seconds is None else round(seconds, 4) for _, _, seconds in results],
        )

    @contextmanager
    def others_pondering(self, pool: ThreadPoolExecutor, index: int, limit_seconds: float) -> Iterator[None]:
        """While a seat thinks the others think on, if that is their way and threads may share the game."""
        over = threading.Event()
        deadline = self.clock() + limit_seconds
        others = [seat for i, seat in enumerate(self.seats) if i != index and getattr(seat, "ponders", False)]
        if not hasattr(self.game, "lane_tables"):
            others = []
        jobs = [pool.submit(cast("Any", seat).ponder, over.is_set, deadline) for seat in others]
        try:
            yield
        finally:
            over.set()
            for job in jobs:
                job.result()

    def show(
        self, *, thinking: Role | None = None, deadline: float | None = None, is_over: bool = False
    ) -> None:
        if self.watch is not None:
            self.watch(
                Moment(
                    self.record,
                    self.game,
                    self.state,
                    self.step,
                    self.joint_move,
                    thinking,
                    deadline,
                    is_over,
                )
            )
