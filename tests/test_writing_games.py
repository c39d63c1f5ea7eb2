"""docs/guides/writing-games.md is true: its sheets grow block by block, its commands print what it shows."""

import re

import pytest
from click.testing import CliRunner

import ggp
from ggp.cli.main import app
from tests.conftest import ROOT
from tests.oracles.naive_beliefs import best_goal

PAGE = (ROOT / "docs" / "guides" / "writing-games.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```(kif|console|console-of-mistake)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run(command: str) -> str:
    assert command.startswith("ggp ")
    return CliRunner().invoke(app, command.split()[1:]).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GGP_CACHE", str(tmp_path / "cache"))
    return tmp_path


def grow(sheet, page):
    """Build the sheet of a part of the page, run its commands; returns how many there were."""
    parts: list[str] = []
    commands = 0
    for kind, text in BLOCK.findall(page):
        if kind == "kif":
            parts.append(text)
            sheet.write_text("\n".join(parts), encoding="utf-8")
        elif kind == "console":
            steps = re.split(r"^\$ (.*)\n", text, flags=re.MULTILINE)[1:]
            for command, expected in zip(steps[::2], steps[1::2], strict=True):
                commands += 1
                assert run(command) == expected
        else:
            whole = sheet.read_text(encoding="utf-8")
            sheet.write_text(whole.replace("(true (control ?p))", "(true (kontrol ?p))", 1), encoding="utf-8")
            assert run("ggp validate takeaway.kif") == text
    return commands


def test_tutorial_is_true(folder):
    open_half, hidden_half = PAGE.split("## Hide something")
    assert grow(folder / "takeaway.kif", open_half) == 3
    assert grow(folder / "hands.kif", hidden_half) == 1


def test_hint_of_the_tutorial_is_true_three_times_of_four(folder):
    grow(folder / "hands.kif", PAGE.split("## Hide something")[1])
    game = ggp.load(str(folder / "hands.kif"), engine="reasoner")
    assert best_goal(game, game.roles[1]) == 75
