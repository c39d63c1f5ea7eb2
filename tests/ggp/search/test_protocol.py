"""One contract for all searches: they run within a budget, and give a best move and a report."""

import time

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.networks.network import Network
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.role_search import RoleSearch
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import NO_LIMIT, NO_TIME, Budget
from ggp.search.forest.guided import NetworkSearch
from ggp.search.protocol import Search
from ggp.search.report import SearchReport
from ggp.search.rollouts.single_role import NestedRollouts
from ggp.search.sets.many_trees import ManyTreeSearch
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.search import Search as PlainSearch
from ggp.search.tree.search import LanesSearch

SMALL = MctsOptions(words=1, memory_mebibytes=16, threads=1)


def tree(kind, game):
    search = kind(game, game.roles[0], options=SMALL)
    search.move_to(game.initial_state(), None)
    return search


def possible_states(game):
    search = ManyTreeSearch(game, game.roles[0], options=SMALL)
    search.look_at({game.initial_state(): 1.0}, np.zeros((1, len(game.roles)), np.uint64))
    return search


SEARCHES = {
    "lanes": ("tictactoe", lambda game: tree(LanesSearch, game)),
    "reference": ("tictactoe", lambda game: tree(PlainSearch, game)),
    "alphabeta": ("tictactoe", lambda game: RoleSearch(AlphaBeta(game, mebibytes=1), game.roles[0])),
    "readable alphabeta": ("tictactoe", lambda game: RoleSearch(ReferenceSearch(game), game.roles[0])),
    "network": ("tictactoe", lambda game: NetworkSearch(game, game.roles[0], Network.random(game, seed=1))),
    "sets": ("dark_hex_3x3", possible_states),
    "rollouts": ("eightpuzzle", NestedRollouts),
}


@pytest.mark.parametrize("kind", SEARCHES)
def test_every_search_runs_within_a_budget(kind):
    name, make = SEARCHES[kind]
    game = load(name, "lanes")
    search: Search = make(game)
    count = search.run(Budget(time.monotonic() + 600, simulations=512, nodes=50))
    assert 0 < count == search.simulation_count
    report = search.report()
    assert isinstance(report, SearchReport)
    assert search.best_move() == report.moves[0].move
    assert search.best_move() in game.legal_moves(game.initial_state(), game.roles[0])


def test_parts_of_a_budget_end_earlier():
    budget = Budget(time.monotonic() + 100, simulations=7)
    assert budget.part(0.1).seconds_left() == pytest.approx(10, abs=1)
    assert budget.earlier(30).seconds_left() == pytest.approx(70, abs=1)
    assert budget.earlier(1000).seconds_left() == pytest.approx(50, abs=1)
    assert {each.simulations for each in (budget, budget.part(0.5), budget.earlier(1))} == {7}


def test_budgets_say_what_ends_them():
    stopped = Budget(is_stopped=lambda: True)
    assert (NO_LIMIT.is_over(), NO_TIME.is_over(), stopped.is_over()) == (False, True, True)
    assert (NO_LIMIT.is_counted, Budget(simulations=1).is_counted, Budget(nodes=1).is_counted) == (
        False,
        True,
        True,
    )
    assert not Budget(time.monotonic() + 600, is_stopped=lambda: False).is_over()


UNEVEN = """
(role a) (role b) (init s)
(legal a wait) (<= (legal b (take ?c)) (true s) (cost ?c))
(cost 20) (cost 60)
(<= (next (paid ?c)) (does b (take ?c)))
(<= terminal (true (paid ?c)))
(<= (goal a ?c) (true (paid ?c)))
(<= (goal b 60) (true (paid 20))) (<= (goal b 20) (true (paid 60)))
"""
"""The goals add up to 80."""


@pytest.mark.parametrize(
    "search_of", [lambda game: AlphaBeta(game, mebibytes=1), ReferenceSearch], ids=["lanes", "readable"]
)
def test_the_second_role_reports_its_goal_whatever_the_sum(search_of):
    game = load(UNEVEN)
    search = RoleSearch(search_of(game), game.roles[1])
    search.move_to(game.initial_state(), None)
    search.run(Budget(nodes=100))
    report = search.report()
    assert (report.goal, report.moves[0].goal) == (60, 60)
