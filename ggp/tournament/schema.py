"""The tables of a store, and errors and transactions of SQLite."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


class StoreError(Exception):
    """The file is not a store, lacks the run, or cannot be read or written."""


PROGRAMMING_ERRORS = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""SQLite errors of wrong statements, which must not be reported as errors of a file."""


@contextmanager
def store_errors(path: Path) -> Iterator[None]:
    """Convert errors of SQLite to StoreError."""
    try:
        yield
    except PROGRAMMING_ERRORS:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from None


@contextmanager
def transaction(link: sqlite3.Connection) -> Iterator[None]:
    """Execute all statements of the block or none; other writers wait."""
    link.execute("begin immediate")
    try:
        yield
        link.execute("commit")
    except BaseException:
        if link.in_transaction:  # SQLite ends it itself if the disk is full
            link.execute("rollback")
        raise


def schema_version(link: sqlite3.Connection) -> int:
    """The schema version of a file; 0 for a new one."""
    return int(link.execute("pragma user_version").fetchone()[0])


def make_tables(link: sqlite3.Connection, path: Path) -> None:
    """Create the tables in a new file; only one of several processes that open it does.

    Raises StoreError for files of other programs and of other versions.
    """
    if schema_version(link) == 0:
        with transaction(link):
            if schema_version(link) == 0:
                (tables,) = link.execute("select count(*) from sqlite_master").fetchone()
                if tables:
                    raise StoreError(f"{path}: this SQLite file is not a tournament store")
                for statement in _SCHEMA.split(";\n"):
                    link.execute(statement)
                link.execute(f"pragma user_version = {SCHEMA_VERSION}")
    version = schema_version(link)
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path}: written by another version of this program"
            f" (schema {version}; this version reads only schema {SCHEMA_VERSION})"
        )
