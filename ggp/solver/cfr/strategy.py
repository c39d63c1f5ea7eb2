"""Strategies as text: information sets, moves and probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.terms import Term
from ggp.game import Move, Role
from ggp.solver.cfr.minimization import Strategies, realization_plan
from ggp.solver.cfr.sequence_form import SequenceForm

Observed: TypeAlias = tuple[Move, tuple[Term, ...]]
"""What a role observes of one step: its own move and its percepts, sorted by text."""


@dataclass(frozen=True)
class InformationSet:
    """An information set and the strategy in it.

    role           who chooses
    observed       step by step since the start of the match; without `sees` the percepts are the joint move
    probabilities  of each legal move, in the order of the legal moves
    reach          probability that the role's own moves lead here, if chance and the others do their part
    """

    role: Role
    observed: tuple[Observed, ...]
    probabilities: dict[Move, float]
    reach: float

    def __str__(self) -> str:
        """The observations: equal texts are one information set of the role."""
        return "; ".join(" ".join([f"{move} |", *map(str, percepts)]) for move, percepts in self.observed)


def information_sets(form: SequenceForm, strategies: Strategies) -> Iterator[InformationSet]:
    """All information sets in which a role has a choice: those of the first role, then of the second.

    >>> import ggp
    >>> from ggp.solver.cfr import solve_hidden
    >>> found = solve_hidden(ggp.load("kuhn_poker"))
    >>> king = [each for each in information_sets(found.form, found.strategies) if "king" in str(each)]
    >>> print(king[1], {str(move): round(p, 3) for move, p in king[1].probabilities.items()})
    noop | (card king); check | (move first check); noop | (move second bet) {'call': 1.0, 'fold': 0.0}
    """
    for agent, plex in enumerate(form.plexes[: len(form.graph.agents)]):
        plan = realization_plan(plex, strategies[agent])
        for d in range(plex.set_count):
            yield information_set(form, agent, d, strategies[agent], float(plan[plex.parent[d]]))


def information_set(
    form: SequenceForm, agent: int, number: int, strategy: NDArray[np.float64], reach: float
) -> InformationSet:
    """One information set of an agent, by its number in the treeplex."""
    graph, plex = form.graph, form.plexes[agent]
    history = int(plex.history[number])
    moves = legal_moves(form, agent, history)
    probabilities = strategy[plex.first[number] : plex.first[number + 1]].tolist()
    return InformationSet(
        graph.agents[agent],
        tuple(observed(form, agent, history)),
        dict(zip(moves, probabilities, strict=True)),
        reach,
    )


def legal_moves(form: SequenceForm, agent: int, history: int) -> tuple[Move, ...]:
    """The legal moves of an agent after an observation history."""
    graph = form.graph
    moves = graph.game.moves[graph.game.roles.index(graph.agents[agent])]
    return tuple(moves[i] for i in graph.legal_sets[agent][form.plexes[agent].known[history]])


def observed(form: SequenceForm, agent: int, history: int) -> list[Observed]:
    """What an agent observed, step by step, in an observation history of its treeplex."""
    plex = form.plexes[agent]
    path = []
    while history > 0:
        path.append(history)
        history = int(plex.origin[history])
    path.reverse()
    own = [legal_moves(form, agent, int(plex.origin[step]))[plex.slot[step]] for step in path]
    numbers = plex.percept[path].tolist()
    sets, terms = form.graph.percept_sets[agent], form.graph.game.terms.percepts
    if form.graph.is_hiding:
        seen = [tuple(sorted((terms[i] for i in sets[number]), key=str)) for number in numbers]
    else:
        seen = _joint_moves(form, numbers)
    return list(zip(own, seen, strict=True))


def _joint_moves(form: SequenceForm, numbers: list[int]) -> list[tuple[Term, ...]]:
    """Joint moves from the initial state on, each given by its number in its state."""
    game = form.graph.game
    state, made = game.initial_state(), []
    for number in numbers:
        legal = [game.legal_moves(state, role) for role in game.roles]
        slots = np.unravel_index(number, [len(moves) for moves in legal])
        joint_move = tuple(moves[slot] for moves, slot in zip(legal, slots, strict=True))
        state = game.next_state(state, joint_move)
        made.append(joint_move)
    return made
