"""The two ways of proving a state, and whose turn it is."""

import pytest

from ggp.engines.loading import load
from ggp.proofs.proofs import BETTER_WEIGHT, FAR_WEIGHT, MatchProofs
from ggp.solver import solve


def proofs_of(name, **changes):
    game = load(name, "lanes")
    proofs = MatchProofs(game, mebibytes=32, **changes)
    proofs.move_to(game.initial_state())
    return proofs


def turns(proofs, count, left=1.0):
    """The seconds that each line gets if a slice takes one second."""
    for line in proofs.lines:
        line.spent_seconds = 0.0
    for _ in range(count):
        proofs._next_line(left, None).spent_seconds += 1.0
    return [line.spent_seconds for line in proofs.lines]


@pytest.mark.parametrize(
    ("deepening", "straight", "weight"),
    [
        (None, None, 1.0),
        (5.0, 4.0, 1.0),
        (100.0, 4.0, BETTER_WEIGHT),
        (None, 4.0, 1.0),
        (4.0, 100.0, FAR_WEIGHT),
        (1e9, 1e6, FAR_WEIGHT),
    ],
)
def test_the_better_forecast_gets_more_of_the_time(deepening, straight, weight):
    proofs = proofs_of("connectfour")
    proofs.deepening.needed_seconds = lambda length: deepening
    proofs.straight.needed_seconds = lambda length: straight
    first, second = turns(proofs, 400)
    assert second / first == pytest.approx(weight, rel=0.05)


def test_a_line_without_anything_left_to_do_gets_no_turn():
    proofs = proofs_of("connectfour")
    proofs.straight.proof = None
    assert turns(proofs, 10) == [10.0, 0.0]


@pytest.mark.parametrize("name", ["tictactoe", "connectfour_4x4", "othello_4x4", "breakthrough_4x4"])
def test_slices_prove_the_value(name):
    proofs = proofs_of(name)
    solution = solve(proofs.deepening.search.game)
    while not proofs.is_over:
        proofs.slice(10.0, 8.0)
    assert proofs.proven.goal == solution.values()[0]
    assert proofs.spent_seconds > 0.0
    state = solution.game.initial_state()
    role = next(r for r in solution.game.roles if len(solution.game.legal_moves(state, r)) > 1)
    best = {rated.move for rated in solution.stage(state).best_moves[role]}
    assert proofs.proven.move in best or proofs.proven.move is None
    assert {move for move, goal in proofs.root_goals.items() if goal == proofs.proven.goal} <= best


def test_a_long_way_is_proven_straight_and_a_short_one_by_deepening():
    won = proofs_of("connectfour_5x4")
    won.advance_counted(400_000)
    assert won.straight.proof.proven is not None
    assert won.deepening.proof.proven is None
    assert won.proven.goal == won.straight.proof.proven.goal
    race = proofs_of("breakthrough_4x4")
    race.advance_counted(8_000)
    assert race.deepening.proof.proven is not None
    assert race.straight.proof.proven is None


def test_a_lost_state_is_defended_for_as_long_as_deepening_could_see():
    """A corner answered on the edge loses: whatever follows is proven bad."""
    game = load("tictactoe", "lanes")
    state = game.initial_state()
    for text in ("(mark 1 1)", "(mark 1 2)", "(mark 2 2)"):
        legal = [{str(move): move for move in game.legal_moves(state, role)} for role in game.roles]
        state = game.next_state(state, tuple(m.get(text) or next(iter(m.values())) for m in legal))
    proofs = MatchProofs(game, mebibytes=32)
    proofs.move_to(state)
    proofs.deepening.advance(2)
    while not proofs.straight.is_over:
        proofs.straight.advance(100)
    assert proofs.straight.proof.proven.move is None
    assert (proofs.proven.goal, str(proofs.proven.move)) == (100, "(mark 3 3)")


def test_broken_promises_are_believed_less_and_less_and_forgiven_in_time():
    proofs = proofs_of("connectfour")
    line = proofs.straight
    line.seconds_per_node = 1.0
    line._needed_positions = lambda length: 1.0
    line._note_promise(None)
    assert line.needed_seconds(None) == 1.0
    line.spent_seconds = 4.5
    line._note_promise(None)
    assert line.needed_seconds(None) == 4.0
    line.spent_seconds = 9.0
    line._note_promise(None)
    assert line.needed_seconds(None) == 4.0
    line.spent_seconds = 41.0
    line._note_promise(None)
    assert line.needed_seconds(None) == 16.0
    state = proofs.deepening.search.game.initial_state()
    line.move_to(state)
    assert line.distrust == 8.0
    for _ in range(4):
        line.move_to(state)
    assert line.distrust == 1.0
