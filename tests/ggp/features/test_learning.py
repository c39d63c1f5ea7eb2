"""Learning from self-play, and the file it leaves."""

import json

import numpy as np
import pytest

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.features.evaluation import EvaluationFileError, LinearEvaluation, NamedFeatures, goal_of_states
from ggp.features.learning import name_features, weights_by_name
from ggp.features.recognition import recognize_features
from ggp.lanes.keys.state_code import decode_keys
from ggp.search.alphabeta.learning import LearningOptions, learn_evaluation
from ggp.search.alphabeta.search import AlphaBetaError
from ggp.solver import solve


@pytest.mark.slow
def test_learning_comes_to_judge_states_somewhat_like_the_solution():
    game = load("tictactoe", "lanes")
    evaluation = learn_evaluation(game, LearningOptions(games=600, seed=1))
    assert evaluation.curve[-1][0] == 600
    solution = solve(game)
    states = decode_keys(solution.space.code, solution.space.keys.reshape(-1, 1))
    predicted = goal_of_states(evaluation.vector(game), states)
    assert np.corrcoef(predicted, solution.value[:, 0])[0, 1] > 0.2


def test_interrupted_learning_keeps_what_was_learned():
    def interrupt(played: int, error: float) -> None:
        if played >= 128:
            raise KeyboardInterrupt

    game = load("tictactoe", "lanes")
    options = LearningOptions(games=10_000, seed=7)
    evaluation = learn_evaluation(game, options, report=interrupt, is_interruptible=True)
    assert evaluation == learn_evaluation(game, options, report=interrupt, is_interruptible=True)
    assert evaluation.was_interrupted
    assert [played for played, _ in evaluation.curve] == [64, 128]
    assert evaluation.weights
    with pytest.raises(KeyboardInterrupt):
        learn_evaluation(game, options, report=interrupt)


def test_learning_refuses_other_games():
    with pytest.raises(AlphaBetaError):
        learn_evaluation(load("dicerace", "lanes"), LearningOptions(games=1))
    with pytest.raises(AlphaBetaError, match="same time"):
        learn_evaluation(load("morra", "lanes"), LearningOptions(games=1))


def test_evaluation_survives_its_file(tmp_path):
    evaluation = LinearEvaluation("g", 0.5, {"(a 1)": -1.25}, ((20, 0.25),))
    evaluation.save(tmp_path / "w.json")
    assert LinearEvaluation.load(tmp_path / "w.json") == evaluation
    for damaged in ("", "[]", '{"format": "other"}'):
        (tmp_path / "w.json").write_text(damaged)
        with pytest.raises(EvaluationFileError):
            LinearEvaluation.load(tmp_path / "w.json")


def test_features_are_learned_beside_the_facts_and_survive_their_file(tmp_path):
    game = load("breakthrough_small", "lanes")
    evaluation = learn_evaluation(game, LearningOptions(games=120, seed=2))
    named = evaluation.features
    assert (named.kind, named.roles, named.episodes) == ("cells", ("white", "black"), 120)
    assert len(named.weights) == 50
    assert sum(each[0] for name, each in named.weights.items() if name.startswith("white")) > 0
    evaluation.save(tmp_path / "w.json")
    assert LinearEvaluation.load(tmp_path / "w.json") == evaluation
    features = recognize_features(game)
    weights = weights_by_name(game, features, named)
    assert name_features(game, features, weights) == named
    other = load("breakthrough_4x4", "lanes")
    assert weights_by_name(other, recognize_features(other), named) is None


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "smells"},
        {"weights": {"white": [1.0]}},
        {"weights": {"white": [float("inf"), 0.0]}},
        {"constant": None},
        {"weights": []},
    ],
)
def test_damaged_features_are_refused(tmp_path, change):
    features = NamedFeatures("pieces", ("a", "b"), {"man": (1.0, -1.0)}, (0.5, -0.5), 7, 0.1)
    path = tmp_path / "w.json"
    LinearEvaluation("g", 0.0, {}, (), features).save(path)
    content = json.loads(path.read_text())
    content["features"].update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(EvaluationFileError):
        LinearEvaluation.load(path)


def test_goal_of_states_is_a_sigmoid_of_the_weights():
    states = np.array([[True, False], [False, True], [False, False]])
    goals = goal_of_states(np.array([2.0, -2.0, 0.0]), states)
    assert goals[0] + goals[1] == pytest.approx(100)
    assert goals[2] == 50
    assert goals[0] > 85


def test_learn_command_writes_weights_and_shows_the_curve(tmp_path, capsys):
    out = tmp_path / "w.json"
    app.main(f"prepare evaluation tictactoe --out {out} --games 40".split(), standalone_mode=False)
    printed = capsys.readouterr().out
    assert "40 games" in printed
    assert "weights written to" in printed
    assert LinearEvaluation.load(out).weights
