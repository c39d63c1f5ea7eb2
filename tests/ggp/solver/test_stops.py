"""How soon the solver stops: counted in units of its work, and that stops and pauses change no result."""

import time

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.proofs.enumeration import MatchEnumeration
from ggp.search.budget import Budget
from ggp.solver import SolverLimitError, SolverLimits, reachable, reachable_states, solution, solve
from ggp.solver.kernels.backup import EDGES_LEFT, SLICE_TRANSITIONS, STATES_LEFT
from ggp.solver.kernels.expand import EDGES, PASSES
from ggp.solver.matrix_games import solve_bimatrix
from ggp.solver.slices import SLICE_SECONDS, Slices

NUMBERS = 90
PICKS = NUMBERS**2
WIDE = f"""
    (role a) (role b) {" ".join(f"(number {n})" for n in range(NUMBERS))}
    (<= (legal ?r (pick ?n)) (role ?r) (number ?n))
    (<= (next (has ?r ?n)) (does ?r (pick ?n)))
    (<= terminal (true (has a ?n)))
    (<= (goal a 100) (true (has a ?n)) (true (has b ?n)))
    (<= (goal a 0) (true (has a ?n)) (true (has b ?m)) (distinct ?n ?m))
    (<= (goal b 0) (goal a 100)) (<= (goal b 100) (goal a 0))
"""
"""One state with thousands of joint moves."""
TABLES = f"""
    {WIDE.replace("(<= (legal ?r (pick ?n)) (role ?r)", "(<= (legal ?r (pick ?n)) (role ?r) (true (at ?k))")}
    (init start) (table 1) (table 2) (table 3)
    (<= (legal a (go ?k)) (true start) (table ?k)) (<= (legal b wait) (true start))
    (<= (next (at ?k)) (does a (go ?k)))
"""
"""The same in three places: three states that are costly matrix games."""
UNHURRIED = 1e6


class Stop:
    """Set from its question number `last` on; `work` is called with every question."""

    def __init__(self, last=None, work=lambda: None):
        self.last, self.work = last, work
        self.asked = 0

    def is_set(self):
        self.asked += 1
        self.work()
        return self.last is not None and self.asked >= self.last


def limits(stop, **changes):
    return SolverLimits(stop=stop, chunk_seconds=UNHURRIED, **changes)


@pytest.fixture
def expansions(monkeypatch):
    """The passes of lanes and the transitions at the end of each call of the kernel that expands states."""
    calls, expand = [], reachable.expand

    def counting(expander, *others):
        expansion = expander.value.expansion
        before = int(expansion.counter[PASSES])
        is_done = expand(expander, *others)
        calls.append((before - int(expansion.counter[PASSES]), int(expansion.counter[EDGES])))
        return is_done

    monkeypatch.setattr(reachable, "expand", counting)
    return calls


@pytest.mark.parametrize("last", [1, 2, 3])
def test_enumeration_stops_in_the_midst_of_one_wide_state(expansions, last):
    game, stop = load(WIDE, "lanes"), Stop(last)
    with pytest.raises(SolverLimitError, match="when stopped"):
        reachable_states(game, limits(stop))
    assert len(expansions) == stop.asked == last
    assert sum(passes for passes, _ in expansions) <= 2**last - 1
    assert expansions[-1][1] <= 64 * game.words * (2**last - 1) < PICKS


def test_enumeration_stops_within_a_chunk(expansions):
    stop = Stop(last=12)
    with pytest.raises(SolverLimitError, match="when stopped"):
        reachable_states(load("connectfour", "lanes"), limits(stop))
    assert stop.asked == 12
    assert sum(passes for passes, _ in expansions) <= 2**12
    expansions.clear()
    with pytest.raises(SolverLimitError, match="when time was up"):
        reachable_states(load(WIDE, "lanes"), limits(None, deadline=0.0))
    assert [passes for passes, _ in expansions] == [1]


@pytest.mark.parametrize("is_lenient", [False, True])
def test_growth_of_the_table_of_states_stops(monkeypatch, is_lenient):
    inserted, insert_states = [], reachable.insert_states

    def inserting(table, keys, words, first, end):
        inserted.append(end - first)
        insert_states(table, keys, words, first, end)

    monkeypatch.setattr(reachable, "insert_states", inserting)
    stop = Stop(work=lambda: setattr(stop, "last", 0 if len(inserted) > 3 else None))
    with pytest.raises(SolverLimitError, match="when stopped"):
        reachable_states(load("eightpuzzle", "lanes"), limits(stop), is_lenient=is_lenient)
    assert len(inserted) == 4
    assert sum(inserted) < 2**4


@pytest.mark.parametrize("rules", [WIDE, "tictactoe", "skirmish", "dicerace", "eightpuzzle", "tron"])
def test_slices_change_nothing_that_an_enumeration_finds(monkeypatch, rules):
    def found():
        """All of the state space that does not depend on how its states were divided into chunks."""
        given = SolverLimits(states=20_000, chunk_seconds=UNHURRIED)
        space = reachable_states(load(rules, "lanes"), given, is_lenient=True)
        joined = [np.concatenate([each[part] for each in space.chunks]) for part in (2, 3)]
        return space.keys.copy(), space.goal.copy(), *joined, space.layer_ends, space.is_layered

    expected = found()
    monkeypatch.setattr(Slices, "note", lambda slices, seconds: None)  # one pass at a time
    for value, other in zip(found(), expected, strict=True):
        np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize(
    ("rules", "value", "widest"), [("connectfour_4x4", 50, 4), (TABLES, pytest.approx(100 / NUMBERS), PICKS)]
)
def test_values_are_found_in_bounded_slices_and_stop(monkeypatch, rules, value, widest):
    """The stop is looked at also between states whose stages cost much, however few transitions they have."""
    game, calls = load(rules, "lanes"), []

    def counted(kernel):
        def counting(*given):
            before = int(given[-1][[STATES_LEFT, EDGES_LEFT]].sum())
            found = kernel(*given)
            calls.append(before - int(given[-1][[STATES_LEFT, EDGES_LEFT]].sum()))
            return found

        return counting

    for name in ("back_up", "back_up_mixed"):
        monkeypatch.setattr(solution, name, counted(getattr(solution, name)))
    solved = solve(game, limits(Stop()))
    assert solved.values()[0] == value
    assert sum(calls) == solved.space.state_count + solved.space.transitions
    assert max(calls) <= SLICE_TRANSITIONS + widest
    everything = len(calls)
    assert everything >= len(solved.space.chunks) + (rules == TABLES)
    calls.clear()
    stop = Stop(work=lambda: setattr(stop, "last", 0 if calls else None))
    with pytest.raises(SolverLimitError, match="when stopped"):
        solve(game, limits(stop))
    assert len(calls) == 1 < everything


def test_search_for_a_mixed_equilibrium_of_a_stage_can_be_ended():
    asked = iter(range(7))
    row = [[int(i == j) for j in range(5)] for i in range(5)]  # only all moves together are in equilibrium
    column = [[1 - worth for worth in each] for each in row]
    with pytest.raises(StopIteration):
        solve_bimatrix(row, column, check=lambda: next(asked))


def test_an_attempt_to_solve_that_is_stopped_says_nothing_about_the_next(expansions):
    game = load("connectfour_4x4", "lanes")
    match = MatchEnumeration(game, mebibytes=64)
    stop = Stop(last=6)
    until = time.monotonic() + 3600
    assert match.solve(game.initial_state(), Budget(until, is_stopped=stop.is_set), is_patient=True) is None
    assert sum(passes for passes, _ in expansions) <= 2**6
    assert match.pause == 0
    assert match.solve(game.initial_state(), Budget(until), is_patient=True).values() == (50.0, 50.0)


def test_a_slice_is_at_most_twice_as_large_as_the_one_before():
    slices, sizes = Slices(), []
    for _ in range(5):
        sizes.append(slices.size)
        slices.note(0.0)
    assert sizes == [1, 2, 4, 8, 16]
    slices.note(32 * SLICE_SECONDS)
    assert slices.size == 1
