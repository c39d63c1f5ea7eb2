"""Playouts on lanes: counts, expectations, seeds, threads; endless games and stuck roles."""

import threading
import time
from collections import Counter
from functools import cache

import numpy as np
import pytest

from gdl.grounding import ground
from gdl.syntax.parser import parse
from ggp.bench.lanes import measure_lanes
from ggp.circuit.construction import build
from ggp.circuit.tables import tabulate
from ggp.engines.batches import playouts
from ggp.engines.compiled import CompiledGame
from ggp.lanes.engine import Lanes, PlayoutStatistics, calibrate_words
from tests.conftest import mostly_slow
from tests.oracles import naive_lanes

DICE = """
; Two walkers add 1 or 2 to a sum until one of them passes 3; left wins ties.
(role left) (role right) (init (at left 0)) (init (at right 0))
(plus 0 1 1) (plus 1 1 2) (plus 2 1 3) (plus 3 1 4) (plus 0 2 2) (plus 1 2 3) (plus 2 2 4) (plus 3 2 5)
(far 4) (far 5)
(<= (legal ?r 1) (role ?r)) (<= (legal ?r 2) (role ?r))
(<= (next (at ?r ?n)) (does ?r ?d) (true (at ?r ?m)) (plus ?m ?d ?n))
(<= (done ?r) (true (at ?r ?n)) (far ?n))
(<= terminal (done ?r))
(<= (goal left 100) (done left)) (<= (goal left 0) (not (done left)))
(<= (goal right 100) (not (done left))) (<= (goal right 0) (done left))
"""
ENDLESS = "(role a) (init x) (<= (legal a go)) (<= (next x) (true x)) (goal a 7)"
BLIND_ALLEY = """
(role a) (role b) (init start)
(<= (legal a ?m) (true start) (move ?m)) (move l) (move r)
(<= (legal b wait) (not (true trap)))
(<= (legal a wait) (true trap))
(<= (next trap) (does a l)) (<= (next won) (does a r))
(<= terminal (true won)) (<= (goal a 100) (true won))
(<= (goal b 10) (true won)) (<= (goal b 20) (true won))
"""


def compiled(text: str) -> CompiledGame:
    circuit = build(ground(parse(text)))
    return CompiledGame(parse(text), tabulate(circuit), circuit.terms)


@cache
def expected_dice() -> tuple[dict[int, float], float, float, float]:
    """Distribution of lengths, its mean and variance, and how often left wins, by enumerating all dice."""
    lengths: dict[int, float] = {}
    win = 0.0
    frontier = {(0, 0): 1.0}
    for step in range(1, 6):
        following: dict[tuple[int, int], float] = {}
        for (left, right), chance in frontier.items():
            for i in (1, 2):
                for j in (1, 2):
                    a, b = left + i, right + j
                    if max(a, b) < 4:
                        following[a, b] = following.get((a, b), 0) + chance / 4
                    else:
                        lengths[step] = lengths.get(step, 0) + chance / 4
                        win += chance / 4 * (a >= 4)
        frontier = following
    mean = sum(length * chance for length, chance in lengths.items())
    variance = sum((length - mean) ** 2 * chance for length, chance in lengths.items())
    return lengths, mean, variance, win


@pytest.fixture(scope="module")
def dice() -> CompiledGame:
    return compiled(DICE)


@pytest.mark.parametrize("count", [1, 63, 512, 513, 1000, 20_000])
def test_playouts_plays_exactly_the_requested_number(dice, count):
    statistics = playouts(dice, count, seed=count)
    assert statistics.playouts == statistics.finished == count
    assert [sum(counts.values()) for counts in statistics.goal_counts] == [count, count]
    assert statistics.stuck == statistics.cut == 0
    assert statistics.without_goal == statistics.with_several_goals == (0, 0)


def test_playouts_agree_with_exact_expectations(dice):
    count = 200_000
    lengths, mean, variance, win = expected_dice()
    statistics = playouts(dice, count, seed=5)
    assert abs(statistics.mean_length - mean) < 5 * (variance / count) ** 0.5
    assert abs(statistics.mean_goals[0] / 100 - win) < 5 * (win * (1 - win) / count) ** 0.5
    assert statistics.mean_goals[0] + statistics.mean_goals[1] == pytest.approx(100)
    assert (statistics.shortest, statistics.longest) == (min(lengths), max(lengths))
    assert all(set(+Counter(counts)) == {0, 100} for counts in statistics.goal_counts)


def test_few_playouts_are_not_biased_towards_short_ones(dice):
    _, mean, variance, _ = expected_dice()
    runs = [playouts(dice, 700, seed=seed) for seed in range(200)]
    total = sum(run.steps for run in runs) / (700 * len(runs))
    assert abs(total - mean) < 5 * (variance / (700 * len(runs))) ** 0.5


def test_same_seed_and_width_give_the_same_playouts(dice):
    state = dice.initial_state()
    one = playouts(dice, 3000, state, seed=8)
    assert playouts(dice, 3000, state, seed=8) == one
    assert playouts(dice, 3000, state, seed=9) != one


@pytest.mark.parametrize("words", mostly_slow([1, 2, 4, 8], 3))
def test_every_width_plays_the_same_game(words):
    lengths, _, _, win = expected_dice()
    game = compiled(DICE)
    root = game.unpack(game.initial_state())
    statistics = Lanes(game.tables, words=words, seed=3).playouts(root, 40_000)
    assert abs(statistics.mean_goals[0] / 100 - win) < 5 * (win * (1 - win) / 40_000) ** 0.5
    assert statistics.longest == max(lengths)


def test_threads_split_the_playouts(dice):
    root = dice.unpack(dice.initial_state())
    both = playouts(dice, 5001, seed=2, threads=2)
    halves = [
        Lanes(dice.tables, seed=2, stream=stream).playouts(root, count)
        for stream, count in enumerate((2501, 2500))
    ]
    assert both == halves[0] + halves[1]
    assert both.playouts == 5001


def test_playouts_start_from_the_state_given(dice):
    state = dice.initial_state()
    one, two = dice.legal_moves(state, dice.roles[0])
    state = dice.next_state(dice.next_state(state, (two, one)), (one, one))
    statistics = playouts(dice, 1000, state)
    assert statistics.mean_goals == (100.0, 0.0)
    assert (statistics.shortest, statistics.longest) == (1, 1)


def test_a_terminal_root_is_a_playout_of_no_moves(dice):
    state = dice.initial_state()
    _, two = dice.legal_moves(state, dice.roles[0])
    state = dice.next_state(dice.next_state(state, (two, two)), (two, two))
    assert dice.is_terminal(state)
    statistics = playouts(dice, 777, state)
    assert (statistics.finished, statistics.steps, statistics.longest) == (777, 0, 0)


@pytest.mark.parametrize("step_limit", [1, 2, 7, 8, 100])
def test_endless_games_are_cut_at_the_step_limit(step_limit):
    game = compiled(ENDLESS)
    statistics = playouts(game, 600, step_limit=step_limit)
    assert (statistics.playouts, statistics.cut, statistics.finished) == (600, 600, 0)
    assert statistics.steps == statistics.longest == statistics.shortest == 0
    assert statistics.goal_counts == ({7: 0},)
    assert np.isnan(statistics.mean_goals[0])


def test_a_step_limit_cuts_only_longer_playouts(dice):
    lengths, *_ = expected_dice()
    longest = max(lengths)
    root = dice.initial_state()
    assert playouts(dice, 2000, root, step_limit=longest).cut == 0
    statistics = playouts(dice, 50_000, root, step_limit=longest - 1)
    chance = lengths[longest]
    assert abs(statistics.cut / 50_000 - chance) < 5 * (chance * (1 - chance) / 50_000) ** 0.5
    assert statistics.longest == longest - 1
    assert statistics.finished + statistics.cut == statistics.playouts == 50_000


def test_stuck_playouts_are_counted_by_role_and_restarted():
    game = compiled(BLIND_ALLEY)
    statistics = playouts(game, 10_000, seed=1)
    assert statistics.playouts == 10_000
    assert statistics.stuck_roles == (0, statistics.stuck)
    assert abs(statistics.stuck - 5000) < 250
    assert statistics.finished == 10_000 - statistics.stuck
    assert statistics.steps == statistics.finished
    assert statistics.goal_counts[0] == {100: statistics.finished}
    assert statistics.with_several_goals == (0, statistics.finished)


def test_missing_goals_are_counted():
    game = compiled("(role a) (<= (legal a go)) (init s) (<= (next e) (true s)) (<= terminal (true e))")
    statistics = playouts(game, 1234)
    assert statistics.without_goal == (1234,)
    assert statistics.shortest == statistics.longest == 1


def test_a_deadline_ends_playouts_that_would_not_end():
    game = compiled(ENDLESS)
    started = time.monotonic()
    statistics = playouts(game, 10**12, step_limit=10**8, deadline=time.monotonic() + 0.2)
    assert statistics.playouts == 0
    assert statistics.steps > 0
    assert time.monotonic() - started < 60


def test_playouts_release_the_interpreter(dice):
    ticks = []
    done = threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks.append(1)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    lanes = Lanes(dice.tables)
    lanes.begin(dice.unpack(dice.initial_state()))
    lanes.play(1)
    thread.start()
    before = len(ticks)
    lanes.play(300_000)
    during = len(ticks) - before
    done.set()
    thread.join()
    assert during > 5


@pytest.mark.parametrize("seed", range(8))
def test_one_tick_agrees_with_the_naive_next_state(seed):
    tables = naive_lanes.random_tables(seed, gates=50)._replace(terminal=1, legal=np.zeros(8, np.int32))
    lanes = Lanes(tables, words=1, seed=seed)
    root = np.random.default_rng(seed).random(7) < 0.5
    lanes.begin(root)
    lanes.play(1)
    everything = 2 * np.arange(1, 16, dtype=np.int32)
    after = lanes.read(everything, 64)
    for lane in range(64):
        value = naive_lanes.settle(tables, root, after[7:, lane])
        np.testing.assert_array_equal(after[:7, lane], naive_lanes.holds(value, tables.next))


def test_calibration_picks_one_of_the_candidates(dice):
    root = dice.unpack(dice.initial_state())
    assert calibrate_words(dice.tables, root, (1, 8), seconds=0.002) in (1, 8)


def test_unsupported_width_is_an_error(dice):
    with pytest.raises(ValueError, match="not 3"):
        Lanes(dice.tables, words=3)


def test_adding_statistics_keeps_extremes_of_finished_playouts():
    nothing = PlayoutStatistics(0, 0, 0, (0,), 0, 0, 0, 0, ({50: 0},), (0,), (0,))
    some = PlayoutStatistics(3, 2, 1, (1,), 0, 9, 4, 5, ({50: 1, 100: 1},), (0,), (0,))
    assert nothing + some == some
    assert (some + some).mean_goals == (75.0,)


def test_bench_reports_the_time_of_a_tick(dice):
    result = measure_lanes(dice, seconds=0.02, words=8)
    lengths, *_ = expected_dice()
    assert result["words"] == 8
    assert result["playouts"] > 0
    assert result["states"] >= result["playouts"]
    assert min(lengths) <= result["mean_length"] <= max(lengths)
    assert result["literals"] == len(dice.lane_tables.schedule.source)
    assert result["tick_seconds"] > 0
