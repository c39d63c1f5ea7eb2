"""The seat of a user-defined player, which runs in a separate process.

A player that does not answer is killed at its deadline, one that fails is at fault, and both continue: a dead
process is replaced before the next clock starts. Processes are reused for later matches.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from gdl.program import pack
from gdl.terms import Term
from ggp.beliefs.observation import Observation
from ggp.game import Game, Move, engine_of
from ggp.match.faults import Crashed, Fault, Illegal, Late, parse_fault, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.players.own import own_code, own_place
from ggp.processes.child import Child, ChildError, ChildGoneError, ChildLateError
from ggp.protocol.messages import ProtocolError, parse_term_or_name, printable

MEBIBYTES = 4096
"""Default limit on the memory of each process."""
TRAITS = ("ponders", "ponders_on_observations", "is_counted", "needs_lanes")
"""Attributes of the player that its seat takes over."""

_logger = logging.getLogger("ggp")

_MAKE_SECONDS = 60.0
"""Time limit for importing and making a player."""
_PREPARE_SECONDS = 60.0
"""Time limit for preparing a game, compiling excluded."""
_TRIAL_SECONDS = 10.0
"""Time limit of the three moves before the first clock, compiling excluded."""
_COMPILING_SECONDS = 600.0
_STOP_SECONDS = 1.0
_OUT_OF_TURN = "its process answered out of turn"
_POLL_SECONDS = 0.01
_NAME_CHARACTERS = 40
_MAX_IDLE = 4
"""Processes kept for later matches."""

_Key: TypeAlias = tuple[Path, str, int, int]
"""Key of reusable processes: working directory, file or module, its version, and memory."""

_idle: list[tuple[_Key, Child]] = []
_hopeless: dict[tuple[_Key, str], Fault] = {}
"""Players that once took too long to be made or prepared; they are not waited for again."""
_untried: set[tuple[_Key, str]] = set()
"""Players that must not be tried before the match."""


@dataclass(frozen=True)
class _Report:
    content: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        return self.content


class OwnSeat(Player):
    """A user-defined player in a separate process.

    mebibytes   limit of its memory
    fault       why it makes no moves in this match; usually None

    Raises PlayerSpecError if there is no such class; one whose code fails is at fault.
    """

    keeps_time = True
    plays_unstarted = True

    def __init__(self, spec: str, mebibytes: int = MEBIBYTES) -> None:
        self._child: Child | None = None
        self._spec, self._mebibytes = spec, mebibytes
        place = own_place(spec)
        assert place is not None
        version = Path(place).stat().st_mtime_ns if Path(place).is_file() else 0
        self._key: _Key = Path.cwd(), place, version, mebibytes
        self._prepared: Game[Any] | None = None
        self._observations: list[Observation] = []
        self.name = (own_code(spec) or spec).removeprefix(place)[1:].partition(":")[0]
        self._class = self._key, self.name
        self.fault = _hopeless.get(self._class)
        if self.fault is None:
            with self._hopeless_if_late():
                about = self._make()
                self.name = printable(str(about["name"]), _NAME_CHARACTERS)
                for trait in TRAITS:
                    setattr(self, trait, bool(about[trait]))

    def __del__(self) -> None:
        self._release(may_serve=self._setup is None)

    # --- before the clock -------------------------------------------------------------------------

    def _make(self) -> dict[str, Any]:
        """Take a process and make the player in it."""
        while self._child is None:
            found = next((each for each in _idle if each[0] == self._key), None)
            if found is None:
                self._child = Child("ggp.players.own_process", str(self._mebibytes))
            else:
                _idle.remove(found)
                self._child = None if found[1].is_gone else found[1]
        about: dict[str, Any] = self._ask("make", time.monotonic() + _MAKE_SECONDS, spec=self._spec)
        return about

    def prepare(self, game: Game[Any]) -> None:
        self._prepared = game
        if self.fault is None:
            with self._hopeless_if_late():
                self._prepare()

    def _prepare(self) -> None:
        """Let the process load the game and compile what it needs; without a trial if that does not end."""
        game = self._prepared
        assert game is not None
        engine, program = engine_of(game), pack(game.program)
        given = {"program": program, "name": game.name, "engine": "auto" if engine == "other" else engine}
        if self._child is None:
            self._make()
        self._ask("prepare", time.monotonic() + _PREPARE_SECONDS, **given)
        if self._class in _untried:
            return
        try:
            self._ask("play_trial", time.monotonic() + _TRIAL_SECONDS)
        except PlayerFaultError:
            _untried.add(self._class)
            self._make()
            self._ask("prepare", time.monotonic() + _PREPARE_SECONDS, **given)

    @contextlib.contextmanager
    def _hopeless_if_late(self) -> Any:
        """Apply a fault to the whole match, and a timeout to all matches."""
        try:
            yield
        except PlayerFaultError as error:
            self.fault = error.fault
            if isinstance(error.fault, Late):
                self.fault = _hopeless[self._class] = Crashed("not ready for a match in a minute")
                _logger.warning("%s is not ready for a match in a minute: it makes no moves", self._spec)

    def get_ready(self) -> None:
        if self.fault is not None or (self._child is not None and not self._child.is_gone):
            return
        self._release(may_serve=False)
        if self._setup is None or self._prepared is None:
            return
        with self._hopeless_if_late():
            self._prepare()
        if self.fault is None:
            self._start_again()

    def _start_again(self) -> None:
        """Bring a new process to where the match is; a fault at it applies to the rest of the match."""
        deadline = time.monotonic() + self.setup.start_clock_seconds
        try:
            self._start(deadline)
            for observation in self._observations:
                self._observe(observation, deadline)
        except PlayerFaultError as error:
            self.fault = error.fault

    # --- the match --------------------------------------------------------------------------------

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        self._observations = []
        if self._prepared is not setup.game:
            self.prepare(setup.game)
            deadline = time.monotonic() + setup.start_clock_seconds
        self._require_no_fault()
        try:
            self._start(deadline)
        except PlayerFaultError as error:
            self.fault = error.fault
            raise

    def _start(self, deadline: float) -> None:
        setup = self.setup
        names = ("match_id", "start_clock_seconds", "play_clock_seconds", "seed", "grace_seconds")
        given = {name: getattr(setup, name) for name in names}
        self._ask("start", deadline + setup.grace_seconds, role=str(setup.role), deadline=deadline, **given)

    def change_game(self, game: Game[Any]) -> None:
        self._setup = replace(self.setup, game=game)

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        facts = list(map(str, self.setup.game.facts(state)))
        return self._choose(facts, None if joint_move is None else list(map(str, joint_move)), deadline)

    def observe(self, observation: Observation, deadline: float) -> None:
        self._observations.append(observation)
        self._require_no_fault()
        self._observe(observation, deadline)

    def _observe(self, observation: Observation, deadline: float) -> None:
        own = None if observation.own_move is None else str(observation.own_move)
        given = {"own_move": own, "percepts": list(map(str, observation.percepts)), "deadline": deadline}
        self._ask("observe", deadline + self.setup.grace_seconds, **given)

    def choose_by_observations(self, deadline: float) -> Move:
        return self._choose(None, None, deadline)

    def _choose(self, facts: list[str] | None, joint_move: list[str] | None, deadline: float) -> Move:
        self.last_report = None
        self._require_no_fault()
        limit = deadline + self.setup.grace_seconds
        chosen = self._ask("choose", limit, facts=facts, joint_move=joint_move, deadline=deadline)
        try:
            text = printable(chosen["move"])
            self.last_report = None if chosen["report"] is None else _Report(chosen["report"])
            self.simulation_count = chosen["simulations"]
        except (TypeError, KeyError):
            self._release(may_serve=False)
            raise PlayerFaultError(Crashed(_OUT_OF_TURN)) from None
        try:
            return parse_term_or_name(text)
        except ProtocolError:
            raise PlayerFaultError(Illegal(shorten(text))) from None

    def ponder(self, is_over: Callable[[], bool], deadline: float) -> None:
        if not self.ponders or self._child is None or self.fault is not None:
            return
        pondering = self._child.ask("ponder", deadline=deadline)
        while not is_over() and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        self._child.send("halt")
        with contextlib.suppress(PlayerFaultError):  # the next move shows it
            self._result(pondering, time.monotonic() + self.setup.grace_seconds)

    def stop(self, terms: tuple[Term, ...] | None) -> None:
        may_serve = False
        if self._setup is not None and self._child is not None and self.fault is None:
            texts = None if terms is None else list(map(str, terms))
            try:
                may_serve = bool(self._ask("stop", time.monotonic() + _STOP_SECONDS, terms=texts))
            except PlayerFaultError as error:
                _logger.warning("%s after its match: %s", self._spec, error)
        self._release(may_serve=may_serve)
        super().stop(terms)

    # --- the process ------------------------------------------------------------------------------

    def _require_no_fault(self) -> None:
        if self.fault is not None:
            raise PlayerFaultError(self.fault)

    def _ask(self, do: str, until: float, **arguments: Any) -> Any:
        """The result of a request. Raises PlayerFaultError, PlayerSpecError."""
        if self._child is None:
            self.get_ready()
        self._require_no_fault()
        assert self._child is not None
        compiling = _COMPILING_SECONDS if do in ("prepare", "play_trial") else 0.0
        return self._result(self._child.ask(do, **arguments), until, compiling)

    def _result(self, future: Future[Any], until: float, compiling_seconds: float = 0.0) -> Any:
        """The result of a request; a process that is late or has ended is given up. Raises as `_ask`."""
        assert self._child is not None
        try:
            answer = self._child.wait(future, until, compiling_seconds=compiling_seconds)
        except ChildGoneError as error:
            self._release(may_serve=False)
            fault = Late() if isinstance(error, ChildLateError) else Crashed(str(error))
            raise PlayerFaultError(fault) from None
        except ChildError as error:
            raise PlayerSpecError(str(error)) from None
        if not isinstance(answer, dict) or not ("value" in answer or "fault" in answer):
            self._release(may_serve=False)  # later answers would not match later requests
            raise PlayerFaultError(Crashed(_OUT_OF_TURN))
        if "fault" in answer:
            raise PlayerFaultError(parse_fault(printable(str(answer["fault"]))) or Crashed("unknown"))
        return answer["value"]

    def _release(self, *, may_serve: bool) -> None:
        """Keep the process for another match, or end it."""
        child, self._child = self._child, None
        if child is None:
            return
        if may_serve and not child.is_gone:
            _idle.append((self._key, child))
            if len(_idle) <= _MAX_IDLE:
                return
            child = _idle.pop(0)[1]
        child.close()
