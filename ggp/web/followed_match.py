"""The process of a match that is played elsewhere: `python -m ggp.web.followed_match MIB`.

It computes states with the reasoner from the moves that it is told, and makes none itself.

    open         rules, name, seats, role    what does not change during the match
    step         step, terms, own_move       null; the event `state` follows
    wait         roles                       null; the event `state` follows
    expect       role, goal                  null; what its search expects of the move it chose
    stop         note                        null; the event `state` follows
    snapshot                                 the event `state`
    view         step                        a state of the past
    record                                   the match as JSON of a match record
    animation                                the match as an SVG that plays by itself

`open` names the role through whose player the match is followed; null for a manager, who sees everything.
In games with `sees` that player's page shows its moves and percepts, and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gdl.syntax.parser import parse_term
from gdl.terms import Term
from ggp.analysis.figures import words_of
from ggp.analysis.picture import Picture, find_picture
from ggp.engines.loading import load
from ggp.game import GameError, has_percepts
from ggp.processes.child_end import LineQueue
from ggp.web.match_export import animation_text, record_text
from ggp.web.match_history import STEP_LIMIT, MatchHistory
from ggp.web.match_view import described_rules, moves_view, outcome, shown_state
from ggp.web.requests import RequestError, Wire, answer, serve

_LOST = "The moves reported here do not fit the rules: this page cannot follow the match any further"


@dataclass(frozen=True)
class _KnownStep:
    """A step as its player knows it; `values` in role order, as in `match_history.Step`."""

    own_move: Term | None
    percepts: tuple[Term, ...]
    values: tuple[float | None, ...]


class FollowedMatch:
    """One match as a manager or a player knows it; methods named in the module's docstring answer requests.

    >>> from ggp.web.server import read_rules
    >>> match = FollowedMatch(lambda event: None)
    >>> match.open(read_rules("tictactoe"), "tictactoe", ["a", "b"], None)["roles"]
    ['x', 'o']
    >>> match.step(1, ["(mark 2 2)", "noop"], None)
    >>> match.snapshot()["history"]
    [['mark 2 2', 'noop']]
    """

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._history: MatchHistory | None = None
        self._waiting: list[str] = []
        self._note = ""
        self._is_lost = False
        # What the followed player knows of each step in a game with `sees`: its move, percepts, expectations.
        self._known: list[_KnownStep] = []

    @property
    def history(self) -> MatchHistory:
        """The match. Raises RequestError before `open`."""
        if self._history is None:
            raise RequestError("no match is open")
        return self._history

    def open(self, rules: str, name: str, seats: list[str], role: str | None) -> dict[str, Any]:
        """Load the rules. Raises GdlError, RequestError.

        seats   names of the players in role order; if `role` is given, of its player alone
        """
        game = load(rules + "\n", engine="reasoner", name=name)
        roles = [str(each) for each in game.roles]
        if role is not None and role not in roles:
            raise RequestError(f"no role {role} in the rules")
        if role is not None:
            seats = [seats[0] if each == role else "" for each in roles]
        self._history, self._rules, self._seats = MatchHistory(game), rules, seats
        self._picture: Picture = find_picture(game.program, game.facts(game.initial_state()))
        is_hidden = has_percepts(game)
        self._own_index = None if role is None or not is_hidden else roles.index(role)
        return {
            "name": name,
            "roles": roles,
            "seats": seats,
            "is_hidden": is_hidden,
            "is_blind": self._is_blind,
            "is_replay": False,
            "is_live": True,
            **described_rules(rules),
            "own_role": role,
        }

    @property
    def _is_blind(self) -> bool:
        """Whether the rules hide the state from the followed player."""
        return self._own_index is not None

    @property
    def _last_step(self) -> int:
        return len(self._known) if self._is_blind else len(self.history.steps)

    def step(self, step: int, terms: list[str], own_move: str | None) -> None:
        """Follow the match to `step`; what is reported twice counts once.

        terms      the joint move in role order; for a player in a game with `sees`: its percepts
        own_move   of that player
        """
        if step <= self._last_step or self._is_lost or step > STEP_LIMIT:
            return
        told = tuple(map(parse_term, terms))
        if self._is_blind:
            expected, self.history.expected = self.history.expected, {}
            values = tuple(expected.get(role) for role in self.history.game.roles)
            self._known.append(_KnownStep(None if own_move is None else parse_term(own_move), told, values))
        else:
            try:
                if step > self._last_step + 1:
                    raise GameError("a step is missing")
                self.history.play(told)
            except (GameError, ValueError):
                self._is_lost = True
        self._send(self.snapshot())

    def wait(self, roles: list[str]) -> None:
        """Note whose moves are awaited."""
        self._waiting = roles
        self._send(self.snapshot())

    def expect(self, role: str, goal: float) -> None:
        """Note the goal that a search expects, for the chart."""
        self.history.expected[parse_term(role)] = goal

    def stop(self, note: str) -> None:
        """The match is over; `note` says how, where the rules do not."""
        self._waiting, self._note = [], note
        self._send(self.snapshot())

    def snapshot(self) -> dict[str, Any]:
        """The event `state`: the last state, or what the player knows, and who thinks."""
        history = self.history
        shown = {} if self._is_blind else shown_state(history, self._picture, self._last_step)
        is_over = not self._is_blind and history.is_over
        return {
            "event": "state",
            "step": self._last_step,
            **shown,
            "is_over": is_over,
            "outcome": "" if self._is_blind else outcome(history.game, history),
            "goals": None if self._is_blind else history.goals(),
            "person": None,
            "moves": [],
            "paths": [],
            "waiting": [] if is_over or self._is_lost else self._waiting,
            "fault": "",
            "note": _LOST if self._is_lost else "" if is_over else self._note,
            "history": self._known_moves() if self._is_blind else moves_view(history, None),
            "values": [list(step.values) for step in (self._known if self._is_blind else history.steps)],
            "percepts": [[words_of(term) for term in step.percepts] for step in self._known],
            "can_undo": False,
        }

    def _known_moves(self) -> list[list[str | None]]:
        """The moves of the followed player, at its place in the joint moves."""
        places = range(len(self.history.game.roles))
        moves = [None if step.own_move is None else words_of(step.own_move) for step in self._known]
        return [[move if place == self._own_index else None for place in places] for move in moves]

    def _require_open(self) -> None:
        if self._is_blind:
            raise RequestError("the rules hide the state from this player")

    def view(self, step: int) -> dict[str, Any]:
        """A state of the past. Raises RequestError if it is hidden or has not been reached."""
        self._require_open()
        if not 0 <= step <= self._last_step:
            raise RequestError(f"the match has not reached step {step}")
        return {"step": step, **shown_state(self.history, self._picture, step)}

    def record(self) -> str:
        """The match as the JSON text of a record. Raises RequestError if it is hidden."""
        self._require_open()
        return record_text(self.history, self._rules, self._seats, 0)

    def animation(self) -> str:
        """The match as an SVG document. Raises RequestError if it is hidden, and without a board."""
        self._require_open()
        return animation_text(self.history, self._picture)


def run(lines: LineQueue, wire: Wire) -> None:
    """Answer requests until the input ends."""
    match = FollowedMatch(wire.send)
    names = ("open", "step", "wait", "expect", "stop", "snapshot", "view", "record", "animation")
    methods: dict[str, Callable[..., Any]] = {name: getattr(match, name) for name in names}
    while True:
        wire.send(answer(lines.wait(), methods))


if __name__ == "__main__":
    serve(int(sys.argv[1]), run)
