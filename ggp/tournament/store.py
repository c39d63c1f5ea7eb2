"""Finished matches in SQLite, each stored as soon as it is finished.

A file holds any number of runs; a run is a plan with its matches. A match is identified by its id within
the run; a match that was played twice is stored once. Write-ahead logging allows reading while a run writes.
"""

from __future__ import annotations

import json
import os
import sqlite3
import time
import zlib
from collections.abc import Collection, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ggp.match.record import MatchRecord, now_ms
from ggp.tournament.plan import Plan, changed_settings
from ggp.tournament.play import MatchResult, SeatResult
from ggp.tournament.schema import StoreError, make_tables, store_errors, transaction

_LOCK_TIMEOUT_S = 30.0
"""Time that a connection waits for the file's lock."""

_RETRY_S = 0.01


class SettingsChangedError(StoreError):
    """A run of that name has matches played under other settings."""


@dataclass(frozen=True)
class Run:
    """A plan that is or was played."""

    id: int
    name: str
    created_ms: int
    plan: Plan


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """A match as far as reports need it."""

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


def _open_patiently(path: Path) -> sqlite3.Connection:
    """Open or create a file, its tables included. Raises sqlite3.Error, StoreError.

    SQLite waits for other writers, but not for others that turn write-ahead logging on or off: a second one
    that wants the lock gets SQLITE_BUSY at once and has to try again.
    """
    end = time.monotonic() + _LOCK_TIMEOUT_S
    while True:
        try:
            link = _open(path)
            try:
                make_tables(link, path)
            except BaseException:
                link.close()
                raise
            return link
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(_RETRY_S)


def _open(path: Path) -> sqlite3.Connection:
    """Open with write-ahead logging, if possible. Raises sqlite3.Error, StoreError."""
    link = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
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
    """Open for reading in a folder without write permission.

    Raises StoreError if matches are still in the log next to the file, which only a writer can merge.
    """
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        raise StoreError(
            f"{path}: its last matches are still in {log.name}, and its folder is read-only:"
            " copy both files to a writable folder"
        )
    return sqlite3.connect(f"{path.absolute().as_uri()}?immutable=1", uri=True, isolation_level=None)


class Store:
    """An open store: one process may write to a run, any number may read."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        """Open or create the file. Raises StoreError, OSError."""
        if must_exist and not path.is_file():
            raise FileNotFoundError(2, "no such file", str(path))
        self.path = path
        try:
            self._link = _open_patiently(path)
        except sqlite3.OperationalError as error:
            raise StoreError(f"{path}: {error}") from None
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path}: not a tournament store: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._link.close()

    def run_names(self) -> list[str]:
        """Names of the runs, oldest first."""
        return [name for (name,) in self._link.execute("select name from run order by id")]

    def run_sizes(self) -> dict[str, int]:
        """Run → number of its matches, oldest run first."""
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
            raise StoreError(f"{self.path}: contains no run yet")
        if name is None:
            name = names[-1]
        if name not in names:
            raise StoreError(f"{self.path}: no run {name!r}; expected one of {', '.join(names)}")
        number, created, text = self._link.execute(
            "select id, created_ms, plan from run where name = ?", (name,)
        ).fetchone()
        try:
            return Run(number, name, created, Plan.from_json(text))
        except (TypeError, KeyError, ValueError, AttributeError, RecursionError):
            raise StoreError(
                f"{self.path}: run {name!r} has settings unknown to this version of the program;"
                " it may come from a later one"
            ) from None

    def begin(self, plan: Plan) -> Run:
        """Create or resume the run with the plan's name.

        Raises SettingsChangedError if the run has matches under other settings; agents, games and conditions
        without matches may change. Raises StoreError as `run` does.
        """
        name = plan.name
        if name in self.run_names():
            self._check_settings(self.run(name), plan)
        with store_errors(self.path):
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
                + "\nRestore the old settings, or give a new run another name (--run NAME)."
            )

    def _played_settings(self, run: Run) -> dict[str, str]:
        if not self.match_count(run):
            return {}
        played = {"seed", "engine", "grace"}
        for kind, query in (
            ("agent", "select distinct agent from seat where run = ?"),
            ("game", "select distinct game from match where run = ?"),
            ("condition", "select distinct condition from match where run = ?"),
        ):
            played |= {f"{kind} {name}" for (name,) in self._link.execute(query, (run.id,))}
        played |= {f"code of {key}" for key in played if key.startswith("agent ")}
        return {key: value for key, value in run.plan.settings().items() if key in played}

    def add(self, run: Run, result: MatchResult) -> bool:
        """Store a match; False, without a change, if it is already stored. Raises StoreError."""
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
        with store_errors(self.path), transaction(self._link):
            insertion = f"{_insertion('match', values)} on conflict do nothing"
            added = self._link.execute(insertion, values).rowcount
            if added:
                self._link.executemany(_insertion("seat", seats[0]), seats)
        return bool(added)

    def finished_ids(self, run: Run) -> set[str]:
        """Ids of the stored matches."""
        return {row[0] for row in self._link.execute("select id from match where run = ?", (run.id,))}

    def match_count(self, run: Run) -> int:
        row = self._link.execute("select count(*) from match where run = ?", (run.id,)).fetchone()
        return int(row[0])

    def matches(self, run: Run) -> list[StoredMatch]:
        """Every match of the run, in the order of their ids."""
        rows = self._link.execute(
            "select id, condition, game, cell_agents, repetition, is_completed, fault, seconds, steps,"
            " stored_ms, version, processor from match where run = ? order by id",
            (run.id,),
        ).fetchall()
        seats: dict[str, list[SeatResult]] = {}
        for match, *fields in self._link.execute(
            "select match, role, agent, player, goal, moves, late, illegal, lost, think_seconds, simulations,"
            " fallback, crashed from seat where run = ? order by match, number",
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
                    cell_agents=lineups.setdefault(lineup, tuple(self._lineup(match, lineup))),
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
        """All matches with their seats and all columns except the record, for export."""
        cursor = self._link.cursor()
        cursor.row_factory = sqlite3.Row
        seat_cursor = self._link.cursor()
        seat_cursor.row_factory = sqlite3.Row
        for row in cursor.execute("select * from match where run = ? order by stored_ms, id", (run.id,)):
            match = {key: row[key] for key in row.keys() if key not in ("run", "record")}  # noqa: SIM118
            match["cell_agents"] = self._lineup(match["id"], match["cell_agents"])
            match["seats"] = [
                {key: seat[key] for key in seat.keys() if key not in ("run", "match", "number")}  # noqa: SIM118
                for seat in seat_cursor.execute(
                    "select * from seat where run = ? and match = ? order by number", (run.id, row["id"])
                )
            ]
            yield match

    def _lineup(self, match_id: str, text: str) -> list[str]:
        """The agents of a match's lineup. Raises StoreError if the text is not a list of names."""
        try:
            names = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            names = None
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise StoreError(f"{self.path}: match {match_id!r} has a broken lineup")
        return names

    def record(self, run: Run, match_id: str) -> MatchRecord:
        """The match record, rules included. Raises StoreError."""
        row = self._link.execute(
            "select record, game from match where run = ? and id = ?", (run.id, match_id)
        ).fetchone()
        if row is None:
            raise StoreError(f"{self.path}: run {run.name!r} has no match {match_id!r}")
        try:
            record = MatchRecord.from_json(_decompressed(row[0]))
        except (ValueError, TypeError, zlib.error) as error:
            raise StoreError(f"{self.path}: match {match_id!r} has a broken record ({error})") from None
        record.rules = next((game.rules for game in run.plan.games if game.name == row[1]), "")
        return record


RECORD_BYTES = 1 << 28
"""Limit on the size of one record as text."""


def _decompressed(content: bytes) -> str:
    """The text of a stored record. Raises ValueError, TypeError, zlib.error."""
    stream = zlib.decompressobj()
    text = stream.decompress(content, RECORD_BYTES)
    if not stream.eof:
        raise ValueError("incomplete, or too large")
    return text.decode()


def _insertion(table: str, columns: Collection[str]) -> str:
    return f"insert into {table} ({', '.join(columns)}) values ({', '.join(f':{name}' for name in columns)})"
