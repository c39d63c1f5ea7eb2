"""Counting and selecting moves by schedules, against numpy on the bits of every lane."""

import numpy as np
import pytest

import ggp
from ggp.lanes.choose import native_layout
from ggp.lanes.layout import arrange
from ggp.native.choice import choice_operations, moves_of_role, schedule_choice
from ggp.native.parts import NO_TURNS, Layout, Part
from ggp.native.schedule import SCRATCH, ScheduleError, interpret
from tests.oracles.naive_lanes import random_tables

WORDS = 2
NOTHING = -1
TAKING = """
(init (left 1)) (init (left 2)) (init (left 3)) (init (left 4))
(<= (taken ?n) (does ?r (take ?n)))
(<= (next (left ?n)) (true (left ?n)) (not (taken ?n)))
(<= (next won) (does ?r (say yes)))
(<= some_left (true (left ?n)))
(<= terminal (not some_left))
(<= (goal ?r 100) (role ?r) (true won))
(<= (goal ?r 0) (role ?r) (not (true won)))
"""
STEPS = """
(role a) (role b) (init (step a 1)) (after a b) (after b a)
(<= (next (step ?r 2)) (true (step ?r 1)))
(<= (next (step ?s 1)) (true (step ?r 2)) (after ?r ?s))
(<= (legal ?r (take ?n)) (true (step ?r 1)) (true (left ?n)))
(<= (legal ?r (say yes)) (true (step ?r 2)))
(<= (legal ?r (say no)) (true (step ?r 2)))
(<= (legal ?r wait) (role ?r) (not (true (step ?r 1))) (not (true (step ?r 2))))
"""
STEPS += TAKING
PASSING = """
(role a) (role b) (role c) (init (control a)) (after a b) (after b c) (after c a)
(may a 1) (may a 2) (may a 3) (may b 3) (may b 4) (may c 1) (may c 4)
(<= (next (control ?s)) (true (control ?r)) (after ?r ?s))
(<= (can ?r ?n) (may ?r ?n) (true (left ?n)))
(<= (can_move ?r) (can ?r ?n))
(<= (legal ?r (take ?n)) (true (control ?r)) (can ?r ?n))
(<= (legal ?r (say yes)) (true (control ?r)) (can ?r 4))
(<= (legal ?r pass) (true (control ?r)) (not (can_move ?r)))
(<= (legal ?r pass) (role ?r) (true (control ?s)) (distinct ?r ?s))
"""
PASSING += TAKING
RESTING = """
(role a) (role b) (init (control a)) (after a pause) (after pause b) (after b a)
(<= (next (control ?s)) (true (control ?r)) (after ?r ?s))
(<= (legal a (take ?n)) (true (control a)) (true (left ?n)))
(<= (legal b (say ?x)) (true (control b)) (word ?x)) (word yes) (word no)
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
"""
RESTING += TAKING
"""Roles take turns by a clock of four literals, and of three; in the second one a role may have to pass, in
the last all wait in every third step."""


def bits(rows: np.ndarray) -> np.ndarray:
    """bool[..., 64 * WORDS]: the lanes of rows."""
    return np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=-1, bitorder="little").astype(bool)


def row_of(lanes: np.ndarray) -> np.ndarray:
    return np.packbits(lanes, bitorder="little").view(np.uint64)


def random_rows(rng: np.random.Generator, count: int) -> np.ndarray:
    """About a quarter of the bits is set."""
    first, second = (rng.integers(0, 2**64, (count, WORDS), dtype=np.uint64) for _ in range(2))
    return first & second


def legal_bits(layout: Layout, value: np.ndarray, role: int) -> np.ndarray:
    """bool[moves, lanes]."""
    return np.array([bits(value[x >> 1]) ^ bool(x & 1) for x, _ in moves_of_role(layout, role)])


def put_legal(layout: Layout, value: np.ndarray, rng: np.random.Generator) -> None:
    """Let roles take turns: in every lane at most one has a turn, and the others one move."""
    turns, number = layout.turns, 0
    case = rng.integers(turns.is_exact - 1, len(turns.literal), 64 * WORDS)
    shown = np.append(turns.literal, NOTHING)[case]
    for x in turns.literal.tolist():
        value[x >> 1] = row_of((shown == x) ^ bool(x & 1))
    for role, waiting in enumerate(turns.waiting.tolist()):
        waits = (case < turns.first[role]) | (case >= turns.first[role + 1])
        for x, _ in moves_of_role(layout, role):
            place = np.searchsorted(turns.first_leaf, np.flatnonzero(turns.leaf_move == number), side="right")
            may_move = np.isin(shown, turns.literal[place - 1])
            is_legal = (bits(value[x >> 1]) & may_move) | (waits & (number == waiting))
            value[x >> 1] = row_of(is_legal ^ bool(x & 1))
            number += 1


@pytest.mark.parametrize(
    "rules",
    [
        "tictactoe",
        "connectfour_4x4",
        "breakthrough_small",
        "hex_5x5",
        "goofspiel",
        "dicerace",
        "minichess",
        STEPS,
        PASSING,
        RESTING,
    ],
)
@pytest.mark.parametrize("in_turn", [False, True])
def test_counting_and_selecting(rules, in_turn):
    game, rng = ggp.load(rules), np.random.default_rng(1)
    layout = native_layout(game.lane_tables)
    if not in_turn:
        layout = layout._replace(turns=NO_TURNS)
    elif not len(layout.turns.literal):
        pytest.skip("roles do not take turns")
    rows, planes, roles = choice_operations(layout).rows, layout.planes, range(len(game.roles))
    value, scratch = random_rows(rng, layout.end_spare + 1), random_rows(rng, layout.scratch_rows)
    if in_turn:
        put_legal(layout, value, rng)
    value[0] = ~np.uint64(0)
    legal = [legal_bits(layout, value, role) for role in roles]

    interpret(schedule_choice(layout, Part.COUNT), value, scratch)
    count = [each.sum(axis=0) for each in legal]
    most = [np.maximum(each - 1, 0) for each in count]
    has_move = [bits(scratch[rows.has_move - SCRATCH + role]) for role in roles]
    for role in [0] if in_turn else roles:
        first = rows.limit - SCRATCH + role * planes
        limit = sum(bits(scratch[first + p]).astype(int) << p for p in range(planes))
        assert (limit == (sum(most) if in_turn else most[role])).all()
    if in_turn:
        assert (has_move[0] == np.all([each > 0 for each in count], axis=0)).all()
    else:
        assert (np.array(has_move) == [each > 0 for each in count]).all()

    drawn = [rng.integers(0, each + 1) for each in most]
    lanes = bits(random_rows(rng, 1)[0]) & np.all([each > 0 for each in count], axis=0)
    scratch[rows.lanes - SCRATCH] = row_of(lanes)
    for role in [0] if in_turn else roles:
        number = sum(drawn) if in_turn else drawn[role]
        for p in range(planes):
            scratch[rows.drawn - SCRATCH + role * planes + p] = row_of(number >> p & 1 != 0)
    interpret(schedule_choice(layout, Part.SELECT), value, scratch)
    for role in roles:
        rank = legal[role].cumsum(axis=0) - 1
        expected = legal[role] & (rank == drawn[role]) & lanes
        selected = np.array([bits(value[row]) for _, row in moves_of_role(layout, role)])
        assert (selected == expected).all()


def test_choosing_needs_its_rows():
    layout = native_layout(ggp.load("tictactoe").lane_tables)._replace(scratch_rows=20)
    with pytest.raises(ScheduleError, match="choosing moves needs"):
        schedule_choice(layout, Part.COUNT)


IDLE = """
(role a) (role b) (init (control a)) (after a b) (after b a)
(<= (next (control ?s)) (true (control ?r)) (after ?r ?s))
(<= (legal ?r wait) (role ?r) (not (true (control ?r))))
(<= terminal (not (true (control a))) (not (true (control b))))
(goal a 0) (goal b 0)
"""


def test_a_role_without_moves_in_its_turn_has_no_schedule():
    for tables in (random_tables(1, moves=(3, 0)), ggp.load(IDLE).tables):
        with pytest.raises(ScheduleError, match="no moves"):
            schedule_choice(native_layout(arrange(tables)), Part.COUNT)
