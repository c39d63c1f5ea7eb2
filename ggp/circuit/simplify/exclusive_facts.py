"""Exclusive facts: groups of which at most one holds, proved by induction.

One piece per cell, one player in control, one step: rules seldom say so, yet all simplification gains from
it. Groups are guessed from terms that differ in one place, guesses that random play contradicts are dropped,
and the rest is proved on the circuit: the initial state satisfies them, and if they all hold and every role
moves legally, no two members of a group hold next. A group that cannot be proved is dropped, and every proof
that relied on it is made again, so what remains is inductive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations
from random import Random
from time import thread_time
from typing import NamedTuple, TypeAlias

from gdl.terms import Compound, Term
from ggp.circuit.circuit import Circuit, Phase, phase_gates
from ggp.circuit.simplify.implications import Context, Implications

Group: TypeAlias = tuple[int, ...]
"""Indices of fluents."""
Kind: TypeAlias = tuple[str | int, ...]
"""Name and arity, and the argument in which the members of a group differ, if it is only one."""
SAMPLED_STEPS = 60
SAMPLED_GAMES = 128
PARTS = 8
"""Orders of preference in which moves are drawn."""
FAMILY_SHARE = 0.5
"""Share of the remaining time that the groups of one kind may take."""
CASE_DEPTH = 4
"""How many ORs in a row a proof may split into cases."""
VALUE_DEPTH = 3
"""How many gates deep a proof looks to find a gate's value."""
MAX_PLACES = 64
"""Facts with more arguments are guessed by name only: the time is quadratic in the arguments."""
CASE_LIMIT = 400
"""Cases that the proof of one pair may look at."""


def find_exclusive_facts(circuit: Circuit, deadline: float) -> Circuit:
    """`circuit` with the groups of exclusive facts that are proved before `deadline`."""
    start = thread_time()
    guesses = _guess(circuit.terms.fluents)
    candidates = _uncontradicted(circuit, list(guesses), start + (deadline - start) / 3)
    proved = list(circuit.exclusive)
    unproved: list[Group] = []
    for family in _families(guesses, candidates):
        now = thread_time()
        found = _prove(circuit, proved, family, now + FAMILY_SHARE * (deadline - now))
        proved += found
        unproved += [group for group in family if group not in found]
    if unproved and len(unproved) < len(candidates):
        proved += _prove(circuit, proved, unproved, deadline)
    return replace(circuit, exclusive=tuple(_without_subsets(proved)))


def _guess(fluents: Sequence[Term]) -> dict[Group, Kind]:
    """Groups of terms that differ in one place. In one argument, in all arguments, or only in the name."""
    groups: dict[tuple[Kind, tuple[Term, ...]], list[int]] = {}
    for fluent, term in enumerate(fluents):
        if not isinstance(term, Compound):
            continue
        arguments = term.arguments
        size = len(arguments)
        groups.setdefault(((term.name, size), ()), []).append(fluent)
        groups.setdefault((("", size), arguments), []).append(fluent)
        for place in range(size if 1 < size <= MAX_PLACES else 0):
            rest = arguments[:place] + arguments[place + 1 :]
            groups.setdefault(((term.name, size, place), rest), []).append(fluent)
    return {tuple(group): kind for (kind, _), group in groups.items() if len(group) > 1}


def _uncontradicted(circuit: Circuit, groups: list[Group], deadline: float) -> list[Group]:
    """The groups of which no sampled state holds two members."""
    sampler = Sampler(circuit, SAMPLED_GAMES, seed=1)
    for step, sample in enumerate(sampler.steps()):
        groups = [group for group in groups if not _overlap(sample.rows, group)]
        if step >= SAMPLED_STEPS or not groups or (step > 4 and thread_time() > deadline):
            break
    return _without_subsets(groups)


def _overlap(rows: Sequence[int], group: Group) -> int:
    """The games in which two or more members hold."""
    once = twice = 0
    for fluent in group:
        row = rows[1 + fluent]
        twice |= once & row
        once |= row
    return twice


def _without_subsets(groups: Sequence[Group]) -> list[Group]:
    """The groups that are not part of another."""
    kept: list[Group] = []
    holding: dict[int, list[set[int]]] = {}
    for group in sorted(set(groups), key=len, reverse=True):
        members = set(group)
        if any(members <= other for other in holding.get(group[0], ())):
            continue
        kept.append(group)
        for fluent in group:
            holding.setdefault(fluent, []).append(members)
    return kept


def _families(guesses: Mapping[Group, Kind], groups: Sequence[Group]) -> list[list[Group]]:
    """The groups by kind, the kind with the fewest pairs to prove first."""
    families: dict[Kind, list[Group]] = {}
    for group in groups:
        families.setdefault(guesses[group], []).append(group)
    return sorted(families.values(), key=lambda family: sum(len(group) ** 2 for group in family))


def _prove(
    circuit: Circuit, proved: Sequence[Group], groups: Sequence[Group], deadline: float
) -> list[Group]:
    """Those of `groups` that are inductive, given the `proved` ones. An empty list if time runs out."""
    alive = [group for group in groups if sum(circuit.initial[fluent] for fluent in group) < 2]
    relied: dict[Group, set[Group]] = {}
    while True:
        waiting = [group for group in alive if group not in relied]
        if not waiting:
            return alive
        prover = _Prover(replace(circuit, exclusive=(*proved, *alive)), deadline)
        failed = set()
        for group in waiting:
            if not prover.preserves(group):
                failed.add(group)
            else:
                relied[group] = {prover.groups[index] for index in prover.implications.used if index >= 0}
        if thread_time() > deadline:
            return []
        alive = [group for group in alive if group not in failed]
        relied = {group: used for group, used in relied.items() if failed.isdisjoint(used)}


class _Prover:
    """Refutes sets of literals under the groups of a circuit, legal moves and "not terminal"."""

    def __init__(self, circuit: Circuit, deadline: float) -> None:
        self.circuit = circuit
        self.deadline = deadline
        self.groups = circuit.exclusive
        self.gate0 = circuit.gate0
        self.implications = Implications(circuit)
        self.running = Context(self.implications)
        self.running.add(self.implications.closure(circuit.terminal ^ 1))
        self.cases_left = 0

    def preserves(self, group: Group) -> bool:
        """Whether no two members of `group` hold next. `implications.used` then holds what that relies on."""
        self.implications.used.clear()
        following = self.circuit.next
        for first, second in combinations(group, 2):
            if thread_time() > self.deadline:
                return False
            self.cases_left = CASE_LIMIT
            if not self.refutes((following[first], following[second]), self.running, CASE_DEPTH):
                return False
        return True

    def refutes(self, literals: Sequence[int], outer: Context, depth: int) -> bool:
        """Whether `literals` cannot all hold. False also if the search for a proof gives up."""
        self.cases_left -= 1
        context = Context(self.implications, outer)
        for literal in literals:
            context.add(self.implications.closure(literal))
        options = self._propagate(context)
        if not context.consistent:
            return True
        if options is None or not depth:
            return False
        return all(self.cases_left >= 0 and self.refutes((x,), context, depth - 1) for x in options)

    def _propagate(self, context: Context) -> list[int] | None:
        """Follow ORs with a single option until none is left. Then return the options of the narrowest."""
        closure = self.implications.closure
        narrowest: list[int] | None = None
        settled: set[int] = set()
        changed = True
        while changed and context.consistent:
            changed = context.add_last_moves()
            narrowest = None
            for literal in sorted(x for x in context.known if x & 1 and x >> 1 >= self.gate0):
                if literal in settled or literal in self.running.known:
                    continue
                inputs = self.circuit.gates[(literal >> 1) - self.gate0]
                values = {x: context.value(x, VALUE_DEPTH) for x in inputs}
                options = [x ^ 1 for x, known in values.items() if known is None]
                if False in values.values():
                    settled.add(literal)
                elif not options:
                    context.consistent = False
                    return None
                elif len(options) == 1:
                    context.add(closure(options[0]))
                    settled.add(literal)
                    changed = True
                elif narrowest is None or len(options) < len(narrowest):
                    narrowest = options
        return narrowest


class Sample(NamedTuple):
    """Rows of one step.

    rows      rows[node] has bit i set if the node is true in game i
    running   bit i set if game i is not over and every role had a move; only in these games are the rows
              of NEXT and SEES gates meaningful
    """

    rows: list[int]
    running: int


class Sampler:
    """Plays `width` games of a circuit side by side, one bit of Python integers per game.

    Slow compared with `ggp.lanes.engine`, but needs no compilation. Moves are drawn in a random order of
    preference, which reaches varied states, though not uniformly.
    """

    def __init__(self, circuit: Circuit, width: int, seed: int) -> None:
        self.circuit = circuit
        self.width = width
        self.mask = (1 << width) - 1
        self.random = Random(seed)
        self.order = phase_gates(circuit)

    def steps(self) -> Iterator[Sample]:
        """Yield one sample per step, forever; games that are over start again."""
        circuit, mask = self.circuit, self.mask
        start = [mask if holds else 0 for holds in circuit.initial]
        state = start
        while True:
            rows = [mask, *state] + [0] * (circuit.gate0 - 1 - len(state) + len(circuit.gates))
            self._settle(rows, Phase.LEGAL)
            self._settle(rows, Phase.GOAL)
            running = self._choose(rows) & ~self._value(rows, circuit.terminal)
            self._settle(rows, Phase.NEXT)
            self._settle(rows, Phase.SEES)
            yield Sample(rows, running)
            following = [self._value(rows, literal) for literal in circuit.next]
            pairs = zip(following, start, strict=True)
            state = [(new & running) | (first & ~running) for new, first in pairs]

    def _settle(self, rows: list[int], phase: Phase) -> None:
        gate0, gates, mask = self.circuit.gate0, self.circuit.gates, self.mask
        for gate in self.order[phase].tolist():
            row = mask
            for x in gates[gate]:
                row &= ~rows[x >> 1] if x & 1 else rows[x >> 1]
            rows[gate0 + gate] = row

    def _value(self, rows: Sequence[int], literal: int) -> int:
        return self.mask & (~rows[literal >> 1] if literal & 1 else rows[literal >> 1])

    def _choose(self, rows: list[int]) -> int:
        """Select a legal move per role and game. Returns the games in which every role had one."""
        circuit, first = self.circuit, self.circuit.first_move
        everyone = self.mask
        parts = self._random_parts()
        for role in range(len(circuit.terms.roles)):
            legal = [
                (move, row)
                for move in range(first[role], first[role + 1])
                if (row := self._value(rows, circuit.legal[move]))
            ]
            self.random.shuffle(legal)
            for part in parts:
                begin = self.random.randrange(len(legal)) if legal else 0
                everyone &= ~self._select_first(rows, chain(legal[begin:], legal[:begin]), part)
        return everyone

    def _select_first(self, rows: list[int], legal: Iterable[tuple[int, int]], undecided: int) -> int:
        """Select in each undecided game its first legal move. Returns the games that have none."""
        for move, row in legal:
            chosen = row & undecided
            if chosen:
                rows[self.circuit.move0 + move] |= chosen
                undecided ^= chosen
                if not undecided:
                    break
        return undecided

    def _random_parts(self) -> list[int]:
        """The games, distributed at random over parts that share an order of preference."""
        parts = [0] * PARTS
        for game in range(self.width):
            parts[self.random.randrange(PARTS)] |= 1 << game
        return parts
