"""Tokens: groups of facts of which at most one holds, as a king stands on one cell.

`exclusive_facts` proves its groups pair by pair; a king on 64 cells has 2,016 pairs. Here one case for each
move proves a whole group: the move is legal only while the token is at its source, and puts it in one place.
All cases are settled at once, one bit each, in three values: a literal can be true, can be false, or both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import inf
from time import thread_time
from typing import NamedTuple

from gdl.terms import Compound
from ggp.circuit.circuit import Circuit, Phase, bits_of, cone_of, phase_gates

Group = tuple[int, ...]
"""Indices of fluents."""
MIN_MEMBERS = 2
CONE_LIMIT = 50_000
"""Gates of the next facts of a group, read after moves; with more, no proof is tried."""


def find_tokens(circuit: Circuit, deadline: float = inf) -> list[Group]:
    """The groups that are proved; only terms that differ in all arguments but one, or in all, are guessed.

    deadline    no proof begins later (`time.thread_time`)

    >>> from ggp.circuit.construction import build
    >>> from gdl.grounding import ground
    >>> from gdl.syntax.parser import parse
    >>> rules = "(role a) (init (at 1)) (<= (legal a (go 2)) (true (at 1))) (<= terminal (true (at 3)))"
    >>> rules += "(<= (legal a (go 1)) (true (at 2))) (<= (next (at ?x)) (does a (go ?x)))"
    >>> find_tokens(build(ground(parse(rules))))
    [(0, 1)]
    """
    guesses = sorted(_guesses(circuit), key=len)
    if not guesses:
        return []
    prover = _Prover(circuit)
    for group in guesses:
        if thread_time() < deadline and prover.preserves(group):
            prover.proved.append(group)
    return prover.proved


def _guesses(circuit: Circuit) -> Iterable[Group]:
    groups: dict[tuple[object, ...], list[int]] = {}
    for fluent, term in enumerate(circuit.terms.fluents):
        if isinstance(term, Compound):
            name = (term.name, len(term.arguments))
            for key in (name, *((*name, place, each) for place, each in enumerate(term.arguments))):
                groups.setdefault(key, []).append(fluent)
    found = {tuple(group) for group in groups.values() if len(group) >= MIN_MEMBERS}
    return [group for group in found if sum(circuit.initial[fluent] for fluent in group) == 1]


class _Cases(NamedTuple):
    """Three-valued rows, bit = case; nodes without an entry can be both.

    every   all cases
    true, false   by node: the cases in which it can be true, and in which it can be false
    """

    every: int
    true: dict[int, int]
    false: dict[int, int]

    def can_be_true(self, literal: int) -> int:
        return (self.false if literal & 1 else self.true).get(literal >> 1, self.every)

    def settle(self, circuit: Circuit, nodes: Iterable[int]) -> None:
        """Compute gates, given in topological order."""
        self.false[0] = 0
        for node in nodes:
            true, false = self.every, 0
            for x in circuit.gates[node - circuit.gate0]:
                true &= self.can_be_true(x)
                false |= self.can_be_true(x ^ 1)
            self.true[node], self.false[node] = true, false

    def set(self, node: int, cases: int) -> None:
        """Make a node true in `cases` and false in all others."""
        self.true[node], self.false[node] = cases, self.every & ~cases


class _Prover:
    """Proves groups, one after the other; `proved` ones serve to prove further ones.

    needed   int by move: bit set of the fluents without which it is not legal
    """

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.proved: list[Group] = []
        phases = phase_gates(circuit)
        legal = (phases[Phase.LEGAL] + circuit.gate0).tolist()
        self.before_moves = {*legal, *(phases[Phase.GOAL] + circuit.gate0).tolist()}
        self.role_of = [role for role, moves in enumerate(circuit.terms.moves) for _ in moves]
        every = (1 << circuit.fluent_count) - 1
        without = _Cases(every, {}, {})
        for fluent in range(circuit.fluent_count):
            without.true[1 + fluent] = every & ~(1 << fluent)
        without.settle(circuit, legal)
        self.needed = [every & ~without.can_be_true(x) for x in circuit.legal]

    def preserves(self, group: Group) -> bool:
        """Whether at most one member holds after every move, if at most one held before."""
        gates, gate0 = self.circuit.gates, self.circuit.gate0

        def inputs(node: int) -> Sequence[int]:
            return () if node < gate0 or node in self.before_moves else gates[node - gate0]

        cone = [node for node in cone_of([self.circuit.next[f] for f in group], inputs) if inputs(node)]
        if len(cone) > CONE_LIMIT:
            return False
        adding = self._adding(group, cone)
        # Without such a move: whichever member holds, or none, at most one holds next.
        still = _Cases((2 << len(group)) - 1, {}, {})
        for place, fluent in enumerate(group):
            still.set(1 + fluent, 1 << place)
        for move in adding:
            still.true[self.circuit.move0 + move] = 0
        if self._some_two(group, cone, still):
            return False
        moved = self._moved(group, adding)
        return moved is not None and not self._some_two(group, cone, moved)

    def _some_two(self, group: Group, cone: Sequence[int], cases: _Cases) -> bool:
        """Whether two members can hold next in one of the cases."""
        cases.settle(self.circuit, cone)
        once = twice = 0
        for fluent in group:
            row = cases.can_be_true(self.circuit.next[fluent])
            twice |= once & row
            once |= row
        return bool(twice)

    def _adding(self, group: Group, cone: Sequence[int]) -> list[int]:
        """The moves that can make a member true where none is. To miss one is safe: the proof fails then."""
        alone = _Cases((1 << len(self.needed)) - 1, {}, {})
        for fluent in group:
            alone.set(1 + fluent, 0)
        for move in range(len(self.needed)):
            alone.set(self.circuit.move0 + move, 1 << move)
        alone.settle(self.circuit, cone)
        some = 0
        for fluent in group:
            some |= alone.can_be_true(self.circuit.next[fluent])
        return list(bits_of(some))

    def _moved(self, group: Group, adding: Sequence[int]) -> _Cases | None:
        """A case for each adding move, with what its legality implies; None if one needs no member."""
        move0, needed = self.circuit.move0, self.needed
        members = sum(1 << fluent for fluent in group)
        exclusive = [sum(1 << fluent for fluent in each) for each in self.proved]
        cases = _Cases((1 << len(adding)) - 1, {}, {})
        at = dict.fromkeys(group, 0)
        of_role = [0] * len(self.circuit.terms.roles)
        refuting: dict[int, int] = {}
        for case, move in enumerate(adding):
            source = needed[move] & members
            if not source:
                return None
            at[source.bit_length() - 1] |= 1 << case
            of_role[self.role_of[move]] |= 1 << case
            refuted = 0
            for each in exclusive:
                refuted |= each & ~needed[move] if each & needed[move] else 0
            refuting[refuted] = refuting.get(refuted, 0) | 1 << case
        # A role makes no other move, and no role one that needs what is refuted.
        for move, role in enumerate(self.role_of):
            denied = of_role[role]
            for refuted, where in refuting.items():
                denied |= where if needed[move] & refuted else 0
            cases.true[move0 + move] = cases.every & ~denied
        for case, move in enumerate(adding):
            cases.true[move0 + move] |= 1 << case
            cases.false[move0 + move] = cases.every & ~(1 << case)
        for fluent, where in at.items():
            cases.set(1 + fluent, where)
        return cases
