"""One match of the HTTP player: states in one process, search in another.

The state process follows the match independently of the worker and knows the legal moves, so an answer never
depends on the search: it is the worker's decision, else its best move so far, else the best move of a short
search by the state process, else a random legal move.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from gdl.terms import Symbol, Term
from ggp.match.faults import Crashed, Fault, Illegal, Late, parse_fault, shorten
from ggp.player_server.match_states import KnownPosition, MatchStates
from ggp.player_server.process_pools import StatePool, WorkerPool
from ggp.players.own import is_own_player
from ggp.processes.child import Child, ChildError, ChildGoneError, ChildStartError
from ggp.protocol.messages import Play, Start, Stop, parse_term_or_name, printable, spell
from ggp.search.report import report_text

log = logging.getLogger("ggp.player")

_MAX_RESTARTS = 3
"""Maximum number of replacements of a dead worker in one match."""
_LOADING_SECONDS = 0.5
"""Time for loading the rules before the worker is started in parallel."""
_LONGEST_PATIENCE_SECONDS = 3600.0
"""Limit on the clocks for which the match of a silent manager is kept."""
_PATIENCE_SECONDS = 30.0
_SLICE_SECONDS = 0.02
"""CPU time of the short search between two checks of the worker's result."""
_ALONE_SECONDS = 2.0
"""Maximum time of the short search in a match that has lost its worker."""


@dataclass(frozen=True)
class SearchOptions:
    """The agent of a match, and what it runs with.

    engine, memory_mebibytes   of the worker
    seed       None: another one for each match
    ponder     whether the agent searches between its moves, if it plays by the clock
    fallback   whether the server moves for an agent without a move in time
    """

    agent: str = "mcts"
    engine: str = "auto"
    memory_mebibytes: int = 4096
    seed: int | None = None
    ponder: bool = True
    fallback: bool = True


@dataclass(frozen=True)
class Answer:
    """A reply to PLAY and its source.

    how      decided, best so far, only move, short search, random, guess, none, known, repeated
    report   of the search (`ggp.search.report.SearchReport.to_dict`), or None
    fault    why it is not a move of the agent, as match records write it; mostly empty
    """

    text: str
    how: str
    report: dict[str, Any] | None = None
    fault: str = ""

    def note(self) -> str:
        """A note for the log line; names in a report come from the rules, and so from a stranger."""
        return self.how if self.report is None else printable(f"{self.how}; {report_text(self.report)}")

    def repeated(self) -> Answer:
        return self if self.how == "none" else replace(self, how="repeated", report=None)


@dataclass
class _PendingPlay:
    """What is known of the answer to one PLAY; `note_change` after each change of a field.

    begin, deadline, latest   `time.monotonic()` seconds: when it arrived, when to answer, and how long to
                  wait if no legal move is known by then
    position      as soon as the state process knows it; None if it fails
    is_followed   whether the state process has finished with this PLAY
    best          the worker's best move so far, its decision if `is_final`
    is_searched   whether a search has found `best`
    is_decided    whether the worker will send nothing better
    short         the move of the state process's short search
    report        the worker's latest search report, as JSON-able data
    fault         why the agent will have no move, if known
    """

    ticket: int
    begin: float
    deadline: float
    latest: float
    position: KnownPosition | None = None
    is_followed: bool = False
    best: str | None = None
    is_final: bool = False
    is_searched: bool = False
    is_decided: bool = False
    short: str | None = None
    report: dict[str, Any] | None = None
    fault: Fault | None = None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def note_change(self) -> None:
        self._changed.set()

    async def wait(self, holds: Callable[[], bool], until: float | None = None) -> None:
        """Wait until `holds()`, at most until `until`."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(until):
                while not holds():
                    self._changed.clear()
                    await self._changed.wait()


class StartError(Exception):
    """The match cannot be played; the text names the fault in the rules or the role."""


class PlayerMatch:
    """A match from START to STOP or ABORT.

    manager   address of the host that sent START
    """

    def __init__(
        self,
        message: Start,
        options: SearchOptions,
        states: StatePool,
        workers: WorkerPool,
        manager: str,
    ) -> None:
        self.match_id = message.match_id
        self.role = message.role
        self.manager = manager
        self.play_clock_seconds = message.play_clock_seconds
        self.last_heard = time.monotonic()
        self._message = message
        self._options = options
        self._seed = random.SystemRandom().getrandbits(62) if options.seed is None else options.seed
        self._rng = random.Random(self._seed)
        self._states = MatchStates(message.match_id, states)
        self._loading: asyncio.Task[None] | None = None
        self._is_start_over = False
        # This role's index in joint moves; None if percepts are reported instead, or before it is known.
        self._own_index: int | None = None
        self._spellings: Mapping[str, str] = {}
        self._workers = workers
        self._worker: Child | None = None
        # Whether the worker has the match so far, and receives what follows.
        self._is_fed = False
        self._worker_ready = asyncio.Event()
        """Set when the worker has started the match, or has ended."""
        self._is_own = is_own_player(options.agent)
        self._failure = ""
        # Whether the worker is known to run the agent's code, searching for a move.
        self._is_choosing = self._has_ended_worker = False
        self._faults: Counter[str] = Counter()
        self._restarts = 0
        self._start_request: dict[str, Any] = {}
        self._play_requests: list[dict[str, Any]] = []
        self._current: _PendingPlay | None = None
        self._pending: tuple[Play, asyncio.Task[Answer]] | None = None
        self._answered: tuple[Play, Answer] | None = None
        self._answers: dict[tuple[int, int], tuple[str, str]] = {}
        """(Step, state) → the answer and its fault."""
        self._has_search = True
        self._position: KnownPosition | None = None
        self._is_peer_gone: Callable[[], bool] = lambda: True
        # Whether the connection of START was closed before its answer; False from the first PLAY on.
        self._is_start_abandoned: Callable[[], bool] = lambda: False
        self._last_answer: str | None = None
        self._is_closed = False
        self._may_ponder = True
        self._tasks: set[asyncio.Task[Any]] = set()
        self._releasing: asyncio.Task[None] | None = None

    @property
    def step(self) -> int:
        return 0 if self._position is None else self._position.step

    @property
    def is_loaded(self) -> bool:
        """Whether the rules have been read without errors."""
        return self._position is not None

    @property
    def is_behind(self) -> bool:
        """Whether the clock of START ended before the rules were read; reading continues."""
        return self._is_start_over and self._loading is not None and not self._loading.done()

    @property
    def worker_pid(self) -> int | None:
        """The process id of the worker, if it is alive."""
        return None if self._worker is None else self._worker.pid

    def is_repeated_start(self, message: Start) -> bool:
        """Whether `message` repeats the START of this match instead of starting a new one."""
        return message == self._message and self._answered is None and self._pending is None

    def is_stale(self) -> bool:
        """Whether the manager has probably died, because it has long been silent.

        A manager that waits for an answer with its connection open is alive. One that closed the connection
        of START before the answer has probably died too: its match is not kept for the length of its clock.
        """
        clock = max(self._message.start_clock_seconds, self.play_clock_seconds)
        patience = _PATIENCE_SECONDS
        if not self._is_start_abandoned():
            patience += min(clock, _LONGEST_PATIENCE_SECONDS)
        is_waiting = self._pending is not None and not self._is_peer_gone()
        return not is_waiting and time.monotonic() - self.last_heard > patience

    # --- START ----------------------------------------------------------------------------------

    async def start(self, deadline: float, is_peer_gone: Callable[[], bool] = lambda: False) -> str:
        """Prepare until `deadline` at most; returns a note for the log.

        Raises StartError if the rules are invalid or the role is not in them.
        """
        self._is_start_abandoned = is_peer_gone
        loading = self._loading = self._keep(self._load())
        try:
            # Most rules load at once; invalid ones should not start a process.
            await asyncio.wait({loading}, timeout=min(_LOADING_SECONDS, deadline - time.monotonic()))
            if loading.done():
                loading.result()
            if self._is_closed:
                raise ChildGoneError
            self._start_request = {
                "match_id": self.match_id,
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
            self._keep(self._start_worker())
            async with asyncio.timeout_at(deadline):
                await asyncio.shield(loading)
                await self._worker_ready.wait()
        except TimeoutError:
            return "worker not ready in time" if self.is_loaded else "rules not loaded in time"
        except ChildError as error:
            raise StartError("the match ended meanwhile" if self._is_closed else str(error)) from None
        finally:
            # From here on the connection is closed regardless.
            self._is_start_over, is_abandoned = True, self._is_start_abandoned()
            self._is_start_abandoned = lambda: is_abandoned
        return ""

    async def _load(self) -> None:
        loaded = await self._states.load(self._message.rules, str(self.role), self._seed)
        self._own_index, self._spellings = loaded["own_index"], loaded["spellings"]
        self._position = KnownPosition(**loaded["position"])

    # --- the worker -----------------------------------------------------------------------------

    async def _start_worker(self) -> None:
        """Take a search process and send it the match up to the last PLAY."""
        try:
            worker = self._worker = self._workers.take()
        except ChildStartError as error:
            self._worker_ready.set()
            self._give_up_search(f"no search process: {error}")
            return
        worker.on_event = partial(self._receive, worker)
        await self._states.has_program.wait()
        if self._is_closed or worker is not self._worker:
            return
        started = worker.ask("start", program=self._states.program, **self._start_request)
        worker.send("ponder", may_ponder=self._may_ponder)
        for request in self._play_requests:
            worker.send("play", **request)
        self._is_fed = True
        with contextlib.suppress(ChildError):
            await asyncio.wrap_future(started)
            self._worker_ready.set()

    def allow_pondering(self, is_allowed: bool) -> None:
        """Allow or forbid the worker to think during other players' turns, from now on."""
        if is_allowed != self._may_ponder:
            self._may_ponder = is_allowed
            if self._worker is not None and self._is_fed:
                self._worker.send("ponder", may_ponder=is_allowed)

    def _receive(self, worker: Child, event: dict[str, Any], line: str) -> None:
        """Take an event of `ggp.player_server.worker`."""
        if worker is not self._worker or self._is_closed:
            return
        match event["event"]:
            case "best" | "report" | "move" as kind:
                self._is_choosing = kind != "move"
                if (play := self._current) and event["ticket"] == play.ticket and not play.is_final:
                    self._note_search(play, event, kind)
            case "gives_up":
                self._failure = printable(event["message"])
                log.warning("match %s: worker gave up: %s", self.match_id, self._failure)
            case "gone":
                self._replace_worker()

    def _note_search(self, play: _PendingPlay, event: dict[str, Any], kind: str) -> None:
        play.note_change()
        if event.get("fault"):
            play.fault, play.is_decided = parse_fault(event["fault"]), True
            return
        if kind != "best":
            play.report = event["report"]
        if kind != "report":
            play.best, play.is_final = event["move"], kind == "move"
            play.is_searched |= event.get("is_searched", True)
            play.is_decided |= play.is_final

    def _replace_worker(self) -> None:
        """Start another worker and send it the requests so far."""
        self._worker_ready.set()
        self._is_fed = False
        if self._current is not None and self._current.fault is None and not self._has_ended_worker:
            self._current.fault = Crashed(self._failure or "its process ended")
        self._is_choosing = self._has_ended_worker = False
        # A user-defined player ends its process, or has it ended, once in every move if it likes.
        most = _MAX_RESTARTS + (len(self._play_requests) if self._is_own else 0)
        if self._restarts >= most or not self.is_loaded:
            self._give_up_search("worker died")
            return
        self._restarts += 1
        log.warning("match %s: worker died; starting another one", self.match_id)
        # The start clock is long over: the new worker must not search before it catches up.
        self._start_request["deadline"] = time.monotonic()
        self._keep(self._start_worker())

    def _give_up_search(self, why: str) -> None:
        log.error("match %s: %s; continuing without search", self.match_id, why)
        self._has_search = False
        self._decide_now()

    def _decide_now(self) -> None:
        """Wait no longer for the worker's decision."""
        if self._current is not None:
            self._current.is_decided = True
            self._current.note_change()

    # --- PLAY -----------------------------------------------------------------------------------

    async def play(
        self,
        message: Play,
        deadline: float,
        latest: float,
        is_peer_gone: Callable[[], bool] = lambda: False,
    ) -> Answer:
        """The answer to `message`: a legal move, by `deadline`. A repeated message gets its first answer.

        latest   extended deadline if no legal move is known at `deadline`
        """
        self.last_heard = time.monotonic()
        self._is_peer_gone = is_peer_gone
        self._is_start_abandoned = lambda: False
        if self._pending is not None and self._pending[0] == message:
            return (await asyncio.shield(self._pending[1])).repeated()
        if self._answered is not None and self._is_repetition(message, self._answered[0]):
            return self._answered[1].repeated()
        task = asyncio.create_task(self._answer(message, deadline, latest))
        self._pending = (message, task)
        try:
            answer = await asyncio.shield(task)
        finally:
            if self._pending is not None and self._pending[1] is task:
                self._pending = None
        if answer.how != "guess" or message.terms is not None:
            self._answered = (message, answer)
        self.last_heard = time.monotonic()
        return answer

    def _is_repetition(self, message: Play, answered: Play) -> bool:
        """Whether a manager repeats a PLAY that was answered, as far as the message alone shows.

        Without a turn number, equal moves twice in a row may also be two steps. They are not if this role's
        move in them is not the one that it answered. Otherwise the state decides: `StateTracker` notes a
        repetition if the moves are not legal again.
        """
        if message.turn is not None and message.turn == answered.turn:
            return True
        if message != answered:
            return False
        if message.terms is None:
            return True
        if self._own_index is None or self._last_answer is None:
            return False
        return _texts(message.terms[self._own_index :][:1]) != (self._last_answer,)

    async def _answer(self, message: Play, deadline: float, latest: float) -> Answer:
        own_move = self._own_move(message)
        if not self._play_requests and _begins_match(message):
            message = replace(message, terms=None)
        play = self._current = _PendingPlay(len(self._play_requests), time.monotonic(), deadline, latest)
        request = {
            "ticket": play.ticket,
            "terms": _texts(message.terms),
            "own_move": own_move,
            "deadline": deadline - _slack(self.play_clock_seconds),
        }
        self._play_requests.append(request)
        if self._worker is not None and self._is_fed:
            self._worker.send("play", **request)
        await self._wait_for_move(play, request)
        position = play.position
        if known := self._known_answer(position):
            return Answer(self._spell(known[0]), "known", fault=known[1])
        move, how = self._choose(play)
        is_searched = how in ("decided", "best so far")
        # The short search replaces the search of a bundled agent, but not of a user-defined one.
        is_own = how == "only move" or (how == "short search" and not self._is_own)
        is_own, fault = is_own or (is_searched and (play.is_final or play.is_searched)), ""
        if not is_own:
            fault = shorten(printable(str(play.fault or Late())))
            self._faults[fault.partition(" ")[0]] += 1
            if self._is_own and self._is_choosing and self._worker and not self._worker.is_compiling:
                self._has_ended_worker = True  # its search for this move might never end
                self._worker.kill()
        if not (is_own or self._options.fallback):
            move, how = None, "none"
        if move is not None and position is not None and position.legal:
            self._answers[position.step, position.state] = move, fault
        self._last_answer = move
        text = f"error {fault}" if move is None else self._spell(move)
        return Answer(text, how, play.report if is_searched and how != "none" else None, fault)

    async def _wait_for_move(self, play: _PendingPlay, request: dict[str, Any]) -> None:
        """Wait for the decision until the deadline, and longer if otherwise only a guess could be sent."""
        following = self._keep(self._follow(play, request))
        finding = asyncio.create_task(self._find_move(play))
        finding.add_done_callback(lambda done: play.note_change())

        def has_legal_move() -> bool:
            has_failed = play.is_followed and not self._has_search
            return bool(play.position or play.best or has_failed or self._is_closed)

        try:
            await play.wait(finding.done, play.deadline)
            # An illegal move is as bad as a late one, and half of the margin is often enough.
            await play.wait(has_legal_move, play.latest)
            if self._options.fallback and play.position:
                # Nor should a random move be sent if a search finds one soon.
                await play.wait(lambda: bool(finding.done() or play.short or play.is_searched), play.latest)
            for task in (following, finding):
                if task.done():
                    task.result()
        finally:
            finding.cancel()

    async def _find_move(self, play: _PendingPlay) -> None:
        """Wait for the worker's decision; if it has no move at half-time, run the short search meanwhile."""
        await play.wait(lambda: play.is_followed)
        if (position := play.position) is not None:
            if self._known_answer(position) or len(position.legal) <= 1:
                return
            if self._has_search:
                await play.wait(lambda: play.is_decided, (play.begin + play.deadline) / 2)
            if self._options.fallback:
                await self._search_meanwhile(play)
        if self._has_search and not self._is_closed:
            await play.wait(lambda: play.is_decided)

    async def _search_meanwhile(self, play: _PendingPlay) -> None:
        """Run the short search until the worker has found a move or time is up."""
        end = play.deadline - _slack(self.play_clock_seconds)
        if not self._has_search:
            end = min(end, time.monotonic() + _ALONE_SECONDS)
        with contextlib.suppress(ChildError):
            while not (play.is_final or play.is_searched or self._is_closed):
                until = play.latest if play.short is None else end
                if time.monotonic() >= until:
                    break
                play.short = await self._states.search(_SLICE_SECONDS, until)
                play.note_change()

    def _known_answer(self, position: KnownPosition | None) -> tuple[str, str] | None:
        """The move already sent in `position`, if any, and the fault in it."""
        return None if position is None else self._answers.get((position.step, position.state))

    async def _follow(self, play: _PendingPlay, request: dict[str, Any]) -> None:
        """Advance the state process by one PLAY."""
        if self._loading is not None and not self._loading.done():
            await asyncio.wait({self._loading})
        terms, own_move = request["terms"], request["own_move"]
        try:
            position = await self._states.advance(terms, own_move, play.deadline)
        except ChildError as error:
            if not self._is_closed:
                log.error("match %s: cannot compute the state: %s", self.match_id, error)
        else:
            self._position = play.position = position
            if position.note:
                log.warning("match %s step %d: %s", self.match_id, position.step, printable(position.note))
        finally:
            play.is_followed = True
            play.note_change()

    def _own_move(self, message: Play | Stop) -> str | None:
        """This role's last move: as the manager reports it, else as answered."""
        return self._last_answer if message.last_move is None else str(message.last_move)

    def _choose(self, play: _PendingPlay) -> tuple[str | None, str]:
        """The best move so far and its source; it is legal if the position is known.

        Without `fallback` there may be none.
        """
        position, best = play.position, play.best
        found = "decided" if play.is_final else "best so far"
        if position is None:
            # The worker's engine may be faster than ours; its move is the best available.
            if best is not None:
                return best, found
            if not self._is_closed:
                log.error("match %s: state unknown at the deadline; sending a guess", self.match_id)
            return (self._position.legal[0] if self._position and self._position.legal else "noop"), "guess"
        if not position.legal:
            log.error("match %s step %d: no legal move for %s", self.match_id, position.step, self.role)
            return "noop", "guess"
        if len(position.legal) == 1:
            return position.legal[0], "only move"
        if best is None or not (play.is_searched or play.is_final):
            why = "worker sent none" if play.fault is None else printable(str(play.fault))
        elif position.is_cut or best in position.legal:
            return best, found
        else:
            why, play.fault = f"worker's {best} is not legal", Illegal(best)
        move: str | None = None
        if not self._options.fallback:
            found = "none"
        elif play.short is not None:
            move, found = play.short, "short search"
        else:
            move, found = self._rng.choice(position.legal), "random"
        kind = "no" if move is None else found
        log.warning("match %s step %d: %s move, %s", self.match_id, position.step, kind, why)
        return move, found

    def _spell(self, move: str) -> str:
        return spell(parse_term_or_name(move), self._spellings) if self._spellings else move

    # --- STOP and ABORT -------------------------------------------------------------------------

    def stop(self, message: Stop | None) -> None:
        """End the match; the worker gets a short time to finish. Does not wait."""
        self._is_closed = True
        self._states.close()
        terms = None if message is None else _texts(message.terms)
        if self._faults:
            kinds = ", ".join(f"{count} {code}" for code, count in self._faults.items())
            total = len(self._play_requests)
            text = "match %s: %d of %d moves were not the agent's own: %s"
            log.warning(text, self.match_id, self._faults.total(), total, kinds)
        if self._worker is not None:
            self._releasing = asyncio.create_task(self._workers.give_back(self._worker, terms))
        self._decide_now()  # a PLAY in progress need not wait for its clock

    async def close(self) -> None:
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1.0)
        if self._releasing is not None:
            await self._releasing

    def _keep(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # An exception that is no longer awaited needs no message at exit.
        task.add_done_callback(lambda done: None if done.cancelled() else done.exception())
        return task


def _texts(terms: tuple[Term, ...] | None) -> tuple[str, ...] | None:
    return None if terms is None else tuple(map(str, terms))


def _begins_match(message: Play) -> bool:
    """Whether the first PLAY reports no step: some managers send () or (NIL NIL) for NIL."""
    return not message.turn and message.last_move is None and set(message.terms or ()) <= {Symbol("nil")}


def _slack(clock_seconds: float) -> float:
    """Seconds by which the worker's deadline precedes ours, so that its decision arrives in time."""
    return min(0.1, 0.05 * clock_seconds)
