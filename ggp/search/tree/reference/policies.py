"""Playout policies in plain Python, one small class each; the twins of `ggp.search.tree.policies`.

Source: Finnsson & Björnsson (2010). Weights are integers 1 .. LARGEST_WEIGHT, relative to the best move of
the role, because lanes add weights bit by bit. A move that was never made counts like the best one of its
role.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.batches import require_compiled
from ggp.game import RANDOM_ROLE, Fact, Game, Move, is_compiled
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.policy import FAST, GIBBS, PAST, PAST_VISITS, TREE_MOVES, UNIFORM
from ggp.search.tree.reference.randomness import LaneRandom, TreeRandom

if TYPE_CHECKING:
    from ggp.search.tree.policies.fast import FastModel

_logger = logging.getLogger("ggp.search")
LARGEST_WEIGHT = 2**16 - 1

Moves: TypeAlias = tuple[Move, ...]
Goals: TypeAlias = tuple[float, ...]
_Levels: TypeAlias = list[tuple[list[tuple[Fact, bool]], int]]
"""The cases of a move of FAST: the facts that hold or not, and the level of the move then."""


@dataclass(frozen=True)
class Step:
    """One joint move of a simulation, and the state in which it was made."""

    state: Hashable
    joint_move: Moves


def gibbs_weight(value: float, best: float, temperature: float) -> int:
    """exp(value / temperature), scaled so that `best` has LARGEST_WEIGHT; at least 1."""
    return max(1, math.floor(LARGEST_WEIGHT * math.exp((value - best) / temperature) + 0.5))


class UniformPolicy:
    """Every legal move alike. Base of the others. `fallback` is the policy that stands in for an unavailable
    one, else ""."""

    fallback = ""

    def __init__(
        self, game: Game[Any], options: MctsOptions, lane: LaneRandom, tree: TreeRandom, seed: int = 0
    ) -> None:
        """`lane`, `tree`: random numbers of playouts and of the tree; `seed`: of learning beforehand."""
        self.game, self.options, self.lane, self.tree, self.seed = game, options, lane, tree, seed
        roles = game.roles
        self.chance_index = roles.index(RANDOM_ROLE) if RANDOM_ROLE in roles else -1
        self._begin()

    def _begin(self) -> None:
        """Set up what is learned."""

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        """Per role the index of the move to make; 0 for a role without any (then the playout is over)."""
        return tuple(self.lane.at_most(len(options) - 1) if options else 0 for options in moves)

    def weights(self, role: int, moves: Sequence[Move], state: Hashable) -> list[int]:
        """The weights of moves of a role in `state`."""
        return [1 for _ in moves]

    def prepare(self, seconds: float) -> None:
        """Learn before the search, for at most about `seconds`; a second call does nothing."""

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        """Learn from one simulation, of which `tree_depth` steps were in the tree."""


@dataclass
class Mean:
    """A running mean goal."""

    visits: int = 0
    total: float = 0.0

    def add(self, goal: float) -> None:
        self.visits += 1
        self.total += goal

    @property
    def value(self) -> float:
        return self.total / self.visits


class MastPolicy(UniformPolicy):
    """Gibbs sampling over the mean goal of each move in any state; TO-MAST learns in the tree only."""

    def _begin(self) -> None:
        roles = self.game.roles
        self.means: list[dict[Move, Mean]] = [{} for _ in roles]
        self.best = [0.0 for _ in roles]
        self._keys: list[dict[Move, float]] = [{} for _ in roles]
        self._is_fresh = False
        self._refresh_in = self.options.refresh or 1
        self._learns_in_tree = self.options.parsed_policy.playouts.learns == TREE_MOVES

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        return tuple(
            self.lane.choose(self.weights(role, options, state)) if options else 0
            for role, options in enumerate(moves)
        )

    def weights(self, role: int, moves: Sequence[Move], state: Hashable) -> list[int]:
        if role == self.chance_index or not self._is_fresh:
            return [1 for _ in moves]
        best, temperature = self.best[role], self.options.gibbs_temperature
        return [gibbs_weight(self.key(role, move), best, temperature) for move in moves]

    def key(self, role: int, move: Move) -> float:
        """The mean of a move as of the last refresh; the best of its role if it was not made."""
        return self._keys[role].get(move, self.best[role])

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        for step in steps[:tree_depth] if self._learns_in_tree else steps:
            for role, move in enumerate(step.joint_move):
                self.means[role].setdefault(move, Mean()).add(goals[role])
        self._refresh_in -= 1
        if self._refresh_in == 0:
            self._refresh_in = self.options.refresh or 1
            self._is_fresh = True
            for role, means in enumerate(self.means):
                self._keys[role] = {move: mean.value for move, mean in means.items()}
                self.best[role] = max(self._keys[role].values(), default=0.0)


class PastPolicy(MastPolicy):
    """Gibbs sampling over the largest mean of the move together with a fact that holds.

    Pairs with fewer than PAST_VISITS visits do not count; a move without any that counts has its MAST
    mean. Untried edges in the tree are drawn by MAST.
    """

    def _begin(self) -> None:
        super()._begin()
        self.pairs: list[dict[tuple[Fact, Move], Mean]] = [{} for _ in self.game.roles]

    def choose(self, state: Hashable, moves: Sequence[Moves]) -> tuple[int, ...]:
        if not all(moves):
            return tuple(0 for _ in moves)
        facts = self.game.facts(state)
        return tuple(self._choose(role, options, facts) for role, options in enumerate(moves))

    def _choose(self, role: int, options: Moves, facts: Sequence[Fact]) -> int:
        if len(options) == 1:
            return 0
        if role == self.chance_index:
            return self.tree.below(len(options))
        return self.tree.choose(self.gibbs_weights(role, options, facts))

    def gibbs_weights(self, role: int, moves: Sequence[Move], facts: Sequence[Fact]) -> list[int]:
        """The weights of moves in a playout; those of untried edges in the tree are `weights`."""
        values, tau = [self.value(role, move, facts) for move in moves], self.options.gibbs_temperature
        return [gibbs_weight(value, max(values), tau) for value in values]

    def value(self, role: int, move: Move, facts: Sequence[Fact]) -> float:
        """The largest mean of `move` with one of `facts`, or the move's own."""
        means = (self.pairs[role].get((fact, move)) for fact in facts)
        known = [mean.value for mean in means if mean and mean.visits >= PAST_VISITS]
        return max(known) if known else self.key(role, move)

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        super().learn(steps, tree_depth, goals)
        for step in steps:
            facts = self.game.facts(step.state)
            for role, move in enumerate(step.joint_move):
                for fact in facts:
                    self.pairs[role].setdefault((fact, move), Mean()).add(goals[role])


class FastPolicy(MastPolicy):
    """Gibbs sampling over values of features, see `ggp.search.tree.policies.fast`; MAST where none are
    recognized."""

    def _begin(self) -> None:
        super()._begin()
        self._is_prepared = False
        self.model: FastModel | None = None
        self._levels: list[dict[Move, _Levels]] = []
        self._tables: Sequence[NDArray[np.int32]] = ()

    def prepare(self, seconds: float) -> None:
        if self._is_prepared:
            return
        self._is_prepared = True
        # Late imports: games that are not compiled do without numba.
        model = self.model
        if is_compiled(self.game):
            from ggp.search.tree.policies.fast import learn_fast

            game = require_compiled(self.game)
            model = self.model = learn_fast(game, self.options, self.seed, time.monotonic() + seconds)
        else:
            _logger.warning("%s is not compiled: FAST unavailable; using MAST", self.game.name)
        if model is None:
            self.options = self.options.with_stand_in()
            self.fallback = self.options.policy
            return
        fluents = game.terms.fluents
        cases = iter(zip(model.cases, model.level, strict=True))
        for moves in game.moves:
            of_role: dict[Move, _Levels] = {}
            for move, (of_move, levels) in zip(moves, cases, strict=False):
                of_role[move] = [
                    ([(fluents[c >> 1], not c & 1) for c in case.conditions], level)
                    for case, level in zip(of_move, levels, strict=True)
                ]
            self._levels.append(of_role)
        self._tables = model.weight

    def weights(self, role: int, moves: Sequence[Move], state: Hashable) -> list[int]:
        """Relative to the best of `moves`."""
        if not self._tables:
            return super().weights(role, moves, state)
        facts = frozenset(self.game.facts(state))
        levels = [self._level(role, move, facts) for move in moves]
        return [int(self._tables[role][level, min(levels)]) for level in levels]

    def _level(self, role: int, move: Move, facts: frozenset[Fact]) -> int:
        """That of the first case whose conditions hold."""
        for conditions, level in self._levels[role][move]:
            if all((fact in facts) == is_true for fact, is_true in conditions):
                return level
        raise AssertionError("the last case has no conditions")

    def learn(self, steps: Sequence[Step], tree_depth: int, goals: Goals) -> None:
        if not self._tables:
            super().learn(steps, tree_depth, goals)


TWINS: Mapping[int, type[UniformPolicy]] = {
    UNIFORM: UniformPolicy,
    GIBBS: MastPolicy,
    PAST: PastPolicy,
    FAST: FastPolicy,
}
"""Settings.playout → the policy here."""
