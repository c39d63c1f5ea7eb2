"""The referee: plays one match between players, local or behind a connection, and fills its record.

Remote players are asked all at the same time, each in a waiting thread; local players one after the other in
the referee's thread, while the others may ponder in their own threads.

In games with `sees` no seat is given the state or the joint move, but its own observation of every step.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

from gdl.errors import GdlError
from gdl.terms import Term
from ggp.beliefs.belief import prepare_beliefs
from ggp.beliefs.observation import Observation, observe_step
from ggp.game import (
    RANDOM_ROLE,
    Game,
    GameError,
    Move,
    Role,
    goal_faults,
    goals_or_none,
    has_percepts,
    hides_information,
    is_compiled,
)
from ggp.match.faults import Fault, Illegal, Late, shorten
from ggp.match.player import MatchQuitError, MatchSetup, Player, PlayerFaultError, TakeBackError
from ggp.match.record import MatchRecord, Step, new_record, now_ms, state_text
from ggp.match.terms import MatchTerms, derived_seed

INTERRUPTED = "interrupted"
"""Fault of a match that Ctrl-C aborted."""


class NotStartedError(Exception):
    """A player failed to start a match that all players must start.

    index   of its seat
    """

    def __init__(self, message: str, index: int, fault: Fault) -> None:
        super().__init__(message)
        self.index, self.fault = index, fault


@dataclass(frozen=True)
class Moment:
    """Event for the watcher of a match: once per state, and when a seat starts to think.

    joint_move   that led to `state`; None in the initial one
    thinking     the role whose clock runs, if any
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


@dataclass(frozen=True)
class Reply:
    """The answer of one seat; empty without a player, usually only a fault after a failure."""

    answer: Any = None
    fault: Fault | None = None
    seconds: float | None = None


Ask = Callable[[int, Player, float], Any]
"""Asks a player for something: seat, player, deadline to answer; may raise PlayerFaultError."""


def play_match(
    game: Game[Any],
    players: Sequence[Player | None],
    terms: MatchTerms | None = None,
    *,
    watch: Watcher | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> MatchRecord:
    """Play one match to its end and return its record.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> ggp.play_match(game, [ggp.make_player("legal"), ggp.make_player("legal")], ggp.MatchTerms(seed=3))
    <MatchRecord tictactoe: x (legal) 100, o (legal) 0; 7 steps>

    players   one per role, in rule-sheet order; None lets chance play, as it always does for `random`

    A move that is late, illegal or missing is replaced by a legal one and noted in the record. The match is
    aborted if a person quits or interrupts it, the rules are at fault, or it does not end within the step
    limit. Players compile what they need (`prepare`) before the first clock starts. Raises ValueError for a
    wrong number of players, NotStartedError if all must start and one does not, and what computing the
    initial state raises.
    """
    return Referee(game, players, terms or MatchTerms(), watch=watch, clock=clock).run()


class Referee:
    """One match while it lasts; `record` exists from the start and grows in place."""

    def __init__(
        self,
        game: Game[Any],
        players: Sequence[Player | None],
        terms: MatchTerms,
        *,
        watch: Watcher | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Raises ValueError for a wrong number of players."""
        if len(players) != len(game.roles):
            raise ValueError(f"{game.name} has {len(game.roles)} roles, got {len(players)} players")
        self.game, self.terms, self.watch, self.clock = game, terms, watch, clock
        self.seats = [
            None if role == RANDOM_ROLE else player for role, player in zip(game.roles, players, strict=True)
        ]
        self.record = new_record(
            game,
            terms,
            player_names=["random" if seat is None else seat.name for seat in self.seats],
            is_player_human=[seat is not None and seat.is_human for seat in self.seats],
        )
        self.chance = random.Random(derived_seed(terms.seed, "chance"))
        self.state: Hashable = None
        self.step = 0
        self.joint_move: tuple[Move, ...] | None = None
        self.has_percepts = has_percepts(game)
        self.is_hiding = hides_information(game)
        self.observations: tuple[Observation, ...] = ()
        """Each seat's observation of the last step, in games with `sees`; empty before the first step."""
        self.visits: list[tuple[Hashable, tuple[Move, ...] | None, Any]] = []
        """Before each step, to return there: the state, the joint move to it, the state of chance."""
        self.present = {index: seat for index, seat in enumerate(self.seats) if seat is not None}
        # With hidden information, a person could take back a move and still know what it revealed.
        self.can_take_back = (
            any(seat.is_human for seat in self.present.values())
            and not any(seat.is_remote for seat in self.present.values())
            and not self.is_hiding
        )

    def run(self) -> MatchRecord:
        """Play the match; returns its record, also of a match that was aborted."""
        for seat in self.present.values():
            seat.start_clock_seconds = self.terms.start_clock_seconds
            seat.prepare(self.game)
        if self.is_hiding:
            prepare_beliefs(self.game)
        self.state = self.game.initial_state()
        with ThreadPoolExecutor(max_workers=max(1, len(self.seats))) as pool:
            try:
                self.play_to_the_end(pool)
            except NotStartedError as error:
                self.record.abort(str(error))
                raise
            except MatchQuitError as error:
                self.record.abort(str(error))
            except KeyboardInterrupt:
                self.record.abort(INTERRUPTED)
            except GameError as error:
                self.record.abort(str(error.at_step(self.step)))
            except (GdlError, RecursionError, MemoryError) as error:
                self.record.abort(f"step {self.step}: {error or type(error).__name__}")
            except Exception as error:
                self.record.abort(f"step {self.step}: internal error: {error!r}")
                raise
            finally:
                self.stop_players(pool)
                self.show(is_over=True)
        return self.record

    def play_to_the_end(self, pool: ThreadPoolExecutor) -> None:
        self.record.steps.append(Step((), state_text(self.game.facts(self.state)), now_ms()))
        self.show()
        self.start_players(pool)
        while not self.game.is_terminal(self.state):
            if self.step >= self.terms.step_limit:
                self.record.abort(f"no end after {self.terms.step_limit:,} steps")
                return
            if self.can_take_back:
                self.visits.append((self.state, self.joint_move, self.chance.getstate()))
            try:
                self.make_step(pool)
            except TakeBackError as error:
                self.take_back(error.role)
        self.record.complete(goals_or_none(self.game, self.state))
        self.record.fault = "; ".join(goal_faults(self.game, self.state))

    # --- rounds -----------------------------------------------------------------------------------

    def start_players(self, pool: ThreadPoolExecutor) -> None:
        def start(index: int, seat: Player, deadline: float) -> None:
            try:
                seat.start(self.setup_of(index), deadline)
            except PlayerFaultError as error:
                if self.terms.all_must_start and not seat.plays_unstarted:
                    raise NotStartedError(f"{seat.name} did not start: {error}", index, error.fault) from None
                raise

        replies = self.ask_all(pool, start, self.terms.start_clock_seconds, range(len(self.seats)))
        self.record.steps[0] = replace(
            self.record.steps[0],
            faults=tuple(reply.fault for reply in replies),
            seconds=tuple(reply.seconds for reply in replies),
        )

    def setup_of(self, index: int) -> MatchSetup:
        return MatchSetup(
            self.record.match_id,
            self.game,
            self.game.roles[index],
            self.terms.start_clock_seconds,
            self.terms.play_clock_seconds,
            derived_seed(self.terms.seed, f"player {index}"),
            can_take_back=self.can_take_back,
            grace_seconds=self.terms.grace_seconds,
        )

    def take_back(self, role: Role) -> None:
        """Return to the last state in which `role` chose a move; if there is none, stay.

        Chance will draw the same again. The other players restart the match in that state.
        """
        del self.visits[self.step :]
        earlier = [
            step for step, visit in enumerate(self.visits) if len(self.game.legal_moves(visit[0], role)) > 1
        ]
        if not earlier:
            return
        self.step = earlier[-1]
        self.state, self.joint_move, chance = self.visits[self.step]
        self.chance.setstate(chance)
        del self.visits[self.step :]
        del self.record.steps[self.step + 1 :]
        for index, seat in self.present.items():
            if not seat.is_human:
                seat.stop(None)
                with suppress(PlayerFaultError):  # the next `choose` will fail, and that is recorded
                    seat.start(self.setup_of(index), self.clock() + self.terms.start_clock_seconds)
        self.show()

    def make_step(self, pool: ThreadPoolExecutor) -> None:
        legal = [self.game.legal_moves(self.state, role) for role in self.game.roles]
        # Drawn before any player is asked, so that chance depends on the seed alone, not on late players.
        drawn = [self.chance.choice(moves) for moves in legal]

        def choose(index: int, seat: Player, deadline: float) -> Move:
            try:
                move = self.ask_move(index, seat, deadline)
            except PlayerFaultError as error:
                answer = error.move if error.move in legal[index] else None
                raise PlayerFaultError(error.fault, str(error), answer) from None
            if move not in legal[index]:
                raise PlayerFaultError(Illegal(shorten(str(move))))
            return move

        deciding = [index for index, moves in enumerate(legal) if len(moves) > 1]
        replies = self.ask_all(pool, choose, self.terms.play_clock_seconds, deciding)
        reports = [None if seat is None else seat.last_report for seat in self.seats]
        is_first = self.terms.on_error == "first"
        substitutes = [
            moves[0] if is_first and index in self.present else drawn[index]
            for index, moves in enumerate(legal)
        ]
        joint_move = tuple(
            substitute if reply.answer is None else reply.answer
            for reply, substitute in zip(replies, substitutes, strict=True)
        )
        before, self.state = self.state, self.game.next_state(self.state, joint_move)
        self.joint_move = joint_move
        if self.has_percepts:
            self.observations = tuple(
                observe_step(self.game, before, joint_move, role) for role in self.game.roles
            )
        self.step += 1
        self.record.steps.append(
            Step(
                tuple(map(str, joint_move)),
                state_text(self.game.facts(self.state)),
                now_ms(),
                tuple(reply.fault for reply in replies),
                tuple(reply.seconds for reply in replies),
                tuple(None if report is None else report.to_dict() for report in reports),
            )
        )
        self.show()

    def ask_move(self, index: int, seat: Player, deadline: float) -> Move:
        """Ask a seat for its move. Local seats get the state if the rules hide nothing, remote ones never."""
        if not self._is_observing(seat):
            return seat.choose(self.state, deadline, self.joint_move)
        if self.observations:
            seat.observe(self.observations[index], deadline)
        return seat.choose_by_observations(deadline)

    def _is_observing(self, seat: Player) -> bool:
        """Whether a seat receives percepts, not states: remote ones even if percepts reveal everything."""
        return self.is_hiding or (self.has_percepts and seat.is_remote)

    def stop_players(self, pool: ThreadPoolExecutor) -> None:
        """Send every player the end of the match, remote ones at the same time."""
        remote = []
        for index, seat in sorted(self.present.items(), key=lambda each: not each[1].is_remote):
            last: tuple[Term, ...] | None = None
            if not self.record.is_aborted and self.joint_move is not None:
                is_observing = self._is_observing(seat)
                last = self.observations[index].percepts if is_observing else self.joint_move
            if seat.is_remote:
                remote.append(pool.submit(seat.stop, last))
            else:
                seat.stop(last)
        for stopping in remote:
            stopping.result()

    # --- asking -----------------------------------------------------------------------------------

    def ask_all(
        self, pool: ThreadPoolExecutor, ask: Ask, limit_seconds: float, deciding: Sequence[int]
    ) -> list[Reply]:
        """Ask every seat once, remote ones at the same time.

        deciding   seats with a choice; the first remote one is shown as thinking
        """
        futures: dict[int, Future[Reply]] = {
            index: pool.submit(self.ask_one, index, seat, ask, limit_seconds)
            for index, seat in self.present.items()
            if seat.is_remote
        }
        deadline = self.clock() + limit_seconds
        replies: dict[int, Reply] = {}
        try:
            for index, seat in self.present.items():
                if index not in futures:
                    self.show(thinking=index, deadline=self.clock() + limit_seconds)
                    with self.others_pondering(pool, index, limit_seconds):
                        replies[index] = self.ask_one(index, seat, ask, limit_seconds)
            if futures:
                thinking = next(filter(futures.__contains__, deciding), min(futures))
                self.show(thinking=thinking, deadline=deadline)
            replies |= {index: future.result() for index, future in futures.items()}
        finally:
            wait(futures.values())  # a player with a pending request must not receive the end yet
        return [replies.get(index, Reply()) for index in range(len(self.seats))]

    def ask_one(self, index: int, seat: Player, ask: Ask, limit_seconds: float) -> Reply:
        """Ask one seat and take the time."""
        seat.get_ready()
        begin = self.clock()
        try:
            answer, fault = ask(index, seat, begin + limit_seconds), None
        except PlayerFaultError as error:
            answer, fault = error.move, error.fault
        seconds = self.clock() - begin
        is_timed = not (seat.is_human or seat.keeps_time)
        if fault is None and is_timed and seconds > limit_seconds + self.terms.grace_seconds:
            answer, fault = None, Late()
        return Reply(answer, fault, round(seconds, 4))

    @contextmanager
    def others_pondering(self, pool: ThreadPoolExecutor, index: int, limit_seconds: float) -> Iterator[None]:
        """Let the other players ponder meanwhile, if threads may share the game."""
        over = threading.Event()
        deadline = self.clock() + limit_seconds
        jobs = [
            pool.submit(seat.ponder, over.is_set, deadline)
            for i, seat in self.present.items()
            if i != index
            and seat.ponders
            and is_compiled(self.game)
            and (seat.ponders_on_observations or not self.is_hiding)
        ]
        try:
            yield
        finally:
            over.set()
            for job in jobs:
                job.result()

    def show(
        self, *, thinking: int | None = None, deadline: float | None = None, is_over: bool = False
    ) -> None:
        """Show the match to its watcher; `thinking` is a seat."""
        if self.watch is None:
            return
        role = None if thinking is None else self.game.roles[thinking]
        self.watch(
            Moment(self.record, self.game, self.state, self.step, self.joint_move, role, deadline, is_over)
        )
