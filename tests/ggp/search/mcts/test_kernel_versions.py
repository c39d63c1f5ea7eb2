"""How many versions of `search_tree` are compiled: one for each type of its arguments."""

from numba import typeof

from ggp.engines.loading import load
from ggp.players.factory import make_player
from ggp.search.mcts.search import LanesSearch


def type_of_memory(spec, name="tictactoe"):
    game, options = load(name, "lanes"), make_player(spec).options
    search = LanesSearch(game, game.roles[0], seed=1, options=options)
    try:
        return str(typeof(search.engines[0].memory))
    finally:
        search.close()


def test_games_switches_and_cores_share_a_kernel():
    usual = type_of_memory("mcts")
    for spec in ("mcts:proof=off", "mcts:threads=1", "mcts:c=30", "mcts:memory=64", "mcts:alphabeta=on"):
        assert type_of_memory(spec) == usual
    assert type_of_memory("mcts", "nim") == usual


def test_policies_share_three_kernels():
    with_statistics = ("mast", "mast+rave", "uniform+rave", "uniform+grave")
    with_contexts = ("past", "nst", "fast")
    for policies in (with_statistics, with_contexts):
        assert len({type_of_memory(f"mcts:policy={policy}") for policy in policies}) == 1
    assert len({type_of_memory(f"mcts:policy={policy}") for policy in ("uniform", "mast", "past")}) == 3


def test_counts_share_a_kernel_as_long_as_64_lanes_suffice():
    counts = (1, 100, 10_000, 32_000)
    assert len({type_of_memory(f"mcts:simulations={count}") for count in counts}) == 1
