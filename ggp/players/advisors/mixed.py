"""Moves drawn from a mixed strategy of the tree's statistics, if two roles choose at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ggp.game import Game
from ggp.players.advisors.advisor import Advisor, Position
from ggp.players.advisors.tree import TreeAdvisor
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.tree.mixed_root import prepare_mixing, root_matrix
from ggp.search.tree.search import LanesSearch


class MixedAdvisor(Advisor):
    """Asked after the tree, whose search it reads."""

    def __init__(self, tree: TreeAdvisor) -> None:
        self._tree = tree

    def prepare(self, game: Game[Any]) -> None:
        prepare_mixing()

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        search, state = self._tree.search, position.state
        assert isinstance(search, LanesSearch)
        assert isinstance(state, bytes)
        matrix = root_matrix(search, state)
        move = None if matrix is None else matrix.draw(position.rng)
        if move is None:
            return None
        return Advice(move, replace(search.report(), mode="mixed"), is_final=True)
