"""Alpha-beta against full minimax, with every refinement on and off."""

import random
import time
from dataclasses import replace
from functools import lru_cache

import pytest

from ggp.engines.loading import load
from ggp.search.alphabeta.kernels import arrays
from ggp.search.alphabeta.search import PLAIN, AlphaBeta, AlphaBetaError, Estimate, Refinements
from ggp.solver import solve
from tests.conftest import mostly_slow

GAMES = ["tictactoe", "nim", "bucket", "halving", "hex_3x3", "othello_4x4", "maze"]
ALONE = {
    "transpositions": {"transpositions": True},
    "order_by_table": {"transpositions": True, "order_by_table": True, "iterative_deepening": True},
    "killers": {"killers": True},
    "history": {"history": True},
    "static_order": {"static_order": True},
    "principal_variation": {"principal_variation": True},
    "iterative_deepening": {"iterative_deepening": True},
    "aspiration": {"aspiration": 5, "iterative_deepening": True},
    "bisection": {"bisection": True},
    "symmetries": {"transpositions": True, "symmetries": True},
    "enhanced_cutoffs": {"transpositions": True, "enhanced_cutoffs": True},
    "immediate_wins": {"immediate_wins": True},
    "goal_bounds": {"goal_bounds": True},
}


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


def random_states(game, count, seed=0):
    rng = random.Random(seed)
    states = [game.initial_state()]
    while len(states) < count:
        state = game.initial_state()
        for _ in range(rng.randrange(12)):
            following = game.next_state(
                state, tuple(rng.choice(game.legal_moves(state, role)) for role in game.roles)
            )
            if game.is_terminal(following):
                break
            state = following
        states.append(state)
    return states


@pytest.mark.parametrize("name", GAMES)
def test_search_finds_the_value_and_a_move_that_keeps_it(name):
    solution = solved(name)
    game = solution.game
    search = AlphaBeta(game, mebibytes=4)
    for state in random_states(game, 12):
        result = search.search(state)
        assert result.is_proven
        assert result.goal == solution.worth(state).values[0]
        if result.move is not None:
            joint = [
                result.move if result.move in legal else legal[0]
                for legal in (game.legal_moves(state, role) for role in game.roles)
            ]
            assert solution.worth(game.next_state(state, joint)).values[0] == result.goal


@pytest.mark.parametrize("refinement", ALONE)
@pytest.mark.parametrize("name", mostly_slow(["nim", "tictactoe", "othello_4x4"], 3))
def test_no_refinement_changes_the_value(name, refinement):
    solution = solved(name)
    for settings in (
        replace(PLAIN, **ALONE[refinement]),
        replace(Refinements(), **{refinement: not getattr(Refinements(), refinement)}),
    ):
        for state in random_states(solution.game, 5, seed=1)[1:]:
            result = AlphaBeta(solution.game, settings, mebibytes=1).search(state)
            assert (result.goal, result.is_proven) == (solution.worth(state).values[0], True)


@pytest.mark.parametrize("name", ["nim", "breakthrough_4x4", "connectfour_4x4", "pentago"])
def test_children_have_the_movers_and_as_many_moves_as_the_rules_give_them(name):
    """Counted in binary digits for all children at once; pentago has more than 64 of them."""
    game = load(name, "lanes")
    search = AlphaBeta(game, mebibytes=1)
    for state in random_states(game, 6, seed=2):
        search.forget()
        search.search(state, depth=1)
        first, count = int(search.frames.first[0]), int(search.frames.children[0])
        legal = [game.legal_moves(state, role) for role in game.roles]
        mover = int(search._memory.mover[0])
        assert count == len(legal[mover])
        for child in range(first, first + count):
            made = game.moves[mover][search._memory.move[child] - game.tables.first_move[mover]]
            joint = [made if r == mover else moves[0] for r, moves in enumerate(legal)]
            following = game.next_state(state, tuple(joint))
            counts = [len(game.legal_moves(following, role)) for role in game.roles]
            assert search._memory.mobility[child] == max(1, *counts)
            assert max(counts) < 2 or search._memory.mover[child] == counts.index(max(counts))


@pytest.mark.parametrize(
    ("name", "refinement"),
    [
        ("connectfour_4x4", "enhanced_cutoffs"),
        ("tictactoe", "immediate_wins"),
        ("connectfour_4x4", "immediate_wins"),
        ("breakthrough_4x4", "immediate_wins"),
        ("connectfour_4x4", "goal_bounds"),
    ],
)
def test_what_is_seen_in_the_children_saves_positions(name, refinement):
    game = load(name, "lanes")
    base = replace(PLAIN, transpositions=True, static_order=True)
    nodes = [
        AlphaBeta(game, replace(base, **{refinement: is_on}), mebibytes=16).search(game.initial_state()).nodes
        for is_on in (False, True)
    ]
    assert nodes[1] < 0.9 * nodes[0]


def test_a_score_that_is_for_order_only_leaves_the_horizon_even():
    game = load("connectfour", "lanes")
    estimate = Estimate(mobility_weight=100, goal_weight=0, is_for_order=True)
    assert AlphaBeta(game, PLAIN, estimate, mebibytes=1).search(game.initial_state(), depth=2).goal == 50


def mover_of(game, state):
    moves = [game.legal_moves(state, role) for role in game.roles]
    return 0 if len(moves[0]) > 1 or len(moves[-1]) == 1 else 1


def static_score(game, state, estimate):
    """The score at the horizon for the first role; goals of terminal states."""
    goal = game.goal(state, game.roles[0])
    if game.is_terminal(state):
        return 100 * goal
    mover = mover_of(game, state)
    score = estimate.null_score + estimate.goal_weight * (100 * goal - estimate.null_score) // 100
    mobility = estimate.mobility_weight * len(game.legal_moves(state, game.roles[mover]))
    return min(max(score + (1 - 2 * mover) * mobility, 1), 9999)


def limited_minimax(game, state, depth, estimate, settings=PLAIN, ply=0, most_plies=None):
    """The definition, with extensions: the score of a state that is not terminal, for the first role."""
    most_plies = 2 * depth if most_plies is None else most_plies
    moves = [game.legal_moves(state, role) for role in game.roles]
    mover = mover_of(game, state)
    may_extend = 0 < ply < most_plies
    is_forced = settings.forced_extension and len(moves[mover]) == 1
    values = []
    for move in moves[mover]:
        child = game.next_state(state, (move, *moves[1][:1]) if mover == 0 else (moves[0][0], move))
        static = static_score(game, child, estimate)
        change = abs(static - static_score(game, state, estimate))
        is_unquiet = 0 < 100 * settings.quiescence <= change and depth == 1
        left = depth - 1 + (may_extend and (is_forced or is_unquiet))
        if game.is_terminal(child) or left == 0:
            values.append(static)
        else:
            values.append(limited_minimax(game, child, left, estimate, settings, ply + 1, most_plies))
    return max(values) if mover == 0 else min(values)


@pytest.mark.parametrize("name", ["othello_4x4", "breakthrough_4x4"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_limited_search_is_limited_minimax(name, depth):
    game = load(name, "lanes")
    estimate = Estimate(goal_weight=30, mobility_weight=7)
    settings = replace(Refinements(), transpositions=False, symmetries=False, iterative_deepening=False)
    search = AlphaBeta(game, settings, estimate)
    for state in random_states(game, 6):
        expected = limited_minimax(game, state, depth, estimate)
        assert search.search(state, depth=depth).goal == expected / 100


@pytest.mark.parametrize("extension", mostly_slow([{"forced_extension": True}, {"quiescence": 3}], 2))
def test_extended_search_is_extended_minimax(extension):
    game = load("othello_4x4", "lanes")
    estimate = Estimate(goal_weight=30, mobility_weight=7)
    found = []
    for settings in (replace(PLAIN, **extension), PLAIN):
        search = AlphaBeta(game, settings, estimate)
        found.append([search.search(state, depth=3).goal for state in random_states(game, 12)])
    settings = replace(PLAIN, **extension)
    expected = [limited_minimax(game, s, 3, estimate, settings) / 100 for s in random_states(game, 12)]
    assert found[0] == expected != found[1]


def test_bound_of_deepening_is_the_depth_asked_for():
    game = load("connectfour", "lanes")
    result = AlphaBeta(game, mebibytes=4).search(game.initial_state(), depth=5)
    assert (result.depth, result.is_proven) == (5, False)
    assert result.move in game.legal_moves(game.initial_state(), game.roles[0])


@pytest.mark.parametrize(
    "settings",
    [
        {"late_move_reduction": True},
        {"kept_moves": 3, "immediate_wins": False},
        {"singular_extension": True},
        {"forced_extension": True, "quiescence": 5},
        {"aspiration": 3},
    ],
)
def test_selective_search_takes_a_win_in_three(settings):
    game = load("connectfour", "lanes")
    state = game.initial_state()
    for column in (4, 1, 3, 1):
        role = (state is not None) and next(r for r in game.roles if len(game.legal_moves(state, r)) > 1)
        joint = [
            next(m for m in game.legal_moves(state, r) if r != role or str(m) == f"(drop {column})")
            for r in game.roles
        ]
        state = game.next_state(state, joint)
    result = AlphaBeta(game, replace(Refinements(), **settings), mebibytes=4).search(state, depth=6)
    assert result.goal == 100
    assert str(result.move) in ("(drop 5)", "(drop 2)")


@pytest.mark.parametrize(
    ("name", "refinement"),
    [
        ("tictactoe", "transpositions"),
        ("tictactoe", "symmetries"),
        ("breakthrough_4x4", "static_order"),
        ("connectfour_4x4", "static_order"),
        ("othello_4x4", "killers"),
    ],
)
def test_refinement_saves_nodes_where_it_should(name, refinement):
    game = load(name, "lanes")
    with_table = replace(PLAIN, transpositions=refinement != "transpositions")
    nodes = [
        AlphaBeta(game, settings, mebibytes=16).search(game.initial_state()).nodes
        for settings in (with_table, replace(with_table, **{refinement: True}))
    ]
    assert nodes[1] < 0.8 * nodes[0]


def test_search_stops_in_time_and_at_the_node_limit():
    game = load("connectfour", "lanes")
    search = AlphaBeta(game, mebibytes=4)
    search.search(game.initial_state(), depth=1)
    start = time.monotonic()
    result = search.search(game.initial_state(), deadline=start + 0.3)
    assert time.monotonic() - start < 5
    assert result.goal is not None
    limited = search.search(game.initial_state(), node_limit=500)
    assert limited.nodes <= 501


def test_counts_are_consistent():
    game = load("tictactoe", "lanes")
    search = AlphaBeta(game, replace(Refinements(), enhanced_cutoffs=False), mebibytes=4)
    search.search(game.initial_state())
    counter = search.counter
    assert counter[arrays.HITS] <= counter[arrays.PROBES] <= counter[arrays.NODES] + 1
    assert counter[arrays.TABLE_CUTOFFS] == 0
    assert 0 < counter[arrays.FIRST_CUTOFFS] <= counter[arrays.CUTOFFS]


@pytest.mark.parametrize(
    ("name", "message"),
    [("dicerace", "chance"), ("connectfour_3p", "one role, or two"), ("morra", "same time")],
)
def test_other_kinds_of_games_are_refused(name, message):
    game = load(name, "lanes")
    with pytest.raises(AlphaBetaError, match=message):
        AlphaBeta(game, mebibytes=1).search(game.initial_state())


@pytest.mark.parametrize(
    ("name", "depth", "settings"),
    [
        ("breakthrough_small", 6, {"late_move_reduction": True}),
        ("connectfour", 9, {"late_move_reduction": True}),
        ("othello_6x6", 6, {"kept_moves": 4}),
    ],
)
def test_selective_search_saves_nodes(name, depth, settings):
    game = load(name, "lanes")
    nodes = [
        AlphaBeta(game, replace(Refinements(), **chosen), mebibytes=16)
        .search(game.initial_state(), depth=depth)
        .nodes
        for chosen in ({}, settings)
    ]
    assert nodes[1] < 0.7 * nodes[0]


@pytest.mark.parametrize(
    "settings",
    [
        {"late_move_reduction": True},
        {"singular_extension": True},
        {"forced_extension": True, "quiescence": 5},
    ],
)
@pytest.mark.parametrize("name", ["tictactoe", "othello_4x4", "nim"])
def test_reductions_and_extensions_prove_true_values(name, settings):
    solution = solved(name)
    search = AlphaBeta(solution.game, replace(Refinements(), **settings), mebibytes=4)
    for state in random_states(solution.game, 6, seed=2):
        result = search.search(state)
        assert (result.goal, result.is_proven) == (solution.worth(state).values[0], True)


@pytest.mark.parametrize(
    "extension", mostly_slow([{"singular_extension": True}, {"forced_extension": True}], 2)
)
def test_extensions_are_limited(extension):
    game = load("checkers", "lanes")
    search = AlphaBeta(game, Refinements(**extension), mebibytes=4)
    result = search.search(game.initial_state(), depth=7, node_limit=500_000)
    assert result.depth == 7
    assert search.counter[arrays.DEEPEST] <= 3 * 7


@pytest.mark.parametrize("name", GAMES)
def test_null_windows_tell_on_which_side_of_a_goal_the_value_lies(name):
    solution = solved(name)
    game = solution.game
    search = AlphaBeta(game, mebibytes=4)
    for state in random_states(game, 4, seed=3):
        value = solution.worth(state).values[0]
        for goal in (10, 50, 90):
            assert search.is_reached(state, goal, 1) == (value >= goal)
            assert search.is_reached(state, goal, -1) == (value <= goal)


def test_unfinished_iteration_counts_once_it_has_searched_the_old_best_move():
    game = load("connectfour", "lanes")
    # Without a table a move is worth the same in every search to the same depth.
    settings = replace(Refinements(), transpositions=False, symmetries=False)
    state = random_states(game, 3, seed=5)[-1]
    search = AlphaBeta(game, settings, mebibytes=1)
    seen = {True: 0, False: 0}
    for limit in range(5, 900, 15):
        search.forget()
        result = search.search(state, node_limit=limit)
        seen[result.is_whole] += 1
        search.forget()
        before = search.search(state, depth=result.depth if result.is_whole else result.depth - 1)
        if result.is_whole:
            assert (result.goal, result.move) == (before.goal, before.move)
            continue
        assert not result.is_proven
        known = {
            move: worth_of(game, search, state, move, result.depth) for move in (before.move, result.move)
        }
        assert result.goal == known[result.move]
        mover = next(r for r, role in enumerate(game.roles) if len(game.legal_moves(state, role)) > 1)
        sign = 1 - 2 * mover
        assert sign * known[result.move] >= sign * known[before.move]
    assert min(seen.values()) >= 3


def worth_of(game, search, state, move, depth):
    """What a search of so many plies finds behind one move of the role that has a choice."""
    joint = [
        move if move in legal else legal[0] for legal in (game.legal_moves(state, r) for r in game.roles)
    ]
    following = game.next_state(state, joint)
    if game.is_terminal(following):
        return game.goal(following, game.roles[0])
    search.forget()
    return search.search(following, depth=depth - 1).goal


def test_search_stopped_at_the_root_shows_nothing_of_an_earlier_one():
    game = load("connectfour", "lanes")
    search = AlphaBeta(game, mebibytes=1)
    search.search(game.initial_state(), depth=6)
    for state in random_states(game, 8, seed=6):
        result = search.search(state, node_limit=1)
        assert (result.depth, result.is_whole) == (1, True)
        role = next(r for r in game.roles if len(game.legal_moves(state, r)) > 1)
        assert result.move in game.legal_moves(state, role)


@pytest.mark.parametrize("name", GAMES)
def test_bisection_needs_at_most_eight_searches(name):
    solution = solved(name)
    settings = replace(Refinements(), bisection=True, iterative_deepening=False)
    for state in random_states(solution.game, 5, seed=4):
        search = AlphaBeta(solution.game, settings, mebibytes=1)
        assert search.search(state).is_proven
        assert 1 <= search.searches <= 8


def test_bisection_of_estimates_needs_seven_searches():
    game = load("connectfour", "lanes")
    settings = replace(Refinements(), bisection=True, iterative_deepening=False)
    search = AlphaBeta(game, settings, Estimate(mobility_weight=40), mebibytes=1)
    for state in random_states(game, 4, seed=4):
        search.search(state, depth=3)
        assert 6 <= search.searches <= 7
