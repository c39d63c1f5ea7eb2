"""A graph as an SVG picture, in layers.

The layout is the simple one of Sugiyama, Tagawa and Toda (1981): longest-path layers, and a few sweeps that
move nodes close to their neighbors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ggp.analysis.graphs import Edge, Graph, Node, require_drawable
from ggp.analysis.svg import svg_document, svg_text

SWEEPS = 6
LAYER_GAP = 90
ROW_HEIGHT = 28
CHARACTER_WIDTH = 7.2
COLORS = {"fact": "#dbeafe", "move": "#fef3c7", "gate": "#f3f4f6", "output": "#dcfce7", "keyword": "#dcfce7"}


def to_svg(graph: Graph) -> str:
    """`graph` as an SVG document. Raises DrawingError beyond `graphs.NODE_LIMIT` nodes.

    >>> from ggp.analysis.graphs import Edge, Graph, Node
    >>> to_svg(Graph((Node("p/1", "gate"), Node("q/1", "gate")), (Edge(0, 1, False),))).count("<rect")
    3
    """
    require_drawable(len(graph.nodes))
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
