"""Learning from self-play, and the file it leaves."""

import numpy as np
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.features.linear_form import parse_linear_form, read_linear_form
from ggp.lanes.keys.state_code import decode_keys
from ggp.search.alphabeta.learning import goals_by_scores, learn_evaluation
from ggp.search.alphabeta.search import AlphaBetaError
from ggp.solver import solve


@pytest.mark.slow
def test_learning_comes_to_judge_states_somewhat_like_the_solution():
    game = load("tictactoe", "lanes")
    evaluation = learn_evaluation(game, games=600, seed=1)
    assert evaluation.curve[-1][0] == 600
    solution = solve(game)
    states = decode_keys(solution.space.code, solution.space.keys.reshape(-1, 1))
    predicted = goals_by_scores(evaluation.scores, states)
    assert np.corrcoef(predicted, solution.value[:, 0])[0, 1] > 0.2


def test_interrupted_learning_keeps_what_was_learned():
    def interrupt(played: int, error: float) -> None:
        if played >= 128:
            raise KeyboardInterrupt

    game = load("tictactoe", "lanes")
    options = {"games": 10_000, "seed": 7}
    evaluation, again = (
        learn_evaluation(game, **options, report=interrupt, is_interruptible=True) for _ in range(2)
    )
    assert evaluation.form() == again.form()
    assert evaluation.was_interrupted
    assert [played for played, _ in evaluation.curve] == [64, 128]
    assert (parse_linear_form(str(evaluation.form())).scores(game) == evaluation.scores).all()
    with pytest.raises(KeyboardInterrupt):
        learn_evaluation(game, **options, report=interrupt)


def test_learning_refuses_other_games():
    with pytest.raises(AlphaBetaError):
        learn_evaluation(load("dicerace", "lanes"), games=1)
    with pytest.raises(AlphaBetaError, match="same time"):
        learn_evaluation(load("morra", "lanes"), games=1)


def test_learn_command_writes_weights_and_shows_the_curve(tmp_path, capsys):
    out = tmp_path / "w.txt"
    app.main(f"prepare evaluation tictactoe --out {out} --games 40".split(), standalone_mode=False)
    printed = capsys.readouterr().out
    assert "40 games" in printed
    assert "weights written to" in printed
    assert read_linear_form(str(out)).terms
