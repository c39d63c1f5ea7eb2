"""The process of a user-defined player: `python -m ggp.players.own_process MEBIBYTES`, started by `OwnSeat`.

It answers the requests of its seat, each a method of `_Agent`: a result, the fault that the player is at, or
an error in its spec. What the player prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from gdl.program import unpack
from gdl.syntax.parser import parse_term
from gdl.terms import Compound, Symbol, Term
from ggp.beliefs.observation import Observation
from ggp.engines.batches import state_of_facts
from ggp.engines.loading import make_game
from ggp.game import Game, hides_information, is_compiled
from ggp.match.faults import Crashed, Illegal, shorten
from ggp.match.player import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.players.factory import make_player
from ggp.players.own import AuthorError, author_traceback, error_text
from ggp.players.own_seat import TRAITS
from ggp.players.warm_up import play_trial
from ggp.processes.child_end import Parent, guard_group, keep_group, limit_memory
from ggp.protocol.messages import parse_term_or_name

_GAMES_KEPT = 16
_TERMS_KEPT = 100_000
_TRIAL_STEPS = 3

parse_fact = lru_cache(maxsize=_TERMS_KEPT)(parse_term)


@lru_cache(maxsize=_GAMES_KEPT)
def _game(program: str, name: str, engine: str) -> Game[Any]:
    return make_game(unpack(program), name, engine)


class _Agent:
    """The player of the current match."""

    player: Player
    game: Game[Any]

    def __init__(self, parent: Parent) -> None:
        self._parent = parent
        self._tried: set[str] = set()
        self._threads = threading.active_count()
        self._shown: set[str] = set()

    def show(self, error: BaseException) -> None:
        """Print the traceback of an error of the author, once for all moves, from the author's code on."""
        if (text := error_text(error)) not in self._shown:
            self._shown.add(text)
            sys.stderr.write(f"{author_traceback(error)}\n")

    def make(self, spec: str) -> dict[str, Any]:
        """Make the player of the coming match."""
        self.player, self._spec = make_player(spec), spec
        return {name: getattr(self.player, name) for name in ("name", *TRAITS)}

    def prepare(self, program: str, name: str, engine: str) -> None:
        """Make the game and compile what the player needs for it; `program`: packed."""
        self.game = _game(program, name, engine)
        self.player.prepare(self.game)

    def play_trial(self) -> None:
        """Play a short match by another instance, which compiles what `prepare` did not."""
        rules = self.game.program.source.text
        has_kernels = is_compiled(self.game) and not hides_information(self.game)
        if has_kernels and rules not in self._tried:
            self._tried.add(rules)
            with contextlib.suppress(BaseException):  # the match will show it
                play_trial(make_player(self._spec), self.game, _TRIAL_STEPS)

    def start(self, role: str, deadline: float, **setup: Any) -> None:
        self.player.start(MatchSetup(game=self.game, role=parse_term(role), **setup), deadline)

    def observe(self, own_move: str | None, percepts: Sequence[str], deadline: float) -> None:
        own = None if own_move is None else parse_term(own_move)
        self.player.observe(Observation(own, tuple(map(parse_fact, percepts))), deadline)

    def choose(
        self, facts: Sequence[str] | None, joint_move: Sequence[str] | None, deadline: float
    ) -> dict[str, Any]:
        """The player's move; without facts by what it has observed."""
        if facts is None:
            move = self.player.choose_by_observations(deadline)
        else:
            state = state_of_facts(self.game, map(parse_fact, facts))
            joint = None if joint_move is None else tuple(map(parse_fact, joint_move))
            move = self.player.choose(state, deadline, joint)
        if not isinstance(move, Symbol | Compound):
            raise PlayerFaultError(Illegal(f"{move!r} is of type {type(move).__name__}, not a term"))
        report = self.player.last_report
        return {
            "move": str(move),
            "report": None if report is None else report.to_dict(),
            "simulations": self.player.simulation_count,
        }

    def ponder(self, deadline: float) -> None:
        self.player.ponder(self._parent.has_requests, deadline)

    def stop(self, terms: Sequence[str] | None) -> bool:
        """End the match; return whether nothing of it still runs, so that the process can be reused."""
        parsed: tuple[Term, ...] | None = None if terms is None else tuple(map(parse_term_or_name, terms))
        self.player.stop(parsed)
        return threading.active_count() <= self._threads and not _has_children()


def _has_children() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except OSError:
        return False


def answer(agent: _Agent, request: dict[str, Any]) -> dict[str, Any]:
    """The answer to a request, whatever the player does."""
    reply = {"number": request.pop("number", None)}
    do = request.pop("do")
    try:
        return {**reply, "result": {"value": getattr(agent, do)(**request)}}
    except PlayerFaultError as error:
        fault = str(error.fault)
    except AuthorError as error:
        agent.show(error.__cause__ or error)
        fault = str(Crashed(str(error).removeprefix(f"player {request.get('spec')!r}: ")))
    except PlayerSpecError as error:
        return {**reply, "error": str(error)}
    except BaseException as error:  # SystemExit, too
        agent.show(error)
        fault = str(Crashed(error_text(error)))
    return {**reply, "result": {"fault": shorten(fault)}}


def main() -> None:
    """Serve the seat that has started this process."""
    guard_group()
    keep_group()
    parent = Parent()
    limit_memory(int(sys.argv[1]))
    agent, own, is_watched = _Agent(parent), os.getpid(), False
    while True:
        request = parent.next()
        if request["do"] == "halt":  # its arrival has ended the pondering
            continue
        if not is_watched and request["do"] == "prepare" and request["engine"] != "reasoner":
            from ggp.jit.compiling import watch_compilation  # loads numba

            watch_compilation(lambda is_compiling: parent.send_event("compiling", is_compiling=is_compiling))
            is_watched = True
        number = request.get("number")
        try:
            parent.send(answer(agent, request))
        except (TypeError, ValueError) as error:  # a report or count that is not JSON
            fault = shorten(str(Crashed(error_text(error))))
            parent.send({"number": number, "result": {"fault": fault}})
        if os.getpid() != own:  # the author's code has forked
            os._exit(0)


if __name__ == "__main__":
    main()
