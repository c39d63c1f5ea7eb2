"""Test positions with known answers, and the rules of games that start there.

A player gets a position as a rule sheet whose `init` facts are those of the position, so that players over
HTTP are tested in the same way as local ones.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeAlias

from gdl.syntax.parser import parse_term
from gdl.syntax.printer import to_kif
from gdl.terms import Compound
from ggp.engines.loading import find_own_rules, read_program


@dataclass(frozen=True)
class Place:
    """Common fields of all kinds of positions.

    game    name of a sheet in `games/`
    facts   the state, in the notation of match records
    role    the role to move
    """

    id: str
    skill: str
    game: str
    facts: str
    role: str


@dataclass(frozen=True)
class Choice:
    """A position in which one move is asked for; `good_moves` keep the value of the game."""

    place: Place
    legal_count: int
    good_moves: tuple[str, ...]


@dataclass(frozen=True)
class PlayOut:
    """A puzzle position, played to the end.

    best_goal   goal of perfect play
    solution    moves that reach it
    """

    place: Place
    best_goal: int
    solution: tuple[str, ...]

    @property
    def move_limit(self) -> int:
        """Number of moves after which the current goal counts."""
        return 2 * len(self.solution) + 2


@dataclass(frozen=True)
class Mixture:
    """A position of a simultaneous zero-sum game, in which a move is asked for many times.

    moves    the role's legal moves: the rows of `payoff`
    payoff   goal for each of its moves against each of the opponent's, if both play perfectly afterwards
    value    goal of its optimal mixed strategy
    """

    place: Place
    moves: tuple[str, ...]
    payoff: tuple[tuple[float, ...], ...]
    value: float


Position: TypeAlias = Choice | PlayOut | Mixture

SKILLS: Mapping[str, str] = {
    "tactics 1": "wins in one move",
    "tactics 2": "blocks a win in one move",
    "tactics 3": "forces a win in 3 moves",
    "tactics 4": "prevents a forced win",
    "tactics 5": "forces a win in 5 moves",
    "strategy": "keeps the value of a solved game",
    "puzzles": "solves single-player games",
    "simultaneous": "randomizes, and avoids dominated moves",
}
"""Skill → its description. Depths count the moves of both sides."""


@functools.cache
def load_positions() -> tuple[Position, ...]:
    """All bundled positions."""
    text = (resources.files("ggp.assessment") / "positions.json").read_text(encoding="utf-8")
    return tuple(map(_position_from, json.loads(text)))


def _position_from(data: Mapping[str, Any]) -> Position:
    place = Place(*(data[key] for key in ("id", "skill", "game", "facts", "role")))
    if "good_moves" in data:
        return Choice(place, data["legal_count"], tuple(data["good_moves"]))
    if "solution" in data:
        return PlayOut(place, data["best_goal"], tuple(data["solution"]))
    return Mixture(
        place, tuple(data["moves"]), tuple(tuple(row) for row in data["payoff"]), float(data["value"])
    )


def rules_at(place: Place) -> str:
    """The rules of the game, with the facts of `place` as initial state.

    Sheets in the current folder are ignored: the answers are known for the bundled sheets only.
    """
    program, _ = read_program(find_own_rules(place.game))
    kept = [to_kif(rule) for rule in program.rules if rule.predicate != ("init", 1)]
    state = parse_term(f"(state {place.facts.strip()[1:-1]})")
    assert isinstance(state, Compound)
    return "\n".join([*kept, *(f"(init {fact})" for fact in state.arguments)]) + "\n"
