"""Count playouts of a first move's search, by how soon the lanes are filled.

    python benchmarks/filling_lanes.py othello hex_7x7 --seconds 0.1 1 --fill 0 0.1 0.2 0.5

Starts from an empty tree. Prints a row per game and value of `fill`: playouts and CPU seconds per time limit.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from rich.console import Console
from rich.table import Table

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.search.budget import Budget
from ggp.search.mcts.options import default_options
from ggp.search.mcts.search import LanesSearch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+", help="bundled games or rule sheets")
    parser.add_argument("--seconds", nargs="+", type=float, default=[0.1, 1.0])
    parser.add_argument("--fill", nargs="+", type=float, default=[0.0, 0.2])
    arguments = parser.parse_args()
    table = Table("game", "fill", *(f"{seconds:g} s" for seconds in arguments.seconds))
    for name in arguments.games:
        for fill in arguments.fill:
            row = [playouts_of(name, fill, seconds) for seconds in arguments.seconds]
            table.add_row(name, f"{fill:g}", *(f"{count:,} ({cpu:.2f})" for count, cpu in row))
    Console().print(table)


def playouts_of(name: str, fill: float, seconds: float) -> tuple[int, float]:
    """Playouts of the first role's first move within a time limit, and CPU seconds."""
    game = ggp.load(name, engine="lanes")
    assert isinstance(game, CompiledGame)
    options = replace(default_options(), threads=1, fill=fill)
    search = LanesSearch(game, game.roles[0], options=options)
    search.move_to(game.initial_state(), None)
    search.warm_up()
    began = time.process_time()
    search.run(Budget(time.monotonic() + seconds))
    return search.report().playouts, time.process_time() - began


if __name__ == "__main__":
    main()
