"""Export matches: CSV with one row per match, or JSON Lines with everything."""

from __future__ import annotations

import csv
import json
from typing import IO

from ggp.tournament.store import Run, Store

MATCH_COLUMNS = (
    *("id", "condition", "game", "repetition", "seed", "is_completed", "fault", "steps", "seconds"),
    *("started_ms", "version"),
)
SEAT_COLUMNS = (
    *("agent", "goal", "late", "illegal", "lost", "crashed", "think_seconds", "simulations", "fallback"),
)


def write_csv(store: Store, run: Run, stream: IO[str]) -> None:
    """Write one row per match; seats have numbered columns: `agent1`, `goal1`, …"""
    matches = sorted(store.details(run), key=lambda match: str(match["id"]))
    seat_count = max((len(match["seats"]) for match in matches), default=0)
    numbered = [f"{column}{number + 1}" for number in range(seat_count) for column in SEAT_COLUMNS]
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*MATCH_COLUMNS, *numbered])
    for match in matches:
        row = [match[column] for column in MATCH_COLUMNS]
        for seat in match["seats"]:
            row += [seat[column] for column in SEAT_COLUMNS]
        # csv would write a lone CR, which some faults hold, without quotes
        writer.writerow([cell.replace("\r", " ") if isinstance(cell, str) else cell for cell in row])


def write_json_lines(store: Store, run: Run, stream: IO[str]) -> None:
    """Write one JSON object per match, with its match record but without the rules."""
    for match in store.details(run):
        match["record"] = store.record(run, match["id"]).to_dict()
        match["record"].pop("rules", None)
        stream.write(json.dumps(match, ensure_ascii=False) + "\n")
