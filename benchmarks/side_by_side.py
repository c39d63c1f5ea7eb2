"""Matches of `uct`, played side by side, against the same matches one after the other, as tournaments.

    python -m benchmarks.side_by_side [GAME...]

In each pairing one search has twice the simulations of the other. `mcts` is the counted default.
Prints a row of a Markdown table for each game.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from ggp.tournament.config import plan_from_data
from ggp.tournament.pool import ProcessWorkers
from ggp.tournament.runner import Runner
from ggp.tournament.store import Store

HEAD = """\
| game | matches of uct | s | matches/s | mcts one by one, matches/s | times |
|---|---:|---:|---:|---:|---:|"""


def seconds_of(game: str, players: list[str], repetitions: int, workers: ProcessWorkers) -> float:
    """Seconds of a tournament of two players, twice `repetitions` matches, with kernels and games loaded."""
    plan = plan_from_data(
        {
            "name": "timed",
            "games": [game],
            "agents": {"more": players[0], "fewer": players[1]},
            "repetitions": repetitions,
            "simulations": 1000,  # of agents that do not say how many; without a clock
        }
    )
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
        begin = time.perf_counter()
        progress = Runner(store, store.begin(plan), workers).play()
        seconds = time.perf_counter() - begin
    assert progress.stored == 2 * repetitions, progress.failures
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=["connectfour", "breakthrough", "hex_7x7", "othello"])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=3, help="matches one after the other")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    print(HEAD)
    with ProcessWorkers(given.workers) as workers:
        for game in given.games:
            rates = []
            for kind, repetitions in (("uct", given.matches // 2), ("mcts", given.alone)):
                seconds_of(game, [f"{kind}:simulations=10"] * 2, given.workers, workers)
                pair = [f"{kind}:simulations={given.simulations // divisor}" for divisor in (1, 2)]
                rates.append(2 * repetitions / seconds_of(game, pair, repetitions, workers))
            uct, mcts = rates
            seconds = given.matches / uct
            cells = f"{game} | {given.matches:,} | {seconds:.1f} | {uct:.1f} | {mcts:.2f} | {uct / mcts:.0f}"
            print(f"| {cells} |", flush=True)


if __name__ == "__main__":
    main()
