"""Positions with known answers, and games that begin in them.

A position is given to a player as a rule sheet whose `init` facts are those of the position, so players
over HTTP can be asked like those in this process.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeAlias

from gdl.parser import parse_term
from gdl.printer import to_kif
from gdl.terms import Compound
from ggp.loading import find_own_rules, read_program


@dataclass(frozen=True)
class Place:
    """Where a position is from: what all kinds have in common.

    game    name of a sheet in `games/`
    facts   of the state, as records write it
    role    who is asked
    """

    id: str
    skill: str
    game: str
    facts: str
    role: str


@dataclass(frozen=True)
class Choice:
    """One move is asked for; `good_moves` are all that keep the value of the position."""

    place: Place
    legal_count: int
    good_moves: tuple[str, ...]


@dataclass(frozen=True)
class PlayOut:
    """A puzzle is played on to its end.

    best_goal   what perfect play gets
    solution    moves that get it
    """

    place: Place
    best_goal: int
    solution: tuple[str, ...]

    @property
    def move_limit(self) -> int:
        """Moves after which the attempt counts as it stands."""
        return 2 * len(self.solution) + 2


@dataclass(frozen=True)
class Mixture:
    """A move of a simultaneous zero-sum game is asked for many times.

    moves    the role's, in legal order: the rows of `payoff`
    payoff   what the role gets for each of its moves against each of the opponent's, if both play on well
    value    what it gets by its best mixture
    """

    place: Place
    moves: tuple[str, ...]
    payoff: tuple[tuple[float, ...], ...]
    value: float


Position: TypeAlias = Choice | PlayOut | Mixture

SKILLS: Mapping[str, str] = {
    "tactics 1": "wins at once",
    "tactics 2": "stops a win at once",
    "tactics 3": "forces a win in 3 moves",
    "tactics 4": "stops a forced win",
    "tactics 5": "forces a win in 5 moves",
    "strategy": "keeps the value of a solved game",
    "puzzles": "solves what one role can solve",
    "simultaneous": "mixes moves and drops dominated ones",
}
"""Skill → what who has it does. A depth counts the moves of both sides to the end."""


@functools.cache
def load_positions() -> tuple[Position, ...]:
    """All positions that come with the package."""
    text = (resources.files("ggp.assessment") / "positions.json").read_text(encoding="utf-8")
    return tuple(position_from_data(entry) for entry in json.loads(text))


def position_from_data(data: Mapping[str, Any]) -> Position:
    """A position as positions.json writes it."""
    place = Place(*(data[key] for key in ("id", "skill", "game", "facts", "role")))
    if "good_moves" in data:
        return Choice(place, data["legal_count"], tuple(data["good_moves"]))
    if "solution" in data:
        return PlayOut(place, data["best_goal"], tuple(data["solution"]))
    return Mixture(
        place, tuple(data["moves"]), tuple(tuple(row) for row in data["payoff"]), float(data["value"])
    )


def position_to_data(position: Position) -> dict[str, Any]:
    """The inverse of `position_from_data`."""
    place = position.place
    data: dict[str, Any] = {
        "id": place.id,
        "skill": place.skill,
        "game": place.game,
        "role": place.role,
        "facts": place.facts,
    }
    match position:
        case Choice():
            data |= {"legal_count": position.legal_count, "good_moves": list(position.good_moves)}
        case PlayOut():
            data |= {"best_goal": position.best_goal, "solution": list(position.solution)}
        case Mixture():
            rows = [list(row) for row in position.payoff]
            data |= {"moves": list(position.moves), "payoff": rows, "value": position.value}
    return data


def rules_at(place: Place) -> str:
    """The rules of the place's game with its facts as the initial state.

    Whatever lies in the current folder: the answers are known for the sheets of this package only.
    """
    program, _ = read_program(find_own_rules(place.game))
    kept = [to_kif(rule) for rule in program.rules if rule.predicate != ("init", 1)]
    state = parse_term(f"(state {place.facts.strip()[1:-1]})")
    assert isinstance(state, Compound)
    return "\n".join([*kept, *(f"(init {fact})" for fact in state.arguments)]) + "\n"
