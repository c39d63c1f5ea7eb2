"""Facts that depend on each other, and facts that do not."""

import numpy as np
import pytest

from ggp.circuit.subgames import find_subgames, find_supports
from ggp.engines.loading import load
from ggp.solver.plans import ProjectedFacts

TWO_SWITCHES = """
(role a) (init (off 1)) (init (off 2)) (init (lamp red)) (init (step 0)) (switch 1) (switch 2)
(succ 0 1) (succ 1 2) (succ 2 3) (other red blue) (other blue red)
(<= (legal a (press ?s)) (switch ?s)) (legal a paint)
(<= (next (off ?s)) (true (off ?s)) (not (does a (press ?s))))
(<= (next (on ?s)) (true (on ?s))) (<= (next (on ?s)) (does a (press ?s)))
(<= (next (lamp ?c)) (true (lamp ?c)) (not (does a paint)))
(<= (next (lamp ?d)) (true (lamp ?c)) (other ?c ?d) (does a paint))
(<= (next (step ?n)) (true (step ?m)) (succ ?m ?n))
(<= terminal (true (step 3)))
(<= (goal a 100) (true (on 1)) (true (on 2))) (<= (goal a 0) (true (off ?s)))
"""


def named(game, group):
    return {str(game.terms.fluents[f]) for f in group}


def test_switches_counter_and_lamp_are_told_apart():
    game = load(TWO_SWITCHES, engine="lanes")
    subgames = find_subgames(game.tables)
    assert [named(game, clock) for clock in subgames.clocks] == [{f"(step {n})" for n in range(4)}]
    assert named(game, subgames.idle) == {"(lamp blue)", "(lamp red)"}
    parts = [named(game, part) for part in subgames.parts]
    assert len(parts) > 1
    assert all(not ({"1", "2"} <= {text[-2] for text in part}) for part in parts)
    assert {text[:3] for part in parts for text in part} <= {"(on", "(of"}


@pytest.mark.parametrize("name", ["eightpuzzle", "tictactoe", "nim", "checkers", "skirmish"])
def test_every_fact_is_in_one_group(name):
    game = load(name, "lanes")
    found = find_subgames(game.tables)
    groups = [*found.clocks, *found.parts, found.idle]
    assert sorted(f for group in groups for f in group) == list(range(game.tables.fluent_count))


def reached(game, state):
    """By joint move: bool[F] of the state that it leads to."""
    found = game.successors(game.pack(state))
    moves = map(tuple, found.joint_moves.tolist())
    return dict(zip(moves, map(game.unpack, found.states), strict=True))


@pytest.mark.parametrize("name", ["lightsout", "connectfour", "nineboard"])
def test_supports_hold_all_that_outputs_react_to(name):
    """Change one fact of a state: only facts whose support holds it may differ afterwards."""
    game = load(name, "lanes")
    supports = find_supports(game.tables)
    state = game.unpack(game.initial_state())
    rng = np.random.default_rng(3)
    differences = 0
    for f in rng.choice(len(state), 12, replace=False):
        changed = state.copy()
        changed[f] ^= True
        before, after = (reached(game, each) for each in (state, changed))
        for move in before.keys() & after.keys():
            for g in np.flatnonzero(before[move] != after[move]):
                assert supports.next[g] >> (1 + int(f)) & 1
                differences += 1
    assert differences


def test_a_clock_is_the_same_after_every_move():
    game = load("eightpuzzle", "lanes")
    clock = find_subgames(game.tables).clocks[0]
    state = game.initial_state()
    for _ in range(5):
        following = game.successors(state).states
        assert len({tuple(game.unpack(each)[list(clock)]) for each in following}) == 1
        state = following[-1]


def test_circuits_are_left_alone_if_masks_would_fill_the_memory(monkeypatch):
    game = load("tictactoe", "lanes")
    monkeypatch.setattr("ggp.circuit.subgames.MAX_MEBIBYTES", 0)
    with pytest.raises(OverflowError, match="too large"):
        find_subgames(game.tables)
    assert ProjectedFacts(load("eightpuzzle", "lanes")).left_out == []
