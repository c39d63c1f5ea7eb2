"""Games whose quality is known: the right figure tells it."""

import json
import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import ggp
from ggp.cli.evaluate import command
from ggp.game_evaluation.evaluate import EvaluationTerms, evaluate
from ggp.game_evaluation.figures import DEFINITIONS, EQUILIBRIUM, EXACT
from ggp.game_evaluation.measuring import balance_of, course_of, coverage
from ggp.search.forest.self_play import SelfPlay, self_play
from tests.ggp.game_evaluation.variants import VARIANTS

TERMS = EvaluationTerms(simulations=64, matches=64, playouts=128, step_limit=60, seconds=600.0)

COIN = """
    (role a) (role b) (role random) (init fresh)
    (legal a wait) (legal b wait) (legal random heads) (legal random tails)
    (<= (next heads) (does random heads)) (<= (next over) (does random ?x))
    (<= terminal (true over))
    (<= (goal a 100) (true heads)) (<= (goal a 0) (not (true heads)))
    (<= (goal b 0) (true heads)) (<= (goal b 100) (not (true heads)))
"""
"""Nobody decides anything."""

COUNTDOWN = """
    (role a) (role b) (init (left 4)) (init (turn a)) (other a b) (other b a)
    (minus 4 1 3) (minus 3 1 2) (minus 2 1 1) (minus 1 1 0) (minus 4 2 2) (minus 3 2 1) (minus 2 2 0)
    (<= (legal ?r (take ?k)) (true (turn ?r)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
    {moves}
    (<= (next (left ?m)) (does ?r (take ?k)) (true (left ?n)) (minus ?n ?k ?m))
    (<= (next (turn ?s)) (true (turn ?r)) (other ?r ?s))
    (<= terminal (true (left 0)))
    {goals}
"""
"""Who takes the last of four wins, one or two at a time."""
LAST_WINS = """
    (<= (goal ?r 0) (role ?r) (true (turn ?r))) (<= (goal ?r 100) (role ?r) (not (true (turn ?r))))
"""
ALWAYS_B = "(goal a 0) (goal b 100)"
ALL_AT_ONCE = """
    (<= (legal ?r grab) (true (turn ?r))) (<= (next (left 0)) (does ?r grab))
"""
ENDLESS = """
    (role a) (init (at 1)) (legal a step) (legal a skip)
    (<= (next (at 2)) (true (at 1))) (<= (next (at 1)) (true (at 2)))
    (<= terminal (true (at 3))) (goal a 100)
"""


def measured(rules, **changes):
    game = ggp.load(rules, engine="lanes")
    return evaluate(game, EvaluationTerms(**{**TERMS.__dict__, **changes}))


def countdown(moves="", goals=LAST_WINS):
    return measured(COUNTDOWN.format(moves=moves, goals=goals))


def test_tictactoe_is_drawn_and_nim_won_by_the_second():
    found = measured("tictactoe", simulations=200)
    assert (found["balance"].value, found["balance"].source, found["coverage"].value) == (1.0, EXACT, 1.0)
    assert found["draws"].low > 0.6
    found = measured("nim")
    assert (found["advantage"].value, found["balance"].value, found["draws"].value) == (-1.0, 0.0, 0.0)


def test_luck_has_neither_agency_nor_depth():
    found = measured("rockpaperscissors", matches=128)
    assert found["depth"].low < 0.5 < found["depth"].high
    assert (found["ladder"].low, found["duration"].value) == (0, 1)
    found = measured(COIN)
    assert (found["agency"].value, found["balance"].value) == (0.0, 1.0)
    assert found["depth"].low < 0.5 < found["depth"].high


@pytest.mark.slow
def test_skill_decides_connect_four():
    found = measured("connectfour", simulations=128, matches=128)
    assert found["depth"].low > 0.5
    assert found["ladder"].value >= 3
    assert found["balance"].source != EXACT


def test_spoiled_rules_are_found_out():
    sound = countdown()
    assert (sound["advantage"].value, sound["completion"].value) == (1.0, 1.0)  # 4 is no multiple of 3
    unreachable = countdown(goals=ALWAYS_B)
    assert unreachable["advantage"].value == -1.0
    assert unreachable["drama"].value == unreachable["lead_changes"].value == 0.0
    grabbed = countdown(moves=ALL_AT_ONCE)
    assert grabbed["duration"].value == 1.0 < sound["duration"].value
    endless = measured(ENDLESS)
    assert endless["completion"].value == 0.0
    assert endless["best_goal"].value == 0.0


DEAD_CORNER = """
    (role a) (number 1) (number 2) (number 3) (init (left 2)) (fewer 2 1) (fewer 1 0)
    (<= (init (cell ?x ?y blank)) (number ?x) (number ?y))
    (<= (legal a (mark ?x ?y)) (true (cell ?x ?y blank)) (or (distinct ?x 3) (distinct ?y 3)))
    (<= (legal a (erase ?x ?y)) (true (cell ?x ?y gone)))
    (<= (next (cell ?x ?y mark)) (does a (mark ?x ?y)))
    (<= (next (cell ?x ?y ?c)) (true (cell ?x ?y ?c)) (not (does a (mark ?x ?y))))
    (<= (next (left ?m)) (true (left ?n)) (fewer ?n ?m))
    (<= terminal (true (left 0))) (goal a 100)
"""
"""Nobody can mark cell 3 3, nor erase any."""


def test_what_no_match_uses_is_counted():
    found = measured(DEAD_CORNER)
    assert found["coverage"].value == 1.0  # of the eight moves that can ever be legal
    few = coverage(game := ggp.load("connectfour", engine="lanes"), [self_play(game, 0, 1, step_limit=1)])
    used = {figure.name: figure.value for figure in few}
    assert used["coverage"] == 2 / 16


@pytest.mark.slow
def test_poker_is_worth_what_its_equilibrium_proves():
    found = measured("kuhn_poker")
    assert found["advantage"].source == found["balance"].source == EQUILIBRIUM
    assert found["advantage"].low <= -1 / 36 <= found["advantage"].high  # Kuhn 1950: -1/18 of half the goals
    assert found["balance"].low <= 1 - 1 / 36 <= found["balance"].high
    assert "hidden" in found.notes[0]
    assert "depth" not in found


def test_puzzles_have_a_best_goal_and_a_share_of_random_success():
    found = measured("maze", step_limit=100)
    assert found["best_goal"].value == 100
    assert found["best_goal"].source == EXACT
    assert 0 <= found["random_success"].value < 1
    unsolved = evaluate(ggp.load("eightpuzzle", engine="lanes"), EvaluationTerms(16, 8, 16, 20, 20.0))
    assert json.dumps(unsolved.to_dict())


def test_three_roles_are_compared_pair_by_pair():
    goals = np.array([[100, 0, 0], [100, 50, 0], [0, 50, 50], [100, 0, 50]])
    balance, advantage = balance_of(goals)
    assert balance.value == 1 - (300 - 100) / 400
    assert advantage.value == (300 - 100) / 400
    assert balance.low < balance.value < balance.high


def test_drama_is_how_far_the_winner_was_behind():
    nan = math.nan
    value = np.array([[[60.0, nan], [nan, 80.0], [70.0, nan]], [[50.0, nan], [nan, 90.0], [nan, nan]]])
    goals, length = np.array([[100, 0], [0, 100]], np.int32), np.array([3, 2], np.int32)
    nothing = np.zeros(value.shape, np.int32)
    found = SelfPlay(length > 0, goals, length, nothing, nothing, value)
    drama, changes = course_of(found, [0, 1])
    assert drama.value == pytest.approx((30 / 50 + 0) / 2)  # the first match: 60, 20, 70 for its winner
    assert drama.low == 0.0  # two matches are few
    assert changes.value == 1.0  # twice, and never


def test_shortest_solution_is_exact():
    grid = """
        (role a) (succ 0 1) (succ 1 2) (init (x 0)) (init (y 0))
        (<= (legal a right) (true (x ?x)) (succ ?x ?u)) (<= (legal a up) (true (y ?y)) (succ ?y ?v))
        (<= (legal a stay) (not terminal))
        (<= (next (x ?u)) (does a right) (true (x ?x)) (succ ?x ?u))
        (<= (next (x ?x)) (true (x ?x)) (not (does a right)))
        (<= (next (y ?v)) (does a up) (true (y ?y)) (succ ?y ?v))
        (<= (next (y ?y)) (true (y ?y)) (not (does a up)))
        (<= there (true (x 2)) (true (y 2))) (<= terminal there) (<= (goal a 100) there)
        (<= (goal a 0) (not there))
    """
    found = measured(grid)
    assert (found["shortest"].value, found["shortest"].source) == (4.0, EXACT)
    assert "shortest" not in measured("monty_hall")


@pytest.mark.slow
def test_the_same_seed_gives_the_same_figures():
    first, second, other = (measured("connectfour_3p", seed=seed).figures for seed in (1, 1, 2))
    assert first == second != other


def test_time_to_compile_the_first_search_does_not_count(monkeypatch):
    compiled = []

    def searching(game, simulations, *arguments, **options):
        if np.any(simulations) and not compiled:
            compiled.append(time.monotonic() + 10**6)
        return self_play(game, simulations, *arguments, **options)

    late = SimpleNamespace(monotonic=lambda: compiled[0] if compiled else time.monotonic())
    monkeypatch.setattr("ggp.game_evaluation.evaluate.self_play", searching)
    monkeypatch.setattr("ggp.game_evaluation.evaluate.time", late)
    found = measured("nim", simulations=4, matches=16, playouts=16)
    assert not [note for note in found.notes if note.startswith("stopped")]


FEW = ["--limit", "simulations=16,matches=16,playouts=32", "--json"]


def test_command_prints_a_line_of_json_for_each_sheet_and_checks_requirements(tmp_path):
    sheet = tmp_path / "coin.kif"
    sheet.write_text(COIN)
    result = CliRunner().invoke(command, [str(sheet), "nosuch", "nim", *FEW, "--require", "balance>=0.5"])
    assert result.exit_code == 1
    coin, missing, nim = map(json.loads, result.stdout.splitlines())
    assert (coin["game"], coin["unmet"]) == ("coin", [])
    assert "no such file" in missing["error"]
    assert nim["unmet"] == ["balance>=0.5: it is 0.000"]
    assert {each["name"] for each in nim["figures"]} <= set(DEFINITIONS)
    assert all(each["low"] <= each["value"] <= each["high"] for each in coin["figures"])


@pytest.mark.parametrize("requirement", ["balance", "balance=1", "beauty>=1", "balance>=high"])
def test_wrong_requirements_are_usage_errors(requirement):
    assert CliRunner().invoke(command, ["nim", "--require", requirement]).exit_code == 2


@pytest.mark.slow
def test_spoiled_variants_are_less_fit_than_playable_ones():
    few = {"simulations": 32, "playouts": 128, "step_limit": 100}
    fitness = {name: measured(rules, **few)["fitness"].value for name, rules in VARIANTS.items()}
    spoiled = {"forced", "tossed", "trivial", "unreachable", "endless"}
    assert max(fitness[name] for name in spoiled) < min(fitness[name] for name in fitness.keys() - spoiled)
    assert fitness["good"] > fitness["lucky"] > fitness["luckier"]
    assert fitness["good"] > max(fitness["timed"], fitness["unfair"])
