"""Short matches of alpha-beta against a tree search, in the start clock of a match of both as one player."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import replace

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Move, Role
from ggp.knowledge.trial import Trial
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.alphabeta.self_play import LONGEST, random_opening
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.search import LanesSearch

MOVE_SECONDS = 0.016
"""With a quarter of it alpha-beta wins on hex and breakthrough, but not in a match (results/alphabeta.md)."""
TREE_MEBIBYTES = 64


class TrialMatches:
    """Matches of two roles, seats in turn, after random openings."""

    def __init__(
        self,
        game: CompiledGame,
        search: AlphaBeta,
        options: MctsOptions,
        *,
        seed: int,
        move_seconds: float = MOVE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the searches.

        search         alpha-beta with the evaluation that it would play with
        options        of the tree
        move_seconds   for each move with a choice
        clock          seconds
        """
        self._game = game
        self._search = search
        self._move_seconds = move_seconds
        self._clock = clock
        self._rng = random.Random(seed)
        small = replace(options, memory_mebibytes=min(options.memory_mebibytes, TREE_MEBIBYTES))
        self._trees = {role: LanesSearch(game, role, seed=seed, options=small) for role in game.roles}

    def play(self, trial: Trial, deadline: float) -> None:
        """Play until `trial` is over or the clock says `deadline`; a match begun by then is not counted."""
        try:
            while not trial.is_over and self._clock() < deadline:
                opening = random_opening(self._game, self._rng)
                for role in self._game.roles:
                    margin = None if trial.is_over else self._play_match(role, opening, deadline)
                    if margin is None:
                        return
                    trial.won += margin > 0
                    trial.lost += margin < 0
                    trial.drawn += margin == 0
        finally:
            for tree in self._trees.values():
                tree.close()

    def _play_match(self, own: Role, state: PackedState, deadline: float) -> int | None:
        """By how much the goal of alpha-beta, in the role `own`, is better; None if there was no time."""
        game = self._game
        (other,) = (role for role in game.roles if role != own)
        tree = self._trees[other]
        joint: tuple[Move, ...] | None = None
        for _ in range(LONGEST):
            if game.is_terminal(state):
                return game.goal(state, own) - game.goal(state, other)
            until = self._clock() + self._move_seconds
            if until >= deadline:
                return None
            legal = {role: game.legal_moves(state, role) for role in game.roles}
            moves = {role: legal[role][0] for role in game.roles}
            tree.move_to(state, joint)
            if len(legal[own]) > 1:
                moves[own] = self._search.search(state, deadline=until).move or moves[own]
            elif len(legal[other]) > 1:
                tree.run(deadline=until)
                moves[other] = tree.best_move()
            joint = tuple(moves[role] for role in game.roles)
            state = game.next_state(state, joint)
        return 0
