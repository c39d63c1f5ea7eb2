"""Players that calculate, against perfect and random opponents."""

import time
from functools import lru_cache

import pytest

from ggp.exact_players import AlphaBetaPlayer, SolvingPlayer, TablebasePlayer
from ggp.game import RANDOM_ROLE
from ggp.loading import load
from ggp.players import MatchSetup, PlayerFaultError, PlayerSpecError, RandomPlayer, make_player
from ggp.search.evaluation import LinearEvaluation
from ggp.solver import save_solution, solve

LONG = 600.0


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


class PerfectPlayer:
    """Plays from the solution; a check on the others, not one of them."""

    name = "perfect"

    def start(self, setup, deadline):
        self.setup = setup

    def choose(self, state, deadline, joint_move):
        best = solved(self.setup.game.name).stage(state).best_moves
        rated = best.get(self.setup.role)
        return rated[0].move if rated else self.setup.game.legal_moves(state, self.setup.role)[0]

    def stop(self, joint_move):
        pass


def play(game, players, seed=0, from_state=None):
    """The goals of one match; players of the chance role are random."""
    for role, player in zip(game.roles, players, strict=True):
        player.start(MatchSetup("test", game, role, 10, 10, seed), time.monotonic() + LONG)
        if isinstance(player, SolvingPlayer):
            player._thread.join()
    state, joint = from_state or game.initial_state(), None
    while not game.is_terminal(state):
        joint = tuple(player.choose(state, time.monotonic() + LONG, joint) for player in players)
        state = game.next_state(state, joint)
    for player in players:
        player.stop(joint)
    return [game.goal(state, role) for role in game.roles]


def contenders(tmp_path, name):
    save_solution(solved(name), tmp_path / "s")
    return [
        make_player(f"tablebase:file={tmp_path / 's'}"),
        make_player("alphabeta:nodes=200000"),
        make_player("solving:simulations=20,search=reference"),
    ]


@pytest.mark.parametrize("name", ["tictactoe", "nim", "connectfour_4x4"])
@pytest.mark.parametrize("place", [0, 1])
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


def _some_states(solution, step):
    from ggp.solver.codes import decode_keys

    keys = solution.space.keys.reshape(-1, solution.space.code.word_count)
    return decode_keys(solution.space.code, keys[::step])


def test_solving_player_says_what_moved_and_falls_back_on_proofs():
    game = load("connectfour_4x4", "lanes")
    whole = SolvingPlayer(make_player("mcts:simulations=5,search=reference"))
    play(game, [whole, RandomPlayer()])
    assert whole.mode == "solution"
    little = SolvingPlayer(make_player("mcts:simulations=5,search=reference"), mebibytes=2)
    modes = []
    choose = little.choose

    def noting(state, deadline, joint):
        move = choose(state, min(deadline, time.monotonic() + 1.0), joint)
        modes.append(little.mode)
        return move

    little.choose = noting
    goals = play(game, [little, RandomPlayer()], seed=3)
    assert "solution" not in modes
    assert goals[0] >= 50


def test_mixed_strategies_are_mixed_by_the_players_seed(tmp_path):
    save_solution(solved("rockpaperscissors"), tmp_path / "s")
    game = load("rockpaperscissors")
    player = TablebasePlayer(tmp_path / "s")
    seen = set()
    for seed in range(30):
        player.start(MatchSetup("m", game, game.roles[0], 1, 1, seed), time.monotonic() + 1)
        seen.add(player.choose(game.initial_state(), time.monotonic() + 1, None))
    assert len(seen) == 3


@pytest.mark.parametrize("name", ["dicerace", "connectfour_3p", "morra", "maze"])
def test_alphabeta_player_plays_games_of_every_kind(name):
    game = load(name, "lanes")
    players = [
        RandomPlayer() if role == RANDOM_ROLE else AlphaBetaPlayer(depth=1, nodes=300) for role in game.roles
    ]
    assert len(play(game, players)) == len(game.roles)


def test_alphabeta_player_uses_learned_weights(tmp_path):
    game = load("connectfour", "lanes")
    weights = {"(cell 4 1 red)": 3.0}
    LinearEvaluation("connectfour", 0.0, weights).save(tmp_path / "w.json")
    player = make_player(f"alphabeta:depth=1,weights={tmp_path / 'w.json'}")
    player.start(MatchSetup("m", game, game.roles[0], 1, 1, 0), time.monotonic() + LONG)
    assert str(player.choose(game.initial_state(), time.monotonic() + LONG, None)) == "(drop 4)"


def test_tablebase_of_other_rules_is_a_fault_and_still_moves(tmp_path):
    save_solution(solved("nim"), tmp_path / "s")
    game = load("tictactoe")
    player = TablebasePlayer(tmp_path / "s")
    with pytest.raises(PlayerFaultError):
        player.start(MatchSetup("m", game, game.roles[0], 1, 1, 0), time.monotonic() + 1)
    assert player.choose(game.initial_state(), 0, None) in game.legal_moves(
        game.initial_state(), game.roles[0]
    )


@pytest.mark.parametrize(
    "spec",
    [
        "tablebase",
        "tablebase:file=/no/such/file",
        "alphabeta:depth=x",
        "alphabeta:wings=2",
        "solving:wings=1",
    ],
)
def test_specs_that_mean_nothing_are_refused(spec):
    with pytest.raises(PlayerSpecError):
        make_player(spec)


def test_exact_players_report_what_they_know(tmp_path):
    game = load("connectfour_4x4", engine="lanes")
    state = game.initial_state()
    player = AlphaBetaPlayer(depth=4)
    player.start(MatchSetup("m", game, game.roles[0], 0.0, 60.0, 1), time.monotonic() + 60)
    move = player.choose(state, time.monotonic() + 60, None)
    report = player.last_report
    assert (report.mode, report.deepest, report.goal) == ("alphabeta", 4, None)
    assert report.moves[0].move == move
    assert report.nodes > 0

    nim, solution = load("nim", "lanes"), solved("nim")
    save_solution(solution, tmp_path / "s")
    saved = TablebasePlayer(tmp_path / "s")
    saved.start(MatchSetup("m", nim, nim.roles[1], 0.0, 1.0, 1), time.monotonic() + 1)
    state = nim.initial_state()
    state = nim.next_state(state, tuple(nim.legal_moves(state, role)[0] for role in nim.roles))
    move = saved.choose(state, time.monotonic() + 1, None)
    assert saved.last_report.mode == "solution"
    assert saved.last_report.goal == round(solution.stage(state).best_moves[nim.roles[1]][0].goal)
