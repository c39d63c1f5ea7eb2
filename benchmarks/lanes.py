"""Measure uniform playouts per CPU second on lanes, as a table or as JSON lines.

python -m benchmarks.lanes SHEET.kif... [--threads N] [--words W] [--seconds S] [--json]
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from gdl.syntax.parser import parse_file
from ggp.bench.lanes import measure_lanes
from ggp.engines.compilation import compile_game

HEADER = (
    f"{'game':24} {'W':>2} {'literals':>9} {'playouts/CPU-s':>15} {'states/CPU-s':>13} {'length':>7} "
    f"{'us/tick':>8} {'settle':>7} {'choose':>7} {'step':>7} {'ns/lit':>7} {'set-up s':>8}"
)


def row(result: dict[str, Any]) -> str:
    """A row of the table."""
    micros = [result[f"{part}_seconds"] * 1e6 for part in ("tick", "settle", "choose", "step")]
    return (
        f"{result['game']:24} {result['words']:2} {result['literals']:9} "
        f"{result['playouts_per_cpu_second']:15,.0f} {result['states_per_cpu_second']:13,.0f} "
        f"{result['mean_length']:7.1f} {micros[0]:8.2f} {micros[1]:7.2f} {micros[2]:7.2f} {micros[3]:7.2f} "
        f"{result['ns_per_literal']:7.2f} {result['setup_seconds']:8.2f}"
    )


def main() -> None:
    """Measure the sheets in turn."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("sheets", nargs="+", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--words", type=int, default=None, help="words per row; default: the faster of two")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(HEADER)
    for sheet in options.sheets:
        result = measure_lanes(
            lambda sheet=sheet: compile_game(parse_file(sheet), sheet.stem),  # type: ignore[misc]
            seconds=options.seconds,
            threads=options.threads,
            words=options.words,
        ).to_dict()
        print(json.dumps(result) if options.json else row(result), flush=True)


if __name__ == "__main__":
    main()
