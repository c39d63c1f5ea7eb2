"""The tables of a store, and files of earlier versions of this program.

Only who writes changes a file: somebody who looks at a run must not disturb an older program that plays it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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
    fallback text,                  -- null where nobody told, empty for the agent's own policy
    primary key (run, match, number),
    foreign key (run, match) references match (run, id)
) without rowid;
"""

_FROM_SCHEMA_1 = "alter table seat add column fallback text"
"""What older matches lack stays unknown: their agents may have played by another policy without saying so."""


class StoreError(Exception):
    """The file is no store of results, or has no such run, or cannot be read or written."""


OWN_MISTAKES = (sqlite3.IntegrityError, sqlite3.InterfaceError, sqlite3.ProgrammingError)
"""What SQLite says of statements that are wrong, not of files: never told as if a file were at fault."""


@contextmanager
def told_by_store(path: Path) -> Iterator[None]:
    """What SQLite has to say, as a StoreError in a sentence."""
    try:
        yield
    except OWN_MISTAKES:
        raise
    except sqlite3.Error as error:
        raise StoreError(f"{path}: {error}") from None


@contextmanager
def transaction(link: sqlite3.Connection) -> Iterator[None]:
    """All statements of the block or none of them; others who want to write wait."""
    link.execute("begin immediate")
    try:
        yield
        link.execute("commit")
    except BaseException:
        if link.in_transaction:  # SQLite has ended it by itself where the disk is full
            link.execute("rollback")
        raise


def schema_version(link: sqlite3.Connection) -> int:
    """0 in new files."""
    return int(link.execute("pragma user_version").fetchone()[0])


def make_tables(link: sqlite3.Connection, path: Path) -> None:
    """Make the tables where the file is new; only one of several processes that open it does.

    Raises StoreError for files of other programs and of later versions.
    """
    if schema_version(link) == 0:
        with transaction(link):
            if schema_version(link) == 0:
                (tables,) = link.execute("select count(*) from sqlite_master").fetchone()
                if tables:
                    raise StoreError(f"{path}: this SQLite file holds something else")
                for statement in _SCHEMA.split(";\n"):
                    link.execute(statement)
                link.execute(f"pragma user_version = {SCHEMA_VERSION}")
    version = schema_version(link)
    if not 1 <= version <= SCHEMA_VERSION:
        raise StoreError(f"{path}: written by another version of this program (schema {version})")


def extend(link: sqlite3.Connection) -> None:
    """Make a file of an earlier schema one of the present; only one of several processes that write does."""
    if schema_version(link) == SCHEMA_VERSION:
        return
    with transaction(link):
        if schema_version(link) == 1:
            link.execute(_FROM_SCHEMA_1)
            link.execute(f"pragma user_version = {SCHEMA_VERSION}")
