"""CPU seconds from circuits to machine code for rows of 8 words, of every bundled game.

    python -m benchmarks.native_code [GAME...]

Columns: inputs of gates, operations in a tick of random playouts, seconds for all parts within the budget,
and the parts left to the interpreter. The last line has the median and the 90th percentile of the seconds.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress

import numpy as np

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.files import PACKAGE
from ggp.lanes.choose import native_layout
from ggp.native.background import NativeCode
from ggp.native.code import compile_part, schedule_part
from ggp.native.parts import FUSED_PARTS, Part
from ggp.native.schedule import ScheduleError

WORDS = 8


def seconds_of(game: CompiledGame) -> tuple[float, list[str]]:
    """CPU seconds to compile the parts within the budget, and the names of the others."""
    tables, layout = game.tables, native_layout(game.lane_tables)
    addresses = np.zeros((len(Part), 7), np.int64)
    code = NativeCode(tables, layout, addresses)
    parts = code.affordable(list(Part), code.limit.cpu_seconds)
    left = [part.name.lower() for part in Part if part not in parts]
    begin = time.process_time()
    for part in parts:
        with suppress(ScheduleError):
            compile_part(tables, layout, part, WORDS)
    return time.process_time() - begin, left


def operations_of(game: CompiledGame) -> int:
    """Operations with three inputs in a tick of random playouts, the draw and ends excluded."""
    layout = native_layout(game.lane_tables)
    return sum(len(schedule_part(game.tables, layout, part, 3).table) for part in FUSED_PARTS)


def main() -> None:
    """Print a row for each game."""
    names = sys.argv[1:] or sorted(path.stem for path in (PACKAGE.parent / "games").glob("*.kif"))
    print("| game | inputs | operations | seconds | interpreted |\n|---|---:|---:|---:|---|")
    compiled = []
    for name in names:
        game = ggp.load(name)
        if isinstance(game, CompiledGame):
            seconds, left = seconds_of(game)
            compiled.append(seconds)
            inputs, operations = len(game.tables.input), 0 if left else operations_of(game)
            print(f"| {name} | {inputs:,} | {operations:,} | {seconds:.2f} | {', '.join(left)} |", flush=True)
    median, ninetieth = np.percentile(compiled, [50, 90])
    print(f"\nmedian {median:.2f} s, 90th percentile {ninetieth:.2f} s")


if __name__ == "__main__":
    main()
