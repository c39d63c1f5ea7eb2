"""The tournament stores named on the command line: their runs, reports and match records.

Browsers refer to a store by number, so that no request reaches another file. Every call opens the store
itself: a tournament may be writing to it, and calls may come from any thread.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

from gdl.errors import GdlError
from ggp.tournament.report import Report, make_report
from ggp.tournament.store import Store, StoredMatch, StoreError
from ggp.tournament.tables import crosstable

MATCHES_SHOWN = 500
"""Maximum number of matches in a list, the newest ones."""


class UnknownStoreError(Exception):
    """The store, run or match does not exist or cannot be read; the text is shown to the user."""


class Stores:
    """Reads the stores at `paths`, which are numbered in this order."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = tuple(paths)
        self._lock = Lock()
        self._last: tuple[tuple[int, str, int], dict[str, Any]] | None = None

    def sizes(self) -> list[dict[str, Any]]:
        """For every store its file name, and its runs with their numbers of matches, oldest first.

        A store that cannot be read has an `error` instead of runs.
        """
        found: list[dict[str, Any]] = []
        for number, path in enumerate(self._paths):
            try:
                with self._open(number) as store:
                    found.append({"name": path.name, "runs": store.run_sizes()})
            except UnknownStoreError as error:
                found.append({"name": path.name, "runs": {}, "error": str(error)})
        return found

    def report(self, number: int, run_name: str) -> dict[str, Any]:
        """The tables of a run, and its newest matches. Raises UnknownStoreError.

        Browsers that follow the same run share one computation, repeated only if matches were added.
        """
        with self._lock, self._open(number) as store:
            run = store.run(run_name)
            key = (number, run_name, store.match_count(run))
            if self._last is None or self._last[0] != key:
                matches = sorted(store.matches(run), key=lambda match: match.stored_ms, reverse=True)
                self._last = (key, _report_data(make_report(store, run), matches))
            return self._last[1]

    def record(self, number: int, run_name: str, match_id: str) -> str:
        """The record of a match as JSON text, rules included. Raises UnknownStoreError."""
        with self._open(number) as store:
            return store.record(store.run(run_name), match_id).to_json()

    @contextmanager
    def _open(self, number: int) -> Iterator[Store]:
        if not 0 <= number < len(self._paths):
            raise UnknownStoreError("unknown store")
        path = self._paths[number]
        try:
            with Store(path, must_exist=True) as store:
                yield store
        except UnicodeEncodeError:  # half a character, which JSON allows and SQLite does not
            raise UnknownStoreError("unknown match") from None
        except (StoreError, sqlite3.Error, GdlError, OSError) as error:
            # Only the file's name: its folder stays private.
            raise UnknownStoreError(str(error).replace(str(path), path.name)) from None


def _report_data(report: Report, matches: Sequence[StoredMatch]) -> dict[str, Any]:
    sections = []
    for section in report.sections():
        tables = list(section.tables)
        if section.condition is not None:
            cross = crosstable(report.results, section.condition)
            tables = [cross, *tables] if cross.rows else tables
        sections.append({"title": section.title, "tables": list(map(asdict, tables))})
    return {
        "summary": report.summary(),
        "planned": report.planned,
        "stored": report.results.match_count,
        "sections": sections,
        "matches": [
            {
                **{name: getattr(match, name) for name in ("id", "game", "condition", "steps", "fault")},
                "seats": [
                    {"role": seat.role, "agent": seat.agent or "random", "goal": seat.goal}
                    for seat in match.seats
                ],
            }
            for match in matches[:MATCHES_SHOWN]
        ],
        "left_out": max(0, len(matches) - MATCHES_SHOWN),
    }
