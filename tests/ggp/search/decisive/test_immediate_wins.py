"""Wins in one of the role to move, and losses in two, against trying all moves."""

import random

import numpy as np
import pytest

from ggp.circuit.tables import Phase
from ggp.engines.loading import load
from ggp.lanes.engine import Lanes
from ggp.search.decisive.immediate_wins import early_ends
from tests.ggp.search.tree.golden import wins_at_once


@pytest.mark.parametrize(
    "name",
    ["tictactoe", "connectfour_5x4", "breakthrough_small", "nim", "pentago", "sheepandwolf"],
)
def test_the_circuit_sees_what_trying_all_moves_sees(name):
    """All it sees is true; what it misses are wins by moves that won in none of the playouts watched."""
    game = load(name, "lanes")
    lanes = Lanes(early_ends(game).tables, words=1)
    first = lanes.tables.goal_first.tolist()
    rng = random.Random(3)
    wins = found = 0
    for _ in range(12 if name == "pentago" else 40):
        state = game.initial_state()
        while not game.is_terminal(state):
            lanes.set_states(np.array([game.unpack(state)]).T)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            seen = lanes.read(lanes.tables.goal_literal, 1)[:, 0].tolist()
            for role in range(2):
                is_seen = seen[first[role]]
                is_alone = len(game.legal_moves(state, game.roles[1 - role])) == 1
                is_won = is_alone and any(wins_at_once(game, state, role))
                assert is_won or not is_seen
                wins += is_won and len(game.legal_moves(state, game.roles[role])) > 1
                found += is_seen
            state = game.next_state(state, tuple(rng.choice(game.legal_moves(state, r)) for r in game.roles))
    assert wins > 0
    assert 0.8 * wins <= found


@pytest.mark.parametrize(
    "name", ["rockpaperscissors", "connectfour_3p", "dicerace", "eightpuzzle", "othello"]
)
def test_games_without_such_wins_or_with_too_large_a_circuit_are_left_alone(name):
    assert early_ends(load(name, "lanes")) is None


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_5x4"])
def test_a_state_is_lost_if_the_other_role_wins_after_every_move(name):
    game = load(name, "lanes")
    lanes = Lanes(early_ends(game).tables, words=1)
    first = lanes.tables.goal_first.tolist()
    rng = random.Random(4)
    lost = found = 0
    for _ in range(40):
        state = game.initial_state()
        while not game.is_terminal(state):
            lanes.set_states(np.array([game.unpack(state)]).T)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
            seen = lanes.read(lanes.tables.goal_literal, 1)[:, 0].tolist()
            for role in range(2):
                count, others = (len(game.legal_moves(state, game.roles[r])) for r in (role, 1 - role))
                is_lost = others == 1 and _is_lost(game, state, role)
                assert is_lost or not seen[first[role] + 1]
                lost += is_lost and count > 1
                found += seen[first[role] + 1] and count > 1
            state = game.next_state(state, tuple(rng.choice(game.legal_moves(state, r)) for r in game.roles))
    assert 0 < lost == found


def _is_lost(game, state, role):
    """Whether a role cannot win at once, and the other one can after each of its moves."""
    moves = game.legal_moves(state, game.roles[role])
    if any(wins_at_once(game, state, role)):
        return False
    (waits,) = game.legal_moves(state, game.roles[1 - role])
    after = [game.next_state(state, (move, waits) if role == 0 else (waits, move)) for move in moves]
    return all(not game.is_terminal(s) and any(wins_at_once(game, s, 1 - role)) for s in after)
