"""Symmetries of the rules: renamings of facts and moves that leave a circuit unchanged.

The circuit as the rules spell it out is a graph: facts, moves and gates, joined by inputs, and each fact to
its `next`, each move to its `legal`. An automorphism of that graph which keeps roles, `terminal`, every goal
and the initial state takes reachable states to reachable states of the same value; one that swaps two roles
and their goals shows each of them the game as the other one sees it. Candidates are found by color refinement
with individualization, as in McKay, "Practical graph isomorphism" (1981); each is then checked gate by gate,
so that every symmetry in use is proved.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import ne
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggp.circuit.circuit import Circuit

Colors: TypeAlias = NDArray[np.uint64]
Permutation: TypeAlias = NDArray[np.int64]

MAX_SYMMETRIES = 8
MAX_INPUTS = 100_000
_MAX_ROUNDS = 2_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


@dataclass
class _Effort:
    """Limits of the search: a deadline (`time.monotonic()`) and a number of rounds of refinement."""

    deadline: float = math.inf
    rounds: float = math.inf

    def is_spent(self) -> bool:
        return self.rounds <= 0 or time.monotonic() > self.deadline


def automorphisms(circuit: Circuit, deadline: float) -> list[Permutation]:
    """Automorphisms of `circuit` other than the identity, as permutations of nodes, each proved."""
    effort = _Effort(deadline)
    graph = _Graph(circuit)
    (first,) = graph.first_colors([tuple(range(len(circuit.terms.moves)))], keeps_initial=True)
    colors = graph.refine(first, effort)
    found: list[Permutation] = []
    seen = {np.arange(graph.size).tobytes()}
    cell = graph.smallest_cell(colors)
    if cell is None:
        return []
    for image in (*cell[1:], cell[0]):  # itself last: it may stay where it is
        if len(found) + 1 >= MAX_SYMMETRIES or effort.is_spent():
            break
        for permutation in graph.extend(colors, colors, [(int(cell[0]), int(image))], effort):
            if permutation.tobytes() not in seen and graph.is_automorphism(permutation):
                seen.add(permutation.tobytes())
                found.append(permutation)
                if len(found) + 1 >= MAX_SYMMETRIES:
                    break
    return found


def role_swap(circuit: Circuit) -> Permutation | None:
    """A permutation of nodes under which two roles change places, proved; None if none is found.

    The initial state need not stay: where roles move in turn, someone begins. The effort is counted, so that
    the answer is the same on every machine. None for games with percepts.
    """
    if len(circuit.terms.moves) != 2 or len(circuit.percepts) or circuit.literal_count > MAX_INPUTS:
        return None
    effort = _Effort(rounds=_MAX_ROUNDS)
    graph = _Graph(circuit, prefers_likeness=True)  # no turn of the board where none is needed
    left, right = graph.first_colors([(0, 1), (1, 0)], keeps_initial=False)
    left, right = graph.refine(left, effort), graph.refine(right, effort)
    if not np.array_equal(np.sort(left), np.sort(right)):
        return None
    cell = graph.smallest_cell(left)
    if cell is None:
        candidates = iter([_matching(left, right)])
    else:
        candidates = graph.extend(left, right, graph.pairs(int(cell[0]), left, right), effort)
    proved = (each for each in candidates if graph.is_automorphism(each, (1, 0), keeps_initial=False))
    return next(proved, None)


class _Graph:
    """A circuit as a colored graph; edges go from input to gate, from `next` and `legal` to fact and move."""

    def __init__(self, circuit: Circuit, *, prefers_likeness: bool = False) -> None:
        self.circuit = circuit
        self.prefers_likeness = prefers_likeness
        self.size = circuit.gate0 + len(circuit.gates)
        edges: list[tuple[int, int, int]] = []
        for gate, inputs in enumerate(circuit.gates):
            edges += [(literal >> 1, circuit.gate0 + gate, literal & 1) for literal in inputs]
        edges += [(x >> 1, 1 + f, 2 + (x & 1)) for f, x in enumerate(circuit.next)]
        edges += [(x >> 1, circuit.move0 + m, 4 + (x & 1)) for m, x in enumerate(circuit.legal)]
        table = np.array(edges, np.int64).reshape(-1, 3)
        self._ways = [self._sorted(table[:, [0, 1, 2]]), self._sorted(table[:, [1, 0, 2]], 16)]

    def _sorted(self, table: NDArray[np.int64], offset: int = 0) -> tuple[NDArray[np.int64], ...]:
        """Edges by where they lead: sources, labels, where each target's edges begin, the targets."""
        order = np.argsort(table[:, 1], kind="stable")
        targets, starts = np.unique(table[order, 1], return_index=True)
        return table[order, 0], table[order, 2] + offset, starts, targets

    def first_colors(self, orders: Sequence[tuple[int, ...]], *, keeps_initial: bool) -> list[Colors]:
        """Colors by what each node is, once for every way to name the roles.

        orders   orders[i][r]: what role r is called in coloring i
        """
        kinds = [self._kinds(order, keeps_initial=keeps_initial) for order in orders]
        number = {kind: place for place, kind in enumerate(sorted(set().union(*kinds), key=repr))}
        return [_mixed(np.array([number[kind] for kind in each], np.uint64) + np.uint64(1)) for each in kinds]

    def _kinds(self, order: tuple[int, ...], *, keeps_initial: bool) -> list[tuple[object, ...]]:
        circuit = self.circuit
        kinds: list[tuple[object, ...]] = [("true",)]
        kinds += [("fluent", keeps_initial and initial) for initial in circuit.initial]
        kinds += [("move", order[role]) for role, moves in enumerate(circuit.terms.moves) for _ in moves]
        kinds += [("gate",)] * len(circuit.gates)
        outputs: dict[int, list[object]] = {}
        outputs.setdefault(circuit.terminal >> 1, []).append(("terminal", circuit.terminal & 1))
        for role, value, literal in sorted(circuit.goals, key=lambda goal: (order[goal.role], goal.value)):
            outputs.setdefault(literal >> 1, []).append(("goal", order[role], value, literal & 1))
        for percept, (_, literal) in enumerate(circuit.percepts):
            outputs.setdefault(literal >> 1, []).append(("sees", percept, literal & 1))
        return [(kind, tuple(map(repr, outputs.get(node, ())))) for node, kind in enumerate(kinds)]

    def refine(self, colors: Colors, effort: _Effort) -> Colors:
        """Split the color classes by the colors of neighbors until the coloring is stable."""
        classes = len(np.unique(colors))
        while not effort.is_spent():
            effort.rounds -= 1
            following = _mixed(colors)
            for sources, labels, starts, targets in self._ways:
                around = _mixed(colors[sources] + _FACTOR * (labels.astype(np.uint64) + np.uint64(1)))
                following[targets] += np.add.reduceat(around, starts) if len(around) else np.uint64(0)
            colors = following
            before, classes = classes, len(np.unique(colors))
            if classes <= before:
                break
        return colors

    def smallest_cell(self, colors: Colors) -> NDArray[np.int64] | None:
        """The facts or moves of the smallest class with more than one of them."""
        inputs = colors[1 : self.circuit.gate0]
        values, inverse, counts = np.unique(inputs, return_inverse=True, return_counts=True)
        if not len(values) or counts.max() < 2:
            return None
        smallest = int(np.argmin(np.where(counts > 1, counts, self.size + 1)))
        return np.flatnonzero(inverse == smallest) + 1

    def extend(
        self, left: Colors, right: Colors, pairs: Sequence[tuple[int, int]], effort: _Effort
    ) -> Iterator[Permutation]:
        """Permutations that take colors `left` to `right` and each pair's first node to its second."""
        for node, image in pairs:
            if effort.is_spent():
                return
            ours, theirs = left.copy(), right.copy()
            ours[node] = theirs[image] = _mixed(ours[node : node + 1] + _FACTOR)[0]
            ours, theirs = self.refine(ours, effort), self.refine(theirs, effort)
            if not np.array_equal(np.sort(ours), np.sort(theirs)):
                continue
            cell = self.smallest_cell(ours)
            if cell is None:
                yield _matching(ours, theirs)
                continue
            yield from self.extend(ours, theirs, self.pairs(int(cell[0]), ours, theirs), effort)

    def pairs(self, node: int, left: Colors, right: Colors) -> list[tuple[int, int]]:
        """A fact or move with all that look the same, by likeness of their text if `prefers_likeness`."""
        images = list(map(int, np.flatnonzero(right == left[node])))
        if self.prefers_likeness:
            own = self._words(node)
            images.sort(key=lambda image: sum(map(ne, own, self._words(image))))
        return [(node, image) for image in images]

    def _words(self, node: int) -> list[str]:
        terms, place = self.circuit.terms, node - 1
        if place < len(terms.fluents):
            return str(terms.fluents[place]).split()
        return str(list(chain.from_iterable(terms.moves))[place - len(terms.fluents)]).split()

    def is_automorphism(
        self, permutation: Permutation, order: Sequence[int] | None = None, *, keeps_initial: bool = True
    ) -> bool:
        """Whether `permutation` (node → node) maps the circuit to itself; gates are matched again.

        order           order[r]: the role that role r becomes; None: all stay
        keeps_initial   the initial state must be mapped to itself
        """
        circuit = self.circuit
        inputs = permutation[: circuit.gate0]
        roles = order or range(len(circuit.terms.moves))
        if inputs[0] != 0 or not self._keeps_inputs(inputs, roles):
            return False
        image = list(map(int, inputs))
        gate_of = {gate: circuit.gate0 + place for place, gate in enumerate(circuit.gates)}
        for gate in circuit.gates:
            found = gate_of.get(tuple(sorted(2 * image[x >> 1] | x & 1 for x in gate)))
            if found is None:
                return False
            image.append(found)
        is_same_start = not keeps_initial or all(
            circuit.initial[image[1 + f] - 1] == x for f, x in enumerate(circuit.initial)
        )
        return is_same_start and self._keeps_outputs(image, roles)

    def _keeps_inputs(self, inputs: Permutation, order: Sequence[int]) -> bool:
        """Whether facts become facts, and the moves of each role the moves of the role that it becomes."""
        circuit = self.circuit
        if not _is_onto(inputs[1 : 1 + circuit.fluent_count], 1, 1 + circuit.fluent_count):
            return False
        first = [circuit.move0 + each for each in circuit.first_move]
        return all(
            _is_onto(inputs[first[role] : first[role + 1]], first[other], first[other + 1])
            for role, other in enumerate(order)
        )

    def _keeps_outputs(self, image: Sequence[int], order: Sequence[int]) -> bool:
        """Whether every `next`, `legal` and goal becomes that of its image, and `terminal` stays."""
        circuit = self.circuit

        def moved(literal: int) -> int:
            return 2 * image[literal >> 1] | literal & 1

        goals, following = set(circuit.goals), [*circuit.next, *circuit.legal]
        return (
            all(following[image[place] - 1] == moved(x) for place, x in enumerate(following, start=1))
            and moved(circuit.terminal) == circuit.terminal
            and {(order[role], value, moved(literal)) for role, value, literal in goals} == goals
        )


def _matching(left: Colors, right: Colors) -> Permutation:
    """The node → node map that joins equal colors (in any order where several nodes share one)."""
    permutation = np.empty(len(left), np.int64)
    permutation[np.argsort(left, kind="stable")] = np.argsort(right, kind="stable")
    return permutation


def _is_onto(images: Permutation, low: int, high: int) -> bool:
    return sorted(images.tolist()) == list(range(low, high))


def _mixed(values: Colors) -> Colors:
    """A well-mixed function of each value (multiply and shift, wrapping around)."""
    values = (values ^ (values >> _SHIFT)) * _MIX
    values = (values ^ (values >> _SHIFT)) * _FACTOR
    mixed: Colors = values ^ (values >> _SHIFT)
    return mixed
