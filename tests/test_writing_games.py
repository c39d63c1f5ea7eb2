"""docs/guides/writing-games.md is true: its sheet grows block by block, its commands print what it shows."""

import re

import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from tests.conftest import ROOT

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


def test_tutorial_is_true(folder):
    sheet = folder / "takeaway.kif"
    parts: list[str] = []
    commands = 0
    for kind, text in BLOCK.findall(PAGE):
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
    assert commands == 6
