"""Sharing: inputs that several gates have in common become a gate.

Since an OR is a negated AND, one search finds common parts of ANDs and of ORs. Greedy, as in
common-cube extraction (Rajski and Vasudevamurthy, 1992): the pair of literals that most gates read
together is taken out, with every other literal that the same gates have in common; then the next pair.
A set of s literals in k gates saves k(s - 1) - s gate inputs, and more if it already is a gate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from time import thread_time

from ggp.circuit.circuit import Circuit
from ggp.circuit.simplify.rewriting import GATE_COST, in_order

PAIR_LIMIT = 3_000_000
"""Limit on pairs of inputs counted at the start; beyond it the widest gates are left out."""
WIDEST_RECOUNTED = 200
"""Inputs of the widest gate in which new pairs are looked for."""


def share(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with common inputs taken out. Ends when none is worth it or `deadline` has passed."""
    extraction = _Extraction(circuit)
    extraction.take_twins()
    extraction.take_pairs(deadline)
    return in_order(circuit, extraction.gates)


class _Extraction:
    """Gates as sets, and which gates read each literal."""

    def __init__(self, circuit: Circuit) -> None:
        self.gate0 = circuit.gate0
        self.gates = [set(inputs) for inputs in circuit.gates]
        self.readers: dict[int, set[int]] = {}
        for gate, inputs in enumerate(circuit.gates):
            for x in inputs:
                self.readers.setdefault(x, set()).add(gate)

    def take_twins(self) -> None:
        """Take out literals that the same gates read, of any width."""
        groups: dict[frozenset[int], list[int]] = {}
        for literal, readers in self.readers.items():
            if len(readers) > 1:
                groups.setdefault(frozenset(readers), []).append(literal)
        for common, literals in groups.items():
            if len(literals) > 1:
                self._take(set(literals), common)

    def take_pairs(self, deadline: float) -> None:
        """Take out pairs, the most frequent first."""
        waiting: dict[int, list[tuple[int, int]]] = {}
        for pair, count in self._pair_counts(deadline).items():
            if count > 1:
                waiting.setdefault(count, []).append(pair)
        in_vain: set[frozenset[int]] = set()
        # A set taken out never makes pairs more frequent than itself, so one pass over the counts suffices.
        for count in range(max(waiting, default=0), 1, -1):
            pairs = waiting.pop(count, [])
            for a, b in pairs:
                common = self.readers[a] & self.readers[b]
                if len(common) < count:
                    if len(common) > 1:
                        waiting.setdefault(len(common), []).append((a, b))
                    continue
                if thread_time() > deadline:
                    return
                if count == 2 and frozenset(common) in in_vain:
                    continue
                taken = self._take(set.intersection(*(self.gates[gate] for gate in common)), common)
                if taken is None:
                    in_vain.add(frozenset(common))
                    continue
                for other, frequency in self._frequent_with(taken).items():
                    place = pairs if frequency >= count else waiting.setdefault(frequency, [])
                    place.append((taken, other))

    def _pair_counts(self, deadline: float) -> Counter[tuple[int, int]]:
        """How many gates read each pair of literals: of the narrowest gates, up to PAIR_LIMIT pairs."""
        counts: Counter[tuple[int, int]] = Counter()
        left = PAIR_LIMIT
        shared = {x for x, readers in self.readers.items() if len(readers) > 1}
        for inputs in sorted((sorted(gate & shared) for gate in self.gates), key=len):
            left -= len(inputs) * (len(inputs) - 1) // 2
            if left < 0 or thread_time() > deadline:
                break
            counts.update(combinations(inputs, 2))
        return counts

    def _frequent_with(self, literal: int) -> dict[int, int]:
        """How many gates read other literals together with `literal`, if more than one does."""
        counts: Counter[int] = Counter()
        for gate in self.readers[literal]:
            if len(self.gates[gate]) <= WIDEST_RECOUNTED:
                counts.update(self.gates[gate])
        del counts[literal]
        return {other: count for other, count in counts.items() if count > 1}

    def _take(self, literals: set[int], gates: Iterable[int]) -> int | None:
        """Replace `literals` by one literal in `gates`, which all read them. None if that saves nothing."""
        size = len(literals)
        users = [gate for gate in gates if len(self.gates[gate]) > size]
        same = [gate for gate in gates if len(self.gates[gate]) == size]
        saved = len(users) * (size - 1) - (0 if same else size + GATE_COST)
        if saved <= 0:
            return None
        if same:
            node = same[0]
        else:
            node = len(self.gates)
            self.gates.append(set(literals))
            for x in literals:
                self.readers[x].add(node)
        taken = 2 * (self.gate0 + node)
        for gate in users:
            self.gates[gate] -= literals
            self.gates[gate].add(taken)
        for x in literals:
            self.readers[x].difference_update(users)
        self.readers.setdefault(taken, set()).update(users)
        return taken
