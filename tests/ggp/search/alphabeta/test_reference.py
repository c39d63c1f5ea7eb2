"""The readable alpha-beta: against minimax, and node by node against the kernels."""

from dataclasses import fields, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import encode_states
from ggp.search.alphabeta.estimate import EVEN, Estimate
from ggp.search.alphabeta.events import EventKind
from ggp.search.alphabeta.goal_distance import goal_formula
from ggp.search.alphabeta.kernels import arrays
from ggp.search.alphabeta.reference.node import UNLIMITED, Node
from ggp.search.alphabeta.reference.ordering import next_child
from ggp.search.alphabeta.reference.position import Position, position_of
from ggp.search.alphabeta.reference.refinements import Refinements
from ggp.search.alphabeta.reference.search import ReferenceSearch
from ggp.search.alphabeta.result import AlphaBetaError
from ggp.search.alphabeta.search import AlphaBeta
from ggp.search.budget import Budget
from ggp.solver import solve
from tests.conftest import mostly_slow
from tests.ggp.search.alphabeta.positions import after, mover_of, random_states

PLAIN = Refinements(**{each.name: False for each in fields(Refinements) if each.default is True})
"""Alpha-beta as Knuth and Moore (1975) describe it."""

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
SELECTIVE = [
    {"late_move_reduction": True},
    {"singular_extension": True},
    {"forced_extension": True, "quiescence": 5},
    {"aspiration": 3},
]


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


# Node by node


class TracedKernel:
    """Alpha-beta on lanes, stopped before every node."""

    def __init__(self, game, estimate):
        self.search = AlphaBeta(game, estimate, mebibytes=64)
        self.trace = []

    def run(self, state, depth):
        """Search the root to `depth`: score, best move and whether that is proven; the nodes in `trace`."""
        search, self.trace = self.search, []
        search.put_root(state)
        score = search.advance(depth, 0)
        while score is None:
            self.trace.append(self.next_node())
            score = search.advance(depth, 1)
        return score, search.best_move, search.is_proven

    @property
    def counts(self):
        return self.search.nodes, self.search.leaves

    def next_node(self):
        frames, memory = self.search.frames, self.search._memory
        ply = int(memory.counter[arrays.PAUSED]) - 1
        place, words = int(frames.place[ply]), self.search.code.word_count
        key = tuple(memory.key[place * words : (place + 1) * words].tolist())
        window = int(frames.alpha[ply]), int(frames.beta[ply])
        return ply, int(frames.depth[ply]), *window, int(memory.mover[place]), key

    def entries(self):
        """Key → score, bound, depth (None: holds for every depth) and move of every table entry."""
        data = self.search._memory.table_data
        keys = self.search._memory.table_key.reshape(-1, self.search.code.word_count)
        found = {}
        for key, entry in zip(keys[data != 0], map(int, data[data != 0]), strict=True):
            depth = None if entry >> 18 & 255 == arrays.RESOLVED else entry >> 18 & 255
            rest = entry >> 16 & 3, depth, (entry >> 26) - 1
            found[tuple(key.tolist())] = (entry & 0xFFFF) - (1 << 15), *rest
        return found


class TracedReference:
    """The readable search with its nodes and table as those of `TracedKernel`."""

    def __init__(self, game, code, estimate, refinements):
        self.game, self.code, self.trace, self.events = game, code, [], []
        self.search = ReferenceSearch(game, refinements, estimate, listener=self.events.append)
        visit = self.search.memory.visit

        def traced(node):
            window = node.depth, node.alpha, node.beta
            self.trace.append((node.ply, *window, node.position.mover, self.key(node.position.state)))
            visit(node)

        self.search.memory.visit = traced

    def key(self, state):
        return tuple(encode_states(self.code, self.game.unpack(state)[None, :])[0].tolist())

    def run(self, state, depth, window):
        self.trace = []
        memory = self.search.memory
        memory.visits = memory.hits = memory.leaves = 0
        root = self.search.run(position_of(self.game, state), depth, *window)
        move = None if root.best_choice is None else root.best_choice.move
        self.counts = memory.visits - memory.hits, memory.leaves
        return root.best, move, not root.is_open

    def entries(self):
        return {
            self.key(state): (
                entry.score,
                int(entry.bound),
                None if entry.is_resolved else entry.depth,
                -1 if entry.choice is None else self.number(*entry.choice),
            )
            for state, entry in self.search.memory.table.items()
        }

    def number(self, role, move):
        return int(self.game.tables.first_move[role]) + self.game.moves[role].index(move)


OF_KERNELS = {"symmetries": False, "immediate_wins": False, "goal_bounds": False}


def compare(name, depths, states, estimate, **refinements):
    """Search by both; assert the same nodes, windows, results and table entries. Returns the events."""
    game = load(name, "lanes")
    kernel = TracedKernel(game, estimate)
    reference = TracedReference(game, kernel.search.code, estimate, Refinements(**OF_KERNELS, **refinements))
    for state in states:
        for depth in depths:
            found = kernel.run(state, depth)
            assert found == reference.run(state, depth, kernel.search.window)
            assert kernel.trace == reference.trace
            assert kernel.counts == reference.counts
    assert kernel.entries() == reference.entries()
    return reference.events


DEPTHS = {
    "connectfour_4x4": 7,
    "breakthrough_4x4": 5,
    "othello_4x4": 5,
    "minichess": 4,
    "checkers": 4,
    "tictactoe": 5,
    "hex_3x3": 4,
    "breakthrough_small": 4,
}


@pytest.mark.parametrize("name", mostly_slow(DEPTHS, 4))
def test_kernels_search_the_same_nodes(name):
    states = random_states(load(name, "lanes"), 3)
    events = compare(name, range(1, DEPTHS[name] + 1), states, Estimate(mobility_weight=40))
    assert {EventKind.CUTOFF, EventKind.LEAF, EventKind.KILLER} <= {event.kind for event in events}


@pytest.mark.parametrize("name", mostly_slow(["tictactoe", "nim", "maze", "bucket", "othello_4x4"], 3))
def test_kernels_search_the_same_nodes_to_the_end(name):
    """Without a horizon the kernels have no killers."""
    states = random_states(load(name, "lanes"), 3, seed=5)[1:]
    compare(name, [UNLIMITED], states, Estimate(), killers=False)


def test_kernels_search_the_same_nodes_in_the_order_of_goal_distances():
    game = load("connectfour_4x4", "lanes")
    estimate = Estimate(goal_weight=0, mobility_weight=0, formula=goal_formula(game, None))
    states = random_states(game, 2, seed=3)
    compare(game.name, range(1, 6), states, estimate)


@pytest.mark.parametrize("name", ["connectfour_4x4", "othello_4x4"])
def test_kernels_give_the_same_results_at_node_limits(name):
    game = load(name, "lanes")
    reference = ReferenceSearch(game, Refinements(**OF_KERNELS))
    kernel = AlphaBeta(game, mebibytes=16)
    unfinished = 0
    for state in random_states(game, 3, seed=2):
        for limit in (3, 17, 60, 150):
            results = []
            for search in (kernel, reference):
                search.forget()
                results.append(search.search(state, Budget(nodes=limit)))
            assert replace(results[0], seconds=0) == replace(results[1], seconds=0)
            unfinished += not results[0].is_whole
    assert unfinished > 0


# Against the solver and minimax


@pytest.mark.parametrize("refinement", ALONE)
@pytest.mark.parametrize("name", mostly_slow(["nim", "tictactoe", "othello_4x4"], 3))
def test_no_refinement_changes_the_value(name, refinement):
    solution = solved(name)
    switched = {refinement: not getattr(Refinements(), refinement)}
    for settings in (replace(PLAIN, **ALONE[refinement]), Refinements(**switched)):
        for state in random_states(solution.game, 4, seed=1)[2:]:
            result = ReferenceSearch(solution.game, settings).search(state)
            assert (result.goal, result.is_proven) == (solution.worth(state).values[0], True)


@pytest.mark.parametrize("settings", [*SELECTIVE, {"kept_moves": 2, "iterative_deepening": False}])
@pytest.mark.parametrize("name", mostly_slow(["nim", "tictactoe", "othello_4x4"], 2))
def test_selective_search_proves_true_values(name, settings):
    solution = solved(name)
    search = ReferenceSearch(solution.game, Refinements(**settings))
    for state in random_states(solution.game, 5, seed=2)[1:]:
        result = search.search(state)
        assert (result.goal, result.is_proven) == (solution.worth(state).values[0], True)


def static_score(game, state, estimate):
    """The score at the horizon for the first role; goals of terminal states."""
    goal = game.goal(state, game.roles[0])
    if game.is_terminal(state):
        return 100 * goal
    mover = mover_of(game, state)
    score = EVEN + estimate.goal_weight * (100 * goal - EVEN) // 100
    mobility = estimate.mobility_weight * len(game.legal_moves(state, game.roles[mover]))
    return min(max(score + (1 - 2 * mover) * mobility, 1), 9999)


def limited_minimax(game, state, depth, estimate, settings=PLAIN, ply=0, max_plies=None):
    """The definition, with extensions: the score of a state that is not terminal, for the first role."""
    max_plies = 2 * depth if max_plies is None else max_plies
    moves = [game.legal_moves(state, role) for role in game.roles]
    mover = mover_of(game, state)
    may_extend = 0 < ply < max_plies
    is_forced = settings.forced_extension and len(moves[mover]) == 1
    values = []
    for move in moves[mover]:
        child = after(game, state, move)
        static = static_score(game, child, estimate)
        change = abs(static - static_score(game, state, estimate))
        is_unquiet = 0 < 100 * settings.quiescence <= change and depth == 1
        left = depth - 1 + (may_extend and (is_forced or is_unquiet))
        if game.is_terminal(child) or left == 0:
            values.append(static)
        else:
            values.append(limited_minimax(game, child, left, estimate, settings, ply + 1, max_plies))
    return max(values) if mover == 0 else min(values)


@pytest.mark.parametrize("name", ["othello_4x4", "breakthrough_4x4"])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_limited_search_is_limited_minimax(name, depth):
    game = load(name, "lanes")
    estimate = Estimate(goal_weight=30, mobility_weight=7)
    for settings in (PLAIN, Refinements(transpositions=False, immediate_wins=False, history=True)):
        search = ReferenceSearch(game, settings, estimate)
        for state in random_states(game, 4):
            expected = limited_minimax(game, state, depth, estimate)
            assert search.search(state, depth=depth).goal == expected / 100


@pytest.mark.parametrize("extension", [{"forced_extension": True}, {"quiescence": 3}])
def test_extended_search_is_extended_minimax(extension):
    game = load("othello_4x4", "lanes")
    estimate = Estimate(goal_weight=30, mobility_weight=7)
    states = random_states(game, 12)
    extended = replace(PLAIN, **extension)
    found = [
        [ReferenceSearch(game, settings, estimate).search(state, depth=3).goal for state in states]
        for settings in (extended, PLAIN)
    ]
    expected = [limited_minimax(game, state, 3, estimate, extended) / 100 for state in states]
    assert found[0] == expected != found[1]


@pytest.mark.parametrize("settings", SELECTIVE)
def test_selective_search_takes_a_win_in_three(settings):
    game = load("connectfour", "lanes")
    state = after(game, game.initial_state(), *(f"(drop {column})" for column in (4, 1, 3, 1)))
    result = ReferenceSearch(game, Refinements(**settings)).search(state, depth=5)
    assert (result.goal, str(result.move)) in [(100, "(drop 5)"), (100, "(drop 2)")]


@pytest.mark.parametrize(
    ("name", "refinement", "depth"),
    [
        ("tictactoe", "transpositions", 6),
        ("tictactoe", "symmetries", 6),
        ("breakthrough_4x4", "static_order", 5),
        ("connectfour_4x4", "static_order", 9),
        ("othello_4x4", "killers", None),
        ("connectfour_4x4", "enhanced_cutoffs", 9),
        ("tictactoe", "goal_bounds", None),
        ("breakthrough_4x4", "immediate_wins", 5),
        ("connectfour", "late_move_reduction", 6),
        ("breakthrough_small", "kept_moves", 3),
    ],
)
def test_refinement_saves_nodes_where_it_should(name, refinement, depth):
    game = load(name, "lanes")
    state = game.initial_state()
    has_order = refinement not in ("static_order", "killers")
    base = replace(PLAIN, transpositions=refinement != "transpositions", static_order=has_order)
    visits = []
    for settings in (base, replace(base, **{refinement: 4 if refinement == "kept_moves" else True})):
        search = ReferenceSearch(game, settings)
        search.search(state, depth=depth)
        visits.append(search.memory.visits)
    assert visits[1] < 0.95 * visits[0]


@pytest.mark.parametrize("extension", [{"singular_extension": True}, {"forced_extension": True}])
def test_extensions_are_limited(extension):
    game = load("checkers", "lanes")
    plies = []
    search = ReferenceSearch(game, Refinements(**extension), listener=lambda event: plies.append(event.ply))
    assert search.search(random_states(game, 4, seed=1)[-1], Budget(nodes=3000), depth=4).depth == 4
    assert max(plies) <= 2 * 4


@pytest.mark.parametrize("name", ["tictactoe", "nim", "bucket", "maze"])
def test_bisection_needs_at_most_eight_searches(name):
    solution = solved(name)
    settings = Refinements(bisection=True, iterative_deepening=False)
    for state in random_states(solution.game, 3, seed=4)[1:]:
        search = ReferenceSearch(solution.game, settings)
        assert search.search(state).is_proven
        assert 1 <= search.windows <= 8


def test_bisection_of_estimates_needs_seven_searches():
    game = load("connectfour", "lanes")
    settings = Refinements(bisection=True, iterative_deepening=False)
    search = ReferenceSearch(game, settings, Estimate(mobility_weight=40))
    for state in random_states(game, 4, seed=4):
        search.search(state, depth=3)
        assert 6 <= search.windows <= 7


def test_unfinished_iteration_counts_once_it_has_searched_the_old_best_move():
    game = load("connectfour", "lanes")
    # Without a table a move is worth the same in every search to the same depth.
    search = ReferenceSearch(game, Refinements(transpositions=False, symmetries=False))
    state = random_states(game, 3, seed=5)[-1]
    seen = {True: 0, False: 0}
    for limit in range(5, 200, 12):
        result = search.search(state, Budget(nodes=limit))
        seen[result.is_whole] += 1
        before = search.search(state, depth=result.depth if result.is_whole else result.depth - 1)
        if result.is_whole:
            assert (result.goal, result.move) == (before.goal, before.move)
            continue
        assert not result.is_proven
        known = {
            move: worth_of(game, search, after(game, state, move), result.depth)
            for move in (before.move, result.move)
        }
        assert result.goal == known[result.move]
        sign = 1 - 2 * mover_of(game, state)
        assert sign * known[result.move] >= sign * known[before.move]
    assert min(seen.values()) >= 3


def worth_of(game, search, following, depth):
    """What a search of so many plies finds behind the move to a state."""
    if game.is_terminal(following):
        return game.goal(following, game.roles[0])
    return search.search(following, depth=depth - 1).goal


# Events and the player


def test_events_of_a_node_begin_with_its_window_and_end_with_its_bound():
    game = load("tictactoe", "reasoner")
    events = []
    search = ReferenceSearch(game, Refinements(), listener=events.append)
    search.search(game.initial_state(), depth=3)
    depth = 0
    for event in events:
        depth += event.kind is EventKind.ENTER
        assert event.ply < depth or event.kind not in (EventKind.LEAVE, EventKind.CUTOFF)
        if event.kind in (EventKind.LEAVE, EventKind.TABLE_HIT):
            depth -= 1
            within = event.alpha < event.score < event.beta
            assert (event.bound == "exact") == within
    assert depth == 0
    for event, following in pairwise(events):
        if event.kind is EventKind.RE_SEARCH:
            assert (following.kind, following.ply) == (EventKind.ENTER, event.ply + 1)


@pytest.mark.parametrize(("name", "message"), [("dicerace", "chance"), ("morra", "same time")])
def test_other_kinds_of_games_are_refused(name, message):
    game = load(name, "reasoner")
    with pytest.raises(AlphaBetaError, match=message):
        ReferenceSearch(game).search(game.initial_state())


@pytest.mark.parametrize("seed", range(5))
def test_children_are_picked_as_by_selection_with_swaps(seed):
    """The order of the kernels, also between children of the same rank."""
    rng = np.random.default_rng(seed)
    positions = [Position(None, end=0, rank=int(rank)) for rank in rng.integers(4, size=30)]
    expected, left = [], list(positions)
    while left:
        best = max(range(len(left)), key=lambda place: left[place].rank)
        left[0], left[best] = left[best], left[0]
        expected.append(left.pop(0))
    node = Node(Position(None), 0, 1, 0, 0, children=positions)
    memory = ReferenceSearch(load("tictactoe", "reasoner")).memory
    assert [next_child(memory, node) for _ in expected] == expected
    assert next_child(memory, node) is None
