"""A process that evaluates strangers' rules: `python -m ggp.player_server.state_process MIB`.

Rules from strangers may keep a reasoner busy forever or exhaust memory, and a thread cannot be killed. So the
states of a match are computed here, under a memory limit, in a process that is killed if it does not stop.
Otherwise it is reused for the next match. Requests, answered in order:

    parse     rules                        the packed `program`, also for the search process, and
                                           `spellings` of names
    load      role, seed                   own_index, position
    advance   terms, own_move, deadline    position
    search    cpu_seconds, deadline        the best move of a short search so far, or null
    forget                                 null; the match is over
"""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Hashable
from itertools import accumulate
from typing import Any

from gdl.errors import GdlError, ReasoningError
from gdl.program import Program, pack
from gdl.syntax.parser import parse
from gdl.terms import Term
from ggp.beliefs.belief import make_tracker
from ggp.beliefs.tracking import Position, Tracker
from ggp.engines.loading import make_game
from ggp.game import Game, GameError, has_percepts
from ggp.player_server.short_search import ShortSearch
from ggp.processes.child_end import Parent, serve
from ggp.protocol.messages import ProtocolError, parse_term, parse_term_or_name

_SMALLEST_RULES = "(role x) (legal x noop) (init p) (next p) (goal x 0) (<= terminal (not (true p)))"

_MAX_LEGAL_CHARACTERS = 1_000_000
"""Maximum length of the legal moves sent to the server; the rest is omitted."""


class StateProcess:
    """The current match, and one method per kind of request."""

    def __init__(self) -> None:
        self._program: Program | None = None
        self._game: Game[Any] | None = None
        self._tracker: Tracker | None = None
        self._rng = random.Random()
        self._role: Term | None = None
        self._numbers: dict[Hashable, int] = {}
        self._search: ShortSearch | None = None

    def parse(self, rules: str) -> dict[str, Any]:
        """Parse the rules of a START; the text is never taken for a file or a bundled game."""
        if "(" not in rules:
            raise ReasoningError("a START message without rules")
        self.forget()
        self._program = parse(rules + "\n", name="START")
        return {"program": pack(self._program), "spellings": dict(self._program.spellings)}

    def load(self, role: str, seed: int) -> dict[str, Any]:
        if self._program is None:
            raise GameError("no rules")
        game, own = make_game(self._program, "START", "reasoner"), parse_term(role)
        if own not in game.roles:
            roles = " ".join(map(str, game.roles))
            raise GameError(f"no role {own} in the rules, only {roles or 'none'}")
        self._game, self._role, self._rng = game, own, random.Random(seed)
        self._tracker = make_tracker(game, own, self._rng)
        own_index = None if has_percepts(game) else game.roles.index(own)
        return {"own_index": own_index, "position": self._described(self._tracker.position)}

    def advance(self, terms: list[str] | None, own_move: str | None, deadline: float) -> dict[str, Any]:
        if self._tracker is None:
            raise GameError("the rules are not loaded")
        self._search = None
        observed = None if terms is None else tuple(map(parse_term_or_name, terms))
        own = None if own_move is None else parse_term_or_name(own_move)
        return self._described(self._tracker.advance(observed, own, deadline))

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
        self._program = self._game = self._tracker = self._search = None
        self._numbers = {}
        gc.collect()

    def _described(self, position: Position) -> dict[str, Any]:
        """A position as data for the server, which compares states by number."""
        texts = list(map(str, position.legal))
        ends = accumulate(map(len, texts))
        legal = [text for text, end in zip(texts, ends, strict=True) if end <= _MAX_LEGAL_CHARACTERS]
        return {
            "step": position.step,
            "state": self._numbers.setdefault(position.state, len(self._numbers)),
            "legal": legal,
            "is_cut": len(legal) < len(position.legal),
            "note": position.note,
        }


def main() -> None:
    parent, process = Parent(), StateProcess()
    process.parse(_SMALLEST_RULES)
    process.load("x", 0)  # imports what every match needs
    process.forget()
    names = ("parse", "load", "advance", "search", "forget")
    mistakes = (GdlError, GameError, ProtocolError)
    serve(parent, {name: getattr(process, name) for name in names}, mistakes, int(sys.argv[1]))


if __name__ == "__main__":
    main()
