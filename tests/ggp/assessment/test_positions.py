"""Solve every position of `ggp assess` again, those of one role at a time by exhaustive search."""

from itertools import product

import pytest

from ggp import solver
from ggp.assessment.positions import SKILLS, Choice, Mixture, PlayOut, load_positions, rules_at
from ggp.engines.loading import load
from tests.conftest import mostly_slow
from tests.oracles.naive_solver import solve, successors

POSITIONS = load_positions()
WINS = ("tactics 1", "tactics 3", "tactics 5")
DEFENSES = ("tactics 2", "tactics 4")


def at(position):
    return load(rules_at(position.place), "reasoner", name=position.place.game)


def of_kind(kind, where=lambda position: True):
    return [pytest.param(p, id=p.place.id) for p in POSITIONS if isinstance(p, kind) and where(p)]


def is_one_sided(position):
    return position.place.skill != "simultaneous"


def role_index(game, position):
    return [str(role) for role in game.roles].index(position.place.role)


def test_there_are_positions_for_every_skill():
    skills = [position.place.skill for position in POSITIONS]
    assert {skill: skills.count(skill) >= 5 for skill in SKILLS} == dict.fromkeys(SKILLS, True)
    assert len({position.place.id for position in POSITIONS}) == len(POSITIONS)
    assert len({(p.place.game, p.place.facts, p.place.role) for p in POSITIONS}) == len(POSITIONS)
    assert len({position.place.game for position in POSITIONS}) >= 12


@pytest.mark.parametrize("position", mostly_slow(POSITIONS, 4), ids=lambda position: position.place.id)
def test_a_game_begins_in_the_position(position):
    game = at(position)
    state = game.initial_state()
    assert " ".join(["(", *map(str, game.facts(state)), ")"]) == position.place.facts
    assert not game.is_terminal(state)
    legal = [str(move) for move in game.legal_moves(state, game.roles[role_index(game, position)])]
    match position:
        case Choice():
            assert len(legal) == position.legal_count
            assert 0 < len(position.good_moves) < len(legal)
            assert set(position.good_moves) < set(legal)
        case Mixture():
            assert list(position.moves) == legal
        case PlayOut():
            assert position.solution[0] in legal


@pytest.mark.slow
@pytest.mark.parametrize("position", of_kind(Choice, is_one_sided))
def test_good_moves_are_those_that_keep_the_value(position):
    game = at(position)
    state = game.initial_state()
    mover = role_index(game, position)
    values = solve(game)
    worth = {}
    for joint_move in product(*(game.legal_moves(state, role) for role in game.roles)):
        worth[str(joint_move[mover])] = values[game.next_state(state, joint_move)][mover]
    best = max(worth.values())
    assert sorted(move for move, value in worth.items() if value == best) == sorted(position.good_moves)
    assert len(worth) == position.legal_count


@pytest.mark.parametrize("position", of_kind(Choice, lambda p: p.place.skill in WINS))
def test_wins_have_the_stated_depth(position):
    game = at(position)
    mover, depth = role_index(game, position), int(position.place.skill[-1])
    values = solve(game)
    assert values[game.initial_state()][mover] == 100
    assert win_length(game, values, game.initial_state(), mover) == depth


@pytest.mark.parametrize("position", of_kind(Choice, lambda p: p.place.skill in DEFENSES))
def test_mistakes_lose_at_the_stated_depth(position):
    game = at(position)
    mover, depth = role_index(game, position), int(position.place.skill[-1])
    values = solve(game)
    lengths = []
    for joint_move in product(*(game.legal_moves(game.initial_state(), role) for role in game.roles)):
        if str(joint_move[mover]) not in position.good_moves:
            state = game.next_state(game.initial_state(), joint_move)
            assert values[state][mover] == 0
            lengths.append(1 + win_length(game, values, state, 1 - mover))
    assert set(lengths) == {2} if depth == 2 else 4 in (min(lengths), max(lengths))


def win_length(game, values, state, winner, known=None):
    """Number of steps until `winner`, who can force a win, has won against the best defense."""
    known = {} if known is None else known
    if game.is_terminal(state):
        return 0
    if state not in known:
        lengths = [
            win_length(game, values, successor, winner, known)
            for successor in successors(game, state)
            if values[successor][winner] == 100
        ]
        is_others = len(game.legal_moves(state, game.roles[1 - winner])) > 1
        known[state] = 1 + (max(lengths) if is_others else min(lengths))
    return known[state]


@pytest.mark.parametrize("position", of_kind(PlayOut))
def test_solutions_reach_the_best_goal(position):
    game = at(position)
    state = game.initial_state()
    for text in position.solution:
        move = next(move for move in game.legal_moves(state, game.roles[0]) if str(move) == text)
        state = game.next_state(state, [move])
    assert game.is_terminal(state)
    assert game.goal(state, game.roles[0]) == position.best_goal
    if position.best_goal < 100:
        assert solve(game)[game.initial_state()][0] == position.best_goal


def joint_rows(game, state, role):
    other = game.legal_moves(state, game.roles[1 - role])
    for mine in game.legal_moves(state, game.roles[role]):
        yield [(mine, theirs) if role == 0 else (theirs, mine) for theirs in other]


@pytest.mark.parametrize("position", of_kind(Mixture))
def test_payoffs_and_values_of_mixtures(position):
    game, values = solved(position)
    role = role_index(game, position)
    for row, pairs in zip(position.payoff, joint_rows(game, game.initial_state(), role), strict=True):
        for value, pair in zip(row, pairs, strict=True):
            assert value == pytest.approx(values(pair)[role], abs=0.01)
    assert position.value == pytest.approx(values()[role], abs=0.01)
    assert max(min(row) for row in position.payoff) < position.value - 1, "a pure move would do"


@pytest.mark.parametrize("position", of_kind(Choice, lambda p: not is_one_sided(p)))
def test_only_one_move_of_simultaneous_games_is_good(position):
    """Against some reply every other move gets less than the good one guarantees."""
    game, values = solved(position)
    role, state = role_index(game, position), game.initial_state()
    table = [[values(pair)[role] for pair in pairs] for pairs in joint_rows(game, state, role)]
    own = [str(move) for move in game.legal_moves(state, game.roles[role])]
    (best,) = position.good_moves
    good = table.pop(own.index(best))
    assert any(
        good[column] == min(good) and all(row[column] < min(good) - 1 for row in table)
        for column in range(len(good))
    )


def solved(position):
    """The game on lanes, and the values after a joint move in its initial state (None: there)."""
    game = load(rules_at(position.place), "lanes", name=position.place.game)
    solution, state = solver.solve(game), game.initial_state()
    return game, lambda pair=None: solution.values(state if pair is None else game.next_state(state, pair))
