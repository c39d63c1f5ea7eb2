"""Tables of endings: exact values, closed sets, who plays by them, and files that are none."""

import json
import os
import signal
import time
from contextlib import nullcontext

import click
import numpy as np
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.knowledge.folder import ENDINGS_FILE_NAME, kept_file
from ggp.lanes.keys.state_code import decode_keys
from ggp.match.player import MatchSetup, PlayerSpecError
from ggp.players.factory import make_player
from ggp.search.alphabeta.kernels.arrays import KNOWN
from ggp.search.alphabeta.search import AlphaBeta
from ggp.solver import SavedSolutionError, SolverLimitError, SolverLimits, solve
from ggp.solver.endings import (
    EndingTable,
    EndingTerms,
    draw_endings,
    in_batches,
    recognize_ending_measure,
    solve_endings,
)
from ggp.solver.reachable import closed_states
from tests.oracles.naive_solver import successors


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def tictactoe():
    return load("tictactoe", "lanes")


@pytest.fixture(scope="module")
def full(tictactoe):
    """The solution of the whole game."""
    return solve(tictactoe)


@pytest.fixture(scope="module")
def table_file(tictactoe, tmp_path_factory):
    """A table with all positions of at most four empty cells."""
    path = tmp_path_factory.mktemp("endings") / "table"
    solve_endings(tictactoe, EndingTerms(most=4)).save(path)
    return path


def states_of(space):
    """The states of a space, packed."""
    states = decode_keys(space.code, space.keys.reshape(-1, space.code.word_count))
    return [space.game.pack(state) for state in states]


@pytest.fixture(scope="module")
def choices(tictactoe, full):
    """Number of empty cells → the states in which the role to move has one right move, and others."""
    measure = recognize_ending_measure(tictactoe)
    found = {}
    for state in states_of(full.space):
        if not tictactoe.is_terminal(state):
            stage = full.stage(state)
            ((role, best),) = stage.best_moves.items() or ((None, ()),)
            if len(best) == 1 < len(tictactoe.legal_moves(state, role)):
                found.setdefault(int(measure.of(tictactoe.unpack(state))), []).append(state)
    return found


def test_values_and_depths_are_those_of_the_whole_game(tictactoe, full):
    found = solve_endings(tictactoe, EndingTerms(most=5, playouts=512))
    assert (found.counted, max(found.counts)) == ("empty cells", 5)
    assert sum(found.counts.values()) == found.solution.space.state_count
    for state in states_of(found.solution.space):
        assert found.solution.worth(state) == full.worth(state)


def test_values_with_few_pieces_are_those_of_a_solution_from_there():
    game = load("breakthrough_4x4", "lanes")
    found = solve_endings(game, EndingTerms(most=6, playouts=512))
    assert (found.counted, max(found.counts)) == ("pieces", 6)
    states = [s for s in states_of(found.solution.space) if not game.is_terminal(s)]
    for state in states[:: len(states) // 10]:
        assert found.solution.worth(state) == solve(game, start=state).worth(state)


@pytest.mark.parametrize("most_states", [100, 700, 3000])
def test_a_limit_leaves_a_set_that_no_move_leaves(most_states, tictactoe, full):
    measure = recognize_ending_measure(tictactoe)
    batches = list(in_batches(draw_endings(tictactoe, measure, most=9, playouts=512)))
    space = closed_states(tictactoe, batches, SolverLimits(states=most_states, chunk_seconds=0.001))
    assert 0 < space.state_count <= most_states
    states = states_of(space)
    known = set(states)
    assert all(known.issuperset(successors(tictactoe, s)) for s in states if not tictactoe.is_terminal(s))
    assert (space.number(np.array([tictactoe.unpack(s) for s in states])) == np.arange(len(states))).all()
    assert full.space.state_count > len(states)
    initial = tictactoe.unpack(tictactoe.initial_state())[None, :]
    with pytest.raises(SolverLimitError, match="more than 5 states"):
        closed_states(tictactoe, [initial], SolverLimits(states=5))


def test_alphabeta_proves_by_the_table_what_lies_beyond_its_depth(tictactoe, full, table_file):
    table = EndingTable(table_file, tictactoe)
    rng = np.random.default_rng(0)
    states = [s for s in states_of(full.space) if not tictactoe.is_terminal(s)]
    proven = known = 0
    without, search = (AlphaBeta(tictactoe, mebibytes=1) for _ in range(2))
    search.use_known_goals(table.known, table.goal_sum)
    for place in rng.choice(len(states), 40, replace=False):
        for each in (without, search):
            each.forget()
        bare, result = (each.search(states[place], depth=2) for each in (without, search))
        if result.is_proven:
            assert result.goal == full.worth(states[place]).values[0]
        assert result.is_proven >= bare.is_proven
        proven += result.is_proven - bare.is_proven
        known += search.counter[KNOWN]
    assert proven > 5
    assert known > 40


def goals_kept(spec, game, full, states):
    """How many of the states the player plays without giving away a goal, and the modes of its reports."""
    kept, modes = 0, set()
    player = make_player(spec)
    for state in states:
        role = game.roles[0] if len(game.legal_moves(state, game.roles[0])) > 1 else game.roles[1]
        player.start(MatchSetup("m", game, role, 0.0, 1.0, 1), time.monotonic() + 10)
        move = player.choose(state, time.monotonic() + 10, None)
        best = full.stage(state).best_moves[role]
        kept += move in [rated.move for rated in best]
        modes.add(getattr(player.last_report, "mode", None))
        player.stop(None)
    return kept, modes


def test_alphabeta_is_exact_with_the_table_where_it_is_not_without(tictactoe, full, choices, table_file):
    spec = "alphabeta:depth=1,evaluation=mobility"
    states = choices[4][:8]
    assert goals_kept(f"{spec},endings={table_file}", tictactoe, full, states) == (8, {"solution"})
    assert goals_kept(spec, tictactoe, full, states)[0] < 8


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spec", "mode"),
    [("alphabeta", "solution"), ("alphabeta:endings=off", "alphabeta"), ("alphabeta:depth=2", "alphabeta")],
)
def test_what_is_kept_is_used_unless_switched_off_or_counted(
    data_folder, tictactoe, full, choices, table_file, spec, mode
):
    place = kept_file(tictactoe.program, ENDINGS_FILE_NAME)
    place.parent.mkdir(parents=True)
    place.write_bytes(table_file.read_bytes())
    assert goals_kept(spec, tictactoe, full, choices[4][:1])[1] == {mode}


def test_files_that_are_no_table_are_refused_or_played_without(
    data_folder, tictactoe, full, table_file, caplog
):
    content = table_file.read_bytes()
    bad = data_folder / "bad"
    bad.write_bytes(content[: len(content) // 2])
    with pytest.raises(SavedSolutionError, match="incomplete or damaged"):
        EndingTable(bad, tictactoe)
    with pytest.raises(SavedSolutionError, match="other rules"):
        EndingTable(table_file, load("nim", "lanes"))
    first, line, _ = content.split(b"\n", 2)
    header = json.loads(line)
    value = len(first) + len(line) + 2 + header["arrays"]["value"][0]
    bad.write_bytes(content[:value] + bytes([content[value] ^ 1]) + content[value + 1 :])
    goals_kept(f"alphabeta:depth=1,endings={bad}", tictactoe, full, [tictactoe.initial_state()])
    assert "playing without a table of endings" in caplog.text
    assert "impossible values" in caplog.text
    (data_folder / "text").write_text("no table")
    with pytest.raises(PlayerSpecError, match="not a saved solution"):
        make_player(f"alphabeta:endings={data_folder / 'text'}")
    for damage in ({"part": 7}, {"states": "x"}, {"roles": []}):
        bad.write_bytes(b"\n".join([first, json.dumps(header | damage).encode(), b""]))
        with pytest.raises(SavedSolutionError):
            EndingTable(bad, tictactoe)


def test_the_command_keeps_a_table_and_info_shows_it(data_folder, capsys):
    place = kept_file(load("tictactoe").program, ENDINGS_FILE_NAME)
    for command, text in (
        (["prepare", "endings", "tictactoe", "--most", "1"], "by empty cells: 78 with 0, "),
        (["games", "info", "tictactoe"], "endings: positions with at most 1 empty cells"),
        (["games", "info", str(place)], "endings of tictactoe: positions with at most 1 empty cells"),
    ):
        app.main(command, standalone_mode=False)
        assert text in capsys.readouterr().out


def test_ctrl_c_keeps_what_is_complete(data_folder, capsys, monkeypatch):
    def interrupt(progress):
        if progress.states > 1000:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("ggp.cli.prepare.endings.progress_of", lambda text: nullcontext(interrupt))
    with pytest.raises(SystemExit) as ended:
        app.main(["prepare", "endings", "tictactoe", "--most", "9"], standalone_mode=False)
    assert ended.value.code == 130
    assert "interrupted; the complete part is kept" in capsys.readouterr().err
    game = load("tictactoe", "lanes")
    assert 0 < EndingTable(kept_file(game.program, ENDINGS_FILE_NAME), game).state_count < 5478
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nim"], "no board was recognized"),
        (["kuhn_poker"], "hidden information"),
        (["breakthrough", "--most", "2", "--limit", "playouts=1"], "none of 1 random playouts"),
    ],
)
def test_the_command_refuses_what_it_cannot_do_in_one_line(data_folder, arguments, message):
    with pytest.raises(click.ClickException, match=message):
        app.main(["prepare", "endings", *arguments], standalone_mode=False)
    assert not list(data_folder.rglob(ENDINGS_FILE_NAME))
