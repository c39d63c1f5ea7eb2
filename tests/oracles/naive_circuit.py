"""Naive evaluation of circuits: one node and one state at a time."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import NamedTuple

from gdl.terms import Term
from ggp.circuit.circuit import Circuit


class Outputs(NamedTuple):
    """Outputs of a circuit for one state and one joint move, as terms."""

    legal: frozenset[tuple[int, Term]]
    terminal: bool
    goals: frozenset[tuple[int, int]]
    next: frozenset[Term]
    percepts: frozenset[tuple[int, Term]]


def evaluate(circuit: Circuit, facts: frozenset[Term], joint_move: Mapping[int, Term]) -> Outputs:
    """Every output of `circuit`; facts and moves that it does not have are ignored."""
    values = [True]
    values += [fluent in facts for fluent in circuit.terms.fluents]
    for role, moves in enumerate(circuit.terms.moves):
        values += [joint_move.get(role) == move for move in moves]
    for inputs in circuit.gates:
        assert all(x >> 1 < len(values) for x in inputs), "gates must come after their inputs"
        values.append(all(values[x >> 1] != bool(x & 1) for x in inputs))

    def holds(literal: int) -> bool:
        return values[literal >> 1] != bool(literal & 1)

    every_move = [(role, move) for role, moves in enumerate(circuit.terms.moves) for move in moves]
    return Outputs(
        legal=frozenset(m for m, x in zip(every_move, circuit.legal, strict=True) if holds(x)),
        terminal=holds(circuit.terminal),
        goals=frozenset((goal.role, goal.value) for goal in circuit.goals if holds(goal.literal)),
        next=frozenset(f for f, x in zip(circuit.terms.fluents, circuit.next, strict=True) if holds(x)),
        percepts=frozenset(
            (percept.role, term)
            for percept, term in zip(circuit.percepts, circuit.terms.percepts, strict=True)
            if holds(percept.literal)
        ),
    )


def initial_facts(circuit: Circuit) -> frozenset[Term]:
    return frozenset(f for f, holds in zip(circuit.terms.fluents, circuit.initial, strict=True) if holds)


def random_joint_move(outputs: Outputs, role_count: int, rng: random.Random) -> dict[int, Term] | None:
    """One legal move per role, uniformly; None if a role has none."""
    chosen = {}
    for role in range(role_count):
        moves = sorted((move for r, move in outputs.legal if r == role), key=str)
        if not moves:
            return None
        chosen[role] = rng.choice(moves)
    return chosen


def assert_same_play(before: Circuit, after: Circuit, *, seed: int, steps: int, limit: int = 40) -> None:
    """Assert that both circuits agree in every state of random playouts.

    Next states and percepts are compared only in states that are not terminal: there are no moves in others.
    """
    rng = random.Random(seed)
    facts = initial_facts(before)
    assert initial_facts(after) == facts
    depth = 0
    for _ in range(steps):
        still = evaluate(before, facts, {})
        joint_move = random_joint_move(still, len(before.terms.roles), rng)
        over = still.terminal or joint_move is None
        old = evaluate(before, facts, joint_move or {})
        new = evaluate(after, facts, joint_move or {})
        assert (new.legal, new.terminal, new.goals) == (old.legal, old.terminal, old.goals)
        if not over:
            assert (new.next, new.percepts) == (old.next, old.percepts)
        depth += 1
        facts = initial_facts(before) if over or depth >= limit else old.next
        depth = 0 if over or depth >= limit else depth
