"""solve: the value of every reachable state, by the method that the states call for.

one role                                the best goal that can be reached
one role has a choice at a time         backward induction; with two roles and constant sum the minimax value
a `random` role                         expectations (floating point)
several choose at once, constant sum    matrix games by linear programming (floating point), mixed strategies
several choose at once otherwise        a pure equilibrium of each stage, else a mixed one of two players
cycles                                  bounds that meet, or what endless play is worth (one role, or two
                                        with constant sum, without chance)

Sources: Zermelo (1913) for backward induction; von Neumann (1928) for mixed strategies; Nash, "Equilibrium
points in n-person games" (1950); Luckhardt and Irani (1986) for three and more roles (max^n). The methods for
one stage: `ggp.solver.matrix_games`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import RANDOM_ROLE, Game, hides_information
from ggp.jit.compiling import announced_compilation
from ggp.lanes.keys.key_table import find_states
from ggp.solver.kernels.backup import EDGES_LEFT, ENDLESS, FOUND, back_up, improve, improve_depth, make_cursor
from ggp.solver.kernels.expand import UNKNOWN
from ggp.solver.kernels.matrix import (
    MATRICES,
    PURE,
    REPORTS,
    WALKED,
    back_up_mixed,
    expected_payoffs,
    make_stage,
)
from ggp.solver.limits import Progress, SolverLimits, UnsolvableError
from ggp.solver.matrix_games import solve_bimatrix
from ggp.solver.reachable import reachable_states
from ggp.solver.space import Chunk, StateSpace
from ggp.solver.stages import Stage, Worth, rate_stage

Values: TypeAlias = NDArray[np.uint8] | NDArray[np.float64]

AT_ONCE = 1 << 18
"""States per numpy operation, which cannot be interrupted."""
_QUICK = 500_000
"""At most this many states are valued in an instant, once kernels are compiled."""

MINIMAX = "minimax"
BEST_GOAL = "best goal"
BACKWARD_INDUCTION = "backward induction (each role maximizes its own goal, first of equal moves)"
EXPECTATION = "expectation over chance"
MATRIX = "minimax in mixed strategies (matrix games)"
EQUILIBRIUM = "a pure equilibrium in every simultaneous stage"
MIXED_EQUILIBRIUM = "an equilibrium in every simultaneous stage, mixed where no pure one exists"


@dataclass(repr=False)
class Solution:
    """The value of every reachable state.

    >>> import ggp
    >>> solution = ggp.solve(ggp.load("tictactoe"))
    >>> solution
    <Solution of tictactoe: x 50, o 50 by minimax; 5,478 states, 9 joint moves>
    >>> state = solution.game.initial_state()
    >>> len(solution.stage(state).best_moves[solution.game.roles[0]])  # every opening draws
    9

    value      uint8[N, R] goals, or float64[N, R] where chance or mixed strategies enter
    depth      uint16[N]: joint moves to the end if the winning side hurries and the other delays (in a draw
               both delay); in games of chance or simultaneous moves of the longest line; ENDLESS: play need
               not end
    concept    what the values mean, one of the constants above
    sum        the sum of the goals in two-role games if it is constant, else None
    cyclic     number of states on cycles, for which backward induction is not enough
    endless    worth of endless play to role 0, None if no value depends on it
    seconds    time it took to find and value the states
    """

    space: StateSpace
    value: Values
    depth: NDArray[np.uint16]
    concept: str
    sum: int | None
    cyclic: int
    endless: float | None
    seconds: float

    def __repr__(self) -> str:
        values = ", ".join(
            f"{role} {value:g}" for role, value in zip(self.game.roles, self.values(), strict=True)
        )
        depth = "without end" if self.depth[0] == ENDLESS else f"{self.depth[0]:,} joint moves"
        of = f"<Solution of {self.game.name}: {values} by {self.concept}"
        return f"{of}; {len(self.value):,} states, {depth}>"

    @property
    def game(self) -> CompiledGame:
        return self.space.game

    @property
    def is_exact(self) -> bool:
        """Whether values are integers, without rounding."""
        return self.value.dtype == np.uint8

    def number(self, state: PackedState) -> int | None:
        """The number of a state; None if legal play does not reach it."""
        found = int(self.space.number(self.game.unpack(state)[None, :])[0])
        return None if found < 0 else found

    def values(self, state: PackedState | None = None) -> tuple[float, ...]:
        """Each role's goal under best play, in role order. Raises KeyError for unreachable states."""
        return tuple(map(float, self.value[0])) if state is None else self.worth(state).values

    def worth(self, state: PackedState) -> Worth:
        """Values and depth of a state. Raises KeyError for unreachable states."""
        number = self.number(state)
        if number is None:
            raise KeyError("not a reachable state")
        return Worth(tuple(map(float, self.value[number])), int(self.depth[number]))

    def stage(self, state: PackedState) -> Stage:
        """The optimal moves in a state that is not terminal; see `rate_stage`."""
        return rate_stage(self.game, state, self.worth)


class _Valuation:
    """Values one state space; see `solve`."""

    def __init__(self, space: StateSpace, limits: SolverLimits) -> None:
        roles = space.game.roles
        self.space = space
        self.limits = limits
        self.roles = len(roles)
        self.players = [r for r, role in enumerate(roles) if role != RANDOM_ROLE]
        self.chance = next((r for r, role in enumerate(roles) if role == RANDOM_ROLE), -1)
        self.depth = np.zeros(space.state_count, np.uint16)
        self.cyclic = 0
        self.endless: float | None = None
        self.sum = self._constant_sum() if len(self.players) == 2 else None

    def _chunks(self) -> Iterator[Chunk]:
        """The chunks from the last to the first. Raises SolverLimitError between two of them."""
        for chunk in reversed(self.space.chunks):
            self._check_time()
            yield chunk

    def _constant_sum(self) -> int | None:
        """The sum of two players' goals if it is the same in all terminal states, else None."""
        sums: set[int] = set()
        for first in range(0, len(self.space.goal), AT_ONCE):
            own, other = self.space.goal[first : first + AT_ONCE, self.players].T.astype(np.int64)
            sums.update(np.unique((own + other)[own != UNKNOWN]).tolist())
            if len(sums) > 1:
                return None
            self._check_time()
        return next(iter(sums), None)

    def _walk(self, walk: Callable[[Chunk, NDArray[np.int64]], bool]) -> int:
        """Walk over all states in slices, from last to first; return the count found, see `back_up`."""
        found = 0
        for chunk in self._chunks():
            cursor = make_cursor(chunk)
            while not walk(chunk, cursor):
                self._check_time()
            found += int(cursor[FOUND])
        return found

    def run(self) -> tuple[Values, str]:
        is_simultaneous = any(
            ((chunk.move_count[:, self.players] > 1).sum(axis=1) > 1).any() for chunk in self._chunks()
        )
        has_chance = self.chance >= 0 and any(
            (chunk.move_count[:, self.chance] > 1).any() for chunk in self._chunks()
        )
        if is_simultaneous or has_chance:
            return self._mixed(is_simultaneous)
        value = self.space.goal
        self._induce(value)
        if len(self.players) == 1:
            return value, BEST_GOAL
        return value, MINIMAX if self.sum is not None else BACKWARD_INDUCTION

    def _induce(self, value: NDArray[np.uint8]) -> None:
        flat = value.reshape(-1)
        left = before = self.space.state_count + 1
        while left:
            left = self._walk(lambda chunk, cursor: back_up(chunk, flat, self.depth, cursor))
            if left == before:
                self._resolve_cycles(value, left)
                return
            before = left

    def _resolve_cycles(self, value: NDArray[np.uint8], left: int) -> None:
        """Values of states on cycles: what role 0 can force, else what endless play is worth."""
        if self.roles > 2 or (self.roles == 2 and self.sum is None):
            raise UnsolvableError(
                f"play need not end, as {left:,} states lie on cycles: "
                "only games with a constant sum of goals can be solved then"
            )
        self.cyclic = left
        fixed = (value[:, 0] != UNKNOWN).view(np.uint8)
        total = self.sum if self.sum is not None else 0
        endless = total // 2
        known = value[fixed == 1, 0]
        # With one role the least fixpoint alone: endless play earns 0, and no goal is lower.
        starts = [0] if self.roles == 1 else [known.min(initial=endless), known.max(initial=endless)]
        bounds = [np.where(fixed == 0, np.uint8(start), value[:, 0]) for start in starts]
        for bound in bounds:
            self._improve(bound, fixed)
        lower, upper = bounds[0], bounds[-1]
        open_value = np.clip(np.uint8(endless), lower, upper)
        if (lower != upper).any():
            self.endless = float(endless)
        value[:, 0] = open_value
        if self.roles == 2:
            value[:, 1] = total - open_value
        self.depth[fixed == 0] = ENDLESS
        flat = value.reshape(-1)
        while self._walk(
            lambda chunk, cursor: improve_depth(chunk, flat, self.depth, fixed, endless, cursor)
        ):
            pass

    def _improve(self, bound: NDArray[np.uint8], fixed: NDArray[np.uint8]) -> None:
        while self._walk(lambda chunk, cursor: improve(chunk, bound, fixed, cursor)):
            pass

    def _mixed(self, is_simultaneous: bool) -> tuple[Values, str]:
        value = self._terminal_values()
        is_constant = self.sum is not None and len(self.players) == 2
        most = max(
            int(chunk.move_count.prod(axis=1, dtype=np.int64).max(initial=1)) for chunk in self._chunks()
        )
        widest = max(int(chunk.move_count.max(initial=1)) for chunk in self._chunks())
        stage = make_stage(self.roles, most, widest)
        by_hand, report = 0, np.zeros(REPORTS, np.int64)

        def walk(chunk: Chunk, cursor: NDArray[np.int64]) -> bool:
            nonlocal by_hand
            place = back_up_mixed(chunk, self.chance, is_constant, value, self.depth, stage, report, cursor)
            if place >= 0:
                self._solve_stage(chunk, place, int(cursor[EDGES_LEFT]), value)
                by_hand += 1
            return place == WALKED

        left = before = self.space.state_count + 1
        while left:
            left = self._walk(walk)
            if left == before:
                raise UnsolvableError(
                    f"{left:,} states of a game of chance or simultaneous moves lie on cycles"
                )
            before = left
        if not is_simultaneous:
            return value, EXPECTATION
        if not report[MATRICES] or (is_constant and not report[PURE]):
            return value, MATRIX
        return value, MIXED_EQUILIBRIUM if by_hand else EQUILIBRIUM

    def _terminal_values(self) -> NDArray[np.float64]:
        """float64[N, R]: goals of terminal states, NaN elsewhere."""
        goal = self.space.goal
        value = np.empty(goal.shape, np.float64)
        for first in range(0, len(goal), AT_ONCE):
            part = slice(first, first + AT_ONCE)
            value[part] = np.where(goal[part, :1] == UNKNOWN, np.nan, goal[part])
            self._check_time()
        return value

    def _solve_stage(self, chunk: Chunk, place: int, first: int, value: NDArray[np.float64]) -> None:
        """A stage without pure equilibrium, whose successors begin at chunk.edge[first]."""
        counts = chunk.move_count[place]
        size = int(counts.astype(np.int64).prod())
        payoff = np.empty((size, self.roles), np.float64)
        joints = expected_payoffs(chunk, place, self.chance, first, value, payoff)
        choosing = [r for r in self.players if counts[r] > 1]
        if len(choosing) != 2:
            raise UnsolvableError("a stage of three or more players has no equilibrium in pure strategies")
        moves = [int(counts[r]) for r in choosing]
        goals = payoff[:joints, choosing]
        matrices = [[list(map(Fraction, row)) for row in each.reshape(moves)] for each in goals.T]
        found = solve_bimatrix(*matrices, check=self._check_time)
        row, column = (list(map(float, mix)) for mix in (found.row, found.column))
        weights = np.outer(row, column).reshape(-1)
        value[chunk.first + place] = weights @ payoff[:joints]
        successors = self.depth[chunk.edge[first : first + size]]
        self.depth[chunk.first + place] = min(int(successors.max()) + 1, ENDLESS - 1)

    def _check_time(self) -> None:
        self.limits.check_time("all states found, but not all valued")


def solve(
    game: Game[Any],
    limits: SolverLimits | None = None,
    *,
    start: PackedState | None = None,
    report: Callable[[Progress], None] | None = None,
) -> Solution:
    """Find all states of `game` reachable from `start` (None: the initial state), and their values.

    A stage of three and more roles without a pure equilibrium raises UnsolvableError.

    >>> import ggp
    >>> solution = ggp.solve(ggp.load("nim"))
    >>> solution.values()
    (0.0, 100.0)

    Raises SolverLimitError, UnsolvableError; GameError if the game is not compiled.
    """
    game = require_compiled(game)
    require_perfect_information(game)
    limits = limits or SolverLimits()
    space = reachable_states(game, limits, start=start, report=report)
    solution = value_states(space, limits)
    if limits.work_folder is not None and space.folder is not None:
        space.folder.clear()
    return solution


def require_perfect_information(game: CompiledGame) -> None:
    """Raise UnsolvableError for games in which some role does not see everything."""
    if hides_information(game):
        hidden = "the game has hidden information (`sees`)"
        raise UnsolvableError(f"{hidden}, so states have no values of their own")


def value_states(space: StateSpace, limits: SolverLimits | None = None) -> Solution:
    """The value of every state of `space`; the goals in `space` are filled in. See `solve`. Raises
    SolverLimitError after the deadline, UnsolvableError if there is no method."""
    require_perfect_information(space.game)
    start = time.perf_counter()
    valuation = _Valuation(space, limits or SolverLimits())
    with _announced(space):
        value, concept = valuation.run()
    return Solution(
        space,
        value,
        valuation.depth,
        concept,
        valuation.sum,
        valuation.cyclic,
        valuation.endless,
        space.seconds + time.perf_counter() - start,
    )


def _announced(space: StateSpace) -> AbstractContextManager[None]:
    return announced_compilation() if space.state_count < _QUICK else nullcontext()


def prepare_valuation() -> None:
    """Compile the kernels that value states, of all kinds of games, or load them from the cache."""
    chunk = Chunk(0, 0, np.zeros((0, 2), np.uint16), np.zeros(0, np.uint32))
    value, depth, fixed = np.zeros(0, np.uint8), np.zeros(0, np.uint16), np.zeros(0, np.uint8)
    cursor = make_cursor(chunk)
    back_up(chunk, value, depth, cursor)
    improve(chunk, value, fixed, cursor)
    improve_depth(chunk, value, depth, fixed, 0, cursor)
    mixed, stage, report = np.zeros((0, 2), np.float64), make_stage(2, 1, 1), np.zeros(REPORTS, np.int64)
    back_up_mixed(chunk, -1, True, mixed, depth, stage, report, cursor)
    find_states(
        np.zeros(2, np.uint64), np.zeros(1, np.uint64), 1, np.zeros(0, np.uint64), np.zeros(0, np.int64)
    )
    one = Chunk(0, 1, np.ones((1, 2), np.uint16), np.zeros(1, np.uint32))
    expected_payoffs(one, 0, -1, 0, np.zeros((1, 2), np.float64), stage.payoff)
