"""Teaching: what matches say, how a network is fitted to it, and the loop with its gate."""

import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec

import numpy as np
import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.networks.network import Network
from ggp.search.forest.forest import Forest
from ggp.teaching.generations import Teaching, TeachingOptions
from ggp.teaching.play import Comparison, MatchesAhead, PlayPlan, compare, play_here
from ggp.teaching.samples import Samples, joined_samples
from ggp.teaching.teacher import Teacher, TeacherMissingError
from ggp.tournament.pool import open_workers

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="the extra `learn` is not installed")


@pytest.fixture(scope="module")
def game():
    return load("tictactoe", "lanes")


def played(game, *, seed=1, matches=40, simulations=60, network=None):
    return play_here(game, network, PlayPlan(matches, simulations, seed))


def assert_equal(first, second):
    for one, other in zip(vars(first).values(), vars(second).values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_samples_say_what_the_searches_found(game):
    found = played(game)
    samples = found.samples
    assert 5 * 40 <= found.positions <= 9 * 40
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
        first, second = (played(game, matches=8, network=network).samples for _ in range(2))
        assert_equal(first, second)
    other = played(game, matches=8, seed=2).samples
    assert len(other) != len(second) or (other.states != second.states).any()
    both = joined_samples([first, other, Samples.empty(len(game.terms.fluents), 2)])
    assert len(both) == len(first) + len(other)
    assert_equal(both.newest(len(other)), other)


def test_more_simulations_win_a_comparison(game):
    forests = Forest(game), Forest(game, seed=1)
    found = compare(game, forests, (100, 1), matches=100, seed=3)
    assert len(found.scores) == 50
    assert found.mean - found.error > 0.5
    back = compare(game, forests, (1, 100), matches=100, seed=3)
    assert back.mean + back.error < 0.5
    assert Comparison(np.array([1.0])).error == 0.5
    assert str(Comparison(np.array([1.0, 0.0] * 50))) == "50 ± 10 %"


@pytest.mark.parametrize("name", ["lightsout", "connectfour_3p"])
def test_one_and_three_roles_are_compared_too(name):
    game = load(name, "lanes")
    forests = Forest(game), Forest(game, seed=1)
    found = compare(game, forests, (20, 20), matches=24, seed=3)
    assert found.error > 0
    assert ((found.scores >= 0) & (found.scores <= 1)).all()


def test_without_torch_one_line_says_what_to_install(game, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(TeacherMissingError, match=r"pip install -e '\.\[learn\]'"):
        Teacher(Network.random(game, seed=1), seed=1)


@needs_torch
def test_a_taught_network_predicts_its_samples(game):
    samples = played(game, matches=100).samples
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


@needs_torch
def test_generations_are_compared_and_kept(game):
    now = iter(range(10**6))
    options = TeachingOptions(seconds=20, simulations=20, comparison_matches=8)
    teaching = Teaching(game, options, clock=lambda: float(next(now)))
    seen = list(teaching.run())
    assert seen[0].is_best
    assert seen[0].against_best is None
    assert [each.generation for each in seen] == list(range(1, len(seen) + 1))
    assert teaching.best.generation == max(each.generation for each in seen if each.is_best)
    again = Teaching(game, options, teaching.best, clock=lambda: 0.0)
    (first, *_) = (progress for progress, _ in zip(again.run(), range(1), strict=False))
    assert first.generation == teaching.best.generation + 1
    assert first.against_best is not None


@needs_torch
def test_generations_by_number_are_reproducible(game):
    options = TeachingOptions(generations=3, matches=40, simulations=20, comparison_matches=8, window=600)
    found = [list(Teaching(game, options, clock=lambda: 0.0).run()) for _ in range(2)]
    assert [each.generation for each in found[0]] == [1, 2, 3]
    assert [each.samples for each in found[0]][-1] == 600
    for mine, other in zip(*found, strict=True):
        assert (mine.losses, mine.is_best) == (other.losses, other.is_best)
        assert str(mine.against_playouts) == str(other.against_playouts)


class ThreadPool:
    """A pool of calls in threads of this process, that counts them."""

    def __init__(self, size):
        self._size, self.calls = size, []
        self._threads = ThreadPoolExecutor(size)

    def size(self):
        return self._size

    def submit(self, function, /, *arguments):
        self.calls.append(arguments)
        return self._threads.submit(function, *arguments)


@needs_torch
def test_others_play_while_this_process_learns(game):
    options = TeachingOptions(generations=3, matches=30, simulations=20, comparison_matches=8)
    pool, again = ThreadPool(2), ThreadPool(2)
    teaching, twin = (Teaching(game, options, pool=each, clock=lambda: 0.0) for each in (pool, again))
    seen = list(teaching.run())
    assert [each.generation for each in seen] == [1, 2, 3]
    networks = [network for _, network, _ in pool.calls]
    # Matches are begun before the generation before them is learned from: by playouts twice.
    assert [network is None for network in networks] == [True] * 4 + [False] * 4
    assert len({plan.seed for _, _, plan in pool.calls}) == 8
    assert [each.losses for each in twin.run()] == [each.losses for each in seen]
    assert_equal(teaching.best.network, twin.best.network)


@needs_torch
def test_a_pool_that_fails_ends_teaching(game):

    class Failing(ThreadPool):
        def submit(self, function, /, *arguments):
            return super().submit(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        list(Teaching(game, TeachingOptions(generations=1), pool=Failing(2)).run())


@pytest.mark.slow
def test_processes_play_as_this_one_does(game):
    plan = PlayPlan(20, 20, 5)
    with open_workers(1) as workers:
        ahead = MatchesAhead(game, workers)
        for network in (None, Network.random(game, seed=1)):
            ahead.begin(network, plan)
            assert_equal(ahead.taught(lambda: False).samples, play_here(game, network, plan).samples)


@needs_torch
@pytest.mark.slow
def test_the_command_teaches_and_resumes(tmp_path, monkeypatch):
    monkeypatch.setattr("ggp.cli.prepare.network.REPETITIONS", 0)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    arguments = ["prepare", "network", "tictactoe", "--minutes", "0"]
    first = CliRunner().invoke(app, arguments)
    assert first.exit_code == 0, first.output
    assert "generation 1, " in first.output
    assert len(list(tmp_path.rglob("network.json"))) == 1
    second = CliRunner().invoke(app, arguments)
    assert "continuing from generation 1 (delete" in second.output
    assert "generation 2, " in second.output
