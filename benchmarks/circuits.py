"""Measure the circuits of a folder of rule sheets: size before and after simplification, and seconds.

    python -m benchmarks.circuits FOLDER [--only NAME,…] [--seconds S] [--stages NAME,…] [--write PAGE]

Prints a Markdown table; --write also replaces the table between the figure markers of a page, such as
results/circuits.md. Without --seconds, building and simplification may take as long as grounding plus one
second, as in `ggp`.
"""

from __future__ import annotations

import argparse
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

BEGIN, END = "<!-- begin figures -->", "<!-- end figures -->"
HEAD = """| game | gates, rules | literals, rules | gates | literals | legal | goal | next | sees | \
ground s | circuit s |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""


def row(path: Path, seconds: float | None, stages: list[str]) -> tuple[str, dict[str, float]]:
    """A row of the table, and the seconds of each stage."""
    started = time.perf_counter()
    grounded = ground(parse_file(path))
    ground_seconds = time.perf_counter() - started
    started = time.perf_counter()
    circuit = build(grounded)
    budget = seconds
    if budget is None:
        budget = simplify_budget(ground_seconds, time.perf_counter() - started)
    report: list[StageReport] = []
    circuit = simplify(circuit, stages=stages, seconds=budget, report=report)
    tabulate(circuit)
    circuit_seconds = time.perf_counter() - started
    first, last = report[0], report[-1]
    cells = [path.stem, sum(first.gates), sum(first.literals), sum(last.gates), sum(last.literals)]
    cells += [*last.literals, f"{ground_seconds:.2f}", f"{circuit_seconds:.2f}"]
    spent: dict[str, float] = {}
    for entry in report[1:]:
        spent[entry.stage] = spent.get(entry.stage, 0.0) + entry.seconds
    return "| " + " | ".join(f"{c:,}" if isinstance(c, int) else str(c) for c in cells) + " |", spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--stages", type=lambda text: text.split(","), default=list(STAGES))
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    lines = [HEAD]
    print(HEAD, flush=True)
    for path in sorted(options.folder.glob("*.kif"), key=lambda path: path.stem.lower()):
        if options.only and path.stem not in options.only:
            continue
        try:
            line, spent = row(path, options.seconds, options.stages)
        except (GdlError, CircuitError) as error:
            message = str(error).splitlines()[0]
            line, spent = f"| {path.stem} | {type(error).__name__}: {message} |" + " |" * 9, {}
        print(line, flush=True)
        if options.only:
            print("  " + ", ".join(f"{stage} {seconds:.2f} s" for stage, seconds in spent.items()))
        lines.append(line)
    if options.write:
        page = options.write.read_text(encoding="utf-8")
        before, _, rest = page.partition(BEGIN)
        _, _, after = rest.partition(END)
        page = f"{before}{BEGIN}\n{chr(10).join(lines)}\n{END}{after}"
        options.write.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
