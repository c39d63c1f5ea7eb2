"""One match as the HTTP player plays it: state kept here, search in a worker process.

Whatever happens to the worker, the keeper thread follows the match by itself and knows the legal moves,
so that an answer never depends on the search: it is the worker's decision, else its best so
far, else a random legal move.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections.abc import Hashable, Mapping
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.terms import Symbol, Term
from ggp.game import GameError, Move
from ggp.keeper import Keeper, KeeperClosed
from ggp.player_turn import Answer, Turn
from ggp.player_worker import load_rules
from ggp.protocol import Play, ProtocolError, Start, Stop, parse_term, printable, spell
from ggp.tracking import Position, Tracker, has_percepts, make_tracker
from ggp.worker_link import Report, WorkerLink

log = logging.getLogger("ggp.player")

_MAX_RESTARTS = 3
"""How often a worker that died is replaced in one match."""

_LOADING_SECONDS = 0.5
"""How long a search process waits for the verdict on the rules before it is started."""

_STOP_GRACE_SECONDS = 1.0


@dataclass(frozen=True)
class SearchOptions:
    """What a match needs to know of the player: agent and engine, worker memory, random seed, whether it
    thinks on between its moves.
    """

    agent: str = "mcts"
    engine: str = "auto"
    keeper_engine: str = "reasoner"
    memory_mebibytes: int = 4096
    seed: int | None = None
    ponder: bool = False


class StartError(Exception):
    """The match cannot be played: the rules or the role are at fault. The text says how."""


class PlayerMatch:
    """A match from START to STOP or ABORT."""

    def __init__(self, message: Start, options: SearchOptions) -> None:
        self.match_id = message.match_id
        self.role = message.role
        self.play_clock_seconds = message.play_clock_seconds
        self.last_heard = time.monotonic()
        self._message = message
        self._options = options
        self._seed = random.SystemRandom().getrandbits(62) if options.seed is None else options.seed
        self._rng = random.Random(self._seed)
        self._keeper = Keeper(f"keeper {message.match_id}")
        self._tracker: Tracker | None = None
        # This role's place in joint moves; None where percepts are told instead, or before it is known.
        self._own_index: int | None = None
        self._spellings: Mapping[str, str] = {}
        self._worker = WorkerLink(self._hear)
        self._worker_gone = asyncio.Event()
        self._worker_ready = asyncio.Event()
        self._restarts = 0
        self._orders: list[dict[str, object]] = []
        self._turn: Turn | None = None
        self._pending: tuple[Play, asyncio.Task[Answer]] | None = None
        self._answered: tuple[Play, Answer] | None = None
        self._answers: dict[tuple[int, Hashable], Move] = {}
        self._has_search = True
        self._position: Position | None = None
        self._last_answer: Move | None = None
        self._is_closed = False
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def step(self) -> int:
        """Joint moves that are known to have been made."""
        return 0 if self._position is None else self._position.step

    @property
    def keeper_busy_seconds(self) -> float:
        """How long the keeper has been at its present job."""
        return self._keeper.busy_seconds

    def give_up_state(self) -> None:
        """Stop computing states here, because it costs too much; from now on the worker decides alone."""
        self._keeper.close()

    @property
    def worker_pid(self) -> int | None:
        """The process id of the search worker, if it lives."""
        return self._worker.pid

    def is_repeated_start(self, message: Start) -> bool:
        """Whether `message` is the START of this match once more, and not that of a new one."""
        return message == self._message and self._answered is None and self._pending is None

    def is_stale(self) -> bool:
        """Whether the manager should have been heard again long ago: it has probably died."""
        patience = max(self._message.start_clock_seconds, self.play_clock_seconds) + 30.0
        return self._pending is None and time.monotonic() - self.last_heard > patience

    # --- START ----------------------------------------------------------------------------------

    async def start(self, deadline: float) -> str:
        """Prepare until `deadline` at most; returns how it went, for the log.

        Raises StartError where the rules are invalid or the role is not in them.
        """
        loading = self._keeper.submit(self._load)
        try:
            # Most rules load at once; those that are no good should not cost a process.
            await asyncio.wait({loading}, timeout=_LOADING_SECONDS)
            if loading.done():
                loading.result()
            self._order_start(deadline)
            self._keep(asyncio.create_task(self._start_worker()))
            async with asyncio.timeout_at(deadline):
                await asyncio.shield(loading)
                await _first_of(self._worker_ready, self._worker_gone)
        except TimeoutError:
            return "worker not ready in time" if loading.done() else "rules not loaded in time"
        except (GdlError, GameError) as error:
            raise StartError(str(error)) from None
        except KeeperClosed:
            why = "ended meanwhile" if self._is_closed else "the rules take too much memory"
            raise StartError(why) from None
        return ""

    def _load(self) -> None:
        """In the keeper thread: the game, the spellings and the tracker at the initial state."""
        game = load_rules(self._message.rules, engine=self._options.keeper_engine)
        if self.role not in game.roles:
            roles = " ".join(map(str, game.roles))
            raise GameError(f"no role {self.role} in the rules, only {roles or 'none'}")
        self._spellings = game.program.spellings
        self._own_index = None if has_percepts(game) else game.roles.index(self.role)
        tracker = make_tracker(game, self.role, random.Random(self._seed))
        self._position = tracker.position
        self._tracker = tracker

    def _order_start(self, deadline: float) -> None:
        self._orders.append(
            {
                "type": "start",
                "match_id": self.match_id,
                "rules": self._message.rules,
                "role": str(self.role),
                "agent": self._options.agent,
                "engine": self._options.engine,
                "start_clock_seconds": self._message.start_clock_seconds,
                "play_clock_seconds": self._message.play_clock_seconds,
                "seed": self._seed,
                "memory_mebibytes": self._options.memory_mebibytes,
                "ponder": self._options.ponder,
                "deadline": deadline - _slack(self._message.start_clock_seconds),
            }
        )

    # --- the worker -----------------------------------------------------------------------------

    async def _start_worker(self) -> None:
        try:
            await self._worker.start()
        except OSError as error:
            self._worker_gone.set()
            self._give_up_search(f"no search process: {error}")
            return
        if self._is_closed:
            self._worker.kill()
            return
        for order in self._orders:
            self._worker.send(order)

    def _hear(self, link: WorkerLink, report: Report) -> None:
        if link is not self._worker or self._is_closed:
            return
        kind = report["type"]
        if kind == "ready":
            self._worker_ready.set()
        elif kind in ("best", "move", "report"):
            self._note_turn(report)
        elif kind == "failed":
            log.warning("match %s: worker gave up: %s", self.match_id, printable(report["message"]))
        elif kind == "gone":
            self._replace_worker()

    def _note_turn(self, report: Report) -> None:
        turn = self._turn
        if turn is None or report["ticket"] != turn.ticket or turn.is_final:
            return
        if "report" in report:
            turn.report = report["report"]
        if "move" in report:
            turn.is_final = report["type"] == "move"
            with contextlib.suppress(ProtocolError):
                turn.best = parse_term(report["move"])
        if turn.is_final:
            turn.decided.set()

    def _replace_worker(self) -> None:
        """Start another worker, which catches up with the whole match from the orders so far."""
        self._worker_gone.set()
        if self._restarts >= _MAX_RESTARTS or self._tracker is None:
            self._give_up_search("worker died")
            return
        self._restarts += 1
        log.warning("match %s: worker died; starting another one", self.match_id)
        self._worker = WorkerLink(self._hear)
        self._worker_gone = asyncio.Event()
        # The start clock is long over: the new worker must not think before it catches up.
        self._orders[0]["deadline"] = time.monotonic()
        self._keep(asyncio.create_task(self._start_worker()))

    def _give_up_search(self, why: str) -> None:
        log.error("match %s: %s; playing on without search", self.match_id, why)
        self._has_search = False
        if self._turn is not None:
            self._turn.decided.set()

    # --- PLAY -----------------------------------------------------------------------------------

    async def play(self, message: Play, deadline: float) -> Answer:
        """The answer to `message`: a legal move, by `deadline`. A repeated message gets its first answer."""
        self.last_heard = time.monotonic()
        if self._pending is not None and self._pending[0] == message:
            return (await asyncio.shield(self._pending[1])).repeated()
        if self._answered is not None and self._is_repetition(message, self._answered[0]):
            return self._answered[1].repeated()
        task = asyncio.create_task(self._answer(message, deadline))
        self._pending = (message, task)
        try:
            answer = await asyncio.shield(task)
        finally:
            if self._pending is not None and self._pending[1] is task:
                self._pending = None
        self._answered = (message, answer)
        self.last_heard = time.monotonic()
        return answer

    def _is_repetition(self, message: Play, answered: Play) -> bool:
        """Whether a manager asks again what was answered, as far as the message alone can tell.

        Without a turn number equal moves twice in a row may also be two steps. They are not where this
        role's move in them is not the one that it answered. Otherwise the state decides:
        `StateTracker` notes a repetition where the moves are not legal once more.
        """
        if message.turn is not None and message.turn == answered.turn:
            return True
        if message != answered:
            return False
        if message.terms is None:
            return True
        return self._own_index is not None and message.terms[self._own_index :][:1] != (self._last_answer,)

    async def _answer(self, message: Play, deadline: float) -> Answer:
        own_move = message.last_move or self._last_answer
        turn = Turn(ticket=len(self._orders))
        self._turn = turn
        order: dict[str, object] = {
            "type": "play",
            "ticket": turn.ticket,
            "terms": None if message.terms is None else list(map(str, message.terms)),
            "own_move": None if own_move is None else str(own_move),
            "deadline": deadline - _slack(self.play_clock_seconds),
        }
        self._orders.append(order)
        self._worker.send(order)
        advancing = self._keeper.submit(lambda: self._advance(message.terms, own_move, deadline))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(deadline):
                position = await self._position_after(advancing)
                known = position and self._answers.get((position.step, position.state))
                if position and known:
                    return Answer(self._spell(known), "known", position.step)
                if self._has_search and (position is None or len(position.legal) > 1):
                    await turn.decided.wait()
        is_known = advancing.done() and not advancing.cancelled() and advancing.exception() is None
        position = advancing.result() if is_known else None
        move, how = self._choose(turn, position)
        self._last_answer = move
        report = turn.report if how in ("decided", "best so far") else None
        return Answer(self._spell(move), how, None if position is None else position.step, report)

    def _advance(self, terms: tuple[Term, ...] | None, own_move: Move | None, deadline: float) -> Position:
        """In the keeper thread: follow the match one PLAY further."""
        if self._tracker is None:
            raise GameError("the rules are not loaded")
        self._position = self._tracker.advance(terms, own_move, deadline)
        return self._position

    async def _position_after(self, advancing: asyncio.Future[Position]) -> Position | None:
        """What the keeper found out; None where it cannot tell."""
        try:
            position = await asyncio.shield(advancing)
        except KeeperClosed:
            return None
        except Exception as error:
            log.error("match %s: the state cannot be computed: %r", self.match_id, error)
            return None
        if position.note:
            log.warning("match %s step %d: %s", self.match_id, position.step, position.note)
        return position

    def _choose(self, turn: Turn, position: Position | None) -> tuple[Move, str]:
        """The best move there is now, and how it was found; legal in the position if that is known."""
        found = "decided" if turn.is_final else "best so far"
        if position is None:
            # The worker's engine may be faster than ours; its word is the best there is.
            if turn.best is not None:
                return turn.best, found
            if not self._is_closed:
                log.error("match %s: no state at the deadline; guessing", self.match_id)
            legal = self._position.legal if self._position is not None else ()
            return legal[0] if legal else Symbol("noop"), "guess"
        if not position.legal:
            log.error("match %s step %d: no legal move for %s", self.match_id, position.step, self.role)
            return Symbol("noop"), "guess"
        if len(position.legal) == 1:
            move, found = position.legal[0], "only move"
        elif turn.best in position.legal and turn.best is not None:
            move = turn.best
        else:
            why = "worker gave none" if turn.best is None else f"worker's {turn.best} is not legal"
            log.warning("match %s step %d: random move, %s", self.match_id, position.step, why)
            move, found = self._rng.choice(position.legal), "random"
        self._answers[position.step, position.state] = move
        return move, found

    def _spell(self, move: Move) -> str:
        return spell(move, self._spellings)

    # --- STOP and ABORT -------------------------------------------------------------------------

    def stop(self, message: Stop | None) -> None:
        """End the match; the worker gets a moment to note the result. Returns at once."""
        if message is not None:
            terms = None if message.terms is None else list(map(str, message.terms))
            self._worker.send({"type": "stop", "terms": terms})
        self._is_closed = True
        self._keeper.close()
        # A PLAY that is still being answered need not wait for its clock.
        if self._turn is not None:
            self._turn.decided.set()

    async def close(self, grace_seconds: float = _STOP_GRACE_SECONDS) -> None:
        """Release everything, after `stop`."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)
        await self._worker.close(grace_seconds)

    def _keep(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _slack(clock_seconds: float) -> float:
    """What the worker's deadline is earlier than ours: its decision has to reach us."""
    return min(0.1, 0.05 * clock_seconds)


async def _first_of(*events: asyncio.Event) -> None:
    """Wait until one of `events` is set."""
    waiters = [asyncio.create_task(event.wait()) for event in events]
    try:
        await asyncio.wait(waiters, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in waiters:
            waiter.cancel()
