"""Runs: every match is played once; killed workers and killed runs lose no finished match."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from ggp.tournament import runner as runner_module
from ggp.tournament.plan import Until
from ggp.tournament.play import UnplayableError, play_task, wire_id
from ggp.tournament.pool import ProcessWorkers, WorkersError
from ggp.tournament.report import make_report, markdown
from ggp.tournament.runner import Runner
from ggp.tournament.schedule import Schedule
from ggp.tournament.stopping import Stopping, decide
from ggp.tournament.store import Store
from tests.ggp.tournament.plans import ALONE, TRIO, result_of, small_plan


class Inline:
    """Workers that execute calls immediately in this process; `script` replaces playing."""

    def __init__(self, script=None, size=2):
        self.script, self._size, self.tasks = script, size, []

    def size(self):
        return self._size

    def submit(self, function, task):
        self.tasks.append(task)
        future = Future()
        try:
            future.set_result(self.script(task) if self.script else function(task))
        except Exception as error:
            future.set_exception(error)
        return future


@pytest.fixture
def store(tmp_path):
    with Store(tmp_path / "results.sqlite") as opened:
        yield opened


def first_agent_wins(task):
    return result_of(task, [100 if seat == "a" else 0 for seat in task.seats])


def test_a_run_plays_every_match_once(store, tmp_path):
    run = store.begin(small_plan(tmp_path))
    progress = Runner(store, run, Inline()).play()
    assert (progress.new, progress.stored, progress.left) == (6, 6, 0)
    again = Inline()
    assert Runner(store, run, again).play().new == 0
    assert again.tasks == []


def test_a_part_of_a_run_is_played_and_then_the_rest(store, tmp_path):
    plan = small_plan(tmp_path, agents={"a": "random", "b": "legal", "c": "random"})
    run = store.begin(plan)
    part = Runner(store, run, Inline(first_agent_wins), only=["c"]).play()
    assert (part.new, part.stored, part.total, part.left) == (12, 12, 12, 0)
    rest = Runner(store, run, Inline(first_agent_wins)).play()
    assert (rest.new, rest.stored, rest.total, rest.left) == (6, 18, 18, 0)


@pytest.mark.slow
def test_matches_are_reproducible(tmp_path):
    tasks = [task for _, task in Schedule(small_plan(tmp_path, agents={"a": "random", "b": "mcts"})).tasks()]
    tasks = [task for task in tasks if task.seats[0] == "a"]
    first, second = play_task(tasks[0]), play_task(tasks[0])
    moves = [result.record.partition('"moves":')[2].partition("]]")[0] for result in (first, second)]
    assert moves[0] == moves[1]
    assert [seat.goal for seat in first.seats] == [seat.goal for seat in second.seats]


def test_counted_simulations_are_stored(store, tmp_path):
    plan = small_plan(tmp_path, agents={"a": "mcts:simulations=20", "b": "random"}, repetitions=1)
    run = store.begin(plan)
    Runner(store, run, Inline()).play()
    counts = {seat.agent: seat.simulations for match in store.matches(run) for seat in match.seats}
    assert counts == {"a": 20, "b": None}


def test_fallback_policies_are_stored(store, tmp_path):
    fast = "mcts:policy=rave+fast,simulations=20"  # needs a board and a compiled game
    run = store.begin(small_plan(tmp_path, agents={"a": fast, "b": "mcts:simulations=20"}, repetitions=1))
    Runner(store, run, Inline()).play()
    seats = [seat for match in store.matches(run) for seat in match.seats]
    assert [seat.fallback for seat in seats if seat.agent == "a"] == ["rave+mast"] * 2
    assert [seat.fallback for seat in seats if seat.agent == "b"] == [""] * 2


@pytest.mark.parametrize(("rules", "count"), [(ALONE, 6), (TRIO, 18)])
def test_games_for_one_and_for_three(store, tmp_path, rules, count):
    run = store.begin(small_plan(tmp_path, rules=rules))
    assert Runner(store, run, Inline()).play().stored == count
    results = make_report(store, run).results
    assert results.pairs["default", "small", "a", "b"].count == (3 if rules is ALONE else 18)


def test_an_unplayable_match_remains_open(store, tmp_path):
    run = store.begin(small_plan(tmp_path))

    def script(task):
        if task.repetition == 1:
            raise OSError("out of disk")
        return first_agent_wins(task)

    progress = Runner(store, run, Inline(script)).play()
    assert (progress.stored, len(progress.failures)) == (4, 2)
    assert "out of disk" in next(iter(progress.failures.values()))
    assert Runner(store, run, Inline(first_agent_wins)).play().stored == 6


def test_a_run_gives_up_if_every_match_fails(store, tmp_path):
    run = store.begin(small_plan(tmp_path, repetitions=100))

    def script(task):
        raise OSError("never")

    workers = Inline(script)
    progress = Runner(store, run, workers).play()
    assert progress.stored == 0
    assert len(workers.tasks) <= runner_module.FAILURE_LIMIT + workers.size()


def test_lost_workers_end_the_run(store, tmp_path):
    class Gone(Inline):
        def submit(self, function, task):
            future = super().submit(function, task)
            if len(self.tasks) > 2:
                future = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
            return future

    run = store.begin(small_plan(tmp_path))
    with pytest.raises(WorkersError, match="the workers are gone"):
        Runner(store, run, Gone(first_agent_wins)).play()
    assert store.match_count(run) == 2


def test_one_unplayable_game_costs_only_its_matches(store, tmp_path):
    games = {name: {"rules": str(tmp_path / "small.kif")} for name in ("bad", "good")}
    plan = small_plan(tmp_path, games=games, repetitions=50)

    def script(task):
        if task.game == "bad":
            raise UnplayableError("out of memory")
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert progress.stored == 100
    ((obstacle, not_tried),) = progress.given_up.items()
    assert (str(obstacle), len(progress.failures) + not_tried) == ("bad", 100)
    assert len(progress.failures) == progress.obstacles[obstacle]
    limit = runner_module.FAILURE_LIMIT
    assert limit <= len(progress.failures) < limit + 2


@pytest.mark.parametrize(("is_gone", "name"), [(True, "c"), (False, "c in small")])
def test_an_agent_that_does_not_start_costs_only_its_matches(store, tmp_path, is_gone, name):
    agents = {"a": "random", "b": "legal", "c": "legal"}
    games = {name: {"rules": str(tmp_path / "small.kif")} for name in ("small", "other")}
    plan = small_plan(tmp_path, agents=agents, games=games, repetitions=50)

    def script(task):
        if "c" in task.seats and (task.game == "small" or is_gone):
            raise UnplayableError("c did not start", "c", is_gone)
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert [str(obstacle) for obstacle in progress.given_up] == [name]
    assert progress.stored == (200 if is_gone else 400)


def test_matches_that_crash_cost_only_their_cell(store, tmp_path):
    plan = small_plan(tmp_path, agents={"a": "random", "b": "legal", "c": "random"}, repetitions=50)

    def script(task):
        if set(task.seats) == {"b", "c"}:
            raise RuntimeError("out of memory")
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert [str(obstacle) for obstacle in progress.given_up] == ["b and c in small"]
    assert progress.stored == 200


def test_occasional_failures_do_not_end_a_run(store, tmp_path):
    plan = small_plan(tmp_path, repetitions=500)

    def script(task):
        if task.repetition % 10 == 0:
            raise UnplayableError("b was late at START", "b")
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert (progress.stored, len(progress.failures), progress.given_up) == (900, 100, {})


def test_only_http_players_see_which_process_plays_a_run(tmp_path):
    agents = {"a": "random", "b": "legal", "far": "http://localhost:1"}
    plan = small_plan(tmp_path, agents=agents)
    for (_, first), (_, second) in zip(
        Schedule(plan, token="x").tasks(), Schedule(plan, token="y").tasks(), strict=True
    ):
        assert (first.id, first.seed) == (second.id, second.seed)
        assert (wire_id(first) == wire_id(second)) == ("far" not in first.seats)


def test_a_decided_cell_is_played_no_further(store, tmp_path):
    plan = small_plan(tmp_path, repetitions=500, until={"rule": "sprt"})
    run = store.begin(plan)
    progress = Runner(store, run, Inline(first_agent_wins)).play()
    assert plan.until == Until("sprt")
    assert 16 <= progress.stored < 200
    assert progress.stored + progress.saved == progress.total == 1000
    again = Inline()
    Runner(store, run, again).play()
    assert again.tasks == []
    assert "30 Elo better" in make_report(store, run).decisions["default", "small", ("a", "b")].verdict


@pytest.mark.parametrize("change", [{"agents": {"b": "legal", "a": "random"}}, {"against": ["a"]}])
def test_the_order_of_agents_may_change(store, tmp_path, change):
    settings = {"repetitions": 20, "until": {"rule": "sprt"}}
    Runner(store, store.begin(small_plan(tmp_path, **settings)), Inline(first_agent_wins)).play()
    run = store.begin(small_plan(tmp_path, **settings, **change))
    again = Inline()
    progress = Runner(store, run, again).play()
    assert again.tasks == []
    assert (progress.stored + progress.saved, progress.left) == (40, 0)
    assert "| b vs a | at most 0 Elo better |" in markdown(make_report(store, run))


def wins_at_first_only(task):
    """Goals for which the SPRT decides after some repetitions, but would not at the end."""
    wins = task.repetition < 10 or task.repetition % 3 == 0
    return result_of(task, [100 if (seat == "a") == wins else 0 for seat in task.seats])


@pytest.mark.parametrize("repetitions", [40, 12])  # a decision holds regardless of later matches
@pytest.mark.parametrize("seed", range(4))
def test_a_decision_depends_on_the_set_of_matches_alone(store, tmp_path, seed, repetitions):
    plan = small_plan(tmp_path, repetitions=repetitions, until={"rule": "sprt", "elo1": 200})
    tasks = [task for _, task in Schedule(plan).tasks()]
    random.Random(seed).shuffle(tasks)
    run = store.begin(plan)
    stopping = Stopping(Schedule(plan))
    for task in tasks:
        store.add(run, wins_at_first_only(task))
        stopping.add(next(match for match in store.matches(run) if match.id == task.id))
    (decision,) = stopping.decisions.values()
    assert decision.is_final
    assert decision == decide(plan.until, [1.0] * 8, 2)
    assert make_report(store, run).decisions == stopping.decisions


def test_an_http_player_plays_one_match_at_a_time(store, tmp_path):
    agents = {"far": "http://localhost:1", "a": "random", "b": "legal"}
    run = store.begin(small_plan(tmp_path, agents=agents))
    playing, most = set(), []

    class Slow(Inline):
        def submit(self, function, task):
            future = Future()
            playing.add((future, task))
            self.tasks.append(task)
            return future

    workers = Slow(size=6)

    def listen(progress):
        most.append(sum("far" in task.seats for _, task in playing))
        for future, task in list(playing):
            playing.discard((future, task))
            future.set_result(first_agent_wins(task))

    assert Runner(store, run, workers, listen).play().stored == 18
    assert max(most) == 1


@pytest.mark.slow
def test_killed_workers_cost_only_their_matches(store, tmp_path):
    agents = {"a": "mcts:simulations=4000", "b": "random"}
    run = store.begin(small_plan(tmp_path, agents=agents, repetitions=4))
    killed = []
    with ProcessWorkers(2) as workers:

        def listen(progress):
            if progress.stored >= 2 * (len(killed) + 1) and len(killed) < 2 and workers.process_ids:
                victim = next(pid for pid in workers.process_ids if pid not in killed)
                killed.append(victim)
                os.kill(victim, signal.SIGKILL)

        progress = Runner(store, run, workers, listen).play()
    assert len(killed) == 2
    assert (progress.stored, progress.new, progress.failures) == (8, 8, {})
    assert len({match.id for match in store.matches(run)}) == 8


@pytest.mark.slow
def test_a_killed_run_can_be_resumed(tmp_path):
    place = tmp_path / "results.sqlite"
    sheet = tmp_path / "small.kif"
    small_plan(tmp_path)
    command = [sys.executable, "-m", "ggp", "tournament"]
    play = ["--game", str(sheet), "--agents", "mcts:simulations=3000", "random", "--repetitions", "5"]
    options = ["--set", "engine=reasoner", "--store", str(place), "--workers", "2"]
    process = subprocess.Popen([*command, *play, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        before = {}
        deadline = time.monotonic() + 60
        while len(before) < 3 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.1)
            if place.is_file():
                with Store(place) as store:
                    before = {
                        m.id: m.stored_ms
                        for run in map(store.run, store.run_names())
                        for m in store.matches(run)
                    }
    finally:
        process.kill()
        process.communicate()
    assert 3 <= len(before) < 10, "killed too early or too late"
    done = subprocess.run(
        [*command, "run", str(place)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    with Store(place) as store:
        after = {match.id: match.stored_ms for match in store.matches(store.run())}
    assert len(after) == 10
    assert before.items() <= after.items()
