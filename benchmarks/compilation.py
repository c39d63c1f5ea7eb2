"""Measure how long a first start compiles the search kernels, and how fast the result is.

    python benchmarks/compilation.py                        # uniform playouts, then MAST, then PAST
    python benchmarks/compilation.py --first mast           # MAST alone
    python benchmarks/compilation.py --level 3 --collect    # Numba's own settings, except for stages
    python benchmarks/compilation.py --functions 20         # the functions that take longest

Uses an empty, temporary kernel cache. Compilation runs on one core.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import os
import tempfile
import time

from numba.core import event


class CompileTimes(event.Listener):
    """CPU seconds per compiled function, excluding functions compiled on its behalf."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.count = 0
        self._under_way: list[list[float]] = []

    def on_start(self, event: event.Event) -> None:
        self._under_way.append([time.process_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        began, of_others = self._under_way.pop()
        whole = time.process_time() - began
        if self._under_way:
            self._under_way[-1][1] += whole
        self.count += 1
        name = event.data["dispatcher"].py_func.__name__
        self.seconds[name] = self.seconds.get(name, 0.0) + whole - of_others


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--games", nargs="+", default=["connectfour", "pentago", "checkers"])
    parser.add_argument("--level", type=int, help="optimization level of LLVM")
    parser.add_argument("--collect", action="store_true", help="collect garbage while compiling")
    parser.add_argument("--functions", type=int, default=0, help="number of slowest functions to list")
    parser.add_argument(
        "--first",
        nargs="+",
        default=["uniform", "mast", "past"],
        help="policies to compile, in this order",
    )
    timed = ["uniform", "mast", "past", "fast"]
    parser.add_argument("--policies", nargs="*", default=timed, help="policies to time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GGP_KERNEL_CACHE"] = folder  # before the kernels are imported
        measure(arguments)


def measure(arguments: argparse.Namespace) -> None:
    from ggp.bench.search import measure_search
    from ggp.engines.compiled import CompiledGame
    from ggp.engines.loading import load
    from ggp.jit import quick_compiler

    if arguments.level is not None:
        quick_compiler.QuickLowering.level = arguments.level
    if arguments.collect:
        gc.disable = lambda: None
    times = CompileTimes()
    event.register("numba:compile", times)  # type: ignore[no-untyped-call]
    games = [game for name in arguments.games if isinstance(game := load(name, engine="lanes"), CompiledGame)]
    for policy in arguments.first:
        wall, cpu, functions = time.perf_counter(), time.process_time(), times.count
        measure_search(games[0], policy, seconds=0.05, calibration_seconds=0.05)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(
            f"{policy}: {wall:.1f} s, {cpu:.1f} CPU seconds, {times.count - functions} functions", flush=True
        )
    for name in sorted(times.seconds, key=lambda name: -times.seconds[name])[: arguments.functions]:
        print(f"{times.seconds[name]:6.2f} s {name}")
    for game, policy in itertools.product(games, arguments.policies):
        speed = measure_search(game, policy, seconds=1.0, calibration_seconds=0.5)
        playouts, descents = speed.playouts_per_cpu_second, speed.descents_per_cpu_second
        print(f"{game.name}, {policy}: {playouts:,.0f} playouts and {descents:,.0f} descents per CPU second")


if __name__ == "__main__":
    main()
