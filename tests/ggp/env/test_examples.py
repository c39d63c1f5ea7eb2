"""The scripts in examples/ run."""

import runpy

import pytest

from tests.conftest import ROOT


def test_random_rollouts_report_who_wins(capsys):
    main = runpy.run_path(str(ROOT / "examples" / "random_rollouts.py"))["main"]
    assert main("tictactoe", 64, 40) > 0
    out = capsys.readouterr().out
    assert "steps/s" in out
    assert "x: mean reward +" in out


def test_a_network_in_torch_learns_from_batches(capsys):
    pytest.importorskip("torch", reason="torch is not installed")
    main = runpy.run_path(str(ROOT / "examples" / "value_network.py"))["main"]
    error, plain = main("connectfour_4x4", 512, 4)
    assert error < plain
