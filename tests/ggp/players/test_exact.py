"""Players that calculate, against perfect and random opponents."""

import pytest

from ggp.players.factory import make_player
from ggp.players.simple import RandomPlayer
from ggp.solver import save_solution
from tests.conftest import mostly_slow
from tests.ggp.players.perfect import PerfectPlayer, play, solved


def contenders(tmp_path, name):
    save_solution(solved(name), tmp_path / "s")
    return [
        make_player(f"tablebase:file={tmp_path / 's'}"),
        make_player("alphabeta:nodes=200000,evaluation=mobility"),
        make_player("solving:simulations=20,search=reference"),
    ]


@pytest.mark.parametrize("name", mostly_slow(["nim", "tictactoe", "connectfour_4x4"], 3))
@pytest.mark.parametrize("place", [1, 0])
def test_nobody_gets_less_than_the_value_against_any_opponent(name, place, tmp_path):
    solution = solved(name)
    value = solution.values()[place]
    for player in contenders(tmp_path, name):
        for opponent, seed in ((PerfectPlayer(), 0), (RandomPlayer(), 1), (RandomPlayer(), 2)):
            players = [player, opponent] if place == 0 else [opponent, player]
            goals = play(solution.game, players, seed)
            assert goals[place] >= value


@pytest.mark.parametrize("name", ["tictactoe", "nim"])
def test_every_win_that_is_offered_is_taken(name, tmp_path):
    solution = solved(name)
    game = solution.game
    won = [
        (state, place)
        for state in map(game.pack, _some_states(solution, 400))
        for place in (0, 1)
        if not game.is_terminal(state) and solution.worth(state).values[place] == 100
    ][:6]
    assert won
    for player in contenders(tmp_path, name):
        for state, place in won:
            players = [player, PerfectPlayer()] if place == 0 else [PerfectPlayer(), player]
            assert play(game, players, from_state=state)[place] == 100


@pytest.mark.parametrize("plies", mostly_slow([1, 3, 5, 7, 9], 5, first=4))
def test_wins_of_connect_four_are_taken_however_far_they_are(plies, tmp_path):
    solution = solved("connectfour_4x4")
    game = solution.game
    won = [
        (state, place)
        for state in map(game.pack, _some_states(solution, 1, solution.depth == plies))
        for place in (0, 1)
        if len(game.legal_moves(state, game.roles[place])) > 1 and solution.worth(state).values[place] == 100
    ]
    won = won[:: len(won) // 4]
    assert len(won) >= 4
    for player in contenders(tmp_path, "connectfour_4x4"):
        for state, place in won:
            assert solution.worth(state).depth == plies
            players = [player, PerfectPlayer()] if place == 0 else [PerfectPlayer(), player]
            assert play(game, players, from_state=state)[place] == 100


def _some_states(solution, step, among=slice(None)):
    from ggp.lanes.keys.state_code import decode_keys

    keys = solution.space.keys.reshape(-1, solution.space.code.word_count)
    return decode_keys(solution.space.code, keys[among][::step])
