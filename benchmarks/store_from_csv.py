"""Fill a store with published matches, so that a run goes on where they end, on any machine.

    cd benchmarks
    python store_from_csv.py finnsson_bjornsson.toml ../docs/experiments/finnsson_bjornsson.csv run.sqlite
    ggp tournament finnsson_bjornsson.toml --store run.sqlite --only equal-simulations --only skirmish

The file is what `ggp tournament export STORE FILE --columns COLUMNS` wrote, COLUMNS being
condition,game,repetition,agent,goal,steps,simulations: that of each match, and nothing of moves and times.
Faults are not in it, so only runs without any may be published like that. Exported again, the store gives the
same lines. What its reports say of times and rates is meaningless.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from ggp.tournament.config import read_config
from ggp.tournament.play import MatchResult, SeatResult
from ggp.tournament.schedule import MatchTask, Schedule
from ggp.tournament.store import Store

Key = tuple[str, str, int, tuple[str, ...]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path, help="the tournament's TOML file")
    parser.add_argument("matches", type=Path, help="the CSV file")
    parser.add_argument("store", type=Path, help="is made, or gets what it has not yet")
    arguments = parser.parse_args()
    plan = read_config(arguments.config)
    schedule = Schedule(plan)
    published = read_matches(arguments.matches)
    added = 0
    with Store(arguments.store) as store:
        run = store.begin(plan)
        for _, task in schedule.tasks():
            seats = tuple(seat for seat in task.seats if seat is not None)
            row = published.pop((task.condition, task.game, task.repetition, seats), None)
            if row is not None:
                added += store.add(run, result_of(task, schedule.roles[task.game], row))
    print(f"{added:,} matches added; {len(published):,} of the file are not in the plan")


def read_matches(path: Path) -> dict[Key, dict[str, str]]:
    """The rows of the file by condition, game, repetition and the agents in the order of the roles."""
    found = {}
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            agents = tuple(row[f"agent{number}"] for number in seat_numbers(row))
            found[row["condition"], row["game"], int(row["repetition"]), agents] = row
    return found


def seat_numbers(row: dict[str, str]) -> list[int]:
    """The seats of the row that have an agent; the first seat is 1."""
    return [number for number in range(1, len(row)) if row.get(f"agent{number}")]


def result_of(task: MatchTask, roles: tuple[str, ...], row: dict[str, str]) -> MatchResult:
    """The match as far as it is known: times are 0 and the record is empty."""
    seats = []
    for number, (role, agent, player) in enumerate(zip(roles, task.seats, task.players, strict=True), 1):
        goal, simulations = (row.get(f"{name}{number}") for name in ("goal", "simulations"))
        if not goal and agent is not None:
            raise SystemExit(f"{task.id}: no goal of {agent}; matches with faults cannot be taken over")
        seats.append(
            SeatResult(
                role=role,
                agent=agent,
                player=player,
                goal=int(goal) if goal else None,
                moves=int(row["steps"]),
                late=0,
                illegal=0,
                lost=0,
                think_seconds=0.0,
                simulations=int(simulations) if simulations else None,
                fallback=None,
            )
        )
    return MatchResult(
        task=task,
        seats=tuple(seats),
        is_completed=True,
        fault="",
        started_ms=0,
        seconds=0.0,
        steps=int(row["steps"]),
        record="{}",
        version="published",
        host="",
        processor="",
    )


if __name__ == "__main__":
    main()
