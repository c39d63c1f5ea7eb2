"""The command in this process."""

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
