"""The tables of a report as data; `ggp.tournament.report` prints them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ggp.tournament.plan import Condition, Plan
from ggp.tournament.ratings import Rating, rate
from ggp.tournament.results import AgentTotals, PairScore, Results
from ggp.tournament.schedule import CellKey
from ggp.tournament.stopping import Decision

SMALL_SECONDS = 0.01
"""Seconds per move below which two significant digits are shown."""

MAX_COLUMNS = 5
"""Number of columns of numbers that fit a terminal."""


@dataclass(frozen=True)
class Table:
    """Rows of text with a header; the first `text_columns` columns are text, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1

    def upright(self) -> Table:
        """Transpose a table with too many columns and fewer rows, if it has one text column."""
        if self.text_columns > 1 or len(self.header) - 1 <= max(MAX_COLUMNS, len(self.rows)):
            return self
        first, *columns = zip(self.header, *self.rows, strict=True)
        return Table(self.title, first, tuple(columns))


# --- pairs ----------------------------------------------------------------------------------------


def win_rates(results: Results, condition: str) -> Table:
    """Pairs × games: win rate in percent, Wilson interval and number of matches."""
    games = _games(results, condition)
    rows = []
    for a, b in results.met(condition):
        cells = [results.pairs.get((condition, game, a, b), PairScore()) for game in games]
        if len(games) > 1:
            cells.append(results.over_games(condition, a, b))
        rows.append((f"{a} vs {b}", *map(rate_text, cells)))
    header = ("win rate %", *games, *(["all games"] if len(games) > 1 else []))
    return Table("Win rates", header, tuple(rows))


def scores_between(results: Results, condition: str) -> dict[tuple[str, str], PairScore]:
    """(agent, opponent) → score of the agent over all games, for both directions of every pair that met."""
    scores: dict[tuple[str, str], PairScore] = {}
    for a, b in results.met(condition):
        score = scores[a, b] = results.over_games(condition, a, b)
        scores[b, a] = PairScore(score.losses, score.draws, score.wins, score.count - score.points)
    return scores


def brief_crosstable(results: Results, condition: str) -> Table:
    """The crosstable in whole percent, best agent first, with a column per place: it fits a terminal."""
    agents, scores = ranking(results, condition), scores_between(results, condition)
    rows = [
        (f"{place}", a, *(f"{100 * scores[a, b].rate:.0f}" if (a, b) in scores else "" for b in agents))
        for place, a in enumerate(agents, start=1)
    ]
    header = ("", "win rate %", *map(str, range(1, len(agents) + 1)))
    return Table("Crosstable", header, tuple(rows if len(agents) > 2 and scores else ()), text_columns=2)


def rate_text(score: PairScore) -> str:
    """Win rate in percent, interval and number of matches.

    >>> rate_text(PairScore(wins=60, losses=40, points=60))
    '60.0 [50.2, 69.1] 100'
    """
    if not score.count:
        return "-"
    low, high = score.interval
    return f"{100 * score.rate:.1f} [{100 * low:.1f}, {100 * high:.1f}] {score.count}"


def decisions(plan: Plan, found: dict[CellKey, Decision]) -> Table:
    """Cells that were stopped early, with the verdict on the first agent of the pair."""
    directed = {frozenset(pair): pair for pair in plan.pairs()}
    rows = tuple(
        (condition, game, " vs ".join(directed[frozenset(agents)]), decision.verdict)
        for (condition, game, agents), decision in found.items()
        if decision.is_final
    )
    return Table("Decisions", ("condition", "game", "pair", "verdict"), rows, text_columns=4)


# --- ratings --------------------------------------------------------------------------------------


def points_between(results: Results, condition: str) -> dict[tuple[str, str], float]:
    """(a, b) → points of `a` against `b` over all games."""
    return {pair: score.points for pair, score in scores_between(results, condition).items()}


def ratings(results: Results, condition: str) -> list[Rating]:
    """Bradley-Terry ratings over all games of a condition; the first baseline, if any, is 0."""
    names = [agent.name for agent in results.plan.agents]
    anchor = results.plan.against[0] if results.plan.against else None
    return rate(names, points_between(results, condition), anchor=anchor)


def ranking(results: Results, condition: str) -> list[str]:
    """The agents that played, best first; those without a rating last."""
    rated = [rating.agent for rating in ratings(results, condition)]
    return rated + [agent for agent in _agents(results, condition) if agent not in rated]


def ratings_table(results: Results, condition: str) -> Table:
    """Agents × rating and points, best first."""
    points = points_between(results, condition)
    rows = []
    for rating in ratings(results, condition):
        made = sum(value for (a, _), value in points.items() if a == rating.agent)
        given = sum(value for (_, b), value in points.items() if b == rating.agent)
        name = rating.agent if rating.group == 0 else f"{rating.agent} (group {rating.group + 1})"
        rows.append((name, f"{rating.elo:+.0f} ±{rating.margin:.0f}", f"{made:g} of {made + given:g}"))
    return Table("Ratings", ("agent", "Elo", "points"), tuple(rows))


# --- agents ---------------------------------------------------------------------------------------


def mean_goals(results: Results, condition: str) -> Table:
    """Agents × games: mean goal and half the width of its interval."""

    def text(total: AgentTotals) -> str:
        if not total.goals:
            return "-"
        mean, margin = total.mean_goal
        return f"{mean:.1f}" if math.isinf(margin) else f"{mean:.1f} ±{margin:.1f}"

    return _by_game(results, condition, "Mean goals", "mean goal", text)


def speeds(results: Results, condition: str) -> Table:
    """Agents × games: playouts per second of thinking, and seconds per move."""

    def text(total: AgentTotals) -> str:
        if not total.seats:
            return "-"
        speed, seconds = total.simulations_per_second, total.seconds_per_move
        shown = f"{seconds:.3f}" if seconds >= SMALL_SECONDS or not seconds else f"{seconds:.2g}"
        return f"{'-' if speed is None else f'{speed:,.0f}'} ({shown})"

    return _by_game(results, condition, "Speed", "playouts/s (seconds per move)", text)


def _by_game(
    results: Results, condition: str, title: str, corner: str, text: Callable[[AgentTotals], str]
) -> Table:
    games = _games(results, condition)
    rows = tuple(
        (agent, *(text(results.agents.get((condition, game, agent), AgentTotals())) for game in games))
        for agent in _agents(results, condition)
    )
    return Table(title, (corner, *games), rows)


def faults(results: Results, condition: str) -> Table:
    """Agents with late, illegal, lost or crashed moves; ideally empty."""
    rows = tuple(
        (agent, game, *map(str, (total.asked, total.late, total.illegal, total.lost, total.crashed)))
        for agent, game, total in _totals(results, condition)
        if total.faults
    )
    header = ("agent", "game", "moves", "time-outs", "illegal", "no connection", "crashes")
    return Table("Faults", header, rows, text_columns=2)


def fallbacks(results: Results, condition: str) -> Table:
    """Agents that fell back to another policy; ideally empty."""
    rows = tuple(
        (agent, game, policy, f"{count} of {total.reporting}")
        for agent, game, total in _totals(results, condition)
        for policy, count in sorted(total.fallbacks.items())
    )
    header = ("agent", "game", "fallback policy", "seats")
    return Table("Fallback policies", header, rows, text_columns=3)


def condition_text(condition: Condition) -> str:
    """Clocks or simulations of a condition, in words."""
    clocks = f"start clock {condition.start_clock_seconds:g} s, play clock {condition.play_clock_seconds:g} s"
    return clocks if condition.simulations is None else f"{condition.simulations} simulations per move"


def _totals(results: Results, condition: str) -> Iterator[tuple[str, str, AgentTotals]]:
    for agent in _agents(results, condition):
        for game in _games(results, condition):
            if (condition, game, agent) in results.agents:
                yield agent, game, results.agents[condition, game, agent]


def _games(results: Results, condition: str) -> list[str]:
    played = {game for of_condition, game, _ in results.agents if of_condition == condition}
    return [game.name for game in results.plan.games if game.name in played]


def _agents(results: Results, condition: str) -> Sequence[str]:
    played = {agent for of_condition, _, agent in results.agents if of_condition == condition}
    return [agent.name for agent in results.plan.agents if agent.name in played]
