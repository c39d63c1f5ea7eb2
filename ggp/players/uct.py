"""Plain UCT: every move is searched from scratch, one playout at a time, with a counted number of them."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any, cast

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.game import Game, Move, is_compiled
from ggp.match.faults import Late
from ggp.match.player import MatchSetup, Player, PlayerFaultError
from ggp.players.options import UctOptions
from ggp.search.forest.forest import Forest
from ggp.search.mcts.kernels.arrays import UNPROVEN
from ggp.search.mcts.options import MctsOptions
from ggp.search.report import MoveReport, SearchReport


class UctPlayer(Player):
    """The search of `ggp.self_play`, one decision at a time; tournaments play it many matches at once.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> ggp.play_match(game, [ggp.make_player("uct:simulations=300"), ggp.make_player("legal")])
    <MatchRecord tictactoe: x (uct) 100, o (legal) 0; ...>
    """

    name = "uct"
    is_counted = True
    needs_lanes = True

    def __init__(self, own: UctOptions | None = None) -> None:
        self.own = own or UctOptions()
        self._forest: Forest | None = None

    def prepare(self, game: Game[Any]) -> None:
        if is_compiled(game):
            state = game.initial_state()
            if not game.is_terminal(state):
                self._search(self._make_forest(cast("CompiledGame", game), 0), state, 1, float("inf"))

    def start(self, setup: MatchSetup, deadline: float) -> None:
        super().start(setup, deadline)
        if not is_compiled(setup.game):
            raise PlayerFaultError(Late(), f"{setup.game.name} is not compiled: uct plays on lanes")
        self._forest = self._make_forest(cast("CompiledGame", setup.game), setup.seed)
        self.simulation_count = 0

    def choose(self, state: Hashable, deadline: float, joint_move: tuple[Move, ...] | None) -> Move:
        legal = self.legal_moves(state)
        self.last_report = None
        if len(legal) == 1:
            return legal[0]
        forest = self._forest
        if forest is None:
            raise PlayerFaultError(Late(), f"{self.name} is not ready for this match")
        begin = time.monotonic()
        self._search(forest, state, self.own.simulations, deadline)
        self.simulation_count = forest.simulation_count
        move, report = self._choice(forest, time.monotonic() - begin)
        self.last_report = report
        return legal[0] if move is None else move

    def _make_forest(self, game: CompiledGame, seed: int) -> Forest:
        return Forest(game, seed=seed, options=search_options(self.own))

    def _search(self, forest: Forest, state: Hashable, simulations: int, deadline: float) -> None:
        root = forest.game.unpack(cast("bytes", state))[None]
        forest.search(root, [simulations], lambda: time.monotonic() > deadline)

    def _choice(self, forest: Forest, seconds: float) -> tuple[Move | None, SearchReport]:
        game = forest.game
        role = game.roles.index(self.setup.role)
        found = forest.root_moves(role)
        best = int(found.best()[0][0])
        moves = [
            MoveReport(
                game.moves[role][int(move)],
                int(visits),
                float(total) / max(1, int(visits)),
                None if goal == UNPROVEN else int(goal),
            )
            for move, visits, total, goal in zip(
                found.move, found.visits, found.total, found.goal, strict=True
            )
        ]
        report = SearchReport(
            seconds=seconds,
            playouts=int(np.sum(found.visits)),
            descents=int(np.sum(found.visits)),
            nodes=forest.node_count,
            is_full=forest.is_full,
            moves=tuple(sorted(moves, key=lambda each: -each.visits)),
            mode="uct",
        )
        return (None if best < 0 else game.moves[role][best]), report


def search_options(own: UctOptions) -> MctsOptions:
    """The options of the search as forests take them.

    >>> search_options(UctOptions(exploration=20.0)).exploration
    20.0
    """
    return MctsOptions(exploration=own.exploration, is_solving=own.is_solving)
