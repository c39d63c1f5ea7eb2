"""The circuit of a step of the search in lanes: its answers, and the machine code made of it."""

import ctypes
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ggp
from ggp.circuit.circuit import Circuit
from ggp.circuit.packed_gates import as_tuples
from ggp.engines.compiled import CompiledGame, PackedState
from ggp.native import background
from ggp.native.code import processor, rows_of
from ggp.native.fusion import schedule_in_place
from ggp.native.schedule import interpret
from ggp.search.budget import Budget
from ggp.search.proof_numbers.kernels import arrays as c
from ggp.search.proof_numbers.kernels.arrays import TASK_WORDS
from ggp.search.proof_numbers.kernels.lane_search import ANSWER, DEEP, DONE, LIVE, TAKEN, WANTED
from ggp.search.proof_numbers.lane_circuit import LaneCode, lane_code
from ggp.search.proof_numbers.search import ProofNumberSearch


def processor_inputs() -> int:
    """Of an operation of this processor."""
    return rows_of(2, processor()[1]).inputs


def loaded(name: str) -> CompiledGame:
    game = ggp.load(name, engine="lanes")
    assert isinstance(game, CompiledGame)
    return game


def following_rows(circuit: Circuit, rows: list[int], lanes: int) -> list[int]:
    """The rows after a step; each is an int with a bit per lane."""
    ones = (1 << lanes) - 1
    value = rows + [ones] * len(circuit.gates)

    def read(literal: int) -> int:
        return value[literal >> 1] ^ (-(literal & 1) & ones)

    for node, gate in enumerate(as_tuples(circuit.gates), start=circuit.gate0):
        for literal in gate:
            value[node] &= read(literal)
    return [ones, *map(read, circuit.next)]


def first_rows(game: CompiledGame, code: LaneCode, states: list[PackedState], goal: int) -> list[int]:
    """Rows in which every lane begins with a state."""
    ones = (1 << len(states)) - 1
    rows = [ones, *[0] * (code.tables.gate0 - 1)]
    rows[LIVE] = rows[TAKEN] = ones
    for q, each in enumerate(code.built.goals):
        rows[WANTED + q] = ones if each.value >= goal else 0
    for lane, state in enumerate(states):
        for f in np.flatnonzero(game.unpack(state)).tolist():
            rows[code.built.fact0 + f] |= 1 << lane
    return rows


def joint_moves(game: CompiledGame, state: PackedState) -> Iterator[tuple[PackedState, int]]:
    """The next states, and who chose."""
    first, second = (game.legal_moves(state, role) for role in game.roles)
    for a in first:
        for b in second:
            yield game.next_state(state, (a, b)), int(len(second) > 1)


def reaches(game: CompiledGame, state: PackedState, goal: int) -> bool:
    """Whether role 0 gets `goal` or more."""
    if game.is_terminal(state):
        return game.goal(state, game.roles[0]) >= goal
    children = list(joint_moves(game, state))
    return (all if children[0][1] else any)(reaches(game, child, goal) for child, _ in children)


def has_immediate_win(game: CompiledGame, state: PackedState) -> bool:
    return any(
        game.is_terminal(child) and game.goal(child, game.roles[mover]) == 100
        for child, mover in joint_moves(game, state)
    )


def quiet_states(game: CompiledGame, plies: int, count: int) -> list[PackedState]:
    """States after random moves, not terminal, in which no move wins at once."""
    rng = random.Random(plies)
    found: list[PackedState] = []
    while len(found) < count:
        state = game.initial_state()
        for _ in range(plies):
            if not game.is_terminal(state):
                state = rng.choice(list(joint_moves(game, state)))[0]
        if not game.is_terminal(state) and not has_immediate_win(game, state):
            found.append(state)
    return found


@pytest.mark.parametrize(
    ("name", "plies", "goal"), [("tictactoe", 2, 100), ("tictactoe", 3, 50), ("connectfour", 35, 50)]
)
def test_every_lane_finds_the_answer_of_a_plain_search(name: str, plies: int, goal: int) -> None:
    game = loaded(name)
    code = lane_code(game)
    assert code is not None
    states = quiet_states(game, plies, 30)
    rows, circuit = first_rows(game, code, states, goal), code.built.circuit()
    steps = 0
    while rows[LIVE] and steps < 3000:
        rows = following_rows(circuit, rows, len(states))
        steps += 1
    assert (rows[DONE], rows[DEEP]) == ((1 << len(states)) - 1, 0)
    expected = [reaches(game, state, goal) for state in states]
    assert len(set(expected)) == 2
    assert [bool(rows[ANSWER] >> lane & 1) for lane in range(len(states))] == expected


PASSING = """
(role red) (role blue) (cell 0) (cell 1) (cell 2) (cell 3) (init odd)
(<= (next odd) (not (true odd)))
(<= (taken ?c) (true (at ?c ?_p)))
(<= open (cell ?c) (not (taken ?c)))
(<= (free 0) (not (taken 0)))
(<= (free ?c) (cell ?c) (distinct ?c 0) (taken 0) (not (taken ?c)))
(<= (legal red (mark ?c)) (true odd) (free ?c))
(<= (legal red noop) (not (true odd)))
(<= (legal blue (mark ?c)) (not (true odd)) (free ?c))
(<= (legal blue noop) (role blue))
(<= (next (at ?c ?p)) (true (at ?c ?p)))
(<= (next (at ?c ?p)) (does ?p (mark ?c)))
(<= line (true (at 2 red)) (true (at 3 red)))
(<= blue_wins (not line) (not open) (true odd))
(<= terminal line)
(<= terminal (not open))
(<= (goal red 100) (not blue_wins)) (<= (goal blue 0) (not blue_wins))
(<= (goal red 0) blue_wins) (<= (goal blue 100) blue_wins)
"""
"""Blue may pass, also where red then wins by a line: the next free cell would be blue's win."""


def test_a_win_that_a_pass_leaves_to_the_other_role_is_taken() -> None:
    game = loaded(PASSING)
    code = lane_code(game)
    assert code is not None
    state = game.initial_state()
    for red, blue in (("(mark 0)", "noop"), ("noop", "noop")):
        state = game.next_state(state, (ggp.parse_term(red), ggp.parse_term(blue)))
    rows, circuit = first_rows(game, code, [state], 100), code.built.circuit()
    while rows[LIVE]:
        rows = following_rows(circuit, rows, 1)
    assert reaches(game, state, 100)
    assert (rows[DONE], rows[ANSWER]) == (1, 1)


@pytest.fixture
def native(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Machine code of games loaded from now on."""
    monkeypatch.setenv("GGP_NATIVE", "1")
    monkeypatch.setattr(background, "CACHE_FOLDER", tmp_path)


def test_operations_and_machine_code_make_the_same_step(native: None) -> None:
    game = loaded("tictactoe")
    code = lane_code(game)
    assert code is not None
    rows, circuit = first_rows(game, code, quiet_states(game, 2, 64), 100), code.built.circuit()
    schedule = schedule_in_place(code.tables, code.layout)
    expected = [rows := following_rows(circuit, rows, 64) for _ in range(12)]
    words = np.zeros((code.row_count, 2), np.uint64)
    words[: code.tables.gate0] = np.array(expected[9], np.uint64)[:, None]
    interpreted = words.copy()
    interpret(schedule, interpreted)
    assert interpreted[: code.tables.gate0, 1].tolist() == expected[10]
    code.native.begin(2)
    assert code.native.wait(2) == (processor_inputs() == 3)
    if code.entry[1]:
        run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(int(code.entry[1]))
        for each in expected[10:]:
            run(words.ctypes.data, words.ctypes.data)
            assert words[: code.tables.gate0, 0].tolist() == each


@pytest.mark.slow
def test_walkers_with_and_without_lanes_find_the_same_answers(native: None) -> None:
    game = loaded("connectfour")
    code = lane_code(game)
    assert code is not None
    with_lanes, alone = (ProofNumberSearch(game, mebibytes=64) for _ in range(2))
    has_code = code.native.wait(TASK_WORDS)
    found, entered = [], 0
    for state in quiet_states(game, 14, 6):
        for goal in (50, 100):
            found.append(with_lanes.answer(state, goal))
            entered += int(with_lanes._memory.counter[c.LANE_NODES])
            assert alone.answer(state, goal, Budget(nodes=1 << 40)) == found[-1]
            assert alone._memory.counter[c.LANE_NODES] == 0
    assert set(found) == {True, False}
    assert (entered > 100_000) == has_code


def test_games_in_which_facts_go_have_no_lanes() -> None:
    assert lane_code(loaded("breakthrough_small")) is None
