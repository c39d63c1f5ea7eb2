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
        if score > 0.5:
            self.wins += 1
        elif score < 0.5:
            self.losses += 1
        else:
            self.draws += 1

    def add_all(self, other: PairScore) -> None:
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses
        self.points += other.points

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

    def add(self, seat: SeatResult) -> None:
        """Count a seat of a completed match."""
        self.add_faults(seat)
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

    def add_faults(self, seat: SeatResult) -> None:
        """Count only the faults of a seat, as for aborted matches."""
        self.asked += seat.moves
        self.late += seat.late
        self.illegal += seat.illegal
        self.lost += seat.lost
        self.crashed += seat.crashed

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

    flawed        completed matches with a fault
    even          condition and single-player game → the goal that every agent got in every match: such a game
                  compares nothing, and is left out of `pairs` and so of win rates and ratings
    pairs         scores of pairs, in the direction of `Plan.pairs`
    agents        totals by condition, game and agent
    """

    plan: Plan
    match_count: int
    pairs: dict[PairKey, PairScore]
    agents: dict[tuple[str, str, str], AgentTotals]
    aborted: list[StoredMatch]
    flawed: list[StoredMatch]
    even: dict[tuple[str, str], int]
    versions: list[str]
    processors: list[str]

    def over_games(self, condition: str, agent: str, opponent: str) -> PairScore:
        """The score of a pair over all games."""
        total = PairScore()
        for game in self.plan.games:
            total.add_all(self.pairs.get((condition, game.name, agent, opponent), PairScore()))
        return total

    def met(self, condition: str) -> list[tuple[str, str]]:
        """The pairs that met: an agent and its opponent, baselines last."""
        return [
            pair
            for pair in self.plan.pairs()
            if any(key[0] == condition and key[2:] == pair for key in self.pairs)
        ]


def collect(plan: Plan, matches: Iterable[StoredMatch]) -> Results:
    """Summarize matches, in any order."""
    pairs: dict[PairKey, PairScore] = defaultdict(PairScore)
    agents: dict[tuple[str, str, str], AgentTotals] = defaultdict(AgentTotals)
    alone: dict[tuple[str, str, str], dict[int, int]] = defaultdict(dict)
    wanted = set(plan.pairs())
    aborted, flawed, versions, processors, count = [], [], set(), set(), 0
    for match in matches:
        count += 1
        versions.add(match.version)
        processors.add(match.processor)
        for seat in match.seats:
            if seat.agent is not None:
                totals = agents[match.condition, match.game, seat.agent]
                (totals.add if match.is_completed else totals.add_faults)(seat)
        if not match.is_completed:
            aborted.append(match)
            continue
        if match.fault:
            flawed.append(match)
        scores = dict(pair_scores(match))
        for (a, b), score in scores.items():
            if (a, b) in wanted:
                pairs[match.condition, match.game, a, b].add(score)
        if len(match.cell_agents) == 1:
            goal = next(seat.goal for seat in match.seats if seat.agent is not None)
            if goal is not None:
                alone[match.condition, match.game, match.cell_agents[0]][match.repetition] = goal
    even = _compare_alone(plan, alone, pairs)
    return Results(
        plan,
        count,
        dict(pairs),
        dict(agents),
        aborted,
        flawed,
        even,
        sorted(versions),
        sorted(processors),
    )


def _compare_alone(
    plan: Plan, alone: dict[tuple[str, str, str], dict[int, int]], pairs: dict[PairKey, PairScore]
) -> dict[tuple[str, str], int]:
    """Compare agents in single-player games by their goals in the same repetition; returns `Results.even`."""
    even = {}
    for condition, game in sorted({key[:2] for key in alone}):
        goals = {
            goal for key, found in alone.items() if key[:2] == (condition, game) for goal in found.values()
        }
        if len(goals) == 1 and len(plan.agents) > 1:
            even[condition, game] = goals.pop()
            continue
        for a, b in plan.pairs():
            left, right = alone.get((condition, game, a), {}), alone.get((condition, game, b), {})
            for repetition in sorted(left.keys() & right.keys()):
                pairs[condition, game, a, b].add(compare(left[repetition], right[repetition]))
    return even


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


def points_between(results: Results, condition: str, game: str | None = None) -> dict[tuple[str, str], float]:
    """(a, b) → points of `a` against `b`, in one game or in all."""
    points: dict[tuple[str, str], float] = defaultdict(float)
    for (of_condition, of_game, a, b), score in results.pairs.items():
        if of_condition == condition and game in (None, of_game):
            points[a, b] += score.points
            points[b, a] += score.count - score.points
    return dict(points)
