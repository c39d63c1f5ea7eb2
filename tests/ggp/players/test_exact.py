"""Players that calculate, against perfect and random opponents."""

import itertools
import time
from functools import lru_cache

import click
import pytest

from gdl.syntax.parser import parse_term
from ggp.beliefs.observation import Observation
from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.features.evaluation import LinearEvaluation
from ggp.game import RANDOM_ROLE
from ggp.match.player import MatchSetup, Player, PlayerFaultError, PlayerSpecError
from ggp.players.alphabeta import AlphaBetaPlayer
from ggp.players.factory import make_player
from ggp.players.options import AlphaBetaOptions
from ggp.players.simple import RandomPlayer
from ggp.players.solving import LinePlanner, SolvingPlayer
from ggp.players.tablebase import TablebasePlayer
from ggp.search.alphabeta.evaluation import TRIED
from ggp.solver import reachable, save_solution, solve
from ggp.solver.kernels.expand import PASSES
from tests.conftest import mostly_slow

LONG = 600.0
WIDE = f"""
    (role a) (role b) {" ".join(f"(number {n})" for n in range(90))} (init (left 3))
    (after 3 2) (after 2 1) (after 1 0)
    (<= (legal ?r (pick ?n)) (role ?r) (number ?n))
    (<= (next (has ?r ?n)) (does ?r (pick ?n)))
    (<= (next (left ?n)) (true (left ?k)) (after ?k ?n))
    (<= terminal (true (left 0)))
    (<= (goal ?r 100) (role ?r) (true (has ?r 1))) (<= (goal ?r 0) (role ?r) (not (true (has ?r 1))))
"""
"""Thousands of joint moves in every state."""


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


class PerfectPlayer(Player):
    """Plays from the solution; a check on the others, not one of them."""

    name = "perfect"

    def choose(self, state, deadline, joint_move):
        best = solved(self.setup.game.name).stage(state).best_moves
        rated = best.get(self.setup.role)
        return rated[0].move if rated else self.setup.game.legal_moves(state, self.setup.role)[0]


def play(game, players, seed=0, from_state=None):
    """The goals of one match; players of the chance role are random."""
    for role, player in zip(game.roles, players, strict=True):
        player.start(MatchSetup("test", game, role, 10, 10, seed), time.monotonic() + LONG)
        if isinstance(player, SolvingPlayer):
            player.wait_until_solved()
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


def test_solving_player_follows_lines_and_proofs_where_there_is_no_solution():
    game = load("sudoku_4x4", "lanes")
    player = SolvingPlayer(make_player("mcts:threads=1,solver=off"), mebibytes=0, margin=0.0)
    player.start(MatchSetup("test", game, game.roles[0], 10, 10, 1), time.monotonic() + 0.3)
    player.wait_until_solved()
    state, joint, modes = game.initial_state(), None, set()
    while not game.is_terminal(state):
        joint = (player.choose(state, time.monotonic() + 0.2, joint),)
        modes.add(player.mode)
        state = game.next_state(state, joint)
    player.stop(joint)
    assert game.goal(state, game.roles[0]) == 100
    assert "solution" not in modes
    assert modes & {"proof", "line"}


def test_line_of_nested_rollouts_is_followed_to_its_end():
    game = load("peg", "lanes")
    planner = LinePlanner(game, seed=0)
    state, joint = game.initial_state(), None
    planner.begin(state, joint)
    time.sleep(0.3)
    promised = planner.finish().goal
    assert promised > 0
    while not game.is_terminal(state):
        line = planner.finish()
        assert line.goal >= promised
        promised = line.goal
        joint = line.moves[:1]
        state = game.next_state(state, joint)
        if not game.is_terminal(state):
            planner.begin(state, joint)
    planner.finish()
    assert game.goal(state, game.roles[0]) == promised


def test_line_is_dropped_when_the_match_goes_another_way():
    game = load("hanoi", "lanes")
    planner = LinePlanner(game, seed=0)
    planner.begin(game.initial_state(), None)
    line = planner.finish()
    while line is None:
        planner.begin(game.initial_state(), None)
        line = planner.finish()
    legal = game.legal_moves(game.initial_state(), game.roles[0])
    other = next(move for move in legal if move != line.moves[0])
    state = game.next_state(game.initial_state(), (other,))
    planner.begin(state, (other,))
    rest = planner.finish()
    if rest is not None:
        assert rest.moves[0] in game.legal_moves(state, game.roles[0])


def test_game_of_chance_is_solved_from_the_state_at_hand_once_it_is_small():
    game = load("dicerace", "lanes")
    player = SolvingPlayer(make_player("mcts:simulations=20"), mebibytes=1)
    modes = []
    choose = player.choose

    def noting(state, deadline, joint):
        move = choose(state, deadline, joint)
        modes.append(player.mode)
        player.wait_until_solved()
        return move

    player.choose = noting
    play(game, [player, RandomPlayer(), RandomPlayer()], seed=2)
    assert modes[0] == "mcts"
    assert "solution" in modes


def test_simultaneous_stages_are_played_in_mixed_strategies():
    game = load("rockpaperscissors", "lanes")
    for mixed, modes in (("on", {"mixed"}), ("off", {"mcts"})):
        seen, moves = set(), set()
        for seed in range(12):
            other = make_player(f"mcts:simulations=200,proof=off,mixed={mixed}")
            player = SolvingPlayer(other, mebibytes=0)
            player.start(MatchSetup("m", game, game.roles[0], 1, 1, seed), time.monotonic() + LONG)
            player.wait_until_solved()
            moves.add(player.choose(game.initial_state(), time.monotonic() + LONG, None))
            seen.add(player.mode)
            player.stop(None)
        assert seen == modes
        if mixed == "on":
            assert len(moves) == 3


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
        RandomPlayer() if role == RANDOM_ROLE else AlphaBetaPlayer(AlphaBetaOptions(depth=1, nodes=300))
        for role in game.roles
    ]
    assert len(play(game, players)) == len(game.roles)


def test_alphabeta_player_uses_learned_weights(tmp_path):
    game = load("connectfour", "lanes")
    weights = {"(cell 4 1 red)": 3.0}
    LinearEvaluation("connectfour", 0.0, weights).save(tmp_path / "w.json")
    player = make_player(f"alphabeta:depth=1,weights={tmp_path / 'w.json'}")
    player.start(MatchSetup("m", game, game.roles[0], 1, 1, 0), time.monotonic() + LONG)
    assert str(player.choose(game.initial_state(), time.monotonic() + LONG, None)) == "(drop 4)"


@pytest.mark.slow
def test_alphabeta_player_finds_out_its_evaluation(caplog):
    game = load("breakthrough_small", "lanes")
    moves = set()
    for _ in range(2):
        player = make_player("alphabeta:nodes=500,games=40")
        with caplog.at_level("INFO", logger="ggp.players"):
            player.start(MatchSetup("m", game, game.roles[0], 9, 9, 1), time.monotonic() + LONG)
        assert player.evaluation in TRIED
        assert f"evaluation {player.evaluation}" in caplog.text
        moves.add(player.choose(game.initial_state(), time.monotonic() + LONG, None))
        player.stop(None)
    assert len(moves) == 1


def test_alphabeta_player_moves_even_if_the_start_clock_left_no_time(caplog):
    game = load("connectfour", "lanes")
    player = make_player("alphabeta:margin=0")
    player.prepare(game)
    with caplog.at_level("INFO", logger="ggp.players"):
        player.start(MatchSetup("m", game, game.roles[0], 0, 1, 1), time.monotonic())
    assert player.evaluation == "mobility"
    assert "no time to learn" in caplog.text
    move = player.choose(game.initial_state(), time.monotonic() + 0.1, None)
    assert move in game.legal_moves(game.initial_state(), game.roles[0])


@pytest.mark.parametrize("seat", [0, 1])
def test_alphabeta_player_ponders_where_another_role_is_to_choose(seat):
    """The first role after its own move, the second in the initial state, where it cannot but wait."""
    game = load("tictactoe", "lanes")
    player = AlphaBetaPlayer(AlphaBetaOptions(depth=1))
    player.start(MatchSetup("m", game, game.roles[seat], 1, 1, 0), time.monotonic() + LONG)
    player.ponder(lambda: False, time.monotonic() + LONG)  # there is nothing yet to ponder on
    move = player.choose(game.initial_state(), time.monotonic() + LONG, None)
    before = player.search.table_fill
    player.ponder(lambda: True, time.monotonic() + LONG)
    player.ponder(lambda: False, time.monotonic() + LONG)  # ends by itself: the game is solved
    assert player.search.is_proven
    assert player.search.table_fill > 10 * before
    assert (str(move) == "noop") == (seat == 1)
    player.stop(None)
    player.ponder(lambda: False, time.monotonic() + LONG)


def test_tablebase_of_other_rules_is_a_fault_and_still_moves(tmp_path):
    save_solution(solved("nim"), tmp_path / "s")
    game = load("tictactoe")
    player = TablebasePlayer(tmp_path / "s")
    with pytest.raises(PlayerFaultError):
        player.start(MatchSetup("m", game, game.roles[0], 1, 1, 0), time.monotonic() + 1)
    assert player.choose(game.initial_state(), 0, None) in game.legal_moves(
        game.initial_state(), game.roles[0]
    )


def test_tablebase_leaves_other_games_to_another_player(tmp_path, caplog):
    save_solution(solved("nim"), tmp_path / "s")
    player = make_player(f"tablebase:file={tmp_path / 's'},simulations=50")
    game = load("tictactoe", "lanes")
    goals = play(game, [player, RandomPlayer()])
    assert "solution of other rules (nim); mcts plays instead" in caplog.text
    assert len(goals) == 2
    assert player.other.simulation_count > 0


class Observer(Player):
    """Keeps its observations, and chooses without a state."""

    def start(self, setup, deadline):
        super().start(setup, deadline)
        self.observed = []

    def observe(self, observation, deadline):
        self.observed.append(observation)

    def choose_by_observations(self, deadline):
        assert self.observed
        return self.legal_moves(self.setup.game.initial_state())[0]


def test_tablebase_leaves_the_observations_of_other_games_to_another_player(tmp_path):
    save_solution(solved("nim"), tmp_path / "s")
    player = TablebasePlayer(tmp_path / "s", Observer())
    game = load("kuhn_poker", "lanes")
    player.start(MatchSetup("m", game, game.roles[0], 1, 1, 0), time.monotonic() + LONG)
    observation = Observation(parse_term("noop"), (parse_term("(card king)"),))
    player.observe(observation, time.monotonic() + LONG)
    assert player.other.observed == [observation]
    assert str(player.choose_by_observations(time.monotonic() + LONG)) == "noop"


def test_match_is_played_from_a_tablebase_of_its_rules_only(tmp_path, capsys):
    save_solution(solved("nim"), tmp_path / "s")
    player = f"tablebase:file={tmp_path / 's'}"
    with pytest.raises(SystemExit) as ended:
        app.main(["match", "nim", player, "random", "--seed", "1"], standalone_mode=False)
    assert ended.value.code == 0
    assert "tablebase" in capsys.readouterr().out
    with pytest.raises(click.UsageError, match=r"solution of other rules \(nim\), not of tictactoe"):
        app.main(["match", "tictactoe", player], standalone_mode=False)


def test_a_served_tablebase_is_checked_before_the_player_listens(tmp_path):
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(click.UsageError, match="not a saved solution"):
        app.main(
            ["player", "--port", "0", "--agent", f"tablebase:file={tmp_path / 'x'}"], standalone_mode=False
        )


@pytest.mark.parametrize(
    "spec",
    [
        "tablebase",
        "tablebase:file=/no/such/file",
        "solving:mixed=perhaps",
        "alphabeta:depth=x",
        "alphabeta:wings=2",
        "alphabeta:evaluation=hope",
        "alphabeta:features=smells",
        "alphabeta:weights=/no/such/file",
        "mcts:policy=fast,weights=/no/such/file",
        "mcts:policy=mast,weights=/no/such/file",
        "solving:wings=1",
    ],
)
def test_specs_that_mean_nothing_are_refused(spec):
    with pytest.raises(PlayerSpecError):
        make_player(spec)


def test_exact_players_report_what_they_know(tmp_path):
    game = load("connectfour_4x4", engine="lanes")
    state = game.initial_state()
    player = AlphaBetaPlayer(AlphaBetaOptions(depth=4, evaluation="mobility"))
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


def test_a_margin_longer_than_the_clock_leaves_half_of_it():
    game = load("tictactoe", "lanes")
    player = AlphaBetaPlayer(AlphaBetaOptions(depth=2, evaluation="mobility", margin_seconds=1000.0))
    player.start(MatchSetup("m", game, game.roles[0], 120, 120, 1), time.monotonic() + 120)
    player.choose(game.initial_state(), time.monotonic() + 120, None)
    assert player.last_result is not None
    assert player.last_result.depth == 2


def test_pondering_ends_in_the_midst_of_an_enumeration(monkeypatch):
    passes, expand = [], reachable.expand

    def counting(tables, code, first_move, expansion, *others):
        before = int(expansion.counter[PASSES])
        is_done = expand(tables, code, first_move, expansion, *others)
        passes.append(before - int(expansion.counter[PASSES]))
        return is_done

    game = load(WIDE, "lanes")
    player = make_player("mcts:words=1,memory=16")
    player.start(MatchSetup("test", game, game.roles[0], 0.0, LONG, 1), time.monotonic())
    monkeypatch.setattr(reachable, "expand", counting)
    asked = itertools.count(1)
    player.ponder(lambda: next(asked) > 4, time.monotonic() + LONG)
    assert 0 < sum(passes) < 2**5
