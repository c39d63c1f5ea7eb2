"""Items per minute and CPU for the questions about states, written as JSON Lines.

    python -m benchmarks.items [COUNT]

Prints a row of a Markdown table for each game: the best of three runs, for the text of the questions is all
that varies. Loading the game is not counted.
"""

from __future__ import annotations

import sys
import time

import ggp
from ggp.items.making import KINDS, ItemMaker, ItemTerms
from ggp.items.questions import SOLVED_KINDS

GAMES = ("connectfour", "breakthrough", "othello", "checkers", "goofspiel_hidden", "tictactoe")
RUNS = 3


def measure(name: str, count: int) -> tuple[int, float, float]:
    """Items made, CPU seconds and bytes per item, of the fastest run."""
    game = ggp.load(name, engine="lanes")
    kinds = tuple(kind for kind in KINDS if kind not in SOLVED_KINDS)
    runs = []
    for seed in range(RUNS + 1):  # the first loads the kernels
        maker = ItemMaker(game, ItemTerms(count=count if seed else 10, seed=seed, kinds=kinds))
        begin = time.process_time()
        sizes = [len(item.to_json()) for item in maker.items()]
        seconds = time.process_time() - begin
        if seed:
            runs.append((len(sizes) / seconds, seconds, len(sizes), sum(sizes) / len(sizes)))
    _, seconds, made, size = max(runs)
    return made, seconds, size


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("| game | items | CPU s | items a minute | bytes an item |\n|---|---:|---:|---:|---:|")
    for name in GAMES:
        made, seconds, size = measure(name, count)
        print(f"| {name} | {made:,} | {seconds:.1f} | {60 * made / seconds:,.0f} | {size:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
