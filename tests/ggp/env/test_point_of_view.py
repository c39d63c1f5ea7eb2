"""What the second role is shown is a state of the rules in which it is the first."""

import random

import numpy as np
import pytest

import ggp
from gdl.reasoning.values import value_of
from gdl.syntax.parser import parse_term
from ggp.engines.point_of_view import find_point_of_view
from ggp.env import make
from ggp.features.board_features import NOTHING
from ggp.features.recognition import recognize_features
from tests.conftest import mostly_slow

ALIKE = ["tictactoe", "connectfour_4x4", "breakthrough_4x4", "hex_3x3", "othello_4x4", "rockpaperscissors"]
BOARDS = ALIKE[:5]


def facts_shown(game, view, state):
    """The facts of a state of `game` as the second role sees them."""
    holds = game.unpack(state)[view.fluent]
    return {str(fact) for fact, is_true in zip(game.terms.fluents, holds, strict=True) if is_true}


def state_of(rules, facts):
    return frozenset(value_of(parse_term(fact)) for fact in facts)


@pytest.mark.parametrize("name", ALIKE)
def test_the_second_role_plays_by_the_rules_of_the_first(name):
    game, rules = ggp.load(name, engine="lanes"), ggp.load(name, engine="reasoner")
    view = find_point_of_view(game)
    first, second = rules.roles
    rng = random.Random(5)
    for _ in range(6):
        state = game.initial_state()
        while not game.is_terminal(state):
            shown = state_of(rules, facts_shown(game, view, state))
            own = [game.moves[0].index(move) for move in rules.legal_moves(shown, first)]
            legal = [game.moves[1].index(move) for move in game.legal_moves(state, second)]
            assert sorted(view.move[own]) == legal
            number = rng.choice(own)
            state = game.next_state(
                state, [rng.choice(game.legal_moves(state, first)), game.moves[1][view.move[number]]]
            )
            others = rules.legal_moves(shown, second)
            if len(others) == 1:
                seen = rules.next_state(shown, [game.moves[0][number], others[0]])
                assert seen == state_of(rules, facts_shown(game, view, state))
        shown = state_of(rules, facts_shown(game, view, state))
        assert rules.is_terminal(shown)
        assert rules.goal(shown, first) == game.goal(state, second)
        assert rules.goal(shown, second) == game.goal(state, first)


@pytest.mark.parametrize("name", mostly_slow(BOARDS, 4))
@pytest.mark.parametrize("observation", ["facts", "board"])
def test_movers_see_and_number_everything_as_the_first_role(name, observation):
    env = make(name, 1, observation=observation, view="mover")
    plain = make(name, 1, observation="facts")
    game, rng = env.game, random.Random(1)
    view = find_point_of_view(game)
    state, beside = env.init(), plain.init()
    movers = set()
    while not state.terminated[0]:
        mover = int(state.current_player[0])
        movers.add(mover)
        holds = beside.observation[0][view.fluent] if mover == 1 else beside.observation[0]
        if observation == "facts":
            np.testing.assert_array_equal(state.observation[0], holds)
        else:
            assert_shows(env, state.observation[0], holds)
        action = rng.choice(np.flatnonzero(state.legal_action_mask[0]).tolist())
        move = env.action_to_move(mover, action)
        assert env.move_to_action(mover, move) == action
        assert move == game.moves[mover][view.move[action] if mover == 1 else action]
        state = env.step(state, [action])
        beside = plain.step(beside, [plain.move_to_action(mover, move)])
        np.testing.assert_array_equal(state.rewards, beside.rewards)
    assert movers == {0, 1}


def assert_shows(env, observation, holds):
    """Every plane has as many cells as facts of its piece hold; facts beside the board fill theirs."""
    features = recognize_features(env.game)
    aside = np.flatnonzero(features.cell_of == NOTHING)
    pieces = len(features.pieces)
    assert observation.shape[2] == pieces + len(aside)
    for piece in range(pieces):
        of_piece = np.flatnonzero((features.piece_of == piece) & (features.cell_of != NOTHING))
        shown = set(np.flatnonzero(observation[:, :, piece].ravel()).tolist())
        assert shown == {int(features.cell_of[f]) for f in of_piece if holds[f]}
    for place, fluent in enumerate(aside):
        assert (observation[:, :, pieces + place] == holds[fluent]).all()


def test_boards_are_seen_from_the_movers_side_only_where_that_is_proven():
    assert make("tictactoe", 1, observation="board").init().observation.shape[3] == 4
    names = make("tictactoe", 1, observation="board", view="absolute").observed.names
    assert names[-2:] == ("x to move", "o to move")
    assert find_point_of_view(ggp.load("bucket", engine="lanes")) is None
    with pytest.raises(ValueError, match="two roles that the rules treat alike"):
        make("kuhn_poker", 1, view="mover")


def test_roles_with_different_rules_do_not_change_places():
    sheet = """(role fox) (role hen) (init (at 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal fox (go ?b)) (true (at ?a)) (succ ?a ?b)) (legal fox stay) (legal hen stay)
    (<= (next (at ?b)) (does fox (go ?b))) (<= (next (at ?a)) (true (at ?a)) (does fox stay))
    (<= terminal (true (at 3))) (goal fox 100) (goal hen 0)"""
    assert find_point_of_view(ggp.load(sheet, engine="lanes")) is None
