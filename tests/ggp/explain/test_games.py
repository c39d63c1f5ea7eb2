"""Explanations of games: folding, positions, scales, and every algorithm on every bundled game."""

import time
from fractions import Fraction
from itertools import product

import pytest

from ggp.analysis.scale import Scale
from ggp.engines.loading import load
from ggp.explain import learning, searches, simulations
from ggp.explain.explanation import Shape, text_of
from ggp.explain.page import page_of
from ggp.explain.picture import picture_of
from ggp.explain.searches import ALGORITHMS, PLAIN, ExplainError, explain, state_of
from ggp.explain.writing import writing_of
from ggp.game import GameError
from ggp.search.alphabeta.reference.search import ReferenceSearch
from tests.conftest import ROOT
from tests.ggp.explain.test_explain import CAPTURE

GAMES = sorted(path.stem for path in (ROOT / "games").glob("*.kif"))
FORK = "(cell 1 1 x) (cell 1 2 o) (cell 2 2 x) (cell 3 3 o) (control x)"


@pytest.fixture(scope="module")
def tictactoe():
    return load("tictactoe", "reasoner")


@pytest.mark.parametrize("by", ["alphabeta", "pvs", "bisection", "alphabeta:transpositions=on,killers=on"])
def test_searches_of_a_game_find_its_value(tictactoe, by):
    found = explain(tictactoe, by, state=state_of(tictactoe, FORK), depth=9)
    assert (found.value, found.best_line[0]) == ("100", "mark 2 1")


def test_nodes_are_those_of_the_search(tictactoe):
    search = ReferenceSearch(tictactoe, PLAIN)
    result = search.search(tictactoe.initial_state(), depth=3)
    assert explain(tictactoe).counts == (result.nodes, result.leaves)


def test_larger_trees_are_folded_whole_families_at_a_time(tictactoe):
    found = explain(tictactoe, "minimax", nodes=60)
    assert len(found.nodes) <= 60
    drawn = sum(1 for node in found.nodes if node.shape is not Shape.LEAF)
    assert f"{1 + 9 + 72 + 504 - len(found.nodes)} positions are folded; --nodes shows more" in found.summary
    assert sum(bool(node.folded) for node in found.nodes) < drawn
    assert all(step.node < len(found.nodes) for step in found.steps)
    assert all(number in range(len(found.nodes)) for step in found.steps for number in step.looks)


def test_the_best_line_goes_on_behind_answers_of_the_table():
    game = load("nim", "reasoner")
    found = explain(game, "alphabeta:transpositions=on", depth=20)
    assert any("transposition table" in step.text for step in found.steps)
    state = game.initial_state()
    for text in found.best_line:
        state = next(
            game.next_state(state, joint_move)
            for joint_move in product(*(game.legal_moves(state, role) for role in game.roles))
            if f"({text})" in map(str, joint_move)
        )
    assert game.is_terminal(state)


def test_searches_stop_at_a_number_of_moves(tictactoe, monkeypatch):
    monkeypatch.setattr(searches, "MAX_MOVES", 50)
    found = explain(tictactoe)
    assert found.counts[0] <= 50 // 9 + 1
    assert found.summary[0].startswith("stopped at the limit of 5 nodes or 4 s")


def test_more_moves_than_nodes_are_cut_to_the_first(tictactoe):
    assert len(explain(tictactoe, nodes=5).nodes) == 5


def test_pages_show_the_position_of_each_node(tictactoe):
    found = explain(tictactoe, depth=1)
    assert found.positions[0].splitlines()[-1] == "x to move"
    assert found.positions[5].splitlines()[1] == "2 . x ."


def test_values_are_shown_on_the_scale_of_the_sheet():
    found = explain(load("bucket", "reasoner"), "minimax")
    assert (found.value, found.best_line) == ("1", ("pick b", "draw 1"))
    assert explain(load("bucket", "reasoner"), "expectimax").value == "5"


@pytest.mark.parametrize("by", ["mcts", "td", "alphabeta"])
def test_scales_that_descend_are_refused(by):
    with pytest.raises(ExplainError, match="smaller"):
        explain("[[3,12],[2,4]]", by, scale=Scale(Fraction(90), Fraction(50)))


def test_values_that_depend_on_the_horizon_say_its_depth(tictactoe):
    found = explain(tictactoe, depth=2)
    assert (found.value, found.summary[0]) == ("50", "value 50 to depth 2")
    assert found.steps[-1].text == "root is 50 to depth 2"
    proven = explain(tictactoe, state=state_of(tictactoe, FORK), depth=9)
    assert proven.summary[0] == "value 100"
    assert not any("to depth" in step.text for step in proven.steps)
    assert explain(tictactoe, "bisection", depth=1).summary[0] == "value 50 to depth 1"


@pytest.mark.parametrize("by", ["alphabeta", "mast", "td"])
def test_moves_are_written_as_on_the_board_with_their_terms(tictactoe, by):
    found = explain(writing_of(tictactoe, "short"), by, state=state_of(tictactoe, FORK))
    texts = {node.term: node.move for node in found.nodes[1:]}
    assert texts["(mark 2 3)"] == "b3"
    assert all("mark" not in step.text for step in found.steps)
    page = page_of(found)
    assert ">b3<title>(mark 2 3)</title></text>" in page
    assert '<li title="(mark 2 3)' in page


def test_captures_are_written_as_on_the_board():
    game = load("minichess", "reasoner")
    state = state_of(game, CAPTURE)
    assert "c2×c5" in {node.move for node in explain(writing_of(game, "short"), state=state, depth=1).nodes}


@pytest.mark.parametrize("by", ["alphabeta", "minimax"])
def test_flat_trees_are_searched_quickly(by):
    values = [number * 7919 % 9999 for number in range(10_000)]
    begin = time.process_time()
    found = explain(f"[{','.join(map(str, values))}]", by)
    assert (found.value, found.counts) == (str(max(values)), (1, 10_000))
    assert time.process_time() - begin < 10


def test_names_of_moves_cannot_leave_the_data_of_the_page():
    rules = """(role a) (init s) (legal a <!--<script>) (legal a b) (<= (next t) (does a ?m))
        (<= terminal (true t)) (goal a 100)
    """
    page = page_of(explain(load(rules, "reasoner")))
    assert "u003c!--" in page
    assert "<!--" not in page.partition("<script")[2]


def test_simultaneous_moves_are_chosen_one_after_the_other():
    found = explain(load("rockpaperscissors", "reasoner"), "maxn")
    assert [node.player for node in found.nodes if node.player] == ["left", "right", "right", "right"]


@pytest.mark.parametrize(
    ("state", "message"), [("(cell 9 9 z)", "not a fact"), ("(cell 1 1 x) (", "unclosed")]
)
def test_states_that_are_none_are_refused(state, message):
    game = load("tictactoe", "lanes")
    with pytest.raises(Exception, match=message):
        state_of(game, state)


@pytest.fixture(scope="module")
def compiled():
    """The kernels with which FAST learns, so that no test's time counts them."""
    explain(load("connectfour_4x4"), "fast", simulations=1)


TOO_LARGE = ("amazons",)
"""To compile, which takes half a minute."""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("name", GAMES)
def test_every_algorithm_explains_the_game_or_says_why_not(name, monkeypatch):
    """Within ten seconds, also if a search uses up its time, which is cut here by four seconds at most,
    and that in which FAST learns before it by 2.85.

    In CPU time, as tests run side by side.
    """
    monkeypatch.setattr(searches, "SECONDS", 0.6 if name in TOO_LARGE else 0.05)
    for module in (simulations, learning):
        monkeypatch.setattr(module, "SECONDS", 0.05)
    monkeypatch.setattr(simulations, "LEARNING_SECONDS", 0.15)
    game = load(name, "reasoner" if name in TOO_LARGE else "auto")
    written = writing_of(game, "short")
    refused = set()
    for by in ALGORITHMS:
        begin = time.process_time()
        try:
            found = explain(written, by)
        except ExplainError:
            refused.add(by)
        except GameError as error:
            pytest.fail(f"{by}: {error}")
        else:
            assert found.steps
            assert page_of(found)
            assert picture_of(found)
            assert text_of(found)
        assert time.process_time() - begin < 10 - 4 - 2.85 * (by == "fast"), by
    assert {"maxn", "paranoid", "mcts", "td"}.isdisjoint(refused)
