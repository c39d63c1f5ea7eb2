"""The two parts of a circuit say what the whole one says."""

from itertools import pairwise

import numpy as np
import pytest

import ggp
from ggp.circuit.tables import Phase
from ggp.env.circuit_parts import parts_of
from ggp.lanes.engine import Lanes


@pytest.mark.parametrize("name", ["tictactoe", "othello_6x6", "kuhn_poker", "goofspiel"])
def test_parts_agree_with_the_whole(name):
    game = ggp.load(name, engine="lanes")
    parts = parts_of(game)
    whole, of_state, of_step = (Lanes(tables, seed=1) for tables in (game.lane_tables, *parts))
    for lanes in (whole, of_state, of_step):
        lanes.begin(game.unpack(game.initial_state()))
    states = np.repeat(game.unpack(game.initial_state())[:, None], 64, axis=1)
    rng = np.random.default_rng(0)
    for _ in range(8):
        selected = np.zeros((len(game.tables.legal), 64), bool)
        for lanes in (whole, of_state, of_step):
            lanes.set_states(states)
            lanes.set_moves(selected)
            lanes.settle(Phase.LEGAL, Phase.GOAL)
        assert_same(whole, game.lane_tables, of_state, parts.of_state, ("slot_literal", "goal_literal"))
        assert_same(whole, game.lane_tables, of_step, parts.of_step, ("slot_literal",))
        terminal = [
            lanes.read(np.array([tables.terminal], np.int32), 64)
            for lanes, tables in ((whole, game.lane_tables), (of_state, parts.of_state))
        ]
        assert np.array_equal(*terminal)
        legal = whole.read(game.legal_literals, 64)
        first = game.tables.first_move
        for start, end in pairwise(first.tolist()):
            drawn = np.where(legal[start:end], rng.random((end - start, 64)), -1).argmax(axis=0)
            selected[start + drawn, np.arange(64)] = True
        for lanes in (whole, of_step):
            lanes.set_moves(selected)
            lanes.settle(Phase.LEGAL, Phase.SEES)
        assert_same(whole, game.lane_tables, of_step, parts.of_step, ("next", "percept_literal"))
        following = whole.read(game.lane_tables.next, 64)
        states = np.where(terminal[0], states, following)


def assert_same(whole, whole_tables, part, part_tables, names):
    for name in names:
        expected = whole.read(getattr(whole_tables, name), 64)
        assert np.array_equal(part.read(getattr(part_tables, name), 64), expected), name
