"""What the solver is made of: codes, matrix games, saved solutions, the command."""

import json
import os
import random
from fractions import Fraction

import click
import numpy as np
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.jit.compiling import kernel
from ggp.lanes.keys.key_table import (
    ABSENT,
    KeyTable,
    find_states,
    insert_states,
    make_key_table,
    number_states,
)
from ggp.lanes.keys.state_code import decode_keys, encode_states, make_code
from ggp.solver import SavedSolutionError, Tablebase, save_solution, solve
from ggp.solver.kernels.matrix import make_stage, solve_matrix
from ggp.solver.matrix_games import solve_bimatrix, solve_zero_sum


@pytest.mark.parametrize("fluents", [1, 20, 64, 150])
def test_codes_keep_states_apart(fluents):
    rng = np.random.default_rng(fluents)
    order = rng.permutation(fluents)
    groups = [tuple(order[i : i + 7]) for i in range(0, fluents - 7, 11)]
    states = rng.random((200, fluents)) < 0.5
    for group in groups:
        kept = rng.integers(0, len(group) + 3, len(states))
        for place, fluent in enumerate(group):
            states[:, fluent] &= kept == place
    code = make_code(fluents, [*groups, (0,), groups[0][:3] if groups else (0,)])
    keys = encode_states(code, states)
    assert keys.shape == (200, code.word_count)
    np.testing.assert_array_equal(decode_keys(code, keys), states)
    assert len(code.first_source) - 1 == fluents - 4 * len(groups)


@pytest.mark.parametrize("words", [1, 2, 3])
def test_table_finds_what_was_put_in_and_nothing_else(words):
    rng = np.random.default_rng(words)
    keys = np.unique(rng.integers(0, 40, (3000, words)).astype(np.uint64), axis=0)
    rng.shuffle(keys)
    stored, foreign = keys[: len(keys) // 2 + 1], keys[len(keys) // 2 + 1 :]
    table = np.zeros(1 << (len(stored) * 4 // 3).bit_length(), np.uint64)
    insert_states(table, stored.reshape(-1), words, 0, len(stored))
    found = np.empty(len(keys), np.int64)
    find_states(table, stored.reshape(-1), words, np.concatenate((stored, foreign)).reshape(-1), found)
    assert found[: len(stored)].tolist() == list(range(len(stored)))
    assert (found[len(stored) :] == ABSENT).all()


@kernel
def number_all(known, reached, count, mixed, edge):
    return number_states(known, 0, reached, count, mixed, edge, 0)


@pytest.mark.parametrize(("words", "bits"), [(1, 8), (1, 64), (3, 64)])
def test_states_are_numbered_in_the_order_in_which_they_are_reached(words, bits):
    """A table that is almost full: many buckets are, and keys come twice in a batch."""
    rng = np.random.default_rng(words)
    reached = rng.integers(0, 30 if words > 1 else 230, (2000, words)).astype(np.uint64)
    table = make_key_table(256 if words == 1 else 4096)
    known = KeyTable(table, np.zeros(2000 * words, np.uint64), words, bits)
    edge = np.empty(2000, np.uint32)
    count = number_all(known, reached.reshape(-1), 2000, np.empty(2000, np.uint64), edge)
    numbers = {}
    assert edge.tolist() == [numbers.setdefault(tuple(key), len(numbers)) for key in reached.tolist()]
    assert count == len(numbers)
    assert known.keys[: count * words].reshape(-1, words).tolist() == list(map(list, numbers))


@pytest.mark.parametrize("seed", range(30))
def test_zero_sum_solutions_are_equilibria_and_the_kernel_agrees(seed):
    rng = random.Random(seed)
    rows, columns = rng.randint(1, 6), rng.randint(1, 6)
    payoff = [[rng.randint(-3, 3) * rng.randint(0, 9) for _ in range(columns)] for _ in range(rows)]
    found = solve_zero_sum(payoff)
    assert sum(found.row) == sum(found.column) == 1
    assert min(found.row) >= 0
    assert min(found.column) >= 0
    against_row = [sum(p * payoff[i][j] for i, p in enumerate(found.row)) for j in range(columns)]
    against_column = [sum(p * line[j] for j, p in enumerate(found.column)) for line in payoff]
    assert min(against_row) == found.row_value == max(against_column)
    stage = make_stage(2, 36, 6)
    stage.matrix[:rows, :columns] = payoff
    assert solve_matrix(stage, rows, columns) == pytest.approx(float(found.row_value), abs=1e-9)
    mix = stage.row_mix[:rows]
    assert mix.sum() == pytest.approx(1)
    assert (mix @ np.array(payoff)).min() == pytest.approx(float(found.row_value), abs=1e-9)


def test_bimatrix_prefers_the_best_pure_equilibrium_and_mixes_where_it_must():
    stag_hunt = [[4, 0], [3, 3]]
    found = solve_bimatrix(stag_hunt, list(zip(*stag_hunt, strict=True)))
    assert (found.row, found.column, found.row_value) == ((1, 0), (1, 0), 4)
    found = solve_bimatrix([[2, 0], [0, 1]], [[0, 3], [1, 0]])
    assert found.row == (Fraction(1, 4), Fraction(3, 4))
    assert found.column == (Fraction(1, 3), Fraction(2, 3))
    assert (found.row_value, found.column_value) == (Fraction(2, 3), Fraction(3, 4))


@pytest.mark.parametrize("name", ["tictactoe", "maze", "morra"])
def test_saved_solution_answers_like_the_solution(name, tmp_path):
    game = load(name, "lanes")
    solution = solve(game)
    save_solution(solution, tmp_path / "game.solution")
    assert [path.name for path in tmp_path.iterdir()] == ["game.solution"]
    tablebase = Tablebase(tmp_path / "game.solution")
    tablebase.require_rules(game.program)
    reasoner = load(name, "reasoner")
    state, other = game.initial_state(), reasoner.initial_state()
    assert tuple(tablebase.values().values()) == solution.values()
    while not game.is_terminal(state):
        assert tablebase.worth(game.facts(state)) == solution.worth(state)
        stage = tablebase.stage(reasoner, other)
        assert stage == solution.stage(state)
        joint = [
            stage.best_moves[role][0].move if role in stage.best_moves else game.legal_moves(state, role)[0]
            for role in game.roles
        ]
        state, other = game.next_state(state, joint), reasoner.next_state(other, joint)


def test_saved_solution_refuses_other_rules_and_damage(tmp_path):
    path = tmp_path / "game.solution"
    save_solution(solve(load("bucket", "lanes")), path)
    with pytest.raises(SavedSolutionError, match="other rules"):
        Tablebase(path).require_rules(load("nim").program)
    content = path.read_bytes()
    for damaged in (b"", b"hello", content[:40], content[:-30]):
        path.write_bytes(damaged)
        with pytest.raises(SavedSolutionError):
            Tablebase(path)


def test_saving_replaces_files_only_and_keeps_links(tmp_path):
    solution = solve(load("bucket", "lanes"))
    (tmp_path / "link").symlink_to(tmp_path / "file")
    (tmp_path / "file").write_text("old")
    save_solution(solution, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    Tablebase(tmp_path / "file").require_rules(load("bucket").program)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        save_solution(solution, tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()
    with pytest.raises(click.BadParameter, match="not a regular file"):
        app.main(["solve", "bucket", "--save", str(tmp_path / "pipe")], standalone_mode=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link", "pipe"]


def test_unreachable_states_are_not_in_a_solution(tmp_path):
    game = load("tictactoe", "lanes")
    solution = solve(game)
    everything = game.pack(np.ones(len(game.terms.fluents), np.bool_))
    assert solution.number(everything) is None
    with pytest.raises(KeyError):
        solution.worth(everything)
    save_solution(solution, tmp_path / "s")
    with pytest.raises(KeyError):
        Tablebase(tmp_path / "s").worth(game.facts(everything))


def test_solve_command_prints_json(capsys, tmp_path):
    app.main(["solve", "bucket", "--json", "--save", str(tmp_path / "b")], standalone_mode=False)
    printed = json.loads(capsys.readouterr().out)
    assert printed["values"] == {"picker": 51, "drawer": 49}
    assert printed["states"] == 10
    assert printed["best_moves"] == {"picker": [{"move": "(pick b)", "goal": 51.0, "probability": 1.0}]}
    app.main(["games", "info", str(tmp_path / "b")], standalone_mode=False)
    assert "solution of bucket: picker 51, drawer 49" in capsys.readouterr().out
    app.main(["games", "info", str(tmp_path / "b"), "--json"], standalone_mode=False)
    assert json.loads(capsys.readouterr().out)["values"] == printed["values"]
    app.main(["solve", "morra"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "even -1/12, odd 1/12" in shown
    assert "goals: even 49.1667, odd 50.8333" in shown
    assert "equilibrium: even show 1 7/12, show 2 5/12" in shown
