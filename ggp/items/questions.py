"""Random matches, and the kinds of question about them: wording and right answer.

Each function makes a question of one kind about a place in a random match. It returns None if the place does
not suit (no legal moves after the end, no goal given by the rules), or if the question was asked before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count, product
from statistics import fmean
from typing import Any, NamedTuple, TypeAlias

from ggp.game import RANDOM_ROLE, Game, GoalError, Move, Role
from ggp.items.wording import Wording
from ggp.match.terms import derived_seed
from ggp.solver import Solution
from ggp.solver.stages import ENDLESS

Answer: TypeAlias = bool | float | list[str] | dict[str, Any]

DIGITS = 6
"""Decimal places of expectations; goals are integers."""


class Walk:
    """A random match in words: its states in order, numbered from 0, and the joint moves between them.

    rng        generator of the moves, which the questions continue to use
    is_ended   whether the last state is terminal
    """

    def __init__(
        self,
        game: Game[Any],
        wording: Wording,
        rng: random.Random,
        states: list[Any],
        joint_moves: list[tuple[Move, ...]],
        is_ended: bool,
    ) -> None:
        self.game, self.wording, self.rng = game, wording, rng
        self.states, self.joint_moves, self.is_ended = states, joint_moves, is_ended
        self.step_count = len(states) - 1
        self._facts: dict[int, list[str]] = {}
        self._listed: dict[int, str] = {}

    def moves_key(self, place: int, steps: int) -> Hashable:
        """A key that two walks share only if their next joint moves are the same."""
        return tuple(self.joint_moves[place : place + steps])

    def facts(self, place: int) -> list[str]:
        """The facts true at a place, sorted by their terms."""
        if place not in self._facts:
            self._facts[place] = self.wording.texts(self.game.facts(self.states[place]))
        return self._facts[place]

    def listed_facts(self, place: int) -> str:
        """The facts as one text."""
        if place not in self._listed:
            self._listed[place] = self.wording.listed(self.facts(place))
        return self._listed[place]

    def legal(self, place: int, role: Role) -> list[str]:
        """The legal moves of a role."""
        return self.wording.texts(self.game.legal_moves(self.states[place], role))

    def choosing(self, place: int) -> list[Role]:
        """The roles with several legal moves."""
        state, legal_moves = self.states[place], self.game.legal_moves
        return [role for role in self.game.roles if len(legal_moves(state, role)) > 1]

    def goal(self, place: int, role: Role) -> int | None:
        """The goal of a role; None if the rules give none, or several."""
        try:
            return self.game.goal(self.states[place], role)
        except GoalError:
            return None

    def percepts(self, place: int, role: Role) -> list[str]:
        """The percepts of a role after the joint move of a place."""
        return self.wording.texts(self.game.percepts(self.states[place], self.joint_moves[place], role))

    def joint_move(self, place: int) -> str:
        """The joint move that follows a place."""
        return self.wording.joint_move(self.game.roles, self.joint_moves[place])


def random_walks(
    game: Game[Any],
    wording: Wording,
    seed: int,
    step_limit: int,
    is_over: Callable[[], bool] = lambda: False,
) -> Iterator[Walk]:
    """Uniformly random matches without end, each to its end or for `step_limit` joint moves.

    is_over   polled often: whether to stop

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> walk = next(random_walks(game, Wording(game.program), seed=1, step_limit=3))
    >>> walk.step_count, walk.is_ended, walk.joint_move(0)
    (3, False, '(does x (mark 2 3)) (does o noop)')

    Raises GameError if a role has no legal move.
    """
    for number in count():
        if is_over():
            return
        rng = random.Random(derived_seed(seed, f"walk {number}"))
        states: list[Any] = [game.initial_state()]
        joint_moves: list[tuple[Move, ...]] = []
        while not (is_ended := game.is_terminal(states[-1])):
            if len(joint_moves) >= step_limit or is_over():
                break
            choices = [game.legal_moves(states[-1], role) for role in game.roles]
            joint_moves.append(tuple([moves[int(rng.random() * len(moves))] for moves in choices]))
            states.append(game.next_state(states[-1], joint_moves[-1]))
        yield Walk(game, wording, rng, states, joint_moves, is_ended)


class Question(NamedTuple):
    """A question in words, its right answer, and its difficulty.

    state_size   facts of the state
    horizon      joint moves to look ahead; None: best play need not end
    """

    text: str
    answer: Answer
    state_size: int
    horizon: int | None


@dataclass
class Asker:
    """Source of the questions about one game.

    solution   None: the values of states are not known
    horizon    joint moves that a question looks ahead at most
    asked      hashes of the questions so far: the same is not asked again
    """

    game: Game[Any]
    wording: Wording
    solution: Solution | None = None
    horizon: int = 5
    asked: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.players = [role for role in self.game.roles if role != RANDOM_ROLE]

    def role(self, walk: Walk) -> Role:
        """A role that is not chance."""
        return self.players[int(walk.rng.random() * len(self.players))]

    def is_new(self, kind: str, walk: Walk, place: int, *rest: Hashable) -> bool:
        """Whether this is a new question; marks it as asked.

        Tested before any text is made, because in games of few states most questions are old.
        """
        key = hash((kind, walk.states[place], rest))
        if key in self.asked:
            return False
        self.asked.add(key)
        return True


def _question(
    walk: Walk, place: int, rest: str, answer: Answer, horizon: int | None = 0, moves: str = ""
) -> Question:
    """The question `rest` about the state of a place, after `moves` if there are any."""
    shown = f"State: {walk.listed_facts(place)}\n{moves}{rest}"
    return Question(shown, answer, len(walk.facts(place)), horizon)


def _moves(walk: Walk, place: int, steps: int = 1) -> str:
    """Lines with the joint moves that follow a place in a walk."""
    if steps == 1:
        return f"Moves: {walk.joint_move(place)}\n"
    return "".join(f"Moves {n}: {walk.joint_move(place + n - 1)}\n" for n in range(1, steps + 1))


def _is_end(walk: Walk, place: int) -> bool:
    return walk.is_ended and place == walk.step_count


def _often_the_end(walk: Walk, place: int) -> int:
    """The last place half of the time, because few states of a long match have a goal or are terminal."""
    return walk.step_count if walk.rng.random() < 0.5 else place


def _legal(asker: Asker, walk: Walk, place: int) -> Question | None:
    if _is_end(walk, place):
        return None
    role = asker.role(walk)
    if not asker.is_new("legal", walk, place, role):
        return None
    text = f"Which moves are legal for {asker.wording.text(role)}?"
    return _question(walk, place, text, walk.legal(place, role))


def _next(asker: Asker, walk: Walk, place: int) -> Question | None:
    if place >= walk.step_count or not asker.is_new("next", walk, place, walk.moves_key(place, 1)):
        return None
    text = "Which facts hold in the next state?"
    return _question(walk, place, text, walk.facts(place + 1), 1, _moves(walk, place))


def _ahead(asker: Asker, walk: Walk, place: int) -> Question | None:
    most = min(asker.horizon, walk.step_count - place)
    if most < 2:
        return None
    steps = walk.rng.randint(2, most)
    if not asker.is_new("ahead", walk, place, walk.moves_key(place, steps)):
        return None
    text = "Which facts hold after these moves?"
    return _question(walk, place, text, walk.facts(place + steps), steps, _moves(walk, place, steps))


def _goal(asker: Asker, walk: Walk, place: int) -> Question | None:
    place, role = _often_the_end(walk, place), asker.role(walk)
    if not asker.is_new("goal", walk, place, role) or (goal := walk.goal(place, role)) is None:
        return None
    return _question(walk, place, f"Which goal value has {asker.wording.text(role)} in this state?", goal)


def _turn(asker: Asker, walk: Walk, place: int) -> Question | None:
    if _is_end(walk, place) or not asker.is_new("turn", walk, place):
        return None
    choosing = asker.wording.texts(walk.choosing(place))
    return _question(walk, place, "Which roles have more than one legal move?", choosing)


def _terminal(asker: Asker, walk: Walk, place: int) -> Question | None:
    place = _often_the_end(walk, place)
    if not asker.is_new("terminal", walk, place):
        return None
    return _question(walk, place, "Is this state terminal?", _is_end(walk, place))


def _percepts(asker: Asker, walk: Walk, place: int) -> Question | None:
    if place >= walk.step_count:
        return None
    role = asker.role(walk)
    if not asker.is_new("percepts", walk, place, role, walk.moves_key(place, 1)):
        return None
    text = f"What does {asker.wording.text(role)} see when these moves are made?"
    return _question(walk, place, text, walk.percepts(place, role), 1, _moves(walk, place))


def _value(asker: Asker, walk: Walk, place: int) -> Question | None:
    solution, role = asker.solution, asker.role(walk)
    if solution is None or _is_end(walk, place) or not asker.is_new("value", walk, place, role):
        return None
    text = f"Which goal does {asker.wording.text(role)} get, or expect, under best play?"
    value = _rounded(solution.values(walk.states[place])[asker.game.roles.index(role)])
    return _question(walk, place, text, value, _plies_left(solution, walk.states[place]))


def _best(asker: Asker, walk: Walk, place: int) -> Question | None:
    solution, state = asker.solution, walk.states[place]
    if solution is None or _is_end(walk, place) or not asker.is_new("best", walk, place):
        return None
    choosing = [role for role in walk.choosing(place) if role != RANDOM_ROLE]
    if len(choosing) != 1:
        return None
    found = regrets(solution, state, choosing[0])
    if not any(found.values()):
        return None
    regret = {asker.wording.text(move): loss for move, loss in found.items()}
    answer = {"best": [move for move, loss in regret.items() if loss == 0], "regret": regret}
    text = f"Name a best move of {asker.wording.text(choosing[0])}."
    return _question(walk, place, text, answer, _plies_left(solution, state))


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
    **{kind: (kind,) for kind in ("legal", "next", "goal", "terminal")},
    "ahead": ("next",),
    "turn": ("legal",),
    "percepts": ("sees",),
    **dict.fromkeys(SOLVED_KINDS, ("legal", "next", "terminal", "goal")),
}
"""Kind → the relations of GDL that its answer follows from."""


def has_one_meaning(solution: Solution) -> bool:
    """Whether every state has the same value in all equilibria.

    That holds for one role, and for two whose goals have a constant sum, unless play may be endless.

    >>> import ggp
    >>> has_one_meaning(ggp.solve(ggp.load("tictactoe")))
    True
    """
    players = [role for role in solution.game.roles if role != RANDOM_ROLE]
    is_zero_sum = len(players) == 2 and solution.sum is not None
    return (len(players) == 1 or is_zero_sum) and solution.endless is None


def regrets(solution: Solution, state: Any, role: Role) -> dict[Move, float]:
    """The loss of each move of the only role that can choose, in goals under best play afterwards.

    >>> import ggp
    >>> game = ggp.load("nim")
    >>> found = regrets(ggp.solve(game), game.initial_state(), game.roles[0])
    >>> len(found), min(found.values())
    (16, 0)
    """
    game = solution.game
    r = game.roles.index(role)
    legal = [game.legal_moves(state, each) for each in game.roles]
    goals = {}
    for move in legal[r]:
        choices = [(move,) if place == r else moves for place, moves in enumerate(legal)]
        goals[move] = fmean(
            solution.values(game.next_state(state, joint_move))[r] for joint_move in product(*choices)
        )
    best = max(goals.values())
    return {move: _rounded(best - goal) for move, goal in goals.items()}


def _plies_left(solution: Solution, state: Any) -> int | None:
    """Joint moves until best play ends; None if it need not end."""
    depth = solution.worth(state).depth
    return None if depth == ENDLESS else depth


def _rounded(value: float) -> float:
    whole = round(value)
    return whole if abs(value - whole) < 10.0**-DIGITS else round(value, DIGITS)
