"""Results of stored matches: scores of pairs, and totals of each agent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from ggp.confidence_intervals import mean_interval, wilson_interval
from ggp.tournament.plan import Plan
from ggp.tournament.play import SeatResult
from ggp.tournament.store import StoredMatch

PairKey = tuple[str, str, str, str]
"""Condition, game, agent, opponent."""


@dataclass
class PairScore:
    """The result of one agent against another.

    With more than two roles, a match may count a fraction of a point.
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0

    def add(self, score: float) -> None:
        self.points += score
        self.wins += score > 0.5
        self.losses += score < 0.5
        self.draws += score == 0.5

    @property
    def count(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def rate(self) -> float:
        return self.points / self.count if self.count else 0.5

    @property
    def interval(self) -> tuple[float, float]:
        return wilson_interval(self.points, self.count)


@dataclass
class AgentTotals:
    """Totals of one agent in one game under one condition, over all its seats.

    moves, asked   number of moves in completed matches, and in all matches
    fallbacks      fallback policy → number of seats in which it was used
    reporting      number of seats in which the agent reported its policy
    """

    goals: list[int] = field(default_factory=list)
    seats: int = 0
    moves: int = 0
    asked: int = 0
    late: int = 0
    illegal: int = 0
    lost: int = 0
    crashed: int = 0
    think_seconds: float = 0.0
    simulations: int = 0
    counted_seconds: float = 0.0
    fallbacks: Counter[str] = field(default_factory=Counter)
    reporting: int = 0

    def add(self, seat: SeatResult, *, is_completed: bool) -> None:
        """Count a seat; of aborted matches, only its faults."""
        self.asked += seat.moves
        self.late += seat.late
        self.illegal += seat.illegal
        self.lost += seat.lost
        self.crashed += seat.crashed
        if not is_completed:
            return
        self.seats += 1
        self.moves += seat.moves
        self.think_seconds += seat.think_seconds
        self.reporting += seat.fallback is not None
        if seat.fallback:
            self.fallbacks[seat.fallback] += 1
        if seat.goal is not None:
            self.goals.append(seat.goal)
        if seat.simulations is not None:
            self.simulations += seat.simulations
            self.counted_seconds += seat.think_seconds

    @property
    def faults(self) -> int:
        return self.late + self.illegal + self.lost + self.crashed

    @property
    def mean_goal(self) -> tuple[float, float]:
        """Mean goal and half the width of its interval."""
        return mean_interval(self.goals)

    @property
    def simulations_per_second(self) -> float | None:
        """Speed of the search; None for players that do not count simulations."""
        return self.simulations / self.counted_seconds if self.counted_seconds else None

    @property
    def seconds_per_move(self) -> float:
        return self.think_seconds / self.moves if self.moves else 0.0


@dataclass
class Results:
    """All results of a run. Aborted matches count only in `aborted` and in the agents' faults.

    pairs         scores of pairs, in the direction of `Plan.pairs`
    agents        totals by condition, game and agent
    flawed        completed matches with a fault
    even          condition and single-player game → the goal that every agent got in every match: such a game
                  compares nothing, and is left out of `pairs` and so of win rates and ratings
    """

    plan: Plan
    match_count: int = 0
    pairs: dict[PairKey, PairScore] = field(default_factory=lambda: defaultdict(PairScore))
    agents: dict[tuple[str, str, str], AgentTotals] = field(default_factory=lambda: defaultdict(AgentTotals))
    aborted: list[StoredMatch] = field(default_factory=list)
    flawed: list[StoredMatch] = field(default_factory=list)
    even: dict[tuple[str, str], int] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)
    processors: list[str] = field(default_factory=list)

    def over_games(self, condition: str, agent: str, opponent: str) -> PairScore:
        """The score of a pair over all games."""
        total = PairScore()
        for game in self.plan.games:
            score = self.pairs.get((condition, game.name, agent, opponent), PairScore())
            total.wins += score.wins
            total.draws += score.draws
            total.losses += score.losses
            total.points += score.points
        return total

    def met(self, condition: str) -> list[tuple[str, str]]:
        """The pairs that met: an agent and its opponent, baselines last."""
        met = {(a, b) for of_condition, _, a, b in self.pairs if of_condition == condition}
        return [pair for pair in self.plan.pairs() if pair in met]


def collect(plan: Plan, matches: Iterable[StoredMatch]) -> Results:
    """Summarize matches, in any order."""
    results = Results(plan)
    alone: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
    wanted = set(plan.pairs())
    versions, processors = set(), set()
    for match in matches:
        results.match_count += 1
        versions.add(match.version)
        processors.add(match.processor)
        for seat in match.seats:
            if seat.agent is not None:
                totals = results.agents[match.condition, match.game, seat.agent]
                totals.add(seat, is_completed=match.is_completed)
        if not match.is_completed:
            results.aborted.append(match)
            continue
        if match.fault:
            results.flawed.append(match)
        for (a, b), score in pair_scores(match):
            if (a, b) in wanted:
                results.pairs[match.condition, match.game, a, b].add(score)
        if len(match.cell_agents) == 1:
            goal = next(seat.goal for seat in match.seats if seat.agent is not None)
            if goal is not None:
                alone[match.condition, match.game, match.cell_agents[0]][match.repetition] = goal
    _compare_alone(results, alone)
    results.versions, results.processors = sorted(versions), sorted(processors)
    return results


def _compare_alone(results: Results, alone: dict[tuple[str, str, str], dict[int, int]]) -> None:
    """Compare agents in single-player games by their goals in the same repetition."""
    for condition, game in sorted({key[:2] for key in alone}):
        goals = {
            goal for key, found in alone.items() if key[:2] == (condition, game) for goal in found.values()
        }
        if len(goals) == 1 and len(results.plan.agents) > 1:
            results.even[condition, game] = goals.pop()
            continue
        for a, b in results.plan.pairs():
            left, right = alone.get((condition, game, a), {}), alone.get((condition, game, b), {})
            for repetition in sorted(left.keys() & right.keys()):
                results.pairs[condition, game, a, b].add(compare(left[repetition], right[repetition]))


def pair_scores(match: StoredMatch) -> Iterator[tuple[tuple[str, str], float]]:
    """For every ordered pair of agents in the match, the score 0..1 of the first.

    It is the mean over their seats: the higher goal wins, equal goals draw.
    """
    goals: dict[str, list[int]] = {}
    for seat in match.seats:
        if seat.agent is not None and seat.goal is not None:
            goals.setdefault(seat.agent, []).append(seat.goal)
    for a, b in combinations(goals, 2):
        scores = [compare(left, right) for left in goals[a] for right in goals[b]]
        score = sum(scores) / len(scores)
        yield (a, b), score
        yield (b, a), 1 - score


def compare(left: int, right: int) -> float:
    """Score of `left`: 1 for a win, 0.5 for a draw, 0 for a loss.

    >>> compare(100, 0), compare(50, 50), compare(0, 100)
    (1.0, 0.5, 0.0)
    """
    return 1.0 if left > right else 0.5 if left == right else 0.0
