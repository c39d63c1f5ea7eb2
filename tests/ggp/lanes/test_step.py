"""The step of all kernels against its naive twin, and that nothing goes around it."""

import re

import numpy as np
import pytest

from ggp.jit.rows import make_rows, words_of
from ggp.lanes.engine import Lanes
from ggp.lanes.keys.state_code import decode_keys, encode_states, make_code
from ggp.lanes.layout import arrange
from tests.conftest import ROOT
from tests.ggp.lanes.kernels import KEEP, TAKE_OTHER, advance_lanes, put_key, step_from_keys
from tests.ggp.lanes.test_kernels import lanes_of
from tests.oracles import naive_lanes, naive_step


@pytest.mark.parametrize("words", [1, 8])
@pytest.mark.parametrize("seed", range(6))
def test_step_agrees_with_the_naive_twin(seed, words):
    tables = naive_lanes.random_tables(seed, fluents=70, gates=150)
    layout = arrange(tables)
    lanes = Lanes(layout, words=words)
    code = make_code(70)
    states = np.random.default_rng(seed).random((80, 70)) < 0.5
    chosen = np.random.default_rng(seed).integers(0, len(states), min(75, lanes.lane_count))
    roles, moves = tables.role_count, len(tables.legal)
    legal_count = np.zeros(lanes.lane_count * roles, np.int32)
    legal_move = np.zeros(lanes.lane_count * moves, np.int32)
    goal = np.zeros(len(chosen) * roles, np.uint8)
    reached = np.zeros(lanes.lane_count * code.word_count, np.uint64)
    step_from_keys(
        layout,
        code,
        tables.first_move,
        encode_states(code, states).reshape(-1),
        chosen,
        lanes.arrays.value,
        make_rows(64 * code.word_count, words),
        make_rows(2, words),
        np.zeros(64, np.uint64),
        legal_count,
        legal_move,
        goal,
        reached,
    )
    following = decode_keys(code, reached.reshape(lanes.lane_count, -1))
    for lane, number in enumerate(chosen):
        expected = naive_step.step(tables, states[number])
        for role, legal in enumerate(expected.legal):
            place = lane * moves + tables.first_move[role]
            assert legal_move[place : place + legal_count[lane * roles + role]].tolist() == legal
        assert goal[lane * roles : lane * roles + roles].tolist() == expected.goals
        np.testing.assert_array_equal(following[lane], expected.following)


@pytest.mark.parametrize("way", [KEEP, TAKE_OTHER])
@pytest.mark.parametrize("seed", range(4))
def test_lanes_advance_or_take_another_state(seed, way):
    tables = naive_lanes.random_tables(seed, fluents=20, gates=30)
    lanes = Lanes(tables, words=1)
    rng = np.random.default_rng(seed)
    states, moves = rng.random((20, 64)) < 0.5, rng.random((8, 64)) < 0.5
    is_moved = rng.random(64) < 0.5
    lanes.set_states(states)
    lanes.set_moves(moves)
    lanes.settle()
    layout, value = lanes.tables, lanes.arrays.value
    other, moved = make_rows(layout.row_count, 1), make_rows(1, 1)
    words_of(moved)[0] = np.packbits(is_moved, bitorder="little").view(np.uint64)
    words_of(other)[:] = rng.integers(2**64, size=words_of(other).shape, dtype=np.uint64)
    given = lanes_of(other)[1:21]
    advance_lanes(layout, value, other, lanes.arrays.saved, moved, way)
    for lane in range(64):
        settled = naive_lanes.settle(tables, states[:, lane], moves[:, lane])
        following = naive_lanes.holds(settled, tables.next)
        if way != TAKE_OTHER:
            np.testing.assert_array_equal(lanes_of(other)[1:21, lane], following)
        stayed = {KEEP: states[:, lane], TAKE_OTHER: given[:, lane]}[way]
        np.testing.assert_array_equal(lanes_of(value)[1:21, lane], following if is_moved[lane] else stayed)


def test_one_state_is_put_into_every_lane():
    code = make_code(70, [(0, 1, 2), (5, 6, 7, 8)])
    states = np.random.default_rng(2).random((4, 70)) < 0.5
    states[:, [0, 1, 2, 5, 6, 7, 8]] = False
    states[1, [2, 6]] = True
    value = make_rows(71, 2)
    for number in range(4):
        put_key(code, encode_states(code, states).reshape(-1), number, value)
        np.testing.assert_array_equal(lanes_of(value)[1:], np.repeat(states[number][:, None], 128, axis=1))


def test_only_the_step_settles():
    """Native code for a game will be called where gates are settled now: in one place."""
    use = re.compile(r"(?:from|import) ggp\.lanes\.settle\b|ggp\.lanes import .*\bsettle\b|schedule\.phase_")
    sources = {path.relative_to(ROOT).as_posix(): path for path in (ROOT / "ggp").rglob("*.py")}
    users = [name for name, path in sources.items() if use.search(path.read_text(encoding="utf-8"))]
    assert sorted(users) == ["ggp/lanes/settle.py", "ggp/lanes/step.py"]
