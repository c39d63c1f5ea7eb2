"""After pondering only the root moves when the match goes on; what is not below it is dropped later."""

import itertools

import pytest

from ggp.search.budget import Budget
from ggp.search.tree import search as lanes_search
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch
from ggp.search.tree.tree_engine import TreeEngine
from tests.ggp.search.tree.golden import compiled, in_flight

POLICIES = [
    {"policy": "uniform", "is_graph": True, "is_solving": True},
    {"policy": "mast+rave"},
]


def every_game_and_policy(test):
    games = pytest.mark.parametrize("name", ["connectfour_4x4", "tron"])
    return games(pytest.mark.parametrize("options", POLICIES, ids=lambda options: options["policy"])(test))


def engine_at(name, options):
    game = compiled(name)
    code = lanes_search.make_code(len(game.terms.fluents), game.exclusive)
    engine = TreeEngine(game, MctsOptions(memory_mebibytes=16, words=1, **options), seed=3, code=code)
    engine.set_root(game.unpack(game.initial_state()))
    grow(engine, 2000)
    return engine


def grow(engine, simulations):
    engine.begin(simulations)
    while not engine.run(50):
        pass


def below_root(engine):
    """Statistics, proofs and children of every node that is reached from the root, whatever its number."""
    roles = range(engine.tables.role_count)
    place, found = {engine.root: 0}, []
    for node in (waiting := [engine.root]):
        edges = [engine.root_edges(role, node) for role in roles]
        joint_moves = itertools.product(*(of_role.moves.tolist() for of_role in edges))
        children = {joint: child for joint in joint_moves if (child := engine.child(node, joint)) is not None}
        for child in children.values():
            if child not in place:
                place[child] = len(waiting)
                waiting.append(child)
        numbered = {joint: place[child] for joint, child in children.items()}
        statistics = [[column.tolist() for column in of_role] for of_role in edges]
        found.append((statistics, int(engine.tree.proof[node]), numbered))
    return found


@every_game_and_policy
def test_a_tree_compacted_late_equals_the_one_compacted_at_once(name, options):
    game = compiled(name)
    early, late = engine_at(name, options), engine_at(name, options)
    state = game.initial_state()
    for _ in range(2):
        line = late.best_line(1)[0]
        state = game.next_state(state, tuple(game.moves[role][move] for role, move in enumerate(line)))
        for engine in (early, late):
            child = engine.child(engine.root, line)
            engine.move_root(child, game.unpack(state), is_late=engine is late)
        assert late.is_loose
        assert late.root > 0
        assert below_root(early) == below_root(late)
    loose = late.node_count
    late.compact()
    assert late.root == 0
    assert late.node_count == early.node_count < loose
    assert late.edge_count == early.edge_count
    assert below_root(early) == below_root(late)


@every_game_and_policy
def test_a_tree_that_grew_below_a_moved_root_keeps_its_statistics_when_it_is_compacted(name, options):
    game = compiled(name)
    engine = engine_at(name, options)
    line = engine.best_line(1)[0]
    joint_move = tuple(game.moves[role][move] for role, move in enumerate(line))
    state = game.next_state(game.initial_state(), joint_move)
    engine.move_root(engine.child(engine.root, line), game.unpack(state), is_late=True)
    visits = engine.root_edges(0).visits.sum()
    grow(engine, 500)
    assert engine.root_edges(0).visits.sum() == visits + 500
    assert not in_flight(engine).any()
    before = below_root(engine)
    engine.compact()
    assert below_root(engine) == before
    grow(engine, 500)
    assert engine.root_edges(0).visits.sum() == visits + 1000


def timed_search(**options):
    """A search with little memory that has pondered and followed one joint move; its state and its clock."""
    game, clock = compiled("connectfour"), map(float, itertools.count()).__next__
    options = MctsOptions(memory_mebibytes=2, words=1, **options)
    search = LanesSearch(game, game.roles[0], options=options, clock=clock)
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=2000))
    search.run(Budget(1e9, is_stopped=lambda: True))
    state = follow(search, game.initial_state())
    assert all(engine.is_loose for engine in search.engines)
    return search, state, clock


def follow(search, state):
    joint_move = search.report().best_line[0]
    state = search.game.next_state(state, joint_move)
    search.move_to(state, joint_move)
    return state


def visits_of(search):
    return {move.move: move.visits for move in search.report().moves}


@pytest.mark.parametrize("threads", [1, 2])
def test_a_timed_search_compacts_its_trees_once_they_are_full(threads):
    search, state, clock = timed_search(threads=threads)
    legal = set(search.game.legal_moves(state, search.game.roles[0]))
    carried = visits_of(search)
    assert set(carried) == legal
    while any(engine.is_loose for engine in search.engines):
        search.run(Budget(clock() + 50))
    assert [engine.root for engine in search.engines] == [0] * threads
    grown = visits_of(search)
    assert set(grown) == legal
    assert all(grown[move] >= visits for move, visits in carried.items())
    assert search.best_move() in legal
    search.run(Budget(clock() + 50))
    assert sum(visits_of(search).values()) > sum(grown.values())
    search.close()


@pytest.mark.parametrize("is_pondering", [False, True])
def test_a_full_tree_is_compacted_with_the_next_move(monkeypatch, is_pondering):
    """Without time for it in a search; after pondering at once."""
    monkeypatch.setattr(lanes_search, "COMPACTION_SECONDS", 1e9)
    search, state, clock = timed_search()
    (engine,) = search.engines
    if is_pondering:
        search.run(Budget(1e9, is_stopped=lambda: engine.is_full))
    else:
        while not engine.is_full:
            search.run(Budget(clock() + 50))
        assert engine.is_loose
    nodes = engine.node_count
    follow(search, state)
    assert not engine.is_loose
    assert engine.node_count < nodes


@pytest.mark.parametrize(
    ("budget", "new"), [(Budget(1e9, is_stopped=lambda: True), 0), (Budget(simulations=1), 1)]
)
def test_pondering_and_counted_searches_begin_with_a_compacted_tree(budget, new):
    search, _, _ = timed_search()
    (engine,) = search.engines
    carried = sum(visits_of(search).values())
    assert search.run(budget) == new
    assert (engine.is_loose, engine.root) == (False, 0)
    assert sum(visits_of(search).values()) == carried + new
