"""Decisive moves: legality narrowed by a circuit, compared with playing two moves ahead by the rules."""

import random
from dataclasses import replace

import pytest

import ggp
from ggp.circuit.tables import circuit_of, tabulate
from ggp.engines.compilation import game_on
from ggp.search.budget import Budget
from ggp.search.decisive import decisive_moves as module
from ggp.search.decisive.decisive_moves import Narrowing, decisive_game
from ggp.search.decisive.kept_circuits import watch_ends
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.ggp.search.tree.golden import assert_same_tree, compiled, one_lane, winning_moves


def after(game, state, role, move):
    """The state after a move of the role, in which the other one makes its first."""
    joint_move = [game.legal_moves(state, each)[0] for each in game.roles]
    joint_move[role] = move
    return game.next_state(state, tuple(joint_move))


def decisive_moves(game, state, role):
    """What `role` should choose from, by playing every move and every answer."""
    legal = game.legal_moves(state, game.roles[role])
    if len(legal) == 1:
        return legal
    if wins := winning_moves(game, state, role):
        return tuple(wins)
    successors = {move: after(game, state, role, move) for move in legal}
    safe = [
        move
        for move, state in successors.items()
        if game.is_terminal(state) or not winning_moves(game, state, 1 - role)
    ]
    return tuple(safe) or legal


@pytest.mark.parametrize(
    ("name", "matches"),
    [
        ("tictactoe", 20),
        ("connectfour", 6),
        pytest.param("breakthrough_small", 8, marks=pytest.mark.slow),
        pytest.param("knightthrough", 2, marks=pytest.mark.slow),
    ],
)
def test_legal_moves_are_those_that_win_or_do_not_lose_at_once(name, matches):
    game = compiled(name)
    narrowed = decisive_game(game)
    rng, narrow_states = random.Random(7), 0
    for _ in range(matches):
        state = game.initial_state()
        while not game.is_terminal(state):
            assert not narrowed.is_terminal(state)
            joint_move = []
            for r, role in enumerate(game.roles):
                expected, legal = decisive_moves(game, state, r), game.legal_moves(state, role)
                assert narrowed.legal_moves(state, role) == expected
                narrow_states += len(expected) < len(legal)
                joint_move.append(rng.choice(expected if rng.random() < 0.7 else legal))
            chosen = tuple(narrowed.legal_moves(state, role)[0] for role in game.roles)
            assert narrowed.next_state(state, chosen) == game.next_state(state, chosen)
            state = game.next_state(state, tuple(joint_move))
        assert narrowed.is_terminal(state)
        assert [narrowed.goal(state, r) for r in game.roles] == [game.goal(state, r) for r in game.roles]
    assert narrow_states > 0


@pytest.mark.parametrize("name", ["nim", "bucket", "hex_3x3", "connectfour_5x4", "breakthrough_4x4"])
def test_moves_left_out_are_no_better_than_those_that_stay(name):
    """Also where wins are so rare that the playouts watched have not shown them all, as in nim."""
    game = compiled(name)
    narrowed = decisive_game(game)
    rng, narrow_states = random.Random(3), 0
    for _ in range(6):
        state = game.initial_state()
        while not game.is_terminal(state):
            for r, role in enumerate(game.roles):
                legal, kept = game.legal_moves(state, role), narrowed.legal_moves(state, role)
                assert kept
                assert set(kept) <= set(legal)
                narrow_states += kept != legal
                if kept != legal and (wins := winning_moves(game, state, r)):
                    assert set(kept) <= set(wins)
                    continue
                for move in set(legal) - set(kept):
                    assert winning_moves(game, after(game, state, r, move), 1 - r)
            joint_move = tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
            state = game.next_state(state, joint_move)
    assert narrow_states > 0


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("connectfour_3p", "there are three roles"),
        ("dicerace", "there is chance"),
        ("peg", "there is one role"),
        ("prisoners_dilemma", "goals do not add up to 100"),
        ("nineboard", "the circuit gets too large"),
        ("tron", "roles choose at the same time"),
        ("goofspiel", "roles choose at the same time"),
        ("othello", "the circuit is large"),
        ("hex_7x7", "the circuit gets too large"),
    ],
)
def test_other_games_are_left_as_they_are(name, why):
    assert decisive_game(compiled(name)) is None, why


def test_moves_that_wait_and_moves_that_win_are_watched():
    assert watch_ends(compiled("tron")) is None
    game = compiled("tictactoe")
    watched = watch_ends(game)
    moves = [str(move) for of_role in game.moves for move in of_role]
    assert [moves[m] for m in watched.passive] == ["noop", "noop"]
    assert {moves[m] for m in watched.winning} == set(moves) - {"noop"}


def test_circuit_with_too_many_gates_is_given_up():
    game = compiled("connectfour")
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    watched = watch_ends(game)
    assert Narrowing(circuit, watched, circuit.literal_count + 10).narrowed() is None
    assert Narrowing(circuit, watched, 100_000).narrowed() is not None
    assert Narrowing(circuit, watched._replace(winning=frozenset()), 100_000).narrowed() is None


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
    options = replace(one_lane(policy=policy, is_solving=True), is_decisive=True)
    lanes = LanesSearch(game, game.roles[0], seed=5, options=options)
    twin = Search(narrowed, game.roles[0], seed=5, options=options)
    for search in (lanes, twin):
        search.move_to(game.initial_state(), None)
        search.run(Budget(simulations=300))
    assert assert_same_tree(lanes, twin) > 100


def test_search_wins_at_once_and_follows_an_opponent_who_does_not():
    """The opponent may pass by a win, a move that the narrowed game does not have."""
    game = compiled("tictactoe")
    options = MctsOptions(words=1, is_decisive=True, memory_mebibytes=16)
    search = LanesSearch(game, game.roles[0], seed=1, options=options)
    state, joint_move = game.initial_state(), None
    for cell in ("1 1", "1 2", "2 2", "3 2"):
        search.move_to(state, joint_move)
        search.run(Budget(simulations=100))
        joint_move = tuple(
            next(move for move in game.legal_moves(state, role) if str(move) in (f"(mark {cell})", "noop"))
            for role in game.roles
        )
        state = game.next_state(state, joint_move)
    search.move_to(state, joint_move)
    search.run(Budget(simulations=50))
    assert str(search.best_move()) == "(mark 3 3)"
    assert [move.visits for move in search.report().moves if str(move.move) != "(mark 3 3)"] == []


@pytest.mark.parametrize("name", ["nineboard", "tron", "dark_hex_4x4", "othello_4x4"])
def test_that_there_is_no_circuit_is_found_out_once_and_kept(monkeypatch, tmp_path, name):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    game = ggp.load(name, "lanes")
    circuit = circuit_of(game.tables, game.terms, game.exclusive)
    assert circuit.literal_count <= module.LARGEST  # else nothing is found out at all
    first, second = (game_on(circuit, game.program, name) for _ in range(2))
    assert decisive_game(first) is None
    monkeypatch.setattr(module, "_narrowed", lambda *_: pytest.fail("that was known"))
    assert decisive_game(second) is None


def test_the_circuit_is_made_once_and_kept_with_the_compiled_games(monkeypatch, tmp_path):
    monkeypatch.setenv("GGP_CACHE", str(tmp_path))
    narrow, made = module._narrowed, []

    def counting(*arguments):
        made.append(arguments)
        return narrow(*arguments)

    monkeypatch.setattr(module, "_narrowed", counting)
    games = [ggp.load("tictactoe", "lanes") for _ in range(3)]
    before = set(tmp_path.iterdir())
    first, second = (decisive_game(game) for game in games[:2])
    assert len(made) == 1
    state = first.initial_state()
    for _ in range(6):
        joint_move = tuple(first.legal_moves(state, role)[0] for role in first.roles)
        assert joint_move == tuple(second.legal_moves(state, role)[0] for role in second.roles)
        state = first.next_state(state, joint_move)
    (kept,) = set(tmp_path.iterdir()) - before
    kept.write_bytes(kept.read_bytes()[:-1])
    assert decisive_game(games[2]) is not None
    assert len(made) == 2
