"""Draws by the weights of MAST, in all lanes at once and lane by lane: what `SPARSE` was chosen by.

    python benchmarks/weighted_draws.py skirmish breakthrough --words 1 8

A row per game and width: in how many lanes a move that is legal somewhere is legal on average, and
microseconds of one draw, over moments of a search.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

import ggp
from ggp.kernels.roulette import roulette
from ggp.kernels.rows import ALL_ONES, make_rows, words_of
from ggp.kernels.settle import settle
from ggp.kernels.tree_arrays import LAUNCHES_LEFT
from ggp.search.mcts import LanesSearch
from ggp.search.options import MctsOptions
from ggp.search.tree_engine import TreeEngine

MOMENTS = 40
REPEATS = 50
PLAYOUTS = 3000
IN_ALL_LANES, LANE_BY_LANE = -1, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+", help="names or rule sheets")
    parser.add_argument("--words", nargs="+", type=int, default=[1, 8])
    arguments = parser.parse_args()
    table = Table("game", "words", "lanes a move", "all at once", "lane by lane")
    for name in arguments.games:
        for words in arguments.words:
            table.add_row(name, str(words), *(f"{number:.1f}" for number in costs(name, words)))
    Console().print(table)


def costs(name: str, words: int) -> tuple[float, float, float]:
    """Lanes a move, and microseconds of a draw in all lanes at once and lane by lane."""
    game = ggp.load(name, engine="lanes")
    search = LanesSearch(game, game.roles[0], options=MctsOptions(policy="mast", words=words))
    search.move_to(game.initial_state(), None)
    search.run(simulations=PLAYOUTS)
    engine = search.engines[0]
    engine.arrays.counter[LAUNCHES_LEFT] = 10**9
    random = np.random.default_rng(0)
    found = []
    for _ in range(MOMENTS):
        engine.run(int(random.integers(5, 40)))
        found.append(costs_now(engine))
    held, moves, *times = np.array(found).T
    return float(held.sum() / moves.sum()), float(times[0].mean()), float(times[1].mean())


def costs_now(engine: TreeEngine) -> tuple[float, ...]:
    """Lanes in which moves are legal, added up; moves legal anywhere; and the microseconds.

    The search goes on as if nothing had been.
    """
    tables, arrays, statistics = engine.tables, engine.arrays, engine.statistics
    assert statistics is not None, "MAST learns about moves"
    before = arrays.value.copy(), arrays.random.copy()
    stuck = make_rows(1, arrays.value.dtype.itemsize // 8)
    settle(tables, arrays.value, 0, 2)
    signs = np.where(tables.slot_literal & 1, ALL_ONES, np.uint64(0))
    legal = words_of(arrays.value)[tables.slot_literal >> 1] ^ signs[:, None]

    def draw(sparse: int) -> None:
        value, wheel, random = arrays.value, arrays.wheel, arrays.random
        roulette(tables, value, statistics.weight, wheel, random, stuck, sparse, 0)

    times = [microseconds(draw, sparse) for sparse in (IN_ALL_LANES, LANE_BY_LANE)]
    arrays.value[:], arrays.random[:] = before
    return float(np.bitwise_count(legal).sum()), float(legal.any(axis=1).sum()), *times


def microseconds(draw: Callable[[int], None], sparse: int) -> float:
    draw(sparse)
    begin = time.perf_counter()
    for _ in range(REPEATS):
        draw(sparse)
    return (time.perf_counter() - begin) / REPEATS * 1e6


if __name__ == "__main__":
    main()
