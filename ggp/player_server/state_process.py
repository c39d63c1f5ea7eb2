"""A process that computes with strangers' rules: `python -m ggp.player_server.state_process MIB`.

Rules from strangers may keep a reasoner busy for ever or exhaust memory, and a thread cannot be ended. So the
states of a match are computed here, under a memory limit, in a process that is killed if it does not stop.
Otherwise it serves one match after the other, without starting again.

It reads requests, one JSON object per line, and answers each in order: `{"result": …}`, or `{"error": text,
"is_rules": …}`, where `is_rules` says that the rules or the role are at fault, or `{"lost": why}` at its end.

    load      rules, role, engine, seed      what `Loaded` holds
    advance   terms, own_move, deadline      position
    search    cpu_seconds, deadline          the best move of a short search so far, or null
    forget                                   null; the match is over
"""

from __future__ import annotations

import gc
import json
import random
import sys
from collections.abc import Callable, Hashable
from typing import Any

from gdl.errors import GdlError, ReasoningError
from gdl.terms import Term
from ggp.beliefs.tracker import make_tracker
from ggp.beliefs.tracking import Position, Tracker
from ggp.engines.loading import load
from ggp.game import Game, GameError, has_percepts
from ggp.player_server.short_search import ShortSearch
from ggp.processes.child_end import (
    LineQueue,
    end_process_group,
    limit_memory,
    take_stdin,
    take_stdout,
)
from ggp.protocol.messages import ProtocolError, parse_term, parse_term_or_name

_SMALLEST_RULES = "(role x) (legal x noop) (init p) (next p) (goal x 0) (<= terminal (not (true p)))"

_MAX_LEGAL_CHARACTERS = 1_000_000
"""Of the text of legal moves sent to the server; what is beyond is left out."""


class StateProcess:
    """The match being followed, and one method per kind of request."""

    def __init__(self) -> None:
        self._game: Game[Any] | None = None
        self._tracker: Tracker | None = None
        self._rng = random.Random()
        self._role: Term | None = None
        self._numbers: dict[Hashable, int] = {}
        self._search: ShortSearch | None = None

    def answer(self, line: bytes) -> dict[str, Any]:
        """The reply to one request."""
        request = json.loads(line)
        methods: dict[str, Callable[..., Any]] = {
            "load": self.load,
            "advance": self.advance,
            "search": self.search,
            "forget": self.forget,
        }
        try:
            return {"result": methods[request.pop("do")](**request)}
        except (GdlError, GameError) as error:
            return {"error": str(error)[:2000], "is_rules": True}
        except ProtocolError as error:
            return {"error": str(error)[:2000], "is_rules": False}
        except MemoryError:
            raise
        except Exception as error:
            return {"error": repr(error)[:2000], "is_rules": False}

    def load(self, rules: str, role: str, engine: str, seed: int) -> dict[str, Any]:
        """Load the rules, and follow the match from its initial state."""
        self.forget()
        game = load_rules(rules, engine=engine)
        own = parse_term(role)
        if own not in game.roles:
            roles = " ".join(map(str, game.roles))
            raise GameError(f"no role {own} in the rules, only {roles or 'none'}")
        self._rng = random.Random(seed)
        tracker = make_tracker(game, own, self._rng)
        self._game, self._role, self._tracker = game, own, tracker
        return {
            "spellings": dict(game.program.spellings),
            "own_index": None if has_percepts(game) else game.roles.index(own),
            "position": self._described(tracker.position),
        }

    def advance(self, terms: list[str] | None, own_move: str | None, deadline: float) -> dict[str, Any]:
        """Follow the match one PLAY further."""
        if self._tracker is None:
            raise GameError("the rules are not loaded")
        self._search = None
        position = self._tracker.advance(
            None if terms is None else tuple(map(parse_term_or_name, terms)),
            None if own_move is None else parse_term_or_name(own_move),
            deadline,
        )
        return self._described(position)

    def search(self, cpu_seconds: float, deadline: float) -> str | None:
        """Search the current position for `cpu_seconds` more, until `deadline` at most."""
        if self._tracker is None or self._game is None or self._role is None:
            raise GameError("the rules are not loaded")
        if self._search is None:
            position = self._tracker.position
            self._search = ShortSearch(self._game, position.state, self._role, position.legal, self._rng)
        self._search.run(deadline, cpu_seconds=cpu_seconds)
        best = self._search.best()
        return None if best is None else str(best)

    def forget(self) -> None:
        """Drop the match and its memory."""
        self._game = self._tracker = self._search = None
        self._numbers = {}
        gc.collect()

    def _described(self, position: Position) -> dict[str, Any]:
        """A position for the server, which compares states by number."""
        legal: list[str] = []
        characters = 0
        for move in position.legal:
            text = str(move)
            characters += len(text)
            if characters > _MAX_LEGAL_CHARACTERS:
                break
            legal.append(text)
        return {
            "step": position.step,
            "state": self._numbers.setdefault(position.state, len(self._numbers)),
            "legal": legal,
            "is_cut": len(legal) < len(position.legal),
            "note": position.note,
        }


def load_rules(rules: str, *, engine: str, quick: bool = False) -> Game[Any]:
    """Load the game of a START message; never a file or a bundled game, whatever the text looks like.

    Raises GdlError for rules that cannot be used.
    """
    if "(" not in rules:
        raise ReasoningError("a START message without rules")
    return load(rules + "\n", engine=engine, name="START", quick=quick)


def main() -> None:
    """Serve requests until the input ends."""
    lines, stream = LineQueue(take_stdin()), take_stdout()
    limit_memory(int(sys.argv[1]))
    process = StateProcess()
    process.load(_SMALLEST_RULES, "x", "reasoner", 0)  # imports what every match needs
    process.forget()
    try:
        while True:
            try:
                reply = process.answer(lines.wait())
            except MemoryError:
                reply = {"lost": "the rules take too much memory"}
            stream.write(json.dumps(reply).encode() + b"\n")
            stream.flush()
            if "lost" in reply:
                break
    except (MemoryError, OSError):
        pass
    end_process_group(3)


if __name__ == "__main__":
    main()
