"""Finished matches in SQLite, each stored as soon as it is finished.

A file holds any number of runs; a run is a plan with its matches. A match is identified by its id within
the run; a match that was played twice is stored once. Write-ahead logging allows reading while a run writes.
"""

from __future__ import annotations

import csv
import json
import sqlite3
import time
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import IO, Any, Self

from ggp.match.record import MatchRecord, now_ms
from ggp.tournament.plan import Plan, changed_settings
from ggp.tournament.play import MatchResult, SeatResult

SCHEMA_VERSION = 3
_SCHEMA = """
create table run (
    id integer primary key,
    name text not null unique,
    created_ms integer not null,
    plan text not null
);
create table match (
    run integer not null references run,
    id text not null,
    condition text not null,
    game text not null,
    cell_agents text not null,      -- JSON list, in the plan's order
    seats text not null,            -- JSON list: agent per role, null for random
    repetition integer not null,
    seed integer not null,
    is_completed integer not null,
    fault text not null,
    start_clock_seconds real not null,
    play_clock_seconds real not null,
    started_ms integer not null,
    seconds real not null,
    steps integer not null,
    stored_ms integer not null,
    version text not null,
    host text not null,
    processor text not null,
    record blob not null,           -- the match record as JSON without its rules, zlib
    primary key (run, id)
) without rowid;
create table seat (
    run integer not null,
    match text not null,
    number integer not null,        -- of the role, in rule-sheet order
    role text not null,
    agent text,
    player text,                    -- spec for make_player
    goal integer,
    moves integer not null,
    late integer not null,
    illegal integer not null,
    lost integer not null,
    think_seconds real not null,
    simulations integer,
    fallback text,                  -- null if unknown, empty if none
    crashed integer not null default 0,
    primary key (run, match, number),
    foreign key (run, match) references match (run, id)
) without rowid;
"""

MAX_RECORD_BYTES = 1 << 28
"""Limit on the size of one record as text."""

_LOCK_TIMEOUT_S = 30.0
"""Time that a connection waits for the file's lock."""

_RETRY_S = 0.01

PROGRAMMING_ERRORS = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""SQLite errors of wrong statements, which must not be reported as errors of a file."""


class StoreError(Exception):
    """The file is not a store, lacks the run, or cannot be read or written."""


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


_MATCH_COLUMNS = tuple(field.name for field in fields(StoredMatch) if field.name != "seats")
_WRITTEN_COLUMNS = ("seed", "start_clock_seconds", "play_clock_seconds", "started_ms", "host")
_SEAT_COLUMNS = tuple(field.name for field in fields(SeatResult))


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

    def __exit__(self, *error: object) -> None:
        self._link.close()

    # --- runs -------------------------------------------------------------------------------------

    def run_sizes(self) -> dict[str, int]:
        """Run → number of its matches, oldest run first."""
        return dict(
            self._link.execute(
                "select name, count(match.id) from run left join match on match.run = run.id"
                " group by run.id order by run.id"
            )
        )

    def run_names(self) -> list[str]:
        """Names of the runs, oldest first."""
        return [name for (name,) in self._link.execute("select name from run order by id")]

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
        if plan.name in self.run_names():
            run = self.run(plan.name)
            changes = "\n  ".join(changed_settings(self._played_settings(run), plan.settings()))
            if changes:
                raise SettingsChangedError(
                    f"{self.path}: run {run.name!r} has {self.match_count(run)} matches under other settings:"
                    f"\n  {changes}\n"
                    "Restore the old settings, or give a new run another name (--run NAME)."
                )
        with self._writing():
            self._link.execute(
                "insert into run (name, created_ms, plan) values (?, ?, ?)"
                " on conflict (name) do update set plan = excluded.plan",
                (plan.name, now_ms(), plan.to_json()),
            )
        return self.run(plan.name)

    def _played_settings(self, run: Run) -> dict[str, str]:
        if not self.match_count(run):
            return {}
        played = {"seed", "engine", "grace"}
        for kind, table in (("agent", "seat"), ("game", "match"), ("condition", "match")):
            names = self._link.execute(f"select distinct {kind} from {table} where run = ?", (run.id,))
            played |= {f"{kind} {name}" for (name,) in names}
        played |= {f"code of {key}" for key in played if key.startswith("agent ")}
        return {key: value for key, value in run.plan.settings().items() if key in played}

    # --- matches ----------------------------------------------------------------------------------

    def add(self, run: Run, result: MatchResult) -> StoredMatch | None:
        """Store a match; None, without a change, if it is already stored. Raises StoreError."""
        task = result.task
        known = {**vars(task), **vars(result), "stored_ms": now_ms()}
        match = StoredMatch(**{field.name: known[field.name] for field in fields(StoredMatch)})
        values = {column: known[column] for column in (*_MATCH_COLUMNS, *_WRITTEN_COLUMNS)} | {
            "run": run.id,
            "cell_agents": json.dumps(task.cell_agents),
            "seats": json.dumps(task.seats),
            "record": zlib.compress(result.record.encode()),
        }
        seats = [
            {"run": run.id, "match": task.id, "number": number, **asdict(seat)}
            for number, seat in enumerate(result.seats)
        ]
        with self._writing(), _transaction(self._link):
            insertion = f"{_insertion('match', values)} on conflict do nothing"
            is_added = self._link.execute(insertion, values).rowcount
            if is_added:
                self._link.executemany(_insertion("seat", seats[0]), seats)
        return match if is_added else None

    def match_count(self, run: Run) -> int:
        row = self._link.execute("select count(*) from match where run = ?", (run.id,)).fetchone()
        return int(row[0])

    def matches(self, run: Run) -> list[StoredMatch]:
        """Every match of the run, in the order of their ids."""
        rows = self._link.execute(
            f"select {', '.join(_MATCH_COLUMNS)} from match where run = ? order by id", (run.id,)
        ).fetchall()
        seats: dict[str, list[SeatResult]] = defaultdict(list)
        for match, *values in self._link.execute(
            f"select match, {', '.join(_SEAT_COLUMNS)} from seat where run = ? order by match, number",
            (run.id,),
        ):
            seats[match].append(SeatResult(*values))
        found = []
        for row in rows:
            values = dict(zip(_MATCH_COLUMNS, row, strict=True))
            values["cell_agents"] = tuple(self._lineup(values["id"], values["cell_agents"]))
            values["is_completed"] = bool(values["is_completed"])
            found.append(StoredMatch(**values, seats=tuple(seats[values["id"]])))
        return found

    def details(self, run: Run) -> Iterator[dict[str, Any]]:
        """All matches with their seats and all columns except the record, for export."""

        def rows(query: str, *keys: object) -> Iterator[dict[str, Any]]:
            cursor = self._link.execute(query, keys)
            names = [column[0] for column in cursor.description]
            return (dict(zip(names, row, strict=True)) for row in cursor)

        for match in rows("select * from match where run = ? order by stored_ms, id", run.id):
            del match["run"], match["record"]
            match["cell_agents"] = self._lineup(match["id"], match["cell_agents"])
            query = f"select {', '.join(_SEAT_COLUMNS)} from seat where run = ? and match = ? order by number"
            match["seats"] = list(rows(query, run.id, match["id"]))
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
            stream = zlib.decompressobj()
            text = stream.decompress(row[0], MAX_RECORD_BYTES)
            if not stream.eof:
                raise ValueError("incomplete, or too large")
            record = MatchRecord.from_json(text.decode())
        except (ValueError, TypeError, zlib.error) as error:
            raise StoreError(f"{self.path}: match {match_id!r} has a broken record ({error})") from None
        record.rules = next((game.rules for game in run.plan.games if game.name == row[1]), "")
        return record

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Convert errors of SQLite to StoreError."""
        try:
            yield
        except PROGRAMMING_ERRORS:
            raise
        except sqlite3.Error as error:
            raise StoreError(f"{self.path}: {error}") from None


# --- export ----------------------------------------------------------------------------------------

EXPORTED_COLUMNS = (
    *("id", "condition", "game", "repetition", "seed", "is_completed", "fault", "steps", "seconds"),
    *("started_ms", "version"),
)
EXPORTED_SEAT_COLUMNS = (
    *("agent", "goal", "late", "illegal", "lost", "crashed", "think_seconds", "simulations", "fallback"),
)


def write_csv(store: Store, run: Run, stream: IO[str]) -> None:
    """Write one row per match; seats have numbered columns: `agent1`, `goal1`, …"""
    matches = sorted(store.details(run), key=lambda match: str(match["id"]))
    seat_count = max((len(match["seats"]) for match in matches), default=0)
    numbered = [f"{column}{number + 1}" for number in range(seat_count) for column in EXPORTED_SEAT_COLUMNS]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*EXPORTED_COLUMNS, *numbered])
    for match in matches:
        row = [match[column] for column in EXPORTED_COLUMNS]
        for seat in match["seats"]:
            row += [seat[column] for column in EXPORTED_SEAT_COLUMNS]
        # csv would write a lone CR, which some faults hold, without quotes
        writer.writerow([cell.replace("\r", " ") if isinstance(cell, str) else cell for cell in row])


def write_json_lines(store: Store, run: Run, stream: IO[str]) -> None:
    """Write one JSON object per match, with its match record but without the rules."""
    for match in store.details(run):
        match["record"] = store.record(run, match["id"]).to_dict()
        match["record"].pop("rules", None)
        stream.write(json.dumps(match, ensure_ascii=False) + "\n")


# --- SQLite ---------------------------------------------------------------------------------------


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
                _make_tables(link, path)
            except BaseException:
                link.close()
                raise
            return link
        except sqlite3.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() >= end:
                raise
        time.sleep(_RETRY_S)


def _open(path: Path) -> sqlite3.Connection:
    """Open with write-ahead logging, which needs a writable folder. Raises sqlite3.Error."""
    link = sqlite3.connect(path, timeout=_LOCK_TIMEOUT_S, isolation_level=None)
    link.execute("pragma journal_mode = wal")
    link.execute("pragma synchronous = normal")
    link.execute("pragma foreign_keys = on")
    return link


def _make_tables(link: sqlite3.Connection, path: Path) -> None:
    """Create the tables in a new file; only one of several processes that open it does.

    Raises StoreError for files of other programs and of other versions.
    """

    def version() -> int:
        return int(link.execute("pragma user_version").fetchone()[0])

    if version() == 0:
        with _transaction(link):
            if version() == 0:
                if link.execute("select count(*) from sqlite_master").fetchone()[0]:
                    raise StoreError(f"{path}: this SQLite file is not a tournament store")
                for statement in _SCHEMA.split(";\n"):
                    link.execute(statement)
                link.execute(f"pragma user_version = {SCHEMA_VERSION}")
    if version() != SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by another version of this program"
            f" (schema {version()}; this version reads only schema {SCHEMA_VERSION})"
        )


@contextmanager
def _transaction(link: sqlite3.Connection) -> Iterator[None]:
    """Execute all statements of the block or none; other writers wait."""
    link.execute("begin immediate")
    try:
        yield
        link.execute("commit")
    except BaseException:
        if link.in_transaction:  # SQLite ends it itself if the disk is full
            link.execute("rollback")
        raise


def _insertion(table: str, values: Mapping[str, Any]) -> str:
    return f"insert into {table} ({', '.join(values)}) values ({', '.join(f':{name}' for name in values)})"
