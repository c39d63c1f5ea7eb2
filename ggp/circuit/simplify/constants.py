"""Constants: facts that never change, moves that are never legal.

Gates that follow from them are folded.
A three-valued walk finds them. In the initial state every node has its value and no move is made; every node
that may come to differ becomes "unknown" for good: a fact whose next value differs from its value, a move
that can be legal, a gate whose inputs no longer settle it. What is still known when nothing changes any more
is constant in every reachable state. Facts that are never true and moves that are never legal leave the
circuit.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from time import thread_time

from ggp.circuit.circuit import FALSE_LITERAL, TRUE_LITERAL, Circuit, CircuitTerms, GateBuilder, rebuilt

UNKNOWN = 2


def fold_constants(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` without its constants. If `deadline` passes before they are known, `circuit` as it is."""
    walk = _Walk(circuit)
    for move, literal in enumerate(circuit.legal):
        if walk.value(literal) != 0:
            walk.forget(circuit.move0 + move)
    for fluent, literal in enumerate(circuit.next):
        if walk.value(literal) != walk.values[1 + fluent]:
            walk.forget(1 + fluent)
    return _without(circuit, walk.values) if walk.finish(deadline) else circuit


class _Walk:
    """Values of nodes while they change from known to unknown.

    false_inputs, unknown_inputs   per gate: number of false and of unknown inputs
    watchers                       node -> the fluents and moves that become unknown when the node does
    """

    def __init__(self, circuit: Circuit) -> None:
        self.gate0 = circuit.gate0
        self.gates = circuit.gates
        self.values = [1, *map(int, circuit.initial)] + [0] * (circuit.gate0 - circuit.move0)
        self.false_inputs = []
        self.unknown_inputs = [0] * len(circuit.gates)
        self.readers: list[list[int]] = [[] for _ in range(circuit.gate0 + len(circuit.gates))]
        for gate, inputs in enumerate(circuit.gates):
            false = 0
            for x in inputs:
                false += self.values[x >> 1] == x & 1
                self.readers[x >> 1].append(2 * gate | x & 1)
            self.false_inputs.append(false)
            self.values.append(int(not false))
        self.watchers: dict[int, list[int]] = {}
        for node, literal in enumerate([*circuit.next, *circuit.legal], start=1):
            self.watchers.setdefault(literal >> 1, []).append(node)
        self.waiting: list[int] = []

    def value(self, literal: int) -> int:
        known = self.values[literal >> 1]
        return known if known == UNKNOWN else known ^ (literal & 1)

    def forget(self, node: int) -> None:
        """Mark `node` as unknown: it may differ from its value."""
        if self.values[node] != UNKNOWN:
            self.waiting.append(2 * node | self.values[node])
            self.values[node] = UNKNOWN

    def finish(self, deadline: float) -> bool:
        """Spread what is unknown until nothing changes; False if time runs out."""
        while self.waiting:
            if len(self.waiting) % 64 == 1 and thread_time() > deadline:
                return False
            node, before = divmod(self.waiting.pop(), 2)
            for reader in self.readers[node]:
                gate = reader >> 1
                self.unknown_inputs[gate] += 1
                self.false_inputs[gate] -= before == reader & 1
                if not self.false_inputs[gate]:
                    self.forget(self.gate0 + gate)
            for watcher in self.watchers.get(node, ()):
                self.forget(watcher)
        return True


def _without(circuit: Circuit, values: list[int]) -> Circuit:
    """`circuit` with nodes of known value replaced, and its dead fluents and moves left out."""
    kept_fluents = [f for f in range(circuit.fluent_count) if values[1 + f] != 0]
    kept_moves = [
        [m for m in range(first, last) if values[circuit.move0 + m] != 0]
        for first, last in pairwise(circuit.first_move)
    ]
    every_move = [move for moves in circuit.terms.moves for move in moves]
    terms = CircuitTerms(
        circuit.terms.roles,
        tuple(circuit.terms.fluents[f] for f in kept_fluents),
        tuple(tuple(every_move[m] for m in moves) for moves in kept_moves),
        circuit.terms.percepts,
    )
    literal_of = [FALSE_LITERAL if value == 0 else TRUE_LITERAL for value in values]
    live_moves = [circuit.move0 + m for moves in kept_moves for m in moves]
    for node, old in enumerate([*(1 + f for f in kept_fluents), *live_moves], start=1):
        if values[old] == UNKNOWN:
            literal_of[old] = 2 * node
    builder = GateBuilder(1 + len(kept_fluents) + len(live_moves))
    for gate, inputs in enumerate(circuit.gates, start=circuit.gate0):
        if values[gate] == UNKNOWN:
            literal_of[gate] = builder.conj([literal_of[x >> 1] ^ (x & 1) for x in inputs])
    place = {fluent: place for place, fluent in enumerate(kept_fluents)}
    smaller = replace(
        circuit,
        terms=terms,
        initial=tuple(circuit.initial[f] for f in kept_fluents),
        next=tuple(circuit.next[f] for f in kept_fluents),
        legal=tuple(circuit.legal[m] for moves in kept_moves for m in moves),
        exclusive=tuple(
            kept
            for group in circuit.exclusive
            if len(kept := tuple(place[fluent] for fluent in group if fluent in place)) > 1
        ),
    )
    return rebuilt(smaller, builder.gates, literal_of)
