"""Decisive moves: legality narrowed by a circuit, compared with asking the rules of every next state."""

import random
from dataclasses import replace

import pytest

import ggp
from ggp.compiled_game import CompiledGame
from ggp.decisive_moves import decisive_circuit, decisive_game, passive_moves
from ggp.search.mcts import LanesSearch
from ggp.search.options import MctsOptions
from ggp.search.reference import Search
from ggp.tables import circuit_of, tabulate
from tests.ggp.search.golden import assert_same_tree, compiled, one_lane

WINNABLE = (
    "tictactoe",
    "connectfour",
    "connectfour_3p",
    "breakthrough_small",
    "knightthrough",
    "nineboard",
    "pentago",
    "nim",
)


def winning_or_legal(game, state, role):
    """The moves of `role` that win at once, or all legal ones, by playing each of them."""
    legal = game.legal_moves(state, role)
    if len(legal) == 1:
        return legal
    wins = []
    for move in legal:
        joint_move = tuple(move if r == role else game.legal_moves(state, r)[0] for r in game.roles)
        after = game.next_state(state, joint_move)
        if game.is_terminal(after) and game.goal(after, role) == 100:
            wins.append(move)
    return tuple(wins) or legal


@pytest.mark.parametrize("name", WINNABLE)
def test_winning_moves_are_the_only_ones(name):
    game = compiled(name)
    narrowed = decisive_game(game)
    assert narrowed is not None
    rng, narrow_states = random.Random(7), 0
    for _ in range(12):
        state = game.initial_state()
        while not game.is_terminal(state):
            assert not narrowed.is_terminal(state)
            joint_move = []
            for role in game.roles:
                expected = winning_or_legal(game, state, role)
                assert narrowed.legal_moves(state, role) == expected
                legal = game.legal_moves(state, role)
                narrow_states += len(expected) < len(legal)
                joint_move.append(rng.choice(legal))
            assert narrowed.next_state(state, forced(narrowed, state)) == game.next_state(
                state, forced(narrowed, state)
            )
            state = game.next_state(state, tuple(joint_move))
        assert narrowed.is_terminal(state)
        assert [narrowed.goal(state, role) for role in game.roles] == [
            game.goal(state, role) for role in game.roles
        ]
    assert narrow_states > 0


def forced(game, state):
    return tuple(game.legal_moves(state, role)[0] for role in game.roles)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("tron", "roles choose at the same time"),
        ("goofspiel", "roles choose at the same time"),
        ("othello", "the circuit is large"),
        ("hex_7x7", "the circuit gets too large"),
    ],
)
def test_other_games_are_left_as_they_are(name, why):
    assert decisive_game(compiled(name)) is None, why


def test_nobody_waits_where_all_choose():
    assert passive_moves(compiled("tron")) is None
    game = compiled("tictactoe")
    waiting = passive_moves(game)
    assert waiting is not None
    moves = [str(move) for of_role in game.moves for move in of_role]
    assert [moves[m] for m in waiting] == ["noop", "noop"]


def test_circuit_with_too_many_gates_is_given_up():
    game = compiled("connectfour")
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    waiting = passive_moves(game)
    assert waiting is not None
    assert decisive_circuit(circuit, waiting, circuit.literal_count + 10) is None
    assert decisive_circuit(circuit, waiting, 100_000) is not None


def test_tables_lead_back_to_their_circuit():
    game = compiled("connectfour")
    again = tabulate(circuit_of(game.tables, game.terms))
    for mine, other in zip(again, game.tables, strict=True):
        assert (mine == other).all() if hasattr(mine, "all") else mine == other


@pytest.mark.parametrize("policy", ["uniform", "mast"])
@pytest.mark.parametrize("name", ["tictactoe", "breakthrough_small"])
def test_search_on_lanes_builds_the_tree_of_the_narrowed_game(name, policy):
    game = compiled(name)
    narrowed = decisive_game(game)
    assert narrowed is not None
    options = replace(one_lane(policy=policy, is_solving=True), is_decisive=True)
    lanes = LanesSearch(game, game.roles[0], seed=5, options=options)
    twin = Search(narrowed, game.roles[0], seed=5, options=options)
    for search in (lanes, twin):
        search.move_to(game.initial_state(), None)
        search.run(simulations=300)
    assert assert_same_tree(lanes, twin) > 100


def test_search_wins_at_once_and_follows_an_opponent_who_does_not():
    """The opponent may pass by a win, a move that the narrowed game does not have."""
    game = ggp.load("tictactoe", engine="lanes")
    assert isinstance(game, CompiledGame)
    options = MctsOptions(words=1, is_decisive=True, memory_mebibytes=16)
    search = LanesSearch(game, game.roles[0], seed=1, options=options)
    line = ["(mark 1 1)", "(mark 1 2)", "(mark 2 2)", "(mark 3 2)"]
    state = game.initial_state()
    joint_move = None
    for place, text in enumerate(line):
        search.move_to(state, joint_move)
        search.run(simulations=100)
        mover = place % 2
        joint_move = tuple(
            next(m for m in game.legal_moves(state, role) if r != mover or str(m) == text)
            for r, role in enumerate(game.roles)
        )
        state = game.next_state(state, joint_move)
    search.move_to(state, joint_move)
    search.run(simulations=50)
    assert str(search.best_move()) == "(mark 3 3)"
    assert [move.visits for move in search.report().moves if str(move.move) != "(mark 3 3)"] == []
