"""Matches side by side against the same matches one after the other: `python -m benchmarks.side_by_side`.

Two UCT searches play, one with twice the playouts of the other, in turns on both seats. One after the other,
they are players `mcts:simulations=N` with the options PLAIN. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import ggp
from ggp.match.terms import MatchTerms

PLAIN = "reuse=off,words=1,lanes=1,lanes_per_leaf=1,head_start=off,proof=off,memory=64"


def side_by_side(
    game: ggp.Game[Any], simulations: int, matches: int, threads: int
) -> tuple[float, float, float]:
    """Seconds of wall and of CPU time, and the share of points of the side with more playouts."""
    each = np.empty((matches, 2), np.int64)
    each[::2], each[1::2] = (simulations, simulations // 2), (simulations // 2, simulations)
    wall, cpu = time.perf_counter(), time.process_time()
    found = ggp.self_play(game, each, matches, seed=1, threads=threads)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    stronger = np.where(np.arange(matches) % 2 == 0, found.goals[:, 0], found.goals[:, 1])
    return wall, cpu, float(stronger.mean())


def one_by_one(game: ggp.Game[Any], simulations: int, matches: int) -> float:
    """Seconds of CPU time of matches on one core."""
    cpu = time.process_time()
    for match in range(matches):
        numbers = (simulations, simulations // 2) if match % 2 == 0 else (simulations // 2, simulations)
        players = [ggp.make_player(f"mcts:simulations={number},{PLAIN}") for number in numbers]
        ggp.play_match(game, players, MatchTerms(600, 600, seed=match))
    return time.process_time() - cpu


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=["connectfour", "breakthrough", "hex_7x7", "othello"])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=3, help="matches one after the other")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    print(
        "| game | matches | s | CPU-s | CPU-s a match | one by one, CPU-s a match | times "
        "| points of the stronger |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    for name in given.games:
        game = ggp.load(name, engine="lanes")
        side_by_side(game, 10, 4, 1)
        one_by_one(game, 10, 1)
        alone = one_by_one(game, given.simulations, given.alone) / given.alone
        wall, cpu, points = side_by_side(game, given.simulations, given.matches, given.threads)
        each = cpu / given.matches
        print(
            f"| {name} | {given.matches:,} | {wall:.1f} | {cpu:.1f} | {each:.3f} | {alone:.2f} "
            f"| {alone / each:.0f} | {points:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
