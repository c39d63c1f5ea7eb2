"""Search over information sets by regret matching, in plain Python.

A role chooses by the statistics of its *information set*: all that it has observed since the start of the
match, its own moves and percepts. Every simulation starts in the initial state, so histories are weighted by
the strategies that the search itself has found for the other roles, and never by a model of them.

Outcome-sampling Monte Carlo counterfactual regret minimization (Lanctot, Waugh, Zinkevich and Bowling 2009,
section 4) with a baseline per move against variance (Schmid and others 2019). In two-role games of constant
sum the average strategies approach an equilibrium; elsewhere they are a heuristic. The search never turns to
what a match has shown, so it suits games of at most some hundreds of information sets. No player uses it yet.
"""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ggp.beliefs.observation import Observation, observe_step
from ggp.game import RANDOM_ROLE, Game, JointMove, Move, Role

EXPLORATION = 0.4
"""How often the role whose regrets are learned tries a move at random."""
MIDDLE_GOAL = 50.0


@dataclass
class SetStatistics:
    """Statistics of one information set: a number per legal move.

    moves      the legal moves, sorted by text
    regret     cumulative counterfactual regret, in goals
    weight     cumulative strategy; its shares are the average strategy
    baseline   mean goal of the simulations in which the role learned and made the move
    tries      number of those simulations
    after      the sets that follow, by what the role observes of the next step
    """

    moves: tuple[Move, ...]
    regret: list[float]
    weight: list[float]
    baseline: list[float]
    tries: list[int]
    after: dict[Observation, SetStatistics] = field(default_factory=dict)

    @classmethod
    def of(cls, moves: tuple[Move, ...]) -> SetStatistics:
        """Statistics before the first simulation."""
        n = len(moves)
        return cls(moves, [0.0] * n, [0.0] * n, [MIDDLE_GOAL] * n, [0] * n)

    def strategy(self) -> list[float]:
        """The strategy of regret matching: shares of the positive regrets, or even."""
        return _shares([max(regret, 0.0) for regret in self.regret])

    def average(self) -> list[float]:
        """The average strategy, even before the first simulation."""
        return _shares(self.weight)


@dataclass(frozen=True)
class _Visit:
    """A choice of the learning role. `reach`: its probability of sampling its earlier moves."""

    place: SetStatistics
    strategy: list[float]
    chosen: int
    chance: float
    reach: float


class InformationSetSearch:
    """Statistics of the information sets of all roles, grown by simulations from the initial state.

    A simulation adds at most one set per role; where a role has none yet, it moves uniformly at random.

    >>> import ggp
    >>> game = ggp.load("wire_cutting", engine="reasoner")
    >>> search = InformationSetSearch(game, seed=1)
    >>> search.run(400)
    >>> before = Observation(ggp.parse_term("noop"), ())
    >>> shares = search.average_strategy(game.roles[0], [before])
    >>> str(max(shares, key=shares.__getitem__))
    'ask'
    """

    def __init__(self, game: Game[Any], *, seed: int = 0, exploration: float = EXPLORATION) -> None:
        self._game = game
        self._rng = random.Random(seed)
        self._exploration = exploration
        self._learners = [i for i, role in enumerate(game.roles) if role != RANDOM_ROLE]
        self._initial = game.initial_state()
        self._roots: list[SetStatistics] = [
            SetStatistics.of(game.legal_moves(self._initial, role)) for role in game.roles
        ]
        self.simulation_count = 0

    def run(self, simulations: int) -> None:
        """Simulate this many matches; the roles learn in turn. Raises GameError if the rules are at fault."""
        for _ in range(simulations):
            self._simulate(self._learners[self.simulation_count % len(self._learners)])
            self.simulation_count += 1

    def average_strategy(self, role: Role, observations: Iterable[Observation]) -> dict[Move, float]:
        """The average strategy of `role` after `observations`; empty if no simulation has come there."""
        place: SetStatistics | None = self._roots[self._game.roles.index(role)]
        for observation in observations:
            if place is None:
                break
            place = place.after.get(observation)
        return {} if place is None else dict(zip(place.moves, place.average(), strict=True))

    def _simulate(self, learner: int) -> None:
        """One match in which the role with index `learner` explores and learns."""
        game, state = self._game, self._initial
        places: list[SetStatistics | None] = list(self._roots)
        visits: list[_Visit] = []
        reach = 1.0
        while not game.is_terminal(state):
            joint_move = []
            before = reach
            for i, (role, place) in enumerate(zip(game.roles, places, strict=True)):
                if place is None:
                    joint_move.append(self._rng.choice(game.legal_moves(state, role)))
                elif i != learner:
                    joint_move.append(self._move(place, before))
                else:
                    visits.append(self._visit(place, before))
                    reach *= visits[-1].chance
                    joint_move.append(place.moves[visits[-1].chosen])
            following = game.next_state(state, joint_move)
            if not game.is_terminal(following):
                places = self._following_places(places, state, joint_move, following)
            state = following
        _learn(visits, float(game.goal(state, game.roles[learner])))

    def _move(self, place: SetStatistics, reach: float) -> Move:
        """A move of a role that does not learn, added to its average strategy. `reach` is the learner's."""
        strategy = place.strategy()
        for i, share in enumerate(strategy):
            place.weight[i] += share / reach
        return self._rng.choices(place.moves, strategy)[0]

    def _visit(self, place: SetStatistics, reach: float) -> _Visit:
        """Sample a move of the learning role."""
        strategy = place.strategy()
        count = len(strategy)
        sampling = [self._exploration / count + (1 - self._exploration) * share for share in strategy]
        chosen = self._rng.choices(range(count), sampling)[0]
        if len(self._learners) == 1:
            for i, share in enumerate(strategy):
                place.weight[i] += share
        return _Visit(place, strategy, chosen, sampling[chosen], reach)

    def _following_places(
        self,
        places: Sequence[SetStatistics | None],
        state: Hashable,
        joint_move: JointMove,
        following: Hashable,
    ) -> list[SetStatistics | None]:
        """The roles' sets after a step; a role leaves the known sets at the first one that is new."""
        found: list[SetStatistics | None] = []
        for role, place in zip(self._game.roles, places, strict=True):
            if place is None or role == RANDOM_ROLE:
                found.append(None)
                continue
            observation = observe_step(self._game, state, joint_move, role)
            known = place.after.get(observation)
            if known is None:
                place.after[observation] = SetStatistics.of(self._game.legal_moves(following, role))
            found.append(known)
        return found


def _learn(visits: Sequence[_Visit], goal: float) -> None:
    """Regrets and baselines of the learning role's sets in one simulation that ended with `goal`."""
    value = goal
    for visit in reversed(visits):
        place, chosen = visit.place, visit.chosen
        values = list(place.baseline)
        values[chosen] += (value - values[chosen]) / visit.chance
        value = sum(share * each for share, each in zip(visit.strategy, values, strict=True))
        for i, each in enumerate(values):
            place.regret[i] += (each - value) / visit.reach
        place.tries[chosen] += 1
        place.baseline[chosen] += (goal - place.baseline[chosen]) / place.tries[chosen]


def _shares(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [each / total for each in weights] if total > 0 else [1 / len(weights)] * len(weights)
