"""The tables of a report, as data; the terminal and Markdown only set them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ggp.tournament.plan import Condition, GameEntry, Plan
from ggp.tournament.ratings import Rating, rate
from ggp.tournament.results import AgentTotals, PairScore, Results, points_between
from ggp.tournament.schedule import CellKey
from ggp.tournament.sequential import Decision

MOST_COLUMNS = 5
"""Numbers side by side that a terminal has room for."""


@dataclass(frozen=True)
class Table:
    """Rows of text below a header; the first `text_columns` columns are words, the others numbers."""

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text_columns: int = 1

    def upright(self) -> Table:
        """The same with rows and columns exchanged where there are many columns and fewer rows.

        For tables with one column of words.
        """
        columns = len(self.header) - 1
        if columns <= max(MOST_COLUMNS, len(self.rows)):
            return self
        header = (self.header[0], *(row[0] for row in self.rows))
        rows = tuple(
            (name, *(row[i] for row in self.rows)) for i, name in enumerate(self.header[1:], start=1)
        )
        return Table(self.title, header, rows)


def win_rates(results: Results, condition: str) -> Table:
    """Pairs × games: win rate in percent with its Wilson interval and the number of matches."""
    games = _games(results, condition)
    rows = []
    for a, b in results.met(condition):
        cells = [results.pairs.get((condition, game, a, b), PairScore()) for game in games]
        if len(games) > 1:
            cells.append(results.over_games(condition, a, b))
        rows.append((f"{a} vs {b}", *map(rate_text, cells)))
    header = ("win rate %", *games, *(["all games"] if len(games) > 1 else []))
    return Table("Win rates", header, tuple(rows))


def counted_conditions(plan: Plan) -> list[Condition]:
    """Conditions with numbers of simulations, fewest first; none where two have the same or there is one."""
    found = [condition for condition in plan.conditions if condition.simulations is not None]
    found.sort(key=lambda condition: condition.simulations or 0)
    is_growth = 1 < len(found) == len({condition.simulations for condition in found})
    return found if is_growth else []


def growth_points(results: Results, game: GameEntry) -> dict[tuple[str, str], list[tuple[int, PairScore]]]:
    """By pair that met: numbers of simulations a move, fewest first, and the score in one game.

    Nothing for a game with a number of its own, which all conditions share.
    """
    if game.simulations is not None:
        return {}
    found = {}
    for a, b in results.plan.pairs():
        points = [
            (condition.simulations or 0, results.pairs[condition.name, game.name, a, b])
            for condition in counted_conditions(results.plan)
            if (condition.name, game.name, a, b) in results.pairs
        ]
        if points:
            found[a, b] = points
    return found


def growth(results: Results, game: GameEntry) -> Table:
    """Pairs × numbers of simulations in one game: win rates as in `win_rates`."""
    counts = [condition.simulations or 0 for condition in counted_conditions(results.plan)]
    rows = []
    for (a, b), points in growth_points(results, game).items():
        scores = dict(points)
        rows.append((f"{a} vs {b}", *(rate_text(scores.get(count, PairScore())) for count in counts)))
    header = ("simulations a move", *(f"{count:,}" for count in counts))
    return Table(f"Win rates on {game.name}, %", header, tuple(rows))


def rate_text(score: PairScore) -> str:
    """`62.5 [58.1, 66.7] 300`: percent, interval, matches."""
    if not score.count:
        return "-"
    low, high = score.interval
    return f"{100 * score.rate:.1f} [{100 * low:.1f}, {100 * high:.1f}] {score.count}"


def mean_goals(results: Results, condition: str) -> Table:
    """Agents × games: mean goal with half its interval."""
    games = _games(results, condition)
    rows = []
    for agent in _agents(results, condition):
        totals = [results.agents.get((condition, game, agent), AgentTotals()) for game in games]
        rows.append((agent, *(_mean_text(total) for total in totals)))
    return Table("Mean goals", ("mean goal", *games), tuple(rows))


def _mean_text(total: AgentTotals) -> str:
    if not total.goals:
        return "-"
    mean, margin = total.mean_goal
    return f"{mean:.1f}" if math.isinf(margin) else f"{mean:.1f} ±{margin:.1f}"


def speeds(results: Results, condition: str) -> Table:
    """Agents × games: playouts per second of thinking, and seconds per move for who does not count."""
    games = _games(results, condition)
    rows = []
    for agent in _agents(results, condition):
        totals = [results.agents.get((condition, game, agent), AgentTotals()) for game in games]
        rows.append((agent, *(_speed_text(total) for total in totals)))
    return Table("Speed", ("playouts/s (seconds a move)", *games), tuple(rows))


def _speed_text(total: AgentTotals) -> str:
    if not total.seats:
        return "-"
    speed = total.simulations_per_second
    return f"{'-' if speed is None else f'{speed:,.0f}'} ({total.seconds_per_move:.3f})"


def faults(results: Results, condition: str) -> Table:
    """Agents with late, illegal or lost moves; no row is what one wants to see."""
    rows = []
    for agent in _agents(results, condition):
        for game in _games(results, condition):
            total = results.agents.get((condition, game, agent), AgentTotals())
            if total.faults:
                row = (agent, game, *map(str, (total.asked, total.late, total.illegal, total.lost)))
                rows.append(row)
    header = ("agent", "game", "moves", "time-outs", "illegal", "no connection")
    return Table("Faults", header, tuple(rows), text_columns=2)


def fallbacks(results: Results, condition: str) -> Table:
    """Agents that played by another policy than their own; here too, no row is what one wants to see."""
    rows = []
    for agent in _agents(results, condition):
        for game in _games(results, condition):
            total = results.agents.get((condition, game, agent), AgentTotals())
            for policy, count in sorted(total.fallbacks.items()):
                rows.append((agent, game, policy, f"{count} of {total.told}"))
    header = ("agent", "game", "played as", "seats")
    return Table("Not what they are called", header, tuple(rows), text_columns=3)


def ratings(results: Results, condition: str) -> list[Rating]:
    """Bradley-Terry ratings over all games of a condition; the first baseline is 0, if there is one."""
    names = [agent.name for agent in results.plan.agents]
    anchor = results.plan.against[0] if results.plan.against else None
    return rate(names, points_between(results, condition), anchor=anchor)


def ratings_table(results: Results, condition: str) -> Table:
    """Agents by rating, with their points."""
    found = ratings(results, condition)
    points = points_between(results, condition)
    rows = []
    for rating in found:
        made = sum(value for (a, _), value in points.items() if a == rating.agent)
        given = sum(value for (_, b), value in points.items() if b == rating.agent)
        name = rating.agent if rating.group == 0 else f"{rating.agent} (group {rating.group + 1})"
        rows.append((name, f"{rating.elo:+.0f} ±{rating.margin:.0f}", f"{made:g} of {made + given:g}"))
    return Table("Ratings", ("agent", "Elo", "points"), tuple(rows))


def decisions(plan: Plan, found: dict[CellKey, Decision]) -> Table:
    """Cells that were stopped, and why; the verdict is on the agent that stands first."""
    directed = {frozenset(pair): pair for pair in plan.pairs()}
    rows = [
        (condition, game, " vs ".join(directed[frozenset(agents)]), decision.verdict)
        for (condition, game, agents), decision in found.items()
        if decision.is_final
    ]
    return Table("Decided", ("condition", "game", "pair", "verdict"), tuple(rows), text_columns=4)


def condition_text(condition: Condition) -> str:
    """What the agents were given, in words."""
    clocks = f"{condition.start_clock_seconds:g} s before, {condition.play_clock_seconds:g} s a move"
    return clocks if condition.simulations is None else f"{condition.simulations} simulations a move"


def _games(results: Results, condition: str) -> list[str]:
    played = {game for of_condition, game, _ in results.agents if of_condition == condition}
    return [game.name for game in results.plan.games if game.name in played]


def _agents(results: Results, condition: str) -> Sequence[str]:
    played = {agent for of_condition, _, agent in results.agents if of_condition == condition}
    return [agent.name for agent in results.plan.agents if agent.name in played]
