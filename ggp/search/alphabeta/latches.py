"""Latches: facts that never change again once they hold, or once they do not, proven on the circuit. Proofs
hold in any state, reachable or not, because all that is not asked about is unknown."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gdl.program import arguments_of
from ggp.circuit.circuit import cone_of
from ggp.circuit.tables import CircuitTables
from ggp.engines.compiled import CompiledGame, once_per_game
from ggp.features.possibilities import Question, possible

MAX_QUESTIONS = 200_000
MAX_WORK = 100_000_000
"""Maximum of questions times inputs of the game's circuit: about a third of a second."""
_TOGETHER = 2048


@dataclass(frozen=True)
class Latches:
    """Proven properties of a game's fluents, by number.

    blockers   fluent → members of `stays` that keep it from ever holding
    """

    stays: frozenset[int] = frozenset()  # once they hold, they always will
    gone: frozenset[int] = frozenset()  # once they do not hold, they never will
    blockers: dict[int, list[int]] = field(default_factory=dict)


def find_latches(
    game: CompiledGame,
    fluents: Sequence[int],
    deadline: float = math.inf,
    *,
    most_questions: int = MAX_QUESTIONS,
) -> Latches:
    """The latches of a game, with blockers for `fluents`.

    deadline         time.monotonic() seconds; what is not proven by then is left out
    most_questions   about blockers; what others would prove is left out
    """
    tables = game.tables
    each = range(tables.fluent_count)
    can_end = _can_be(tables, [Question(true=(f,)) for f in each], tables.next[:, None] ^ 1, deadline)
    stays = frozenset(map(int, np.flatnonzero(~can_end[:, 0])))
    blockers = _blockers(game, fluents, stays, most_questions, deadline)
    can_begin = _can_be(tables, [Question(false=(f,)) for f in each], tables.next[:, None], deadline)
    return Latches(stays, frozenset(map(int, np.flatnonzero(~can_begin[:, 0]))), blockers)


@once_per_game
def latches_of_goals(game: CompiledGame) -> Latches:
    """The latches of a game, with blockers for the fluents that goals depend on; found once. Questions about
    blockers are limited by MAX_WORK."""
    tables = game.tables

    def inputs(node: int) -> Sequence[int]:
        gate = node - tables.gate0
        if gate < 0:
            return ()
        first, end = tables.first_input[gate : gate + 2]
        return tables.input[first:end].tolist()  # type: ignore[no-any-return]

    cone = cone_of(tables.goal_literal.tolist(), inputs)
    fluents = [node - 1 for node in cone if node <= tables.fluent_count]
    most = min(MAX_QUESTIONS, MAX_WORK // max(1, len(tables.input)))
    return find_latches(game, fluents, most_questions=most)


def _can_be(
    tables: CircuitTables, questions: Sequence[Question], asked: NDArray[np.int32], deadline: float
) -> NDArray[np.bool_]:
    """Like `possible`, but after the deadline the answer is yes."""
    answers = np.ones(asked.shape, np.bool_)
    for first in range(0, len(questions), _TOGETHER):
        if time.monotonic() > deadline:
            break
        part = slice(first, first + _TOGETHER)
        answers[part] = possible(tables, questions[part], asked[part])
    return answers


def _blockers(
    game: CompiledGame, fluents: Sequence[int], stays: frozenset[int], most: int, deadline: float
) -> dict[int, list[int]]:
    """By fluent: latches of the same kind that keep it from ever holding."""
    tables, kinds = game.tables, defaultdict(list)
    kind_of = [(term.name, len(arguments_of(term))) for term in game.terms.fluents]
    for g in sorted(stays):
        kinds[kind_of[g]].append(g)
    pairs = [(f, g) for f in fluents for g in kinds[kind_of[f]] if f != g][:most]
    if not pairs:
        return {}
    holding = sorted({g for _, g in pairs})
    can_be_legal = _can_be(
        tables, [Question(true=(g,)) for g in holding], np.tile(tables.legal, (len(holding), 1)), deadline
    )
    illegal = {g: tuple(map(int, np.flatnonzero(~can))) for g, can in zip(holding, can_be_legal, strict=True)}
    # Questions that forbid the same moves are asked together.
    pairs.sort(key=lambda pair: pair[1])
    questions = [Question(None, (g,), (f,), illegal[g]) for f, g in pairs]
    can_come = _can_be(tables, questions, tables.next[[f for f, _ in pairs]][:, None], deadline)[:, 0]
    blockers: dict[int, list[int]] = defaultdict(list)
    for place in np.flatnonzero(~can_come).tolist():
        f, g = pairs[place]
        blockers[f].append(g)
    return dict(blockers)
