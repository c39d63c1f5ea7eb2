"""Matches side by side against the same matches one after the other: `python -m benchmarks.side_by_side`.

    python -m benchmarks.side_by_side --tournament     as tournaments of `uct` and of `mcts`, in two workers

Two UCT searches play, one with twice the playouts of the other, in turns on both seats. One after the other,
they are players `mcts:simulations=N` with the options PLAIN. Prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import ggp
from ggp.match.terms import MatchTerms
from ggp.tournament.config import plan_from_data
from ggp.tournament.pool import ProcessWorkers
from ggp.tournament.runner import Runner
from ggp.tournament.store import Store

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


def tournament(name: str, players: tuple[str, str], repetitions: int, workers: ProcessWorkers) -> float:
    """Seconds of a tournament of two players, twice `repetitions` matches, kernels and games loaded."""
    plan = plan_from_data(
        {
            "name": "timed",
            "games": [name],
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


def compare_tournaments(given: argparse.Namespace) -> None:
    """A row per game: `uct` in batches, and two kinds of `mcts` with as many playouts, one by one."""
    rivals = {
        "uct": "uct:simulations={}",
        "plain": f"mcts:simulations={{}},{PLAIN}",
        "mcts": "mcts:simulations={}",
    }
    print(
        "| game | matches of uct | s | matches/s | plain mcts one by one, matches/s | times "
        "| mcts one by one, matches/s | times |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with ProcessWorkers(given.threads) as workers:
        for name in given.games:
            rates = {}
            for kind, spec in rivals.items():
                pair = spec.format(given.simulations), spec.format(given.simulations // 2)
                few = tuple(spec.format(10) for _ in range(2))
                tournament(name, (few[0], few[1]), given.threads, workers)
                repetitions = given.matches // 2 if kind == "uct" else given.alone
                rates[kind] = 2 * repetitions / tournament(name, pair, repetitions, workers)
            uct, plain, mcts = rates.values()
            print(
                f"| {name} | {given.matches:,} | {given.matches / uct:.1f} | {uct:.1f} | {plain:.2f} "
                f"| {uct / plain:.0f} | {mcts:.2f} | {uct / mcts:.0f} |",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="*", default=["connectfour", "breakthrough", "hex_7x7", "othello"])
    parser.add_argument("--simulations", type=int, default=1000)
    parser.add_argument("--matches", type=int, default=1000)
    parser.add_argument("--alone", type=int, default=3, help="matches one after the other")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tournament", action="store_true", help="time tournaments in worker processes")
    given = parser.parse_args()
    if given.tournament:
        compare_tournaments(given)
        return
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
