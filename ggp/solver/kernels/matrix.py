"""back_up_mixed: values with chance and simultaneous moves, by expectations and matrix games.

Matrix games are solved by the simplex method, in floating point: values are right up to rounding (about
1e-12). Letters: N states, R roles, A joint moves of
the players (without the chance role) in one state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.jit.compiling import kernel, piece, stage
from ggp.jit.rows import Index
from ggp.solver.kernels.backup import EDGES_LEFT, FOUND, SLICE_TRANSITIONS, STATES_LEFT
from ggp.solver.space import Chunk, successor_count

Floats = NDArray[np.float64]
TOLERANCE = 1e-10
# Counters of `back_up_mixed`.
MATRICES, PURE = range(2)
REPORTS = 2
# What `back_up_mixed` returns if it needs no help with a state.
WALKED, PAUSED = -1, -2


class StageArrays(NamedTuple):
    """Scratch memory for one stage: at most A joint moves, at most m moves per role.

    payoff     float64[A, R]: by joint move of the players
    matrix     float64[m, m]: what the row player gets
    tableau    float64[m+1, 2*m+1]
    basis      int64[m]: the variable of each line of the tableau
    row_mix, column_mix   float64[m]
    moves_of   int64[R]: moves per role, 1 for the chance role
    """

    payoff: Floats
    matrix: Floats
    tableau: Floats
    basis: NDArray[np.int64]
    row_mix: Floats
    column_mix: Floats
    moves_of: NDArray[np.int64]


def make_stage(roles: int, most_joint_moves: int, most_moves: int) -> StageArrays:
    """Fresh scratch memory."""
    return StageArrays(
        payoff=np.zeros((most_joint_moves, roles), np.float64),
        matrix=np.zeros((most_moves, most_moves), np.float64),
        tableau=np.zeros((most_moves + 1, 2 * most_moves + 1), np.float64),
        basis=np.zeros(most_moves, np.int64),
        row_mix=np.zeros(most_moves, np.float64),
        column_mix=np.zeros(most_moves, np.float64),
        moves_of=np.ones(roles, np.int64),
    )


@stage
def _set_up_tableau(stage: StageArrays, m: Index, n: Index, shift: float) -> None:
    """The tableau of the first basis, the slack variables: costs in row m, sides in the last column."""
    tableau = stage.tableau
    width = m + n + 1
    for i in range(m):
        for j in range(n):
            tableau[i, j] = stage.matrix[i, j] + shift
        for j in range(m):
            tableau[i, n + j] = 1.0 if i == j else 0.0
        tableau[i, width - 1] = 1.0
        stage.basis[i] = n + i
    for j in range(width):
        tableau[m, j] = -1.0 if j < n else 0.0


@stage
def _entering_column(tableau: Floats, m: Index, variables: Index) -> Index:
    """The first variable that improves the objective, by Bland's rule; `variables` at the optimum."""
    column = 0
    while column < variables and tableau[m, column] >= -TOLERANCE:
        column += 1
    return column


@stage
def _leaving_row(tableau: Floats, basis: NDArray[np.int64], m: Index, last: Index, column: Index) -> Index:
    """The row with the smallest ratio, of those the one with the lowest variable.

    last   the column of the right-hand sides
    """
    row = -1
    ratio = np.inf
    for i in range(m):
        if tableau[i, column] > TOLERANCE:
            other = tableau[i, last] / tableau[i, column]
            if row < 0 or other < ratio or (other == ratio and basis[i] < basis[row]):
                row = i
                ratio = other
    return row


@stage
def _pivot(tableau: Floats, m: Index, width: Index, row: Index, column: Index) -> None:
    pivot = tableau[row, column]
    for j in range(width):
        tableau[row, j] /= pivot
    for i in range(m + 1):
        if i != row and tableau[i, column] != 0.0:
            factor = tableau[i, column]
            for j in range(width):
                tableau[i, j] -= factor * tableau[row, j]


@kernel
def solve_matrix(stage: StageArrays, m: int, n: int) -> float:
    """The value of the zero-sum game stage.matrix[:m, :n] for the row player.

    Optimal mixed strategies are written to stage.row_mix[:m] and stage.column_mix[:n].

    Dantzig's linear program for the column player: with all payoffs made positive, maximize the sum of y >= 0
    under payoff @ y <= 1; the value is 1 over that sum, the row player's mix the dual. Pivots
    follow Bland's rule, so it ends.
    """
    tableau = stage.tableau
    basis = stage.basis
    lowest = stage.matrix[0, 0]
    for i in range(m):
        for j in range(n):
            lowest = min(lowest, stage.matrix[i, j])
    shift = 1.0 - lowest
    last = m + n
    _set_up_tableau(stage, m, n, shift)
    column = _entering_column(tableau, m, last)
    while column < last:
        row = _leaving_row(tableau, basis, m, last, column)
        basis[row] = column
        _pivot(tableau, m, last + 1, row, column)
        column = _entering_column(tableau, m, last)
    total = tableau[m, last]
    for j in range(n):
        stage.column_mix[j] = 0.0
    for i in range(m):
        if basis[i] < n:
            stage.column_mix[basis[i]] = tableau[i, last] / total
        stage.row_mix[i] = tableau[m, n + i] / total
    return 1.0 / total - shift  # type: ignore[no-any-return]


@piece
def pure_equilibrium(payoff: Floats, players: Index, move_count: NDArray[np.int64]) -> Index:
    """The index of a joint move from which no player gains by changing its own move alone; -1 without one.

    Of several the one with the greatest sum of payoffs, of those the first.

    payoff       float64[A, players]; joint moves in lexicographic order
    move_count   int64[players]
    """
    best = np.int64(-1)
    best_sum = 0.0
    total = np.int64(1)
    for player in range(players):
        total *= move_count[player]
    for joint in range(total):
        is_stable = True
        stride = total
        summed = 0.0
        for player in range(players):
            summed += payoff[joint, player]
            stride //= move_count[player]
            turn = (joint // stride) % move_count[player]
            for other in range(move_count[player]):
                deviation = joint + (other - turn) * stride
                if payoff[deviation, player] > payoff[joint, player] + TOLERANCE:
                    is_stable = False
        if is_stable and (best < 0 or summed > best_sum + TOLERANCE):
            best = np.int64(joint)
            best_sum = summed
    return best


@kernel
def expected_payoffs(
    chunk: Chunk, place: int, chance: int, first_edge: int, value: Floats, payoff: Floats
) -> int:
    """payoff[a] = expected values after joint move a of the players; return the number of such moves.

    place        the state is chunk.first + place; its successors begin at chunk.edge[first_edge]
    chance       index of the chance role, -1 without one
    value        float64[N, R]
    payoff       float64[A, R]; NaN where a successor has no value yet
    """
    roles = chunk.move_count.shape[1]
    inner = np.int64(1)
    rolls = np.int64(1)
    joints = np.int64(1)
    for role in range(roles):
        moves = np.int64(chunk.move_count[place, role])
        if role == chance:
            rolls = moves
            inner = np.int64(1)
        else:
            joints *= moves
            inner *= moves
    for joint in range(joints):
        start = first_edge + joint // inner * inner * rolls + joint % inner
        for role in range(roles):
            total = 0.0
            for roll in range(rolls):
                total += value[chunk.edge[start + roll * inner], role]
            payoff[joint, role] = total / rolls
    return joints  # type: ignore[return-value]


@stage
def _choosing(chunk: Chunk, place: Index, chance: Index, moves_of: NDArray[np.int64]) -> Any:
    """(number of players with a choice, the first of them, the last); fills in moves_of."""
    choosing = 0
    first = 0
    last = 0
    for role in range(chunk.move_count.shape[1]):
        moves = np.int64(chunk.move_count[place, role])
        moves_of[role] = 1 if role == chance else moves
        if moves_of[role] > 1:
            choosing += 1
            if choosing == 1:
                first = role
            last = role
    return choosing, first, last


@stage
def _is_known(payoff: Floats, joints: Index) -> bool:
    is_known = True
    for joint in range(joints):
        is_known = is_known and not np.isnan(payoff[joint, 0])
    return is_known


@stage
def _value_matrix_game(stage: StageArrays, row: Index, column: Index, value: Floats, state: Index) -> None:
    """Value a state in which two players of constant sum choose: the value of their matrix game."""
    payoff = stage.payoff
    columns = stage.moves_of[column]
    for a in range(stage.moves_of[row]):
        for b in range(columns):
            stage.matrix[a, b] = payoff[a * columns + b, row]
    total = payoff[0, row] + payoff[0, column]
    worth = solve_matrix(stage, stage.moves_of[row], columns)
    for role in range(payoff.shape[1]):
        value[state, role] = payoff[0, role]
    value[state, row] = worth
    value[state, column] = total - worth


@stage
def _longest_line(edge: NDArray[np.uint32], start: Index, end: Index, depth: NDArray[np.uint16]) -> np.uint16:
    """One more than the depth of the deepest successor among edge[start:end]."""
    longest: Any = np.int64(0)
    for k in range(start, end):
        longest = max(longest, np.int64(depth[edge[k]]))
    return np.uint16(min(longest + 1, 65534))


@stage
def _stage_work(moves_of: NDArray[np.int64], mover: Index, last: Index, joints: Index, has_sum: bool) -> Any:
    """About what a stage costs, in transitions: pivots of the tableau, or deviations from joint moves."""
    width = moves_of[mover] + moves_of[last] + 1
    if has_sum:
        return width * width * (moves_of[mover] + 1) >> 4
    summed: Any = np.int64(0)
    for role in range(moves_of.shape[0]):
        summed += moves_of[role]
    return joints * summed >> 2


@kernel
def back_up_mixed(
    chunk: Chunk,
    chance: int,
    is_constant_sum: bool,
    value: Floats,
    depth: NDArray[np.uint16],
    stage: StageArrays,
    report: NDArray[np.int64],
    cursor: NDArray[np.int64],
) -> int:
    """Value the states of one chunk whose successors all have values (not NaN); see `back_up`.

    States in which several players choose are matrix games: solved by linear programming where two players
    have a constant sum, else by a pure equilibrium. Where there is none the walk stops, and that state's
    place in the chunk is returned, its successors beginning at cursor[EDGES_LEFT]: the caller values it.
    Else the result is WALKED, or PAUSED after about as much work as SLICE_TRANSITIONS.

    chance   index of the chance role, -1 without one
    value    float64[N, R]
    depth    uint16[N]: the longest line to the end
    report   int64[REPORTS], added to: MATRICES solved, PURE of them by a pure equilibrium
    """
    roles = chunk.move_count.shape[1]
    payoff = stage.payoff
    j: Any = cursor[EDGES_LEFT]
    s: Any = cursor[STATES_LEFT]
    work: Any = np.int64(0)
    found = PAUSED
    while s > 0 and work < SLICE_TRANSITIONS and found == PAUSED:
        s -= 1
        count = successor_count(chunk, s)
        j -= count
        work += count + 1
        state = chunk.first + s
        if count == 0 or not np.isnan(value[state, 0]):
            continue
        joints = expected_payoffs(chunk, s, chance, j, value, payoff)
        if not _is_known(payoff, joints):
            cursor[FOUND] += 1
            continue
        choosing, mover, last = _choosing(chunk, s, chance, stage.moves_of)
        report[MATRICES] += choosing > 1
        if choosing > 1:
            work += _stage_work(stage.moves_of, mover, last, joints, choosing == 2 and is_constant_sum)
        if choosing == 2 and is_constant_sum:
            _value_matrix_game(stage, mover, last, value, state)
        else:
            if choosing > 1:
                chosen = pure_equilibrium(payoff, roles, stage.moves_of)
            else:
                chosen = payoff[:joints, mover].argmax()
            if chosen < 0:
                found = s
                continue
            report[PURE] += choosing > 1
            for role in range(roles):
                value[state, role] = payoff[chosen, role]
        depth[state] = _longest_line(chunk.edge, j, j + count, depth)
    cursor[STATES_LEFT], cursor[EDGES_LEFT] = s, j
    return WALKED if s == 0 and found == PAUSED else found
