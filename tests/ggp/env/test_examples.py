"""The scripts and the notebook in examples/ run."""

import json
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


@pytest.mark.slow
def test_maskable_ppo_learns_to_beat_random(capsys):
    pytest.importorskip("sb3_contrib", reason="sb3-contrib is not installed")
    main = runpy.run_path(str(ROOT / "examples" / "maskable_ppo.py"))["main"]
    won, _ = main("tictactoe", 60_000, 0)
    assert won >= 0.95


def test_the_notebook_runs_and_says_what_is_so():
    cells = json.loads((ROOT / "examples" / "environments.ipynb").read_text())["cells"]
    names: dict[str, object] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            assert not cell["outputs"]
            exec("".join(cell["source"]), names)
    env, states, worth = names["env"], names["states"], names["worth"]
    assert states[-1].terminated.all()
    assert set(worth) <= {-1, 0, 1}
    assert {int(c) for c in states[1].current_player} == {1}
    own, other = (env.observed.names.index(name) for name in "xo")
    assert not states[1].observation[..., own].any()
    assert (states[1].observation[..., other].sum(axis=(1, 2)) == 1).all()
