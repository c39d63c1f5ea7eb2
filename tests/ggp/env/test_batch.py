"""Environments step by step against the `Game` protocol, and what they promise about values and seeds."""

import numpy as np
import pytest

from ggp.env import HOLD, RESTART, ActionError, make
from ggp.env.kernels.arrays import Step
from ggp.env.kernels.step import step_blocks
from ggp.game import RANDOM_ROLE, GoalError
from ggp.jit.unboxed import Unboxed

TURNS = ["tictactoe", "connectfour_4x4", "breakthrough_4x4", "othello_4x4", "hex_3x3", "eightpuzzle", "nim"]
TURNS += ["bucket"]
JOINT = ["rockpaperscissors", "goofspiel", "prisoners_dilemma", "tron"]
CHANCE = ["dicerace"]
FIELDS = (
    "current_player",
    "observation",
    "legal_action_mask",
    "rewards",
    "terminated",
    "truncated",
    "goals",
    "step_count",
)


def random_actions(state, rng):
    """A random legal action per environment, or per agent; -1 where there is at most one."""
    mask = state.legal_action_mask
    drawn = np.where(mask, rng.random(mask.shape), -1.0).argmax(axis=-1).astype(np.int32)
    return drawn if mask.ndim == 2 else np.where(mask.sum(axis=-1) > 1, drawn, -1)


def facts_of(env, state, n):
    names = np.array(env.observed.names)
    return set(names[state.observation[n].astype(bool)])


def assert_like_the_game(env, state, n, game):
    """What environment n says of its state is what the rules say; returns that state."""
    position = env.state_of(state, n)
    assert facts_of(env, state, n) == {str(fact) for fact in game.facts(position)}
    is_over = game.is_terminal(position)
    assert is_over == bool(state.terminated[n])
    mask = state.legal_action_mask[n]
    if is_over:
        assert mask.all()
        return position
    for a, role in enumerate(env.actions.agents):
        legal = {env.move_to_action(a, move) for move in game.legal_moves(position, role)}
        if env.is_joint:
            assert set(np.flatnonzero(mask[a])) == legal
        elif a == state.current_player[n]:
            assert set(np.flatnonzero(mask)) == legal
        else:
            assert len(legal) == 1
    return position


def play_beside(name, *, count, steps, seed, **choices):
    """Random actions in environments and the same moves in the game, compared in every state."""
    env = make(name, count, seed=seed, **choices)
    game = env.game
    rng = np.random.default_rng(seed)
    state = env.init()
    positions = [assert_like_the_game(env, state, n, game) for n in range(count)]
    for _ in range(steps):
        actions = random_actions(state, rng)
        following = env.step(state, actions)
        for n in range(count):
            if state.terminated[n]:
                assert env.state_of(following, n) == positions[n]
                assert not following.rewards[n].any()
                continue
            joint_move = joint_move_of(env, game, positions[n], state, actions, n)
            if joint_move is not None:
                assert env.state_of(following, n) == game.next_state(positions[n], joint_move)
            positions[n] = assert_like_the_game(env, following, n, game)
            assert_goals(env, following, n, game, positions[n])
        state = following
    return env, state


def joint_move_of(env, game, position, state, actions, n):
    """The joint move that an action means; None where chance has moved."""
    if RANDOM_ROLE in game.roles:
        return None
    moves = []
    for a, role in enumerate(env.actions.agents):
        action = actions[n, a] if env.is_joint else (actions[n] if a == state.current_player[n] else -1)
        moves.append(env.action_to_move(a, action) if action >= 0 else game.legal_moves(position, role)[0])
    return moves


def assert_goals(env, state, n, game, position):
    for a, role in enumerate(env.actions.agents):
        try:
            goal = game.goal(position, role) if game.is_terminal(position) else -1
        except GoalError:
            goal = -1
        assert state.goals[n, a] == goal
        assert state.rewards[n, a] == (pytest.approx(goal / 50 - 1) if goal >= 0 else 0)


@pytest.mark.parametrize("name", [*TURNS, *JOINT, *CHANCE])
def test_environments_do_what_the_rules_say(name):
    env, state = play_beside(name, count=9, steps=70, seed=4)
    assert env.is_joint == (name in JOINT)
    assert state.terminated.any() or name == "eightpuzzle"


def test_states_can_be_kept_split_and_stepped_from_again():
    env = make("tictactoe", 700)
    rng = np.random.default_rng(1)
    state = env.init()
    for _ in range(3):
        state = env.step(state, random_actions(state, rng))
    ids = np.array([699, 0, 3, 512, 511])
    some = state[ids]
    actions = random_actions(state, rng)
    after, again, of_some = env.step(state, actions), env.step(state, actions), env.step(some, actions[ids])
    np.testing.assert_array_equal(after.observation, again.observation)
    np.testing.assert_array_equal(after.observation[ids], of_some.observation)
    assert [env.state_of(of_some, i) for i in range(5)] == [env.state_of(after, int(i)) for i in ids]
    assert len(state[:10]) == 10
    assert len(state[state.current_player == 1]) == 700


def test_an_illegal_action_ends_the_game_and_costs_its_agent_one():
    env = make("tictactoe", 3)
    state = env.step(env.init(), [0, 1, 2])
    state = env.step(state, [0, 0, 77])  # taken, fine, no such action
    np.testing.assert_array_equal(state.terminated, [True, False, True])
    np.testing.assert_array_equal(state.rewards, [[1, -1], [0, 0], [1, -1]])
    assert state.legal_action_mask[0].all()
    after = env.step(state, [0, 1, 0])
    assert not after.rewards[[0, 2]].any()
    assert after.terminated[[0, 2]].all()


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
def test_a_block_writes_nothing_into_the_next_one(name):
    """Which may be another thread's, and written already."""
    env = make(name, 600, observation="board")
    state = env.init()
    following = env.step(state, random_actions(state, np.random.default_rng(0)))
    arrays = [following.observation, following.legal_action_mask, following.terminated, following.truncated]
    before = [array[512:].copy() for array in arrays]
    for array in arrays:
        array[512:] = ~array[512:] & 1 if array.dtype == np.bool_ else array[512:] + 7
    marked = [array[512:].copy() for array in arrays]
    share = env._split(600)[0].value
    first_block = Unboxed(share._replace(rules=share.rules._replace(end=1)))
    step = Unboxed(Step(state.batch, following.batch, following.readings))
    step_blocks(first_block, step, random_actions(state, np.random.default_rng(0)))
    for array, mark, old in zip(arrays, marked, before, strict=True):
        np.testing.assert_array_equal(array[512:], mark)
        assert (mark != old).any()


@pytest.mark.parametrize(
    ("rules", "facts", "moves"),
    [
        ("(role a) (legal a x) (legal a y) (goal a 50) (<= terminal (role b))", 0, 2),
        ("(role a) (init s) (<= (legal a x) (role b)) (goal a 50) (<= terminal (role b))", 1, 0),
    ],
)
def test_without_facts_or_moves_arrays_are_empty(rules, facts, moves):
    env = make(rules, 5)
    state = env.step(env.init(), np.zeros(5, np.int32))
    assert (state.observation.shape, state.legal_action_mask.shape) == ((5, facts), (5, moves))
    assert state.truncated.tolist() == [not moves] * 5


def test_legal_moves_at_the_end_are_no_choices():
    rules = "(role a) (role b) (init s) (legal a x) (legal a y) (legal b x) (<= (legal b y) (not (true s)))"
    env = make(f"{rules} (goal a 100) (goal b 0) (<= terminal (not (true s)))", 3)
    state = env.step(env.init(), np.zeros(3, np.int32))
    assert state.terminated.all()


def test_games_begin_again_by_themselves():
    env = make("tictactoe", 600, auto_reset=True)
    rng = np.random.default_rng(2)
    state = first = env.init()
    for array in (state.observation, state.legal_action_mask, state.rewards, state.current_player):
        assert np.shares_memory(array, np.from_dlpack(array))
    ended = 0
    for _ in range(30):
        state = env.step(state, random_actions(state, rng))
        ended += int(state.terminated.sum())
        np.testing.assert_array_equal(
            state.observation[state.terminated], first.observation[: state.terminated.sum()]
        )
        assert (state.step_count[state.terminated] == 0).all()
        assert (state.rewards[~state.terminated] == 0).all()
        assert set(map(tuple, state.rewards[state.terminated])) <= {(1, -1), (-1, 1), (0, 0)}
    assert ended > 1500


def test_games_are_cut_after_the_most_steps():
    env = make("eightpuzzle", 5, max_steps=4)
    state = env.init()
    rng = np.random.default_rng(0)
    for step in range(6):
        state = env.step(state, random_actions(state, rng))
        assert state.truncated.all() == (step >= 3)
        assert not state.terminated.any()
    assert (state.step_count == 4).all()


def test_rewards_can_be_shares():
    env = make("tictactoe", 200, rewards="unit")
    rng = np.random.default_rng(0)
    state = env.init()
    seen = set()
    for _ in range(9):
        state = env.step(state, random_actions(state, rng))
        seen |= set(map(tuple, state.rewards[state.goals[:, 0] >= 0]))
    assert seen == {(1, 0), (0, 1), (0.5, 0.5)}


def test_out_gives_its_arrays_to_the_next_state():
    env = make("tictactoe", 5)
    first = env.init()
    second = env.step(first, [0, 1, 2, 3, 4])
    expected = env.step(second, [5, 5, 5, 5, 5])
    third = env.step(second, [5, 5, 5, 5, 5], out=first)
    assert third.observation.base is first.observation.base
    np.testing.assert_array_equal(third.observation, expected.observation)


def test_percepts_are_all_that_kuhn_players_see():
    env = make("kuhn_poker", 400, simultaneous=True)
    names = env.observed.names
    state = env.init()
    rng = np.random.default_rng(5)
    assert state.observation.shape == (400, 2, 2, len(names))
    cards = [p for p, name in enumerate(names) if name.startswith("(card")]
    dealt = state.observation[:, :, 1, cards]
    assert (dealt.sum(axis=2) == 1).all()  # each has a card, and knows nothing of the other's
    assert not (dealt[:, 0] & dealt[:, 1]).any()
    assert len(np.unique(dealt.reshape(400, -1), axis=0)) == 6
    following = env.step(state, random_actions(state, rng))
    np.testing.assert_array_equal(following.observation[:, :, 1, cards], dealt)
    assert not following.observation[:, 0, 0, cards].any()  # the card came before the first player's action
    assert following.observation[:, 1, 0, cards].any()  # the second has not acted yet
    told = [p for p, name in enumerate(names) if name.startswith("(move first")]
    assert (following.observation[:, 1, 0, told].sum(axis=1) == 1).all()
    assert make("kuhn_poker", 3).init().observation.ndim == 3
    assert make("kuhn_poker", 3, observation="facts").init().observation.ndim == 2


def test_numbers_of_numpy_are_numbers():
    number = np.int64(3)
    env = make("dicerace", number, seed=number, max_steps=np.uint8(9), threads=np.int32(1))
    state = env.init()
    assert state == make("dicerace", 3, seed=3, max_steps=9).init()
    assert env.init(seed=np.int64(7), num_envs=np.int64(2)) == env.init(seed=7, num_envs=2)
    assert env.init(seed=np.arange(3)) == env.init(seed=[0, 1, 2]) == env.init(seed=(0, 1, 2))
    assert env.state_of(state, np.int64(1)) == env.state_of(state, 1)
    assert env.move_to_action(np.int64(0), env.action_to_move(np.int64(0), np.int64(0))) == 0


def assert_same(one, other, rows=slice(None), rows_of_other=None, fields=FIELDS):
    for name in fields:
        expected = getattr(other, name)[rows if rows_of_other is None else rows_of_other]
        np.testing.assert_array_equal(getattr(one, name)[rows], expected, name)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 512, 513, 1030])
def test_every_number_of_environments_plays_the_same_games(count):
    env = make("connectfour_4x4", 1030)
    whole, part = env.init(seed=3), env.init(seed=3, num_envs=count)
    for step in range(20):
        actions = random_actions(whole, np.random.default_rng(step))
        whole, part = env.step(whole, actions), env.step(part, actions[:count])
        assert_same(part, whole, rows_of_other=slice(count))


def test_threads_change_nothing():
    states = []
    for threads in (1, 2, 3):
        env = make("othello_4x4", 20_000, threads=threads, auto_reset=True)
        rng = np.random.default_rng(0)
        state = env.init()
        for _ in range(15):
            state = env.step(state, random_actions(state, rng), copy=False)
        states.append(state)
    assert states[0] == states[1] == states[2]


LARGE = (2**31 - 1, 2**32, 2**32 - 2, -(2**32) - 3, 2**63 - 1, 2**64 - 2)


@pytest.mark.parametrize("action", [10, 250, 251, 252, 255, 256, -1, -4, -256, *LARGE])
def test_numbers_that_are_no_action_are_illegal_whatever_their_lowest_bytes(action):
    env = make("tictactoe", 70)
    state = env.init()
    actions = random_actions(state, np.random.default_rng(0)).astype(
        np.uint64 if action >= 2**63 else np.int64
    )
    actions[69] = action
    state = env.step(state, actions)
    np.testing.assert_array_equal(np.flatnonzero(state.terminated), [69])
    np.testing.assert_array_equal(state.rewards[69], [-1, 1])
    assert not state.rewards[:69].any()


@pytest.mark.parametrize("action", [-1, 250, 251, 255, 256])
def test_joint_numbers_that_are_no_action_are_illegal(action):
    env = make("rockpaperscissors", 70)
    actions = np.zeros((70, 2), np.int32)
    actions[69] = 1, action
    state = env.step(env.init(), actions)
    np.testing.assert_array_equal(state.rewards[69], [1, -1])
    np.testing.assert_array_equal(state.rewards[:69], 0)


@pytest.mark.parametrize("check", [False, True])
@pytest.mark.parametrize(
    "actions", [[0.0, 1.0], [0.5, 1.0], ["0", "1"], [True, False], [0], [[0, 1]], [[1], [2]], 3, None]
)
def test_actions_are_integers_one_for_each_environment(actions, check):
    env = make("tictactoe", 2, check=check)
    with pytest.raises(ActionError, match=r"actions are integers of shape \(2,\), not .+ of shape"):
        env.step(env.init(), actions)


def test_checked_environments_refuse_illegal_actions():
    env = make("tictactoe", 2, check=True)
    state = env.step(env.init(), [0, 1])
    with pytest.raises(ActionError, match="environment 1: action 1 is not legal"):
        env.step(state, [1, 1])
    with pytest.raises(ActionError, match="simultaneous=True"):
        make("rockpaperscissors", 2, simultaneous=False).init()


def test_chance_depends_on_the_seed_of_each_environment_alone():
    env = make("dicerace", 300)
    of_each = [np.arange(300), np.arange(300) + 300 * (np.arange(300) == 1)]
    states = [env.init(seed=seed) for seed in (5, 5, 6, *of_each)]
    few, many = env.init(seed=1, num_envs=3), env.init(seed=1, num_envs=600)
    np.testing.assert_array_equal(few.observation, many.observation[:3])
    assert len(np.unique(many.observation, axis=0)) == 3  # a die has three faces
    for _ in range(6):
        actions = random_actions(states[0], np.random.default_rng(0))
        states = [env.step(state, actions) for state in states]
    one, again, other, first, changed = states
    assert one == again
    assert one != other
    assert len(np.unique(one.observation, axis=0)) > 20
    assert first[[0, 2]] == changed[[0, 2]]
    assert first[[1]] != changed[[1]]


def test_environments_can_be_held_and_restarted():
    env = make("tictactoe", 600)
    rng = np.random.default_rng(3)
    first = state = env.init()
    for _ in range(4):
        state = env.step(state, random_actions(state, rng))
    actions = random_actions(state, rng)
    actions[:200] = HOLD
    actions[200:400] = RESTART
    following = env.step(state, actions)
    kept = [name for name in FIELDS if name not in ("rewards", "goals")]
    assert_same(following, state, slice(200), fields=kept)
    assert_same(following, first, slice(200, 400), fields=kept)
    assert not following.rewards[:400].any()
    assert (following.step_count[400:] == 5).all()


@pytest.mark.parametrize(
    ("name", "choices"),
    [("tictactoe", {}), ("tictactoe", {"observation": "board"}), ("rockpaperscissors", {}), ("tron", {})],
)
def test_new_games_need_not_be_settled(name, choices):
    """Games that begin with the first choice as it was kept go on as those that are settled again."""
    fast, slow = (make(name, 70, auto_reset=True, max_steps=9, **choices) for _ in range(2))
    slow._note_first_choice = lambda state: None
    states = [fast.init(), slow.init()]
    assert (fast._begins_alike, slow._begins_alike) == (True, False)
    rng = np.random.default_rng(0)
    begun = 0
    for _ in range(25):
        actions = random_actions(states[1], rng)
        states = [env.step(state, actions) for env, state in zip((fast, slow), states, strict=True)]
        begun += int((states[1].terminated | states[1].truncated).sum())
        assert_same(*states)
    assert begun > 70


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        ({"observation": "pixels"}, ValueError, "observation is one of facts, board, percepts"),
        ({"rewards": "goals"}, ValueError, "rewards is one of"),
        ({"view": "sideways"}, ValueError, "view is one of"),
        (
            {"max_episode_steps": 1},
            TypeError,
            "make has no keyword 'max_episode_steps', did you mean max_steps",
        ),
        ({"autoreset": 1}, TypeError, "make has no keyword 'autoreset', did you mean auto_reset"),
        ({"num_threads": 1}, TypeError, "make has no keyword 'num_threads', did you mean threads"),
        *(
            ({name: value}, TypeError, f"{name} is True or False")
            for name in ("auto_reset", "check", "simultaneous")
            for value in ("no", 2, 1.0)
        ),
        *(
            ({name: value}, TypeError, f"{name} is an integer")
            for name in ("num_envs", "seed", "threads", "max_steps")
            for value in (4.0, "4", [4], None)
            if (name, value) != ("max_steps", None)
        ),
        *(
            ({name: value}, ValueError, f"{name} is at least 1")
            for name in ("num_envs", "threads", "max_steps")
            for value in (0, -1)
        ),
    ],
)
def test_make_refuses_wrong_choices(choices, error, message):
    with pytest.raises(error, match=message) as caught:
        make("tictactoe", **choices)
    assert "Settings" not in str(caught.value)


@pytest.mark.parametrize(
    ("choices", "error", "message"),
    [
        *(({"seed": seed}, TypeError, "seed is an integer") for seed in (4.0, "4", [1, 2.0, 3], {1, 2, 3})),
        ({"seed": [1, 2]}, ValueError, "seed has 3 integers, not 2"),
        ({"num_envs": 2.0}, TypeError, "num_envs is an integer"),
        ({"num_envs": 0}, ValueError, "num_envs is at least 1"),
    ],
)
def test_init_refuses_wrong_choices(choices, error, message):
    with pytest.raises(error, match=message):
        make("dicerace", 3).init(**choices)
