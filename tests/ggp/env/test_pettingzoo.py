"""PettingZoo's own tests on twenty sheets of all kinds, and what they do not test."""

import copy
import pickle
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: pip install 'ggp-lanes[rl]'")

from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, seed_test

from ggp.env import ActionError
from ggp.env.pettingzoo import env, parallel_env
from tests.conftest import mostly_slow

IN_TURN = ["tictactoe", "connectfour_4x4", "connectfour_3p", "breakthrough_small", "othello_4x4", "hex_3x3"]
IN_TURN += ["nim", "dotsandboxes", "knightthrough", "sheepandwolf", "checkers"]
AT_ONCE = ["rockpaperscissors", "prisoners_dilemma", "goofspiel", "tron", "morra", "blocker"]
ALONE = ["eightpuzzle", "lightsout"]
CHANCE = ["dicerace", "kuhn_poker"]
SHEETS = [*IN_TURN, *AT_ONCE, *ALONE, *CHANCE]
LONG = ["goofspiel", "checkers", "othello_6x6", "eightpuzzle", "hex_5x5", "hex_7x7"]
"""Games that cannot end within four actions of each agent."""

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 3))
def test_aec_environments_pass_the_api_test(name):
    api_test(env(name, max_cycles=60), num_cycles=60)


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 3))
def test_parallel_environments_pass_the_api_test(name):
    parallel_api_test(parallel_env(name), num_cycles=60)


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 3))
def test_environments_pass_the_seed_tests(name):
    seed_test(lambda: env(name, max_cycles=20), num_cycles=20)
    parallel_seed_test(lambda: parallel_env(name, max_cycles=20, illegal="first"), num_cycles=20)


@pytest.mark.parametrize("name", LONG)
def test_environments_pass_the_max_cycles_test(name):
    max_cycles_test(
        SimpleNamespace(
            env=lambda max_cycles: env(name, max_cycles=max_cycles, illegal="first"),
            parallel_env=lambda max_cycles: parallel_env(name, max_cycles=max_cycles, illegal="first"),
        )
    )


def test_agents_that_choose_at_once_do_not_see_each_other():
    game = env("rockpaperscissors")
    game.reset(seed=0)
    first, second = game.possible_agents
    before = game.observe(second)
    game.step(0)
    assert game.agent_selection == second
    np.testing.assert_array_equal(game.observe(second)["observation"], before["observation"])
    assert not any(game.rewards.values())
    game.step(1)
    assert set(game.rewards.values()) == {-1.0, 1.0}
    assert game.terminations == {first: True, second: True}


def test_a_player_of_kuhn_poker_sees_only_its_own_card():
    game = env("kuhn_poker")
    seen = {agent: set() for agent in game.possible_agents}
    for seed in range(40):
        game.reset(seed=seed)
        for agent in game.possible_agents:
            seen[agent].add(game.observe(agent)["observation"].tobytes())
    assert {agent: len(views) for agent, views in seen.items()} == {"first": 3, "second": 3}


def test_rendering_lists_facts():
    game = env("tictactoe", render_mode="ansi")
    game.reset()
    assert "(control x)" in game.render()
    assert parallel_env("tictactoe").render() is None


OUTSIDE = [-1, -2, -3, -4, 9, 250, 2**31 - 1, 2**32, 2**32 - 2, -(2**40)]


@pytest.mark.parametrize("action", OUTSIDE)
def test_numbers_outside_the_space_are_illegal(action):
    game = env("tictactoe")
    game.reset(seed=1)
    game.step(action)
    assert game.rewards == {"x": -1.0, "o": 1.0}
    assert game.terminations == {"x": True, "o": True}
    game = parallel_env("rockpaperscissors")
    first, second = game.possible_agents
    game.reset(seed=1)
    rewards, terminations = game.step({first: 0, second: action})[1:3]
    assert rewards == {first: 1.0, second: -1.0}
    assert all(terminations.values())
    replaced = env("tictactoe", illegal="first")
    replaced.reset(seed=1)
    replaced.step(action)
    assert replaced.agent_selection == "o"
    assert replaced.observe("o")["action_mask"].tolist() == [0] + 8 * [1] + [0]


@pytest.mark.parametrize("action", [1.0, 0.5, "1", [1], np.array([1])])
def test_actions_are_integers(action, begun):
    game, parallel = begun
    with pytest.raises(TypeError, match="action is an integer"):
        game.step(action)
    with pytest.raises(TypeError, match="action of x is an integer"):
        parallel.step({"x": action, "o": 0})
    game.step(np.int32(1))
    assert game.agent_selection == "o"


@pytest.mark.parametrize("name", ["tictactoe", "rockpaperscissors", "kuhn_poker"])
def test_masks_are_those_that_spaces_sample_with(name):
    game = env(name)
    game.reset(seed=0)
    for agent in game.agent_iter():
        observation, _, termination, truncation, _ = game.last()
        mask = observation["action_mask"]
        assert mask.dtype == np.int8
        assert observation in game.observation_space(agent)
        if termination or truncation:
            game.step(None)
            continue
        action = game.action_space(agent).sample(mask)
        assert mask[action]
        game.step(action)


def test_seeds_are_integers_and_repeat_games():
    def cards(seed):
        game = parallel_env("kuhn_poker")
        observations, _ = game.reset(seed=seed)
        return observations["first"]["observation"].tobytes()

    assert cards(np.int64(3)) == cards(3)
    assert len({cards(seed) for seed in range(20)}) == 3
    for make in (env, parallel_env):
        with pytest.raises(TypeError, match="seed is an integer"):
            make("kuhn_poker").reset(seed=3.0)
        with pytest.raises(ValueError, match="seed is at least 0"):
            make("kuhn_poker").reset(seed=-1)


def test_cycles_are_those_of_pettingzoo():
    game, parallel = env("connectfour", max_cycles=3), parallel_env("connectfour", max_cycles=3)
    game.reset(seed=0)
    moves = 0
    while not any(game.truncations.values()):
        game.step(moves % 7)
        moves += 1
    parallel.reset(seed=0)
    steps = 0
    while parallel.agents:
        observations = parallel.step(
            {agent: int(parallel._mask(a).argmax()) for a, agent in enumerate(parallel.agents)}
        )
        steps += 1
    assert (moves, steps) == (6, 3)
    assert all(observations[3].values())


def test_games_in_which_an_agent_never_acts_are_truncated_too(tmp_path):
    path = tmp_path / "walk.kif"
    path.write_text(
        """(role walker) (role watcher) (<= (base (at ?p)) (place ?p)) (place a) (place b) (init (at a))
        (<= (input walker (go ?p)) (place ?p)) (input watcher wait)
        (<= (legal walker (go ?p)) (place ?p)) (legal watcher wait) (<= (next (at ?p)) (does walker (go ?p)))
        (<= terminal (true (at c))) (goal walker 50) (goal watcher 50)"""
    )
    game = env(path, max_cycles=4)
    game.reset(seed=0)
    for step in range(8):
        assert not any(game.truncations.values()), step
        game.step(step % 2)
    assert all(game.truncations.values())


@pytest.mark.parametrize("make", [env, parallel_env])
def test_environments_can_be_copied(make):
    game = make("dicerace")
    game.reset(seed=5)
    copies = copy.deepcopy(game), pickle.loads(pickle.dumps(game))
    assert all(copied._state == game._state for copied in copies)
    for each in (game, *copies):
        each.reset()
    assert all(copied._state == game._state for copied in copies)


@pytest.fixture
def begun():
    """tic-tac-toe, begun, in turn and in parallel."""
    games = env("tictactoe"), parallel_env("tictactoe")
    for game in games:
        game.reset(seed=0)
    return games


def test_masks_are_those_of_who_acts(begun):
    game, _ = begun
    assert game.agent_selection == "x"
    assert [int(game.observe(agent)["action_mask"].sum()) for agent in "xo"] == [9, 0]
    game.step(4)
    assert game.agent_selection == "o"
    assert game.observe("o")["action_mask"].sum() == 8


def test_actions_belong_to_agents(begun):
    game, parallel = begun
    with pytest.raises(ActionError, match="x is to act"):
        game.step(None)
    with pytest.raises(ActionError, match="agents are x, o, not 'z'"):
        parallel.step({"z": 0})


def test_taken_cells_are_illegal(begun):
    game, _ = begun
    game.step(0)
    game.step(0)
    assert game.rewards == {"x": 1.0, "o": -1.0}
    assert game.terminations == {"x": True, "o": True}
    replaced = env("tictactoe", illegal="first")
    replaced.reset()
    replaced.step(0)
    replaced.step(0)
    assert replaced.rewards == {"x": 0.0, "o": 0.0}
    assert replaced.observe("x")["action_mask"][:2].sum() == 0


@pytest.mark.parametrize("make", [env, parallel_env])
@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"max_steps_per_episode": 5}, TypeError, r"has no keyword '.*', did you mean max_steps\?"),
        ({"simultaneous": True}, TypeError, "has no keyword 'simultaneous'"),
        ({"max_cycles": 5.0}, TypeError, "max_cycles is an integer"),
        ({"max_cycles": 0}, ValueError, "max_cycles is at least 1"),
        ({"illegal": "pass"}, ValueError, "illegal is lose or first"),
    ],
)
def test_wrong_choices_are_refused(make, choices, error, message):
    with pytest.raises(error, match=message):
        make("connectfour", **choices)
