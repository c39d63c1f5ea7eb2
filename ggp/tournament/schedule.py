"""The matches of a plan.

A *cell* is a condition, a game and the agents that meet there. Each repetition of a cell plays every
assignment of its agents to the roles once, so that no agent has better roles than another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, permutations, product

from ggp.game import RANDOM_ROLE
from ggp.match.terms import derived_seed
from ggp.tournament.config import role_names
from ggp.tournament.plan import Condition, GameEntry, Plan, player_spec

CellKey = tuple[str, str, tuple[str, ...]]


def cell_key(condition: str, game: str, agents: Collection[str]) -> CellKey:
    """The identity of a cell, whatever the order of its agents."""
    return (condition, game, tuple(sorted(agents)))


@dataclass(frozen=True)
class Cell:
    """Agents that meet in one game under one condition.

    agents     the agent whose score is measured, then its opponents
    seatings   all assignments: the agent of each role except `random`, in rule-sheet order
    """

    condition: Condition
    game: GameEntry
    agents: tuple[str, ...]
    seatings: tuple[tuple[str, ...], ...]

    @property
    def key(self) -> CellKey:
        return cell_key(self.condition.name, self.game.name, self.agents)

    @property
    def match_count(self) -> int:
        return len(self.seatings) * self.condition.repetitions


@dataclass(frozen=True)
class MatchTask:
    """One match to play, with everything that a worker needs, possibly on another machine.

    seats      agent per role; None for `random`
    players    spec for `make_player` per role; None for `random`
    token      identifies the process that plays the run, in match ids for HTTP players
    """

    id: str
    condition: str
    game: str
    cell_agents: tuple[str, ...]
    repetition: int
    rules: str
    engine: str
    seats: tuple[str | None, ...]
    players: tuple[str | None, ...]
    start_clock_seconds: float
    play_clock_seconds: float
    seed: int
    token: str = ""

    @property
    def remote_addresses(self) -> frozenset[str]:
        """Addresses of its HTTP players, which play one match at a time."""
        return frozenset(player for player in self.players if player and player.startswith("http://"))


class SelectionError(ValueError):
    """A name that is not a condition, game or agent of the plan."""


class Schedule:
    """The matches of a plan, in an order in which all cells progress evenly.

    only   unless empty, names of conditions, games and agents: select cells with one of each kind named
    """

    def __init__(self, plan: Plan, only: Collection[str] = (), *, token: str = "") -> None:
        """`token`: see `MatchTask`. Raises SelectionError."""
        self.plan, self.token = plan, token
        self.roles = {game.name: role_names(game) for game in plan.games}
        self.cells = tuple(_selected(plan, tuple(self._cells()), frozenset(only)))

    def _cells(self) -> Iterator[Cell]:
        for condition in self.plan.conditions:
            for game in self.plan.games:
                seat_count = sum(role != str(RANDOM_ROLE) for role in self.roles[game.name])
                for agents in lineups(self.plan, seat_count):
                    yield Cell(condition, game, agents, seatings(agents, seat_count))

    @property
    def match_count(self) -> int:
        return sum(cell.match_count for cell in self.cells)

    def tasks(self) -> Iterator[tuple[Cell, MatchTask]]:
        """All matches, repetition by repetition."""
        longest = max(condition.repetitions for condition in self.plan.conditions)
        for repetition in range(longest):
            for cell in self.cells:
                if repetition < cell.condition.repetitions:
                    for seating in cell.seatings:
                        yield cell, self._task(cell, seating, repetition)

    def _task(self, cell: Cell, seating: tuple[str, ...], repetition: int) -> MatchTask:
        names = iter(seating)
        seats = tuple(
            None if role == str(RANDOM_ROLE) else next(names) for role in self.roles[cell.game.name]
        )
        match_id = match_id_of(cell.condition.name, cell.game.name, seating, repetition)
        return MatchTask(
            id=match_id,
            condition=cell.condition.name,
            game=cell.game.name,
            cell_agents=cell.agents,
            repetition=repetition,
            rules=cell.game.rules,
            engine=self.plan.engine,
            seats=seats,
            players=tuple(
                None if seat is None else player_spec(self.plan.agent(seat), cell.game, cell.condition)
                for seat in seats
            ),
            start_clock_seconds=cell.condition.start_clock_seconds,
            play_clock_seconds=cell.condition.play_clock_seconds,
            seed=derived_seed(self.plan.seed, match_id),
            token=self.token,
        )


def _selected(plan: Plan, cells: Iterable[Cell], only: frozenset[str]) -> Iterator[Cell]:
    conditions, games, agents = (
        only & {item.name for item in items} for items in (plan.conditions, plan.games, plan.agents)
    )
    unknown = only - conditions - games - agents
    if unknown:
        raise SelectionError(f"no condition, game or agent {min(unknown)!r} in this run")
    for cell in cells:
        if (
            (not conditions or cell.condition.name in conditions)
            and (not games or cell.game.name in games)
            and (not agents or agents & set(cell.agents))
        ):
            yield cell


def match_id_of(condition: str, game: str, seating: tuple[str, ...], repetition: int) -> str:
    """The identity of a match within a run, from which its seed derives."""
    return f"{condition}|{game}|{' '.join(seating)}|{repetition}"


def lineups(plan: Plan, seat_count: int) -> list[tuple[str, ...]]:
    """The groups of agents that meet in a game; pairs in the order of `Plan.pairs`.

    With one seat, every agent plays alone.
    """
    names = [agent.name for agent in plan.agents]
    if seat_count == 1:
        return [(name,) for name in names]
    if plan.lineups == "pairs" or seat_count == 2:
        return list(plan.pairs())
    groups = combinations(names, seat_count)
    return [group for group in groups if not plan.against or set(group) & set(plan.against)]


def seatings(agents: tuple[str, ...], seat_count: int) -> tuple[tuple[str, ...], ...]:
    """All assignments of agents to seats in which every agent has a seat.

    >>> seatings(("a", "b"), 2)
    (('a', 'b'), ('b', 'a'))
    >>> len(seatings(("a", "b"), 3))
    6
    """
    if len(agents) == seat_count:
        return tuple(permutations(agents))
    return tuple(seats for seats in product(agents, repeat=seat_count) if set(seats) == set(agents))
