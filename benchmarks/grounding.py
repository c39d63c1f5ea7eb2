"""Ground every rule sheet of a folder: CPU seconds, rules, atoms.

    python benchmarks/grounding.py FOLDER [--seconds N] [--mebibytes N] [--only NAME…] [--json]

Times are CPU seconds, user and system, from text to ground program: `python` is this process including
parsing, `gringo` the child. The first sheet is grounded once before measuring, so that imports do not count.
Prints a table.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
from pathlib import Path
from typing import Any

from gdl.errors import GdlError
from gdl.grounding import ground
from gdl.syntax.parser import parse_file


def cpu_seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measure(place: Path, seconds: float, mebibytes: int) -> dict[str, Any]:
    """A row of the table; `error` instead of sizes if the sheet cannot be ground."""
    own, child = cpu_seconds(resource.RUSAGE_SELF), cpu_seconds(resource.RUSAGE_CHILDREN)
    row: dict[str, Any] = {"game": place.stem}
    try:
        program = ground(parse_file(place), seconds=seconds, mebibytes=mebibytes)
        row |= {
            "rules": program.rule_count,
            "literals": len(program.body),
            "atoms": program.atom_count,
            "facts": len(program.fluents),
            "moves": sum(map(len, program.moves)),
        }
    except GdlError as error:
        row["error"] = str(error).splitlines()[0].replace(str(place), place.name)
    row["python"] = cpu_seconds(resource.RUSAGE_SELF) - own
    row["gringo"] = cpu_seconds(resource.RUSAGE_CHILDREN) - child
    return row


def print_table(rows: list[dict[str, Any]]) -> None:
    """Print the Markdown table, then percentiles over all sheets that were ground."""
    print("| sheet | python s | gringo s | rules | literals | atoms | facts | moves |")
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        times = f"| {row['game']} | {row['python']:.3f} | {row['gringo']:.3f} |"
        if "error" in row:
            print(f"{times} {row['error']} | | | | |")
        else:
            sizes = " | ".join(f"{row[key]:,}" for key in ("rules", "literals", "atoms", "facts", "moves"))
            print(f"{times} {sizes} |")
    totals = sorted(row["python"] + row["gringo"] for row in rows if "error" not in row)
    if len(totals) > 1:
        tenths = statistics.quantiles(totals, n=20, method="inclusive")
        print(
            f"\n{len(totals)} of {len(rows)} sheets; CPU seconds from text to ground program:"
            f" median {tenths[9]:.3f}, 90th percentile {tenths[17]:.3f}, 95th {tenths[18]:.3f}"
        )


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("folder", type=Path)
    options.add_argument("--seconds", type=float, default=60.0)
    options.add_argument("--mebibytes", type=int, default=4096)
    options.add_argument("--only", nargs="*", metavar="NAME")
    options.add_argument("--json", action="store_true")
    chosen = options.parse_args()
    places = sorted(chosen.folder.glob("*.kif"))
    if chosen.only:
        places = [place for place in places if place.stem in chosen.only]
    if not places:
        sys.exit(f"no *.kif in {chosen.folder}")
    measure(places[0], chosen.seconds, chosen.mebibytes)
    rows = [measure(place, chosen.seconds, chosen.mebibytes) for place in places]
    if chosen.json:
        print(json.dumps(rows, indent=1))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
