"""The kinds of question: wording and right answer.

Each function asks one kind about a place in a random match. It returns None if that place has nothing to ask
about: no legal moves after the end, no goal that the rules give.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ggp.game import RANDOM_ROLE, Game, GoalError, Role
from ggp.items.solved import chooser, plies_left, regrets, value_of
from ggp.items.walks import Walk
from ggp.items.wording import Wording
from ggp.solver import Solution

Answer: TypeAlias = bool | float | list[str] | dict[str, Any]


class Question(NamedTuple):
    """A question in words, its right answer, and what makes it difficult.

    state_size   facts of the state
    horizon      joint moves to look ahead; None: best play need not end
    """

    text: str
    answer: Answer
    state_size: int
    horizon: int | None


@dataclass
class Asker:
    """What the questions about one game are made from.

    solution   None: the values of states are not known
    horizon    joint moves that a question looks ahead at most
    facts      the texts of facts, by state; may be cleared at any time
    """

    game: Game[Any]
    wording: Wording
    rng: random.Random
    solution: Solution | None = None
    horizon: int = 5
    facts: dict[Hashable, list[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.players = [role for role in self.game.roles if role != RANDOM_ROLE]

    def role(self) -> Role:
        """A role that is not chance."""
        return self.players[int(self.rng.random() * len(self.players))]

    def put(
        self, state: Any, rest: str, answer: Answer, horizon: int | None = 0, moves: str = ""
    ) -> Question:
        """The question `rest` about `state`, after `moves` if there are any."""
        facts = self.facts_of(state)
        shown = f"State: {self.wording.listed(facts)}\n{moves}{rest}"
        return Question(shown, answer, len(facts), horizon)

    def facts_of(self, state: Any) -> list[str]:
        """The texts of the facts true in `state`."""
        texts = self.facts.get(state)
        if texts is None:
            texts = self.facts[state] = self.wording.texts(self.game.facts(state))
        return texts

    def moves(self, walk: Walk, place: int, steps: int = 1) -> str:
        """Lines with the joint moves that follow a place in a walk."""
        lines = [
            self.wording.joint_move(self.game.roles, joint_move)
            for joint_move in walk.joint_moves[place : place + steps]
        ]
        if steps == 1:
            return f"Moves: {lines[0]}\n"
        return "".join(f"Moves {number}: {line}\n" for number, line in enumerate(lines, start=1))


def _legal(asker: Asker, walk: Walk, place: int) -> Question | None:
    if _is_end(walk, place):
        return None
    state, role = walk.states[place], asker.role()
    moves = asker.wording.texts(asker.game.legal_moves(state, role))
    return asker.put(state, f"Which moves are legal for {asker.wording.text(role)}?", moves)


def _next(asker: Asker, walk: Walk, place: int) -> Question | None:
    if place >= len(walk.joint_moves):
        return None
    facts = asker.facts_of(walk.states[place + 1])
    text = "Which facts hold in the next state?"
    return asker.put(walk.states[place], text, facts, 1, asker.moves(walk, place))


def _ahead(asker: Asker, walk: Walk, place: int) -> Question | None:
    most = min(asker.horizon, len(walk.joint_moves) - place)
    if most < 2:
        return None
    steps = asker.rng.randint(2, most)
    facts = asker.facts_of(walk.states[place + steps])
    text = "Which facts hold after these moves?"
    return asker.put(walk.states[place], text, facts, steps, asker.moves(walk, place, steps))


def _goal(asker: Asker, walk: Walk, place: int) -> Question | None:
    state, role = walk.states[_often_the_end(asker, walk, place)], asker.role()
    try:
        goal = asker.game.goal(state, role)
    except GoalError:
        return None
    return asker.put(state, f"Which goal value has {asker.wording.text(role)} in this state?", goal)


def _turn(asker: Asker, walk: Walk, place: int) -> Question | None:
    if _is_end(walk, place):
        return None
    state, game = walk.states[place], asker.game
    choosing = [role for role in game.roles if len(game.legal_moves(state, role)) > 1]
    return asker.put(state, "Which roles have more than one legal move?", asker.wording.texts(choosing))


def _terminal(asker: Asker, walk: Walk, place: int) -> Question | None:
    place = _often_the_end(asker, walk, place)
    return asker.put(walk.states[place], "Is this state terminal?", _is_end(walk, place))


def _percepts(asker: Asker, walk: Walk, place: int) -> Question | None:
    if place >= len(walk.joint_moves):
        return None
    state, role = walk.states[place], asker.role()
    seen = asker.wording.texts(asker.game.percepts(state, walk.joint_moves[place], role))
    text = f"What does {asker.wording.text(role)} see when these moves are made?"
    return asker.put(state, text, seen, 1, asker.moves(walk, place))


def _value(asker: Asker, walk: Walk, place: int) -> Question | None:
    solution, state, role = asker.solution, walk.states[place], asker.role()
    if solution is None or _is_end(walk, place):
        return None
    text = f"Which goal does {asker.wording.text(role)} get, or expect, under best play?"
    return asker.put(state, text, value_of(solution, state, role), plies_left(solution, state))


def _best(asker: Asker, walk: Walk, place: int) -> Question | None:
    solution, state = asker.solution, walk.states[place]
    role = None if solution is None or _is_end(walk, place) else chooser(solution, state)
    if solution is None or role is None:
        return None
    regret = {asker.wording.text(move): given for move, given in regrets(solution, state, role).items()}
    if not any(regret.values()):
        return None
    answer = {"best": [move for move, given in regret.items() if given == 0], "regret": regret}
    text = f"Name a best move of {asker.wording.text(role)}."
    return asker.put(state, text, answer, plies_left(solution, state))


def _is_end(walk: Walk, place: int) -> bool:
    return walk.is_ended and place == len(walk.states) - 1


def _often_the_end(asker: Asker, walk: Walk, place: int) -> int:
    """Half of the time the last place: few states of a long match have a goal, or are terminal."""
    return len(walk.states) - 1 if asker.rng.random() < 0.5 else place


QUESTIONS: Mapping[str, Callable[[Asker, Walk, int], Question | None]] = {
    "legal": _legal,
    "next": _next,
    "ahead": _ahead,
    "goal": _goal,
    "turn": _turn,
    "terminal": _terminal,
    "percepts": _percepts,
    "value": _value,
    "best": _best,
}
"""Kind → its question."""

SOLVED_KINDS = ("value", "best")
"""Kinds that need the values of states."""

RELATIONS: Mapping[str, tuple[str, ...]] = {
    "legal": ("legal",),
    "next": ("next",),
    "ahead": ("next",),
    "goal": ("goal",),
    "turn": ("legal",),
    "terminal": ("terminal",),
    "percepts": ("sees",),
    "value": ("legal", "next", "terminal", "goal"),
    "best": ("legal", "next", "terminal", "goal"),
}
"""Kind → the relations of GDL that its answer follows from."""
