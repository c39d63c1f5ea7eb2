"""Measure how well the methods of the player `solving` do on games of one role in a given time.

    python benchmarks/puzzles.py games $GGP_CORPUS/open/games --cpu-seconds 20

For every sheet of one role in the folders: the best goal found and the length of its line, the CPU seconds
until then, and how it was proven best:

    rules        the goal is the greatest that the rules name
    solution     all states were found
    search       branch and bound proved it

Enumeration, branch and bound, and nested rollouts run at the same time, each in a thread; 20 CPU seconds are
10 s on two cores. Loading and compiling kernels do not count. Prints a table.
"""

from __future__ import annotations

import argparse
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import ggp
from gdl.errors import GdlError
from gdl.program import Predicate
from ggp.engines.compiled import CompiledGame
from ggp.engines.loading import read_program
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.solver import SolverError, SolverLimits, solve

MEBIBYTES = 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--cpu-seconds", type=float, default=20.0)
    arguments = parser.parse_args()
    maze = ggp.load("maze", engine="lanes")
    assert isinstance(maze, CompiledGame)
    warm_up(maze)
    print("| game | best goal | of | moves | after CPU s | proven by |\n|---|---|---|---|---|---|")
    for folder in arguments.folders:
        for path in sorted(folder.glob("*.kif")):
            print_puzzle(path, arguments.cpu_seconds)


def print_puzzle(path: Path, seconds: float) -> None:
    program, _ = read_program(str(path))
    if sum(rule.predicate == Predicate("role", 1) for rule in program.rules) != 1:
        return
    try:
        game = ggp.load(str(path), engine="lanes")
    except (GdlError, ValueError) as error:
        print(f"| {path.stem} | not compiled: {error} | | | | |", flush=True)
        return
    if isinstance(game, CompiledGame) and len(game.roles) == 1:
        found = Attempt(game).run(seconds)
        print(
            f"| {path.stem} | {found.goal} | {found.greatest} | {found.moves} | {found.seconds:.1f}"
            f" | {found.proof or '-'} |",
            flush=True,
        )


def warm_up(game: CompiledGame) -> None:
    """Compile the kernels."""
    solve(game)
    AlphaBeta(game, mebibytes=1).search(game.initial_state())
    NestedRollouts(game).run(Budget(simulations=1))


@dataclass
class Attempt:
    game: CompiledGame
    goal: int = -1
    moves: str = "-"
    seconds: float = 0.0
    proof: str = ""
    greatest: int = 0
    rollouts: NestedRollouts | None = None
    is_over: threading.Event = field(default_factory=threading.Event)

    def run(self, seconds: float) -> Attempt:
        self.greatest = int(self.game.tables.goal_value.max(initial=0))
        self.start = time.process_time()
        works = (self.roll_out, self.enumerate, self.search)
        threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in threads:
            thread.start()
        while not self.is_over.wait(0.05) and time.process_time() < self.start + seconds:
            self.note_line()
        self.is_over.set()
        for thread in threads:
            thread.join()
        return self

    def note(self, goal: int, moves: int | str, proof: str = "") -> None:
        if goal > self.goal:
            self.goal, self.moves, self.seconds = goal, str(moves), time.process_time() - self.start
        if goal >= self.greatest:
            proof = proof or "rules"
        if proof:
            self.proof = self.proof or proof
            self.is_over.set()

    def note_line(self) -> None:
        line = self.rollouts.best if self.rollouts is not None else None
        if line is not None:
            self.note(line.goal, len(line.moves))

    def roll_out(self) -> None:
        self.rollouts = NestedRollouts(self.game)
        self.rollouts.run(Budget(is_stopped=self.is_over.is_set), self.greatest)
        self.note_line()

    def enumerate(self) -> None:
        limits = SolverLimits(mebibytes=MEBIBYTES, stop=self.is_over)
        try:
            solution = solve(self.game, limits)
        except SolverError:
            return
        self.note(int(solution.values()[0]), int(solution.depth[0]), "solution")

    def search(self) -> None:
        search = AlphaBeta(self.game, mebibytes=256)
        here = threading.current_thread()
        threading.Thread(target=self.interrupt, args=(search, here), daemon=True).start()
        result = search.search(self.game.initial_state())
        if result.is_proven and result.goal is not None:
            self.note(int(result.goal), result.depth or "-", "search")

    def interrupt(self, search: AlphaBeta, searching: threading.Thread) -> None:
        self.is_over.wait()
        search.interrupt_and_join(searching)


if __name__ == "__main__":
    main()
