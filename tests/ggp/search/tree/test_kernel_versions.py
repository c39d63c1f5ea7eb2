"""What is compiled again for another command: one version of a kernel for each type of its arguments."""

from numba import typeof

from ggp.engines.loading import load
from ggp.jit.rows import in_words
from ggp.players.factory import make_player
from ggp.search.tree.policies.policy import POLICY_PARTS, RAVE
from ggp.search.tree.search import LanesSearch

COUNTS = (1, 100, 10_000, 32_000, 60_000, 120_000, 10**6)
POLICIES = [
    *(part if part != RAVE else f"uniform+{part}" for part in POLICY_PARTS),
    "rave+past",
]


def types_of_memory(spec, name="tictactoe"):
    """Those that `search_tree` and its parts are compiled for."""
    game, (_, options) = load(name, "lanes"), make_player(spec).options
    search = LanesSearch(game, game.roles[0], seed=1, options=options)
    try:
        memory = search.engines[0].memory
        return str(typeof(in_words(memory))), str(typeof(memory))
    finally:
        search.close()


def test_games_switches_cores_and_policies_share_all_kernels():
    usual = types_of_memory("mcts")
    for spec in ("mcts:proof=off", "mcts:threads=1", "mcts:c=30", "mcts:memory=64", "mcts:alphabeta=on"):
        assert types_of_memory(spec) == usual
    assert types_of_memory("mcts", "nim") == usual
    for policy in POLICIES:
        assert types_of_memory(f"mcts:policy={policy}") == usual


def test_counts_share_the_search_and_differ_in_the_width_of_its_parts():
    of_clock = types_of_memory("mcts")
    found = [types_of_memory(f"mcts:simulations={count}") for count in COUNTS]
    assert {of_search for of_search, _ in found} == {of_clock[0]}
    of_parts = [of_parts for _, of_parts in found]
    assert len(set(of_parts[:4])) == 1
    assert len(set(of_parts[3:])) == 4
    assert of_parts[-1] == of_clock[1]
