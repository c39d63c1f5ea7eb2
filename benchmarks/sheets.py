"""Ground and simplify every rule sheet of a folder: sizes, CPU seconds of grounding, seconds of the circuit.

    python -m benchmarks.sheets FOLDER [--only NAME,…] [--seconds S] [--stages NAME,…]

`ground` is the CPU time from text to ground program, gringo included; `circuit` is the wall-clock time of
building, simplification and tables. Without --seconds, simplification takes as long as in `ggp`:
at most as long as grounding plus one second. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from pathlib import Path

from gdl.errors import GdlError
from gdl.grounding import ground
from gdl.syntax.parser import parse_file
from ggp.circuit.circuit import CircuitError
from ggp.circuit.construction import build
from ggp.circuit.simplify.plan import STAGES, StageReport, simplify
from ggp.circuit.tables import tabulate
from ggp.engines.compilation import simplify_budget

HEAD = """\
| game | rules | atoms | literals, built | literals | legal | goal | next | sees | ground CPU s | circuit s |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def cpu_seconds() -> float:
    """User and system time of this process and of its children."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def row(path: Path, seconds: float | None, stages: list[str]) -> tuple[str, float]:
    """A row of the table, and the CPU seconds of grounding."""
    cpu, begin = cpu_seconds(), time.perf_counter()
    grounded = ground(parse_file(path))
    ground_cpu, ground_seconds = cpu_seconds() - cpu, time.perf_counter() - begin
    begin = time.perf_counter()
    circuit = build(grounded)
    budget = simplify_budget(ground_seconds, time.perf_counter() - begin) if seconds is None else seconds
    report: list[StageReport] = []
    tabulate(simplify(circuit, stages=stages, seconds=budget, report=report))
    circuit_seconds = time.perf_counter() - begin
    first, last = report[0], report[-1]
    sizes = [
        grounded.rule_count,
        grounded.atom_count,
        sum(first.literals),
        sum(last.literals),
        *last.literals,
    ]
    cells = " | ".join(f"{size:,}" for size in sizes)
    return f"| {path.stem} | {cells} | {ground_cpu:.3f} | {circuit_seconds:.2f} |", ground_cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--stages", type=lambda text: text.split(","), default=list(STAGES))
    options = parser.parse_args()
    print(HEAD, flush=True)
    ground_seconds = []
    for path in sorted(options.folder.glob("*.kif"), key=lambda path: path.stem.lower()):
        if options.only and path.stem not in options.only:
            continue
        try:
            line, seconds = row(path, options.seconds, options.stages)
            ground_seconds.append(seconds)
        except (GdlError, CircuitError) as error:
            line = f"| {path.stem} | {type(error).__name__}: {str(error).splitlines()[0]} |" + " |" * 9
        print(line, flush=True)
    if len(ground_seconds) > 1:
        tenths = statistics.quantiles(ground_seconds, n=10, method="inclusive")
        print(f"\ngrounding, CPU seconds: median {tenths[4]:.3f}, 90th percentile {tenths[8]:.3f}")


if __name__ == "__main__":
    main()
