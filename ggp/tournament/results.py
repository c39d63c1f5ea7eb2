"""From stored matches to what they say: scores of pairs, and what each agent did."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from ggp.tournament.intervals import mean_interval, wilson
from ggp.tournament.plan import Plan
from ggp.tournament.play import SeatResult
from ggp.tournament.store import StoredMatch

PairKey = tuple[str, str, str, str]
"""Condition, game, agent, opponent."""


@dataclass
class PairScore:
    """Matches of one agent against another; a match is a point, half a point or, with many roles, a part."""

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
        return wilson(self.points, self.count)


@dataclass
class AgentTotals:
    """What one agent did in one game under one condition, over all its seats.

    moves, asked   moves of matches that were played to their end, and of all
    fallbacks      by policy that stood in for the agent's own: in how many seats
    told           seats in which the agent told what it played by
    """

    goals: list[int] = field(default_factory=list)
    seats: int = 0
    moves: int = 0
    asked: int = 0
    late: int = 0
    illegal: int = 0
    lost: int = 0
    think_seconds: float = 0.0
    simulations: int = 0
    counted_seconds: float = 0.0
    fallbacks: Counter[str] = field(default_factory=Counter)
    told: int = 0

    def add(self, seat: SeatResult) -> None:
        """Count a seat of a match that was played to its end."""
        self.add_faults(seat)
        self.seats += 1
        self.moves += seat.moves
        self.think_seconds += seat.think_seconds
        self.told += seat.fallback is not None
        if seat.fallback:
            self.fallbacks[seat.fallback] += 1
        if seat.goal is not None:
            self.goals.append(seat.goal)
        if seat.simulations is not None:
            self.simulations += seat.simulations
            self.counted_seconds += seat.think_seconds

    def add_faults(self, seat: SeatResult) -> None:
        """Count what went wrong, which is all that counts of an aborted match."""
        self.asked += seat.moves
        self.late += seat.late
        self.illegal += seat.illegal
        self.lost += seat.lost

    @property
    def faults(self) -> int:
        return self.late + self.illegal + self.lost

    @property
    def mean_goal(self) -> tuple[float, float]:
        """Mean and half the width of its interval."""
        return mean_interval(self.goals)

    @property
    def simulations_per_second(self) -> float | None:
        """None for players that do not count."""
        return self.simulations / self.counted_seconds if self.counted_seconds else None

    @property
    def seconds_per_move(self) -> float:
        return self.think_seconds / self.moves if self.moves else 0.0


@dataclass
class Results:
    """Everything a report shows. Aborted matches are in `aborted` and in the agents' faults only.

    flawed        matches that were played to the end, although something was wrong with them
    pairs         scores of who is measured against whom, in the directions of `Plan.pairs`
    agents        by condition, game and agent
    """

    plan: Plan
    match_count: int
    pairs: dict[PairKey, PairScore]
    agents: dict[tuple[str, str, str], AgentTotals]
    aborted: list[StoredMatch]
    flawed: list[StoredMatch]
    versions: list[str]
    processors: list[str]

    def over_games(self, condition: str, agent: str, opponent: str) -> PairScore:
        """The pair's matches in all games together."""
        total = PairScore()
        for game in self.plan.games:
            total.add_all(self.pairs.get((condition, game.name, agent, opponent), PairScore()))
        return total

    def met(self, condition: str) -> list[tuple[str, str]]:
        """The pairs to show: an agent and the one it is measured against, baselines last."""
        return [
            pair
            for pair in self.plan.pairs()
            if any(key[0] == condition and key[2:] == pair for key in self.pairs)
        ]


def collect(plan: Plan, matches: Iterable[StoredMatch]) -> Results:
    """Sum up matches."""
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
    _compare_alone(plan, alone, pairs)
    return Results(
        plan,
        count,
        dict(pairs),
        dict(agents),
        aborted,
        flawed,
        sorted(versions),
        sorted(processors),
    )


def _compare_alone(
    plan: Plan, alone: dict[tuple[str, str, str], dict[int, int]], pairs: dict[PairKey, PairScore]
) -> None:
    """Games for one role: who got more in the same repetition, as if the two had met."""
    for condition, game in {key[:2] for key in alone}:
        for a, b in plan.pairs():
            left, right = alone.get((condition, game, a), {}), alone.get((condition, game, b), {})
            for repetition in sorted(left.keys() & right.keys()):
                pairs[condition, game, a, b].add(compare(left[repetition], right[repetition]))


def pair_scores(match: StoredMatch) -> Iterator[tuple[tuple[str, str], float]]:
    """For every ordered pair of agents in the match, the first one's score 0..1.

    It is the mean over the seats of the two: more goal points win, as many draw.
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
    """1 for a win of `left`, 0.5 for a draw, 0 for a loss."""
    return 1.0 if left > right else 0.5 if left == right else 0.0


def points_between(results: Results, condition: str, game: str | None = None) -> dict[tuple[str, str], float]:
    """(a, b) → points of `a` against `b` under a condition, in one game or all, in both directions."""
    points: dict[tuple[str, str], float] = defaultdict(float)
    for (of_condition, of_game, a, b), score in results.pairs.items():
        if of_condition == condition and game in (None, of_game):
            points[a, b] += score.points
            points[b, a] += score.count - score.points
    return dict(points)
