"""Moves by a tree search that a network guides, within `mcts`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ggp.engines.compiled import CompiledGame
from ggp.game import Game, Move
from ggp.knowledge.taught import TaughtNetwork
from ggp.match.player import MatchSetup
from ggp.players.kept_knowledge import taught_network
from ggp.players.options import AUTO
from ggp.search.forest.guided import Guidance, GuidedForest
from ggp.search.report import MoveReport, SearchReport

LANES = 512
"""Simulations at a time."""


def open_network(game: CompiledGame, option: str, *, may_use_kept: bool) -> TaughtNetwork | None:
    """The network that the option `net` of `mcts` means for this game; None without one.

    may_use_kept   auto is the one kept for the game, if it won against playouts at equal time
    """
    found = taught_network(game, option, may_use_kept=may_use_kept)
    return found if found is not None and (option != AUTO or found.is_stronger) else None


class NetworkPlay:
    """The search of one role in one match."""

    def __init__(self, setup: MatchSetup, taught: TaughtNetwork, mebibytes: int) -> None:
        """Compiles the kernel of the search or loads it from the cache."""
        self._setup = setup
        game = cast("CompiledGame", setup.game)
        self._game = game
        self._forest = GuidedForest(
            game,
            taught.network,
            Guidance(taught.share),
            words=LANES // 64,
            seed=setup.seed,
            mebibytes=mebibytes,
        )

    @property
    def simulation_count(self) -> int:
        return self._forest.simulation_count

    def choose(
        self,
        state: bytes,
        *,
        deadline: float | None = None,
        simulations: int | None = None,
        is_stopped: Callable[[], bool] | None = None,
    ) -> tuple[Move, SearchReport] | None:
        """The move for `state`, in which the role has a choice, and the report; None if nothing was found.

        deadline     time.monotonic() seconds
        simulations  instead
        """
        game, role = self._game, self._game.roles.index(self._setup.role)
        before = self._forest.simulation_count
        lanes = LANES if simulations is None else max(1, min(LANES, simulations // 64))
        self._forest.search_together(
            game.unpack(state),
            lanes=lanes,
            simulations=simulations,
            deadline=deadline,
            is_stopped=is_stopped,
        )
        found = self._forest.root_moves(role)
        (best,), _ = found.best()
        if best < 0:
            return None
        moves = tuple(
            MoveReport(
                game.moves[role][found.move[place]],
                int(found.visits[place]),
                float(found.total[place] / found.visits[place]),
                int(found.goal[place]) if found.goal[place] >= 0 else None,
            )
            for place in np.argsort(-found.visits, kind="stable").tolist()
            if found.visits[place] > 0
        )
        move = game.moves[role][best]
        moves = tuple(sorted(moves, key=lambda each: each.move != move))
        return move, SearchReport(
            playouts=self._forest.simulation_count - before, moves=moves, mode="network"
        )


def prepare_network(game: Game[Any], option: str, *, may_use_kept: bool) -> None:
    """Compile the kernel of the search or load it from the cache, if the game is played by a network."""
    taught = open_network(cast("CompiledGame", game), option, may_use_kept=may_use_kept)
    if taught is not None and not game.is_terminal(game.initial_state()):
        play = NetworkPlay(MatchSetup("prepare", game, game.roles[0], 0.0, 0.0, 0), taught, 16)
        play.choose(game.initial_state(), simulations=1)
