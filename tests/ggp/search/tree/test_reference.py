"""The reference search: its statistics, its choices and its limits."""

import itertools

import pytest

from gdl.terms import Compound, Symbol
from ggp.search.budget import Budget
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.reference.search import Search
from ggp.search.tree.reference.tree import nodes_below
from tests.ggp.fakes import NOOP, Dice, Matrix, Nim, Stuck, number


def take(n):
    return Compound("take", (number(n),))


def search_of(game, role_index=0, seed=0, **options):
    search = Search(game, game.roles[role_index], seed=seed, **options)
    search.move_to(game.initial_state(), None)
    return search


@pytest.mark.parametrize("seed", range(5))
def test_search_keeps_consistent_statistics(seed):
    search = search_of(Nim(9), seed=seed)
    assert search.run(Budget(simulations=300)) == 300
    assert search.root.visit_count == 300
    for node in nodes_below(search.root):
        for role_visits, role_totals in zip(node.visits, node.totals, strict=True):
            assert sum(role_visits) == node.visit_count
            assert all(
                0 <= total <= 100 * count for total, count in zip(role_totals, role_visits, strict=True)
            )
    assert len(list(nodes_below(search.root))) == search.node_count


def test_search_tries_every_move_before_any_twice_and_adds_a_node_each_time():
    search = search_of(Nim(9))
    search.run(Budget(simulations=3))
    assert search.root.visits[0] == [1, 1, 1]
    assert search.node_count == 4


def test_search_finds_the_winning_move_for_either_role():
    search = search_of(Nim(7), role_index=0)
    search.run(Budget(simulations=400))
    assert search.best_move() == take(3)
    search = Search(Nim(7), Symbol("right"), seed=0)
    search.move_to((6, 1), None)
    search.run(Budget(simulations=400))
    assert search.best_move() == take(2)


def test_search_avoids_a_dominated_simultaneous_move():
    # For both roles b is better than a, whatever the other does.
    game = Matrix([[[10, 40], [0, 60]], [[100, 0], [20, 20]]])
    for role_index in (0, 1):
        search = search_of(game, role_index)
        search.run(Budget(simulations=500))
        assert search.best_move() == Symbol("b")


def test_search_keeps_no_preference_for_chance():
    search = search_of(Dice(), role_index=1)
    search.move_to(("start", "gamble"), None)
    search.run(Budget(simulations=3000))
    assert len(search.root.visits[0]) == 6
    assert min(search.root.visits[0]) > 400


def test_search_with_three_roles_maximizes_for_each():
    game = Nim(4, roles=("a", "b", "c"))
    search = search_of(game)
    search.run(Budget(simulations=1500))
    # Taking 1 leaves b a win by taking all three; 2 and 3 leave b a win too. All lose; b's replies win.
    child = search.root.children[(search.root.moves[0].index(take(1)), 0, 0)]
    replies = child.visits[1]
    assert child.moves[1][replies.index(max(replies))] == take(3)


def test_search_reuses_its_tree_where_it_knows_the_state():
    search = search_of(Nim(9))
    search.run(Budget(simulations=300))
    joint_move = (take(1), NOOP)
    below = search.root.children[(0, 0)].visit_count
    search.move_to((8, 1), joint_move)
    assert search.root.visit_count == below > 0
    assert len(list(nodes_below(search.root))) == search.node_count
    search.run(Budget(simulations=10))
    assert search.root.visit_count == below + 10
    search.move_to((20, 0), None)
    assert search.root.visit_count == 0


def test_search_stops_within_one_expansion_of_its_deadline():
    ticks = itertools.count()
    search = search_of(Nim(1000), clock=lambda: next(ticks))
    search.run(Budget(2500))
    # Every look at the clock is one tick; the first one that is not before the deadline ends the search.
    assert next(ticks) == 2501
    assert search.simulation_count >= 1


def test_search_interrupted_by_its_deadline_keeps_clean_statistics():
    ticks = itertools.count()
    search = search_of(Nim(1000), clock=lambda: next(ticks))
    search.run(Budget(3))
    assert search.root.visit_count == 0
    assert search.root.visits[0] == [0, 0, 0]
    assert search.best_move() == take(1)


def test_search_respects_its_node_limit():
    search = search_of(Nim(30), options=MctsOptions(node_limit=25))
    assert search.run(Budget(simulations=200)) == 200
    assert search.node_count == len(list(nodes_below(search.root))) == 25


def test_search_counts_a_stuck_role_as_an_end():
    search = search_of(Stuck(6))
    assert search.run(Budget(simulations=100)) == 100


def test_search_counts_a_missing_goal_as_nothing():
    game = Matrix([[[None, 50], [None, 50]], [[10, 50], [10, 50]]])
    search = search_of(game)
    search.run(Budget(simulations=100))
    assert search.best_move() == Symbol("b")
