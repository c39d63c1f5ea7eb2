"""The tables of GRAVE: who has one, and that none is lost. What they say: see `test_golden`."""

import pytest

from ggp.search.budget import Budget
from ggp.search.tree.kernels import counters as c
from ggp.search.tree.kernels.arrays import MISSING
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.search import LanesSearch
from tests.ggp.search.tree.golden import compiled


def search_of(name, **options):
    game = compiled(name)
    search = LanesSearch(game, game.roles[0], options=MctsOptions(policy="grave", words=1, **options))
    search.move_to(game.initial_state(), None)
    return search


def assert_tables_have_one_owner_each(engine):
    tree, free = engine.tree, int(engine.arrays.counter[c.FREE_TABLES])
    owned = {table for table, owner in enumerate(tree.table_node) if owner != MISSING}
    assert owned.isdisjoint(tree.free_table[:free].tolist())
    assert len(owned) + free == len(tree.free_table)
    nodes = range(engine.node_count)
    assert {int(tree.table[node]) for node in nodes if tree.table[node] != MISSING} == owned
    assert all(tree.table[tree.table_node[table]] == table for table in owned)
    return len(owned)


@pytest.mark.parametrize("group", [1, 4])
def test_nodes_have_a_table_after_so_many_playouts(group):
    search = search_of(
        "connectfour_4x4", grave_reference=20, lanes_per_leaf=group, leaf_growth=0, memory_mebibytes=32
    )
    search.run(Budget(simulations=3000))
    engine = search.engines[0]
    assert assert_tables_have_one_owner_each(engine) > 5
    tree = engine.tree
    for node in range(1, engine.node_count):
        assert (tree.table[node] != MISSING) == (tree.playouts[node] >= 20)
        if tree.table[node] != MISSING:
            assert tree.table_playouts[tree.table[node]] == tree.playouts[node] - 20
    root = tree.table[0]
    assert tree.table_playouts[root] == tree.playouts[0] == 3000
    assert (tree.table_visits[root] <= 3000).all()
    assert (tree.table_total[root] <= 100 * tree.table_visits[root]).all()


def test_tables_run_out_and_come_back_with_the_next_move():
    search = search_of("breakthrough_small", grave_reference=4, memory_mebibytes=1)
    search.run(Budget(simulations=5000))
    engine = search.engines[0]
    assert engine.arrays.counter[c.FREE_TABLES] == 0
    assert_tables_have_one_owner_each(engine)
    game, state = search.game, search.game.initial_state()
    joint_move = tuple(game.legal_moves(state, role)[0] for role in game.roles)
    search.move_to(game.next_state(state, joint_move), joint_move)
    kept = assert_tables_have_one_owner_each(engine)
    assert 0 < kept < len(engine.tree.free_table)
    search.run(Budget(simulations=5000))
    assert assert_tables_have_one_owner_each(engine) > kept
