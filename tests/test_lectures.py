"""docs/lectures.md is true: commands and Python print what it shows, and the numbers of the lectures hold.

`python docs/executed.py docs/lectures.md` writes what is printed now into the page.
"""

import sys
from fractions import Fraction
from itertools import product

import pytest

from docs.executed import run_section, sections
from docs.links import ROOT
from ggp.analysis.scale import sheet_scale
from ggp.engines.loading import load
from ggp.explain.searches import explain
from ggp.features.td import td_updates
from ggp.search.tree.reference.tree import rave_weight
from ggp.solver.replies import find_replies, parse_strategy

PAGE = (ROOT / "docs" / "lectures.md").read_text(encoding="utf-8")
SECTIONS = sections(PAGE)
SLOW = {"A learned evaluation", "FAST", "Lookup tables"}
"""Sections that compile kernels."""
EXAMPLES = 30


@pytest.mark.parametrize(
    "title", [pytest.param(each, marks=[pytest.mark.slow] if each in SLOW else []) for each in SECTIONS]
)
def test_section_prints_what_it_shows(title, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    shown = list(run_section(SECTIONS[title], tmp_path))
    sys.modules.pop("chess", None)  # an evaluation of the page, and of other tests
    assert shown
    for each in shown:
        assert each.is_true, f"{each.source}\nshown:\n{each.expected}\nprinted:\n{each.printed}"


def test_every_section_is_in_the_table_of_themes():
    head = PAGE.partition("\n## ")[0]
    assert len(SECTIONS) >= EXAMPLES
    for title in SECTIONS:
        assert f"[{title}](#" in head


@pytest.mark.parametrize(
    "word", ["Negascout", "aspiration", "null window", "PVS", "killer", "quiescence", "MTD"]
)
def test_words_of_the_lectures_are_found(word):
    assert word.lower() in PAGE.lower()


@pytest.mark.parametrize(
    "source",
    [
        *("Finnsson and Björnsson", "Gelly and Silver", "Knuth and Moore", "Kocsis and Szepesvári"),
        *("Samuel", "Tesauro", "von Neumann", "Nash", "Luckhardt and Irani", "Pearl", "Reinefeld", "Sutton"),
    ],
)
def test_sources_are_named(source):
    assert source in PAGE


TREE = "[[3,12,8],[2,4,6],[14,5,2]]"
PAIRS = "[[4,8],[9,5],[2,-1]]"
TUPLES = "[[[(1,2,6),(4,3,2)],[(6,1,2),(7,4,1)]],[[(5,1,1),(1,5,2)],[(7,7,1),(5,4,5)]]]"
DELAY = "[lose_pawn: -1, delay: 0[0[0[-9]]]]"
CAPTURE = "[attack: 0[defend: 0[capture: 9[recapture: -9], retreat: 0[0]]], wait: 1[1[1[1]]]]"
SINGULAR = "[a: 0[m: 0[0[0[0[-9]]]], n: 9], b: -1]"
LATE = "[a: 1, b: 0, c: 0, d: -5[-5[9[9]]]]"


@pytest.mark.parametrize(
    ("tree", "by", "depth", "value", "move"),
    [
        (TREE, "minimax", None, "3", "a"),
        (TREE, "alphabeta", None, "3", "a"),
        (TREE, "pvs", None, "3", "a"),
        (TREE, "aspiration:guess=10", None, "3", "a"),
        (TREE, "aspiration:guess=-10", None, "3", "a"),
        (TREE, "deepening", None, "3", "a"),
        ("[[-50,50],[1,3],[-5,15]]", "minimax", None, "1", "b"),
        ("[[-50,50],[1,3],[-5,15]]", "expectimax", None, "5", "c"),
        ("[1/2: 8, 1/3: 24, 1/6: -12]", "expectimax", None, "10", None),
        ("[[0,40],[20,30]]", "expectimax", None, "25", "b"),
        ("[[0,1600],[400,900]]", "expectimax", None, "800", "a"),
        ("[[0,40],[20,30]]", "minimax", None, "20", "b"),
        ("[[0,1600],[400,900]]", "minimax", None, "400", "b"),
        (TUPLES, "maxn", None, "(1, 2, 6)", "a"),
        (TUPLES, "paranoid", None, "1", "a"),
        (TUPLES, "coalition:roles=1+2", None, "9", "b"),
        ("[5[3,12],7[2,4]]", "alphabeta", 1, "7", "b"),
        ("[5[3,12],7[2,4]]", "alphabeta", None, "3", "a"),
        (DELAY, "alphabeta", 3, "0", "delay"),
        (DELAY, "alphabeta:forced_extension=on", 3, "−1", "lose_pawn"),
        (CAPTURE, "alphabeta", 3, "9", "attack"),
        (CAPTURE, "alphabeta:quiescence=5", 3, "1", "wait"),
        (SINGULAR, "deepening", 5, "0", "a"),
        (SINGULAR, "deepening:singular_extension=on", 5, "−1", "b"),
        (LATE, "alphabeta", 4, "9", "d"),
        (LATE, "alphabeta:late_move_reduction=on", 4, "1", "a"),
        ("[a: 1[1], b: 0[0], c: 9[9]]", "alphabeta", 2, "9", "c"),
        ("[a: 1[1], b: 0[0], c: 9[9]]", "alphabeta:kept_moves=2", 2, "1", "a"),
    ],
)
def test_values_of_the_lectures(tree, by, depth, value, move):
    found = explain(tree, by, depth=depth)
    assert found.value == value
    assert move is None or found.best_line[0] == move


@pytest.mark.parametrize(
    ("tree", "by", "leaves"),
    [
        (TREE, "minimax", 9),
        (TREE, "alphabeta", 7),
        (TREE, "alphabeta:order=best", 5),
        (PAIRS, "minimax", 6),
        (PAIRS, "alphabeta:order=best", 4),
        (PAIRS, "alphabeta:order=worst", 6),
        ("[[[5],[6],[7]],[[9],[8],[1]],[[9],[8],[2]]]", "alphabeta", 9),
        ("[[[5],[6],[7]],[[9],[8],[1]],[[9],[8],[2]]]", "alphabeta:killers=on", 7),
    ],
)
def test_leaves_that_are_visited(tree, by, leaves):
    assert explain(tree, by).counts[1] == leaves


@pytest.mark.parametrize("value", range(0, 101, 7))
def test_null_windows_halve_the_goals(value):
    found = explain(f"[[{value},55,{value}],[0,80,20],[100,0,30]]", "bisection", depth=2)
    windows = next(line for line in found.summary if "windows" in line)
    assert found.value == str(min(value, 55))
    assert 6 <= int(windows.rpartition(", ")[2].split()[0]) <= 7


def on_scale(name, *strategies):
    game = load(name, engine="reasoner")
    found = find_replies(game, [parse_strategy(text, game) for text in strategies])
    return sheet_scale(game.program.source.text).value(found.values[0])


def test_policies_of_the_bucket_game():
    """V(π, π) for a picker by minimax or expectimax, and a drawer by minimax or by a coin."""
    pickers, drawers = {"minimax": "b", "expectimax": "c"}, {"minimax": (), "coin": ("drawer: uniform",)}
    values = {
        (picker, drawer): on_scale("bucket", f"picker: pick {pickers[picker]}", *drawers[drawer])
        for picker, drawer in product(pickers, drawers)
    }
    assert values == {
        ("minimax", "minimax"): 1,
        ("minimax", "coin"): 2,
        ("expectimax", "minimax"): -5,
        ("expectimax", "coin"): 5,
    }


def test_buckets_with_a_coin():
    expected = {"a": Fraction(-55, 2), "b": Fraction(-49, 2), "c": -2}
    assert {bucket: on_scale("bucket_coin", f"picker: pick {bucket}") for bucket in "abc"} == expected


def test_morra():
    half, best = "even: show 1=1/2, show 2=1/2", "even: show 1=7/12, show 2=5/12"
    assert on_scale("morra", half) == Fraction(-1, 2)
    assert on_scale("morra", best) == Fraction(-1, 12)


def test_temporal_differences_update_by_update():
    won = [({"b": 1}, 0), ({"a": 1}, 0), ({"a": 1, "b": 2}, 1), ({"a": 1}, 0)]
    lost = [({"b": 1}, 0), ({"a": 1}, 0), ({}, 0), ({"a": 1}, 0)]
    weights = {"a": 0.0, "b": 0.0}
    after = [(weights["a"], weights["b"]) for _ in td_updates([won, lost], weights, step=0.5)]
    assert after == [(0, 0), (0, 0), (0.5, 1.0), (0.5, 0.75), (0.25, 0.75), (0.25, 0.75)]


def test_schedule_of_rave():
    """β is 1 for a new node and one half where all moves as first count as much as 1,000 visits."""
    assert [rave_weight(1000, n) for n in (0, 1000)] == [1, 0.5]
    assert rave_weight(1000, 333) == pytest.approx(0.7071, abs=1e-3)
