"""Small random circuits in which every role always has a move, from a seed."""

from __future__ import annotations

import random

from gdl.terms import Compound, Symbol
from ggp.circuit.circuit import Circuit, CircuitTerms, GateBuilder, Goal, Percept, without_dead_gates


def random_circuit(
    seed: int, *, fluents: int = 6, moves: tuple[int, ...] = (5, 4), gates: int = 30
) -> Circuit:
    """Legality, goals and the end depend on facts, everything else on facts and moves."""
    rng = random.Random(seed)
    cells = [Compound("cell", (Symbol(str(i // 2)), Symbol("ab"[i % 2]))) for i in range(fluents)]
    terms = CircuitTerms(
        roles=tuple(Symbol(f"role{i}") for i in range(len(moves))),
        fluents=tuple(sorted(cells, key=str)),
        moves=tuple(tuple(Symbol(f"m{i}") for i in range(count)) for count in moves),
        percepts=(Symbol("near"), Symbol("far")),
    )
    move0 = 1 + fluents
    gate0 = move0 + sum(moves)
    builder = GateBuilder(gate0)
    still = [2 * node for node in range(1, move0)]
    moving = [2 * node for node in range(1, gate0)]
    for _ in range(gates):
        pool = still if rng.random() < 0.4 else moving
        chosen = rng.choices(pool, k=rng.randint(2, 5))
        literal = builder.conj([x ^ rng.randint(0, 1) for x in chosen])
        (still if pool is still else moving).append(literal)
        if pool is still:
            moving.append(literal)

    def pick(pool: list[int]) -> int:
        return rng.choice(pool[-len(pool) // 2 :]) ^ rng.randint(0, 1)

    legal: list[int] = []
    for count in moves:
        guards = [pick(still) for _ in range(count - 1)]
        legal += [*guards, builder.conj([x ^ 1 for x in guards])]
    circuit = Circuit(
        terms=terms,
        initial=tuple(rng.random() < 0.5 for _ in range(fluents)),
        gates=tuple(builder.gates),
        legal=tuple(legal),
        terminal=builder.conj([pick(still), pick(still)]),
        goals=tuple(Goal(role, value, pick(still)) for role in range(len(moves)) for value in (0, 100)),
        next=tuple(pick(moving) for _ in range(fluents)),
        percepts=(Percept(0, pick(moving)), Percept(len(moves) - 1, pick(moving))),
    )
    return without_dead_gates(Circuit(**{**circuit.__dict__, "gates": tuple(builder.gates)}))
