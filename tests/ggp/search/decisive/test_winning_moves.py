"""Wins in one on their own circuit, against the rules."""

import random

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.lanes.engine import Lanes
from ggp.search.budget import Budget
from ggp.search.decisive.immediate_wins import fluents_read, winning_tables
from ggp.search.tree.kernels.look_ahead import MIN_LOOKS, SAMPLED
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch
from tests.conftest import mostly_slow
from tests.ggp.search.tree.golden import FindWin, compiled, winning_moves, wins_at_once

LOOKING = MctsOptions(is_solving=True, is_looking=True, memory_mebibytes=64)


def said_to_win(game, tables, state, role):
    """By legal move, what the circuit says of it."""
    moves = game.legal_moves(state, game.roles[role])
    lanes = Lanes(tables, words=2)
    lanes.set_states(np.repeat(game.unpack(state)[:, None], len(moves), axis=1))
    chosen = np.zeros((tables.move_count, len(moves)), np.bool_)
    for r, name in enumerate(game.roles):
        first = int(game.tables.first_move[r])
        for i, move in enumerate(moves):
            made = move if r == role else game.legal_moves(state, name)[0]
            chosen[first + game.moves[r].index(made), i] = True
    lanes.set_moves(chosen)
    lanes.settle(Phase.LEGAL, Phase.GOAL)
    return lanes.read(tables.goal_literal, len(moves))[role].tolist()


@pytest.mark.parametrize(
    "name", mostly_slow(["tictactoe", "nineboard", "hex_4x4", "pentago", "connectfour", "checkers"], 3)
)
def test_the_circuit_knows_which_moves_win_at_once(name):
    game = compiled(name)
    tables = winning_tables(game).tables
    rng = random.Random(1)
    wins = 0
    for _ in range(12):
        state = game.initial_state()
        while not game.is_terminal(state):
            legal = [game.legal_moves(state, role) for role in game.roles]
            role = int(len(legal[1]) > 1)
            expected = wins_at_once(game, state, role)
            assert said_to_win(game, tables, state, role) == expected
            wins += sum(expected)
            state = game.next_state(state, tuple(rng.choice(moves) for moves in legal))
    assert wins > 0 or name == "checkers"
    assert 0 < len(fluents_read(tables)) <= tables.fluent_count


@pytest.mark.parametrize("name", ["rockpaperscissors", "lightsout", "dicerace", "connectfour_3p"])
def test_games_of_another_kind_have_no_such_circuit(name):
    assert winning_tables(compiled(name)) is None


def test_few_nodes_are_looked_at_where_wins_are_rare():
    # Hex has no wins in one near the beginning; the kernel counts as the test's own twin does.
    game = compiled("hex_7x7")
    search = LanesSearch(game, game.roles[0], options=LOOKING)
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=60_000))
    linked = search.engines[0]._linked
    nodes, looks, wins = linked.ahead.value.counter.tolist()
    assert nodes > 3 * MIN_LOOKS
    assert MIN_LOOKS <= looks < 2 * MIN_LOOKS
    twin = FindWin(game)
    looked = 0
    for _ in range(nodes):
        if twin.is_looked_at():
            looked += 1
            twin.count(False)
    assert wins == 0
    assert twin.looks == looks
    assert looked < MIN_LOOKS + nodes / SAMPLED


def test_a_win_in_one_proves_the_root_at_once():
    game = compiled("nineboard")
    rng = random.Random(2)
    state, wins = game.initial_state(), []
    while not wins:
        legal = [game.legal_moves(state, role) for role in game.roles]
        state = game.next_state(state, tuple(rng.choice(moves) for moves in legal))
        if game.is_terminal(state):
            state = game.initial_state()
        role = int(len(game.legal_moves(state, game.roles[1])) > 1)
        wins = winning_moves(game, state, role)
    search = LanesSearch(game, game.roles[role], options=LOOKING)
    search.move_to(state, None)
    assert search.run(Budget(simulations=1000)) < 100
    assert search.best_move() in wins


PICKS = f"""
(role left) (role right)
(init (control left)) (init (step 0))
{" ".join(f"(number {n})" for n in range(100))} {" ".join(f"(after {n} {n + 1})" for n in range(40))}
(<= (legal ?r (pick ?n)) (true (control ?r)) (number ?n))
(<= (legal left wait) (true (control right))) (<= (legal right wait) (true (control left)))
(<= (next (control right)) (true (control left))) (<= (next (control left)) (true (control right)))
(<= (next (step ?m)) (true (step ?n)) (after ?n ?m))
(<= (next (won ?r)) (does ?r (pick 90)) (true (step ?n)) (distinct ?n 0))
(<= terminal (true (won ?r))) (<= terminal (true (step 40)))
(<= won (true (won ?r)))
(<= (goal ?r 100) (true (won ?r))) (<= (goal left 0) (true (won right))) (<= (goal right 0) (true (won left)))
(<= (goal ?r 50) (role ?r) (not won))
"""


def test_a_win_is_found_among_more_moves_than_a_row_has_lanes():
    # Of a hundred moves the 91st wins, but not at the beginning.
    game = ggp.load(PICKS, engine="lanes")
    search = LanesSearch(game, game.roles[0], options=LOOKING)
    engine = search.engines[0]
    state = game.initial_state()
    for proof in (None, 0, 100):
        search.move_to(state, None)
        engine.begin(1)
        engine.run(3)
        assert engine.root_goal == proof
        moves = tuple(game.legal_moves(state, role)[0] for role in game.roles)
        state = game.next_state(state, moves)
    assert max(len(game.legal_moves(state, role)) for role in game.roles) == 100
