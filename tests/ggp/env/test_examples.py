"""The scripts in examples/ run."""

import runpy

from tests.conftest import ROOT


def test_random_rollouts_report_who_wins(capsys):
    main = runpy.run_path(str(ROOT / "examples" / "random_rollouts.py"))["main"]
    assert main("tictactoe", 64, 40) > 0
    out = capsys.readouterr().out
    assert "steps/s" in out
    assert "x: mean reward +" in out
