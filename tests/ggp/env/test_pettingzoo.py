"""PettingZoo's own tests on twenty sheets of all kinds, and what they do not test."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: pip install 'ggp-lanes[rl]'")

from pettingzoo.test import api_test, max_cycles_test, parallel_api_test, parallel_seed_test, seed_test

from ggp.env.pettingzoo import env, parallel_env
from tests.conftest import mostly_slow

IN_TURN = [
    "tictactoe",
    "connectfour_4x4",
    "connectfour_3p",
    "breakthrough_small",
    "othello_4x4",
    "hex_3x3",
    "nim",
    "dotsandboxes",
    "knightthrough",
    "sheepandwolf",
    "checkers",
]
AT_ONCE = ["rockpaperscissors", "prisoners_dilemma", "goofspiel", "tron", "morra", "blocker"]
ALONE = ["eightpuzzle", "lightsout"]
CHANCE = ["dicerace", "kuhn_poker"]
SHEETS = [*IN_TURN, *AT_ONCE, *ALONE, *CHANCE]
LONG = ["goofspiel", "checkers", "othello_6x6", "eightpuzzle", "hex_5x5", "hex_7x7"]
"""Games that cannot end within four actions of each agent."""

pytestmark = pytest.mark.filterwarnings("ignore")


def test_the_sheets_are_twenty():
    assert len(set(SHEETS)) >= 20


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


def test_masks_are_those_of_who_acts():
    game = env("tictactoe")
    game.reset()
    assert game.agent_selection == "x"
    assert game.observe("x")["action_mask"].sum() == 9
    assert game.observe("o")["action_mask"].sum() == 0
    game.step(4)
    assert game.agent_selection == "o"
    assert game.observe("o")["action_mask"].sum() == 8


def test_illegal_actions_lose_or_are_replaced():
    lost, went_on = env("tictactoe"), env("tictactoe", illegal="first")
    for game in (lost, went_on):
        game.reset()
        game.step(0)
        game.step(0)
    assert lost.rewards == {"x": 1.0, "o": -1.0}
    assert lost.terminations == {"x": True, "o": True}
    assert went_on.rewards == {"x": 0.0, "o": 0.0}
    assert went_on.observe("x")["action_mask"][:2].sum() == 0
    with pytest.raises(ValueError, match="illegal is lose or first"):
        env("tictactoe", illegal="pass")


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
