"""Finished matches in SQLite, from the moment each is finished.

A file holds any number of runs; a run is one plan being played. Matches go in by their id within the run,
and what is there already stays: a match that was played twice counts once. Write-ahead logging lets others
read while a run writes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ggp.match_record import MatchRecord, now_ms
from ggp.tournament.plan import Plan, changed_settings
from ggp.tournament.play import MatchResult, SeatResult
from ggp.tournament.schema import StoreError, extend, make_tables, schema_version, told_by_store, transaction


class SettingsChangedError(StoreError):
    """A run of that name has matches that were played under other settings."""


@dataclass(frozen=True)
class Run:
    """One plan that is or was played."""

    id: int
    name: str
    created_ms: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """What reports need to know of a match."""

    id: str
    condition: str
    game: str
    cell_agents: tuple[str, ...]
    repetition: int
    is_completed: bool
    fault: str
    seconds: float
    steps: int
    stored_ms: int
    version: str
    processor: str
    seats: tuple[SeatResult, ...]


def _open(path: Path) -> sqlite3.Connection:
    """With write-ahead logging, where it can be had. Raises sqlite3.Error, StoreError."""
    link = sqlite3.connect(path, timeout=30, isolation_level=None)
    try:
        link.execute("pragma journal_mode = wal")
    except sqlite3.OperationalError:
        link.close()
        if not path.is_file() or os.access(path.absolute().parent, os.W_OK):
            raise
        return _open_fixed(path)
    link.execute("pragma synchronous = normal")
    link.execute("pragma foreign_keys = on")
    return link


def _open_fixed(path: Path) -> sqlite3.Connection:
    """To read a file where nothing can be written and the files that readers share are not there.

    Raises StoreError where matches are in the log beside it, which only a writer brings in.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{path}: its last matches are in {log.name} still, and its folder cannot be written:"
            " copy both files to one that can be"
        )
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None)


class Store:
    """An open file of results. One process should write to a run at a time; any number may read."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        """Open or create the file. Raises StoreError, OSError."""
        if must_exist and not path.is_file():
            raise FileNotFoundError(2, "there is no such file", str(path))
        self.path = path
        try:
            self._link = _open(path)
            make_tables(self._link, path)
        except sqlite3.OperationalError as error:
            raise StoreError(f"{path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path}: no tournament results: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._link.close()

    def run_names(self) -> list[str]:
        """Oldest first."""
        return [name for (name,) in self._link.execute("select name from run order by id")]

    def run_sizes(self) -> dict[str, int]:
        """How many matches each run has, oldest run first."""
        return dict(
            self._link.execute(
                "select name, count(match.id) from run left join match on match.run = run.id"
                " group by run.id order by run.id"
            )
        )

    def run(self, name: str | None = None) -> Run:
        """The run of that name, or the latest. Raises StoreError."""
        names = self.run_names()
        if not names:
            raise StoreError(f"{self.path}: no run in it yet")
        if name is None:
            name = names[-1]
        if name not in names:
            raise StoreError(f"{self.path}: no run {name!r}; there are {', '.join(names)}")
        number, created, text = self._link.execute(
            "select id, created_ms, plan from run where name = ?", (name,)
        ).fetchone()
        try:
            return Run(number, name, created, Plan.from_json(text))
        except (TypeError, KeyError, ValueError):
            raise StoreError(
                f"{self.path}: run {name!r} has settings that this version of the program does not know;"
                " was it made by a later one?"
            ) from None

    def begin(self, plan: Plan, *, is_new: bool = False) -> Run:
        """The run of the plan's name, made now or gone on with.

        With `is_new` another run is made where that name is taken, called `name-2` and so on. Raises
        SettingsChangedError where the run has matches under other settings; what no match was played of, an
        agent, a game or a condition, may change. Raises StoreError as `run` does.
        """
        taken = set(self.run_names())
        name = plan.name
        if is_new:
            number = 2
            while name in taken:
                name, number = f"{plan.name}-{number}", number + 1
        if name in taken:
            self._check_settings(self.run(name), plan)
        with told_by_store(self.path):
            extend(self._link)
            self._link.execute(
                "insert into run (name, created_ms, plan) values (?, ?, ?)"
                " on conflict (name) do update set plan = excluded.plan",
                (name, now_ms(), plan.to_json()),
            )
        return self.run(name)

    def _check_settings(self, run: Run, plan: Plan) -> None:
        changes = changed_settings(self._played_settings(run), plan.settings())
        if changes:
            raise SettingsChangedError(
                f"{self.path}: run {run.name!r} has {self.match_count(run)} matches under other settings:\n  "
                + "\n  ".join(changes)
                + "\nTake the old settings again, or start a new run (--new)."
            )

    def _played_settings(self, run: Run) -> dict[str, str]:
        """Those settings of the run that its matches were played under."""
        if not self.match_count(run):
            return {}
        played = {"seed", "engine"}
        for kind, query in (
            ("agent", "select distinct agent from seat where run = ?"),
            ("game", "select distinct game from match where run = ?"),
            ("condition", "select distinct condition from match where run = ?"),
        ):
            played |= {f"{kind} {name}" for (name,) in self._link.execute(query, (run.id,))}
        return {key: value for key, value in run.plan.settings().items() if key in played}

    def add(self, run: Run, result: MatchResult) -> bool:
        """Store a match; false where it was there before, which then stays as it is. Raises StoreError."""
        task = result.task
        values = {
            "run": run.id,
            "id": task.id,
            "condition": task.condition,
            "game": task.game,
            "cell_agents": json.dumps(task.cell_agents),
            "seats": json.dumps(task.seats),
            "repetition": task.repetition,
            "seed": task.seed,
            "is_completed": result.is_completed,
            "fault": result.fault,
            "start_clock_seconds": task.start_clock_seconds,
            "play_clock_seconds": task.play_clock_seconds,
            "started_ms": result.started_ms,
            "seconds": result.seconds,
            "steps": result.steps,
            "stored_ms": now_ms(),
            "version": result.version,
            "host": result.host,
            "processor": result.processor,
            "record": zlib.compress(result.record.encode()),
        }
        seats = [
            {"run": run.id, "match": task.id, "number": number, **asdict(seat)}
            for number, seat in enumerate(result.seats)
        ]
        with told_by_store(self.path):
            extend(self._link)
            with transaction(self._link):
                insertion = f"{_insertion('match', values)} on conflict do nothing"
                added = self._link.execute(insertion, values).rowcount
                if added:
                    self._link.executemany(_insertion("seat", seats[0]), seats)
        return bool(added)

    def finished_ids(self, run: Run) -> set[str]:
        """The matches that need not be played any more."""
        return {row[0] for row in self._link.execute("select id from match where run = ?", (run.id,))}

    def match_count(self, run: Run) -> int:
        row = self._link.execute("select count(*) from match where run = ?", (run.id,)).fetchone()
        return int(row[0])

    def matches(self, run: Run) -> list[StoredMatch]:
        """Every match of the run, in the order of their ids."""
        fallback = "fallback" if schema_version(self._link) > 1 else "null"
        rows = self._link.execute(
            "select id, condition, game, cell_agents, repetition, is_completed, fault, seconds, steps,"
            " stored_ms, version, processor from match where run = ? order by id",
            (run.id,),
        ).fetchall()
        seats: dict[str, list[SeatResult]] = {}
        for match, *fields in self._link.execute(
            "select match, role, agent, player, goal, moves, late, illegal, lost, think_seconds, simulations,"
            f" {fallback} from seat where run = ? order by match, number",
            (run.id,),
        ):
            seats.setdefault(match, []).append(SeatResult(*fields))
        lineups: dict[str, tuple[str, ...]] = {}
        found = []
        for match, condition, game, lineup, repetition, is_completed, fault, *rest in rows:
            seconds, steps, stored_ms, version, processor = rest
            found.append(
                StoredMatch(
                    id=match,
                    condition=condition,
                    game=game,
                    cell_agents=lineups.setdefault(lineup, tuple(json.loads(lineup))),
                    repetition=repetition,
                    is_completed=bool(is_completed),
                    fault=fault,
                    seconds=seconds,
                    steps=steps,
                    stored_ms=stored_ms,
                    version=version,
                    processor=processor,
                    seats=tuple(seats.get(match, ())),
                )
            )
        return found

    def details(self, run: Run) -> Iterator[dict[str, Any]]:
        """Every match with all its columns but the record, and its seats, for export."""
        cursor = self._link.cursor()
        cursor.row_factory = sqlite3.Row
        seat_cursor = self._link.cursor()
        seat_cursor.row_factory = sqlite3.Row
        for row in cursor.execute("select * from match where run = ? order by stored_ms, id", (run.id,)):
            match = {key: row[key] for key in row.keys() if key not in ("run", "record")}  # noqa: SIM118
            match["cell_agents"] = json.loads(match["cell_agents"])
            match["seats"] = [
                {"fallback": None}  # which files of schema 1 do not have
                | {key: seat[key] for key in seat.keys() if key not in ("run", "match", "number")}  # noqa: SIM118
                for seat in seat_cursor.execute(
                    "select * from seat where run = ? and match = ? order by number", (run.id, row["id"])
                )
            ]
            yield match

    def record(self, run: Run, match_id: str) -> MatchRecord:
        """The match record, rules included. Raises StoreError."""
        row = self._link.execute(
            "select record, game from match where run = ? and id = ?", (run.id, match_id)
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: run {run.name!r} has no match {match_id!r}")
        record = MatchRecord.from_json(zlib.decompress(row[0]).decode())
        record.rules = next((game.rules for game in run.plan.games if game.name == row[1]), "")
        return record


def _insertion(table: str, columns: Collection[str]) -> str:
    """Columns are named: files of earlier versions have theirs in another order."""
    return f"insert into {table} ({', '.join(columns)}) values ({', '.join(f':{name}' for name in columns)})"
