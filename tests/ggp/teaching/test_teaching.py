"""Teaching: what matches say, how a network is fitted to it, and the loop with its gate."""

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.search.forest.guided import GuidedForest
from ggp.search.mcts.options import MctsOptions
from ggp.teaching.generations import Teaching, TeachingOptions
from ggp.teaching.play import Comparison, compare, teaching_samples
from ggp.teaching.samples import Samples, joined_samples
from ggp.teaching.teacher import Teacher, TeacherMissingError


def never(ended):
    return False


@pytest.fixture(scope="module")
def game():
    return load("tictactoe", "lanes")


def played(game, *, seed=1, matches=40, simulations=60, network=None):
    options = MctsOptions(is_solving=True)
    forest = Forest(game, options=options) if network is None else GuidedForest(game, network)
    return teaching_samples(
        game, forest, matches=matches, simulations=simulations, seed=seed, is_stopped=never
    )


def test_samples_say_what_the_searches_found(game):
    samples, positions = played(game)
    assert 5 * 40 <= positions <= 9 * 40
    assert len(samples) > 4 * 40
    assert ((samples.values >= 0) & (samples.values <= 1)).all()
    assert np.allclose(samples.values.sum(axis=1), 1)
    for n in range(len(samples)):
        edges = slice(samples.first[n], samples.first[n + 1])
        assert samples.share[edges].sum() == pytest.approx(1)
        state = game.pack(np.unpackbits(samples.states[n], count=len(game.terms.fluents)).astype(bool))
        (role,) = set(samples.role[edges].tolist())
        legal = game.legal_moves(state, game.roles[role])
        numbers = samples.move[edges] - game.tables.first_move[role]
        assert {game.moves[role][number] for number in numbers} == set(legal)


def test_the_same_seed_plays_the_same_matches(game):
    for network in (None, Network.random(game, seed=1)):
        first, second = (played(game, matches=8, network=network)[0] for _ in range(2))
        assert all((a == b).all() for a, b in zip(vars(first).values(), vars(second).values(), strict=True))
    other = played(game, matches=8, seed=2)[0]
    assert len(other) != len(second) or (other.states != second.states).any()


def test_samples_are_joined_and_chosen(game):
    first, second = played(game, matches=4)[0], played(game, matches=4, seed=2)[0]
    both = joined_samples([first, second, Samples.empty(len(game.terms.fluents), 2)])
    assert len(both) == len(first) + len(second)
    last = both.newest(len(second))
    assert all((a == b).all() for a, b in zip(vars(last).values(), vars(second).values(), strict=True))


def test_more_simulations_win_a_comparison(game):
    forests = Forest(game), Forest(game, seed=1)
    found = compare(game, forests, (100, 1), matches=100, seed=3)
    assert len(found.scores) == 50
    assert found.mean - found.error > 0.5
    back = compare(game, forests, (1, 100), matches=100, seed=3)
    assert back.mean + back.error < 0.5


@pytest.mark.parametrize("name", ["lightsout", "connectfour_3p"])
def test_one_and_three_roles_are_compared_too(name):
    game = load(name, "lanes")
    forests = Forest(game), Forest(game, seed=1)
    found = compare(game, forests, (20, 20), matches=24, seed=3)
    assert found.error > 0
    assert ((found.scores >= 0) & (found.scores <= 1)).all()


def test_a_comparison_knows_how_sure_it_is():
    assert Comparison(np.array([1.0])).error == 0.5
    assert str(Comparison(np.array([1.0, 0.0] * 50))) == "50 ± 10 %"


def test_without_torch_one_line_says_what_to_install(game, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TeacherMissingError, match=r"pip install 'ggp-lanes\[learn\]'"):
        Teacher(Network.random(game, seed=1), seed=1)


def test_a_taught_network_predicts_its_samples(game):
    pytest.importorskip("torch", reason="the extra `learn` is not installed")
    samples, _ = played(game, matches=100)
    teacher = Teacher(Network.random(game, seed=1), seed=1)
    before = teacher.teach(samples, 1)
    for _ in range(20):
        after = teacher.teach(samples, 10)
    assert after[0] < 0.9 * before[0]
    assert after[1] < 0.9 * before[1]
    values, _ = teacher.network().evaluate(
        np.unpackbits(samples.states, axis=1, count=len(game.terms.fluents)).astype(bool)
    )
    assert np.corrcoef(values[:, 0], samples.values[:, 0])[0, 1] > 0.5


def test_generations_are_compared_and_kept(game):
    pytest.importorskip("torch", reason="the extra `learn` is not installed")
    now = iter(range(10**6))
    options = TeachingOptions(
        seconds=20, simulations=20, comparison_matches=8, share_matches=8, share_simulations=20
    )
    teaching = Teaching(game, options, clock=lambda: float(next(now)))
    seen = list(teaching.run())
    assert seen[0].is_best
    assert seen[0].against_best is None
    assert [each.generation for each in seen] == list(range(1, len(seen) + 1))
    assert teaching.best.generation == max(each.generation for each in seen if each.is_best)
    shares = [share for share, _, _ in teaching.find_share()]
    assert shares == [0.5, 1.0, 0.0]
    assert teaching.best.share in shares
    again = Teaching(game, options, teaching.best, clock=lambda: 0.0)
    (first, *_) = (progress for progress, _ in zip(again.run(), range(1), strict=False))
    assert first.generation == teaching.best.generation + 1
    assert first.against_best is not None
