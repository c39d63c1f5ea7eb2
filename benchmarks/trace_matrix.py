"""Replay every reference trace on lanes: per row width, and with each simplification stage disabled in turn.

    python -m benchmarks.trace_matrix CORPUS [SHEET...] [--seconds S] [--skip NAME...]

CORPUS is a folder with `games/*.kif` and `traces/*.jsonl.gz`. Prints a line per sheet and a total; exit
status 1 if a trace differs. Compiles each sheet ten times, simplifying for at most `--seconds`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gdl.errors import GdlError
from gdl.grounding import ground
from gdl.syntax.parser import parse_file
from ggp.circuit.circuit import Circuit
from ggp.circuit.construction import build
from ggp.circuit.simplify.plan import STAGES, simplify
from ggp.circuit.tables import tabulate
from ggp.engines.compiled import CompiledGame
from ggp.engines.rows_game import RowsGame
from ggp.validation.replay import replay

WIDTHS = (1, 2, 4, 8, 16)


def check_sheet(sheet: Path, trace: Path, seconds: float) -> tuple[int, list[str]]:
    """Number of variants replayed, and the differences."""
    program = parse_file(sheet)
    plain = build(ground(program))
    faults: list[str] = []
    count = 0

    def check(label: str, circuit: Circuit, words: int = 8, engine: type[CompiledGame] = RowsGame) -> None:
        nonlocal count
        count += 1
        game = engine(program, tabulate(circuit), circuit.terms, sheet.stem, words=words)
        difference = replay(game, trace).difference
        if difference is not None:
            faults.append(f"{label}: {difference}")

    small = simplify(plain, seconds=seconds)
    for words in WIDTHS:
        check(f"W={words}", small, words)
    check("single states", small, engine=CompiledGame)
    check("no stage", plain)
    for stage in STAGES:
        check(f"without {stage}", simplify(plain, stages=set(STAGES) - {stage}, seconds=seconds))
    return count, faults


def main() -> int:
    """Check the sheets given on the command line, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("sheets", nargs="*")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--skip", nargs="*", default=())
    options = parser.parse_args()
    total = wrong = 0
    for sheet in sorted((options.corpus / "games").glob("*.kif")):
        if sheet.stem in options.skip or (options.sheets and sheet.stem not in options.sheets):
            continue
        try:
            count, faults = check_sheet(
                sheet, options.corpus / "traces" / f"{sheet.stem}.jsonl.gz", options.seconds
            )
        except GdlError as error:
            count, faults = 0, [str(error)]
        total += count
        wrong += len(faults)
        print(f"{sheet.stem}: {count} variants, {len(faults)} differ", *faults, sep="\n  ", flush=True)
    print(f"{total} variants, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
