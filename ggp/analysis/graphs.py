"""Graphs for display: predicate dependencies of a rule sheet, and small circuits.

An edge points from what is read to what reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from gdl.dependencies import DISTINCT, Dependencies
from gdl.program import Predicate, Program, Rule, literals_in
from ggp.circuit.circuit import Circuit

NODE_LIMIT = 400
"""Nodes of the largest graph that is drawn."""

_OUTPUTS = {"legal", "next", "goal", "terminal", "sees", "init", "role", "base", "input"}
_INPUTS = {"true": "fact", "does": "move"}


class DrawingError(Exception):
    """The graph is too large to be readable as a picture."""


class Node(NamedTuple):
    """A labeled node. kind: "fact", "move", "gate", "output" or "keyword"; it decides the fill color."""

    label: str
    kind: str


class Edge(NamedTuple):
    """From what is read to what reads it. Negated edges are drawn dashed with a hollow end."""

    source: int
    target: int
    is_negated: bool


@dataclass(frozen=True)
class Graph:
    """Nodes, and edges between their places in `nodes`."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def rule_graph(program: Program) -> Graph:
    """The predicate dependency graph of a rule sheet.

    >>> from gdl import parse
    >>> rule_graph(parse("(role x) (<= (goal x 100) (not open)) (<= open (true o))")).edges
    (Edge(source=2, target=1, is_negated=True), Edge(source=3, target=2, is_negated=False))
    """
    predicates = Dependencies(program).predicates
    place = {predicate: index for index, predicate in enumerate(predicates)}
    negated: dict[tuple[int, int], bool] = {}
    for predicate, rules in program.by_predicate.items():
        for mentioned, is_positive in _mentions(rules):
            key = (place[mentioned], place[predicate])
            negated[key] = negated.get(key, False) or not is_positive
    nodes = tuple(
        Node(str(p), "keyword" if p.name in _OUTPUTS else _INPUTS.get(p.name, "gate")) for p in predicates
    )
    return Graph(nodes, tuple(Edge(*key, sign) for key, sign in negated.items()))


def _mentions(rules: tuple[Rule, ...]) -> Iterator[tuple[Predicate, bool]]:
    """The predicates in the bodies of `rules` with their signs, `distinct` left out."""
    for rule in rules:
        for formula in rule.body:
            for literal, is_positive in literals_in(formula):
                if literal.predicate != DISTINCT:
                    yield literal.predicate, is_positive


def circuit_graph(circuit: Circuit) -> Graph:
    """Facts, moves, gates and outputs of a circuit.

    A gate that is only read negated is shown as the OR it stands for. Raises DrawingError beyond
    NODE_LIMIT nodes.
    """
    outputs = _outputs(circuit)
    if len(circuit.gates) + len(outputs) > NODE_LIMIT:
        sizes = f"{len(circuit.gates)} gates and {len(outputs)} outputs"
        raise DrawingError(f"{sizes} are too many to draw; the limit is {NODE_LIMIT}")
    graph = _CircuitNodes(circuit, [x for _, x in outputs])
    edges = []
    for gate, inputs in enumerate(circuit.gates):
        for x in inputs:
            target = graph.place_of(circuit.gate0 + gate)
            edges.append(Edge(graph.place_of(x >> 1), target, graph.is_inverted(x) != graph.is_or[gate]))
    for label, x in outputs:
        graph.nodes.append(Node(label, "output"))
        target = len(graph.nodes) - 1
        edges.append(Edge(graph.place_of(x >> 1), target, graph.is_inverted(x)))
    require_drawable(len(graph.nodes))
    return Graph(tuple(graph.nodes), tuple(edges))


def require_drawable(nodes: int) -> None:
    """Raise DrawingError beyond NODE_LIMIT nodes."""
    if nodes > NODE_LIMIT:
        raise DrawingError(f"{nodes} nodes are too many to draw; the limit is {NODE_LIMIT}")


class _CircuitNodes:
    """The nodes of a circuit's graph, numbered as they are asked for.

    is_or   per gate: whether it is only read negated, and so shown as an OR
    """

    def __init__(self, circuit: Circuit, output_literals: list[int]) -> None:
        literals = [*output_literals, *(x for inputs in circuit.gates for x in inputs)]
        plain = {x >> 1 for x in literals if not x & 1}
        self.is_or = [circuit.gate0 + gate not in plain for gate in range(len(circuit.gates))]
        self.nodes: list[Node] = []
        self._circuit = circuit
        self._place: dict[int, int] = {}
        self._names = ["true", *map(str, circuit.terms.fluents)]
        for role, moves in zip(circuit.terms.roles, circuit.terms.moves, strict=True):
            self._names += [f"{role}: {move}" for move in moves]

    def place_of(self, node: int) -> int:
        """The place of a circuit node in `nodes`, where it is added if new."""
        if node not in self._place:
            self._place[node] = len(self.nodes)
            gate, move = node - self._circuit.gate0, node - self._circuit.move0
            kind = "gate" if gate >= 0 else "move" if move >= 0 else "fact"
            self.nodes.append(Node(("and", "or")[self.is_or[gate]] if gate >= 0 else self._names[node], kind))
        return self._place[node]

    def is_inverted(self, literal: int) -> bool:
        """Whether an edge for `literal` is drawn negated, given how its source is drawn."""
        node, gate0 = literal >> 1, self._circuit.gate0
        is_turned = node >= gate0 and self.is_or[node - gate0]
        return bool(literal & 1) != is_turned


def _outputs(circuit: Circuit) -> list[tuple[str, int]]:
    """Label and literal of every output."""
    terms = circuit.terms
    found = [("terminal", circuit.terminal)]
    moves = (f"{role} {move}" for role, own in zip(terms.roles, terms.moves, strict=True) for move in own)
    found += [(f"legal {move}", literal) for move, literal in zip(moves, circuit.legal, strict=True)]
    found += [(f"goal {terms.roles[goal.role]} {goal.value}", goal.literal) for goal in circuit.goals]
    found += [(f"next {fluent}", x) for fluent, x in zip(terms.fluents, circuit.next, strict=True)]
    percepts = zip(circuit.percepts, terms.percepts, strict=True)
    return found + [(f"sees {terms.roles[each.role]} {term}", each.literal) for each, term in percepts]
