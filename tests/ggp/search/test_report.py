"""Reports of searches: what they say while the search runs and after it, as JSON and as a line of text."""

import itertools
import json
import time
from dataclasses import replace

import pytest

from gdl.terms import Symbol
from ggp.search.budget import Budget
from ggp.search.report import JSON_CHARACTERS, MoveReport, SearchReport, report_text
from ggp.search.tree import search as mcts
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference import search as reference
from ggp.search.tree.reference.search import Search
from ggp.search.tree.search import LanesSearch
from tests.conftest import mostly_slow
from tests.ggp.fakes import Nim
from tests.ggp.search.tree.golden import compiled


def report_of(moves=(), **changes):
    line = ((Symbol("a"), Symbol("noop")), (Symbol("noop"), Symbol("b")))
    known = SearchReport(2.0, 3_000_000, 400_000, 4.25, 9, 1000, moves=tuple(moves), best_line=line)
    return replace(known, **changes)


def searches(**options):
    """The same position searched on lanes, with one tree and with two, and in plain Python."""
    game = compiled("connectfour_4x4")
    role = game.roles[0]
    small = {"memory_mebibytes": 32, "words": 1}
    yield LanesSearch(game, role, options=MctsOptions(**small), **options)
    yield LanesSearch(game, role, options=MctsOptions(threads=2, **small), **options)
    yield Search(game, role, **options)


@pytest.mark.parametrize("index", mostly_slow(range(3), 3, first=1))
def test_search_reports_while_it_runs(index, monkeypatch):
    monkeypatch.setattr(mcts, "REPORT_SECONDS", 0.02)
    monkeypatch.setattr(reference, "REPORT_SECONDS", 0.02)
    heard = []
    search = list(searches(on_report=heard.append))[index]
    search.move_to(search.game.initial_state(), None)
    search.run(Budget(simulations=10))
    search.run(Budget(time.monotonic() + 0.8))
    last = search.report()
    assert len(heard) >= 2
    for before, after in itertools.pairwise([*heard, last]):
        assert before.playouts <= after.playouts
        assert before.seconds < after.seconds
    assert last.playouts > 0
    assert last.moves[0].visits == max(move.visits for move in last.moves)
    assert last.best_line[0][0] == last.moves[0].move
    assert 0 <= last.expectation <= 100
    search.close()


@pytest.mark.parametrize("index", range(3))
def test_search_ends_when_it_is_told_to(index):
    search = list(searches())[index]
    search.move_to(search.game.initial_state(), None)
    calls = itertools.count()
    begin = time.monotonic()
    search.run(Budget(begin + 60, is_stopped=lambda: next(calls) > 20))
    assert time.monotonic() - begin < 30
    assert search.run(Budget(begin + 60, is_stopped=lambda: True)) == 0
    search.close()


@pytest.mark.parametrize("index", range(3))
def test_report_tells_what_was_kept_from_before(index):
    search = list(searches())[index]
    game = search.game
    state = game.initial_state()
    search.move_to(state, None)
    search.run(Budget(simulations=600))
    assert search.report().carried == 0
    joint_move = search.report().best_line[0]
    search.move_to(game.next_state(state, joint_move), joint_move)
    report = search.report()
    assert (report.playouts, report.seconds) == (0, 0.0)
    assert 0 < report.carried < 600
    assert report.carried == sum(move.visits for move in report.moves)
    search.close()


def test_plain_search_reports_depth_and_proof():
    game = Nim(5)
    search = Search(game, game.roles[0], options=MctsOptions(is_solving=True))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=3000))
    report = search.report()
    assert (report.goal, report.expectation, report.mode) == (100, 100.0, "reference")
    assert 1 <= report.mean_depth <= report.deepest <= 5


@pytest.mark.parametrize(
    ("moves", "best"),
    [
        ([], None),
        ([("a", 9, 40.0, None), ("b", 10, 30.0, None), ("c", 10, 35.0, None)], "c"),
        ([("a", 9, 40.0, None), ("b", 1, 0.0, 50), ("c", 1, 0.0, 50)], "b"),
        ([("a", 9, 60.0, None), ("b", 1, 0.0, 50)], "a"),
        # What is proven to give nothing is no better than a move without points, or one that was not made.
        ([("a", 10, 0.0, 0), ("b", 0, 0.0, None)], "b"),
        ([("a", 10, 0.0, 0), ("b", 900, 0.0, None)], "b"),
        ([("a", 10, 0.0, 0)], "a"),
        # Of a mean within bounds only what they leave open counts: at most a draw, or at least one.
        ([("a", 900, 60.0, None, (0, 50)), ("b", 9, 31.0, None)], "b"),
        ([("a", 900, 60.0, None, (0, 50)), ("b", 9, 29.0, None)], "a"),
        ([("a", 9, 20.0, None, (50, 100)), ("b", 900, 59.0, None)], "a"),
        ([("a", 9, 80.0, None, (0, 50)), ("b", 10, 10.0, None, (0, 50)), ("c", 1, 0.0, 0)], "b"),
    ],
)
def test_the_best_move_is_the_most_visited_unless_a_proof_is_better(moves, best):
    assert report_of([MoveReport(*each) for each in moves]).best_move == best


def test_report_becomes_json():
    known = MoveReport(Symbol("a"), 30, 61.239, None)
    data = report_of([known, MoveReport(Symbol("b"), 0, 0.0, None)]).to_dict()
    assert json.loads(json.dumps(data)) == data
    assert (data["expectation"], data["playouts_per_second"]) == (61.24, 1_500_000)
    assert data["moves"][0] == {"move": "a", "visits": 30, "mean": 61.24, "goal": None}
    assert data["line"] == [["a", "noop"], ["noop", "b"]]


def test_report_stays_small_whatever_the_rules_are():
    monster = Symbol("x" * 100_000)
    moves = [MoveReport(monster, 1, 50.0, None)] * 1000
    data = report_of(moves, best_line=((monster,) * 500,) * 12).to_dict()
    assert len(json.dumps(data)) < 3 * JSON_CHARACTERS
    assert len(report_text(report_of(moves, best_line=((monster,),) * 12).to_dict())) < 400


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({}, "lanes, 3.00M playouts (1.50M/s), 200k descents/s, depth 4.2, at most 9, line a b"),
        ({"goal": 100}, "proven 100"),
        ({"moves": (MoveReport(Symbol("a"), 5, 33.333, None),)}, "expects 33.3"),
        ({"is_full": True}, "tree full"),
        ({"fallback": "rave+mast"}, "plays as rave+mast"),
        ({"tuned": "policy=mast,c=20"}, "tuned to policy=mast,c=20"),
        ({"carried": 999}, "999 carried over"),
        ({"best_line": ((Symbol("noop"), Symbol("noop")),)}, "line noop"),
        # Without playouts there are no rates.
        ({"mode": "proof", "playouts": 0, "goal": 50}, "proof, depth 4.2, at most 9, proven 50, line a b"),
    ],
)
def test_report_text_tells_what_matters(changes, part):
    assert part in report_text(report_of(**changes).to_dict())
