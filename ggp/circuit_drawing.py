"""Pictures (SVG) of which predicate depends on which, and of circuits small enough to be looked at.

Graphviz lays graphs out best, so its `dot` is used where it is installed; it gets a limited time, since
a few hundred nodes can take it minutes. Otherwise, and when time is up, a simple layered layout (Sugiyama,
Tagawa and Toda, 1981) does: longest-path layers, and a few sweeps that put nodes near their neighbors.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from gdl.dependencies import DISTINCT, Dependencies
from gdl.program import Program, literals_in
from ggp.circuit import Circuit

NODE_LIMIT = 400
"""Nodes of the largest graph that is drawn."""
DOT_SECONDS = 10.0
SWEEPS = 6
LAYER_GAP = 90
ROW_HEIGHT = 28
CHARACTER_WIDTH = 7.2
COLORS = {"fact": "#dbeafe", "move": "#fef3c7", "gate": "#f3f4f6", "output": "#dcfce7", "keyword": "#dcfce7"}


class DrawingError(Exception):
    """The graph is too large to be looked at."""


class Node(NamedTuple):
    """`kind` is a key of COLORS and decides the fill."""

    label: str
    kind: str


class Edge(NamedTuple):
    """From what is read to what reads it; negated ones are drawn dashed with a hollow end."""

    source: int
    target: int
    is_negated: bool


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def rule_graph(program: Program) -> Graph:
    """Predicates, with an edge from each predicate to those whose rules mention it."""
    dependencies = Dependencies(program)
    predicates = dependencies.predicates
    place = {predicate: index for index, predicate in enumerate(predicates)}
    negated: dict[tuple[int, int], bool] = {}
    for predicate, rules in program.by_predicate.items():
        for rule in rules:
            for formula in rule.body:
                for literal, is_positive in literals_in(formula):
                    if literal.predicate != DISTINCT:
                        key = (place[literal.predicate], place[predicate])
                        negated[key] = negated.get(key, False) or not is_positive
    nodes = tuple(
        Node(str(p), "keyword" if p.name in _OUTPUTS else _INPUTS.get(p.name, "gate")) for p in predicates
    )
    return Graph(nodes, tuple(Edge(*key, sign) for key, sign in negated.items()))


_OUTPUTS = {"legal", "next", "goal", "terminal", "sees", "init", "role", "base", "input"}
_INPUTS = {"true": "fact", "does": "move"}


def circuit_graph(circuit: Circuit) -> Graph:
    """Facts, moves, gates and outputs. A gate that is only read negated is drawn as the OR that it means.

    Raises DrawingError beyond NODE_LIMIT nodes.
    """
    outputs = _outputs(circuit)
    if len(circuit.gates) + len(outputs) > NODE_LIMIT:
        raise DrawingError(
            f"{len(circuit.gates)} gates and {len(outputs)} outputs are too many to draw; "
            f"the limit is {NODE_LIMIT}"
        )
    reads = [(gate, x) for gate, inputs in enumerate(circuit.gates) for x in inputs]
    plain = {x >> 1 for _, x in reads if not x & 1} | {x >> 1 for _, x in outputs if not x & 1}
    is_or = [circuit.gate0 + gate not in plain for gate in range(len(circuit.gates))]
    names = ["true", *map(str, circuit.terms.fluents)]
    for role, moves in zip(circuit.terms.roles, circuit.terms.moves, strict=True):
        names += [f"{role}: {move}" for move in moves]
    nodes: list[Node] = []
    place: dict[int, int] = {}

    def node_of(node: int) -> int:
        if node not in place:
            place[node] = len(nodes)
            if node < circuit.gate0:
                nodes.append(Node(names[node], "fact" if node < circuit.move0 else "move"))
            else:
                nodes.append(Node("or" if is_or[node - circuit.gate0] else "and", "gate"))
        return place[node]

    def is_inverted(literal: int) -> bool:
        node = literal >> 1
        turned = node >= circuit.gate0 and is_or[node - circuit.gate0]
        return bool(literal & 1) != turned

    edges = []
    for gate, x in reads:
        target = node_of(circuit.gate0 + gate)
        edges.append(Edge(node_of(x >> 1), target, is_inverted(x) != is_or[gate]))
    for label, x in outputs:
        nodes.append(Node(label, "output"))
        target = len(nodes) - 1
        edges.append(Edge(node_of(x >> 1), target, is_inverted(x)))
    if len(nodes) > NODE_LIMIT:
        raise DrawingError(f"{len(nodes)} nodes are too many to draw; the limit is {NODE_LIMIT}")
    return Graph(tuple(nodes), tuple(edges))


def _outputs(circuit: Circuit) -> list[tuple[str, int]]:
    terms = circuit.terms
    found = [("terminal", circuit.terminal)]
    moves = [(role, move) for role, of_role in zip(terms.roles, terms.moves, strict=True) for move in of_role]
    for (role, move), literal in zip(moves, circuit.legal, strict=True):
        found.append((f"legal {role} {move}", literal))
    found += [(f"goal {terms.roles[goal.role]} {goal.value}", goal.literal) for goal in circuit.goals]
    found += [(f"next {fluent}", x) for fluent, x in zip(terms.fluents, circuit.next, strict=True)]
    for percept, term in zip(circuit.percepts, terms.percepts, strict=True):
        found.append((f"sees {terms.roles[percept.role]} {term}", percept.literal))
    return found


def to_dot(graph: Graph) -> str:
    """`graph` in the DOT language."""
    lines = ["digraph {", "rankdir=LR; node [shape=box, style=filled, fontname=monospace, fontsize=11];"]
    for index, node in enumerate(graph.nodes):
        lines.append(f"n{index} [label={_dot_text(node.label)}, fillcolor={_dot_text(COLORS[node.kind])}];")
    for edge in graph.edges:
        style = " [style=dashed, arrowhead=odot]" if edge.is_negated else ""
        lines.append(f"n{edge.source} -> n{edge.target}{style};")
    return "\n".join([*lines, "}"]) + "\n"


def _dot_text(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def to_svg(graph: Graph, *, seconds: float = DOT_SECONDS, dot: str | None = None) -> str:
    """`graph` as an SVG document.

    seconds   what graphviz may take; with 0 it is not asked
    dot       the graphviz program; found on the path where None

    Raises DrawingError beyond NODE_LIMIT nodes.
    """
    if len(graph.nodes) > NODE_LIMIT:
        raise DrawingError(f"{len(graph.nodes)} nodes are too many to draw; the limit is {NODE_LIMIT}")
    program = dot or shutil.which("dot")
    if program and seconds > 0:
        try:
            done = subprocess.run(
                [program, "-Tsvg"], input=to_dot(graph), capture_output=True, text=True, timeout=seconds
            )
        except (subprocess.TimeoutExpired, OSError):
            pass
        else:
            if done.returncode == 0 and "<svg" in done.stdout:
                return done.stdout
    return _layered_svg(graph)


def _layered_svg(graph: Graph) -> str:
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
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="11">\n'
        '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def _layers(graph: Graph) -> list[int]:
    """A column per node: one past the furthest of what it reads; edges that close a cycle are ignored."""
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
    """Sort every column by where its neighbors stand, back and forth."""
    neighbors: dict[int, list[int]] = {}
    for edge in graph.edges:
        neighbors.setdefault(edge.source, []).append(edge.target)
        neighbors.setdefault(edge.target, []).append(edge.source)
    place: dict[int, float] = {}

    def settle(column: Sequence[int]) -> None:
        place.update({node: (row + 0.5) / len(column) for row, node in enumerate(column)})

    for column in columns:
        settle(column)
    for sweep in range(SWEEPS):
        for column in columns if sweep % 2 else reversed(columns):
            column.sort(key=lambda node: _mean([place[x] for x in neighbors.get(node, ())], place[node]))
            settle(column)


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


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
        f'fill={quoteattr(COLORS[node.kind])} stroke="#9ca3af"/>'
        f'<text x="{left + 8:.1f}" y="{top + ROW_HEIGHT / 2 + 4:.1f}">{escape(node.label)}</text></g>'
    )
