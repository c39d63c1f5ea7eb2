"""A position and its children: who chooses, static scores, mirror images, scores known already."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import Phase
from ggp.engines.batches import require_compiled
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.game import Game, GameError, Move
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.state_code import encode_states, make_code
from ggp.search.alphabeta.estimate import EVEN, SCALE, Estimate
from ggp.search.alphabeta.events import ValueTree
from ggp.search.alphabeta.goal_bounds import goal_bounds
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.alphabeta.symmetry import fluent_symmetries


class Choice(NamedTuple):
    """A move of one role; roles may have moves of the same name."""

    role: int
    move: Move


@dataclass(eq=False)
class Position:
    """A state as a child of a node. Scores are hundredths of a goal for the first role."""

    state: Any
    mover: int = 0  # the role that chooses here; 0 if none does
    choice: Choice | None = None  # the move that led here; None: at the root, or if it was the only one
    end: int | None = None  # the score if the position needs no search; None else
    score: int = 0  # static score
    mobility: int = 1  # legal moves of the mover
    rank: int = 0  # place in the order of search: the highest comes first


def signed(score: int, mover: int) -> int:
    """A score for the first role as one for `mover`, and back: the other role minimizes."""
    return score if mover == 0 else -score


def position_of(game: Game[Any], state: Any, choice: Choice | None = None) -> Position:
    """A position without scores. Raises AlphaBetaError if two roles choose at the same time."""
    if game.is_terminal(state):
        return Position(state, choice=choice, end=round(SCALE * game.goal(state, game.roles[0])))
    counts = [len(game.legal_moves(state, role)) for role in game.roles]
    choosing = [role for role, count in enumerate(counts) if count > 1]
    if len(choosing) > 1:
        raise AlphaBetaError("two roles choose at the same time")
    mover = choosing[0] if choosing else 0
    return Position(state, mover, choice, mobility=counts[mover])


def successors(game: Game[Any], state: Any, mover: int) -> list[tuple[Move, Any]]:
    """Each move of `mover` and the state behind it, in the order of the rules: all before one is looked at,
    as a compiled game stays in one state between moves."""
    legal = [game.legal_moves(state, role) for role in game.roles]
    before, after = ([moves[0] for moves in part] for part in (legal[:mover], legal[mover + 1 :]))
    return [(move, game.next_state(state, (*before, move, *after))) for move in legal[mover]]


def immediate_win(game: Game[Any], state: Any) -> int | None:
    """The score of a state that is not terminal and whose mover has a move that ends the game with goal 100.

    None if there is no such move. With a constant sum the score is the exact value of the state: no move is
    better. Source: decisive moves (Teytaud and Teytaud, 2010).
    """
    choosing = {r for r, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1}
    for r, role in enumerate(game.roles):
        for _, after in successors(game, state, r) if choosing <= {r} else ():
            if game.is_terminal(after) and game.goal(after, role) == 100:
                return SCALE * game.goal(after, game.roles[0])
    return None


def static_score(game: Game[Any], position: Position, estimate: Estimate) -> int:
    """Hundredths of a goal for the first role; between those of a lost and a won game. Weights
    and formula need a compiled game."""
    score = EVEN + signed(estimate.mobility_weight * position.mobility, position.mover)
    try:
        goal = game.goal(position.state, game.roles[0])
        score += estimate.goal_weight * round(SCALE * goal - EVEN) // 100
    except GameError:
        pass
    if estimate.function is not None:
        score += round(SCALE * estimate.function(game, position.state)) - EVEN
    if estimate.weights is not None or estimate.formula is not None:
        held = require_compiled(game).unpack(position.state)
        if estimate.weights is not None:
            score += int(estimate.weights[:-1][held].sum() + estimate.weights[-1])
        if estimate.formula is not None:
            score += round(SCALE * distance_goal(estimate.formula, held)) - EVEN
    return min(max(score, estimate.lowest), estimate.highest)


def distance_goal(formula: GoalFormula, state: NDArray[np.bool_]) -> float:
    """The goal of role 0 that the formula expects of a state bool[F].

    Its share of both roles' degrees; alone 1 / (1 + steps to go). Source: Schiffel and Thielscher (2007), see
    `ggp.search.alphabeta.goal_distance`.
    """
    part = degrees(formula, state)
    own = part[formula.wanted[0]]
    if formula.wanted[1] < 0:
        share = 1 / (1 + math.log(own) / math.log(formula.near[0])) if own > 0 else 0.0
    else:
        other = part[formula.wanted[1]]
        share = own / (own + other) if own + other > 0 else 0.5
    return math.floor(10000 * share + 0.5) / 100


def degrees(formula: GoalFormula, state: NDArray[np.bool_]) -> list[float]:
    """The degree of every part: leaves, then gates."""
    part: list[float] = []
    for v, leaf in enumerate(formula.leaf):
        of = slice(formula.first_source[v], formula.first_source[v + 1])
        reached = formula.degree[of][state[formula.source[of]]]
        blockers = formula.blocker[formula.first_blocker[v] : formula.first_blocker[v + 1]]
        if state[leaf >> 1] != bool(leaf & 1):
            part.append(1.0)
        elif state[blockers].any():
            part.append(0.0)
        else:
            part.append(float(reached[0]) if len(reached) else float(formula.away[v]))
    for g, is_any in enumerate(formula.is_any):
        inputs = [part[p] for p in formula.input[formula.first_input[g] : formula.first_input[g + 1]]]
        part.append(1 - math.prod(1 - degree for degree in inputs) if is_any else math.prod(inputs))
    return part


def possible_goals(game: Game[Any]) -> Sequence[float]:
    """The goals that the first role can get, ascending, by the circuit; without one all numbers to 100."""
    if isinstance(game, ValueTree):
        return game.possible_goals
    if not isinstance(game, CompiledGame):
        return list(range(101))
    goals: list[int] = np.unique(game.tables.goal_value[game.tables.goal_role == 0]).tolist()
    return goals


def mirroring(game: Game[Any]) -> Callable[[Any], Any]:
    """State → the state that stands for all its mirror images; of a compiled game."""
    if not isinstance(game, CompiledGame):
        return lambda state: state
    images, code = fluent_symmetries(game), make_code(len(game.terms.fluents), game.exclusive)

    def canonical(state: PackedState) -> PackedState:
        mirrored = game.unpack(state)[images]
        keys = encode_states(code, mirrored).tolist()
        return game.pack(mirrored[keys.index(min(keys))])

    return canonical


def goal_bounding(game: Game[Any]) -> Callable[[Any], tuple[int, int]] | None:
    """State that is not terminal → the least and the greatest goal that the first role can still get; None if
    the circuit does not show that."""
    bounds = goal_bounds(game) if isinstance(game, CompiledGame) else None
    if bounds is None or not isinstance(game, CompiledGame):
        return None
    tables, lanes, goals = bounds.tables, Lanes(bounds.tables, words=1), np.asarray(bounds.tables.goal_value)

    def goal_range(state: PackedState) -> tuple[int, int]:
        lanes.set_states(game.unpack(state)[:, None])
        lanes.settle(Phase.LEGAL, Phase.GOAL)
        possible = goals[lanes.read(tables.goal_literal, 1)[:, 0]]
        return int(possible.min()), int(possible.max())

    return goal_range
