"""The search on lanes and the plain-Python search build the same tree from the same random numbers."""

from itertools import product

import pytest

from ggp.engines.compiled import CompiledGame
from ggp.knowledge.endings import EndingTerms, solve_endings
from ggp.search.mcts.kernels.arrays import MISSING
from ggp.search.mcts.tree_engine import TreeEngine
from ggp.solver.endings import EndingTable
from tests.conftest import mostly_slow
from tests.ggp.search.mcts.golden import assert_same_tree, compiled, nodes_proven, one_lane, search_both

POLICIES = [
    "uniform",
    "mast",
    "to-mast",
    "past",
    "rave",
    "mast+rave",
    "past+rave",
    "mast+greedy",
    "to-mast+greedy+rave",
    "grave",
    "mast+grave",
    "nst",
    "nst+greedy",
    "nst+grave",
]
GAMES = ["tictactoe", "connectfour_4x4", "rockpaperscissors", "goofspiel", "dicerace", "connectfour_3p"]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", mostly_slow(["tictactoe", "connectfour_4x4"], 2))
def test_lanes_agree_with_the_reference_for_every_policy(name, policy):
    lanes, twin = search_both(compiled(name), one_lane(policy=policy), 5, 300)
    assert assert_same_tree(lanes, twin) > 100


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    "policy", mostly_slow(["uniform", "mast+rave", "past", "mast+greedy", "grave", "nst"], 3)
)
def test_lanes_agree_with_the_reference_in_all_kinds_of_games(name, policy):
    lanes, twin = search_both(compiled(name), one_lane(policy=policy), 11, 150)
    assert assert_same_tree(lanes, twin) > 1


@pytest.mark.parametrize(
    "options",
    [
        {"exploration": 5.0},
        {"policy": "mast", "temperature": 2.0},
        {"policy": "mast", "refresh": 7},
        {"policy": "mast+greedy", "epsilon": 0.75},
        {"policy": "rave", "rave_k": 20.0},
        {"policy": "grave", "grave_reference": 3},
        {"policy": "grave", "grave_reference": 1, "rave_k": 20.0},
        {"policy": "past", "past_visits": 1},
        {"policy": "nst", "nst_visits": 1, "temperature": 3.0},
        {"policy": "nst+greedy", "nst_visits": 2, "epsilon": 0.5},
        {"cutoff": 2},
        {"cutoff": 6, "step_limit": 5},
        {"cutoff": 4, "policy": "mast+rave"},
        {"depth_limit": 3},
        {"step_limit": 4},
        {"in_flight": "losses"},
        {"in_flight": "ignored"},
    ],
    ids=str,
)
def test_lanes_agree_with_the_reference_for_every_option(options):
    lanes, twin = search_both(compiled("tictactoe"), one_lane(**options), 3, 250)
    assert_same_tree(lanes, twin)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("cutoff", [1, 3])
def test_lanes_agree_with_the_reference_where_playouts_are_cut(name, cutoff):
    lanes, twin = search_both(compiled(name), one_lane(cutoff=cutoff), 4, 150)
    assert_same_tree(lanes, twin)


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "lightsout", "nim"])
@pytest.mark.parametrize("seed", mostly_slow([1, 2], 2))
def test_lanes_agree_with_the_reference_in_what_they_prove(name, seed):
    lanes, twin = search_both(compiled(name), one_lane(is_solving=True), seed, 400)
    assert_same_tree(lanes, twin)
    assert lanes.best_move() == twin.best_move()


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "hex_3x3"])
@pytest.mark.parametrize("is_graph", [False, True])
def test_lanes_agree_with_the_reference_in_wins_seen_ahead(name, is_graph):
    game = compiled(name)
    options = one_lane(is_looking=True, is_solving=True, is_graph=is_graph)
    lanes, twin = search_both(game, options, 3, 1500)
    assert_same_tree(lanes, twin)
    assert twin.find_win.wins_in_all > 0


@pytest.mark.parametrize("name", [*GAMES, "lightsout", "nim", "hex_3x3"])
@pytest.mark.parametrize(
    "options",
    mostly_slow(
        [
            {"is_solving": True},
            {"policy": "mast+rave"},
            {"policy": "grave", "grave_reference": 3, "is_solving": True},
            {"policy": "past"},
            {"depth_limit": 3, "is_solving": True},
        ],
        2,
    ),
    ids=str,
)
def test_lanes_agree_with_the_reference_on_a_graph(name, options):
    game = compiled(name)
    lanes, twin = search_both(game, one_lane(is_graph=True, **options), 7, 400)
    assert_same_tree(lanes, twin)
    state = game.initial_state()
    for _ in range(2):
        joint_move = tuple(game.legal_moves(state, role)[-1] for role in game.roles)
        state = game.next_state(state, joint_move)
        if game.is_terminal(state):
            break
        for search in (lanes, twin):
            search.move_to(state, joint_move)
        assert_same_tree(lanes, twin)
        for search in (lanes, twin):
            search.run(simulations=300)
        assert_same_tree(lanes, twin)
    assert lanes.best_move() == twin.best_move()


def test_nodes_with_the_same_state_are_one_in_a_graph():
    # The same 1,000 simulations make fewer nodes, and the shared ones have several parents.
    game = compiled("tictactoe")
    tree, graph = (search_both(game, one_lane(is_graph=on), 1, 1000)[0].engines[0] for on in (False, True))
    states = distinct_states(game, graph)
    assert len(states) == len(set(states))
    assert len(distinct_states(game, tree)) > len(set(distinct_states(game, tree)))
    assert (graph.tree.first_edge[: graph.node_count, 0] < MISSING).any()


def distinct_states(game: CompiledGame, engine: TreeEngine) -> list[bytes]:
    """The state of every expanded node but the root, by any way to it."""
    found, stack = {}, [(0, game.initial_state())]
    while stack:
        node, state = stack.pop()
        if node in found or not engine.edges_of(node, 0):
            continue
        found[node] = state
        for joint_move in product(*(game.legal_moves(state, role) for role in game.roles)):
            indices = tuple(game.moves[r].index(move) for r, move in enumerate(joint_move))
            child = engine.child(node, indices)
            if child is not None:
                stack.append((child, game.next_state(state, joint_move)))
    del found[0]
    return list(found.values())


def test_lanes_agree_with_the_reference_where_goals_are_known(tmp_path):
    game = compiled("tictactoe")
    solve_endings(game, EndingTerms(most=6)).save(tmp_path / "table")
    endings = EndingTable(tmp_path / "table", game)
    lanes, twin = search_both(game, one_lane(is_solving=True), 1, 300, endings)
    assert_same_tree(lanes, twin)
    assert lanes.best_move() == twin.best_move()
    without = search_both(game, one_lane(is_solving=True), 1, 300)[0]
    proven, before = (nodes_proven(each) for each in (lanes, without))
    assert proven > before


@pytest.mark.parametrize(
    "options",
    mostly_slow(
        [
            {"policy": "mast+rave"},
            {"policy": "grave", "grave_reference": 10},
            {"policy": "mast", "decay": 0.3},
            {"policy": "to-mast+greedy", "decay": 0.9},
            {"policy": "past", "decay": 0.5},
            {"policy": "past", "decay": 0.7, "past_visits": 2},
            {"policy": "mast", "decay": 0.0},
            {"policy": "nst", "decay": 0.7, "nst_visits": 3},
        ],
        4,
    ),
    ids=str,
)
@pytest.mark.parametrize("name", mostly_slow(["connectfour_4x4", "goofspiel"], 2))
def test_lanes_agree_with_the_reference_after_moves(name, options):
    game = compiled(name)
    lanes, twin = search_both(game, one_lane(**options), 2, 300)
    state = game.initial_state()
    for _ in range(3):
        joint_move = tuple(game.legal_moves(state, role)[-1] for role in game.roles)
        state = game.next_state(state, joint_move)
        for search in (lanes, twin):
            search.move_to(state, joint_move)
        before = assert_same_tree(lanes, twin)
        for search in (lanes, twin):
            search.run(simulations=200)
        assert assert_same_tree(lanes, twin) >= before
