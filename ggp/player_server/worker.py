"""A search process: `python -m ggp.player_server.worker [own]`, started by the HTTP player.

It is reused from match to match. Its server kills the whole group, grounding children included, and it kills
its own group when standard input closes, because then the server is dead. Between requests the player
ponders, if pondering is on; it pauses while another match of the server starts or is to move. Terms are KIF
text; deadlines are `time.monotonic()` seconds, which all processes of a machine share. With `own` the agent
is user-defined, and nothing that it starts outlives the process. Requests:

    prepare   agent                               compile, cache and load its kernels; answered
    start     see `StartRequest`                  answered when the agent is ready
    play      see `PlayRequest`                   not answered: events follow
    ponder    may_ponder                          whether the player may think in others' turns; not answered
    stop      terms                               of STOP, null after ABORT; answered when the match is over

Events:

    best      ticket, move, is_searched           the best move so far, first one that no search has found
    report    ticket, report                      progress of the search, a few times per second
    move      ticket, move, report, fault         the decision, and the fault of an agent without one, as in
                                                  match records; then the move is any, or empty
    gives_up  message                             the process ends
"""

from __future__ import annotations

import gc
import logging
import math
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gdl.program import unpack
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.beliefs.tracking import Position, StateTracker
from ggp.engines.loading import finished_game, make_game
from ggp.game import Game, Move, has_percepts, hides_information
from ggp.jit.compiling import watch_compilation
from ggp.match.faults import Crashed, Fault, Illegal, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.native.compile_limit import COMPILE_THREAD
from ggp.player_server.preparation import prepare
from ggp.players.factory import make_player
from ggp.players.own import author_traceback, error_text, is_own_player
from ggp.processes.child_end import (
    FULL_STATUS,
    Parent,
    end_process_group,
    guard_group,
    keep_group,
    limit_memory,
    release_memory,
)
from ggp.protocol.messages import parse_term, parse_term_or_name, printable
from ggp.search.report import SearchReport

log = logging.getLogger("ggp.player")

SIMPLIFICATION_SHARE = 0.5
"""Share of the start clock to wait for the simplified circuit before starting without it."""
PONDERING_PATIENCE_SECONDS = 5.0
"""Seconds beyond the longer clock after which the manager counts as gone and pondering stops."""
LONGEST_PONDERING_SECONDS = 600.0
"""Limit for long clocks: a stranger's START with clocks of a week must not keep a core busy that long."""
_THREADS_SECONDS, _THREADS_WALL_SECONDS = 0.5, 1.0
"""Limits for the threads of a match after its end: CPU time, and wall time of waiting threads."""


@dataclass(frozen=True)
class StartRequest:
    """A match to get ready for. `program` is packed (`gdl.program`)."""

    program: str
    match_id: str
    role: str
    agent: str
    engine: str
    start_clock_seconds: float
    play_clock_seconds: float
    seed: int
    memory_mebibytes: int
    ponder: bool
    deadline: float


@dataclass(frozen=True)
class PlayRequest:
    """Advance the match by one PLAY and search for a move.

    ticket     number of this request, repeated in the events
    terms      the list of the PLAY message; None for NIL
    own_move   the role's last move, as far as known; None if unknown
    """

    ticket: int
    terms: Sequence[str] | None
    own_move: str | None
    deadline: float


@dataclass
class AgentMatch:
    """The agent's side of one match.

    tracker     None in games with `sees`, which the player's belief follows
    send        an event by its name and values, from any thread
    is_own      the player is user-defined: its exceptions are its faults
    ticket      of the PLAY request being answered; -1 before the first
    pondering_seconds   after an answer; 0: the player does not ponder
    may_ponder  False while another match of the server is to move
    fault       why it makes no moves
    finished    the game on the simplified circuit, once the player is prepared for it
    """

    player: Player
    tracker: StateTracker | None
    game: Game[Any]
    send: Callable[..., None]
    is_own: bool = False
    ticket: int = -1
    pondering_seconds: float = 0.0
    may_ponder: bool = True
    fault: Fault | None = None
    finished: Game[Any] | None = None
    _ponder_until: float = -math.inf
    _shown: set[str] = field(default_factory=set)

    def play(self, requests: Sequence[PlayRequest]) -> None:
        """Advance through all of `requests` and answer only the last: the others are outdated."""
        self.ticket, fault = requests[-1].ticket, self.fault
        try:
            if fault is None:
                self._play(requests)
        except BaseException as error:
            fault = self.fault_of(error)
        if fault is not None:
            self.send("move", ticket=self.ticket, move="", report=None, fault=str(fault))

    def fault_of(self, error: BaseException) -> Fault:
        """The fault of the player that an exception shows. Raises `error` if it is not the player's."""
        if isinstance(error, PlayerFaultError):
            return error.fault
        if not self.is_own:
            raise error
        if (text := error_text(error)) not in self._shown:
            self._shown.add(text)
            log.error("%s failed\n%s", self.player.name, author_traceback(error))
        return Crashed(text)

    def _play(self, requests: Sequence[PlayRequest]) -> None:
        for request in requests:
            position = self._follow(request)
        # A process that has replaced another one catches up first, perhaps with PLAYs answered by now.
        is_over = self.is_own and time.monotonic() > requests[-1].deadline
        if is_over or not position.legal:
            return
        self.send_best(position.legal[0], is_searched=False)
        move, fault = self._chosen_move(position, requests[-1].deadline), ""
        if move not in position.legal:
            log.error("%s chose %s, which is not legal: the first legal move instead", self.player.name, move)
            move, fault = position.legal[0], str(Illegal(printable(shorten(str(move)))))
        report = self.player.last_report and self.player.last_report.to_dict()
        self.send("move", ticket=self.ticket, move=str(move), report=report, fault=fault)

    def _follow(self, request: PlayRequest) -> Position:
        """The position after one more request."""
        own_move = None if request.own_move is None else parse_term_or_name(request.own_move)
        terms = _parse_terms(request.terms)
        if self.tracker is not None:
            return self.tracker.advance(terms, own_move, request.deadline)
        if terms is not None or self.player.belief.position.step > 0:
            self.player.observe(Observation(own_move, terms or ()), request.deadline)
        return self.player.belief.position

    def _chosen_move(self, position: Position, deadline: float) -> Move:
        if self.tracker is None:
            return self.player.choose_by_observations(deadline)
        state: Any = position.state
        if self.finished is not None:
            if self.player.setup.game is self.game:
                self.player.change_game(self.finished)
                log.info("%s: playing on with the simplified circuit", self.player.setup.match_id)
            state = self.game.translate(state)  # type: ignore[attr-defined]
        return self.player.choose(state, deadline, position.joint_move)

    def prepare_change(self) -> None:
        """Wait for the simplified circuit and build the player's search, so that no PLAY is delayed."""
        finished = finished_game(self.game)
        if finished is not None and finished is not self.game:
            try:
                self.player.prepare_change(finished)
            except Exception as error:
                log.error("no change to the simplified circuit", exc_info=error)
            else:
                self.finished = finished

    def begin_pondering(self) -> None:
        self._ponder_until = time.monotonic() + self.pondering_seconds

    def ponder(self, is_over: Callable[[], bool]) -> None:
        """Ponder until `is_over()` or the time limit, unless pondering is paused."""
        if self.may_ponder and not is_over() and time.monotonic() < self._ponder_until:
            self.player.ponder(is_over, self._ponder_until)

    def send_report(self, report: SearchReport) -> None:
        if self.ticket >= 0:
            self.send("report", ticket=self.ticket, report=report.to_dict())

    def send_best(self, move: Move, *, is_searched: bool = True) -> None:
        """Send the best move so far; nothing before the first PLAY."""
        if self.ticket >= 0:
            self.send("best", ticket=self.ticket, move=str(move), is_searched=is_searched)


def main() -> None:
    if sys.argv[1:] == ["own"]:
        guard_group()
        keep_group()
    parent = Parent()
    watch_compilation(lambda is_compiling: parent.send_event("compiling", is_compiling=is_compiling))
    try:
        _serve(parent)
    except MemoryError:
        parent.send_event("gives_up", message="out of memory")
        end_process_group(FULL_STATUS)
    except Exception as error:
        parent.send_event("gives_up", message=f"{type(error).__name__}: {error}"[:2000])
        end_process_group(1)
    end_process_group()


def _serve(parent: Parent) -> None:
    """Follow requests until a match leaves threads behind."""
    match: AgentMatch | None = None
    idle_threads = set(threading.enumerate())
    while True:
        plays: list[PlayRequest] = []
        for request in parent.next_all():
            do, number = request.pop("do"), request.pop("number", None)
            if do == "prepare":
                prepare(request["agent"])
                release_memory()
            elif do == "start":
                match = _start(StartRequest(**request), parent.send_event)
                gc.freeze()  # collecting the circuit and all modules would stop every thread for 0.1 s
            elif do == "play":
                plays.append(PlayRequest(**request))
            elif do == "ponder" and match is not None:
                match.may_ponder = request["may_ponder"]
            elif do == "stop":
                if match is not None:
                    match.player.stop(_parse_terms(request["terms"]))
                match, plays = None, []
                # Threads that compile are bounded themselves, and what they compile is kept.
                left = {each for each in threading.enumerate() if each.name != COMPILE_THREAD}
                if not _have_ended(left - idle_threads):
                    return
                release_memory()
            if number is not None:
                parent.send({"number": number, "result": None})
        if plays and match is not None:
            match.play(plays)
            match.begin_pondering()
        if match is not None:
            match.ponder(parent.has_requests)


def _start(request: StartRequest, send: Callable[..., None]) -> AgentMatch:
    limit_memory(request.memory_mebibytes)
    player = make_player(
        request.agent,
        on_progress=lambda move: match.send_best(move),
        on_report=lambda report: match.send_report(report),
    )
    game = make_game(unpack(request.program), "START", request.engine, quick=player.takes_quick_games)
    # In GDL-II whole histories are sampled on the game, which needs the simplified circuit.
    patience = None if has_percepts(game) else SIMPLIFICATION_SHARE * (request.deadline - time.monotonic())
    game = finished_game(game, patience if patience is None else max(0.0, patience)) or game
    role = parse_term(request.role)
    tracker = None if has_percepts(game) else StateTracker(game, role)
    match = AgentMatch(player, tracker, game, send, is_own_player(request.agent))
    clocks = request.start_clock_seconds, request.play_clock_seconds
    ponders = player.ponders or (request.ponder and not player.is_counted)
    if ponders and (player.ponders_on_observations or not hides_information(game)):
        seconds = max(clocks) + PONDERING_PATIENCE_SECONDS
        match.pondering_seconds = min(seconds, LONGEST_PONDERING_SECONDS)
    try:
        player.start(MatchSetup(request.match_id, game, role, *clocks, request.seed), request.deadline)
    except BaseException as error:
        match.fault = match.fault_of(error)
    if finished_game(game, seconds=0.0) is not game:
        threading.Thread(target=match.prepare_change, daemon=True).start()
    match.begin_pondering()
    return match


def _have_ended(threads: set[threading.Thread]) -> bool:
    """Whether `threads` have ended, or do so soon."""
    until, wall_until = time.process_time() + _THREADS_SECONDS, time.monotonic() + _THREADS_WALL_SECONDS
    while living := [thread for thread in threads if thread.is_alive()]:
        if time.process_time() >= until or time.monotonic() >= wall_until:
            return False
        living[0].join(0.05)
    return True


def _parse_terms(texts: Sequence[str] | None) -> tuple[Term, ...] | None:
    return None if texts is None else tuple(map(parse_term_or_name, texts))


if __name__ == "__main__":
    main()
