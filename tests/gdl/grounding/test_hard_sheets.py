"""Sheets that explode if derived bottom-up ground to few rules, and play as the reasoner plays them."""

import random

import pytest

import gdl.grounding
from gdl.grounding import ground
from gdl.syntax.parser import parse
from gdl.validation.checks.recursion import growing_rule
from ggp.engines.reasoner import InterpretedGame
from tests import hard_sheets
from tests.conftest import mostly_slow
from tests.oracles.naive_ground import NaiveGround

SHEETS = {
    "lists": (hard_sheets.lists(), 1_000),  # bottom-up: without end
    "exactly once": (hard_sheets.exactly_once(), 25_000),  # bottom-up: 200 million
    "armies": (hard_sheets.armies(), 150_000),
}


def check_match(text: str, seed: int, steps: int) -> None:
    """A random match of the ground program has the facts, legal moves and goals of the reasoner."""
    rng = random.Random(seed)
    program = parse(text)
    naive, game = NaiveGround(ground(program)), InterpretedGame(program)
    state, expected = naive.initial_state(), game.initial_state()
    for _ in range(steps):
        assert sorted(map(str, naive.facts(state))) == sorted(map(str, game.facts(expected)))
        model = naive.model(state)
        assert naive.is_terminal(model) == game.is_terminal(expected)
        for index, role in enumerate(game.roles):
            assert naive.goals(model, index) == [game.goal(expected, role)]
        if game.is_terminal(expected):
            break
        moves = []
        for index, role in enumerate(game.roles):
            legal = game.legal_moves(expected, role)
            assert [str(move) for move in naive.legal_moves(model, index)] == list(map(str, legal))
            moves.append(rng.choice(legal))
        state = naive.next_state(naive.model(state, moves))
        expected = game.next_state(expected, moves)


@pytest.mark.parametrize("name", mostly_slow(SHEETS, 2))
def test_hard_sheet_grounds_to_few_rules(name):
    text, most_rules = SHEETS[name]
    assert ground(parse(text), seconds=60).rule_count < most_rules


PLAYED = {
    "lists, 3": (hard_sheets.lists(3), 8),
    "lists": (hard_sheets.lists(), 8),
    "exactly once": (hard_sheets.exactly_once(), 8),
    "armies, 6": (hard_sheets.armies(6, 4), 8),
    "armies": (hard_sheets.armies(), 2),
}


@pytest.mark.parametrize("name", mostly_slow(PLAYED, 3))
def test_hard_sheet_plays_as_the_reasoner_plays_it(name):
    text, steps = PLAYED[name]
    check_match(text, seed=1, steps=steps)


@pytest.mark.slow
def test_demand_ends_the_growth_of_lists():
    program = parse(hard_sheets.lists())
    assert growing_rule(program) is not None
    assert growing_rule(gdl.grounding.demanded(program)) is None
