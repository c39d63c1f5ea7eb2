"""The command in this process, and scripts in another."""

import os
import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from ggp.cli import main as cli
from tests.conftest import ROOT


@pytest.fixture
def ggp(capsys, monkeypatch):
    """Run the command in this process; returns exit code, standard output and standard error."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "120")

    def run(*arguments):
        with pytest.raises(SystemExit) as exit_info:
            cli.main([str(argument) for argument in arguments])
        output = capsys.readouterr()
        return exit_info.value.code, output.out, output.err

    return run


def run_python(script, folder=ROOT, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, **options)


def imported_by(script, *modules, folder=ROOT):
    """Run a script; return its output, which ends with those of the modules that were imported."""
    run = run_python(f"{script}\nimport sys\nprint([m for m in {modules} if m in sys.modules])", folder)
    assert run.returncode == 0, run.stderr
    return run.stdout


def ended(arguments):
    """A script that runs `ggp` and prints its exit code."""
    return (
        f"from ggp.cli.main import main\ntry: main({arguments!r})\nexcept SystemExit as end: print(end.code)"
    )


def all_commands(group: click.Group = cli.app, prefix: str = "") -> Iterator[tuple[str, click.Command]]:
    """Every command with its name, those of groups included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield prefix + name, command
        if isinstance(command, click.Group):
            yield from all_commands(command, f"{prefix}{name} ")
