"""Ground and simplify every rule sheet of a folder: sizes, CPU seconds of grounding, seconds of the circuit.

    python -m benchmarks.circuits FOLDER [--only NAME,…] [--seconds S] [--stages NAME,…]
    python -m benchmarks.circuits FOLDER [--only NAME,…] --abc

`ground` is the CPU time from text to ground program, gringo included; `circuit` is the wall-clock time of
building, simplification and tables. Without --seconds, simplification takes as long as in `ggp`:
at most as long as grounding plus one second. Prints a Markdown table.

With --abc, compares what `ggp export` writes with ABC, the reference of logic synthesis (Debian:
berkeley-abc): ANDs of two inputs before and after its rewriting, and operations of three inputs.
"""

from __future__ import annotations

import argparse
import re
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from gdl.errors import GdlError
from gdl.grounding import ground
from gdl.syntax.parser import parse_file
from ggp.circuit.circuit import CircuitError
from ggp.circuit.construction import build
from ggp.circuit.simplify.plan import STAGES, StageReport, simplify
from ggp.circuit.tables import tabulate
from ggp.engines.compilation import compile_game, simplify_budget
from ggp.export.circuits import named_circuit, to_blif
from ggp.native.mapping import map_gates
from ggp.native.schedule import outputs_of_phase

ABC = "berkeley-abc"
ABC_REWRITING = "dc2; dc2; rewrite -z; refactor -z; resub;"
ABC_HEAD = """\
| game | ANDs | after ABC | of three inputs | by ABC | by ABC, rewritten |
|---|---:|---:|---:|---:|---:|"""
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


def abc_row(path: Path) -> str:
    """Sizes of the circuit that `ggp export` writes: ours, and after ABC."""
    game = compile_game(parse_file(path), path.stem)
    tables = game.tables
    ends = [0, *tables.phase_end.tolist()]
    operations = sum(
        len(map_gates(tables, begin, end, outputs_of_phase(tables, begin, end), inputs=3).operations)
        for begin, end in pairwise(ends)
    )
    with tempfile.NamedTemporaryFile("w", suffix=".blif") as file:
        file.write(to_blif(named_circuit(tables, game.terms)))
        file.flush()
        ands, mapped = abc_sizes(file.name, "")
        rewritten, rewritten_mapped = abc_sizes(file.name, ABC_REWRITING)
    sizes = (ands, rewritten, operations, mapped, rewritten_mapped)
    return f"| {path.stem} | {' | '.join(f'{size:,}' for size in sizes)} |"


def abc_sizes(file: str, rewriting: str) -> list[int]:
    """ANDs of two inputs, and functions of three that cover them."""
    script = f"read_blif {file}; strash; {rewriting} print_stats; if -K 3 -a; print_stats"
    done = subprocess.run([ABC, "-q", script], capture_output=True, text=True, check=True)
    return list(map(int, re.findall(r"\b(?:and|nd) = *(\d+)", done.stdout)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--stages", type=lambda text: text.split(","), default=list(STAGES))
    parser.add_argument("--abc", action="store_true")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("*.kif"), key=lambda path: path.stem.lower())
    paths = [path for path in paths if not options.only or path.stem in options.only]
    if options.abc and shutil.which(ABC) is None:
        parser.exit(0, f"skipped: {ABC} is not installed\n")
    print(ABC_HEAD if options.abc else HEAD, flush=True)
    ground_seconds = []
    for path in paths:
        try:
            if options.abc:
                line = abc_row(path)
            else:
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
