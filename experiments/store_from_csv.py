"""Fill a tournament store from published matches, to resume a run on any machine.

    python experiments/store_from_csv.py experiments/finnsson_bjornsson.toml \\
        results/matches/finnsson_bjornsson.csv.gz run.sqlite
    ggp tournament experiments/finnsson_bjornsson.toml --store run.sqlite --only equal-simulations

The CSV file, gzipped or not, is what `ggp tournament export STORE FILE` writes, of which the columns
condition, game, repetition, agent1, goal1, simulations1, …, and steps are needed; it holds no moves. Faults
are not restored, so publish only runs without faults this way. Exporting the store gives the same in these
columns again. Times and rates in its reports are meaningless.
"""

from __future__ import annotations

import argparse
import csv
import gzip
from pathlib import Path

from ggp.tournament.config import read_config
from ggp.tournament.play import MatchResult, SeatResult
from ggp.tournament.schedule import MatchTask, Schedule
from ggp.tournament.store import Store

Key = tuple[str, str, int, tuple[str, ...]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path, help="TOML file of the tournament")
    parser.add_argument("matches", type=Path, help="CSV file, may be gzipped (.gz)")
    parser.add_argument("store", type=Path, help="SQLite store to create or extend")
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
                added += store.add(run, result_of(task, schedule.roles[task.game], row)) is not None
    print(f"{added:,} matches added; {len(published):,} of the file do not belong to the plan")


def read_matches(path: Path) -> dict[Key, dict[str, str]]:
    """Rows by condition, game, repetition and agents in role order."""
    found = {}
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", newline="") as file:
        for row in csv.DictReader(file):
            agents = tuple(row[f"agent{number}"] for number in seat_numbers(row))
            found[row["condition"], row["game"], int(row["repetition"]), agents] = row
    return found


def seat_numbers(row: dict[str, str]) -> list[int]:
    """Numbers of the seats with an agent, counted from 1."""
    return [number for number in range(1, len(row)) if row.get(f"agent{number}")]


def result_of(task: MatchTask, roles: tuple[str, ...], row: dict[str, str]) -> MatchResult:
    """The known part of a match: times are 0 and the record is empty."""
    seats = []
    for number, (role, agent, player) in enumerate(zip(roles, task.seats, task.players, strict=True), 1):
        goal, simulations = (row.get(f"{name}{number}") for name in ("goal", "simulations"))
        if not goal and agent is not None:
            raise SystemExit(f"{task.id}: no goal for {agent}: matches with faults cannot be imported")
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
