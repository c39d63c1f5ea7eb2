"""`ggp solve` on games with hidden information."""

import json
from fractions import Fraction

import pytest

from ggp.cli.solve_hidden import equilibrium_text, simplest_fraction, stake
from ggp.engines.loading import load
from ggp.solver.cfr import CfrOptions, solve_hidden


def test_text_names_the_value_the_stake_and_every_information_set(ggp):
    code, out, err = ggp("solve", "kuhn_poker", "--strategy")
    assert code == 0, err
    lines = out.splitlines()
    assert lines[0].startswith("kuhn_poker: first 48.611")
    assert "first gains -0.05555" in out
    assert "times the smallest stake of 25 goals" in out
    assert lines.index("first:") + 7 == lines.index("second:") == len(lines) - 7
    assert "  [noop | (card king); check | (move first check); noop | (move second bet)] call 1.0000" in lines


def test_json_has_what_the_text_has(ggp):
    code, out, _ = ggp("solve", "kuhn_poker", "--strategy", "--json")
    data = json.loads(out)
    assert code == 0
    assert data["method"] == "cfr"
    assert data["bounds"][0] <= data["values"]["first"] <= data["bounds"][1]
    assert data["gain_in_stakes"] == pytest.approx(-1 / 18, abs=1e-7)
    assert data["information_sets"] == {"first": 6, "second": 6}
    assert len(data["strategy"]) == 12
    queen = next(each for each in data["strategy"] if each["role"] == "first" and "queen" in str(each))
    assert queen["observations"] == [{"move": "noop", "percepts": ["(card queen)"]}]
    assert sum(queen["probabilities"].values()) == pytest.approx(1)
    assert "strategy" not in json.loads(ggp("solve", "kuhn_poker", "--json")[1])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["kuhn_poker", "--save", "x.solution"], "--save and --work need retrograde: cfr keeps no states"),
        (["signalling"], "3 roles besides `random`: equilibria are found for two"),
        (
            ["leduc_poker", "--limit", "histories=100"],
            "leduc_poker: more than 100 histories",
        ),
        (["kuhn_poker", "--method", "retrograde"], "hidden information"),
        (["kuhn_poker", "--accuracy", "-1"], "at least 0"),
    ],
)
def test_what_cannot_be_done_is_one_line(ggp, arguments, message):
    code, _, err = ggp("solve", *arguments)
    assert code != 0
    assert message in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["human", "--exploit", "kuhn_poker"], "unknown player 'human'"),
        (["nobody", "--exploit", "kuhn_poker"], "unknown player 'nobody'"),
        (["legal", "--exploit", "tictactoe"], "--exploit is for games with hidden information"),
        (["legal", "--exploit", "monty_hall"], "--exploit is for games of two roles"),
        (["legal", "--exploit", "kuhn_poker", "--regret"], "--exploit cannot be combined"),
    ],
)
def test_what_cannot_be_exploited_is_one_line(ggp, arguments, message):
    code, _, err = ggp("assess", *arguments)
    assert code != 0
    assert message in err
    assert "Traceback" not in err


def test_games_without_percepts_can_be_solved_as_sequence_forms(ggp):
    code, out, _ = ggp("solve", "morra", "--method", "cfr", "--accuracy", "1e-7")
    assert code == 0
    assert "(-1/12 lies between the bounds)" in out


def test_a_result_that_is_not_accurate_says_so():
    found = solve_hidden(load("kuhn_poker", "lanes"), options=CfrOptions(0.0, iterations=30))
    assert "out of time: the accuracy wanted is 0.001" in equilibrium_text(found, 0.001)
    assert "(-1/18" not in equilibrium_text(found, 0.001)
    assert stake(found) == 25
    assert simplest_fraction(found, 25.0) is None
    accurate = solve_hidden(load("kuhn_poker", "lanes"), options=CfrOptions(1e-8))
    assert simplest_fraction(accurate, 25.0) == Fraction(-1, 18)


def test_against_a_player_says_what_best_responses_leave_it(ggp):
    code, out, err = ggp("assess", "legal", "--exploit", "kuhn_poker", "--count", "1")
    assert code == 0, err
    assert out.splitlines()[0] == "kuhn_poker: legal is exploitable by 8.33333 goals"
    assert "as second it earns 41.6667 against a best response; the value is 51.3889" in out
    data = json.loads(ggp("assess", "legal", "--exploit", "kuhn_poker", "--count", "1", "--json")[1])
    assert data["exploitability"] == pytest.approx(25 / 3)
    assert data["answers"] == data["information_sets"] == 9
    assert data["faults"] == []
