"""Gymnasium's own checks, autoreset modes, opponents and masks."""

import copy
import pickle

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium", reason="gymnasium is not installed: pip install 'ggp-lanes[rl]'")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import ggp.env.gymnasium as adapter  # noqa: E402
from ggp.env import ActionError  # noqa: E402
from ggp.env.gymnasium import GgpVectorEnv  # noqa: E402
from tests.conftest import mostly_slow  # noqa: E402

ALIKE = ("tictactoe", "connectfour_4x4")
"""Games that begin alike whenever the agent moves first."""
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
        assert info["action_mask"].dtype == np.int8
        if terminated or truncated:
            break
    assert terminated or truncated
    assert -1 <= reward <= 1


@pytest.mark.parametrize("name", mostly_slow(GAMES, 2))
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_games_end_and_begin_again_as_the_mode_says(name, mode):
    envs = GgpVectorEnv(name, 8, autoreset_mode=mode, max_steps=30)
    first, _ = envs.reset(seed=0)
    before = np.zeros(8, bool)
    ends = 0
    for observations, rewards, terminated, truncated, infos in play(envs, 70):
        ended = terminated | truncated
        if mode == AutoresetMode.NEXT_STEP:  # the action that follows an end is ignored
            assert not ended[before].any() or name == "dicerace"
            assert name not in ALIKE or np.array_equal(observations[before], first[before])
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


def test_masks_are_those_that_spaces_sample_with():
    env = gymnasium.make("ggp/tictactoe-v0")
    _, info = env.reset(seed=0)
    env.action_space.seed(0)
    for _ in range(4):
        action = env.action_space.sample(info["action_mask"])
        _, reward, terminated, _, info = env.step(action)
        assert reward != -1 or not terminated or info["rewards"][1] == 1
    envs = GgpVectorEnv("tictactoe", 5)
    _, infos = envs.reset(seed=0)
    envs.action_space.seed(0)
    for _ in range(12):
        actions = envs.action_space.sample(tuple(infos["action_mask"]))
        assert envs.action_masks()[np.arange(5), actions].all()
        infos = envs.step(actions)[4]
    assert envs.action_masks().dtype == np.bool_  # as MaskablePPO has it


OUTSIDE = [-1, -2, -3, -4, 10, 250, 251, 2**31 - 1, 2**32, 2**32 - 2, -(2**32)]


@pytest.mark.parametrize("action", OUTSIDE)
@pytest.mark.parametrize(("name", "seat"), [("tictactoe", 0), ("tictactoe", "all"), ("rockpaperscissors", 0)])
def test_numbers_outside_the_space_are_illegal(name, seat, action):
    envs = GgpVectorEnv(name, 2, seat=seat, autoreset_mode="Disabled")
    envs.reset(seed=3)
    before = envs.state
    _, rewards, terminated, truncated, _ = envs.step(np.array([action, 0]))
    assert (rewards[0], terminated[0], truncated[0]) == (-1, True, False)
    np.testing.assert_array_equal(envs.state.observation[0], before.observation[0])
    single = gymnasium.make(f"ggp/{name}-v0", seat=seat, disable_env_checker=True)
    single.reset(seed=3)
    assert single.step(action)[1:3] == (-1, True)


@pytest.mark.parametrize(
    "actions",
    [[1], [[0, 1, 2]], 0, [0, 1], [0.0, 1.0, 2.0], [0.5, 1, 2], ["0", "1", "2"], [True, False, True], None],
)
def test_actions_are_neither_broadcast_nor_cut(actions):
    envs = GgpVectorEnv("tictactoe", 3)
    envs.reset(seed=0)
    with pytest.raises(ActionError, match=r"actions are integers of shape \(3,\)"):
        envs.step(actions)


@pytest.mark.parametrize("action", [[1], np.array([1]), 1.0, 0.5, "1", None])
def test_a_single_action_is_an_integer(action):
    env = adapter.GgpEnv("tictactoe")
    env.reset(seed=0)
    with pytest.raises(TypeError, match="action is an integer"):
        env.step(action)
    assert env.step(np.array(1))[2] is False
    assert env.step(np.uint8(2))[1] in (-1.0, 0.0)


def record(envs, seed, steps=6, options=None):
    """What each environment shows, step by step: [N, steps, ...]."""
    observations, infos = envs.reset(seed=seed, options=options)
    shown = [observations]
    for _ in range(steps):
        observations, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
        shown.append(observations)
    return np.stack(shown, axis=1)


@pytest.mark.parametrize("name", ["dicerace", "tictactoe", "rockpaperscissors", "kuhn_poker"])
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_an_environment_depends_on_its_own_seed_alone(name, mode):
    def start(seed):
        return record(GgpVectorEnv(name, 3, autoreset_mode=mode), seed, 12)

    one, other, third = start([1, 2, 3]), start([1, 9, 3]), start((5, 2, np.int64(6)))
    np.testing.assert_array_equal(one[[0, 2]], other[[0, 2]])
    np.testing.assert_array_equal(one[1], third[1])
    several = [start([seed, 2, 3])[0] for seed in range(12)]
    # A game of one move shows its end in other modes only after the next one has begun, or not at all.
    assert len(np.unique(several, axis=0)) > 2 or (name, mode) == (
        "rockpaperscissors",
        AutoresetMode.SAME_STEP,
    )
    np.testing.assert_array_equal(start(7), start([7, 8, 9]))
    np.testing.assert_array_equal(start(np.int64(7)), start(np.arange(7, 10)))


def test_a_batch_plays_what_single_environments_play():
    envs = GgpVectorEnv("dicerace", 3, autoreset_mode="Disabled")
    together = record(envs, 40)
    for n in range(3):
        env = gymnasium.make("ggp/dicerace-v0")
        observation, info = env.reset(seed=40 + n)
        for step in range(7):
            np.testing.assert_array_equal(observation, together[n, step])
            observation, *_, info = env.step(info["action_mask"].argmax())


def test_streams_go_on_without_a_seed():
    envs = GgpVectorEnv("dicerace", 2)
    first = record(envs, [1, 2])
    second, third = record(envs, None), record(envs, [None, 5])
    assert (first != second).any()
    again = GgpVectorEnv("dicerace", 2)
    record(again, [1, 7])
    np.testing.assert_array_equal(record(again, None)[0], second[0])
    np.testing.assert_array_equal(record(again, [None, 9])[0], third[0])


@pytest.mark.parametrize(
    ("mask", "error"),
    [
        ([True, False, True], TypeError),
        (np.array([1, 0, 1]), TypeError),
        (np.array([True]), ValueError),
        (np.array(True), ValueError),
        (np.zeros(3, bool), ValueError),
    ],
)
def test_masks_of_reset_are_as_gymnasium_has_them(mask, error):
    envs = GgpVectorEnv("tictactoe", 3)
    envs.reset(seed=0)
    with pytest.raises(error, match="reset_mask"):
        envs.reset(options={"reset_mask": mask})


@pytest.mark.parametrize("how", [None, "sync"])
def test_max_episode_steps_counts_the_steps_of_the_agent(how):
    envs = gymnasium.make_vec("ggp/eightpuzzle-v0", 2, vectorization_mode=how, max_episode_steps=5)
    _, infos = envs.reset(seed=0)
    cut = []
    for _ in range(14):
        _, _, terminated, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        assert not terminated.any()
        cut.append(truncated.tolist())
    assert [step for step, each in enumerate(cut) if each == [True, True]] == [4, 10]  # a step begins anew
    assert sum(map(any, cut)) == 2


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_games_cut_by_the_adapter_end_like_others(mode):
    envs = GgpVectorEnv("connectfour", 3, max_episode_steps=2, autoreset_mode=mode)
    _, infos = envs.reset(seed=0)
    cut = []
    for _ in range(6):
        _, _, _, truncated, infos = envs.step(infos["action_mask"].argmax(axis=1))
        cut.append(bool(truncated[1]))
        assert envs.state.step_count.max() <= 4  # the moves of both
    expected = {
        AutoresetMode.NEXT_STEP: [False, True, False] * 2,
        AutoresetMode.SAME_STEP: [False, True] * 3,
        AutoresetMode.DISABLED: [False] + [True] * 5,
    }
    assert cut == expected[mode]
    envs.reset(options={"reset_mask": np.array([False, True, False])})
    assert envs.state.step_count[1] == 0
    assert not envs.step(np.zeros(3, int))[3][1]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("opponent", ["random", "mcts:simulations=3"])
def test_environments_are_copied_with_all_that_they_remember(opponent, threads):
    count = 80 if opponent == "random" else 3
    envs = GgpVectorEnv("tictactoe", count, opponent=opponent, threads=threads, autoreset_mode="SameStep")
    _, infos = envs.reset(seed=1)
    _, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
    actions = infos["action_mask"].argmax(axis=1)
    copies = [copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))]
    expected = [envs.step(actions)[0]] + [found[0] for found in play(envs, 3)]
    for each in copies:
        shown = [each.step(actions)[0]] + [found[0] for found in play(each, 3)]
        for x, y in zip(expected, shown, strict=True):
            np.testing.assert_array_equal(x, y)
    single = gymnasium.make("ggp/tictactoe-v0", opponent=opponent)
    single.reset(seed=1)
    assert copy.deepcopy(single).step(0)[2] is False


def test_environments_are_reset_first():
    for call in (lambda env: env.step([0]), lambda env: env.action_masks(), lambda env: env.state):
        with pytest.raises(gymnasium.error.ResetNeeded):
            call(GgpVectorEnv("tictactoe", 1))


def test_a_searching_opponent_depends_on_its_own_seed_alone():
    one, other = (
        record(GgpVectorEnv("tictactoe", 2, opponent="mcts:simulations=2"), seed, 4)
        for seed in ([1, 2], [3, 2])
    )
    np.testing.assert_array_equal(one[1], other[1])


def test_a_reset_by_mask_takes_the_seeds_of_those_environments():
    def start(seed, then):
        envs = GgpVectorEnv("dicerace", 3, autoreset_mode="Disabled")
        envs.reset(seed=seed)
        return record(envs, then, 5, options={"reset_mask": np.array([True, False, True])})

    one, other = start([1, 2, 3], [4, 5, 6]), start([7, 2, 9], [4, 8, None])
    np.testing.assert_array_equal(one[:2], other[:2])
    assert len({start([1, 2, 3], [seed, 5, 6])[0].tobytes() for seed in range(8)}) > 2


def test_what_an_opponent_returns_is_checked():
    for found in (np.zeros(3), np.zeros(1, int), 0):
        envs = GgpVectorEnv("tictactoe", 3, opponent=lambda state, rng, found=found: found)
        envs.reset(seed=0)
        with pytest.raises(ValueError, match=r"an opponent returns integers of shape \(3,\)"):
            envs.step(np.zeros(3, int))
    commands = np.array([-2, -3])
    envs = GgpVectorEnv("tictactoe", 2, opponent=lambda state, rng: commands, autoreset_mode="Disabled")
    envs.reset(seed=0)
    assert envs.step(np.zeros(2, int))[1].tolist() == [1, 1]  # illegal, not HOLD and RESTART


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"seat": "z"}, ValueError, "seat is 0 to 1, x, o or all"),
        ({"seat": 1.0}, TypeError, "seat is an integer"),
        ({"num_envs": 2.0}, TypeError, "num_envs is an integer"),
        ({"num_envs": 0}, ValueError, "num_envs is at least 1"),
        ({"max_episode_steps": 0}, ValueError, "max_episode_steps is at least 1, or -1"),
        ({"max_episode_steps": 5.0}, TypeError, "max_episode_steps is an integer"),
        ({"opponent": "alphabeta"}, ValueError, "opponent is random"),
        ({"opponent": "mcts:simulations=many"}, ValueError, "simulations is a positive number"),
        ({"opponent": "mcts:simulations=\u00b2"}, ValueError, "simulations is a positive number"),
        (
            {"opponent": "mcts:sims=4"},
            ValueError,
            "unknown option 'sims'; known options: simulations, policy",
        ),
        ({"opponent": "mcts:policy=best"}, ValueError, "policy"),
        ({"opponent": "mcts:c=many"}, ValueError, "c must be a number"),
        ({"opponent": 7}, TypeError, "opponent is a text or a function"),
    ],
)
def test_wrong_choices_are_refused(choices, error, message):
    with pytest.raises(error, match=message):
        GgpVectorEnv("tictactoe", **choices)


@pytest.mark.parametrize("make", [adapter.GgpEnv, GgpVectorEnv, gymnasium.make, gymnasium.make_vec])
def test_unknown_keywords_are_named(make):
    name = "ggp/tictactoe-v0" if make in (gymnasium.make, gymnasium.make_vec) else "tictactoe"
    with pytest.raises(TypeError, match=r"GgpVectorEnv has no keyword 'max_step', did you mean max_steps\?"):
        make(name, max_step=5)


def test_choices_are_taken_as_given():
    assert GgpVectorEnv("tictactoe", np.int64(2), seat=np.int64(1), seed=np.int64(3)).seat == 1
    envs = gymnasium.make_vec("ggp/tictactoe-v0", num_envs=70, seat="o").unwrapped
    assert (type(envs), envs.seat) == (GgpVectorEnv, 1)
    for most in (None, -1):
        assert gymnasium.make_vec("ggp/tictactoe-v0", 2, max_episode_steps=most).num_envs == 2
    adapter.register_games()
    assert sum(name.startswith("ggp/") for name in gymnasium.registry) >= 40


@pytest.mark.parametrize(
    ("seed", "error"),
    [(seed, TypeError) for seed in (4.0, "4", [1, 2.5, 3], ["1", "2", "3"], {1, 2, 3})]
    + [(seed, ValueError) for seed in ([1, 2], [], (1, 2, 3, 4), np.arange(2), -1, [1, -2, 3])],
)
def test_wrong_seeds_are_refused(seed, error):
    with pytest.raises(error, match=r"seed (is an integer|has 3 integers|is at least 0)"):
        GgpVectorEnv("dicerace", 3).reset(seed=seed)
    if np.isscalar(seed):
        with pytest.raises(error, match="seed is"):
            adapter.GgpEnv("dicerace").reset(seed=seed)


def test_generators_of_gymnasium_follow_the_seed():
    for env in (adapter.GgpEnv("dicerace"), GgpVectorEnv("dicerace", 2)):
        env.reset(seed=np.int64(5))
        assert env.np_random_seed == 5
