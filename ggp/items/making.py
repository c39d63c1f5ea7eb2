"""From a game to its items: questions with answers, reproducible by their seed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, NamedTuple

from gdl.dependencies import DISTINCT, Dependencies
from gdl.program import Program
from ggp.game import Game, GameError, has_percepts
from ggp.integers import check_integers
from ggp.items.questions import (
    QUESTIONS,
    RELATIONS,
    SOLVED_KINDS,
    Answer,
    Asker,
    Question,
    has_one_meaning,
    random_walks,
)
from ggp.items.wording import Notation, Wording
from ggp.solver import Solution, SolverError, SolverLimits, solve

SCHEMA = 1
KINDS = tuple(QUESTIONS)
QUESTIONS_PER_STATE = 3
"""Maximum number of questions about a state: matches cost more than questions."""
MIN_WALKS = 100
"""Minimum number of matches over which items are spread, if there are enough items."""
FRUITLESS_WALKS = 500
"""Matches in a row without a new question after which making items ends."""
SOLVER_MEBIBYTES = 1024


@dataclass(frozen=True)
class ItemTerms:
    """Number and kinds of the items of one game.

    kinds          those that suit the game; see `QUESTIONS`
    is_scrambled   whether names are replaced by unrelated words
    horizon        maximum joint moves that a question looks ahead
    step_limit     maximum joint moves of a random match
    solver_states  games of more states are not solved
    seconds        time limit for all items of the game
    """

    count: int = 100
    seed: int = 0
    kinds: tuple[str, ...] = KINDS
    notation: Notation = "kif"
    is_scrambled: bool = False
    horizon: int = 5
    step_limit: int = 200
    solver_states: int = 100_000
    seconds: float = 600.0

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, count=0, seed=None, horizon=0, step_limit=0, solver_states=0)


class Item(NamedTuple):
    """One question with its right answer.

    answer       a list (in any order), a number, true or false; of "best" the best moves, and the regret of
                 every legal move, in goals
    state_size   facts of the state
    horizon      joint moves to look ahead: 0 for the state itself, of "value" and "best" the length of best
                 play; None if that need not end
    rule_depth   longest chain of rules that the answer needs, see `rule_depths`
    """

    id: str
    game: str
    kind: str
    notation: Notation
    question: str
    answer: Answer
    state_size: int
    horizon: int | None
    rule_depth: int

    def to_json(self, heading: str = "") -> str:
        """This item as a line of JSON, `heading` before the question; four times as fast as `json.dumps`.

        >>> item = Item("a-1", "a", "legal", "kif", "State: nothing", ["wait"], 0, None, 1)
        >>> json.loads(item.to_json("Rules"))["question"]
        'RulesState: nothing'
        """
        horizon = "null" if self.horizon is None else self.horizon
        given = self.answer
        answer = f"[{', '.join(map(quoted, given))}]" if isinstance(given, list) else json.dumps(given)
        return (
            f'{{"schema": {SCHEMA}, "id": {quoted(self.id)}, "game": {quoted(self.game)}, '
            f'"kind": "{self.kind}", "notation": "{self.notation}", '
            f'"question": {quoted(heading + self.question)}, "answer": {answer}, '
            f'"difficulty": {{"horizon": {horizon}, "state_size": {self.state_size}, '
            f'"rule_depth": {self.rule_depth}}}}}'
        )


class ItemMaker:
    """Makes the items of one game; `notes` explains missing items.

    >>> import ggp
    >>> game = ggp.load("tictactoe", engine="reasoner")
    >>> maker = ItemMaker(game, ItemTerms(count=1, kinds=("terminal",)))
    >>> for item in maker.items():
    ...     print(item.question, item.answer)
    State: (cell 3 3 x) (control o)
    Is this state terminal? False

    name    of the game in ids; None: its own
    clock   `time.monotonic`, or what replaces it
    """

    def __init__(
        self,
        game: Game[Any],
        terms: ItemTerms,
        *,
        name: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.game, self.terms, self.clock = game, terms, clock
        self.name = game.name if name is None else name
        seed = terms.seed if terms.is_scrambled else None
        self.wording = Wording(game.program, terms.notation, seed)
        self.notes: list[str] = []

    def items(self) -> Iterator[Item]:
        """At most `terms.count` different items.

        Raises GameError if the rules leave a role without a move, ReasoningError if a state is too large.
        """
        game, terms = self.game, self.terms
        self.notes.clear()
        deadline = self.clock() + terms.seconds
        solution = self._solution(deadline)
        absent = set() if has_percepts(game) else {"percepts"}
        absent |= set(SOLVED_KINDS) if solution is None else set()
        kinds = tuple(kind for kind in terms.kinds if kind not in absent)
        depths = rule_depths(game.program)
        depth_of = {kind: max(depths.get(name, 0) for name in RELATIONS[kind]) for kind in kinds}
        prefix = f"{self.name}-{terms.seed}-"
        made = 0
        for kind, question in self._questions(kinds, solution, deadline):
            if made >= terms.count:
                return
            made += 1
            yield Item(f"{prefix}{made}", self.name, kind, terms.notation, *question, depth_of[kind])
        if made < terms.count:
            reason = "hardly any others exist" if kinds else "no such question suits the game"
            reason = "time is up" if self.clock() > deadline else reason
            self.notes.append(f"only {made:,} of {terms.count:,} items: {reason}")

    def _questions(
        self, kinds: tuple[str, ...], solution: Solution | None, deadline: float
    ) -> Iterator[tuple[str, Question]]:
        asker = Asker(self.game, self.wording, solution, self.terms.horizon)
        fruitless = 0
        walks = random_walks(
            self.game, self.wording, self.terms.seed, self.terms.step_limit, lambda: self.clock() > deadline
        )
        for walk in walks if kinds else ():
            if fruitless >= FRUITLESS_WALKS:
                return
            fruitless += 1
            places, draw = walk.step_count + 1, walk.rng.random
            for _ in range(max(1, min(QUESTIONS_PER_STATE * places, self.terms.count // MIN_WALKS))):
                kind = kinds[int(draw() * len(kinds))]
                question = QUESTIONS[kind](asker, walk, int(draw() * places))
                if question is not None:
                    fruitless = 0
                    yield kind, question

    def _solution(self, deadline: float) -> Solution | None:
        terms = self.terms
        if not set(SOLVED_KINDS) & set(terms.kinds) or terms.solver_states == 0:
            return None
        limits = SolverLimits(
            mebibytes=SOLVER_MEBIBYTES, states=terms.solver_states, deadline=deadline, may_use_disk=False
        )
        try:
            solution = solve(self.game, limits)
        except (SolverError, GameError, MemoryError) as error:
            self.notes.append(f"no value, no best: {error or 'out of memory'}")
            return None
        if not has_one_meaning(solution):
            self.notes.append("no value, no best: the values of states depend on which equilibrium is played")
            return None
        return solution


def rule_depths(program: Program) -> dict[str, int]:
    """Relation → the longest chain of rules below it.

    A relation of facts alone has depth 0, like the state and the moves; one with rules has one more than the
    deepest relation in their bodies. Relations that need each other count as one.

    >>> from gdl.syntax.parser import parse
    >>> depths = rule_depths(parse("(<= terminal line) (<= line (row ?x)) (<= (row ?x) (true (cell ?x)))"))
    >>> depths["terminal"], depths["row"]
    (3, 1)
    """
    dependencies = Dependencies(program)
    depth = {DISTINCT: 0}
    for component in dependencies.components:
        callees = {callee for predicate in component for callee in dependencies.callees(predicate)}
        below = max((depth[callee] for callee in callees if callee in depth), default=0)
        for predicate in component:
            depth[predicate] = below + bool(callees)
    by_name: dict[str, int] = {}
    for predicate, value in depth.items():
        by_name[predicate.name] = max(value, by_name.get(predicate.name, 0))
    return by_name
