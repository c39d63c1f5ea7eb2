"""The reference of `ggp evaluate` from evaluations of the bundled games, for percentiles and the table:

    ggp evaluate games/*.kif --json --seconds 20 > evaluations.jsonl
    python -m benchmarks.evaluation_reference evaluations.jsonl [--add]

Writes `ggp/game_evaluation/reference.json`, name of a figure → its values in these games, sorted, and prints
the table of `results/evaluation.md`. --add: only figures that the reference does not have yet. It takes
five minutes on two idle cores.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ggp.game_evaluation.figures import DEFINITIONS, EQUILIBRIUM, EXACT

REFERENCE = Path(__file__).resolve().parent.parent / "ggp" / "game_evaluation" / "reference.json"
SHOWN = (
    *("completion", "duration", "branching", "agency", "balance", "draws", "depth", "ladder", "skill"),
    *("fitness", "drama"),
)


def row_of(found: dict[str, Any]) -> str:
    """A row of the table; exact values are marked."""
    figures = {figure["name"]: figure for figure in found["figures"]}
    cells = []
    for name in SHOWN:
        figure = figures.get(name)
        mark = "*" if figure is not None and figure["source"] in (EXACT, EQUILIBRIUM) else ""
        cells.append("" if figure is None else f"{figure['value']:.3g}{mark}")
    return f"| {found['game']} | {' | '.join(cells)} | {found['seconds']:.0f} |"


def main() -> None:
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    values: dict[str, list[float]] = {name: [] for name in DEFINITIONS}
    print(f"| game | {' | '.join(SHOWN)} | s |")
    print(f"|---|{'---:|' * (len(SHOWN) + 1)}")
    for found in map(json.loads, lines):
        for figure in found["figures"]:
            values[figure["name"]].append(round(figure["value"], 4))
        print(row_of(found))
    if "--add" in sys.argv:
        values |= {name: each for name, each in json.loads(REFERENCE.read_text()).items() if each}
    REFERENCE.write_text(json.dumps({name: sorted(each) for name, each in values.items()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
