"""Explored states as objects of any engine, for games that cannot be explored on lanes."""

from __future__ import annotations

import itertools
import time
from array import array
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gdl.errors import ReasoningError
from ggp.game import Fact, Game, GoalError, Move, NoLegalMoveError, Role
from ggp.lanes.step import NO_GOAL
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.space import Chunk
from ggp.validation.explored_states import Bounds, ExploredStates
from ggp.validation.properties import Declarations, players_of


class ObjectStates(ExploredStates):
    """The states of a game on any engine; `state_of`: by number."""

    def __init__(
        self, game: Game[Any], bounds: Bounds, progress: Callable[[int], None] | None = None
    ) -> None:
        """Explore `game` within `bounds`."""
        self.game = game
        self.state_of: list[Hashable] = [game.initial_state()]
        number = {self.state_of[0]: 0}
        goals, counts, edge = list[list[int]](), list[list[int]](), array("I")
        deadline = time.monotonic() + bounds.seconds
        while len(goals) < len(self.state_of) <= bounds.states and time.monotonic() <= deadline:
            state = self.state_of[len(goals)]
            try:
                is_end = game.is_terminal(state)
                legal = [() if is_end else self._legal(state, role) for role in game.roles]
                following = [game.next_state(state, moves) for moves in itertools.product(*legal)]
                ends = [self._goal(state, role) if is_end else UNKNOWN for role in game.roles]
            except ReasoningError as error:
                self.fault = len(goals), str(error)
                break
            for each in following:
                edge.append(number.setdefault(each, len(number)))
                self.state_of += [each] if len(number) > len(self.state_of) else []
            goals.append(ends)
            counts.append([len(moves) for moves in legal])
            if progress is not None and len(goals) % 256 == 0:
                progress(len(self.state_of))
        roles = len(game.roles)
        self.goals = np.array(goals, np.uint8).reshape(-1, roles)
        move_count = np.array(counts, np.uint16).reshape(-1, roles)
        self.chunks = [Chunk(0, len(goals), move_count, np.array(edge, np.uint32))]
        self.state_count, self.deadline = len(self.state_of), time.monotonic() + bounds.seconds

    def _legal(self, state: Hashable, role: Role) -> tuple[Move, ...]:
        try:
            return self.game.legal_moves(state, role)
        except NoLegalMoveError:
            return ()

    def _goal(self, state: Hashable, role: Role) -> int:
        try:
            return self.game.goal(state, role) if role in players_of(self.game) else 0
        except GoalError:
            return NO_GOAL

    def state(self, number: int) -> Hashable:
        return self.state_of[number]

    def undeclared_fact(self, declarations: Declarations) -> tuple[int, Fact] | None:
        found = (declarations.undeclared_fact(self.game.facts(state)) for state in self.state_of)
        return next(((number, fact) for number, fact in enumerate(found) if fact is not None), None)

    def undeclared_move(self, declarations: Declarations) -> tuple[int, Role, Move] | None:
        for number in np.flatnonzero(~self.is_end).tolist():
            self.check_time()
            for role in self.game.roles:
                move = declarations.undeclared_move(role, self._legal(self.state_of[number], role))
                if move is not None:
                    return number, role, move
        return None
