"""Gymnasium's own checks, autoreset modes, opponents and masks."""

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'ggp-lanes[rl]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import ggp.env.gymnasium as adapter  # noqa: E402
from ggp.env.gymnasium import GgpVectorEnv  # noqa: E402
from tests.conftest import mostly_slow  # noqa: E402

GAMES = ["tictactoe", "connectfour_4x4", "nim", "dicerace", "goofspiel", "eightpuzzle", "kuhn_poker", "tron"]


def drawn(masks, rng):
    return np.where(masks, rng.random(masks.shape), -1).argmax(axis=-1)


def play(envs, steps, seed=0):
    """Random legal actions; yields what `step` returns, the actions' masks first."""
    rng = np.random.default_rng(seed)
    observations, infos = envs.reset(seed=seed)
    assert observations in envs.observation_space
    for _ in range(steps):
        masks = envs.action_masks()
        np.testing.assert_array_equal(masks, infos["action_mask"])
        found = envs.step(drawn(masks, rng))
        assert found[0] in envs.observation_space
        infos = found[4]
        yield found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", GAMES)
def test_single_environments_pass_the_checker_of_gymnasium(name):
    env = gymnasium.make(f"ggp/{name}-v0", max_steps=50)
    check_env(env.unwrapped, skip_render_check=True)
    observation, info = env.reset(seed=1)
    rng = np.random.default_rng(0)
    for _ in range(60):
        action = rng.choice(np.flatnonzero(env.unwrapped.action_masks()))
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in env.observation_space
        assert info["action_mask"].dtype == np.bool_
        if terminated or truncated:
            break
    assert terminated or truncated
    assert -1 <= reward <= 1


def test_make_vec_gives_the_native_batch():
    envs = gymnasium.make_vec("ggp/tictactoe-v0", num_envs=70, seat="o")
    assert isinstance(envs.unwrapped, GgpVectorEnv)
    assert envs.unwrapped.seat == 1


@pytest.mark.parametrize("name", mostly_slow(GAMES, 2))
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_games_end_and_begin_again_as_the_mode_says(name, mode):
    envs = GgpVectorEnv(name, 8, autoreset_mode=mode, max_steps=30)
    before = np.zeros(8, bool)
    ends = 0
    for _, rewards, terminated, truncated, infos in play(envs, 70):
        ended = terminated | truncated
        ends += int(ended.sum())
        if mode == AutoresetMode.SAME_STEP:
            assert ("final_obs" in infos) == ended.any()
            for n in np.flatnonzero(ended):
                assert infos["final_obs"][n] in envs.single_observation_space
            assert not (envs.state.terminated | envs.state.truncated).any() or name == "dicerace"
        if mode == AutoresetMode.DISABLED:
            assert (ended >= before).all()
        if mode != AutoresetMode.SAME_STEP:
            assert not rewards[before].any()
        before = ended
    assert ends > 8 or mode == AutoresetMode.DISABLED
    assert before.all() or mode != AutoresetMode.DISABLED


def test_next_step_ignores_the_action_that_follows_an_end():
    envs = GgpVectorEnv("tictactoe", 16)
    first, _ = envs.reset(seed=0)
    before = np.zeros(16, bool)
    for observations, _, terminated, _, _ in play(envs, 40):
        np.testing.assert_array_equal(observations[before], first[before])
        assert not terminated[before].any()
        before = terminated


def test_disabled_resets_are_done_by_mask():
    envs = GgpVectorEnv("tictactoe", 6, autoreset_mode="Disabled")
    first, _ = envs.reset(seed=0)
    for found in play(envs, 9):
        observations = found[0]
    assert found[2].all()
    mask = np.array([True, False] * 3)
    again, _ = envs.reset(options={"reset_mask": mask})
    np.testing.assert_array_equal(again[mask], first[mask])
    np.testing.assert_array_equal(again[~mask], observations[~mask])


@pytest.mark.parametrize("seat", [0, 1, "x", "o"])
def test_the_agent_is_to_move_in_every_environment(seat):
    envs = GgpVectorEnv("tictactoe", 33, seat=seat, autoreset_mode="SameStep")
    number = {"x": 0, "o": 1}.get(seat, seat)
    envs.reset(seed=0)
    for _ in play(envs, 30):
        assert (envs.state.current_player == number).all()


def test_rewards_are_those_of_the_seat():
    total = {}
    for seat in (0, 1):
        envs = GgpVectorEnv("tictactoe", 500, seat=seat, autoreset_mode="Disabled")
        rewards = sum(found[1] for found in play(envs, 9, seed=3))
        assert set(rewards) == {-1.0, 0.0, 1.0}
        total[seat] = rewards.mean()
    assert total[0] > 0.15 > -0.15 > total[1]  # the first player wins 58 %, the second 29 %


def test_a_searching_opponent_is_stronger_than_a_random_one():
    results = {}
    for opponent in ("random", "mcts:simulations=100"):
        envs = GgpVectorEnv("tictactoe", 24, opponent=opponent, autoreset_mode="Disabled")
        results[opponent] = sum(found[1] for found in play(envs, 9)).mean()
    assert results["mcts:simulations=100"] < -0.5 < 0 < results["random"]


def test_an_opponent_of_ones_own_gets_states_in_which_it_moves():
    seen = []

    def last(state, rng):
        seen.append(set(state.current_player.tolist()))
        return state.legal_action_mask.shape[1] - 1 - state.legal_action_mask[:, ::-1].argmax(axis=1)

    envs = GgpVectorEnv("tictactoe", 10, opponent=last, autoreset_mode="Disabled")
    for _ in play(envs, 3):
        pass
    assert seen
    assert all(players == {1} for players in seen)


def test_one_agent_can_play_all_seats():
    envs = GgpVectorEnv("tictactoe", 300, seat="all", autoreset_mode="Disabled")
    movers = envs.reset(seed=0)[1]["current_player"]
    assert not movers.any()
    total = np.zeros(300)
    for step, (_, rewards, _, _, infos) in enumerate(play(envs, 9)):
        total += rewards
        assert step == 8 or set(infos["current_player"]) <= {(step + 1) % 2, -1}
        assert (rewards >= 0).all()  # who moves last has won, or it is a draw
    assert {0.0, 1.0} == set(total)
    with pytest.raises(ValueError, match="in turn"):
        GgpVectorEnv("rockpaperscissors", 2, seat="all")


def test_seeds_reproduce_chance_and_opponents():
    def record(seed):
        envs = GgpVectorEnv("dicerace", 20)
        return [found[0].copy() for found in play(envs, 12, seed=seed)]

    one, two, other = record(5), record(5), record(6)
    assert all(map(np.array_equal, one, two))
    assert not all(map(np.array_equal, one, other))


def test_wrong_choices_are_refused():
    with pytest.raises(ValueError, match="seat is 0 to 1, x, o or all"):
        GgpVectorEnv("tictactoe", seat="z")
    with pytest.raises(ValueError, match="opponent is random"):
        GgpVectorEnv("tictactoe", opponent="alphabeta")
    with pytest.raises(ValueError, match="simulations is a positive number"):
        GgpVectorEnv("tictactoe", opponent="mcts:simulations=many")


def test_every_bundled_game_is_registered():
    adapter.register_games()
    assert sum(name.startswith("ggp/") for name in gymnasium.registry) >= 40
