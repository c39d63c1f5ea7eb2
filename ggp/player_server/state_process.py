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
import time
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
from ggp.game import Game, GameError, Move, Role, has_percepts, legal_or_none
from ggp.processes.child_end import Parent, serve
from ggp.protocol.messages import ProtocolError, parse_term, parse_term_or_name

_SMALLEST_RULES = "(role x) (legal x noop) (init p) (next p) (goal x 0) (<= terminal (not (true p)))"

_MAX_LEGAL_CHARACTERS = 1_000_000
"""Maximum length of the legal moves sent to the server; the rest is omitted."""


_DEPTH_LIMIT = 80
"""Steps after which a playout counts as undecided."""
_UNDECIDED = 50.0


class ShortSearch:
    """Fallback for a search process without a move: mean goals of random playouts after each move, in turn.

    It uses the reasoner, at a few hundred playouts per second, and can be run in small slices.

    >>> import ggp, time
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> state, role = game.initial_state(), game.roles[0]
    >>> search = ShortSearch(game, state, role, game.legal_moves(state, role), random.Random(1))
    >>> for _ in range(90):
    ...     search.run(time.monotonic() + 60, cpu_seconds=0.0)
    >>> search.playouts, str(search.best())
    (90, '(mark 2 2)')
    """

    def __init__(
        self, game: Game[Any], state: Hashable, role: Role, legal: tuple[Move, ...], rng: random.Random
    ) -> None:
        self._game, self._state, self._role, self._rng = game, state, role, rng
        self._moves = list(legal)
        rng.shuffle(self._moves)
        self._sums, self._counts = [0.0] * len(legal), [0] * len(legal)
        self.playouts = 0

    def run(self, until: float, cpu_seconds: float) -> None:
        """Run playouts until `until` (`time.monotonic()`) or for `cpu_seconds`, at least one of them.

        A playout is not cut off by CPU time: on a busy machine none might ever finish.
        """
        cpu_until = time.process_time() + cpu_seconds
        while self._moves and time.monotonic() < until:
            index = self.playouts % len(self._moves)
            goal = self._playout(self._moves[index], until)
            if goal is None:
                return
            self._sums[index] += goal
            self._counts[index] += 1
            self.playouts += 1
            if time.process_time() >= cpu_until:
                return

    def best(self) -> Move | None:
        """The move with the highest mean so far; None before the first playout."""
        tried = [index for index, count in enumerate(self._counts) if count]
        best = max(tried, key=lambda index: self._sums[index] / self._counts[index], default=None)
        return None if best is None else self._moves[best]

    def _playout(self, move: Move, until: float) -> float | None:
        """The role's goal at the end of a random playout that begins with `move`; None if out of time."""
        game, state = self._game, self._state
        try:
            for depth in range(_DEPTH_LIMIT):
                if depth and game.is_terminal(state):
                    return float(game.goal(state, self._role))
                joint_move = tuple(
                    move if depth == 0 and role == self._role else self._random_move(state, role)
                    for role in game.roles
                )
                state = game.next_state(state, joint_move)
                if depth and time.monotonic() > until:
                    return None
        except GameError:
            pass  # no legal move, or no goal value
        return _UNDECIDED

    def _random_move(self, state: Hashable, role: Role) -> Move:
        legal = legal_or_none(self._game, state, role)
        if not legal:
            raise GameError(f"no legal move for {role}")
        return self._rng.choice(legal)


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
