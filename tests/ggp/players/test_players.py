"""Players: what people type, and what each of them chooses."""

import itertools
import random
import time

import pytest

import ggp.search.tree.reference.search  # noqa: F401  (or it is imported while a clock runs)
from gdl.terms import Compound, Symbol
from ggp.engines.loading import load
from ggp.match.player import PlayerSpecError
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players import factory
from ggp.players.advised import AdvisedPlayer
from ggp.players.factory import make_player
from ggp.players.human import HumanPlayer
from ggp.players.simple import LegalPlayer, RandomPlayer
from tests.ggp.fakes import NOOP, Dice, Matrix, Nim, Stuck, number
from tests.ggp.players.asking import choose, started, tree_of


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
    own, options = make_player("mcts:simulations=50,c=12.5,margin=0.1").options
    assert (own.simulations, options.exploration, own.margin_seconds) == (50, 12.5, 0.1)
    _, options = make_player("mcts:policy=rave+mast,tau=5,threads=3,solver=off,ramp=16,memory=64").options
    assert (options.policy, options.temperature, options.threads) == ("rave+mast", 5.0, 3)
    assert (options.is_solving, options.ramp, options.memory_mebibytes) == (False, 16, 64)


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
        ("mcts:policy=best", "mcts"),
        ("mcts:search=deep", "mcts"),
        ("mcts:solver=1", "mcts"),
        ("mcts:words=5", "mcts"),
        ("mcts:advisor=openings", "expected module:Class"),
        ("solving:wings=1", "known options: solver_memory, simulations"),
        ("solving:mixed=perhaps", "solving"),
        ("tablebase", "needs file=PATH"),
        ("tablebase:file=/no/such/file", "tablebase"),
        ("alphabeta:killers=0", "unknown option 'killers'"),
        ("alphabeta:depth=x", "alphabeta"),
        ("alphabeta:wings=2", "alphabeta"),
        ("alphabeta:evaluation=hope", "alphabeta"),
        ("alphabeta:evaluation=smells", "alphabeta"),
        ("alphabeta:evaluation=/no/such/file", "alphabeta"),
        ("random:seed=1", "no options"),
    ],
)
def test_make_player_explains_mistakes(spec, part):
    with pytest.raises(PlayerSpecError, match=part):
        make_player(spec)


def test_legal_player_makes_the_first_legal_move():
    assert choose(started("legal", Nim()), (5, 0)) == take(1)


def test_random_player_depends_on_its_seed_only():
    def moves(seed):
        player = started("random", Nim(), seed=seed)
        return [choose(player, (9, 0)) for _ in range(20)]

    random.seed(1)
    before = random.getstate()
    assert moves(3) == moves(3)
    assert moves(3) != moves(4)
    assert set(moves(3)) == {take(1), take(2), take(3)}
    assert random.getstate() == before


@pytest.mark.parametrize("heap", [5, 6, 7, 9, 10, 11])
def test_mcts_player_finds_the_winning_move_of_nim(heap):
    heard = []
    player = started(make_player("mcts:simulations=400", on_progress=heard.append), Nim(heap))
    assert choose(player) == take(heap % 4) == heard[-1] == player.best_move


def test_mcts_player_answers_after_its_deadline():
    choose(started("mcts", Nim()), (10, 0), seconds=-1)


def test_mcts_player_weighs_chance():
    assert choose(started("mcts:simulations=600", Dice(), 1), ("start",)) == Symbol("safe")


def test_mcts_player_reports_its_search():
    player = started("mcts:simulations=300,solver=off", Nim(7))
    choose(player, (7, 0))
    assert player.last_report.playouts == 300
    assert player.last_report.moves[0].move == take(3)
    choose(player, (4, 1), (take(3), NOOP))
    assert player.last_report is None  # nothing to search for


@pytest.mark.parametrize(("head_start", "has_searched"), [("on", True), ("off", False)])
def test_mcts_player_searches_in_the_start_clock_unless_told_not_to(head_start, has_searched):
    player = started(f"mcts:search=reference,solver=off,head_start={head_start}", Nim(30), clock=0.2)
    ponder(player, 50)
    assert (tree_of(player).simulation_count > 0) == has_searched
    choose(player, seconds=0.2)
    before = tree_of(player).simulation_count
    assert before > 0
    ponder(player, 50)
    assert tree_of(player).simulation_count > before


def ponder(player, simulations):
    asked = itertools.count()
    player.ponder(lambda: next(asked) >= simulations, time.monotonic() + 60)


def test_mcts_player_ponders_behind_its_own_move():
    game = Nim(30)
    carried = []
    for ponders in (False, True):
        player = started("mcts:simulations=60,solver=off", game)
        move = choose(player)
        if ponders:
            ponder(player, 400)
        state = game.next_state((30, 0), (move, NOOP))
        assert choose(player, state, (move, NOOP)) == NOOP
        if ponders:
            ponder(player, 400)
        root = tree_of(player).root
        _, reply = max(zip(root.visits[1], root.moves[1], strict=True), key=lambda pair: pair[0])
        choose(player, game.next_state(state, (NOOP, reply)), (NOOP, reply))
        carried.append(player.last_report.carried)
    assert carried[1] > 10 * carried[0]


def test_mcts_player_ponders_where_both_choose():
    player = started("mcts:simulations=50", Matrix([[(50, 50), (0, 100)], [(100, 0), (20, 80)]]))
    choose(player)
    ponder(player, 300)
    assert tree_of(player).root.visit_count >= 300


def test_mcts_player_does_not_tell_what_it_ponders_on():
    heard = []
    player = started(make_player("mcts:simulations=50,solver=off", on_progress=heard.append), Nim(30))
    choose(player)
    count, move = len(heard), player.best_move
    ponder(player, 500)
    assert (len(heard), player.best_move) == (count, move)


def test_mcts_player_survives_pondering_in_odd_moments():
    player = make_player("mcts:simulations=50")
    ponder(player, 1)
    started(player, Stuck(2)).choose((2, 0), time.monotonic() + 60, None)
    ponder(player, 0)
    player.stop(None)
    ponder(player, 1)


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
    player = started("mcts:simulations=50,threads=1", game, clock=600)
    choose(player)
    state, joint_move = game.initial_state(), None
    for _ in range(2):
        joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
        state = game.next_state(state, joint_move)
    choose(player, state, joint_move)
    player.stop(None)


def test_level_is_a_counted_search(monkeypatch):
    made = []
    monkeypatch.setattr(factory, "mcts_player", lambda own, options, **rest: made.append(own.simulations))
    for spec in ("mcts:level=easy", "mcts:level=strong", "mcts:level=full", "mcts:level=easy,simulations=7"):
        make_player(spec)
    assert made == [100, 2400, None, 7]
    with pytest.raises(PlayerSpecError, match="easy, medium, strong or full"):
        make_player("mcts:level=godlike")
