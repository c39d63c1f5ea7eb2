"""Certificates: the value of the initial state as strategies that can be checked by the rules alone.

For each bound of the value the file lists a *strategy*: one move for each state in which the proving side has
a choice and that play by the strategy reaches, whatever the others do.

    (value ROLE GOAL)               what is certified: of the first role
    MOVE                            first the moves by which ROLE gets at least GOAL,
    MOVE                            then those of the other role, by which ROLE gets at most GOAL

To check it, play from the initial state: the next move of the file at the proving side's choices, every move
elsewhere, depth first, in the order of the moves' texts; states seen before are skipped. Each end must keep
the bound, and no state may come twice in a line of play. Goals lie in 0 to 100, so these two need no proof on
one side. Without states a file is a tenth as long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np

from ggp.engines.compiled import CompiledGame, PackedState
from ggp.files import replacing_text
from ggp.game import Move
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError
from ggp.search.budget import NO_LIMIT, Budget
from ggp.search.proof_numbers.search import ProofNumberSearch
from ggp.solver import Solution, SolverError, SolverLimitError, UnsolvableError
from ggp.solver.solution import BEST_GOAL, MINIMAX

AT_LEAST, AT_MOST = 1, -1
"""Sides: role 0 proves that it gets at least a goal, role 1 that role 0 gets at most that."""
_EXTREME = {AT_LEAST: 0, AT_MOST: 100}
"""Bounds that every goal keeps."""
_REPORT_STATES = 1000

MoveTable: TypeAlias = dict[Move, PackedState]
"""The moves of the role that chooses → the states they lead to."""


class Prover(Protocol):
    """Knows moves that keep a bound."""

    def keeping_move(self, state: PackedState, following: MoveTable, goal: int, side: int) -> Move:
        """The move by which `side` keeps the bound in a state in which it can, and in which it has a choice.
        Raises SolverLimitError if there is no time to find it."""
        ...


class SolutionProver:
    """Moves by the values of all states: those that end the game soonest, for short certificates."""

    def __init__(self, solution: Solution) -> None:
        """Raises UnsolvableError if values are not those of pure strategies with constant sum."""
        if solution.concept not in (MINIMAX, BEST_GOAL):
            raise UnsolvableError("a certificate needs one role, or two in turn with constant sum")
        self._solution = solution

    def keeping_move(self, state: PackedState, following: MoveTable, goal: int, side: int) -> Move:
        worth = {move: self._solution.worth(each) for move, each in following.items()}
        keeping = [move for move, (values, _) in worth.items() if side * values[0] >= side * goal]
        return min(keeping, key=lambda move: worth[move].depth)


class SearchProver:
    """Moves by the search that has proven the value, with its table."""

    def __init__(self, search: AlphaBeta | ProofNumberSearch, budget: Budget = NO_LIMIT) -> None:
        self._search, self._budget = search, budget

    def keeping_move(self, state: PackedState, following: MoveTable, goal: int, side: int) -> Move:
        try:
            is_reached = self._search.is_reached(state, goal, side, self._budget)
        except AlphaBetaError as error:
            raise UnsolvableError(str(error)) from None
        if not is_reached or self._budget.is_over():
            raise SolverLimitError("the certificate was not complete when time was up")
        move = self._search.best_move  # of an earlier state where every goal of the rules keeps the bound
        return move if move in following else next(iter(following))


class LineProver:
    """The moves of one line, for one role."""

    def __init__(self, game: CompiledGame, line: Sequence[Move]) -> None:
        state = game.initial_state()
        self._moves: dict[PackedState, Move] = {}
        for move in line:
            self._moves[state] = move
            state = game.next_state(state, [move])

    def keeping_move(self, state: PackedState, following: MoveTable, goal: int, side: int) -> Move:
        return self._moves[state]


class _Strategy:
    """Walks over the states of one bound, depth first."""

    def __init__(self, game: CompiledGame, prover: Prover, goal: int, side: int) -> None:
        self._game, self._prover, self._goal, self._side = game, prover, goal, side
        self._mover = 0 if side == AT_LEAST else 1

    def walk(self) -> Iterator[Move]:
        """Yield the proving side's moves. Raises as `write_certificate` does."""
        initial = self._game.initial_state()
        if self._mover == len(self._game.roles) or self._game.is_terminal(initial):
            return  # one role: its goal is at most the best of all ends, which a check visits anyway
        done: set[PackedState] = set()
        line: dict[PackedState, Iterator[PackedState]] = {}
        state: PackedState | None = initial
        while state is not None:
            if state in line:
                raise UnsolvableError("play that keeps the value need not end, so it cannot be certified")
            move, following = self._replies(state)
            line[state] = iter(following)
            if move is not None:
                yield move
            state = self._next_state(line, done)

    def _next_state(
        self, line: dict[PackedState, Iterator[PackedState]], done: set[PackedState]
    ) -> PackedState | None:
        while line:
            last = next(reversed(line))
            for state in line[last]:
                if state not in done:
                    return state
            done.add(last)
            del line[last]
        return None

    def _replies(self, state: PackedState) -> tuple[Move | None, list[PackedState]]:
        """The move of the proving side, if it has a choice, and the states that may follow without an end.

        Raises SolverError if an end breaks the bound: the prover's moves do not keep it.
        """
        joint_moves, states, is_terminal, goals, _ = self._game.successors(state)
        choosing = np.flatnonzero((joint_moves != joint_moves[0]).any(axis=0)).tolist()
        if len(choosing) > 1:
            raise UnsolvableError("two roles choose at the same time, so there is no value to certify")
        is_lost = is_terminal & (self._side * goals[:, 0] < self._side * self._goal)
        open_states = {i: states[i] for i in np.flatnonzero(~is_terminal).tolist()}
        if choosing != [self._mover]:
            if is_lost.any():
                raise SolverError(f"a certificate of {self._goal} leads to an end with {goals[is_lost, 0]}")
            return None, list(open_states.values())
        moves = [self._game.moves[self._mover][index] for index in joint_moves[:, self._mover]]
        ends = np.flatnonzero(is_terminal & ~is_lost)
        if len(ends):  # nothing is shorter
            return moves[ends[0]], []
        following = {moves[i]: each for i, each in open_states.items()}
        move = self._prover.keeping_move(state, following, self._goal, self._side)
        return move, [following[move]]


def write_certificate(
    game: CompiledGame,
    goal: int,
    prover: Prover,
    path: str | Path,
    *,
    report: Callable[[int], None] | None = None,
) -> int:
    """Write the proof that the first role gets `goal` under best play; return the number of moves in it.

    report   called with the number of moves so far
    Raises SolverLimitError if time is up, UnsolvableError if play that keeps the value need not end, OSError.

    >>> import tempfile, ggp
    >>> game = ggp.load("tictactoe")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     moves = write_certificate(game, 50, SolutionProver(ggp.solve(game)), Path(folder, "certificate"))
    ...     print(moves, *Path(folder, "certificate").read_text().splitlines()[:3])
    505 (value x 50) (mark 1 1) (mark 2 1)
    """
    count = 0
    with replacing_text(path) as file:
        file.write(f"(value {game.roles[0]} {goal})\n")
        for side, extreme in _EXTREME.items():
            if goal == extreme:
                continue
            for move in _Strategy(game, prover, goal, side).walk():
                file.write(f"{move}\n")
                count += 1
                if report is not None and count % _REPORT_STATES == 0:
                    report(count)
    return count
