"""Batches of matches with hidden information, by searches that know what their role observed.

For every role of every match a belief follows what it saw. A decision searches states drawn from that belief,
a tree each, and makes the move whose mean over the trees is best, all decisions in one kernel call. The
others are taken to know the state and, in beliefs, to have moved uniformly at random; no search bluffs or
pays for information (strategy fusion: Frank and Basin 1998).

Source: Ginsberg, GIB: Imperfect information in a computationally challenging game (JAIR 2001), with UCT in
place of alpha-beta, as determinized UCT in Cowling, Powley and Whitehouse (2012), section III.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ggp.beliefs.belief import Belief
from ggp.beliefs.lanes_expansion import LanesExpansion
from ggp.circuit.tables import Int32Array, Phase
from ggp.engines.batches import require_compiled
from ggp.game import RANDOM_ROLE, Game
from ggp.integers import to_integer
from ggp.search.forest.forest import Forest, RootMoves
from ggp.search.forest.sampling import draw_by_weight, even_shares
from ggp.search.forest.self_play import (
    STEP_LIMIT,
    EndedMatches,
    Int64Array,
    MatchBatch,
    MatchContext,
    SelfPlay,
    play_batches,
    playouts_of,
)
from ggp.search.tree.kernels.arrays import UNPROVEN, Float64Array
from ggp.search.tree.options import MctsOptions

PLAYOUTS_PER_TREE = 32
STATES_HELD = 256
"""Maximum states of a belief; more are replaced by a sample of half as many."""
STATES_ADVANCED = 4096
"""Maximum successors of a belief made in a step."""


def blind_self_play(
    game: Game[Any],
    simulations: ArrayLike,
    matches: int = 100,
    *,
    seed: int = 0,
    step_limit: int = STEP_LIMIT,
    threads: int | None = None,
    is_over: Callable[[int], bool] | None = None,
) -> SelfPlay:
    """Play matches side by side in which every search knows what its role observed; see `self_play`.

    `value` is what the search of a role expected by its belief.

    >>> import ggp
    >>> blind_self_play(ggp.load("kuhn_poker"), 64, 8, seed=1)
    <SelfPlay: 8 matches, 8 finished>

    Raises GameError for games that are not compiled.
    """
    compiled = require_compiled(game)
    each = playouts_of(simulations, matches, len(game.roles))
    seed, step_limit = to_integer(seed, "seed"), to_integer(step_limit, "step_limit", 1)
    options = MctsOptions(step_limit=step_limit)
    context = MatchContext(compiled, seed, options, step_limit, EndedMatches(is_over))
    return play_batches(context, each, BlindBatch, threads)


class BlindBatch(MatchBatch):
    """The matches of one batch, with a belief for every role that searches."""

    def __init__(self, context: MatchContext, first: int, simulations: Int64Array) -> None:
        super().__init__(context, first, simulations)
        game = self._game
        self._drawing = np.random.default_rng((context.seed & (2**64 - 1), first, 1))
        self._beliefs: dict[tuple[int, int], Belief] = {}
        self._terminal_literal = np.array([game.lane_tables.terminal], np.int32)
        self._percept_literals = game.lane_tables.percept_literal
        self._of_role = [np.flatnonzero(game.tables.percept_role == r) for r in range(self._roles)]
        for r, role in enumerate(game.roles):
            if role == RANDOM_ROLE or not simulations[:, r].any():
                continue
            expansion = LanesExpansion(game, role)
            expansion.limit = min(expansion.limit, STATES_ADVANCED)
            expansion.most_states = min(expansion.most_states, STATES_HELD)
            expansion.sample_size = min(expansion.sample_size, STATES_HELD // 2)
            for n in np.flatnonzero(simulations[:, r]).tolist():
                rng = random.Random(f"{context.seed}/belief/{first + n}/{r}")
                self._beliefs[n, r] = Belief(game, role, rng, expansion)

    def _step(self, running: Int64Array, legal: NDArray[np.bool_]) -> bool:
        self._legal = legal
        return super()._step(running, legal)

    def observe_step(self, running: Int64Array, chosen: Int32Array, following: NDArray[np.bool_]) -> None:
        """Advance every belief by the move and percepts of its role, unless the match is over."""
        game, lanes = self._game, self._lanes
        lanes.settle(Phase.SEES, Phase.SEES)
        seen = lanes.read(self._percept_literals, len(running))
        goes_on = ~self._terminal(following.T)
        for place in np.flatnonzero(goes_on).tolist():
            if self._context.ended.is_stopped():
                return
            for r in range(self._roles):
                belief = self._beliefs.get((int(running[place]), r))
                if belief is None:
                    continue
                percepts = tuple(game.terms.percepts[i] for i in self._of_role[r] if seen[i, place])
                belief.advance(percepts, game.moves[r][chosen[place, r]], float("inf"))

    def _terminal(self, states: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """bool[N]: which of the states bool[F, N] are terminal; the lanes hold them then."""
        lanes, count = self._lanes, states.shape[1]
        lanes.set_states(states)
        lanes.settle(Phase.LEGAL, Phase.LEGAL)
        terminal: NDArray[np.bool_] = lanes.read(self._terminal_literal, count)[0]
        return terminal

    def _search_by(
        self, forest: Forest, running: Int64Array, places: Int64Array, roles: Int64Array
    ) -> tuple[Int32Array, Float64Array] | None:
        """As in MatchBatch, each decision by a search of states that its role takes for possible."""
        if not len(places):
            return np.zeros(0, np.int32), np.zeros(0)
        states, counts, decision = self._drawn(running[places], roles)
        asked = sorted(set(roles.tolist()))
        parts: dict[int, list[tuple[Int64Array, RootMoves]]] = {role: [] for role in asked}
        searched = 0
        for part in self._search_in_parts(forest, states, counts):
            searched = part.stop
            for role in asked:
                parts[role].append((decision[part], forest.root_moves(role)))
        if searched < len(states):
            return None
        move, value = np.full(len(places), -1, np.int32), np.full(len(places), np.nan)
        for role in asked:
            moves = slice(int(self._first_move[role]), int(self._first_move[role + 1]))
            means = mean_over_trees(parts[role], len(places), moves.stop - moves.start)
            means[~self._legal[moves, places].T] = -np.inf
            best = means.argmax(axis=1)
            highest = means[np.arange(len(places)), best]
            known = (roles == role) & np.isfinite(highest)
            move[known], value[known] = best[known], highest[known]
        return move, value

    def _drawn(
        self, matches: Int64Array, roles: Int64Array
    ) -> tuple[NDArray[np.bool_], Int64Array, Int64Array]:
        """States bool[T, F] to search, playouts in each, and the decision to which it belongs; int64[T]."""
        states, counts, decision = [], [], []
        for number, (match, role) in enumerate(zip(matches.tolist(), roles.tolist(), strict=True)):
            probabilities = self._beliefs[match, role].probabilities
            total = int(self._simulations[match, role])
            trees = max(1, total // PLAYOUTS_PER_TREE)
            held = list(probabilities)
            drawn = draw_by_weight(list(probabilities.values()), trees, self._drawing.random())
            states += [self._game.unpack(held[each]) for each in drawn.tolist()]
            counts.append(even_shares(total, trees))
            decision.append(np.full(trees, number))
        return np.array(states), np.concatenate(counts), np.concatenate(decision)


def mean_over_trees(
    parts: Sequence[tuple[Int64Array, RootMoves]], decisions: int, moves: int
) -> Float64Array:
    """float64[D, M]: the mean goal of each move over the trees of each decision.

    A move has -inf if fewer than half of the trees know it that know some other move of the decision.

    parts   int64[T] decisions to which trees belong, and what the trees found
    """
    total, trees = np.zeros((decisions, moves)), np.zeros((decisions, moves), np.int64)
    for of_tree, found in parts:
        decision = np.repeat(of_tree, np.diff(found.first))
        is_proven = found.goal != UNPROVEN
        mean = np.where(is_proven, found.goal, found.total / np.maximum(found.visits, 1))
        is_known = is_proven | (found.visits > 0)
        place = decision[is_known], found.move[is_known]
        np.add.at(total, place, mean[is_known])
        np.add.at(trees, place, 1)
    enough = (trees > 0) & (2 * trees >= trees.max(axis=1, initial=0)[:, None])
    return np.where(enough, total / np.maximum(trees, 1), -np.inf)
