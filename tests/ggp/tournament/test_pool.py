"""Worker processes: results and errors come back, and a killed worker loses nothing."""

import os
import signal
import threading
from concurrent.futures import wait

import click
import pytest

from ggp.cli.options import Count
from ggp.tournament.pool import BLAS_THREADS, MAX_PROCESSES, ProcessWorkers, WorkerDiedError, open_workers
from tests.ggp.tournament.worker_calls import add, die, fail, slow_process_id, variables


def test_calls_return_and_raise():
    with ProcessWorkers(1) as workers:
        assert workers.submit(add, 2, 3).result(30) == 5
        with pytest.raises(RuntimeError, match="no good"):
            workers.submit(fail, "no good").result(30)
        with pytest.raises(AttributeError):
            workers.submit(lambda: 1).result(30)  # cannot be pickled
        assert workers.submit(add, 2, 4).result(30) == 6


def test_a_worker_uses_one_blas_thread_by_default(monkeypatch):
    for name in BLAS_THREADS:
        monkeypatch.delenv(name, raising=False)
    with ProcessWorkers(1) as workers:
        assert BLAS_THREADS.items() <= workers.submit(variables).result(30).items()
    assert not BLAS_THREADS.keys() & os.environ.keys()
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    with ProcessWorkers(1) as workers:
        assert workers.submit(variables).result(30)["OPENBLAS_NUM_THREADS"] == "3"


def test_a_call_whose_worker_died_is_repeated(tmp_path):
    with ProcessWorkers(2) as workers:
        others = [workers.submit(add, n, n) for n in range(10)]
        assert workers.submit(die, str(tmp_path), 1).result(30) == 2
        assert [future.result(30) for future in others] == [2 * n for n in range(10)]


def test_a_call_that_always_kills_its_worker_fails(tmp_path):
    with ProcessWorkers(1, attempts=2) as workers:
        with pytest.raises(WorkerDiedError, match="2 times"):
            workers.submit(die, str(tmp_path), 99).result(30)
        assert len(list(tmp_path.iterdir())) == 2
        assert workers.submit(add, 1, 1).result(30) == 2


def test_killing_a_worker_from_outside_loses_nothing():
    with ProcessWorkers(2) as workers:
        futures = [workers.submit(slow_process_id, 0.5) for _ in range(4)]
        while len(workers.process_ids) < 2:
            wait(futures, timeout=0.05)
        victim = workers.process_ids[0]
        os.kill(victim, signal.SIGKILL)
        used = {future.result(30) for future in futures}
        assert victim not in used
        assert len(used) == 2


def test_leaving_drops_calls_and_ends_processes():
    with ProcessWorkers(1) as workers:
        futures = [workers.submit(slow_process_id, 60) for _ in range(3)]
        while not workers.process_ids:
            wait(futures, timeout=0.05)
        process = workers.process_ids[0]
    done = wait(futures, timeout=10).done
    assert len(done) == 3
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


def test_no_more_processes_than_calls_are_started():
    before = threading.active_count()
    with ProcessWorkers(300) as workers:
        futures = [workers.submit(add, n, 1) for n in range(2)]
        assert [future.result(30) for future in futures] == [1, 2]
        assert len(workers.process_ids) <= 2
        assert threading.active_count() <= before + 2 * 3  # each with a supervisor and the threads of a child


WORKERS = Count(1, MAX_PROCESSES)


@pytest.mark.parametrize("text", ["0", "-1", "many", "dask:/x", "²", "513", "9" * 5000])
def test_workers_are_given_by_number(text):
    with pytest.raises(click.BadParameter):
        WORKERS.convert(text, None, None)
    assert open_workers(WORKERS.convert("3", None, None)).size() == 3
    assert open_workers(None).size() >= 1
