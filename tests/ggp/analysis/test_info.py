"""`ggp games info` on games whose traits are known."""

import itertools
import json

import pytest

from ggp.analysis.info import describe, list_predicates
from ggp.engines.loading import load
from tests.ggp.fakes import Dice, Matrix, Nim, Stuck


def traits(game, **options):
    options = {"playouts": 20, "clock": itertools.count().__next__, "seconds": 1e9, **options}
    return {trait.name: trait.ground for trait in describe(game, **options).traits}


@pytest.mark.parametrize(
    ("game", "expected"),
    [
        (Nim(9), {"turn-taking", "constant-sum"}),
        (Matrix([[[0, 0], [1, 2]], [[1, 1], [0, 0]]]), {"simultaneous"}),
        (Matrix([[[50, None]]], moves=("a",)), {"turn-taking"}),
        (Dice(), {"chance", "one player"}),
        (Nim(5, roles=("alone",)), {"puzzle"}),
        (Nim(5, roles=("a", "b", "c")), {"3 players", "turn-taking", "constant-sum"}),
        (Stuck(2), {"faulty", "turn-taking", "constant-sum"}),
    ],
    ids=["turns", "both choose", "no goal", "chance", "puzzle", "three", "stuck"],
)
def test_info_finds_the_traits_of_a_game(game, expected):
    found = traits(game)
    assert found.keys() == expected
    assert found.get("constant-sum", "goals added up to 100").startswith("goals added up to 100")


def test_info_measures_playouts():
    info = describe(Matrix([[[0, 100]] * 2] * 2), playouts=10, seconds=60)
    assert info.playouts == 10
    assert (info.mean_length, info.shortest, info.longest) == (1, 1, 1)
    assert info.mean_moves == (2, 2)
    assert info.mean_joint_moves == 4
    assert info.mean_goals == (0, 100)


def test_info_stops_in_time_within_a_playout():
    info = describe(Nim(10**9), playouts=5, seconds=100, clock=itertools.count().__next__)
    assert (info.playouts, info.cut, info.mean_length) == (1, 1, None)


def test_info_knows_hidden_information_and_relations():
    game = load(
        """(role a) (init (n 1)) (init done) (succ 1 2) (legal a go) (<= terminal (true (n 2)))
        (<= (next (n ?y)) (true (n ?x)) (does a go) (succ ?x ?y)) (goal a 100) (<= (sees a go) (does a go))
        (<= far (not near)) (<= near (true (n 1)))""",
        engine="reasoner",
    )
    info = describe(game, playouts=3)
    assert "hidden information" in {trait.name for trait in info.traits}
    assert info.fluents == ("done", "n/1")
    kinds = {predicate.name: predicate.kind for predicate in info.predicates}
    assert kinds["succ/2"] == "static"
    assert kinds["terminal/0"] == "state"
    assert kinds["next/1"] == "move"
    strata = {predicate.name: predicate.stratum for predicate in info.predicates}
    assert strata["far/0"] > strata["near/0"]
    assert json.loads(json.dumps(info.to_dict()))["initial_facts"] == 2


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("tictactoe", {"turn-taking", "constant-sum"}),
        ("rockpaperscissors", {"simultaneous"}),
        ("eightpuzzle", {"puzzle"}),
        ("connectfour_3p", {"3 players", "turn-taking"}),
    ],
)
def test_info_finds_the_traits_of_bundled_games(name, expected):
    game = load(name, engine="reasoner")
    info = describe(game, playouts=4, seconds=30)
    assert expected <= {trait.name for trait in info.traits}
    assert list_predicates(game.program)[0]


class Slow(Nim):
    """Every first step takes an hour, as if something were compiled."""

    hours = 0

    def next_state(self, state, joint_move):
        self.hours = 1
        return super().next_state(state, joint_move)


def test_one_time_work_takes_no_time_from_the_playouts():
    game = Slow(9)
    info = describe(game, playouts=20, seconds=1.0, clock=lambda: 3600.0 * game.hours)
    assert (info.playouts, info.cut) == (20, 0)
