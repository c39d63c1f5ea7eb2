"""Properties of a game decided over all its reachable states: `ggp validate --prove`.

Where the states are too many the same is asked of those that were explored: a match that refutes a
claim about all of them, or one that proves a claim about some, counts all the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from gdl.dependencies import strong_components
from ggp.compiled_game import NO_GOAL, CompiledGame
from ggp.game import Game, Move, Role
from ggp.game_properties import (
    CLAIMS,
    LONGEST,
    Declarations,
    Outcome,
    Property,
    Witness,
    counted,
    goal_fault,
    players_of,
)
from ggp.state_space import StateSpace, explore

BEST_GOAL = 100


def prove(
    game: Game[Any],
    declarations: Declarations,
    *,
    state_limit: int,
    seconds: float,
    progress: Callable[[int], None] | None = None,
) -> list[Property]:
    """What is true of `game`, proved or refuted where all states could be explored, else sampled."""
    space = explore(game, state_limit=state_limit, seconds=seconds, progress=progress)
    return [*_judged(_Judge(space, declarations))]


def _judged(judge: _Judge) -> Iterable[Property]:
    yield judge.size()
    yield from judge.ends()
    yield judge.moves()
    yield judge.goals()
    yield from judge.declared()
    yield from judge.winnable()
    yield from judge.forced()
    if len(judge.players) > 1:
        yield from judge.constant_sum()
        yield judge.turns()


class _Judge:
    """Looks properties up in a state space."""

    def __init__(self, space: StateSpace, declarations: Declarations) -> None:
        self.space = space
        self.game = space.game
        self.declarations = declarations
        self.players = players_of(space.game)
        self.seats = {role: r for r, role in enumerate(space.game.roles)}

    def every(self, statement: str, exception: int | None, detail: str = "", code: str = "") -> Property:
        """A claim about all states or matches; `exception` is a state that refutes it."""
        if exception is not None:
            return Property(statement, Outcome.REFUTED, detail, self.space.witness(exception), code)
        return Property(statement, self._all_or_sampled, self._how_many, None, code)

    def some(self, statement: str, example: int | None, code: str = "", lack: str = "") -> Property:
        """A claim that some match exists; `example` is the state that it ends in."""
        if example is not None:
            return Property(statement, Outcome.PROVED, "", self.space.witness(example), code)
        if self.space.is_complete:
            return Property(statement, Outcome.REFUTED, lack, None, code)
        return Property(statement, Outcome.SAMPLED, f"not seen in {self._how_many}", None, code)

    @property
    def _all_or_sampled(self) -> Outcome:
        return Outcome.PROVED if self.space.is_complete else Outcome.SAMPLED

    @property
    def _how_many(self) -> str:
        return "" if self.space.is_complete else f"{len(self.space.states):,} states nearest to the start"

    def size(self) -> Property:
        """The number of states."""
        count, ends = len(self.space.states), len(self.space.goals)
        if self.space.is_complete:
            return Property(f"{count:,} states can be reached, {ends:,} of them terminal", Outcome.PROVED)
        return Property(f"more than {count - 1:,} states can be reached", Outcome.PROVED)

    def ends(self) -> Iterable[Property]:
        """Termination, and the longest match where there is one."""
        space = self.space
        components = strong_components(
            range(len(space.states)), lambda number: space.children.get(number, ())
        )
        circle = next((c for c in components if len(c) > 1 or c[0] in space.children.get(c[0], ())), None)
        if circle is not None:
            first = min(circle)
            detail = f"a match can come back to a state again and again ({len(circle):,} states in a circle)"
            yield Property(
                CLAIMS["GDL401"], Outcome.REFUTED, detail, self._round(first, set(circle)), "GDL401"
            )
            return
        yield self.every(CLAIMS["GDL401"], None, code="GDL401")
        if space.is_complete:
            longest = [0] * len(space.states)
            for (number,) in components:
                children = space.children.get(number, ())
                longest[number] = 1 + max((longest[child] for child in children), default=-1)
            yield Property(f"{LONGEST} {counted(longest[0], 'step')}", Outcome.PROVED)

    def _round(self, start: int, circle: set[int]) -> Witness:
        """A match to `start` and once round back to it."""
        previous: dict[int, tuple[int, int]] = {}
        frontier = [start]
        while start not in previous:
            following = []
            for number in frontier:
                for step, child in enumerate(self.space.children[number]):
                    if child in circle and child not in previous:
                        previous[child] = (number, step)
                        following.append(child)
            frontier = following
        steps: list[tuple[Move, ...]] = []
        number = start
        while not steps or number != start:
            number, step = previous[number]
            steps.append(self.space.joint_move(number, step))
        path = (*self.space.path(start), *reversed(steps))
        return Witness(path, self.game.facts(self.space.states[start]))

    def moves(self) -> Property:
        """A legal move for every role in every live state."""
        for number, legal in self.space.legal.items():
            if not all(legal):
                role = self.game.roles[[bool(moves) for moves in legal].index(False)]
                detail = f"{role} has no legal move in a state that is not terminal"
                return self.every(CLAIMS["GDL402"], number, detail, "GDL402")
        return self.every(CLAIMS["GDL402"], None, code="GDL402")

    def goals(self) -> Property:
        """One goal value for every player in every terminal state."""
        for number, goals in self.space.goals.items():
            if NO_GOAL in goals:
                fault = goal_fault(self.game, self.space.states[number])
                return self.every(CLAIMS["GDL403"], number, f"at the end, {fault}", "GDL403")
        return self.every(CLAIMS["GDL403"], None, code="GDL403")

    def declared(self) -> Iterable[Property]:
        """base and input against all facts and moves."""
        if self.declarations.base is not None:
            yield self._base()
        if self.declarations.input is not None:
            yield self._input()

    def _base(self) -> Property:
        for number, state in self._states_that_may_be_outside():
            outside = self.declarations.undeclared_fact(self.game.facts(state))
            if outside is not None:
                detail = f"the fact {outside} holds, but base does not list it"
                return self.every(CLAIMS["GDL404"], number, detail, "GDL404")
        return self.every(CLAIMS["GDL404"], None, code="GDL404")

    def _states_that_may_be_outside(self) -> Iterator[tuple[int, Any]]:
        """(number, state) of every state, or of none where the union of all states lies within base.

        A compiled game's state is a row of bits, so that the union is quickly made.
        """
        if isinstance(self.game, CompiledGame):
            rows = np.frombuffer(b"".join(self.space.states), np.uint8)  # type: ignore[arg-type]
            union = np.bitwise_or.reduce(rows.reshape(len(self.space.states), -1), axis=0).tobytes()
            if self.declarations.undeclared_fact(self.game.facts(union)) is None:
                return
        yield from enumerate(self.space.states)

    def _input(self) -> Property:
        checked: set[tuple[int, int]] = set()
        for number, legal in self.space.legal.items():
            for r, role in enumerate(self.game.roles):
                new = [index for index in legal[r] if (r, index) not in checked]
                checked.update((r, index) for index in new)
                moves = (self.space.moves[r][index] for index in new)
                outside = self.declarations.undeclared_move(role, moves)
                if outside is not None:
                    detail = f"{role} may do {outside}, but input does not list it"
                    return self.every(CLAIMS["GDL405"], number, detail, "GDL405")
        return self.every(CLAIMS["GDL405"], None, code="GDL405")

    def winnable(self) -> Iterable[Property]:
        """For each role: some match gives it 100."""
        for p, role in enumerate(self.players):
            example = next((n for n, goals in self.space.goals.items() if goals[p] == BEST_GOAL), None)
            lack = f"{role} gets 100 in no match: the game is not weakly winnable"
            yield self.some(f"{role} can get 100", example, "GDL406", lack)

    def forced(self) -> Iterable[Property]:
        """For each role: it can make sure of 100 whatever others do, chance included."""
        if not self.space.is_complete or len(self.game.roles) == 1:
            return
        for p, role in enumerate(self.players):
            won = self._won_by(p, role)
            outcome = Outcome.PROVED if won[0] else Outcome.REFUTED
            yield Property(f"{role} can make sure of 100 from the start", outcome)

    def _won_by(self, p: int, role: Role) -> bytearray:
        """bool per state: the role has a strategy for 100 there, its choices made before the others'."""
        space, seat = self.space, self.seats[role]
        won = bytearray(len(space.states))
        for number, goals in space.goals.items():
            won[number] = goals[p] == BEST_GOAL
        has_changed = any(won)
        while has_changed:
            has_changed = False
            for number in reversed(range(len(space.states))):
                if not won[number] and number in space.children and self._has_winning_move(number, seat, won):
                    won[number] = 1
                    has_changed = True
        return won

    def _has_winning_move(self, number: int, seat: int, won: bytearray) -> bool:
        legal, children = self.space.legal[number], self.space.children[number]
        if not children:
            return False
        if sum(len(moves) > 1 for moves in legal) == 1:
            results = [won[child] for child in children]
            return any(results) if len(legal[seat]) > 1 else all(results)
        failed: set[int] = set()
        for joint, child in zip(itertools.product(*legal), children, strict=True):
            if not won[child]:
                failed.add(joint[seat])
        return len(failed) < len(legal[seat])

    def constant_sum(self) -> Iterable[Property]:
        """Whether the goals add up to the same in every terminal state, if there is any."""
        total: int | None = None
        for number, goals in self.space.goals.items():
            if NO_GOAL in goals:
                continue
            if total is None:
                total = sum(goals)
            elif sum(goals) != total:
                detail = f"they add up to {total} elsewhere and to {sum(goals)} here"
                yield self.every("the goals always add up to the same", number, detail)
                return
        if total is not None:
            yield self.every(f"the goals always add up to {total}", None)

    def turns(self) -> Property:
        """Whether at most one role has a choice in every state."""
        for number, legal in self.space.legal.items():
            if sum(len(moves) > 1 for moves in legal) > 1:
                return self.every("at most one role has a choice at a time", number, "here several have")
        return self.every("at most one role has a choice at a time", None)
