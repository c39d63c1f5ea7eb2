"""Lines of proof: in slices as in one go, with the values of the retrograde solver, and whose turn it is."""

import itertools
import threading
from functools import lru_cache

import pytest

from ggp.engines.loading import load
from ggp.lanes.keys.state_code import decode_keys
from ggp.proofs.lines import FIRST_FORECAST, UNPROVEN, Deepening, Walkers
from ggp.proofs.proofs import BETTER_WEIGHT, FAR_WEIGHT, MatchProofs
from ggp.search.proof_numbers.memory import MAX_WALKERS
from ggp.search.proof_numbers.search import is_provable
from ggp.solver import solve
from tests.ggp.search.alphabeta.positions import after, mover_of

PLENTY = 10_000_000
WITHOUT_SHORTCUTS = ("tictactoe", "othello_4x4")
"""Here equal positions lie at equal depths, so the table never knows more than the iteration has searched."""


@lru_cache
def solved(name):
    return solve(load(name, "lanes"))


def has_choice(game, state):
    return any(len(game.legal_moves(state, role)) > 1 for role in game.roles)


def some_states(name, step):
    """Nonterminal states of a solved game in which a role has a choice."""
    solution = solved(name)
    keys = solution.space.keys.reshape(-1, solution.space.code.word_count)[1::step]
    states = map(solution.game.pack, decode_keys(solution.space.code, keys))
    return [s for s in states if not solution.game.is_terminal(s) and has_choice(solution.game, s)]


def line_of(kind, game, state=None, mebibytes=8):
    line = kind(game, mebibytes)
    line.move_to(game.initial_state() if state is None else state)
    return line


def finish(line, nodes=PLENTY):
    """Prove the state of the line, so many positions at a time; the number of slices."""
    for count in itertools.count():
        if line.is_over:
            return count
        before = line.nodes
        line.advance(nodes)
        assert line.nodes - before < nodes + (MAX_WALKERS if isinstance(line, Walkers) else 1)
    return 0


@pytest.mark.parametrize(("name", "nodes"), [("tictactoe", 1), ("hex_3x3", 7), ("othello_4x4", 50)])
def test_proof_in_slices_is_the_proof_in_one_go(name, nodes):
    game = solved(name).game
    for kind in (Deepening, Walkers):
        whole, sliced = line_of(kind, game), line_of(kind, game)
        finish(whole)
        slices = finish(sliced, nodes)
        assert slices > 1
        assert kind is Walkers or slices >= whole.nodes / nodes
        assert (sliced.proven, sliced.root_goals) == (whole.proven, whole.root_goals)
        assert sliced.nodes == whole.nodes
    assert whole.proven.goal == solved(name).values()[0]


@pytest.mark.parametrize(
    ("name", "step"), [("tictactoe", 97), ("nim", 29), ("othello_4x4", 1999), ("maze", 101), ("hex_3x3", 499)]
)
def test_proofs_have_the_value_and_keep_it_and_deepening_wins_fast_and_loses_slowly(name, step):
    solution = solved(name)
    game = solution.game
    outcomes = set()
    others = [Walkers(game, 2)] if is_provable(game) else []
    for state in some_states(name, step):
        role = mover_of(game, state)
        depth = {each.move: each.depth for each in solution.stage(state).best_moves[game.roles[role]]}
        deepening = line_of(Deepening, game, state, mebibytes=2)
        for line in others:
            line.move_to(state)
        for line, nodes in ((deepening, PLENTY), *((each, 7) for each in others)):
            finish(line, nodes)
            goal, move = line.proven.goal, line.proven.move
            assert goal == solution.worth(state).values[0]
            own = goal if role == 0 else 100 - goal
            assert move in depth or (move is None and own == 0)
            assert all(value == goal for known, value in line.root_goals.items() if known in depth)
        outcomes.add(own)
        move = deepening.proven.move
        if move is not None and name in WITHOUT_SHORTCUTS:
            fitting = {100: min, 0: max}.get(own)
            assert fitting is None or depth[move] == fitting(depth.values())
    assert len(outcomes) >= 2 or len(game.roles) == 1


@pytest.mark.parametrize("kind", [Deepening, Walkers])
@pytest.mark.parametrize(("name", "states"), [("tictactoe", 5478), ("connectfour_4x4", 161_029)])
def test_proven_goals_of_root_moves_are_their_values(name, states, kind):
    solution = solved(name)
    game = solution.game
    found = bounded = 0
    for state in some_states(name, states // 40):
        line = line_of(kind, game, state, mebibytes=2)
        for _ in range(4):
            line.advance(200)
        for move, goal in line.root_goals.items():
            assert goal == solution.worth(after(game, state, move)).values[0]
            found += 1
        for move, (least, most) in line.root_bounds.items():
            assert least <= solution.worth(after(game, state, move)).values[0] <= most
            bounded += least < most
    assert found > 20
    assert bounded > 0 or (kind, name) != (Walkers, "connectfour_4x4")


def test_a_later_question_is_expected_to_take_as_long_as_the_earlier_ones():
    """Until a quarter of that is done: its own forecast begins far too high."""
    game = load("connectfour_4x5", "lanes")
    line = line_of(Walkers, game, mebibytes=8)
    while not line.progress.begun_at:
        line.advance(10_000)
    earlier = line.progress.begun_at
    assert line.nodes == line.needed_positions() == earlier
    line.advance(earlier // 8)
    assert line.needed_positions() == earlier
    line.advance(earlier // 4)
    assert not line.is_over
    assert line.needed_positions() != earlier


def test_progress_of_walkers_in_order_is_about_their_share_of_the_positions():
    """From a tenth of the way on within a factor of ten, and never above the whole."""
    line = line_of(Walkers, load("connectfour_5x4", "lanes"))
    assert line.needed_positions() is None
    forecasts = {}
    while not line.advance(500):
        assert 0.0 <= line.progress.left <= 1.0
        begun = line.progress.begun_at
        forecasts.setdefault(begun, []).append((line.nodes - begun, 1.0 - line.progress.left))
    ratios = []
    for of_question in forecasts.values():
        whole = of_question[-1][0]
        ratios += [done * whole / n for n, done in of_question if 0.1 * whole <= n <= 0.9 * whole]
    assert len(ratios) > 10
    assert all(0.1 < ratio < 10 for ratio in ratios)


def test_a_slice_of_few_passes_ends_with_the_node_that_uses_them_up():
    """What takes time are passes of lanes, not nodes: the table answers thousands of these in no time."""
    whole, sliced = (line_of(Deepening, load("connectfour", "lanes")).search for _ in range(2))
    expected = whole.advance(6, PLENTY)
    score, nodes = None, 0
    while score is None:
        before = sliced.passes
        score = sliced.advance(6, PLENTY, passes=3)
        assert sliced.passes - before <= 3  # seven moves at most: one pass for each node
        assert score is not None or sliced.nodes > nodes
        nodes = sliced.nodes
    assert (score, nodes) == (expected, whole.nodes)


def test_a_search_that_is_interrupted_in_the_midst_of_a_node_resumes_there():
    """A node of hex has more moves than lanes, and a stop is looked at between two passes of them."""
    game = load("hex_11x11", "lanes")
    search = line_of(Deepening, game).search
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


def proofs_of(name):
    game = load(name, "lanes")
    proofs = MatchProofs(game, mebibytes=32)
    proofs.move_to(game.initial_state())
    return proofs


def turns(proofs, count, left=1.0):
    """The seconds that each line gets if a slice takes one second."""
    for line in proofs.lines:
        line.spent_seconds = 0.0
    for _ in range(count):
        proofs._next_line(left, None).spent_seconds += 1.0
    return [line.spent_seconds for line in proofs.lines]


def test_the_better_forecast_gets_more_of_the_time():
    proofs = proofs_of("connectfour")
    for deepening, walkers, weight in (
        (None, None, BETTER_WEIGHT),
        (5.0, 4.0, 1.0),
        (100.0, 4.0, BETTER_WEIGHT),
        (None, 4.0, 1.0),
        (4.0, 100.0, FAR_WEIGHT),
        (1e9, 1e6, FAR_WEIGHT),
    ):
        proofs.deepening.needed_seconds = lambda length, seconds=deepening: seconds
        proofs.lines[1].needed_seconds = lambda length, seconds=walkers: seconds
        first, second = turns(proofs, 400)
        assert second / first == pytest.approx(weight, rel=0.05)


def test_a_line_without_anything_left_to_do_gets_no_turn():
    proofs = proofs_of("connectfour")
    proofs.lines[1].leave()
    assert turns(proofs, 10) == [10.0, 0.0]


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "othello_4x4", "breakthrough_4x4"])
def test_slices_prove_the_value(name):
    proofs, solution = proofs_of(name), solved(name)
    while not proofs.is_over:
        proofs.slice(10.0, 8.0)
    assert proofs.proven.goal == solution.values()[0]
    assert proofs.spent_seconds > 0.0
    state = solution.game.initial_state()
    role = solution.game.roles[mover_of(solution.game, state)]
    best = {rated.move for rated in solution.stage(state).best_moves[role]}
    assert proofs.proven.move in best or proofs.proven.move is None
    assert {move for move, goal in proofs.root_goals.items() if goal == proofs.proven.goal} <= best


def test_a_long_way_is_proven_by_walkers_and_a_short_one_by_deepening():
    for name, positions, is_long in (("connectfour_5x4", 400_000, True), ("breakthrough_4x4", 12_000, False)):
        proofs = proofs_of(name)
        proofs.advance_counted(positions)
        assert (proofs.lines[1].proven is not None) is is_long
        assert (proofs.deepening.proven is None) is is_long
        assert proofs.proven.goal == proofs.lines[is_long].proven.goal


def test_a_lost_state_is_defended_for_as_long_as_deepening_could_see():
    """A corner answered on the edge loses: whatever follows is proven bad."""
    game = load("tictactoe", "lanes")
    state = after(game, game.initial_state(), "(mark 1 1)", "(mark 1 2)", "(mark 2 2)")
    proofs = MatchProofs(game, mebibytes=32)
    proofs.move_to(state)
    while proofs.deepening.depth < 4:
        proofs.deepening.advance(100)
    finish(proofs.lines[1], 100)
    assert proofs.lines[1].proven.move is None
    assert (proofs.proven.goal, str(proofs.proven.move)) == (100, "(mark 3 3)")


def test_broken_promises_are_believed_less_and_less_and_forgiven_in_time():
    line = proofs_of("connectfour").lines[1]
    line.seconds_per_node = 1.0
    line.needed_positions = lambda length: 1.0
    for spent, needed in ((0.0, 1.0), (4.5, 4.0), (9.0, 4.0), (41.0, 16.0)):
        line.spent_seconds = spent
        line.note_promise(None)
        assert line.needed_seconds(None) == needed
    for distrust in (8.0, 4.0, 2.0, 1.0, 1.0):
        line.move_to(line.search.game.initial_state())
        assert line.distrust == distrust


def test_proof_numbers_prove_a_loss_that_deepening_goes_on_to_defend():
    proofs = proofs_of("breakthrough_4x4")
    deepening, numbers = proofs.lines
    finish(numbers)
    assert proofs.proven.goal == solved("breakthrough_4x4").values()[0] == 0
    assert numbers.proven.move is None
    assert not proofs.is_over
    assert turns(proofs, 10) == [10.0, 0.0]
    finish(deepening)
    assert proofs.is_over


def test_proof_numbers_expect_to_need_a_multiple_of_what_they_searched():
    line = line_of(Walkers, load("breakthrough", "lanes"))
    line.advance(FIRST_FORECAST // 2)
    assert line.needed_positions() is None
    line.advance(FIRST_FORECAST)
    assert line.needed_positions() == UNPROVEN * line.nodes
