"""Evaluate all bundled games, for percentiles and the table: `python -m benchmarks.evaluation_reference`.

Writes `ggp/evaluation/reference.json`, name of a figure → its values in the bundled games, sorted, and prints
the table of `results/evaluation.md`; CPU seconds follow. Takes about ten minutes on two idle cores with 20 s.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import ggp
from ggp.engines.loading import find_own_rules
from ggp.evaluation.evaluate import Evaluation, EvaluationTerms, evaluate
from ggp.evaluation.figures import DEFINITIONS, EQUILIBRIUM, EXACT

REFERENCE = Path(__file__).resolve().parent.parent / "ggp" / "evaluation" / "reference.json"
SHOWN = (
    "duration",
    "branching",
    "agency",
    "balance",
    "draws",
    "depth",
    "ladder",
    "skill",
    "fitness",
    "drama",
    "tedium",
    "unchosen",
    "dominated",
)


def row_of(found: Evaluation) -> str:
    """A row of the table; exact values are marked."""
    figures = {figure.name: figure for figure in found.figures}
    cells = []
    for name in SHOWN:
        figure = figures.get(name)
        mark = "*" if figure is not None and figure.source in (EXACT, EQUILIBRIUM) else ""
        cells.append("" if figure is None else f"{figure.value:.3g}{mark}")
    return f"| {found.game} | {' | '.join(cells)} | {found.seconds:.0f} |"


def main() -> None:
    terms = EvaluationTerms(seconds=float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
    values: dict[str, list[float]] = {name: [] for name in DEFINITIONS}
    print(f"| game | {' | '.join(SHOWN)} | s |")
    print(f"|---|{'---:|' * (len(SHOWN) + 1)}")
    for name in sorted(path.stem for path in find_own_rules("tictactoe").parent.glob("*.kif")):
        found = evaluate(ggp.load(name, engine="lanes"), terms)
        if found.is_interrupted:
            return
        for figure in found.figures:
            values[figure.name].append(round(figure.value, 4))
        print(row_of(found), flush=True)
    print(f"\n{time.process_time():.0f} CPU s", flush=True)
    REFERENCE.write_text(json.dumps({name: sorted(each) for name, each in values.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
