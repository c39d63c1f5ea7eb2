"""The matches of a plan.

A *cell* is a condition, a game and the agents that meet there. Each repetition of a cell plays every
assignment of its agents to the roles once, so that no agent has better roles than another; a sample of
lineups is fair to each agent over all its cells.
"""

from __future__ import annotations

import math
import random
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations, product

from ggp.game import RANDOM_ROLE
from ggp.match.terms import GRACE_SECONDS, derived_seed
from ggp.tournament.config import role_names
from ggp.tournament.plan import Condition, GameEntry, Plan, player_spec

CellKey = tuple[str, str, tuple[str, ...]]
Seatings = tuple[tuple[str, ...], ...]


def cell_key(condition: str, game: str, agents: Collection[str]) -> CellKey:
    """The identity of a cell, independent of the order of its agents."""
    return (condition, game, tuple(sorted(agents)))


@dataclass(frozen=True)
class Cell:
    """Agents that meet in one game under one condition.

    agents     the agent whose score is measured, then its opponents
    seatings   the assignments that are played: the agent of each role except `random`, in rule-sheet order
    """

    condition: Condition
    game: GameEntry
    agents: tuple[str, ...]
    seatings: Seatings

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
    grace_seconds: float = GRACE_SECONDS
    memory_mebibytes: int | None = None

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
        conditions, games, agents = (
            {item.name for item in items} & set(only) for items in (plan.conditions, plan.games, plan.agents)
        )
        if unknown := set(only) - conditions - games - agents:
            raise SelectionError(f"no condition, game or agent {min(unknown)!r} in this run")
        self.cells = tuple(
            Cell(condition, game, group, seated)
            for condition, game in product(plan.conditions, plan.games)
            if condition.name in (conditions or {condition.name}) and game.name in (games or {game.name})
            for group, seated in lineups(plan, game, self._seat_count(game)).items()
            if not agents or agents & set(group)
        )

    def _seat_count(self, game: GameEntry) -> int:
        return sum(role != str(RANDOM_ROLE) for role in self.roles[game.name])

    @property
    def match_count(self) -> int:
        return sum(cell.match_count for cell in self.cells)

    def tasks(self) -> Iterator[tuple[Cell, MatchTask]]:
        """All matches, repetition by repetition."""
        for repetition in range(max(condition.repetitions for condition in self.plan.conditions)):
            for cell in self.cells:
                for seating in cell.seatings if repetition < cell.condition.repetitions else ():
                    yield cell, self._task(cell, seating, repetition)

    def _task(self, cell: Cell, seating: tuple[str, ...], repetition: int) -> MatchTask:
        names = iter(seating)
        seats = tuple(
            None if role == str(RANDOM_ROLE) else next(names) for role in self.roles[cell.game.name]
        )
        match_id = f"{cell.condition.name}|{cell.game.name}|{' '.join(seating)}|{repetition}"
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
            grace_seconds=self.plan.grace_seconds,
            memory_mebibytes=self.plan.memory_mebibytes,
        )


def lineups(plan: Plan, game: GameEntry, seat_count: int) -> dict[tuple[str, ...], Seatings]:
    """The groups of agents that meet in a game, with their assignments; pairs in the order of `Plan.pairs`.

    With one seat, every agent plays alone.
    """
    names = [agent.name for agent in plan.agents]
    kind = plan.lineups_in(game)

    def is_wanted(agents: Collection[str]) -> bool:
        return not plan.against or not set(agents).isdisjoint(plan.against)

    if seat_count == 1:
        groups: list[tuple[str, ...]] = [(name,) for name in names]
    elif kind == "pairs" or seat_count == 2:
        groups = list(plan.pairs())
    elif kind == "all":
        groups = list(filter(is_wanted, combinations(names, seat_count)))
    else:
        found: dict[tuple[str, ...], Seatings] = {}
        every = sampled_seatings(names, seat_count, derived_seed(plan.seed, f"lineups {game.name}"))
        for seated in islice(filter(is_wanted, every), kind):
            group = tuple(name for name in names if name in seated)
            found[group] = (*found.get(group, ()), seated)
        return found
    return {group: seatings(group, seat_count) for group in groups}


def sampled_seatings(names: Sequence[str], seat_count: int, seed: int) -> Iterator[tuple[str, ...]]:
    """All assignments of different agents to seats, in a random order that is fair from the start.

    Agents sit on a circle; with fixed distances between the seats, each start on the circle gives another
    assignment. So among the first `n` times the number of agents, every agent has each seat `n` times.

    >>> first = list(islice(sampled_seatings("abcd", 3, seed=1), 8))
    >>> [sorted(seat) for seat in zip(*first)] == [sorted("abcd" * 2)] * 3
    True
    """
    draw = random.Random(seed)
    circle = draw.sample(names, len(names))
    used: set[tuple[int, ...]] = set()
    while len(used) < math.perm(len(names) - 1, seat_count - 1):
        distances = (0, *draw.sample(range(1, len(names)), seat_count - 1))
        if distances not in used:
            used.add(distances)
            for start in range(len(names)):
                yield tuple(circle[(start + distance) % len(names)] for distance in distances)


def seatings(agents: tuple[str, ...], seat_count: int) -> Seatings:
    """All assignments of agents to seats in which every agent has a seat.

    >>> seatings(("a", "b"), 2)
    (('a', 'b'), ('b', 'a'))
    >>> len(seatings(("a", "b"), 3))
    6
    """
    if len(agents) == seat_count:
        return tuple(permutations(agents))
    return tuple(seats for seats in product(agents, repeat=seat_count) if set(seats) == set(agents))
