"""Best play from a position whose value is proven: a line to follow, and what each move is worth.

Searches stop at the proof, and report the move that it needs. A player who loses for certain wants the
longest defence, and one who wins the shortest way; both want to see the other moves. Small games are solved
from the position on; others are proven move by move along the line.
"""

from __future__ import annotations

import time
from collections.abc import Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Game, GameError, JointMove, Move, Role, is_compiled
from ggp.solver import Solution, SolverError, SolverLimits
from ggp.solver.limits import Stop

_STATES = 300_000
_SOLVING_SHARE = 0.4
"""Of the time, for solving; the rest is for proofs."""
_MEBIBYTES = 64
MAX_LINE = 40
"""Maximum number of joint moves of the line."""


@dataclass
class BestPlay:
    """What is proven from a position on.

    line    joint moves that keep the value: the shortest way to a win, the longest defence
    goals   move of the role that was asked about → its goal behind it, where that is proven
    """

    line: list[JointMove] = field(default_factory=list)
    goals: dict[Move, int] = field(default_factory=dict)


def best_play(
    game: Game[Any], state: Hashable, role: Role, seconds: float, stop: Stop | None = None
) -> BestPlay:
    """Best play from `state`, as far as it is found in `seconds` and before `stop` is set.

    Nothing in games that are not compiled.

    >>> import ggp
    >>> game = ggp.load("nim")
    >>> found = best_play(game, game.initial_state(), game.roles[1], 600)
    >>> len(found.line), found.goals
    (16, {})
    """
    if not is_compiled(game):
        return BestPlay()
    compiled, deadline = require_compiled(game), time.monotonic() + seconds
    assert isinstance(state, bytes)
    try:
        limits = SolverLimits(
            states=_STATES, deadline=deadline - (1 - _SOLVING_SHARE) * seconds, stop=stop, may_use_disk=False
        )
        return _solved(compiled, state, role, limits)
    except SolverError:
        return _proven(compiled, state, role, deadline, stop)


def best_row(solution: Solution, state: PackedState) -> tuple[Move, ...]:
    """The best moves of all roles in a solved state; of chance the first outcome. Raises SolverError."""
    game, best = solution.game, solution.stage(state).best_moves
    return tuple(
        best[role][0].move if best.get(role) else game.legal_moves(state, role)[0] for role in game.roles
    )


def _solved(game: CompiledGame, state: PackedState, role: Role, limits: SolverLimits) -> BestPlay:
    """Best play by solving all states from `state` on. Raises SolverError."""
    from ggp.solver import solve

    solution = solve(game, limits, start=state)
    found, index = BestPlay(), game.roles.index(role)
    legal = [game.legal_moves(state, each) for each in game.roles]
    if [len(moves) > 1 for moves in legal] == [each == role for each in game.roles]:
        for move in legal[index]:
            row = [move if each == role else moves[0] for each, moves in zip(game.roles, legal, strict=True)]
            goal = solution.worth(game.next_state(state, row)).values[index]
            if float(goal).is_integer():
                found.goals[move] = round(goal)
    while not game.is_terminal(state) and len(found.line) < MAX_LINE:
        found.line.append(best_row(solution, state))
        state = game.next_state(state, found.line[-1])
    return found


def _proven(
    game: CompiledGame, state: PackedState, role: Role, deadline: float, stop: Stop | None
) -> BestPlay:
    """Best play by a proof of each position of the line, which ends where one takes too long."""
    from ggp.proofs.proofs import MatchProofs
    from ggp.search.alphabeta.search import AlphaBetaError

    found, index = BestPlay(), game.roles.index(role)
    with suppress(AlphaBetaError, GameError, MemoryError):
        proofs = MatchProofs(game, mebibytes=_MEBIBYTES)
        while not game.is_terminal(state) and len(found.line) < MAX_LINE:
            proofs.move_to(state)
            while not proofs.is_over and (left := deadline - time.monotonic()) > 0:
                if stop is not None and stop.is_set():
                    return found
                proofs.slice(left, None)
            if proofs.proven is None:
                break
            if not found.line and len(game.legal_moves(state, role)) > 1:
                found.goals = {
                    move: goal if index == 0 else proofs.goal_sum - goal
                    for move, goal in proofs.root_goals.items()
                }
            legal = [game.legal_moves(state, each) for each in game.roles]
            best = proofs.proven.move
            found.line.append(tuple(best if best in moves else moves[0] for moves in legal))
            state = game.next_state(state, found.line[-1])
    return found
