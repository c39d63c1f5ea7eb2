"""The search on lanes and the plain-Python search build the same tree from the same random numbers."""

from itertools import product

import pytest

import ggp
from ggp.engines.compiled import CompiledGame
from ggp.search.budget import Budget
from ggp.search.tree.kernels.arrays import MISSING
from ggp.search.tree.options import MctsOptions
from ggp.search.tree.policies.fast import NO_CAPTURE, learn_fast
from ggp.search.tree.search import LanesSearch
from ggp.search.tree.tree_engine import TreeEngine
from ggp.solver import solve
from tests.conftest import mostly_slow
from tests.ggp.search.tree.golden import assert_same_tree, compiled, one_lane, search_both

POLICIES = [
    *("uniform", "mast", "to-mast", "past", "rave", "mast+rave", "past+rave", "to-mast+rave"),
]
GAMES = ["tictactoe", "connectfour_4x4", "rockpaperscissors", "goofspiel", "dicerace", "connectfour_3p"]


def assert_same_after(lanes, twin, choose, moves, simulations):
    """The match goes on by `choose`, which makes a move of the legal ones, and begins again; the trees agree
    before and after each search. Returns the number of nodes before and after the last one before that."""
    game, state, sizes = lanes.game, lanes.game.initial_state(), (0, 0)
    for _ in range(moves):
        joint_move = tuple(choose(game.legal_moves(state, role)) for role in game.roles)
        state = game.next_state(state, joint_move)
        if game.is_terminal(state):
            break
        for search in (lanes, twin):
            search.move_to(state, joint_move)
        before = assert_same_tree(lanes, twin)
        for search in (lanes, twin):
            search.run(Budget(simulations=simulations))
        sizes = before, assert_same_tree(lanes, twin)
        assert lanes.best_move() == twin.best_move()
    start = game.initial_state()
    if all(child.state != start for child in twin.root.children.values()):  # which the twin would go on from
        for search in (lanes, twin):
            search.move_to(start, None)
            assert search.run(Budget(simulations=100)) > 0
        assert_same_tree(lanes, twin)
    return sizes


def first(moves):
    return moves[0]


def last(moves):
    return moves[-1]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("name", mostly_slow(["tictactoe", "connectfour_4x4"], 2))
def test_lanes_agree_with_the_reference_for_every_policy(name, policy):
    lanes, twin = search_both(compiled(name), one_lane(policy=policy), 5, 300)
    assert assert_same_tree(lanes, twin) > 100


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("policy", mostly_slow(["uniform", "mast+rave", "past"], 3))
def test_lanes_agree_with_the_reference_in_all_kinds_of_games(name, policy):
    lanes, twin = search_both(compiled(name), one_lane(policy=policy), 11, 150)
    assert assert_same_tree(lanes, twin) > 1


@pytest.mark.parametrize(
    "options",
    [
        {"exploration": 5.0},
        {"policy": "mast", "temperature": 2.0},
        {"policy": "mast", "refresh": 7},
        {"policy": "rave", "rave_k": 20.0},
        {"depth_limit": 3},
        {"step_limit": 4},
    ],
    ids=str,
)
def test_lanes_agree_with_the_reference_for_every_option(options):
    lanes, twin = search_both(compiled("tictactoe"), one_lane(**options), 3, 250)
    assert_same_tree(lanes, twin)


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "lightsout", "nim"])
@pytest.mark.parametrize("seed", mostly_slow([1, 2], 2))
def test_lanes_agree_with_the_reference_in_what_they_prove(name, seed):
    lanes, twin = search_both(compiled(name), one_lane(is_solving=True), seed, 400)
    assert_same_tree(lanes, twin)
    assert lanes.best_move() == twin.best_move()


@pytest.mark.parametrize("name", [*GAMES, "lightsout", "nim", "hex_3x3"])
@pytest.mark.parametrize(
    "options",
    mostly_slow(
        [
            {"is_solving": True},
            {"policy": "mast+rave"},
            {"policy": "past"},
            {"depth_limit": 3, "is_solving": True},
        ],
        2,
    ),
    ids=str,
)
def test_lanes_agree_with_the_reference_on_a_graph(name, options):
    lanes, twin = search_both(compiled(name), one_lane(is_graph=True, **options), 7, 400)
    assert_same_tree(lanes, twin)
    assert_same_after(lanes, twin, last, 2, 300)


RING = """
(role left) (role right)
(init (at 0)) (init (control left))
(<= (legal ?r up) (true (control ?r))) (<= (legal ?r down) (true (control ?r)))
(<= (legal left wait) (true (control right))) (<= (legal right wait) (true (control left)))
(after 0 1) (after 1 2) (after 2 3) (after 3 4) (after 4 5) (after 5 6) (after 6 0)
(<= (next (at ?y)) (true (at ?x)) (after ?x ?y) (does ?r up))
(<= (next (at ?y)) (true (at ?x)) (after ?y ?x) (does ?r down))
(<= (next (control right)) (true (control left))) (<= (next (control left)) (true (control right)))
(<= terminal (true (at 3)))
(<= (goal left 0) (true (control left))) (<= (goal left 100) (true (control right)))
(<= (goal right 100) (true (control left))) (<= (goal right 0) (true (control right)))
"""


@pytest.mark.parametrize("options", [{}, {"is_solving": True}, {"policy": "rave"}], ids=str)
def test_lanes_agree_with_the_reference_where_states_recur(options):
    # Without a step counter a state comes back after two moves, and something leads back to the old root.
    # A descent may pass an edge twice, which counts as under way there.
    game = ggp.load(RING, engine="lanes")
    lanes, twin = search_both(game, one_lane(is_graph=True, depth_limit=9, **options), 5, 300)
    assert_same_tree(lanes, twin)
    ways = map(ggp.parse_term, ["up", "down", "down", "up", "up"])
    assert_same_after(lanes, twin, lambda legal: next(ways) if len(legal) > 1 else legal[0], 5, 60)


def test_proofs_on_cycles_come_from_ends_alone():
    # The one that moves to 3 wins: from 2 and 4 at once. Neither must go there, so nothing else is proven.
    game = ggp.load(RING, engine="lanes")
    lanes, _ = search_both(game, one_lane(is_graph=True, is_solving=True, depth_limit=20), 5, 3000)
    found = proofs_below(game, lanes.engines[0], game.initial_state())
    places = {(place_of(game, state), goal) for state, goal in found.items() if not game.is_terminal(state)}
    assert {place for place, goal in places if goal is not None} == {2, 4}
    assert {place for place, goal in places if goal is None} == {0, 1, 5, 6}


def place_of(game: CompiledGame, state: bytes) -> int:
    (place,) = (str(fact) for fact in game.facts(state) if str(fact).startswith("(at"))
    return int(place.strip("()").split()[1])


def states_below(game: CompiledGame, engine: TreeEngine, root: bytes) -> dict[int, bytes]:
    """By node, the state to which some way from the root leads."""
    found, stack = {}, [(0, root)]
    while stack:
        node, state = stack.pop()
        if node in found:
            continue
        found[node] = state
        if engine.edges_of(node, 0):
            for joint_move in product(*(game.legal_moves(state, role) for role in game.roles)):
                indices = tuple(game.moves[r].index(move) for r, move in enumerate(joint_move))
                child = engine.child(node, indices)
                if child is not None:
                    stack.append((child, game.next_state(state, joint_move)))
    return found


def proofs_below(game: CompiledGame, engine: TreeEngine, root: bytes) -> dict[bytes, int | None]:
    """What is proven for role 0 in the state of every node; if several nodes have one, of any."""
    found: dict[bytes, int | None] = {}
    for node, state in states_below(game, engine, root).items():
        proof = int(engine.tree.proof[node])
        if proof >= 0 or state not in found:
            found[state] = None if proof < 0 else proof
    return found


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
@pytest.mark.parametrize("options", [{}, {"is_decisive": True}, {"policy": "mast+rave"}], ids=str)
def test_what_many_lanes_prove_on_a_graph_is_true(name, options):
    # 512 lanes, several of which reach a node in one tick; the match goes on while some are in flight.
    game = compiled(name)
    solution = solve(game)
    search = LanesSearch(
        game,
        game.roles[0],
        seed=3,
        options=MctsOptions(is_solving=True, is_graph=True, memory_mebibytes=16, **options),
    )
    state, proven = game.initial_state(), 0
    search.move_to(state, None)
    engine = search.engines[0]
    for _ in range(4):
        engine.begin(100_000)
        engine.run(4000)
        for each, goal in proofs_below(game, engine, state).items():
            assert goal is None or goal == solution.worth(each).values[0]
            proven += goal is not None
        joint_move = tuple(game.legal_moves(state, role)[-1] for role in game.roles)
        state = game.next_state(state, joint_move)
        search.move_to(state, joint_move)
    assert proven > 30


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
    found = states_below(game, engine, game.initial_state())
    return [state for node, state in found.items() if node != 0 and engine.edges_of(node, 0)]


@pytest.mark.parametrize(
    "options",
    mostly_slow(
        [
            {"policy": "mast+rave"},
            {"policy": "to-mast"},
            {"policy": "past"},
        ],
        4,
    ),
    ids=str,
)
@pytest.mark.parametrize("name", mostly_slow(["connectfour_4x4", "goofspiel"], 2))
def test_lanes_agree_with_the_reference_after_moves(name, options):
    lanes, twin = search_both(compiled(name), one_lane(**options), 2, 300)
    before, after = assert_same_after(lanes, twin, last, 3, 200)
    assert 0 < before <= after


def fast(**options):
    return one_lane(**{"policy": "fast", "episodes": 128, **options})


@pytest.mark.parametrize("policy", ["fast", "rave+fast"])
@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "othello_4x4", "breakthrough_small"])
def test_lanes_agree_with_the_reference_in_the_placement_form_of_fast(name, policy):
    lanes, twin = search_both(compiled(name), fast(policy=policy), 5, 150)
    assert assert_same_tree(lanes, twin) > 50
    assert lanes.options.parsed_policy.playouts.name == "fast"


@pytest.mark.parametrize(
    ("name", "simulations"),
    [("breakthrough_small", 150), pytest.param("minichess", 40, marks=pytest.mark.slow), ("checkers", 25)],
)
def test_lanes_agree_with_the_reference_in_the_capture_form_of_fast(name, simulations):
    game, options = compiled(name), fast(feature_kind="pieces")
    lanes, twin = search_both(game, options, 7, simulations)
    assert assert_same_tree(lanes, twin) > simulations // 2
    model = learn_fast(game, options, 7)
    assert model.weights.kind == "pieces"
    assert all(min(values) == NO_CAPTURE < max(values) for values in model.values)


@pytest.mark.parametrize(
    ("name", "changes", "plays"), [("connectfour_4x4", {"temperature": 5.0}, "fast"), ("nim", {}, "mast")]
)
def test_lanes_agree_with_the_reference_in_the_temperature_and_the_stand_in_of_fast(name, changes, plays):
    lanes, twin = search_both(compiled(name), fast(**changes), 3, 200)
    assert assert_same_tree(lanes, twin) > 100
    assert lanes.options.parsed_policy.playouts.name == plays
