"""Search over information sets in plain Python: the readable twin of `ggp.search.information_sets.search`.

It simulates one match after the other, by the `Game` protocol, with the same counter-based draws, and learns
from a batch when all its matches are over. So it builds the same statistics, up to rounding,
in games whose roles have at most 256 moves; in wider ones batches on lanes are smaller.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ggp.beliefs.observation import Observation, observe_step
from ggp.game import RANDOM_ROLE, Game, Move, Role
from ggp.search.information_sets.draws import draws
from ggp.search.information_sets.search import DEEPEST, EXPLORATION, batch_size
from ggp.search.information_sets.set_table import MIDDLE_GOAL

History = tuple[Observation, ...]


@dataclass
class SetStatistics:
    """Statistics of one information set: a number per legal move.

    moves      the legal moves, sorted by text
    regret     cumulative counterfactual regret, in goals; negative only within a batch
    weight     cumulative strategy; its shares are the average strategy
    total      goals of the simulations in which the role learned and made the move
    tries      number of those simulations
    """

    moves: tuple[Move, ...]
    regret: list[float]
    weight: list[float]
    total: list[float]
    tries: list[int]

    @classmethod
    def of(cls, moves: tuple[Move, ...]) -> SetStatistics:
        """Statistics before the first simulation."""
        n = len(moves)
        return cls(moves, [0.0] * n, [0.0] * n, [0.0] * n, [0] * n)

    def strategy(self) -> list[float]:
        """The strategy of regret matching: shares of the positive regrets, or even."""
        return _shares([max(regret, 0.0) for regret in self.regret])

    def average(self) -> list[float]:
        """The average strategy, even before the first simulation."""
        return _shares(self.weight)

    def baseline(self) -> list[float]:
        """The mean goal of each move so far."""
        return [
            total / tries if tries else MIDDLE_GOAL
            for total, tries in zip(self.total, self.tries, strict=True)
        ]


@dataclass(frozen=True)
class _Visit:
    """A choice in a known set. `reach`: the learner's probability of sampling its earlier moves."""

    place: SetStatistics
    is_own: bool
    strategy: list[float]
    baseline: list[float]
    chosen: int
    chance: float
    reach: float


@dataclass
class _Match:
    """One simulation: by role what it has observed, and whether all its sets so far are known."""

    number: int
    learner: int
    histories: list[History]
    is_inside: list[bool]
    visits: list[_Visit] = field(default_factory=list)
    goal: float = MIDDLE_GOAL


class PlainInformationSetSearch:
    """Statistics of the information sets of all roles, grown by simulations from the initial state.

    >>> import ggp
    >>> game = ggp.load("wire_cutting", engine="reasoner")
    >>> search = PlainInformationSetSearch(game, seed=1)
    >>> search.run(simulations=600)
    >>> before = Observation(ggp.parse_term("noop"), ())
    >>> shares = search.average_strategy(game.roles[0], [before])
    >>> str(max(shares, key=shares.__getitem__))
    'ask'
    """

    def __init__(self, game: Game[Any], *, seed: int = 0, exploration: float = EXPLORATION) -> None:
        self._game = game
        self._seed = seed
        self._exploration = exploration
        self._learners = [i for i, role in enumerate(game.roles) if role != RANDOM_ROLE]
        self._sets: list[dict[History, SetStatistics]] = [{} for _ in game.roles]
        self._new: list[dict[History, SetStatistics]] = [{} for _ in game.roles]
        self.simulation_count = 0

    @property
    def set_count(self) -> int:
        """Information sets with statistics, of all roles."""
        return sum(map(len, self._sets))

    def run(self, *, simulations: int) -> None:
        """Simulate this many matches; the roles learn in turn. Raises GameError if the rules are at fault."""
        end = self.simulation_count + simulations
        while self.simulation_count < end:
            size = batch_size(self.simulation_count, moves=1)
            count = min(size, end - self.simulation_count)
            first = self.simulation_count
            matches = [self._simulate(number) for number in range(first, first + count)]
            for match in matches:
                self._learn(match)
            for visit in (visit for match in matches for visit in match.visits):
                visit.place.regret = [max(regret, 0.0) for regret in visit.place.regret]
            for sets, new in zip(self._sets, self._new, strict=True):
                sets.update(new)
                new.clear()
            self.simulation_count += count

    def sets(self, role: Role) -> dict[History, SetStatistics]:
        """The statistics of a role by what it has observed."""
        return self._sets[self._game.roles.index(role)]

    def average_strategy(self, role: Role, observations: Iterable[Observation]) -> dict[Move, float]:
        """The average strategy of `role` after `observations`; empty if no simulation has come there."""
        place = self._sets[self._game.roles.index(role)].get(tuple(observations))
        return {} if place is None else dict(zip(place.moves, place.average(), strict=True))

    def _simulate(self, number: int) -> _Match:
        """One match; the roles learn in turn."""
        game, state = self._game, self._game.initial_state()
        learner = self._learners[number % len(self._learners)]
        match = _Match(number, learner, [()] * len(game.roles), [True] * len(game.roles))
        reach = 1.0
        for step in itertools.count():
            if game.is_terminal(state):
                break
            first = len(match.visits)
            joint_move = [self._move(match, state, step, i, reach) for i in range(len(game.roles))]
            for visit in match.visits[first:]:
                if visit.is_own:
                    reach *= visit.chance
            for i, role in enumerate(game.roles):
                match.histories[i] += (observe_step(game, state, joint_move, role),)
            state = game.next_state(state, joint_move)
        match.goal = float(game.goal(state, game.roles[learner]))
        return match

    def _move(self, match: _Match, state: Hashable, step: int, index: int, reach: float) -> Move:
        """The move of the role with this index; a choice in a known set is noted."""
        moves = self._game.legal_moves(state, self._game.roles[index])
        (point,) = draws(self._seed, np.array([match.number]), step, index).tolist()
        match.is_inside[index] &= step < DEEPEST
        place = self._known_set(match, index, moves)
        if place is None:
            return moves[_drawn([1.0] * len(moves), point)]
        is_own, strategy, count = index == match.learner, place.strategy(), len(moves)
        sampling = strategy
        if is_own:
            sampling = [self._exploration / count + (1 - self._exploration) * share for share in strategy]
        chosen = _drawn(sampling, point)
        match.visits.append(
            _Visit(place, is_own, strategy, place.baseline(), chosen, sampling[chosen], reach)
        )
        return moves[chosen]

    def _known_set(self, match: _Match, index: int, moves: tuple[Move, ...]) -> SetStatistics | None:
        """The role's set. A role leaves the known sets at the first one that is new."""
        if index not in self._learners or not match.is_inside[index] or len(moves) == 1:
            return None
        history = match.histories[index]
        place = self._sets[index].get(history)
        if place is None:
            match.is_inside[index] = False
            self._new[index][history] = SetStatistics.of(moves)
        return place

    def _learn(self, match: _Match) -> None:
        """Regrets of the learning role, and average strategies of the others."""
        value, is_alone = match.goal, len(self._learners) == 1
        for visit in reversed(match.visits):
            place, chosen = visit.place, visit.chosen
            if is_alone or not visit.is_own:
                for i, share in enumerate(visit.strategy):
                    place.weight[i] += share if is_alone else share / visit.reach
            if not visit.is_own:
                continue
            values = list(visit.baseline)
            values[chosen] += (value - values[chosen]) / visit.chance
            value = sum(share * each for share, each in zip(visit.strategy, values, strict=True))
            for i, each in enumerate(values):
                place.regret[i] += (each - value) / visit.reach
            place.tries[chosen] += 1
            place.total[chosen] += match.goal


def _drawn(weights: Sequence[float], point: float) -> int:
    """The index at which the running sum of `weights` exceeds the share `point` of their sum."""
    sums = list(itertools.accumulate(weights))
    return next(i for i, reached in enumerate(sums) if reached > point * sums[-1])


def _shares(weights: list[float]) -> list[float]:
    total = sum(weights)
    return [each / total for each in weights] if total > 0 else [1 / len(weights)] * len(weights)
