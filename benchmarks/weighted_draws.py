"""Compare draws by MAST weights in all lanes at once and lane by lane: the basis of `SPARSE`.

    python benchmarks/weighted_draws.py skirmish breakthrough --words 1 8

Prints a row per game and width, averaged over moments of a search: lanes in which a move that is legal
somewhere is legal, and microseconds per draw.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.table import Table

import ggp
from ggp.circuit.tables import Int32Array
from ggp.engines.compiled import CompiledGame
from ggp.jit.compiling import kernel
from ggp.jit.rows import ALL_ONES, Rows, fill, make_rows, store, words_of
from ggp.lanes.layout import LaneTables
from ggp.lanes.roulette import roulette_moves
from ggp.lanes.step import settle_phases
from ggp.search.budget import Budget
from ggp.search.mcts.kernels import counters as c
from ggp.search.mcts.kernels.arrays import SearchArrays
from ggp.search.mcts.options import MctsOptions
from ggp.search.mcts.search import LanesSearch
from ggp.search.mcts.tree_engine import TreeEngine

MOMENTS = 40
REPEATS = 50
PLAYOUTS = 3000
IN_ALL_LANES, LANE_BY_LANE = -1, 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("games", nargs="+", help="bundled games or rule sheets")
    parser.add_argument("--words", nargs="+", type=int, default=[1, 8])
    arguments = parser.parse_args()
    table = Table("game", "words", "lanes a move", "all at once", "lane by lane")
    for name in arguments.games:
        for words in arguments.words:
            table.add_row(name, str(words), *(f"{number:.1f}" for number in costs(name, words)))
    Console().print(table)


def costs(name: str, words: int) -> tuple[float, float, float]:
    """Lanes per move, and microseconds per draw in all lanes at once and lane by lane."""
    game = ggp.load(name, engine="lanes")
    assert isinstance(game, CompiledGame)
    search = LanesSearch(game, game.roles[0], options=MctsOptions(policy="mast", words=words))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=PLAYOUTS))
    engine = search.engines[0]
    engine.arrays.counter[c.LAUNCHES_LEFT] = 10**9
    random = np.random.default_rng(0)
    found = []
    for _ in range(MOMENTS):
        engine.run(int(random.integers(5, 40)))
        found.append(costs_now(engine))
    held, moves, *times = np.array(found).T
    return float(held.sum() / moves.sum()), float(times[0].mean()), float(times[1].mean())


def costs_now(engine: TreeEngine) -> tuple[float, ...]:
    """Sum of lanes in which each move is legal, number of moves legal anywhere, and microseconds per draw.

    Leaves the search as it was.
    """
    tables, arrays, statistics = engine.tables, engine.arrays, engine.memory.statistics
    before = arrays.value.copy(), arrays.random.copy()
    stuck = make_rows(1, arrays.value.dtype.itemsize // 8)
    settle_phases(tables, arrays.value, 0, 2)
    signs = np.where(tables.slot_literal & 1, ALL_ONES, np.uint64(0))
    legal = words_of(arrays.value)[tables.slot_literal >> 1] ^ signs[:, None]

    def draw(sparse: int) -> None:
        draw_moves(tables, arrays, statistics.weight, stuck, sparse)

    times = [microseconds(draw, sparse) for sparse in (IN_ALL_LANES, LANE_BY_LANE)]
    arrays.value[:], arrays.random[:] = before
    return float(np.bitwise_count(legal).sum()), float(legal.any(axis=1).sum()), *times


@kernel
def draw_moves(
    tables: LaneTables, arrays: SearchArrays, weight: Int32Array, stuck: Rows, sparse: int
) -> None:
    lanes = fill(arrays.value, ALL_ONES)
    drawn = roulette_moves(tables, arrays.value, weight, arrays.roulette, arrays.random, lanes, sparse, 0)
    store(stuck, 0, drawn)


def microseconds(draw: Callable[[int], None], sparse: int) -> float:
    draw(sparse)
    begin = time.perf_counter()
    for _ in range(REPEATS):
        draw(sparse)
    return (time.perf_counter() - begin) / REPEATS * 1e6


if __name__ == "__main__":
    main()
