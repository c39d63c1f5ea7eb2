"""What `import ggp` offers: complete, cheap to import, documented by examples that run."""

from __future__ import annotations

import ast
import importlib
import inspect
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest

import ggp
from tests.conftest import ROOT, mostly_slow

VALUES = {"RANDOM_ROLE"}
"""Public names that are plain values, which have no docstring of their own."""


def public_objects() -> dict[str, object]:
    return {name: getattr(ggp, name) for name in ggp.__all__}


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return done.stdout


def test_import_is_cheap_and_loads_no_heavy_library():
    code = "import sys, ggp; print(*sorted(sys.modules))"
    loaded = set(run_python(code).split())
    assert not loaded & {"numba", "llvmlite", "numpy", "lark", "clingo", "rich", "click", "aiohttp"}
    assert not {name for name in loaded if name.startswith("ggp.")}


def test_every_public_name_is_listed_and_typed():
    assert set(dir(ggp)) >= set(ggp.__all__)
    tree = ast.parse(Path(ggp.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module != "__future__"
        for alias in node.names
    } - {"TYPE_CHECKING", "Any"}
    assert typed == set(ggp.__all__)


def test_no_public_name_is_the_name_of_a_package():
    packages = {path.stem for path in Path(ggp.__file__).parent.iterdir() if not path.name.startswith("_")}
    assert not packages & set(ggp.__all__)


def test_unknown_names_are_attribute_errors():
    with pytest.raises(AttributeError, match="no attribute 'lode'"):
        _ = ggp.lode


@pytest.mark.parametrize("name", ggp.__all__)
def test_public_name_has_a_docstring_with_a_doctest(name):
    thing = getattr(ggp, name)
    if name in VALUES:
        return
    assert inspect.isclass(thing) or inspect.isfunction(thing)
    assert thing.__doc__
    assert ">>> " in thing.__doc__, f"{thing.__module__}.{name} has no doctest"
    home = importlib.import_module(thing.__module__)
    assert getattr(home, name) is thing


HOSTILE = """(role <b>) (init start) (<= (legal <b> <script>) (true start))
(<= (next over) (does <b> <script>))
(<= terminal (true over)) (<= (goal <b> 100) (true over)) (<= (goal <b> 0) (not (true over)))"""


def shown_objects() -> list[object]:
    """One object of each class that shows itself, from a game whose names are HTML."""
    game = ggp.load(HOSTILE, name="<i>", engine="reasoner")
    report = ggp.search_state(game, simulations=5)
    record = ggp.play_match(game, [ggp.make_player("legal")])
    return [game, ggp.describe(game, playouts=2), ggp.show(game), report, record, ggp.validate(HOSTILE)]


def test_objects_print_in_one_line_and_are_safe_in_notebooks():
    for thing in shown_objects():
        text = repr(thing)
        assert len(text) < 300, text
        assert "\n" not in text
        html = getattr(thing, "_repr_html_", lambda: "")()
        assert "<script>" not in html
        assert "<i>" not in html


def test_search_report_is_a_table_of_moves():
    report = ggp.search_state(ggp.load("tictactoe", engine="reasoner"), simulations=30)
    html = report._repr_html_()
    assert html.count("<tr>") == 10
    assert f"<td>{report.moves[0].move}</td><td>{report.moves[0].visits}</td>" in html


def test_match_record_is_a_table_of_steps():
    game = ggp.load("tictactoe", engine="reasoner")

    class Wild(ggp.Player):
        def choose(self, state, deadline, joint_move):
            return ggp.parse_term("(mark 9 9)")

    record = ggp.play_match(game, [Wild(), ggp.make_player("legal")])
    html = record._repr_html_()
    assert html.count("<tr>") == len(record.moves) + 1
    assert "IL (mark 9 9)" in html
    assert "x (Wild)" in repr(record)


@pytest.mark.parametrize("engine", ["lanes", "reasoner"])
def test_search_of_a_state_finds_the_winning_move(engine):
    game = ggp.load("tictactoe", engine=engine)
    state = game.initial_state()
    for moves in (
        ("(mark 2 2)", "noop"),
        ("noop", "(mark 1 2)"),
        ("(mark 1 1)", "noop"),
        ("noop", "(mark 3 1)"),
    ):
        state = game.next_state(state, [ggp.parse_term(move) for move in moves])
    report = ggp.search_state(game, state, simulations=200)
    assert [move.goal for move in report.moves if move.move == report.best_move] == [100]
    assert report.goal == report.expectation == 100
    again = ggp.search_state(game, state, simulations=200)
    assert again.moves == report.moves
    assert ggp.search_state(game, state, role=game.roles[1], simulations=50).goal == 0


def test_search_of_a_state_takes_the_options_of_the_player():
    game = ggp.load("tictactoe", engine="reasoner")
    searched = ggp.search_state(game, simulations=20, policy="mast", solver=False, c=30)
    assert searched.playouts == 20
    with pytest.raises(ValueError, match="polizy"):
        ggp.search_state(game, simulations=20, polizy="mast")
    timed = ggp.search_state(game, seconds=0.05)
    assert timed.playouts > 0


def test_search_of_a_state_refuses_what_cannot_be_searched():
    game = ggp.load(HOSTILE, engine="reasoner")
    state = game.initial_state()
    with pytest.raises(ggp.GameError, match=r"is no role of this game|not a role"):
        ggp.search_state(game, role="x", simulations=5)
    over = game.next_state(state, [game.legal_moves(state, game.roles[0])[0]])
    with pytest.raises(ggp.GameError, match="over in this state"):
        ggp.search_state(game, over, simulations=5)


def test_compiled_only_functions_name_the_engine():
    game = ggp.load("tictactoe", engine="reasoner")
    for ask in (ggp.successors, ggp.playouts, ggp.solve):
        with pytest.raises(
            ggp.GameError, match=r'not compiled \(engine reasoner\): load it with engine="lanes"'
        ):
            ask(game)


def test_validate_takes_files_names_and_text(tmp_path):
    sheet = tmp_path / "mine.kif"
    sheet.write_text(HOSTILE)
    for given in (sheet, str(sheet), HOSTILE):
        assert not ggp.validate(given).has_errors
    assert ggp.validate("(role x").has_errors
    with pytest.raises(ggp.RulesNotFoundError):
        ggp.validate("no_such_game")


@pytest.mark.parametrize("engine", ["lanes", "reasoner"])
@pytest.mark.parametrize("simulations", mostly_slow([1, 10, 100, 1000], 2))
def test_report_names_the_move_that_the_player_makes(engine, simulations):
    game = ggp.load("tictactoe", engine=engine)
    player = ggp.make_player(f"mcts:simulations={simulations}")
    state, rng = game.initial_state(), random.Random(simulations)
    player.prepare(game)
    while not game.is_terminal(state):
        for role in game.roles:
            if len(game.legal_moves(state, role)) > 1:
                player.start(ggp.MatchSetup("m", game, role, 1, 1, seed=5), math.inf)
                move = player.choose(state, math.inf, None)
                assert player.last_report.best_move == move
                player.stop(None)
        state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
