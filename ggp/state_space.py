"""All states that matches can reach, explored breadth first up to a limit.

Compiled games give all successors of a state in one pass of the circuit; other games are asked move by move.
"""

from __future__ import annotations

import itertools
import time
from array import array
from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from ggp.compiled_game import NO_GOAL, CompiledGame, Successors
from ggp.game import Game, GoalError, Move, NoLegalMoveError
from ggp.game_properties import Witness, players_of

Goals: TypeAlias = tuple[int, ...]
"""By player (see `players_of`), NO_GOAL where there is not exactly one value."""

LegalMoves: TypeAlias = tuple[tuple[int, ...], ...]
"""By role, indices into `StateSpace.moves`."""


@dataclass
class StateSpace:
    """The states reached, numbered in the order in which they were found; number 0 is the initial one.

    moves       by role, every move met so far
    states      number → the game's state
    parent      number → the state from which it was first reached; -1 for the initial one
    step        number → position of that joint move among the product of the parent's legal moves
    terminal    number → 1 in terminal states
    goals       of terminal states
    legal       of states that are not terminal and were expanded, or will be
    children    of states that were expanded: one per joint move, in the order of the product
    is_complete whether every reachable state was expanded
    """

    game: Game[Any]
    moves: list[list[Move]]
    states: list[Hashable] = field(default_factory=list)
    parent: array[int] = field(default_factory=lambda: array("q"))
    step: array[int] = field(default_factory=lambda: array("q"))
    terminal: bytearray = field(default_factory=bytearray)
    goals: dict[int, Goals] = field(default_factory=dict)
    legal: dict[int, LegalMoves] = field(default_factory=dict)
    children: dict[int, array[int]] = field(default_factory=dict)
    is_complete: bool = False

    def witness(self, number: int) -> Witness:
        """A shortest match to a state."""
        return Witness(self.path(number), self.game.facts(self.states[number]))

    def path(self, number: int) -> tuple[tuple[Move, ...], ...]:
        """The joint moves of a shortest match to a state."""
        steps = []
        while self.parent[number] >= 0:
            steps.append(self.joint_move(self.parent[number], self.step[number]))
            number = self.parent[number]
        return tuple(reversed(steps))

    def joint_move(self, number: int, position: int) -> tuple[Move, ...]:
        """The joint move at `position` of the product of a state's legal moves."""
        indices = next(itertools.islice(itertools.product(*self.legal[number]), position, None))
        return tuple(moves[index] for moves, index in zip(self.moves, indices, strict=True))


def explore(
    game: Game[Any],
    *,
    state_limit: int,
    seconds: float,
    progress: Callable[[int], None] | None = None,
) -> StateSpace:
    """The states of `game`, all of them if there are at most `state_limit` and time suffices.

    A state in which some role has no move, though it is not terminal, has no children.
    """
    expand = _CompiledExpansion(game) if isinstance(game, CompiledGame) else _Expansion(game)
    space = StateSpace(game, expand.moves)
    numbers: dict[Hashable, int] = {}
    deadline = time.monotonic() + seconds
    _add(space, numbers, game.initial_state(), -1, 0)
    expand.judge_initial(space)
    number = 0
    while number < len(space.states):
        if len(space.states) > state_limit or time.monotonic() > deadline:
            return space
        if not space.terminal[number]:
            expand.children(space, numbers, number)
        number += 1
        if progress is not None and number % 256 == 0:
            progress(len(space.states))
    space.is_complete = True
    return space


def _add(
    space: StateSpace, numbers: dict[Hashable, int], state: Hashable, parent: int, step: int
) -> tuple[int, bool]:
    """(number of `state`, whether it is new)."""
    known = numbers.get(state)
    if known is not None:
        return known, False
    number = numbers[state] = len(space.states)
    space.states.append(state)
    space.parent.append(parent)
    space.step.append(step)
    space.terminal.append(0)
    return number, True


class _Expansion:
    """Expansion by the `Game` protocol, one joint move after the other."""

    def __init__(self, game: Game[Any]) -> None:
        self.game = game
        self.moves: list[list[Move]] = [[] for _ in game.roles]
        self._index: list[dict[Move, int]] = [{} for _ in game.roles]
        self._players = players_of(game)

    def judge_initial(self, space: StateSpace) -> None:
        """Note what is to know of the initial state."""
        self._judge(space, 0)

    def children(self, space: StateSpace, numbers: dict[Hashable, int], number: int) -> None:
        """Expand a state that is not terminal."""
        state = space.states[number]
        legal = self._legal(state)
        space.legal[number] = legal
        children = array("q")
        for step, indices in enumerate(itertools.product(*legal)):
            joint_move = [moves[index] for moves, index in zip(self.moves, indices, strict=True)]
            child, is_new = _add(space, numbers, self.game.next_state(state, joint_move), number, step)
            if is_new:
                self._judge(space, child)
            children.append(child)
        space.children[number] = children

    def _judge(self, space: StateSpace, number: int) -> None:
        state = space.states[number]
        if self.game.is_terminal(state):
            space.terminal[number] = 1
            space.goals[number] = tuple(self._goal(state, role) for role in self._players)

    def _goal(self, state: Hashable, role: Any) -> int:
        try:
            return self.game.goal(state, role)
        except GoalError:
            return NO_GOAL

    def _legal(self, state: Hashable) -> LegalMoves:
        found = []
        for role, moves, index in zip(self.game.roles, self.moves, self._index, strict=True):
            try:
                legal: Sequence[Move] = self.game.legal_moves(state, role)
            except NoLegalMoveError:
                legal = ()
            for move in legal:
                if move not in index:
                    index[move] = len(moves)
                    moves.append(move)
            found.append(tuple(index[move] for move in legal))
        return tuple(found)


class _CompiledExpansion(_Expansion):
    """Expansion by whole batches of joint moves."""

    game: CompiledGame

    def __init__(self, game: CompiledGame) -> None:
        super().__init__(game)
        self.moves = [list(moves) for moves in game.moves]
        self._index = [{move: i for i, move in enumerate(moves)} for moves in game.moves]
        self._first_move = [0, *itertools.accumulate(len(moves) for moves in game.moves)]
        players = set(self._players)
        self._seats = [r for r, role in enumerate(game.roles) if role in players]

    def children(self, space: StateSpace, numbers: dict[Hashable, int], number: int) -> None:
        """Expand a state that is not terminal; what is to know of its children comes along."""
        if number not in space.legal:
            space.legal[number] = self._legal(space.states[number])
        children = array("q")
        for batch in self._batches(space.states[number]):
            for i, state in enumerate(batch.states):
                child, is_new = _add(space, numbers, state, number, len(children))
                children.append(child)
                if is_new and batch.is_terminal[i]:
                    space.terminal[child] = 1
                    space.goals[child] = tuple(int(batch.goals[i, r]) for r in self._seats)
                elif is_new:
                    space.legal[child] = self._split(np.flatnonzero(batch.is_legal[i]).tolist())
        space.children[number] = children

    def _batches(self, state: Any) -> Iterator[Successors]:
        return self.game.successor_passes(state)

    def _split(self, legal: list[int]) -> LegalMoves:
        """Indices among all moves, ascending, as indices by role."""
        bounds = [bisect_left(legal, first) for first in self._first_move]
        return tuple(
            tuple(index - first for index in legal[a:b])
            for first, (a, b) in zip(self._first_move, itertools.pairwise(bounds), strict=False)
        )
