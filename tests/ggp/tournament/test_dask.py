"""Runs on a Dask cluster, here with two processes on this machine."""

import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from ggp.engines.loading import load
from ggp.teaching.play import MatchesAhead, PlayPlan, play_here
from ggp.tournament.pool import WorkersError, open_workers
from ggp.tournament.runner import Runner
from ggp.tournament.store import Store
from tests.ggp.tournament.plans import small_plan
from tests.ggp.tournament.worker_calls import add, fail, slow_process_id

pytestmark = pytest.mark.slow  # processes

distributed = pytest.importorskip("distributed", reason="Dask workers need the extra `distributed`")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as running:
        yield running


def address(cluster):
    return cluster.scheduler_address.replace("tcp://", "dask://")


def test_calls_return_and_raise(cluster):
    with open_workers(address(cluster)) as workers:
        assert workers.size() == 2
        assert workers.submit(add, 2, 3).result(30) == 5
        with pytest.raises(ValueError, match="no good"):
            workers.submit(fail, "no good").result(30)


def test_a_killed_worker_costs_only_its_match(cluster, tmp_path):
    agents = {"a": "mcts:simulations=3000", "b": "random"}
    with Store(tmp_path / "results.sqlite") as store, open_workers(address(cluster)) as workers:
        run = store.begin(small_plan(tmp_path, agents=agents, repetitions=4))
        killed = []

        def listen(progress):
            if progress.stored >= 2 and not killed:
                info = workers.submit(os.getpid).result(30)
                killed.append(info)
                os.kill(info, signal.SIGKILL)

        progress = Runner(store, run, workers, listen).play()
    assert len(killed) == 1
    assert (progress.stored, progress.failures) == (8, {})


def test_a_scheduler_that_dies_ends_the_run(tmp_path):
    one = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": ":0", "host": "127.0.0.1"}
    with Store(tmp_path / "results.sqlite") as store, distributed.LocalCluster(**one) as dying:
        run = store.begin(small_plan(tmp_path, agents={"a": "mcts:simulations=3000", "b": "random"}))
        with open_workers(address(dying)) as workers, pytest.raises(WorkersError, match="gone"):
            Runner(store, run, workers, lambda progress: dying.close()).play()


def test_closing_workers_without_a_scheduler_raises_nothing(cluster):
    with open_workers(address(cluster)) as workers:
        workers.submit(slow_process_id, 1)
        workers._client.close()  # as it does itself after some time
    assert workers._client.status == "closed"


def test_matches_that_teach_are_played_on_a_cluster(cluster):
    game = load("tictactoe", "lanes")
    plan = PlayPlan(20, 20, 5)
    with open_workers(address(cluster)) as workers:
        ahead = MatchesAhead(game, workers)
        ahead.begin(None, plan)
        found = ahead.taught(lambda: False)
    here = [play_here(game, None, replace(plan, seed=seed)) for seed in (5, 6)]
    assert (found.samples.states == np.concatenate([each.samples.states for each in here])).all()


def test_a_missing_scheduler_is_an_error(monkeypatch):
    monkeypatch.setattr("ggp.tournament.pool.CONNECT_SECONDS", 0.5)
    with pytest.raises(WorkersError, match="no Dask scheduler"):
        open_workers("dask://127.0.0.1:9")
