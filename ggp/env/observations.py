"""Observations: which facts an agent sees, and in what shape.

    facts    uint8[F]: one value per fact that can hold
    board    uint8[H, W, C]: one plane per piece on the recognized board; every other fact fills a plane
    percepts uint8[2, P]: percepts and own moves of an agent, since its last action and in the whole game

Every value of an observation is a literal of the circuit. With several views, each agent has its own: that of
the mover (`ggp.env.actions`), or boards with a plane for who is to move.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ggp.engines.compiled import CompiledGame
from ggp.engines.point_of_view import PointOfView
from ggp.env.actions import Actions
from ggp.env.circuit_parts import parts_of
from ggp.features.board_features import NOTHING
from ggp.features.recognition import recognize_features
from ggp.game import RANDOM_ROLE, has_percepts

_TRUE, _FALSE = 0, 1


@dataclass(frozen=True)
class Observed:
    """The observation of agents.

    literal   int32[V, K]: literals of `LaneTables`; V is 1, or one view per agent
    shape     of one observation; its product is K
    names     what each value means (`facts`), or each plane (`board`), or each column (`percepts`; agents
              whose columns differ share them)
    sensed    int32[V, P]: literals to be remembered; P is 0 but for `percepts`
    """

    literal: NDArray[np.int32]
    shape: tuple[int, ...]
    names: tuple[str, ...]
    sensed: NDArray[np.int32] = field(default_factory=lambda: np.zeros((1, 0), np.int32))


def observe(game: CompiledGame, actions: Actions, kind: str, view: PointOfView | None = None) -> Observed:
    """The observation of a game's agents, from the point of view of each if there is a `view`.
    Raises ValueError for an unknown kind, and for a board if none is recognized."""
    if kind not in ("facts", "board", "percepts"):
        raise ValueError(f"observation is one of facts, board, percepts, not {kind!r}")
    if kind == "percepts":
        return observe_percepts(game, actions)
    if kind == "facts":
        return observe_facts(game, view)
    return observe_board(game, view) if view else observe_absolute_board(game, len(actions.agents))


def observe_percepts(game: CompiledGame, actions: Actions) -> Observed:
    """Percepts and own moves of each agent: never more than GDL-II lets it know. In games without `sees`
    rules every agent perceives all moves (of GDL-I)."""
    tables, lanes = game.tables, parts_of(game).of_step.tables
    columns: list[list[tuple[str, int]]] = []
    hidden = has_percepts(game)
    for a, agent in enumerate(actions.agents):
        own = [
            (f"does {agent} {move}", 2 * int(lanes.slot_node[actions.slot[a, i]]))
            for i, move in enumerate(actions.moves[a])
        ]
        if hidden:
            of_role = np.flatnonzero(tables.percept_role == game.roles.index(agent))
            sees = [(str(game.terms.percepts[i]), int(lanes.percept_literal[i])) for i in of_role]
        else:
            sees = [
                (f"does {role} {move}", 2 * int(lanes.slot_node[lanes.first_slot[r] + i]))
                for r, role in enumerate(game.roles)
                for i, move in enumerate(game.moves[r])
                if role != agent
            ]
        columns.append(sees + own)
    width = max(map(len, columns))
    sensed = np.full((len(columns), width), _FALSE, np.int32)
    for a, column in enumerate(columns):
        sensed[a, : len(column)] = [literal for _, literal in column]
    names = tuple(
        " | ".join(dict.fromkeys(column[p][0] for column in columns if p < len(column))) for p in range(width)
    )
    literal = np.full((len(columns), 2 * width), _FALSE, np.int32)
    return Observed(literal, (2, width), names, sensed)


def observe_facts(game: CompiledGame, view: PointOfView | None = None) -> Observed:
    """One value per fluent, in the order of `CircuitTerms.fluents`; names are as the first agent has them."""
    literal = 2 * (1 + np.arange(len(game.terms.fluents), dtype=np.int32))[None]
    if view is not None:
        literal = np.concatenate([literal, literal[:, view.fluent]])
    return Observed(literal, literal.shape[1:], tuple(map(str, game.terms.fluents)))


def observe_board(game: CompiledGame, view: PointOfView) -> Observed:
    """One plane per piece and one per fact off the board, as each agent sees them; names as the first one.
    Raises ValueError if no board is recognized."""
    literal, shape, names = _planes(game)
    fluent = np.concatenate([[0], 1 + view.fluent])  # literals here are of fluents or constant, never negated
    seen = np.where(literal > _FALSE, 2 * fluent[literal >> 1], literal)
    return Observed(np.stack([literal, seen]).reshape(2, -1), shape, names)


def observe_absolute_board(game: CompiledGame, agents: int) -> Observed:
    """One plane per piece, one per fact off the board, one per agent that shows whether it is to move.
    Raises ValueError if no board is recognized."""
    literal, (height, width, count), names = _planes(game)
    planes = np.full((agents, height * width, count + agents), _FALSE, np.int32)
    planes[:, :, :count] = literal
    for agent in range(agents):
        planes[agent, :, count + agent] = _TRUE
    to_move = (f"{role} to move" for role in game.roles if role != RANDOM_ROLE)
    shape = (height, width, count + agents)
    return Observed(planes.reshape(agents, -1), shape, (*names, *to_move))


def _planes(game: CompiledGame) -> tuple[NDArray[np.int32], tuple[int, int, int], tuple[str, ...]]:
    """int32[H*W, C], (H, W, C) and the names of C planes: one per piece, one per fact off the board."""
    features = recognize_features(game)
    if features is None:
        raise ValueError(f"{game.name}: no board is recognized; use observation='facts'")
    width, height = len(features.board.across.values), len(features.board.down.values)
    aside = np.flatnonzero(features.cell_of == NOTHING)
    pieces = len(features.pieces)
    planes = np.full((width * height, pieces + len(aside)), _FALSE, np.int32)
    for fluent in np.flatnonzero(features.cell_of != NOTHING):
        planes[features.cell_of[fluent], features.piece_of[fluent]] = 2 * (1 + fluent)
    planes[:, pieces:] = 2 * (1 + aside)
    names = (*(piece.name for piece in features.pieces), *(str(game.terms.fluents[f]) for f in aside))
    return planes, (height, width, planes.shape[1]), names
