"""Simulations explained: the four phases, the terms of UCB1, and the tables of the policies."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest

from ggp.analysis.scale import Scale
from ggp.engines.loading import load
from ggp.explain import learning, simulations
from ggp.explain.explanation import text_of
from ggp.explain.page import page_of
from ggp.explain.searches import explain
from ggp.search.option_table import OptionError
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.events import EdgeTerms, Phase
from ggp.search.tree.reference.search import Search

TREE = "[[3,12,8],[2,4,6],[14,5,2]]"


def tables_of(found, beginning):
    return [table for step in found.steps for table in step.tables if table.title.startswith(beginning)]


def test_simulations_have_four_phases():
    found = explain(TREE, "mcts", simulations=5)
    phases = [step.text.partition(":")[0].partition(", ")[2] or step.text.split()[0] for step in found.steps]
    assert phases[:4] == ["selection", "expansion:", "playout:", "back-up"]
    assert len([phase for phase in phases if phase == "selection"]) == 5
    assert found.summary[0] == "5 simulations"


def test_terms_of_ucb1_add_up():
    found = explain(TREE, "mcts:c=7", simulations=12)
    shown = [table for table in tables_of(found, "root: max selects") if "bonus" in table.head]
    assert len(shown) == 12 - 3
    for n, table in enumerate(shown, 3):
        assert table.head == ("move", "visits", "mean", "bonus", "sum")
        assert sum(int(row[1]) for row in table.rows) == n
        for _, visits, mean, bonus, total in table.rows:
            assert float(bonus) == pytest.approx(7 * math.sqrt(math.log(n) / int(visits)), abs=0.005)
            assert float(total) == pytest.approx(float(mean) + float(bonus), abs=0.011)
        best = max(table.rows, key=lambda row: float(row[4]))
        assert best[0].startswith("▸")


SHIFTED = {"mean", "sum", "mean before", "AMAF", "AMAF before", "own mean", "largest mean"}


@pytest.mark.parametrize("by", ["mcts", "mast", "past", "rave"])
def test_numbers_are_shown_on_the_scale(by):
    """Of each goal twice itself less ten; visits, chances and weights stay, and what is chosen."""
    game = load("nim", "reasoner")
    found, scaled = (
        explain(game, by, simulations=20, scale=scale)
        for scale in (None, Scale(Fraction(-10), Fraction(190)))
    )
    assert float(scaled.value) == pytest.approx(2 * float(found.value) - 10, abs=0.02)
    assert scaled.summary[-1] == "values on the scale -10:190"
    columns = set()
    for step, other in zip(found.steps, scaled.steps, strict=True):
        for table, shown in zip(step.tables, other.tables, strict=True):
            for row, changed in zip(table.rows, shown.rows, strict=True):
                for name, text, number in zip(table.head, row, changed, strict=True):
                    columns.add(name)
                    if name in {*SHIFTED, "bonus"} and text not in ("", "proven"):
                        expected = 2 * value_of(text) - 10 * (name in SHIFTED)
                        assert value_of(number) == pytest.approx(expected, abs=0.02), name
                    else:
                        assert number == text
    assert columns & SHIFTED


def value_of(text):
    return float(text.replace("−", "-"))


def test_the_scale_of_the_sheet_and_of_a_tree_are_those_of_the_lecture():
    found = explain(load("bucket", "reasoner"), "mcts", simulations=4)
    assert tables_of(found, "root: picker selects")[-1].rows[0] == (
        *("▸ pick a", "1", "50.00", "41.93", "91.93"),
    )
    assert found.steps[-1].text == "back-up of (−50, 50): pick a 0 (2), pick a, draw minus50 50 (1)"
    of_tree = explain("[[3,12],[2,4]]", "mcts", simulations=3, scale=Scale(Fraction(-50), Fraction(50)))
    assert of_tree.steps[-1].text == "back-up of −38: a −42.5 (2), a.b 38 (1)"
    large = Scale(Fraction(0), Fraction(999_999))
    assert [explain("[3,100]", by, scale=large).value for by in ("alphabeta", "minimax")] == ["999999"] * 2
    assert "∞" not in text_of(explain("[[100]]", "mcts", scale=large))
    of_goals, of_points = (
        [value_of(row[2]) for row in tables_of(found, "Weights")[-1].rows]
        for found in (
            explain(load("tictactoe", "reasoner"), "td", simulations=2, scale=scale)
            for scale in (None, Scale(Fraction(0), Fraction(1)))
        )
    )
    assert of_points == pytest.approx([value / 100 for value in of_goals])
    learned = explain(load("bucket", "reasoner"), "td", simulations=2)
    assert learned.steps[-1].text == "pick c: V = −0.50, target 15.00, error 15.50, so V = 1.05"


def test_mast_shows_means_before_and_after_and_gibbs_probabilities():
    found = explain(TREE, "mast:tau=2", simulations=6)
    shown = tables_of(found, "MAST of max")
    for earlier, later in pairwise(shown):
        before = {row[0]: row[3] for row in earlier.rows}
        assert {row[0]: row[2] for row in later.rows if row[2]} == before
    means = [float(row[3]) for row in shown[-1].rows]
    weights = [math.exp(mean / 2) for mean in means]
    shares = [float(row[4].rstrip(" %")) for row in shown[-1].rows]
    assert shares == pytest.approx([100 * weight / sum(weights) for weight in weights], abs=0.06)


def test_to_mast_learns_in_the_tree_only():
    game = load("tictactoe", "reasoner")
    counted = {}
    for policy in ("mast", "to-mast"):
        last = tables_of(explain(game, policy, simulations=6), f"{policy.upper()} of x")[-1]
        counted[policy] = sum(int(row[1]) for row in last.rows)
    # Each simulation has one of x's moves in the tree as long as the root has untried ones.
    assert counted["to-mast"] == 6 < counted["mast"]


@pytest.mark.parametrize(("policy", "title"), [("past", "PAST of first"), ("rave", "RAVE of first")])
def test_other_policies_show_their_tables(policy, title):
    found = explain(load("nim", "reasoner"), policy, simulations=20)
    assert tables_of(found, title)
    assert found.comparison.rows[0][0] == "uniform"


@pytest.mark.slow
def test_values_of_fast_are_shown_on_the_scale():
    """Differences of goals: they are stretched and not shifted; probabilities stay."""
    game = load("minichess")
    goals, points = (
        tables_of(explain(game, "fast", simulations=1, scale=scale), "FAST of white")
        for scale in (None, Scale(Fraction(-50), Fraction(150)))
    )
    worth = {row[0]: value_of(row[2]) for row in goals[0].rows}
    assert {row[0]: value_of(row[2]) for row in points[0].rows} == pytest.approx(
        {piece: 2 * value for piece, value in worth.items()}, abs=0.02
    )
    assert worth["white_king"] > 50 > -50 > worth["black_king"]
    assert [row[1] for row in goals[1].rows] == [row[1] for row in points[1].rows]


def test_moves_of_a_playout_have_gibbs_probabilities():
    last = [row for table in tables_of(explain(TREE, "mast", simulations=1), "Moves") for row in table.rows]
    assert [row[:4] for row in last] == [("1", "min", last[0][2], "33.3 %")]
    assert last[0][4].count("33.3 %") == 2


def test_listening_changes_nothing():
    game = load("tictactoe", "reasoner")
    trees = []
    for listens in (False, True):
        search, events = Search(game, game.roles[0], seed=3, options=MctsOptions("rave+mast")), []
        search.listener = events.append if listens else None
        search.move_to(game.initial_state(), None)
        for _ in range(30):
            search.simulate()
        trees.append((search.root.visits, search.root.totals, search.node_count))
        assert {event.phase for event in events} == (set(Phase) if listens else set())
    assert trees[0] == trees[1]


def test_a_proven_goal_is_the_value_of_an_edge():
    assert EdgeTerms(4, 30.0, 5.0, proven=100.0).value == 100.0
    assert EdgeTerms(4, 30.0, 5.0, amaf=60.0, beta=0.5).value == 50.0


def test_only_moves_of_a_tree_are_shown_once():
    assert [node.path for node in explain("[[1]]", "mcts").nodes] == ["root", "a", "a.a"]


def test_simulations_of_chance_and_of_three_players():
    assert "chance" in {node.shape for node in explain("[0.5: [1,2], 0.5: 3]", "mcts").nodes}
    assert explain("[(9,2,3), [(4,0,1), (2,2,2)]]", "uct", simulations=40).best_line == ("a",)


def test_larger_trees_are_folded():
    found = explain(load("tictactoe", "reasoner"), "mcts", simulations=30, nodes=8)
    assert len(found.nodes) == 8
    assert "23 nodes are folded; --nodes shows more" in found.summary
    assert "folded" in page_of(found)
    assert len(text_of(found).splitlines()) > 100


@pytest.mark.parametrize(
    "by", ["mcts:policy=mist", "alphabeta:policy=mast", "mcts:x=1", "td:step=2", "coalition:error=2"]
)
def test_wrong_settings_are_refused(by):
    with pytest.raises(OptionError):
        explain(TREE, by)


def test_long_searches_are_shown_to_a_limit(monkeypatch):
    monkeypatch.setattr(simulations, "MAX_SHOWN", 5)
    found = explain(TREE, "mcts", simulations=40)
    assert len(found.steps) == 4 * 5 + 1
    assert found.steps[-1].text == "and so on, to simulation 40"
    assert sum(int(look.value.split("(")[1].rstrip(")")) for look in found.looks()[1:4]) == 40
    monkeypatch.setattr(learning, "MAX_SHOWN_STEPS", 4)
    whole, cut = (explain(TREE, "td", simulations=count) for count in (2, 40))
    assert [step.text for step in cut.steps] == [*(s.text for s in whole.steps), "and so on, to episode 40"]
    assert cut.looks()[0].value == cut.value
    monkeypatch.setattr(learning, "SECONDS", 0.0)
    assert explain(TREE, "td", simulations=3).summary[0].endswith("after 1 episode of 3: out of time")
