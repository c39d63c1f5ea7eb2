"""Goal distance: how near a state is to the goals that the roles want, from the rules alone.

Each role wants its greatest goal. The circuit of that goal is read as a formula of fuzzy logic (Schiffel and
Thielscher, "Fluxplayer: a successful general game player", AAAI 2007): conjunctions are products,
disjunctions their counterpart. Facts that do not hold count by how few steps they are away (Michulke
and Schiffel, "Distance features for general game playing agents", 2012):

* A piece comes to a cell from the cells where its owner has pieces, along the source and target cells that
  `ggp.features.board_features` proves; the steps are those of the shortest path, whatever stands on it.
* A fact that stays true for ever once it holds (proven on the circuit) blocks the facts that cannot come
  true next to it, and is itself never undone.
* Everything else is one step away.

This departs from the paper in what a negation means: what is nearly true is not nearly false. Each gate has
two degrees, how near it is to being true and to being false, so that a goal has degree 1 only where it holds.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.tables import CircuitTables, Phase
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.features.board_features import NOTHING, Features
from ggp.search.alphabeta.kernels.distance import GoalFormula
from ggp.search.alphabeta.latches import find_latches, latches_of_goals

NEAR = 0.3
"""Degree of a fact one step away; k steps away it is the k-th power."""

MAX_STEPS = 30
MAX_INPUTS = 30_000
"""Maximum gate inputs of a formula; a larger one would cost more than searching."""
MAX_ORDER_INPUTS = 1500
"""The same if the formula only orders moves."""


def goal_formula(
    game: CompiledGame,
    features: Features | None,
    deadline: float = math.inf,
    *,
    most_inputs: int = MAX_INPUTS,
) -> GoalFormula | None:
    """The formula of the roles' greatest goals; None if one is constant or the formula too large.

    features      of the game, None if none were recognized
    deadline      time.monotonic() seconds; what is not proven by then is assumed possible
    most_inputs   of all gates
    """
    tables = game.tables
    wanted = [_greatest_goal(tables, role) for role in range(min(2, tables.role_count))]
    if not wanted or any(literal < 2 for literal in wanted):
        return None
    gates = _needed_gates(tables, wanted, most_inputs)
    if gates is None:
        return None
    leaves, number, inputs = _numbered(tables, gates, wanted)
    if deadline == math.inf:
        latches = latches_of_goals(game)
    else:
        latches = find_latches(game, [leaf >> 1 for leaf in leaves if not leaf & 1], deadline)
    ways = None if features is None else _ways(features)
    sources: list[list[tuple[int, float]]] = []
    away: list[float] = []
    for leaf in leaves:
        found, otherwise = ([], NEAR) if leaf & 1 or ways is None else ways(leaf >> 1)
        sources.append(found)
        away.append(0.0 if leaf & 1 and (leaf >> 1) in latches.stays else otherwise)
    blocked = [[] if leaf & 1 else latches.blockers.get(leaf >> 1, []) for leaf in leaves]
    return GoalFormula(
        leaf=np.array(leaves, np.int32),
        away=np.array(away, np.float64),
        first_source=_offsets(sources),
        source=np.array([f for each in sources for f, _ in each], np.int32),
        degree=np.array([degree for each in sources for _, degree in each], np.float64),
        first_blocker=_offsets(blocked),
        blocker=np.array([f for each in blocked for f in each], np.int32),
        is_any=np.array([literal & 1 for literal in gates], np.uint8),
        first_input=_offsets(inputs),
        input=np.array([part for each in inputs for part in each], np.int32),
        wanted=np.array([number[literal] for literal in wanted] + [-1] * (2 - len(wanted)), np.int32),
        near=np.array([NEAR]),
    )


@once_per_game
def order_formula(game: CompiledGame) -> GoalFormula | None:
    """The formula for ordering moves, without features; None if it would cost more than it saves."""
    return goal_formula(game, None, most_inputs=MAX_ORDER_INPUTS)


def _greatest_goal(tables: CircuitTables, role: int) -> int:
    places = np.flatnonzero(tables.goal_role == role)
    if not len(places):
        return 0
    return int(tables.goal_literal[places[np.argmax(tables.goal_value[places])]])


def _needed_gates(tables: CircuitTables, wanted: Iterable[int], most_inputs: int) -> list[int] | None:
    """Literals of all gates that the wanted literals need, inputs first; None if there are too many."""
    needed = {literal for literal in wanted if literal >> 1 >= tables.gate0}
    found: list[int] = []
    count = 0
    for node in range(tables.gate0 + int(tables.phase_end[Phase.GOAL]) - 1, tables.gate0 - 1, -1):
        for literal in (2 * node, 2 * node + 1):
            if literal in needed:
                found.append(literal)
                inputs = _inputs(tables, literal)
                count += len(inputs)
                needed |= {each for each in inputs if each >> 1 >= tables.gate0}
        if count > most_inputs:
            return None
    return found[::-1]


def _inputs(tables: CircuitTables, literal: int) -> list[int]:
    """Literals all of which make a gate true, or (negated) any of which makes it false."""
    gate = (literal >> 1) - tables.gate0
    inputs = tables.input[tables.first_input[gate] : tables.first_input[gate + 1]]
    return [int(each) ^ (literal & 1) for each in inputs]


def _numbered(
    tables: CircuitTables, gates: Sequence[int], wanted: Sequence[int]
) -> tuple[list[int], Mapping[int, int], list[list[int]]]:
    """The leaves, the part of every literal, and the gates' inputs as parts."""
    inputs = [_inputs(tables, literal) for literal in gates]
    used = {literal for each in (*inputs, wanted) for literal in each}
    known = sorted(literal for literal in used if literal >> 1 < tables.gate0)
    number = {literal: place for place, literal in enumerate((*known, *gates))}
    # Fluent f is node 1 + f.
    return [literal - 2 for literal in known], number, [[number[i] for i in each] for each in inputs]


def _ways(features: Features) -> Callable[[int], tuple[list[tuple[int, float]], float]]:
    """For a fluent: the fluents from which it is reached, nearest first, with its degree then; its degree
    otherwise. Pieces reach a cell from others."""
    before: dict[tuple[int, int], set[int]] = defaultdict(set)
    for family in features.families:
        for move in family.moves:
            for target in features.targets_of[move]:
                before[family.role, target].add(int(features.source_of[move]))
    placing = {f.role for f in features.families if f.source is None or f.target is None}

    def ways_to(fluent: int) -> tuple[list[tuple[int, float]], float]:
        owner = features.owner_of(fluent)
        if owner == NOTHING or owner in placing:
            return [], NEAR
        found: list[tuple[int, float]] = []
        seen = front = {int(features.cell_of[fluent])}
        for steps in range(1, MAX_STEPS + 1):
            front = {c for f in front for c in before.get((owner, f), ())} - seen
            seen = seen | front
            held = [int(f) for source in sorted(front) for f in features.fluents_at(source)]
            found += [(f, NEAR**steps) for f in held if features.owner_of(f) == owner]
        return found, 0.0

    return ways_to


def _offsets(parts: Sequence[Sequence[object]]) -> NDArray[np.int32]:
    return np.concatenate(([0], np.cumsum([len(part) for part in parts]))).astype(np.int32)
