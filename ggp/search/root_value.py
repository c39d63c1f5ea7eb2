"""The value of the initial state alone, proven by search: for games with too many states to solve.

alphabeta          two roles in turn, constant sum: proof numbers on full lanes, or iterative deepening in
                   games that these do not take
branch-and-bound   one role: both in turns, since proof numbers find long lines and deepening short ones, next
                   to nested rollouts: a line that earns the greatest goal of the rules is a proof too
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ggp.engines.compiled import CompiledGame
from ggp.game import RANDOM_ROLE, Move, Role, hides_information
from ggp.search.alphabeta.goal_bounds import plain_goal_sum
from ggp.search.alphabeta.search import AlphaBeta, AlphaBetaError, SearchResult
from ggp.search.budget import Budget
from ggp.search.proof_numbers.search import ProofNumberSearch, is_provable
from ggp.search.rollouts.single_role import Line, NestedRollouts
from ggp.solver import SolverLimitError, UnsolvableError

ALPHABETA, BRANCH_AND_BOUND = "alphabeta", "branch-and-bound"
FIRST_TURN_SECONDS = 1.0
"""With one role proof numbers and alpha-beta take turns, each twice as long as the one before."""
REPORT_SECONDS = 0.5
JOIN_SECONDS = 0.05
PROOF_NUMBERS_SHARE, ALPHABETA_SHARE = 2, 8
"""The share of the memory for the transposition table, as a divisor. The table of proof numbers grows as it
fills up, the old one next to the new; alpha-beta maps all of its own at once, and more hardly helps it."""
MOVES_SECONDS = 5.0
"""Without a deadline the other moves get this much time, or as much as the proof took."""


@dataclass(frozen=True)
class RootProgress:
    """Progress of a search: nodes expanded, leaves evaluated, depth of the current iteration if there is one,
    best goal of a known line."""

    nodes: int
    leaves: int
    depth: int | None
    seconds: float
    goal: int | None


@dataclass(frozen=True)
class RootValue:
    """The proven value of the initial state.

    values   goal of each role under best play, in role order
    mover    the role with a choice; None if the first move is forced. best_moves: its moves that provably
             keep the value; unsettled: those undecided in time
    line     with one role: the moves of a line that earns the value, if one is known
    nodes    positions expanded, leaves: evaluated; depth: of the last iteration, None if there were none
    search   with the table of the proof
    found_by proof numbers, nested rollouts, or why proof numbers gave up; empty: alpha-beta from the start
    """

    game: CompiledGame
    method: str
    values: tuple[int, ...]
    mover: Role | None
    best_moves: tuple[Move, ...]
    unsettled: tuple[Move, ...]
    line: tuple[Move, ...]
    nodes: int
    leaves: int
    depth: int | None
    seconds: float
    search: AlphaBeta | ProofNumberSearch
    found_by: str

    @property
    def proof(self) -> str:
        """The method, which of its searches it was, and what it takes for granted."""
        notes = [self.found_by] if self.found_by else []
        if self.method == ALPHABETA and plain_goal_sum(self.game) is None:
            notes.append(f"if goals add up to {sum(self.values)} at every end")
        return f"{self.method} ({'; '.join(notes)})" if notes else self.method


def search_method(game: CompiledGame) -> str | None:
    """The search method for the roles of a game; None if there is none."""
    if RANDOM_ROLE in game.roles or len(game.roles) > 2 or hides_information(game):
        return None
    return ALPHABETA if len(game.roles) == 2 else BRANCH_AND_BOUND


def find_root_value(
    game: CompiledGame,
    *,
    mebibytes: int = 2048,
    deadline: float | None = None,
    report: Callable[[RootProgress], None] | None = None,
) -> RootValue:
    """Search until the value of the initial state is proven; then for all moves that keep it.

    mebibytes   of memory
    report      called about twice a second
    deadline    time.monotonic() seconds
    Raises UnsolvableError for other kinds of games, SolverLimitError after the deadline.
    """
    method = search_method(game)
    if method is None:
        raise UnsolvableError("search can prove values only for games of one role, or of two without chance")
    if game.is_terminal(game.initial_state()):
        raise UnsolvableError("the initial state is terminal")
    try:
        return _RootSearch(game, method, mebibytes, deadline, report).run()
    except AlphaBetaError as error:
        raise UnsolvableError(str(error)) from None


class _RootSearch:
    def __init__(
        self,
        game: CompiledGame,
        method: str,
        mebibytes: int,
        deadline: float | None,
        report: Callable[[RootProgress], None] | None,
    ) -> None:
        self.game = game
        self.method = method
        self.deadline = deadline
        self.report = report
        self.mebibytes = mebibytes
        self.search: AlphaBeta | ProofNumberSearch = (
            ProofNumberSearch(game, mebibytes=max(1, mebibytes // PROOF_NUMBERS_SHARE))
            if is_provable(game)
            else self._alphabeta()
        )
        self.rollouts = NestedRollouts(game) if method == BRANCH_AND_BOUND else None
        self.start = time.monotonic()
        self._result: SearchResult | None = None
        self._error: AlphaBetaError | None = None
        self._is_over = threading.Event()
        self._best: list[Move] = []
        self._unsettled: list[Move] = []
        self._given_up = ""
        self._way: tuple[Move, ...] = ()

    def run(self) -> RootValue:
        """Run search and rollouts in threads of their own; watch the clock in this one."""
        self._watch([self._search] if self.rollouts is None else [self._search, self._roll_out])
        if self._error is not None and not self._has_enough():
            raise self._error
        found = self._proven(self._result or SearchResult(nodes=self.search.nodes, leaves=self.search.leaves))
        if not found.best_moves:
            return found
        assert found.mover is not None
        self._best = list(found.best_moves)
        legal = self.game.legal_moves(self.game.initial_state(), found.mover)
        self._unsettled = [move for move in legal if move not in self._best]
        if self.deadline is None:
            self.deadline = time.monotonic() + max(MOVES_SECONDS, found.seconds)
        mover = self.game.roles.index(found.mover)
        self._watch([partial(self._settle_moves, mover, found.values[0])])
        if self._error is not None and plain_goal_sum(self.game) is None:
            raise self._error
        return replace(found, best_moves=tuple(self._best), unsettled=tuple(self._unsettled))

    def _watch(self, works: Sequence[Callable[[], None]]) -> None:
        """Report until the works, of which the first is a search, are done or time is up; then end them."""
        self._is_over.clear()
        threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in threads:
            thread.start()
        try:
            while not self._is_over.wait(max(0.0, min(REPORT_SECONDS, self._budget().seconds_left()))):
                if self.report is not None:
                    goal = None if self._line is None else self._line.goal
                    seconds = time.monotonic() - self.start
                    counts = self.search.nodes, self.search.leaves
                    self.report(RootProgress(*counts, self._depth, seconds, goal))
                if self._budget().is_over():
                    break
        finally:
            self._is_over.set()
            while threads[0].is_alive():
                self.search.interrupt()  # perhaps another one by now
                threads[0].join(JOIN_SECONDS)
            for thread in threads[1:]:
                thread.join()

    def _settle_moves(self, mover: int, goal: int) -> None:
        """Decide which other moves keep the value, the goal of the first role, as far as there is time."""
        game, state, side = self.game, self.game.initial_state(), 1 if mover == 0 else -1
        legal = [game.legal_moves(state, role) for role in game.roles]
        for move in tuple(self._unsettled):
            if self._is_over.is_set() or self._budget().is_over():
                break
            joint_move = tuple(move if r == mover else moves[0] for r, moves in enumerate(legal))
            after = game.next_state(state, joint_move)
            keeps: bool | None = None
            if game.is_terminal(after):
                keeps = side * game.goal(after, game.roles[0]) >= side * goal
            else:
                try:
                    keeps = self.search.is_reached(after, goal, side, self._budget())
                except AlphaBetaError as error:
                    self._error = error
            if keeps is not None:
                self._unsettled.remove(move)
                self._best += [move] * keeps
        self._is_over.set()

    def _search(self) -> None:
        state, seconds = self.game.initial_state(), FIRST_TURN_SECONDS
        takes_turns = self.rollouts is not None and isinstance(self.search, ProofNumberSearch)
        other: AlphaBeta | ProofNumberSearch | None = None
        try:
            while not self._is_over.is_set():
                end = time.monotonic() + seconds if takes_turns else math.inf
                try:
                    self._result = self.search.search(state, Budget(min(end, self._budget().deadline)))
                except AlphaBetaError as error:
                    if isinstance(self.search, AlphaBeta):
                        raise
                    self._given_up, takes_turns = f"proof numbers gave up: {error}", False
                    self.search = other or self._alphabeta()
                    continue
                if not takes_turns or self._result.is_proven or self._budget().is_over():
                    break
                self.search, other, seconds = other or self._alphabeta(), self.search, 2 * seconds
            if self.rollouts is not None and isinstance(self.search, ProofNumberSearch):
                goal = None if self._result is None else self._result.goal
                self._way = () if goal is None else self.search.line_to(state, int(goal), self._budget())
        except AlphaBetaError as error:
            self._error = error
        self._is_over.set()

    def _alphabeta(self) -> AlphaBeta:
        return AlphaBeta(self.game, mebibytes=max(1, self.mebibytes // ALPHABETA_SHARE))

    def _roll_out(self) -> None:
        assert self.rollouts is not None
        budget = replace(self._budget(), is_stopped=self._is_over.is_set)
        self.rollouts.run(budget, self.search.goals[-1])
        if self._has_enough():
            self._is_over.set()

    def _budget(self) -> Budget:
        return Budget(math.inf if self.deadline is None else self.deadline)

    @property
    def _depth(self) -> int | None:
        return self.search.depth if isinstance(self.search, AlphaBeta) else None

    @property
    def _line(self) -> Line | None:
        return self.rollouts.best if self.rollouts is not None else None

    def _has_enough(self) -> bool:
        return self._line is not None and self._line.goal >= self.search.goals[-1]

    def _proven(self, result: SearchResult) -> RootValue:
        game, line = self.game, self._line
        found_by = "proof numbers" if isinstance(self.search, ProofNumberSearch) else self._given_up
        seconds = time.monotonic() - self.start
        if self._has_enough() and line is not None:
            values: tuple[int, ...] = (line.goal,)
            move: Move | None = line.moves[0]
            moves, found_by = line.moves, "nested rollouts"
        elif result.is_proven and result.goal is not None:
            first = int(result.goal)
            values = (first,) if self.method == BRANCH_AND_BOUND else (first, self.search.goal_sum - first)
            move = result.move
            moves = line.moves if line is not None and line.goal == first else self._way
        else:
            known = [f"{result.nodes:,} nodes expanded, {result.leaves:,} leaves evaluated"]
            if result.depth is not None:
                known.append(f"all lines of up to {result.depth} moves searched")
            if line is not None:
                known.append(f"best line known earns {line.goal}")
            raise SolverLimitError(f"not proven by {self.method} when time was up ({', '.join(known)})")
        legal = [game.legal_moves(game.initial_state(), role) for role in game.roles]
        mover = next((r for r, each in zip(game.roles, legal, strict=True) if len(each) > 1), None)
        depth = result.depth if result.is_proven else None
        best = (move,) if mover is not None and move is not None else ()
        counts = result.nodes, result.leaves
        return RootValue(
            game,
            self.method,
            values,
            mover,
            best,
            (),
            moves,
            *counts,
            depth,
            seconds,
            self.search,
            found_by,
        )
