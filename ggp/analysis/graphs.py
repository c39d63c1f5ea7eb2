"""Graphs for display, and their pictures: predicate dependencies of a rule sheet, and small circuits.

An edge points from what is read to what reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from gdl.dependencies import DISTINCT, Dependencies
from gdl.program import Program, literals_in
from ggp.analysis.svg import svg_document, svg_text
from ggp.circuit.circuit import Circuit

NODE_LIMIT = 400
"""Nodes of the largest graph that is drawn."""
SWEEPS = 6
LAYER_GAP = 90
ROW_HEIGHT = 28
CHARACTER_WIDTH = 7.2
COLORS = {"fact": "#dbeafe", "move": "#fef3c7", "gate": "#f3f4f6", "output": "#dcfce7", "keyword": "#dcfce7"}

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
    """The predicate dependency graph of a rule sheet."""
    predicates = Dependencies(program).predicates
    place = {predicate: index for index, predicate in enumerate(predicates)}
    negated: dict[tuple[int, int], bool] = {}
    for predicate, rules in program.by_predicate.items():
        for literal, is_positive in chain(*(literals_in(part) for rule in rules for part in rule.body)):
            if literal.predicate != DISTINCT:
                key = (place[literal.predicate], place[predicate])
                negated[key] = negated.get(key, False) or not is_positive
    nodes = tuple(
        Node(str(p), "keyword" if p.name in _OUTPUTS else _INPUTS.get(p.name, "gate")) for p in predicates
    )
    return Graph(nodes, tuple(Edge(*key, sign) for key, sign in negated.items()))


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
    return Graph(tuple(graph.nodes), tuple(edges))


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


def to_svg(graph: Graph) -> str:
    """`graph` as an SVG document in layers. Raises DrawingError beyond NODE_LIMIT nodes.

    The layout is that of Sugiyama, Tagawa and Toda (1981), simplified: longest-path layers, and a few sweeps
    that move nodes close to their neighbors.
    """
    if len(graph.nodes) > NODE_LIMIT:
        raise DrawingError(f"{len(graph.nodes)} nodes are too many to draw; the limit is {NODE_LIMIT}")
    layers = _layers(graph)
    columns: list[list[int]] = [[] for _ in range(max(layers, default=0) + 1)]
    for node, layer in enumerate(layers):
        columns[layer].append(node)
    _untangle(columns, graph)
    widths = [[len(graph.nodes[node].label) * CHARACTER_WIDTH + 16 for node in column] for column in columns]
    height = max((len(column) for column in columns), default=1) * ROW_HEIGHT + 20
    boxes: dict[int, tuple[float, float, float]] = {}
    left = 10.0
    for column, of_column in zip(columns, widths, strict=True):
        top = (height - len(column) * ROW_HEIGHT) / 2
        for row, (node, width) in enumerate(zip(column, of_column, strict=True)):
            boxes[node] = (left, top + row * ROW_HEIGHT, width)
        left += max(of_column, default=0.0) + LAYER_GAP
    parts = [_edge_svg(edge, boxes) for edge in graph.edges]
    parts += [_node_svg(graph.nodes[node], *box) for node, box in boxes.items()]
    width = left - LAYER_GAP + 10
    return svg_document(width, height, parts, font="monospace")


def _layers(graph: Graph) -> list[int]:
    """The layer of each node: one past the furthest node it reads. Edges that close a cycle are ignored."""
    reads: dict[int, list[int]] = {}
    for edge in graph.edges:
        reads.setdefault(edge.target, []).append(edge.source)
    layer: dict[int, int] = {}
    opened: set[int] = set()
    for start in range(len(graph.nodes)):
        stack = [start]
        while stack:
            node = stack[-1]
            waiting = [x for x in reads.get(node, ()) if x not in layer and x not in opened]
            opened.add(node)
            if waiting:
                stack.extend(waiting)
                continue
            stack.pop()
            layer.setdefault(node, 1 + max((layer[x] for x in reads.get(node, ()) if x in layer), default=-1))
    return [layer[node] for node in range(len(graph.nodes))]


def _untangle(columns: Sequence[list[int]], graph: Graph) -> None:
    """Sort every column by the mean place of its nodes' neighbors, back and forth."""
    neighbors: dict[int, list[int]] = {}
    for edge in graph.edges:
        neighbors.setdefault(edge.source, []).append(edge.target)
        neighbors.setdefault(edge.target, []).append(edge.source)
    place: dict[int, float] = {}

    def settle(column: Sequence[int]) -> None:
        place.update({node: (row + 0.5) / len(column) for row, node in enumerate(column)})

    def mean_place(node: int) -> float:
        places = [place[x] for x in neighbors.get(node, (node,))]
        return sum(places) / len(places)

    for column in columns:
        settle(column)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 else reversed(columns):
            column.sort(key=mean_place)
            settle(column)


def _edge_svg(edge: Edge, boxes: Mapping[int, tuple[float, float, float]]) -> str:
    left, top, width = boxes[edge.source]
    x1, y1 = left + width, top + ROW_HEIGHT / 2
    x2, y2 = boxes[edge.target][0], boxes[edge.target][1] + ROW_HEIGHT / 2
    bend = max(30.0, abs(x2 - x1) / 2)
    path = f"M{x1:.1f},{y1:.1f} C{x1 + bend:.1f},{y1:.1f} {x2 - bend:.1f},{y2:.1f} {x2:.1f},{y2:.1f}"
    if edge.is_negated:
        return (
            f'<path d="{path}" fill="none" stroke="#b91c1c" stroke-dasharray="4 3"/>'
            f'<circle cx="{x2 - 3:.1f}" cy="{y2:.1f}" r="3" fill="white" stroke="#b91c1c"/>'
        )
    return f'<path d="{path}" fill="none" stroke="#6b7280"/>'


def _node_svg(node: Node, left: float, top: float, width: float) -> str:
    return (
        f'<g><rect x="{left:.1f}" y="{top + 3:.1f}" width="{width:.1f}" height="{ROW_HEIGHT - 6}" rx="4" '
        f'fill="{COLORS[node.kind]}" stroke="#9ca3af"/>'
        f"{svg_text(left + 8, top + ROW_HEIGHT / 2 + 4, node.label)}</g>"
    )
