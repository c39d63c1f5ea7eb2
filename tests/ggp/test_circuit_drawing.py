"""Drawings are well-formed, show every node, and give up where they should."""

from __future__ import annotations

import stat
import xml.etree.ElementTree as ElementTree

import pytest

from gdl.grounding import ground
from gdl.parser import parse
from ggp import circuit_drawing
from ggp.circuit_construction import build
from ggp.circuit_drawing import DrawingError, Edge, Graph, Node, circuit_graph, rule_graph, to_dot, to_svg

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
    assert sorted(texts(to_svg(graph, seconds=0))) == sorted(node.label for node in graph.nodes)


def test_circuit_drawing_names_facts_moves_and_outputs():
    circuit = build(ground(parse(RULES)))
    labels = texts(to_svg(circuit_graph(circuit), seconds=0))
    assert {"(on 1)", "r: (flip 1)", "terminal", "legal r wait", "next (on 1)", "and"} <= set(labels)


def test_labels_are_escaped():
    graph = Graph((Node('<&"', "gate"), Node("b", "fact")), (Edge(0, 1, True),))
    assert '<&"' in texts(to_svg(graph, seconds=0))
    assert '\\"' in to_dot(graph)


def test_large_graphs_are_refused():
    graph = Graph(tuple(Node(str(i), "gate") for i in range(circuit_drawing.NODE_LIMIT + 1)), ())
    with pytest.raises(DrawingError, match="too many"):
        to_svg(graph)


def test_slow_or_failing_graphviz_is_replaced(tmp_path):
    graph = Graph((Node("a", "gate"), Node("b", "fact")), (Edge(0, 1, False),))
    for name, body in (("slow", "sleep 5"), ("failing", "exit 1")):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        assert texts(to_svg(graph, seconds=0.2, dot=str(program))) == ["a", "b"]


def test_graphviz_output_is_used(tmp_path):
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\necho '<svg>drawn</svg>'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    graph = Graph((Node("a", "gate"),), ())
    assert to_svg(graph, dot=str(program)) == "<svg>drawn</svg>\n"
