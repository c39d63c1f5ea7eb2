"""Solve boards of other sizes than the bundled ones; print a table row for each.

    python benchmarks/solved_boards.py connectfour:4x7 breakthrough:3x5 hex:2 halving:1-50

Boards are width x height. `--mebibytes` limits the solver's memory. The last column is the peak resident size
of the whole process, so measure one board per run.
"""

from __future__ import annotations

import argparse
import re
import resource
import time
from collections.abc import Iterator

import ggp
from ggp.engines.loading import find_rules
from ggp.solver import SolverError, SolverLimits, solve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("boards", nargs="+", metavar="GAME:SIZE")
    parser.add_argument("--mebibytes", type=int, default=8192)
    parser.add_argument("--sheet", action="store_true", help="print the rules instead of solving")
    arguments = parser.parse_args()
    print("| game | values | states | transitions | line | CPU seconds | resident MiB |")
    print("|---|---|---|---|---|---|---|")
    for name, text in sheets(arguments.boards):
        print(text if arguments.sheet else row(name, text, arguments.mebibytes), flush=True)


def sheets(boards: list[str]) -> Iterator[tuple[str, str]]:
    """Name and rules of every requested board."""
    for board in boards:
        game, _, size = board.partition(":")
        first, _, last = size.partition("-")
        if game == "connectfour":
            yield board, connect_four(*map(int, size.split("x")))
        elif game == "breakthrough":
            yield board, breakthrough(*map(int, size.split("x")))
        else:
            make = {"hex": hex_board, "halving": halving}[game]
            for number in range(int(first), int(last or first) + 1):
                yield f"{game}:{number}", make(number)


def row(name: str, text: str, mebibytes: int) -> str:
    game = ggp.load(text, engine="lanes", name=name)
    begin = time.process_time()
    try:
        solution = solve(game, SolverLimits(mebibytes=mebibytes))
    except SolverError as error:
        return f"| {name} | {error} | | | | {time.process_time() - begin:.1f} | |"
    seconds = time.process_time() - begin
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    values = " : ".join(f"{worth:g}" for worth in solution.values())
    space = solution.space
    return (
        f"| {name} | {values} | {space.state_count:,} | {space.transitions:,} | {solution.depth[0]}"
        f" | {seconds:.1f} | {resident:,} |"
    )


def connect_four(width: int, height: int) -> str:
    text = with_numbers("connectfour_4x5", "column", width)
    text = with_numbers(text, "row", height)
    text = with_successors(text, max(width, height))
    return text.replace("filled ?x 5", f"filled ?x {height}")


def breakthrough(width: int, height: int) -> str:
    """Breakthrough with two rows of pieces on each side."""
    text = with_numbers("breakthrough_4x4", "column", width)
    text = with_successors(with_numbers(text, "row", height), max(width, height))
    text = text.replace("(home black 3)", f"(home black {height - 1})")
    text = text.replace("(home black 4)", f"(home black {height})")
    return text.replace("(goal_row white 4)", f"(goal_row white {height})")


def hex_board(size: int) -> str:
    text = with_successors(with_numbers("hex_3x3", "index", size), size)
    return text.replace("end_edge red 3 ?y", f"end_edge red {size} ?y").replace(
        "end_edge blue ?x 3", f"end_edge blue ?x {size}"
    )


def halving(start: int) -> str:
    return rules("halving").replace("(start 50)", f"(start {start})")


def rules(sheet: str) -> str:
    """Text of a bundled sheet; rules are returned as they are."""
    return sheet if "(" in sheet else find_rules(sheet).read_text(encoding="utf-8")


def with_numbers(sheet: str, relation: str, count: int) -> str:
    """The rules with the facts of `relation` replaced by (relation 1) ... (relation count)."""
    facts = "".join(f"({relation} {i})\n" for i in range(1, count + 1))
    return re.sub(rf"(\({relation} \d+\)\n)+", facts, rules(sheet), count=1)


def with_successors(text: str, last: int) -> str:
    facts = "".join(f"(succ {i} {i + 1})\n" for i in range(1, last))
    return re.sub(r"(\(succ \d+ \d+\)\n)+", facts, text, count=1)


if __name__ == "__main__":
    main()
