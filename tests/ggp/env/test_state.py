"""States and environments as values: copied, pickled, compared, and refused where they do not belong."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest

from ggp.env import ActionError, make
from ggp.env.opponents import random_actions
from tests.ggp.env.test_batch import assert_same

COPIES = {
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
    **{
        f"pickle {protocol}": lambda x, p=protocol: pickle.loads(pickle.dumps(x, p))
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)
    },
}


def after(env, state, steps, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(steps):
        state = env.step(state, random_actions(state, rng))
    return state


def without_alignment(array):
    """The same array at an address that is no multiple of 64."""
    memory = np.zeros(array.nbytes + 128, np.uint8)
    start = -memory.ctypes.data % 64 + 16
    copied = memory[start : start + array.nbytes].view(array.dtype)
    copied[...] = array
    return copied


@pytest.mark.parametrize("how", COPIES)
@pytest.mark.parametrize(("name", "count"), [("tictactoe", 600), ("dicerace", 65), ("kuhn_poker", 70)])
def test_copies_of_a_state_are_equal_and_go_on_alike(name, count, how):
    env = make(name, count, seed=3)
    state = after(env, env.init(), 2)
    copied = COPIES[how](state)
    assert copied == state
    assert not np.shares_memory(copied.observation, state.observation)
    assert after(env, copied, 3) == after(env, state, 3)
    assert_same(copied, state)


def test_many_copies_are_stepped_whatever_address_they_get():
    env = make("tictactoe", 300)
    state = after(env, env.init(), 1)
    copies = [COPIES[how](state) for how in ("deepcopy", "pickle 5") for _ in range(20)]
    following = after(env, state, 2)
    assert all(after(env, each, 2) == following for each in copies)


@pytest.mark.parametrize("how", ["deepcopy", "pickle 5"])
@pytest.mark.parametrize("threads", [1, 2])
def test_copies_of_an_environment_take_its_states(how, threads):
    env = make("connectfour_4x4", 200, threads=threads, seed=4, auto_reset=True)
    state = after(env, env.init(), 5)
    copied = COPIES[how](env)
    assert copied.settings == env.settings
    assert copied.init() == env.init()
    assert after(copied, state, 9) == after(env, state, 9)
    assert after(copied, COPIES[how](state), 9) == after(env, state, 9)


def test_a_copied_state_can_be_overwritten():
    env = make("tictactoe", 100)
    state = env.init()
    out = copy.deepcopy(state)
    actions = random_actions(state, np.random.default_rng(0))
    assert env.step(state, actions, out=out) is out
    assert out == env.step(state, actions)


def test_a_state_is_refused_by_environments_of_another_game():
    env, other = make("tictactoe", 2), make("connectfour", 2)
    for state, out in ((other.init(), None), (env.init(), other.init())):
        with pytest.raises(
            ValueError, match=r"a state of connectfour is not of this environment of tictactoe"
        ):
            env.step(state, [0, 0], out=out)
    with pytest.raises(ValueError, match="is not of this environment"):
        env.state_of(other.init(), 0)
    with pytest.raises(TypeError, match="a state is an EnvState"):
        env.step(env.init().observation, [0, 0])


@pytest.mark.parametrize(
    "choices",
    [{"observation": "board"}, {"simultaneous": True}, {"observation": "board", "view": "absolute"}],
    ids=str,
)
def test_a_state_is_refused_by_environments_with_other_arrays(choices):
    env, other = make("tictactoe", 2), make("tictactoe", 2, **choices)
    with pytest.raises(ValueError, match="another choice of observation, view or simultaneous"):
        env.step(env.init(), [0, 0], out=other.init())


def test_a_state_of_other_rules_with_the_same_facts_is_refused(tmp_path):
    sheet = """
        (role robot) (<= (base (count ?n)) (next-to ?n ?m)) (base (count 3)) (input robot {move})
        (init (count 1)) (next-to 1 2) (next-to 2 3) (<= (legal robot {move}) (true (count ?n)))
        (<= (next (count ?m)) (true (count ?n)) (next-to ?n ?m)) (<= terminal (true (count 3)))
        (<= (goal robot {goal}) (true (count 3)))
    """
    envs = []
    for number, goal in enumerate((100, 0)):
        path = tmp_path / f"count{number}.kif"
        path.write_text(sheet.format(move="wait", goal=goal))
        envs.append(make(path, 2))
    with pytest.raises(ValueError, match="other rules"):
        envs[0].step(envs[1].init(), [0, 0])


def test_a_state_of_an_environment_made_alike_is_taken():
    one, other = make("tictactoe", 100), make("tictactoe", 3, max_steps=5, seed=9)
    assert after(other, one.init(), 4) == after(one, one.init(), 4)


def test_out_has_as_many_environments():
    env = make("tictactoe", 100)
    state = env.init()
    for out in (env.init(num_envs=99), env.init(num_envs=101), state):
        with pytest.raises(ValueError, match="out is another state of as many environments"):
            env.step(state, np.zeros(100, np.int32), out=out)


def test_replaced_arrays_are_checked_before_a_kernel_sees_them():
    env = make("tictactoe", 100)
    state = env.init()
    rows = state.batch.fluents
    wrong = [
        state.batch._replace(fluents=without_alignment(rows)),
        state.batch._replace(fluents=rows[:-1]),
        state.batch._replace(flags=state.batch.flags["words"]),
        state.batch._replace(steps=state.batch.steps[:50]),
        state.batch._replace(seed=state.batch.seed[::-1]),
        state.batch._replace(seed=state.batch.seed.tolist()),
    ]
    for batch in wrong:
        with pytest.raises(ValueError, match=r"batch\.\w+ is not memory of tictactoe"):
            dataclasses.replace(state, batch=batch)


def test_what_agents_read_may_be_replaced():
    env = make("tictactoe", 100)
    state = env.init()
    scaled = dataclasses.replace(state, observation=state.observation / 2)
    short = dataclasses.replace(state, current_player=np.zeros(3, np.int32), step_count=np.zeros(3, np.int32))
    assert scaled != state
    assert len(short) == 100
    assert COPIES["pickle 5"](scaled).observation.dtype == np.float64
    actions = random_actions(state, np.random.default_rng(0))
    assert env.step(scaled, actions) == env.step(short, actions) == env.step(state, actions)
    with pytest.raises(ActionError, match=r"shape \(100,\)"):
        env.step(short, actions[:3])
    with pytest.raises(ValueError, match="out is another state"):
        env.step(state, actions, out=scaled)


def test_reshaping_a_field_in_place_leaves_the_memory_of_kernels_alone():
    env = make("tictactoe", 128)
    state, out = env.init(), env.init()
    for field in ("current_player", "step_count"):
        getattr(out, field).shape = (2, 64)
        getattr(state, field).shape = (2, 64)
    actions = random_actions(state, np.random.default_rng(0))
    assert env.step(state, actions, out=out).rewards.shape == (128, 2)


def test_a_state_is_a_sequence_of_states():
    env = make("tictactoe", 70)
    state = after(env, env.init(), 2)
    each = list(state)
    assert [len(one) for one in each] == [1] * 70
    assert each[69] == state[[69]] == state[69:]
    assert each[0] != each[69] or state[[0]] == state[[69]]
    assert env.state_of(each[69], 0) == env.state_of(state, 69)
    assert list(reversed(state)) == each[::-1]
    assert len(state[[]]) == 0
    assert len(env.step(state[[]], np.zeros(0, np.int32))) == 0
    with pytest.raises(IndexError, match="a list of numbers"):
        state[3]


def test_a_state_is_not_an_array():
    state = make("tictactoe", 3).init()
    for call in (
        lambda: np.concatenate([state, state]),
        lambda: np.asarray(state),
        lambda: np.stack([state]),
    ):
        with pytest.raises(TypeError, match="an EnvState is not an array"):
            call()


def test_states_are_compared_by_value():
    env = make("tictactoe", 100)
    state = env.init()
    assert state == env.init()
    assert (state != env.init()) is False
    assert state != env.step(state, np.zeros(100, np.int32))
    assert state != state[:99]
    assert state != make("connectfour", 100).init()
    assert state != 3
    one, other = (make("dicerace", 4).init(seed=[1, 2, 3, seed]) for seed in (4, 5))
    assert one[:3] == other[:3]
    assert one != other
    with pytest.raises(TypeError, match="unhashable"):
        hash(state)


@pytest.mark.parametrize("counts", [(3, 5), (70, 600), (3, 600), (600, 1100)])
def test_batches_of_many_sizes_share_what_was_prepared(counts, monkeypatch):
    """Alternating sizes and new games prepare nothing after the first time."""
    env = make("connectfour_4x4", 8, auto_reset=True)
    states = [env.init(num_envs=count) for count in counts]
    states = [after(env, state, 1) for state in states]

    def never(*arguments):
        raise AssertionError("prepared again")

    monkeypatch.setattr(env, "_split", never)
    for _ in range(3):
        states = [after(env, state, 1) for state in states]
        for count in counts:
            env.init(num_envs=count)
