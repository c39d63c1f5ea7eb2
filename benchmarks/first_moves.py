"""Measure the CPU time from rule text to first legal moves and first playouts, on both circuits.

    python -m benchmarks.first_moves FOLDER... [--start]

Nothing is cached but kernels. The quick way plays on the circuit as built; the finished one simplifies it
first. CPU time is that of the main thread and of gringo, so that other processes hardly matter. Prints
medians, 90th percentiles and maxima.

With --start, from the text of a START to the first simulation of `mcts` in a process that has played before,
for games whose circuits are cached, without proofs beside the search.
"""

from __future__ import annotations

import argparse
import statistics
from contextlib import suppress
from math import inf
from pathlib import Path
from time import thread_time

from gdl.errors import GdlError
from gdl.syntax.parser import parse
from ggp.engines.batches import playouts
from ggp.engines.compilation import build_circuit, game_on, simplify_circuit
from ggp.engines.loading import load
from ggp.match.player import MatchSetup
from ggp.players.factory import make_player

WAYS = ("quick, legal moves", "quick, playouts", "finished, legal moves", "finished, playouts")
START_WAYS = ("the game of the cache", "the first simulation")


def measure(path: Path) -> tuple[float, ...]:
    """CPU seconds of WAYS for one sheet. Raises GdlError for sheets that do not compile."""
    text = path.read_text(encoding="utf-8", errors="replace")
    begin = thread_time()
    program = parse(text, name=str(path))
    parsed = thread_time() - begin
    begin = thread_time()
    built = build_circuit(program)
    # gringo runs in another process, which `ground_seconds` counts
    own = thread_time() - begin
    both = max(own, built.report.ground_seconds + built.report.build_seconds)
    found = []
    before = parsed + both
    for is_finished in (False, True):
        if is_finished:
            begin = thread_time()
            built = simplify_circuit(program, built)
            before += thread_time() - begin
        begin = thread_time()
        game = game_on(built.circuit, program, path.stem)
        state = game.initial_state()
        for role in game.roles:
            game.legal_moves(state, role)
        found.append(before + thread_time() - begin)
        playouts(game, 1, state)
        found.append(before + thread_time() - begin)
    return tuple(found)


def measure_start(path: Path) -> tuple[float, ...]:
    """CPU seconds of START_WAYS for one sheet. Raises GdlError for sheets that do not compile."""
    text = path.read_text(encoding="utf-8", errors="replace")
    begin = thread_time()
    game = load(text, "lanes", name=path.stem, quick=True)
    loaded = thread_time() - begin
    player = make_player("mcts:simulations=1,proof=off,head_start=off")
    player.start(MatchSetup("start", game, game.roles[0], 0, 0, 0), inf)
    player.choose(game.initial_state(), inf, None)
    return loaded, thread_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--start", action="store_true")
    options = parser.parse_args()
    ways, measured = (START_WAYS, measure_start) if options.start else (WAYS, measure)
    sheets = [path for folder in options.folders for path in sorted(folder.glob("*.kif"))]
    for path in sheets if options.start else sheets[:1]:
        with suppress(GdlError):
            measured(path)  # loads kernels, and keeps circuits
    seconds: list[tuple[float, ...]] = []
    for path in sheets:
        try:
            seconds.append(measured(path))
        except GdlError as error:
            print(f"{path}: {str(error).splitlines()[0]}")
    print(f"{len(seconds)} sheets\n\n| CPU seconds | median | 90th percentile | maximum |")
    print("|---|---:|---:|---:|")
    for column, name in enumerate(ways):
        values = sorted(each[column] for each in seconds)
        middle, high = statistics.median(values), values[int(0.9 * (len(values) - 1))]
        print(f"| {name} | {middle:.2f} | {high:.2f} | {values[-1]:.2f} |")


if __name__ == "__main__":
    main()
