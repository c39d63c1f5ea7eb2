"""Short matches of alpha-beta against the tree search, in the start clock of a match."""

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
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.policy import NO_MOVES
from ggp.search.tree.search import LanesSearch

MOVE_SECONDS = 0.016
"""With a quarter of it alpha-beta wins on hex and breakthrough, but not in a match (results/alphabeta.md)."""
TREE_MEBIBYTES = 64
LEARNING_SECONDS = 0.3
"""Search for each role before the first match, if its policy learns about moves."""


def _trees(game: CompiledGame, options: MctsOptions, seed: int) -> dict[Role, LanesSearch]:
    """The search of each role, its kernels loaded, without a tree yet."""
    small = min(options.memory_mebibytes, TREE_MEBIBYTES * options.threads)
    options = replace(options, memory_mebibytes=small)
    trees = {role: LanesSearch(game, role, seed=seed, options=options) for role in game.roles}
    initial = game.initial_state()
    for tree in trees.values():
        tree.move_to(initial, None)
        tree.warm_up(time.monotonic())
        if options.parsed_policy.playouts.learns != NO_MOVES:
            tree.run(Budget(time.monotonic() + LEARNING_SECONDS))
            joint = tuple(game.legal_moves(initial, role)[0] for role in game.roles)
            tree.move_to(game.next_state(initial, joint), None)  # drops the tree, not what was learned
    return trees


class TrialMatches:
    """Matches of two roles, seats in turn, after random openings."""

    def __init__(
        self,
        game: CompiledGame,
        alphabeta: AlphaBeta,
        options: MctsOptions,
        *,
        seed: int,
        move_seconds: float = MOVE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Set up the searches.

        alphabeta      with the evaluation that it would play with
        options        of the tree
        move_seconds   for each move with a choice
        clock          seconds
        """
        self._game = game
        self._alphabeta = alphabeta
        self._move_seconds = move_seconds
        self._clock = clock
        self._rng = random.Random(seed)
        self._trees = _trees(game, options, seed)

    def play(self, trial: Trial, deadline: float) -> None:
        """Play until `trial` is over or there is no time for a match.

        deadline   by the clock; a match that is not over by then is not counted
        """
        opening = None
        try:
            while not trial.is_over and self._has_time(trial, deadline):
                place = trial.match_count % 2
                if opening is None or place == 0:
                    opening = random_opening(self._game, self._rng)
                played = self._play_match(self._game.roles[place], opening, deadline)
                if played is None:
                    return
                trial.add(*played)
        finally:
            for tree in self._trees.values():
                tree.close()

    def _has_time(self, trial: Trial, deadline: float) -> bool:
        """Whether there is time for a match as long as those before."""
        return self._clock() + self._move_seconds * max(1.0, trial.mean_moves) < deadline

    def _play_match(self, own: Role, state: PackedState, deadline: float) -> tuple[int, int] | None:
        """The goal difference in favor of alpha-beta, and the moves; None if there was no time.

        own   the role of alpha-beta
        """
        game = self._game
        (other,) = (role for role in game.roles if role != own)
        tree = self._trees[other]
        joint: tuple[Move, ...] | None = None
        count = 0
        for _ in range(LONGEST):
            if game.is_terminal(state):
                return game.goal(state, own) - game.goal(state, other), count
            if self._clock() + self._move_seconds >= deadline:
                return None
            legal = {role: game.legal_moves(state, role) for role in game.roles}
            moves = {role: legal[role][0] for role in game.roles}
            tree.move_to(state, joint)
            if len(legal[own]) > 1:
                found = self._alphabeta.search(state, Budget(self._clock() + self._move_seconds))
                moves[own] = found.move or moves[own]
            if len(legal[other]) > 1:
                tree.run(Budget(self._clock() + self._move_seconds))
                moves[other] = tree.best_move()
            joint = tuple(moves[role] for role in game.roles)
            count += sum(len(moves) > 1 for moves in legal.values())
            state = game.next_state(state, joint)
        return 0, count
