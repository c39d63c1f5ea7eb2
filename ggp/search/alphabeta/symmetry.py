"""Symmetries of the rules: renamings of facts and moves that leave a game unchanged.

The circuit as the rules spell it out is a graph: facts, moves and gates, joined by inputs, and each fact to
its `next`, each move to its `legal`. An automorphism of that graph which keeps roles, `terminal`, every goal
and the initial state takes reachable states to reachable states of the same value. Candidates are found by
color refinement with individualization, as in McKay, "Practical graph isomorphism" (1981); each is then
checked gate by gate, so that every symmetry in use is proved.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gdl.grounding import ground
from ggp.circuit.circuit import Circuit
from ggp.circuit.construction import build

if TYPE_CHECKING:
    from ggp.engines.compiled import CompiledGame

Colors: TypeAlias = NDArray[np.uint64]
Permutation: TypeAlias = NDArray[np.int64]

MOST_SYMMETRIES = 8
MOST_INPUTS = 100_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_SHIFT = np.uint64(29)


def fluent_symmetries(game: CompiledGame, *, seconds: float = 2.0) -> NDArray[np.int32]:
    """Symmetries of `game` as int32[V, F], the identity first: fact f of image v is fact [v, f] of a state.

    Not necessarily all there are: at most MOST_SYMMETRIES, found within about `seconds`; only the identity
    where the circuit is larger than MOST_INPUTS.
    """
    fluents = game.terms.fluents
    images = [np.arange(len(fluents), dtype=np.int32)]
    circuit = build(ground(game.program))
    if circuit.literal_count <= MOST_INPUTS:
        place = {term: f for f, term in enumerate(fluents)}
        for permutation in automorphisms(circuit, time.monotonic() + seconds):
            image = [
                place.get(circuit.terms.fluents[permutation[1 + f] - 1], -1)
                for f, term in enumerate(circuit.terms.fluents)
                if term in place
            ]
            if min(image, default=0) >= 0:
                images.append(np.array(image, np.int32))
    return np.stack(images)


def automorphisms(circuit: Circuit, deadline: float) -> list[Permutation]:
    """Automorphisms of `circuit` other than the identity, as permutations of nodes, each proved."""
    graph = _Graph(circuit)
    colors = graph.refine(graph.colors, deadline)
    found: list[Permutation] = []
    seen = {np.arange(graph.size).tobytes()}
    for node, image in _first_pairs(graph, colors):
        if len(found) + 1 >= MOST_SYMMETRIES or time.monotonic() > deadline:
            break
        for permutation in graph.extend(colors, colors, [(node, image)], deadline):
            if permutation.tobytes() not in seen and graph.is_automorphism(permutation):
                seen.add(permutation.tobytes())
                found.append(permutation)
                if len(found) + 1 >= MOST_SYMMETRIES:
                    break
    return found


def _first_pairs(graph: _Graph, colors: Colors) -> Iterator[tuple[int, int]]:
    """Pairs of a fact of the smallest class of indistinguishable facts with each of its class, itself last.

    Itself too, for symmetries that leave it where it is.
    """
    cell = graph.smallest_cell(colors)
    if cell is not None:
        for image in (*cell[1:], cell[0]):
            yield int(cell[0]), int(image)


class _Graph:
    """A circuit as a colored graph; edges go from input to gate, from `next` and `legal` to fact and move."""

    def __init__(self, circuit: Circuit) -> None:
        self.circuit = circuit
        self.size = circuit.gate0 + len(circuit.gates)
        edges: list[tuple[int, int, int]] = []
        for gate, inputs in enumerate(circuit.gates):
            edges += [(literal >> 1, circuit.gate0 + gate, literal & 1) for literal in inputs]
        edges += [(literal >> 1, 1 + f, 2 + (literal & 1)) for f, literal in enumerate(circuit.next)]
        edges += [(x >> 1, circuit.move0 + m, 4 + (x & 1)) for m, x in enumerate(circuit.legal)]
        table = np.array(edges, np.int64).reshape(-1, 3)
        self._ways = [self._sorted(table[:, [0, 1, 2]]), self._sorted(table[:, [1, 0, 2]], 16)]
        self.colors = self._first_colors()

    def _sorted(self, table: NDArray[np.int64], offset: int = 0) -> tuple[NDArray[np.int64], ...]:
        """Edges by where they lead: sources, labels, where each target's edges begin, the targets."""
        order = np.argsort(table[:, 1], kind="stable")
        targets, starts = np.unique(table[order, 1], return_index=True)
        return table[order, 0], table[order, 2] + offset, starts, targets

    def _first_colors(self) -> Colors:
        circuit = self.circuit
        kinds: list[tuple[object, ...]] = [("true",)]
        kinds += [("fluent", initial) for initial in circuit.initial]
        kinds += [("move", role) for role, moves in enumerate(circuit.terms.moves) for _ in moves]
        kinds += [("gate",)] * len(circuit.gates)
        outputs: dict[int, list[object]] = {}
        outputs.setdefault(circuit.terminal >> 1, []).append(("terminal", circuit.terminal & 1))
        for goal in circuit.goals:
            outputs.setdefault(goal.literal >> 1, []).append(
                ("goal", goal.role, goal.value, goal.literal & 1)
            )
        for percept in range(len(circuit.percepts)):
            literal = circuit.percepts[percept].literal
            outputs.setdefault(literal >> 1, []).append(("sees", percept, literal & 1))
        full = [(kind, tuple(map(repr, outputs.get(node, ())))) for node, kind in enumerate(kinds)]
        number = {kind: place for place, kind in enumerate(sorted(set(full), key=repr))}
        return _mixed(np.array([number[kind] for kind in full], np.uint64) + np.uint64(1))

    def refine(self, colors: Colors, deadline: float) -> Colors:
        """Colors told apart by the colors around them, until no class splits any more."""
        classes = len(np.unique(colors))
        while time.monotonic() < deadline:
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
        self, left: Colors, right: Colors, pairs: Sequence[tuple[int, int]], deadline: float
    ) -> Iterator[Permutation]:
        """Permutations that take colors `left` to `right` and each pair's first node to its second."""
        for node, image in pairs:
            if time.monotonic() > deadline:
                return
            ours, theirs = left.copy(), right.copy()
            ours[node] = theirs[image] = _mixed(ours[node : node + 1] + _FACTOR)[0]
            ours, theirs = self.refine(ours, deadline), self.refine(theirs, deadline)
            if not np.array_equal(np.sort(ours), np.sort(theirs)):
                continue
            cell = self.smallest_cell(ours)
            if cell is None:
                yield _matching(ours, theirs)
                continue
            images = np.flatnonzero(theirs == ours[cell[0]])
            yield from self.extend(ours, theirs, [(int(cell[0]), int(each)) for each in images], deadline)

    def is_automorphism(self, permutation: Permutation) -> bool:
        """Whether `permutation` (node → node) maps the circuit to itself; gates are matched again."""
        circuit = self.circuit
        fluents, moves = circuit.fluent_count, circuit.first_move
        inputs = permutation[: circuit.gate0]
        if inputs[0] != 0 or not _stays_within(inputs[1 : 1 + fluents], 1, 1 + fluents):
            return False
        for first, end in pairwise(moves):
            low, high = circuit.move0 + first, circuit.move0 + end
            if not _stays_within(inputs[low:high], low, high):
                return False
        image = list(map(int, inputs))
        gate_of = {gate: circuit.gate0 + place for place, gate in enumerate(circuit.gates)}
        for gate in circuit.gates:
            found = gate_of.get(tuple(sorted(2 * image[x >> 1] | x & 1 for x in gate)))
            if found is None:
                return False
            image.append(found)

        def moved(literal: int) -> int:
            return 2 * image[literal >> 1] | literal & 1

        return (
            all(circuit.next[image[1 + f] - 1] == moved(x) for f, x in enumerate(circuit.next))
            and all(circuit.initial[image[1 + f] - 1] == x for f, x in enumerate(circuit.initial))
            and all(
                circuit.legal[image[circuit.move0 + m] - circuit.move0] == moved(x)
                for m, x in enumerate(circuit.legal)
            )
            and moved(circuit.terminal) == circuit.terminal
            and all(moved(goal.literal) == goal.literal for goal in circuit.goals)
        )


def _matching(left: Colors, right: Colors) -> Permutation:
    """The node → node map that joins equal colors (in any order where several nodes share one)."""
    permutation = np.empty(len(left), np.int64)
    permutation[np.argsort(left, kind="stable")] = np.argsort(right, kind="stable")
    return permutation


def _stays_within(images: Permutation, low: int, high: int) -> bool:
    return sorted(images.tolist()) == list(range(low, high))


def _mixed(values: Colors) -> Colors:
    """A well-mixed function of each value (multiply and shift, wrapping around)."""
    values = (values ^ (values >> _SHIFT)) * _MIX
    values = (values ^ (values >> _SHIFT)) * _FACTOR
    mixed: Colors = values ^ (values >> _SHIFT)
    return mixed
