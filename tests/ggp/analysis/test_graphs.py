"""Pictures of graphs are well-formed, show every node, and are refused beyond a size."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse
from ggp.analysis.graphs import (
    NODE_LIMIT,
    DrawingError,
    Edge,
    Graph,
    Node,
    circuit_graph,
    rule_graph,
    to_svg,
)
from ggp.circuit.construction import build

RULES = """
(role r) (init (on 1)) (<= (legal r (flip ?x)) (true (on ?x))) (legal r wait)
(<= (next (on ?x)) (true (on ?x)) (not (does r (flip ?x))))
(<= (path ?x ?y) (link ?x ?y)) (<= (path ?x ?z) (path ?x ?y) (link ?y ?z)) (link 1 2)
(<= terminal (not (true (on 1)))) (<= (goal r 100) terminal) (<= (goal r 0) (not terminal))
"""


def texts(svg: str) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def test_rule_graph_has_negated_and_recursive_edges():
    graph = rule_graph(parse(RULES))
    place = {node.label: index for index, node in enumerate(graph.nodes)}
    assert Edge(place["terminal/0"], place["goal/2"], True) in graph.edges
    assert Edge(place["path/2"], place["path/2"], False) in graph.edges
    assert Edge(place["does/2"], place["next/1"], True) in graph.edges


def test_layered_drawing_shows_every_node():
    graph = rule_graph(parse(RULES))
    assert sorted(texts(to_svg(graph))) == sorted(node.label for node in graph.nodes)


def test_circuit_drawing_names_facts_moves_and_outputs():
    circuit = build(ground(parse(RULES)))
    labels = texts(to_svg(circuit_graph(circuit)))
    assert {"(on 1)", "r: (flip 1)", "terminal", "legal r wait", "next (on 1)", "and"} <= set(labels)


def test_labels_are_escaped():
    graph = Graph((Node('<&"', "gate"), Node("b", "fact")), (Edge(0, 1, True),))
    assert '<&"' in texts(to_svg(graph))


def test_large_graphs_are_refused():
    graph = Graph(tuple(Node(str(i), "gate") for i in range(NODE_LIMIT + 1)), ())
    with pytest.raises(DrawingError, match="too many"):
        to_svg(graph)
