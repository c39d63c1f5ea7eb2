"""Kernels against naive twins and exact distributions, also uncompiled and on older processors."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from ggp.jit.compiling import kernel
from ggp.jit.rows import ALIGNMENT, ALL_ONES, make_rows, width_of, words_of
from ggp.lanes.choose import choice_planes, choice_scratch_rows, seeded_random
from ggp.lanes.engine import Lanes
from ggp.lanes.indices import INDEX_PLANES, transpose_bits, transpose_rows
from ggp.lanes.layout import LaneTables, arrange, order_of_writing
from ggp.lanes.roulette import LARGEST_TOTAL, gibbs_weight, make_legal_moves
from ggp.lanes.step import settle_phases
from ggp.search.tree.reference.policies import gibbs_weight as twin_weight
from tests.conftest import ROOT, mostly_slow
from tests.ggp.lanes.kernel_script import apply_operations
from tests.ggp.lanes.kernels import NO_MOVE, choose, roulette, selected_moves
from tests.oracles import naive_lanes

WIDTHS = [1, 2, 4, 8]
OLDEST = "x86-64" if os.uname().machine == "x86_64" else "generic"
"""For the first, tests of machine code need some of the same kernels, which are compiled once."""


def is_plausible(observed, expected) -> bool:
    """Pearson's chi-square within five standard deviations of its mean, cells with expectation 0 empty."""
    possible = expected > 0
    assert not observed[~possible].any()
    freedom = possible.sum() - 1
    if freedom == 0:
        return bool(np.allclose(observed, expected))
    statistic = ((observed - expected)[possible] ** 2 / expected[possible]).sum()
    return bool(abs(statistic - freedom) < 5 * np.sqrt(2 * freedom))


def lanes_of(rows) -> np.ndarray:
    """bool[rows, lanes]."""
    return np.unpackbits(words_of(rows).view(np.uint8), axis=1, bitorder="little").astype(bool)


class Choices:
    """Repeated choices among rows of random legality."""

    def __init__(self, moves: tuple[int, ...], words: int, seed: int) -> None:
        self.tables = naive_lanes.choice_tables(moves)
        self.layout: LaneTables = arrange(self.tables)
        self.lanes = Lanes(self.layout, words=words)
        self.rng = np.random.default_rng(seed)
        self.random = seeded_random(words, seed)
        self.scratch = make_rows(choice_scratch_rows(self.layout), words)
        self.legal_moves = make_legal_moves(sum(moves), words)
        self.playing, self.stuck = make_rows(1, words), make_rows(1, words)
        words_of(self.playing)[:] = ALL_ONES

    def round(self, legal: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
        """bool[M, lanes]: the moves chosen, given `legal`, bool[M, lanes]."""
        self.lanes.set_states(legal)
        value = self.lanes.arrays.value
        if weight is None:
            planes = choice_planes(self.layout)
            choose(self.layout, value, self.scratch, planes, self.random, self.stuck)
        else:
            memory = self.legal_moves, self.random, self.playing, self.stuck
            roulette(self.layout, value, weight, *memory)
        moves = self.layout.move_count
        return lanes_of(value[self.layout.move0 : self.layout.move0 + moves])

    def tally(self, rounds: int, density: float, weight: np.ndarray | None = None):
        """How often each move was chosen, and the expected number."""
        first = self.tables.first_move
        shape = (self.layout.move_count, self.lanes.lane_count)
        weights = np.ones(shape[0]) if weight is None else weight.astype(float)
        observed, expected = np.zeros(shape[0]), np.zeros(shape[0])
        for _ in range(rounds):
            legal = self.rng.random(shape) < density
            for start, end in itertools.pairwise(first):
                legal[self.rng.integers(start, end, shape[1]), np.arange(shape[1])] = True
            chosen = self.round(legal, weight)
            assert not (chosen & ~legal).any()
            for start, end in itertools.pairwise(first):
                assert (chosen[start:end].sum(axis=0) == 1).all()
                of_role = legal[start:end] * weights[start:end, None]
                expected[start:end] += (of_role / of_role.sum(axis=0)).sum(axis=1)
            observed += chosen.sum(axis=1)
        return observed, expected


@pytest.mark.parametrize("words", [1, 2, 4, 8, 16])
def test_row_operations_agree_with_numpy(words):
    rows = make_rows(8, words)
    assert rows.ctypes.data % ALIGNMENT == 0
    assert width_of(rows) == words
    words_of(rows)[:] = np.random.default_rng(words).integers(0, 2**64, (8, words), dtype=np.uint64)
    expected = apply_operations(rows.copy(), plain=True)
    assert apply_operations(rows, plain=False) == expected


@pytest.mark.parametrize("words", WIDTHS)
@pytest.mark.parametrize("seed", range(6))
def test_settle_agrees_with_naive_evaluation(seed, words):
    tables = naive_lanes.random_tables(seed, gates=10 + 25 * seed, widest=2 + 2 * seed)
    lanes = Lanes(arrange(tables, window=0), words=words)
    rng = np.random.default_rng(seed)
    fluents = rng.random((tables.fluent_count, lanes.lane_count)) < 0.5
    moves = rng.random((int(tables.first_move[-1]), lanes.lane_count)) < 0.5
    lanes.set_states(fluents)
    lanes.set_moves(moves)
    lanes.settle()
    found = lanes_of(lanes.arrays.value)[lanes.tables.node_of]
    for lane in range(0, lanes.lane_count, 17):
        expected = naive_lanes.settle(tables, fluents[:, lane], moves[:, lane])
        np.testing.assert_array_equal(found[:, lane], expected)


@pytest.mark.parametrize("window", [1, 5, 8192])
@pytest.mark.parametrize("seed", range(6))
def test_gates_that_share_rows_settle_like_others(seed, window):
    tables = naive_lanes.random_tables(seed, gates=40 + 60 * seed, widest=2 + 2 * seed)
    layout = arrange(tables, window=window)
    apart = arrange(tables, window=0)
    assert layout.row_count <= apart.row_count
    sharing, single = Lanes(layout, words=1), Lanes(apart, words=1)
    rng = np.random.default_rng(seed)
    fluents = rng.random((tables.fluent_count, 64)) < 0.5
    moves = rng.random((int(tables.first_move[-1]), 64)) < 0.5
    for lanes in (sharing, single):
        lanes.set_states(fluents)
        lanes.set_moves(moves)
        lanes.settle()
    # Any phase may be settled again while those before it are valid.
    for first, end in ((2, 3), (1, 2), (3, 4), (0, 2), (2, 4)):
        settle_phases(layout, sharing.arrays.value, first, end)
        outside = (tables.legal, tables.next, tables.goal_literal, tables.percept_literal, [tables.terminal])
        for node in {int(literal) >> 1 for literals in outside for literal in literals}:
            np.testing.assert_array_equal(
                lanes_of(sharing.arrays.value)[layout.node_of[node]],
                lanes_of(single.arrays.value)[apart.node_of[node]],
            )


@pytest.mark.parametrize("seed", range(30))
def test_next_state_is_written_in_an_order_that_overwrites_nothing(seed):
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    following = rng.integers(0, 2 * (count + 3), count).astype(np.int32)
    order, saved = order_of_writing(following)
    assert sorted([*order, *saved]) == list(range(count))
    value = rng.random(count + 3) < 0.5
    value[0] = True
    expected = naive_lanes.holds(value, following)
    saved_value = naive_lanes.holds(value, following[saved])
    for f in order:
        value[1 + f] = naive_lanes.holds(value, following[f : f + 1])[0]
    value[1 + saved] = saved_value
    np.testing.assert_array_equal(value[1 : 1 + count], expected)


@pytest.mark.parametrize(
    ("moves", "words", "rounds", "density"),
    [
        *(
            (moves, 8, 60, density)
            for moves in ((1,), (2,), (3, 1), (5, 8), (9, 12, 1), (17, 30))
            for density in (0.0, 0.3, 1.0)
        ),
        *(((6, 11), words, 200, 0.5) for words in (1, 2, 4)),
        ((3001, 40), 8, 40, 0.9),
    ],
)
def test_choose_is_uniform_over_legal_moves(moves, words, rounds, density):
    choices = Choices(moves, words, seed=len(moves))
    observed, expected = choices.tally(rounds, density)
    for start, end in itertools.pairwise(choices.tables.first_move):
        assert is_plausible(observed[start:end], expected[start:end])


def test_choices_of_two_roles_are_independent():
    choices = Choices((3, 4), 8, seed=5)
    seen = np.zeros((3, 4))
    rounds = 100
    for _ in range(rounds):
        chosen = choices.round(np.ones((7, 512), bool))
        seen += chosen[:3].astype(int) @ chosen[3:].T.astype(int)
    assert is_plausible(seen.ravel(), np.full(12, rounds * 512 / 12))


def test_choose_reports_lanes_in_which_a_role_is_stuck():
    choices = Choices((6, 5), 8, seed=1)
    legal = choices.rng.random((11, 512)) < 0.25
    chosen = choices.round(legal)
    is_stuck = ~legal[:6].any(axis=0) | ~legal[6:].any(axis=0)
    assert is_stuck.any()
    np.testing.assert_array_equal(lanes_of(choices.stuck)[0], is_stuck)
    assert not chosen[:, is_stuck].any()
    assert (chosen[:6, ~is_stuck].sum(axis=0) == 1).all()


@pytest.mark.parametrize(
    ("moves", "rounds", "density"),
    [(moves, 80, density) for moves in ((1,), (8,), (7, 20)) for density in (0.0, 0.4, 1.0)]
    + [((2500,), 40, 0.8)],
)
def test_roulette_follows_the_weights(moves, rounds, density):
    weight = np.random.default_rng(2).choice([1, 2, 5, 64, 300, 511, 1023], sum(moves)).astype(np.int32)
    observed, expected = Choices(moves, 8, seed=4).tally(rounds, density, weight)
    assert is_plausible(observed, expected)


@pytest.mark.parametrize("words", mostly_slow([2, 1, 8], 3))
@pytest.mark.parametrize(
    ("moves", "density"), [((40,), 0.03), ((7, 300), 0.02), ((70, 3), 0.6), ((9, 1), 0.7)]
)
def test_roulette_selects_the_same_as_the_twin(moves, density, words):
    """Covers stuck lanes, lanes that do not play, lanes with one move, and the largest weights."""
    rng = np.random.default_rng(3)
    choices = Choices(moves, words, seed=9)
    for largest in (1, 1000, LARGEST_TOTAL // max(moves)):
        words_of(choices.playing)[:] = rng.integers(2**64, size=(1, words), dtype=np.uint64)
        plays = lanes_of(choices.playing)[0]
        weight = rng.integers(1, largest, sum(moves), endpoint=True).astype(np.int32)
        legal = rng.random((sum(moves), 64 * words)) < density
        legal[:, rng.integers(64 * words, size=9)] = False
        random = words_of(choices.random).copy()
        chosen = choices.round(legal, weight)
        expected = naive_lanes.roulette(choices.tables.first_move, legal & plays, weight, random)
        np.testing.assert_array_equal(chosen, expected)
        np.testing.assert_array_equal(words_of(choices.random), random)
        first = choices.tables.first_move[:-1]
        is_stuck = plays & ~np.logical_or.reduceat(legal, first).all(axis=0)
        assert is_stuck.any()
        np.testing.assert_array_equal(lanes_of(choices.stuck)[0], is_stuck)


@pytest.mark.parametrize("moves", [1, 300, 32_768, 32_769, 200_000])
def test_gibbs_weights_equal_the_twin_if_their_sum_fits(moves):
    @njit
    def weight_of(mean):
        return gibbs_weight(mean, 100.0, 10.0, moves)

    weights = [weight_of(mean) for mean in range(0, 101, 10)]
    assert weights == sorted(set(weights)) if moves <= 32_768 else weights == sorted(weights)
    assert min(weights) >= 1
    assert max(weights) * moves <= LARGEST_TOTAL
    if moves <= 32_768:
        assert weights == [twin_weight(mean, 100.0, 10.0) for mean in range(0, 101, 10)]


@kernel
def transpose_in_place(block):
    transpose_bits(block)


@pytest.mark.parametrize("seed", range(5))
def test_transpose_agrees_with_the_naive_twin(seed):
    block = np.random.default_rng(seed).integers(2**64, size=64, dtype=np.uint64)
    expected = naive_lanes.transpose(block)
    transpose_in_place(block)
    np.testing.assert_array_equal(block, expected)


@kernel
def transpose_rows_in_place(rows, first, size):
    transpose_rows(rows, first, size)


@pytest.mark.parametrize("words", [1, 8])
@pytest.mark.parametrize("size", [8, 16, 32, 64])
def test_squares_of_rows_are_transposed_in_every_word(size, words):
    rows = make_rows(size + 2, words)
    words_of(rows)[:] = np.random.default_rng(size).integers(2**64, size=(size + 2, words), dtype=np.uint64)
    before = np.unpackbits(words_of(rows).view(np.uint8).reshape(-1, words, 8), axis=2, bitorder="little")
    transpose_rows_in_place(rows, 1, size)
    after = np.unpackbits(words_of(rows).view(np.uint8).reshape(-1, words, 8), axis=2, bitorder="little")
    assert (after[[0, -1]] == before[[0, -1]]).all()
    for start in range(0, 64, size):
        square = slice(start, start + size)
        assert (after[1:-1, :, square] == before[1:-1, :, square].transpose(2, 1, 0)).all()


@pytest.mark.parametrize("moves", [(1, 3), (4, 200), (5000, 2)])
def test_selected_moves_are_those_chosen(moves):
    choices = Choices(moves, 8, seed=7)
    legal = choices.rng.random((sum(moves), 512)) < 0.6
    chosen = choices.round(legal)
    first = choices.tables.first_move
    for role, (start, end) in enumerate(itertools.pairwise(first)):
        found = np.zeros(512, np.int32)
        scratch = make_rows(INDEX_PLANES, 8)
        selected_moves(
            choices.layout, choices.lanes.arrays.value, role, first, scratch, np.zeros(64, np.uint64), found
        )
        of_role = chosen[start:end]
        np.testing.assert_array_equal(found, np.where(of_role.any(axis=0), of_role.argmax(axis=0), NO_MOVE))


def run_script(**environment: str) -> dict[str, object]:
    """The output of `kernel_script` under other settings of numba."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.ggp.lanes.kernel_script"],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def compiled_results() -> dict[str, object]:
    return run_script()


@pytest.mark.slow
def test_kernels_agree_without_compilation(compiled_results):
    assert run_script(NUMBA_DISABLE_JIT="1") == compiled_results


@pytest.mark.slow
@pytest.mark.parametrize("processor", [(OLDEST, ""), ("x86-64-v3", "-avx512f")], ids=["no-avx", "no-avx512"])
def test_kernels_agree_on_older_processors(processor, compiled_results):
    name, features = processor
    if features and OLDEST == "generic":
        pytest.skip("these processor names are for x86-64")
    assert run_script(NUMBA_CPU_NAME=name, NUMBA_CPU_FEATURES=features) == compiled_results
