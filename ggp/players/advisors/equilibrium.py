"""Moves of an equilibrium found in the start clock, in games with hidden information.

Searching one possible state gives the other roles knowledge that they do not have and never bluffs. Where the
tree of histories is small enough for the start clock, counterfactual regret minimization gives the strategy
of every information set instead, and a move is drawn from it.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ggp.beliefs.observation import Observation
from ggp.engines.batches import require_compiled
from ggp.engines.loading import find_own_rules, load
from ggp.game import Game, Move, Role
from ggp.match.player import MatchSetup
from ggp.players.advisors.advisor import Advisor, Position
from ggp.search.budget import Budget
from ggp.search.protocol import Advice
from ggp.search.report import MoveReport, SearchReport
from ggp.solver import SolverError, SolverLimits
from ggp.solver.cfr import ApproximateEquilibrium, CfrOptions, solve_hidden
from ggp.solver.cfr.strategy import legal_moves

ACCURACY = 0.01
"""Exploitability in goals at which the strategies are good enough."""
MAX_GAIN = 1.0
"""Strategies against which a best response gains more, in goals, are not played."""
CLOCK_SHARE = 0.6
COUNTED_ITERATIONS = 2000
"""Iterations of the minimization when results must not depend on a clock."""
_SHARES = 1000
_PREPARED_GAME = "kuhn_poker"


class FollowedStrategy:
    """One role's strategy in one match, followed by what the role observes."""

    def __init__(self, found: ApproximateEquilibrium, role: Role, rng: random.Random) -> None:
        self._form = found.form
        self._agent = found.form.graph.agents.index(role)
        self._plex = found.form.plexes[self._agent]
        self._strategy = found.strategies[self._agent]
        self._value = found.values[self._agent]
        self._seconds = found.seconds
        terms, sets = found.form.graph.game.terms.percepts, found.form.graph.percept_sets[self._agent]
        self._numbers = {frozenset(terms[each] for each in seen): number for number, seen in enumerate(sets)}
        self._rng = rng
        self._history: int | None = 0

    def observe(self, observation: Observation) -> None:
        """Follow one step. An observation that the rules do not allow ends this for the rest of the match."""
        plex, before, self._history = self._plex, self._history, None
        if before is None:
            return
        moves = legal_moves(self._form, self._agent, before)
        number = self._numbers.get(frozenset(observation.percepts))
        if observation.own_move in moves and number is not None:
            slot = moves.index(observation.own_move)
            after = (plex.origin == before) & (plex.slot == slot) & (plex.percept == number)
            found = np.flatnonzero(after)
            self._history = int(found[0]) if len(found) == 1 else None

    @property
    def is_lost(self) -> bool:
        """Whether the match is no longer followed."""
        return self._history is None

    def draw(self) -> tuple[Move, SearchReport] | None:
        """A move drawn from the strategy, with all probabilities; None if the match is no longer followed."""
        if self._history is None:
            return None
        moves = legal_moves(self._form, self._agent, self._history)
        if len(moves) == 1:
            return moves[0], self._report({moves[0]: 1.0})
        numbers = np.flatnonzero(self._plex.history == self._history)
        if len(numbers) != 1:
            return None
        first, end = self._plex.first[numbers[0] : numbers[0] + 2]
        chances = dict(zip(moves, self._strategy[first:end].tolist(), strict=True))
        (move,) = self._rng.choices(moves, list(chances.values()))
        return move, self._report(chances)

    def _report(self, chances: dict[Move, float]) -> SearchReport:
        """`visits` of a move are thousandths of its probability, the means the value of the game."""
        likeliest = sorted(chances, key=lambda move: -chances[move])
        return SearchReport(
            seconds=self._seconds,
            nodes=self._plex.set_count,
            moves=tuple(
                MoveReport(move, round(_SHARES * chances[move]), self._value, None) for move in likeliest
            ),
            mode="equilibrium",
        )


class EquilibriumAdvisor(Advisor):
    """Plays the equilibrium of games whose tree is small enough, for as long as the match can be followed."""

    def __init__(self, mebibytes: int) -> None:
        """mebibytes: for the tree of histories."""
        self._mebibytes = mebibytes

    def prepare(self, game: Game[Any]) -> None:
        prepare_equilibria()

    def start(self, setup: MatchSetup, budget: Budget) -> bool:
        self._play = find_equilibrium(setup, budget, mebibytes=self._mebibytes)
        self._observed = 0
        self.leads = self._play is not None
        return self.leads

    def advise(self, position: Position, budget: Budget) -> Advice | None:
        assert self._play is not None
        for observation in position.observations[self._observed :]:
            self._play.observe(observation)
        self._observed = len(position.observations)
        # The match left the tree of the rules: over HTTP messages are lost.
        self.leads = not self._play.is_lost
        drawn = self._play.draw()
        return None if drawn is None else Advice(*drawn, is_final=True)


def find_equilibrium(setup: MatchSetup, budget: Budget, *, mebibytes: int) -> FollowedStrategy | None:
    """The equilibrium of the match's game, or None if it cannot be found in time.

    A part of the clock is used; a counted search solves trees of at most as many histories as it may
    simulate, whatever the clock.

    Raises KeyboardInterrupt.
    """
    histories = budget.simulations
    deadline = budget.part(CLOCK_SHARE).deadline if histories is None else None
    limits = SolverLimits(
        mebibytes=mebibytes, histories=histories, states=histories, deadline=deadline, may_use_disk=False
    )
    options = CfrOptions(ACCURACY) if histories is None else CfrOptions(ACCURACY, COUNTED_ITERATIONS)
    try:
        found = solve_hidden(require_compiled(setup.game), limits, options)
    except (SolverError, MemoryError):
        return None
    if found.is_interrupted:
        raise KeyboardInterrupt
    if found.exploitability > MAX_GAIN or setup.role not in found.form.graph.agents:
        return None
    return FollowedStrategy(found, setup.role, random.Random(setup.seed))


def prepare_equilibria() -> None:
    """Compile the kernels that find equilibria or load them from the cache, before any clock starts."""
    solve_hidden(load(find_own_rules(_PREPARED_GAME)), None, CfrOptions(ACCURACY, 2))
