"""Recognizing what lies on a board and what moves do there; three-valued evaluation; recorded playouts."""

from itertools import pairwise

import numpy as np
import pytest

import ggp
from ggp.features.board_features import NOTHING
from ggp.features.possibilities import Question, possible
from ggp.features.recognition import recognize_features
from ggp.features.recorded_playouts import NO_ROLE, record_playouts
from tests.ggp.search.tree.golden import compiled


def recognized(name):
    game = compiled(name)
    return game, recognize_features(game)


def owners(game, features):
    return {p.name: None if p.owner == NOTHING else str(game.roles[p.owner]) for p in features.pieces}


def arguments(features):
    return {(f.role, f.name): (f.source, f.target, f.file) for f in features.families}


def test_pieces_belong_to_the_roles_that_make_them_appear():
    assert owners(*recognized("tictactoe")) == {"x": "x", "o": "o"}
    assert owners(*recognized("checkers")) == {
        "white_man": "white",
        "white_king": "white",
        "black_man": "black",
        "black_king": "black",
    }


def test_drops_fill_a_file_from_below():
    game, features = recognized("connectfour_4x5")
    assert set(arguments(features).values()) == {(None, None, 0)}
    drop = next(m for m, move in enumerate(game.moves[0]) if str(move) == "(drop 2)")
    assert [features.cell_name(cell) for cell in features.targets_of[drop]] == [f"2 {y}" for y in range(1, 6)]


@pytest.mark.parametrize("name", ["nim", "rockpaperscissors", "kuhn_poker"])
def test_games_without_a_board_have_no_features(name):
    assert recognized(name)[1] is None


@pytest.mark.parametrize("name", ["breakthrough_small", "minichess", "connectfour_4x4", "dicerace"])
@pytest.mark.parametrize("known_share", [0.0, 0.5, 1.0])
def test_possible_never_denies_what_happens(name, known_share):
    """Whatever part of a state is known, what holds there and comes next must be called possible."""
    game = compiled(name)
    tables = game.tables
    rng = np.random.default_rng(3)
    state = game.initial_state()
    questions, asked = [], []
    for _ in range(12):
        if game.is_terminal(state):
            state = game.initial_state()
        facts = game.unpack(state)
        joint = [game.legal_moves(state, role) for role in game.roles]
        picks = [moves[rng.integers(len(moves))] for moves in joint]
        following = game.next_state(state, picks)
        role = int(rng.integers(len(game.roles)))
        move = int(tables.first_move[role]) + game.moves[role].index(picks[role])
        known = rng.random(len(facts)) < known_share
        questions.append(
            Question(move, tuple(np.flatnonzero(facts & known)), tuple(np.flatnonzero(~facts & known)))
        )
        after = game.unpack(following)
        asked.append(np.append(np.where(after, tables.next, tables.next ^ 1), tables.legal[move]))
        state = following
    answers = possible(tables, questions, np.array(asked, np.int32))
    assert answers.all()
    if known_share == 1.0 and len(game.roles) == 1:
        assert not possible(tables, questions, np.array(asked, np.int32) ^ 1).any()


def test_possible_knows_what_a_move_takes_and_where_it_leads():
    game, features = recognized("breakthrough_small")
    tables, family = game.tables, features.families[0]
    fluent = {str(f): i for i, f in enumerate(game.terms.fluents)}
    move = next(i for i, m in enumerate(game.moves[0]) if str(m) == "(move 2 2 3 3)")
    question = family.turn.knowing(move, false=[fluent["(cell 3 3 white)"]])

    def can(fact, negated=0):
        return bool(possible(tables, [question], np.array([[tables.next[fluent[fact]] ^ negated]]))[0, 0])

    assert not can("(cell 3 3 black)")
    assert can("(cell 3 3 white)")
    assert not can("(cell 2 2 white)")
    assert can("(cell 4 4 black)")
    assert can("(cell 4 4 black)", 1)


@pytest.mark.parametrize("name", ["breakthrough_small", "tictactoe", "goofspiel"])
def test_recorded_playouts_follow_the_rules(name):
    game = compiled(name)
    recorded = record_playouts(game, np.arange(len(game.terms.fluents)), seed=5)
    assert (recorded.length > 0).all()
    states = recorded.states(1)
    for lane in (0, 63):
        length = int(recorded.length[64 + lane])
        playout = [game.pack(facts) for facts in states[: length + 1, lane]]
        assert playout[0] == game.initial_state()
        assert [game.is_terminal(state) for state in playout] == [False] * length + [True]
        for t, (before, after) in enumerate(pairwise(playout)):
            assert after in game.successors(before).states
            choosing = [r for r, role in enumerate(game.roles) if len(game.legal_moves(before, role)) > 1]
            expected = choosing[0] if len(choosing) == 1 else -2 if choosing else NO_ROLE
            assert recorded.mover[t, 64 + lane] == expected
        goals = [game.goal(playout[-1], role) for role in game.roles]
        assert recorded.goals[64 + lane].tolist() == goals


MOVES, PLACES = ((0, 1), (2, 3), None), (None, (0, 1), None)


@pytest.mark.parametrize(
    ("name", "expected"),
    [(name, MOVES) for name in ("breakthrough_small", "minichess", "checkers", "sheepandwolf")]
    + [(name, PLACES) for name in ("tictactoe", "othello_4x4", "hex_4x4", "nineboard")],
)
def test_moves_name_source_and_target_or_a_target_only(name, expected):
    _, features = recognized(name)
    assert set(arguments(features).values()) == {expected}


JUMPS = {"move": (1, 2, 3, 4), "doublejump": (1, 2, 5, 6), "triplejump": (1, 2, 7, 8)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("skirmish", {"move": MOVES}),
        ("minichess", {"move": ((1, 2), (3, 4), None)}),
        ("checkers", {name: (each[:2], each[2:], None) for name, each in JUMPS.items()}),
        ("othello-comp2007", {"mark": PLACES}),
        ("reversi", {"move": PLACES}),
    ],
)
def test_sheets_of_others_are_recognized(corpus_dir, name, families):
    game = ggp.load(str(corpus_dir / "open" / "games" / f"{name}.kif"), engine="lanes")
    features = recognize_features(game)
    assert arguments(features) == {(r, move): found for move, found in families.items() for r in (0, 1)}
