"""back up with chance and simultaneous moves: expectations, and matrix games by the simplex method.

Values are floating point, right up to rounding (about 1e-12). Letters: N states, R roles, A joint moves of
the players (without the chance role) in one state.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.kernels.compiling import kernel, piece
from ggp.kernels.rows import Index

Floats = NDArray[np.float64]
TOLERANCE = 1e-10
# What `back_up_mixed` reports.
LEFT, MATRICES, PURE, WITHOUT_PURE = range(4)
REPORTS = 4


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


@kernel
def solve_matrix(stage: StageArrays, m: int, n: int) -> float:
    """The value of the zero-sum game stage.matrix[:m, :n] for the row player.

    Optimal mixed strategies are written to stage.row_mix[:m] and stage.column_mix[:n].

    Dantzig's linear program for the column player: with all payoffs made positive, maximize the sum of y >= 0
    under payoff @ y <= 1; the value is 1 over that sum, the row player's mix the dual. Pivots
    follow Bland's rule, so it ends.
    """
    payoff = stage.matrix
    tableau = stage.tableau
    row_mix = stage.row_mix
    column_mix = stage.column_mix
    basis = stage.basis
    lowest = payoff[0, 0]
    for i in range(m):
        for j in range(n):
            lowest = min(lowest, payoff[i, j])
    shift = 1.0 - lowest
    width = m + n + 1
    for i in range(m):
        for j in range(n):
            tableau[i, j] = payoff[i, j] + shift
        for j in range(m):
            tableau[i, n + j] = 1.0 if i == j else 0.0
        tableau[i, width - 1] = 1.0
        row_mix[i] = 0.0
    for j in range(width):
        tableau[m, j] = -1.0 if j < n else 0.0
    for i in range(m):
        basis[i] = n + i
    while True:
        column = 0
        while column < m + n and tableau[m, column] >= -TOLERANCE:
            column += 1
        if column == m + n:
            break
        row = -1
        ratio = np.inf
        for i in range(m):
            if tableau[i, column] > TOLERANCE:
                other = tableau[i, width - 1] / tableau[i, column]
                if row < 0 or other < ratio or (other == ratio and basis[i] < basis[row]):
                    row = i
                    ratio = other
        basis[row] = column
        pivot = tableau[row, column]
        for j in range(width):
            tableau[row, j] /= pivot
        for i in range(m + 1):
            if i != row and tableau[i, column] != 0.0:
                factor = tableau[i, column]
                for j in range(width):
                    tableau[i, j] -= factor * tableau[row, j]
    total = tableau[m, width - 1]
    for j in range(n):
        column_mix[j] = 0.0
    for i in range(m):
        if basis[i] < n:
            column_mix[basis[i]] = tableau[i, width - 1] / total
        row_mix[i] = tableau[m, n + i] / total
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
    move_count: NDArray[np.uint16],
    place: int,
    chance: int,
    edge: NDArray[np.uint32],
    first_edge: int,
    value: Floats,
    payoff: Floats,
) -> int:
    """payoff[a] = expected values after joint move a of the players; returns how many such moves there are.

    move_count   uint16[*, R], legal moves per role; the state at hand is row `place`
    chance       index of the chance role, -1 without one
    edge         uint32[*]; the state's successors, in lexicographic order of joint moves, begin at first_edge
    value        float64[N, R]
    payoff       float64[A, R]; NaN where a successor is not valued yet
    """
    roles = move_count.shape[1]
    inner = np.int64(1)
    rolls = np.int64(1)
    joints = np.int64(1)
    for role in range(roles):
        moves = np.int64(move_count[place, role])
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
                total += value[edge[start + roll * inner], role]
            payoff[joint, role] = total / rolls
    return joints  # type: ignore[return-value]


@kernel
def back_up_mixed(
    first: int,
    move_count: NDArray[np.uint16],
    edge: NDArray[np.uint32],
    chance: int,
    is_constant_sum: bool,
    value: Floats,
    depth: NDArray[np.uint16],
    stage: StageArrays,
    report: NDArray[np.int64],
) -> int:
    """Value the states of one chunk whose successors are all known (not NaN); see `back_up`.

    States in which several players choose are matrix games: by linear programming where two players have a
    constant sum, else a pure equilibrium. Where there is none the walk ends there, and that state's
    place in the chunk is returned (-1: the walk is complete).

    move_count   uint16[count, R]; value: float64[N, R]
    depth        uint16[N]: the longest line under best play (all lines where moves are mixed or drawn by lot)
    report       int64[REPORTS]: added to: states LEFT, MATRICES solved, PURE of them by a pure equilibrium
    """
    roles = move_count.shape[1]
    payoff = stage.payoff
    moves_of = stage.moves_of
    j: Any = np.int64(edge.shape[0])
    for s in range(move_count.shape[0] - 1, -1, -1):
        count = np.int64(1)
        choosing = 0
        mover = 0
        last = 0
        for role in range(roles):
            moves = np.int64(move_count[s, role])
            count *= moves
            moves_of[role] = 1 if role == chance else moves
            if moves > 1 and role != chance:
                choosing += 1
                if choosing == 1:
                    mover = role
                last = role
        j -= count
        state = first + s
        if count == 0 or not np.isnan(value[state, 0]):
            continue
        joints = expected_payoffs(move_count, s, chance, edge, j, value, payoff)
        is_known = True
        for joint in range(joints):
            is_known = is_known and not np.isnan(payoff[joint, 0])
        if not is_known:
            report[LEFT] += 1
            continue
        longest: Any = 0
        chosen: Any = np.int64(0)
        if choosing <= 1:
            for joint in range(joints):
                if payoff[joint, mover] > payoff[chosen, mover]:
                    chosen = np.int64(joint)
        else:
            report[MATRICES] += 1
            if is_constant_sum and choosing == 2:
                chosen = np.int64(-1)
                rows = moves_of[mover]
                columns = moves_of[last]
                for a in range(rows):
                    for b in range(columns):
                        stage.matrix[a, b] = payoff[a * columns + b, mover]
                total = payoff[0, mover] + payoff[0, last]
                game_value = solve_matrix(stage, rows, columns)
                for role in range(roles):
                    value[state, role] = payoff[0, role]
                value[state, mover] = game_value
                value[state, last] = total - game_value
            else:
                chosen = pure_equilibrium(payoff, roles, moves_of)
                if chosen < 0:
                    report[WITHOUT_PURE] += 1
                    return s
                report[PURE] += 1
        if chosen >= 0:
            for role in range(roles):
                value[state, role] = payoff[chosen, role]
        for k in range(j, j + count):
            longest = max(longest, np.int64(depth[edge[k]]))
        depth[state] = np.uint16(min(longest + 1, 65534))
    return -1
