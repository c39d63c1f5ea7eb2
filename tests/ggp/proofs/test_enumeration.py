"""Solving within a clock: what is small is solved, what is not is given up early."""

import time

import pytest

from ggp.engines.loading import load
from ggp.proofs import enumeration
from ggp.proofs.enumeration import MAX_PAUSE, MatchEnumeration, _Watch, solve_counted
from ggp.search.budget import Budget
from ggp.solver import Progress, SolverLimitError, SolverLimits, solve

HOUR = 3600.0


def solution_of(name, seconds):
    game = load(name, "lanes")
    match = MatchEnumeration(game, mebibytes=64)
    return match.solve(game.initial_state(), Budget(time.monotonic() + seconds), is_patient=True)


def test_small_games_are_solved_and_large_ones_given_up():
    assert solution_of("tictactoe", HOUR).values() == (50.0, 50.0)
    assert solution_of("connectfour", 1.0) is None
    assert solution_of("tictactoe", -1.0) is None


def test_counted_enumeration_depends_on_the_count_alone():
    game = load("tictactoe", "lanes")
    state = game.initial_state()
    assert solve_counted(game, state, 5478, mebibytes=64).values() == (50.0, 50.0)
    assert solve_counted(game, state, 5477, mebibytes=64) is None


def progress(layers, seconds):
    return Progress(layers[-1], layers[-2], 0, tuple(layers), seconds)


@pytest.mark.parametrize(
    ("layers", "seconds", "most_states", "is_promising"),
    [
        ([1, 10, 82, 587, 3_751], 0.01, 10**9, True),  # too early to say
        ([1, 10, 82, 587, 3_751], 0.5, 10**9, False),  # ten billion states to come
        ([1, 10, 60, 200, 300, 320], 0.5, 10**9, True),  # nearly all found
        ([1, 10, 60, 200, 300, 320], 0.5, 310, False),  # more than memory holds
        ([1, 3, 7, 15, 31], 0.5, 10**9, True),  # no trend yet
        ([1, 3, 7, 15, 31], 2.0, 10**9, False),  # no trend, and patience is over
        ([1, 10, 60, 200, 300, 320], 6.5, 10**9, False),  # no time left to value them
    ],
)
def test_forecast_decides_whether_to_go_on(layers, seconds, most_states, is_promising):
    watch = _Watch(10.0, most_states, vague_share=0.1)
    assert watch.is_promising(progress(layers, seconds)) is is_promising


def test_solver_without_disk_gives_up_at_its_memory():
    with pytest.raises(SolverLimitError, match="1 MiB"):
        solve(load("connectfour_4x4", "lanes"), SolverLimits(mebibytes=1, may_use_disk=False))


HOPELESS, NEAR, VAGUE = [1, 10, 82, 587, 3_751], [1, 10, 60, 200, 300, 320], [1, 3, 7, 15, 31]


def attempts(monkeypatch, forecasts):
    """An enumeration whose attempts end by these forecasts in turn, and the list of attempts made."""
    made, coming = [], iter(forecasts)

    def solve_by(game, state, limits, decide):
        made.append(state)
        decide(progress(next(coming), 0.5 * HOUR))

    monkeypatch.setattr(enumeration, "_solution", solve_by)
    return MatchEnumeration(load("connectfour_4x4", "lanes"), mebibytes=64), made


def attempt(match, state):
    assert match.solve(state, Budget(time.monotonic() + HOUR), is_patient=False) is None


def test_hopeless_forecasts_spare_the_next_moves_an_attempt(monkeypatch):
    match, made = attempts(monkeypatch, [HOPELESS, NEAR])
    attempt(match, b"0")
    pause = match.pause
    assert 3 <= pause <= MAX_PAUSE
    for _ in range(5):  # pondering comes back to the same state: only moves count
        attempt(match, b"0")
    for i in range(pause):
        attempt(match, b"%d" % (i + 1))
    assert made == [b"0"]
    attempt(match, b"%d" % (pause + 1))
    assert made == [b"0", b"%d" % (pause + 1)]
    assert match.pause == 0


def test_only_the_second_attempt_without_a_forecast_is_followed_by_a_pause(monkeypatch):
    match, made = attempts(monkeypatch, [VAGUE, VAGUE, VAGUE, NEAR, VAGUE])
    for i in range(9):
        attempt(match, b"%d" % i)
    assert made == [b"0", b"1", b"4", b"7", b"8"]
    assert match.pause == 0
