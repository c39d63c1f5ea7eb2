"""Proofs in slices: the same as in one go, with the values and the moves of the retrograde solver."""

import itertools
import threading
from functools import lru_cache

import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import decode_keys
from ggp.search.alphabeta.kernels.arrays import STORED, UNLIMITED
from ggp.search.alphabeta.proof import ProofSearch, StraightProof, deepening_search, straight_search
from ggp.solver import solve

PLENTY = 10_000_000
WITHOUT_SHORTCUTS = ("tictactoe", "othello_4x4")
"""Here equal positions lie at equal depths, so the table never knows more than the iteration has searched."""


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


def some_states(name, step):
    """Nonterminal states of a solved game in which a role has a choice."""
    solution = solved(name)
    keys = solution.space.keys.reshape(-1, solution.space.code.word_count)[1::step]
    game = solution.game
    states = map(game.pack, decode_keys(solution.space.code, keys))
    return [
        state
        for state in states
        if not game.is_terminal(state) and any(len(game.legal_moves(state, role)) > 1 for role in game.roles)
    ]


def mover(game, state):
    return next(r for r, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1)


@pytest.mark.parametrize(("name", "nodes"), [("tictactoe", 1), ("hex_3x3", 7), ("othello_4x4", 50)])
def test_proof_in_slices_is_the_proof_in_one_go(name, nodes):
    game = solved(name).game
    whole = ProofSearch(deepening_search(game, mebibytes=2), game.initial_state())
    while not whole.is_over:
        whole.advance(PLENTY)
    sliced = ProofSearch(deepening_search(game, mebibytes=2), game.initial_state())
    slices = 0
    while not sliced.is_over:
        before = sliced.nodes
        sliced.advance(nodes)
        slices += 1
        assert sliced.nodes - before <= nodes
    assert slices >= whole.nodes / nodes
    assert (sliced.proven, sliced.sizes) == (whole.proven, whole.sizes)
    assert whole.proven.goal == solved(name).values()[0]


@pytest.mark.parametrize(
    ("name", "step"), [("tictactoe", 97), ("nim", 29), ("othello_4x4", 1999), ("maze", 101)]
)
def test_proof_has_the_value_and_keeps_it_and_wins_fast_and_loses_slowly(name, step):
    solution = solved(name)
    game = solution.game
    outcomes = set()
    for state in some_states(name, step):
        proof = ProofSearch(deepening_search(game, mebibytes=2), state)
        while not proof.is_over:
            proof.advance(PLENTY)
        goal, move = proof.proven.goal, proof.proven.move
        assert goal == solution.worth(state).values[0]
        role = mover(game, state)
        best = solution.stage(state).best_moves[game.roles[role]]
        depth = {rated.move: rated.depth for rated in best}
        own = goal if role == 0 else 100 - goal
        outcomes.add(own)
        if move is None:
            assert own == 0
        elif own == 100 and name in WITHOUT_SHORTCUTS:
            assert depth[move] == min(depth.values())
        elif own == 0 and name in WITHOUT_SHORTCUTS:
            assert depth[move] == max(depth.values())
        else:
            assert move in depth
    assert len(outcomes) >= 2 or len(game.roles) == 1


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4"])
def test_proven_goals_of_root_moves_are_their_values(name):
    solution = solved(name)
    game = solution.game
    found = 0
    for state in some_states(name, 5478 // 40 if name == "tictactoe" else 161_029 // 40):
        proof = ProofSearch(deepening_search(game, mebibytes=2), state)
        for _ in range(4):
            proof.advance(200)
        legal = [game.legal_moves(state, role) for role in game.roles]
        role = mover(game, state)
        for move, goal in proof.proven_goals().items():
            joint_move = tuple(move if r == role else moves[0] for r, moves in enumerate(legal))
            assert goal == solution.worth(game.next_state(state, joint_move)).values[0]
            found += 1
    assert found > 20


def test_table_can_be_replaced_while_a_proof_is_under_way():
    game = solved("tictactoe").game
    search = deepening_search(game, mebibytes=2)
    proof = ProofSearch(search, game.initial_state())
    for _ in range(20):
        proof.advance(100)
    search.replace_table(1)
    while not proof.is_over:
        proof.advance(PLENTY)
    assert proof.proven.goal == 50


@pytest.mark.parametrize("name", ["connectfour_4x5", "connectfour_5x4"])
def test_a_larger_table_knows_what_the_smaller_one_knew(name):
    game = load(name, "lanes")
    nodes = {}
    for is_kept in (True, False):
        search = straight_search(game, mebibytes=1)
        proof = StraightProof(search, game.initial_state())
        proof.advance(4000)
        before = dict(entries(search))
        assert len(before) > 1000
        if is_kept:
            search.replace_table(8)
        else:
            search._memory.table_data[:] = 0
            search.counter[STORED] = 0
        after = dict(entries(search))
        assert after == (before if is_kept else {})
        assert search.table_fill * len(search._memory.table_data) == len(after)
        while not proof.is_over:
            proof.advance(PLENTY)
        nodes[is_kept] = proof.nodes
    assert nodes[True] < nodes[False]


def entries(search):
    """Key and data of every entry of the transposition table."""
    data = search._memory.table_data
    keys = search._memory.table_key.reshape(-1, search.code.word_count)
    return {(tuple(key.tolist()), int(each)) for key, each in zip(keys, data, strict=True) if each}


@pytest.mark.parametrize(
    ("name", "step"), [("tictactoe", 97), ("nim", 29), ("othello_4x4", 1999), ("maze", 101), ("hex_3x3", 499)]
)
def test_straight_proof_has_the_value_and_a_move_that_keeps_it(name, step):
    solution = solved(name)
    game = solution.game
    search = straight_search(game, mebibytes=2)
    for state in some_states(name, step):
        proof = StraightProof(search, state)
        while not proof.is_over:
            proof.advance(7)
        goal, move = proof.proven.goal, proof.proven.move
        role = mover(game, state)
        assert goal == solution.worth(state).values[0]
        best = {rated.move for rated in solution.stage(state).best_moves[game.roles[role]]}
        assert move in best or (move is None and goal == (0 if role == 0 else 100))
        assert all(value == goal for known, value in proof.proven_goals().items() if known in best)


def test_progress_of_a_straight_proof_is_about_its_share_of_the_positions():
    """From a tenth of the way on within a factor of ten, and never above the whole."""
    game = load("connectfour_5x4", "lanes")
    proof = StraightProof(straight_search(game, mebibytes=16), game.initial_state())
    assert proof.positions_to_proof() is None
    forecasts = []
    while not proof.advance(500):
        assert 0.0 <= proof.progress <= 1.0
        forecasts.append((proof.nodes, proof.progress))
    ratios = [
        progress * proof.nodes / nodes
        for nodes, progress in forecasts
        if 0.1 * proof.nodes <= nodes <= 0.9 * proof.nodes
    ]
    assert len(ratios) > 10
    assert all(0.1 < ratio < 10 for ratio in ratios)


def test_a_straight_proof_that_gets_on_step_by_step_is_not_stuck():
    """However short the slices: the gain counts from the last one that was large enough."""
    game = load("connectfour_4x4", "lanes")
    proof = StraightProof(straight_search(game, mebibytes=16), game.initial_state())
    late = []
    while not proof.advance(20):
        if proof.progress > 0.9:
            late.append(proof.positions_to_proof() / proof.nodes)
    assert min(late) < 1.0


def test_a_straight_proof_that_is_stuck_asks_for_more_and_more():
    """In checkers it goes on in one line for hundreds of moves."""
    game = load("checkers", "lanes")
    proof = StraightProof(straight_search(game, mebibytes=4), game.initial_state())
    proof.advance(1000)
    early = proof.positions_to_proof()
    proof.advance(9000)
    assert proof.positions_to_proof() > 2 * early
    assert proof.positions_to_proof() >= 5000


def test_a_slice_of_few_passes_ends_with_the_node_that_uses_them_up():
    """What takes time are passes of lanes, not nodes: the table answers thousands of these in no time."""
    game = load("connectfour", "lanes")
    search = deepening_search(game, mebibytes=4)
    search.put_root(game.initial_state())
    whole = search.advance(6, PLENTY)
    sliced = deepening_search(game, mebibytes=4)
    sliced.put_root(game.initial_state())
    score, nodes = None, 0
    while score is None:
        before = sliced.passes
        score = sliced.advance(6, PLENTY, passes=3)
        assert sliced.passes - before <= 3  # seven moves at most: one pass for each node
        assert score is not None or sliced.nodes > nodes
        nodes = sliced.nodes
    assert (score, nodes) == (whole, search.nodes)


def test_a_search_that_is_interrupted_in_the_midst_of_a_node_resumes_there():
    """A node of hex has more moves than lanes, and a stop is looked at between two passes of them."""
    game = load("hex_11x11", "lanes")
    search = deepening_search(game, mebibytes=4)
    search.put_root(game.initial_state())
    whole = search.advance(2, PLENTY)
    search.forget()
    search.put_root(game.initial_state())
    is_over = threading.Event()

    def interrupt():
        while not is_over.wait(0.002):
            search.interrupt()

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    score = None
    while score is None:
        score = search.advance(2, PLENTY)
    is_over.set()
    interrupting.join()
    assert score == whole


def test_a_table_that_is_not_replaced_in_time_stays():
    game = load("connectfour", "lanes")
    search = deepening_search(game, mebibytes=1)
    search.put_root(game.initial_state())
    search.advance(UNLIMITED, 3000)
    slots, fill, asked = search.table_slots, search.table_fill, itertools.count(1)
    assert not search.replace_table(4, lambda: next(asked) == 10)
    assert next(asked) == 11
    assert (search.table_slots, search.table_fill) == (slots, fill)
    assert search.replace_table(4, lambda: False)
    assert search.table_slots == 4 * slots
    assert search.table_fill == pytest.approx(fill / 4, rel=0.01)
