"""What `ggp solve` and `ggp prepare evaluation` promise around the work itself: clocks, progress, Ctrl-C."""

import click
import pytest

import ggp.cli.solve as solve
from ggp.cli.main import app
from ggp.cli.progress import progress_of
from ggp.features.linear_form import read_linear_form
from ggp.solver import SolverError


def test_the_time_of_solve_begins_after_compiling(monkeypatch):
    now = [100.0]
    seen = []
    monkeypatch.setattr(solve.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(solve, "_compile_kernels", lambda *_, **__: now.__setitem__(0, 500.0))

    def stop(game, options):
        seen.append(options.deadline)
        raise SolverError("stopped")

    monkeypatch.setattr(solve, "_solve", stop)
    with pytest.raises(Exception, match="stopped"):
        app.main(["solve", "nim", "--seconds", "7"], standalone_mode=False)
    assert seen == [507.0]


def test_progress_is_shown_on_a_terminal(monkeypatch, capsys):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    with progress_of(lambda played, error: f"{played} of 40 games, error {error:.2f}") as report:
        report(8, 0.25)
    # The status line is drawn once more when it ends.
    assert "8 of 40 games, error 0.25" in capsys.readouterr().err


def test_interrupted_solve_with_a_work_folder_says_how_to_resume(monkeypatch, tmp_path, capsys):
    def interrupted(game, limits, report):
        raise KeyboardInterrupt

    monkeypatch.setattr("ggp.solver.solve", interrupted)
    with pytest.raises(click.Abort):
        app.main(["solve", "tictactoe", "--work", str(tmp_path)], standalone_mode=False)
    assert f"tictactoe: the same command with --work {tmp_path} resumes" in capsys.readouterr().err


def test_learn_keeps_what_it_learned_before_ctrl_c(monkeypatch, tmp_path, capsys):
    from ggp.search.alphabeta.learning import SelfPlayLearner

    run = SelfPlayLearner.run

    def interrupted(self, report=None):
        run(self, report)
        raise KeyboardInterrupt

    monkeypatch.setattr(SelfPlayLearner, "run", interrupted)
    out = tmp_path / "w.txt"
    with pytest.raises(SystemExit) as ended:
        app.main(
            ["prepare", "evaluation", "tictactoe", "--out", str(out), "--games", "40"], standalone_mode=False
        )
    assert ended.value.code == 130
    assert read_linear_form(str(out)).terms
    assert "interrupted; the weights so far are kept" in capsys.readouterr().err
