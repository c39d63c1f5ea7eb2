"""Finished matches in SQLite, from the moment each is finished.

A file holds any number of runs; a run is one plan being played. Matches go in by their id within the run,
and what is there already stays: a match that was played twice counts once. Write-ahead logging lets others
read while a run writes.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ggp.match_record import MatchRecord, now_ms
from ggp.tournament.plan import Plan, changed_settings
from ggp.tournament.play import MatchResult, SeatResult

SCHEMA_VERSION = 2

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
    player text,                    -- settings in full, as make_player takes them
    goal integer,
    moves integer not null,
    late integer not null,
    illegal integer not null,
    lost integer not null,
    think_seconds real not null,
    simulations integer,
    fallback text not null default '',
    primary key (run, match, number),
    foreign key (run, match) references match (run, id)
) without rowid;
"""


_FROM_SCHEMA_1 = "alter table seat add column fallback text not null default ''"
"""What older matches lack stays unknown: their agents may have played by another policy without saying so."""


class StoreError(Exception):
    """The file is no store of results, or has no such run."""


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


class Store:
    """An open file of results. One process should write to a run at a time; any number may read."""

    def __init__(self, path: Path, *, must_exist: bool = False) -> None:
        """Open or create the file. Raises StoreError, OSError."""
        if must_exist and not path.is_file():
            raise FileNotFoundError(2, "there is no such file", str(path))
        self.path = path
        try:
            self._link = sqlite3.connect(path, timeout=30, isolation_level=None)
            self._link.execute("pragma journal_mode = wal")
            self._link.execute("pragma synchronous = normal")
            self._link.execute("pragma foreign_keys = on")
            self._prepare()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{path}: no tournament results: {error}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._link.close()

    def _prepare(self) -> None:
        """Make the tables where the file is new; only one of several processes that open it does."""
        if self._version() == 0:
            self._link.execute("begin immediate")
            try:
                if self._version() == 0:
                    (tables,) = self._link.execute("select count(*) from sqlite_master").fetchone()
                    if tables:
                        raise StoreError(f"{self.path}: this SQLite file holds something else")
                    for statement in _SCHEMA.split(";\n"):
                        self._link.execute(statement)
                    self._link.execute(f"pragma user_version = {SCHEMA_VERSION}")
            except BaseException:
                self._link.execute("rollback")
                raise
            self._link.execute("commit")
        if self._version() == 1:
            self._extend()
        if self._version() != SCHEMA_VERSION:
            version = self._version()
            raise StoreError(f"{self.path}: written by another version of this program (schema {version})")

    def _extend(self) -> None:
        """Make a file of schema 1 one of schema 2; only one of several processes that open it does."""
        self._link.execute("begin immediate")
        try:
            if self._version() == 1:
                self._link.execute(_FROM_SCHEMA_1)
                self._link.execute(f"pragma user_version = {SCHEMA_VERSION}")
        except BaseException:
            self._link.execute("rollback")
            raise
        self._link.execute("commit")

    def _version(self) -> int:
        return int(self._link.execute("pragma user_version").fetchone()[0])

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
        if name not in taken:
            self._link.execute(
                "insert into run (name, created_ms, plan) values (?, ?, ?)", (name, now_ms(), plan.to_json())
            )
            return self.run(name)
        run = self.run(name)
        changes = changed_settings(self._played_settings(run), plan.settings())
        if changes:
            raise SettingsChangedError(
                f"{self.path}: run {name!r} has {self.match_count(run)} matches under other settings:\n  "
                + "\n  ".join(changes)
                + "\nTake the old settings again, or start a new run (--new)."
            )
        self._link.execute("update run set plan = ? where id = ?", (plan.to_json(), run.id))
        return self.run(name)

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
        """Store a match; false where it was there before, which then stays as it is."""
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
            (
                run.id,
                task.id,
                number,
                seat.role,
                seat.agent,
                seat.player,
                seat.goal,
                seat.moves,
                seat.late,
                seat.illegal,
                seat.lost,
                seat.think_seconds,
                seat.simulations,
                seat.fallback,
            )
            for number, seat in enumerate(result.seats)
        ]
        names = ", ".join(values)
        marks = ", ".join(f":{name}" for name in values)
        self._link.execute("begin immediate")
        try:
            added = self._link.execute(
                f"insert into match ({names}) values ({marks}) on conflict do nothing", values
            ).rowcount
            if added:
                self._link.executemany(f"insert into seat values ({', '.join('?' * 14)})", seats)
        except BaseException:
            self._link.execute("rollback")
            raise
        self._link.execute("commit")
        return bool(added)

    def finished_ids(self, run: Run) -> set[str]:
        """The matches that need not be played any more."""
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
            " fallback from seat where run = ? order by match, number",
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
                {key: seat[key] for key in seat.keys() if key not in ("run", "match", "number")}  # noqa: SIM118
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
