"""The README's examples run, and its links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggp.cli import app

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, flags=re.S)


COMMANDS = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_readme_command_succeeds(command, monkeypatch, tmp_path):
    program, *arguments = shlex.split(command)
    assert program == "ggp"
    (tmp_path / "games").symlink_to(ROOT / "games")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert result.output.strip()


def test_readme_shows_commands_for_every_use():
    shown = {shlex.split(command)[1] for command in COMMANDS}
    assert shown >= {"match", "validate", "info", "bench", "solve"}


@pytest.mark.parametrize("code", blocks("python"))
def test_readme_python_runs(code, capsys, monkeypatch):
    monkeypatch.chdir(ROOT)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\(([^)#:]+)\)", README))))
def test_readme_link_leads_to_a_file(target):
    assert (ROOT / target).exists()
