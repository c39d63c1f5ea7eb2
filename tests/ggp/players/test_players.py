"""Players: what people type, and what each of them chooses."""

import itertools
import random
import time

import pytest

import ggp.search.tree.reference.search  # noqa: F401  (or it is imported while a clock runs)
from gdl.terms import Compound, Symbol
from ggp.engines.loading import load
from ggp.match.player import MatchQuitError, MatchSetup, PlayerSpecError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.advised import AdvisedPlayer
from ggp.players.factory import make_player
from ggp.players.human import HumanPlayer
from ggp.players.mcts import mcts_player
from ggp.players.move_menu import MoveMenu
from ggp.players.options import MctsPlayerOptions
from ggp.players.simple import LegalPlayer, RandomPlayer
from tests.ggp.fakes import NOOP, Dice, Matrix, Nim, Stuck, number
from tests.ggp.players.asking import tree_of


def started(player, game, role_index=0, seed=1):
    setup = MatchSetup("test", game, game.roles[role_index], 0.0, 1.0, seed)
    player.start(setup, time.monotonic())
    return player


def later(seconds=60.0):
    return time.monotonic() + seconds


def take(n):
    return Compound("take", (number(n),))


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        ("random", RandomPlayer),
        ("legal", LegalPlayer),
        ("human", HumanPlayer),
        *((row, AdvisedPlayer) for row in ("mcts", "solving", "alphabeta", "uct")),
    ],
)
def test_make_player_knows_the_players_by_name(spec, kind):
    assert isinstance(make_player(spec), kind)
    assert make_player(spec).name == spec


def test_make_player_reads_options():
    player = make_player("mcts:simulations=50,c=12.5,margin=0.1")
    own, options = player.options
    assert (own.simulations, options.exploration, own.margin_seconds) == (50, 12.5, 0.1)


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("nobody", "expected mcts, alphabeta"),
        ("mcts:depth=3", "unknown option 'depth'; known options: simulations, margin"),
        ("mcts:simulations", "option=value"),
        ("mcts:simulations=many", "simulations must be a whole number"),
        ("mcts:simulations=0", "simulations must be at least 1, not 0"),
        ("mcts:c=nan", "c must be at least 0, not nan"),
        ("mcts:fill=2", "fill must be from 0 to 1, not 2"),
        ("mcts:threads=100000", "threads must be from 1 to 256, not 100000"),
        ("mcts:c=1,threads=2,c=3", "option 'c' is given twice"),
        ("solving:wings=1", "known options: solver_memory, simulations"),
        ("alphabeta:killers=0", "killers must be on or off, not '0'"),
        ("random:seed=1", "no options"),
    ],
)
def test_make_player_explains_mistakes(spec, part):
    with pytest.raises(PlayerSpecError, match=part):
        make_player(spec)


def test_legal_player_makes_the_first_legal_move():
    game = Nim()
    assert started(LegalPlayer(), game).choose((5, 0), later(), None) == take(1)


def test_random_player_depends_on_its_seed_only():
    game = Nim()

    def moves(seed):
        player = started(RandomPlayer(), game, seed=seed)
        return [player.choose((9, 0), later(), None) for _ in range(20)]

    assert moves(3) == moves(3)
    assert moves(3) != moves(4)
    assert set(moves(3)) == {take(1), take(2), take(3)}


@pytest.mark.parametrize("heap", [5, 6, 7, 9, 10, 11])
def test_mcts_player_finds_the_winning_move_of_nim(heap):
    player = started(mcts_player(MctsPlayerOptions(simulations=400)), Nim(heap))
    assert player.choose((heap, 0), later(), None) == take(heap % 4)


def test_mcts_player_answers_a_forced_move_at_once():
    player = started(mcts_player(), Nim(), role_index=1)
    assert player.choose((10, 0), later(3600), None) == NOOP


def test_mcts_player_answers_after_its_deadline():
    player = started(mcts_player(), Nim())
    assert player.choose((10, 0), time.monotonic() - 1, None) in {take(1), take(2), take(3)}


def test_mcts_player_weighs_chance():
    player = started(mcts_player(MctsPlayerOptions(simulations=600)), Dice(), role_index=1)
    assert player.choose(("start",), later(), None) == Symbol("safe")


def test_mcts_player_tells_its_best_move_so_far():
    heard = []
    player = started(make_player("mcts:simulations=300", on_progress=heard.append), Nim(7))
    move = player.choose((7, 0), later(), None)
    assert heard[-1] == move == player.best_move == take(3)


def test_mcts_player_reports_its_search():
    player = started(make_player("mcts:simulations=300,solver=off"), Nim(7))
    player.choose((7, 0), later(), None)
    assert player.last_report.playouts == 300
    assert player.last_report.moves[0].move == take(3)
    player.choose((4, 1), later(), (take(3), NOOP))
    assert player.last_report is None  # nothing to search for


@pytest.mark.parametrize(("head_start", "has_searched"), [("on", True), ("off", False)])
def test_mcts_player_searches_in_the_start_clock_unless_told_not_to(head_start, has_searched):
    player = make_player(f"mcts:search=reference,solver=off,head_start={head_start}")
    game = Nim(30)
    player.start(MatchSetup("match", game, game.roles[0], 0.0, 0.0, 1), later(0.2))
    ponder(player, 50)
    assert (tree_of(player).simulation_count > 0) == has_searched
    move = player.choose(game.initial_state(), later(0.2), None)
    assert move in game.legal_moves(game.initial_state(), game.roles[0])
    before = tree_of(player).simulation_count
    assert before > 0
    ponder(player, 50)
    assert tree_of(player).simulation_count > before


def ponder(player, simulations):
    asked = itertools.count()
    player.ponder(lambda: next(asked) >= simulations, later())


def test_mcts_player_ponders_behind_its_own_move():
    game = Nim(30)
    carried = []
    for ponders in (False, True):
        player = started(make_player("mcts:simulations=60,solver=off"), game)
        move = player.choose((30, 0), later(), None)
        if ponders:
            ponder(player, 400)
        state = game.next_state((30, 0), (move, NOOP))
        assert player.choose(state, later(), (move, NOOP)) == NOOP
        if ponders:
            ponder(player, 400)
        root = tree_of(player).root
        _, reply = max(zip(root.visits[1], root.moves[1], strict=True), key=lambda pair: pair[0])
        joint_move = (NOOP, reply)
        state = game.next_state(state, joint_move)
        assert player.choose(state, later(), joint_move) in game.legal_moves(state, game.roles[0])
        carried.append(player.last_report.carried)
    assert carried[1] > 10 * carried[0]


def test_mcts_player_ponders_where_both_choose():
    player = started(
        mcts_player(MctsPlayerOptions(simulations=50)), Matrix([[(50, 50), (0, 100)], [(100, 0), (20, 80)]])
    )
    player.choose((), later(), None)
    ponder(player, 300)
    assert tree_of(player).root.visit_count >= 300


def test_mcts_player_does_not_tell_what_it_ponders_on():
    heard = []
    player = started(make_player("mcts:simulations=50,solver=off", on_progress=heard.append), Nim(30))
    player.choose((30, 0), later(), None)
    count, move = len(heard), player.best_move
    ponder(player, 500)
    assert (len(heard), player.best_move) == (count, move)


def test_mcts_player_survives_pondering_in_odd_moments():
    player = mcts_player(MctsPlayerOptions(simulations=50))
    player.ponder(lambda: False, later())
    started(player, Stuck(2))
    player.choose((2, 0), later(), None)
    player.ponder(lambda: True, later())
    player.stop(None)
    player.ponder(lambda: False, later())


def test_mcts_beats_random_in_nim():
    wins = 0
    for seed in range(10):
        players = [RandomPlayer(), mcts_player(MctsPlayerOptions(simulations=150))]
        record = play_match(Nim(13), players, MatchTerms(60, 60, seed=seed))
        wins += record.goals == [0, 100]
    assert wins >= 8


@pytest.mark.parametrize("answer", ["2", "(take 2)", " take 2 ", "TAKE 2", "( take  2 )"])
def test_human_player_accepts_numbers_and_moves(answer):
    shown = []
    player = started(HumanPlayer(ask=lambda prompt: answer, show=shown.append), Nim())
    assert player.choose((10, 0), later(), None) == take(2)
    assert any("take 3" in line for line in shown)


def test_human_player_asks_again_until_the_move_is_legal():
    answers = iter(["", "4", "take 9", "jump", "0", "take 1"])
    shown = []
    player = started(HumanPlayer(ask=lambda prompt: next(answers), show=shown.append), Nim())
    assert player.choose((10, 0), later(), None) == take(1)
    assert sum("is not legal here" in line for line in shown) == 4


def test_human_player_is_not_asked_for_a_forced_move():
    def never(prompt):
        raise AssertionError("asked")

    player = started(HumanPlayer(ask=never, show=lambda line: None), Nim(), role_index=1)
    assert player.choose((10, 0), later(), None) == NOOP


def test_human_player_quits_at_end_of_input():
    def closed(prompt):
        raise EOFError

    player = started(HumanPlayer(ask=closed, show=lambda line: None), Nim())
    with pytest.raises(MatchQuitError):
        player.choose((10, 0), later(), None)


def test_human_player_reads_moves_that_are_numbers_as_moves():
    game = Matrix([[[0, 0]] * 3] * 3, moves=("1", "3", "5"))
    player = started(HumanPlayer(ask=lambda prompt: "3", show=lambda line: None), game)
    assert player.choose((), later(), None) == Symbol("3")


def test_move_menu_does_not_guess():
    legal = (Symbol("up"), Compound("move", (number(1), number(2))))
    menu = MoveMenu(legal)
    assert menu.find("move 1") is None
    assert menu.find("3") is None
    assert menu.find("move 1 2") == legal[1]


def test_random_player_plays_from_a_generator_of_its_own():
    random.seed(1)
    before = random.getstate()
    started(RandomPlayer(), Nim()).choose((5, 0), later(), None)
    assert random.getstate() == before


def test_mcts_on_lanes_keeps_its_tree_over_forced_moves():
    """In turn-taking games every other move is forced; the search must follow the match through them."""
    game = load("tictactoe", engine="lanes")
    players = [make_player("mcts:simulations=300,threads=1") for _ in game.roles]
    record = play_match(game, players, MatchTerms(600, 600, seed=3))
    assert record.is_completed
    assert not any(any(row) for row in record.errors)
    assert record.goals == [50, 50]


def test_mcts_on_lanes_survives_a_gap_in_the_match():
    game = load("tictactoe", engine="lanes")
    player = make_player("mcts:simulations=50,threads=1")
    setup = MatchSetup("m", game, game.roles[0], 60, 60, seed=1)
    player.start(setup, time.monotonic() + 600)
    state = game.initial_state()
    player.choose(state, time.monotonic() + 600, None)
    joint_move = None
    for _ in range(2):
        joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
        state = game.next_state(state, joint_move)
    assert player.choose(state, time.monotonic() + 600, joint_move) in game.legal_moves(state, game.roles[0])
    player.stop(None)
