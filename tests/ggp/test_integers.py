"""Numbers of numpy are taken by the whole public API, and what is not an integer is refused by name."""

import numpy as np
import pytest

import ggp
from ggp.assessment.asking import AssessmentTerms
from ggp.game_evaluation.evaluate import EvaluationTerms
from ggp.items.making import ItemTerms
from ggp.networks.network import Network
from ggp.players.book_building import BookTerms
from ggp.search.option_table import OptionError
from ggp.search.tree.options import MctsOptions
from ggp.teaching.generations import TeachingOptions
from ggp.tournament.plan import Condition, GameEntry

NUMBERS = [np.int64(3), np.int32(3), np.uint8(3), np.array(3)]


@pytest.fixture(scope="module")
def game():
    return ggp.load("tictactoe", engine="lanes")


def calls(game):
    """By name of a parameter, functions of its value whose results can be compared."""
    slow = ggp.load("nim", engine="reasoner")
    return {
        "seed": [
            lambda n: ggp.playouts(game, 10, seed=n),
            lambda n: ggp.search_state(game, simulations=20, seed=n).best_move,
            lambda n: ggp.search_state(slow, simulations=20, seed=n).best_move,
            lambda n: ggp.self_play(game, 0, 4, seed=n, threads=1).moves.tolist(),
            lambda n: ggp.describe(slow, playouts=2, seed=n).playouts,
            lambda n: ggp.MatchTerms(seed=n),
            lambda n: ggp.MatchSetup("m", slow, slow.roles[0], 1.0, 1.0, seed=n).seed,
            lambda n: ggp.validate("nim", play=True, seconds=1, seed=n).has_errors,
            lambda n: Network.random(game, seed=n).value.tolist(),
            lambda n: EvaluationTerms(seed=n),
            lambda n: AssessmentTerms(seed=n),
            lambda n: ItemTerms(seed=n),
            lambda n: BookTerms(seed=n),
            lambda n: TeachingOptions(seed=n),
        ],
        "count": [lambda n: ggp.playouts(game, n)],
        "threads": [lambda n: ggp.playouts(game, 10, threads=n), lambda n: EvaluationTerms(threads=n)],
        "simulations": [
            lambda n: ggp.search_state(game, simulations=n).playouts,
            lambda n: ggp.self_play(game, n, 2).moves.tolist(),
            lambda n: EvaluationTerms(simulations=n),
            lambda n: GameEntry("nim", "nim", simulations=n),
            lambda n: Condition("c", 1, 1.0, 1.0, simulations=n),
        ],
        "matches": [lambda n: len(ggp.self_play(game, 0, n).length), lambda n: TeachingOptions(matches=n)],
        "step_limit": [
            lambda n: ggp.self_play(game, 0, 2, step_limit=n).length.tolist(),
            lambda n: ggp.MatchTerms(step_limit=n),
            lambda n: ggp.playouts(game, 5, step_limit=n),
        ],
        "states": [lambda n: ggp.SolverLimits(states=n)],
        "mebibytes": [lambda n: ggp.SolverLimits(mebibytes=n), lambda n: ggp.CompilationLimits(mebibytes=n)],
        "repetitions": [lambda n: Condition("c", n, 1.0, 1.0)],
        "playouts": [lambda n: ggp.describe(slow, playouts=n).playouts],
    }


PARAMETERS = (
    "seed",
    "count",
    "threads",
    "simulations",
    "matches",
    "step_limit",
    "states",
    "mebibytes",
    "repetitions",
    "playouts",
)


def test_every_parameter_is_tried(game):
    assert tuple(calls(game)) == PARAMETERS


@pytest.mark.parametrize("name", PARAMETERS)
def test_numbers_of_numpy_are_numbers(game, name):
    for number, call in enumerate(calls(game)[name]):
        expected = call(3)
        for value in NUMBERS:
            assert call(value) == expected, (number, type(value))


@pytest.mark.parametrize("value", [4.0, "4", np.float64(3), [3.5], {3}], ids=repr)
@pytest.mark.parametrize("name", PARAMETERS)
def test_what_is_not_an_integer_is_refused_by_name(game, name, value):
    for call in calls(game)[name]:
        with pytest.raises(TypeError, match=f"{name} is an integer"):
            call(value)


@pytest.mark.parametrize("name", [name for name in PARAMETERS if name != "seed"])
def test_negative_counts_are_refused_by_name(game, name):
    for call in calls(game)[name]:
        message = rf"{name} is at least [01], not -1|number of {name} must be at least 0, not -1"
        with pytest.raises(ValueError, match=message):
            call(np.int64(-1))


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64 + 5, np.uint64(2**64 - 1)])
def test_seeds_of_any_size_are_taken(game, seed):
    assert ggp.playouts(game, 100, seed=seed) == ggp.playouts(game, 100, seed=int(seed))
    assert ggp.search_state(game, simulations=20, seed=seed).playouts >= 20
    assert len(ggp.self_play(game, 0, 2, seed=seed).length) == 2


def test_simulations_are_not_cut(game):
    for simulations in (0.5, [10, 0.5], ["10", "20"], [True, False]):
        with pytest.raises(TypeError, match="simulations is an integer or integers"):
            ggp.self_play(game, simulations, 2)
    with pytest.raises(ValueError, match="number of simulations must be at least 0, not -5"):
        ggp.self_play(game, [1, -5], 2)


def test_options_of_a_search_are_whole_numbers():
    assert MctsOptions(threads=np.int64(2)) == MctsOptions(threads=2)
    assert type(MctsOptions(threads=np.int64(2)).threads) is int
    with pytest.raises(OptionError, match=r"threads must be a whole number, not 2\.0"):
        MctsOptions(threads=2.0)
