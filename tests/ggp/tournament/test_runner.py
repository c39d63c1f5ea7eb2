"""Runs: every match is played once; killed workers and killed runs lose no finished match."""

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import Future

import pytest

from ggp.tournament.plan import Until
from ggp.tournament.play import UnplayableError, play_task, wire_id
from ggp.tournament.pool import ProcessWorkers
from ggp.tournament.report import make_report
from ggp.tournament.runner import FAILURE_LIMIT, Runner
from ggp.tournament.schedule import Schedule
from ggp.tournament.stopping import Stopping, decide
from ggp.tournament.store import Store
from ggp.tournament.tables import decisions
from tests.ggp.tournament.plans import ALONE, TRIO, result_of, small_plan, tasks_of


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
    task = tasks_of(small_plan(tmp_path, agents={"a": "random", "b": "mcts"}))[0]
    first, second = play_task(task), play_task(task)
    moves = [result.record.partition('"moves":')[2].partition("]]")[0] for result in (first, second)]
    assert moves[0] == moves[1]
    assert [seat.goal for seat in first.seats] == [seat.goal for seat in second.seats]


def test_simulations_and_fallback_policies_are_stored(store, tmp_path):
    fast = "mcts:policy=rave+fast,simulations=20"  # needs a board and a compiled game
    run = store.begin(small_plan(tmp_path, agents={"a": fast, "b": "random"}, repetitions=1))
    Runner(store, run, Inline()).play()
    found = {(seat.agent, seat.simulations, seat.fallback) for m in store.matches(run) for seat in m.seats}
    assert found == {("a", 20, "rave+mast"), ("b", None, "")}


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


@pytest.mark.parametrize(
    ("agents", "game", "error", "name", "stored"),
    [
        ("", "other", UnplayableError("out of memory"), "other", 300),
        ("c", "", UnplayableError("c did not start", "c", True), "c", 200),
        ("c", "small", UnplayableError("c did not start", "c", False), "c in small", 400),
        ("bc", "small", RuntimeError("crashed"), "b and c in small", 500),
    ],
)
def test_an_obstacle_costs_only_its_matches(store, tmp_path, agents, game, error, name, stored):
    games = {each: {"rules": str(tmp_path / "small.kif")} for each in ("small", "other")}
    three = {"a": "random", "b": "legal", "c": "legal"}
    plan = small_plan(tmp_path, agents=three, games=games, repetitions=50)

    def script(task):
        if set(agents) <= set(task.seats) and game in ("", task.game):
            raise error
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert progress.stored == stored
    ((obstacle, not_tried),) = progress.given_up.items()
    assert (str(obstacle), len(progress.failures) + not_tried) == (name, 600 - stored)
    assert len(progress.failures) == progress.obstacles[obstacle]
    assert FAILURE_LIMIT <= len(progress.failures) < FAILURE_LIMIT + 2


def test_occasional_failures_do_not_end_a_run(store, tmp_path):
    plan = small_plan(tmp_path, repetitions=500)

    def script(task):
        if task.repetition % 10 == 0:
            raise UnplayableError("b was late at START", "b")
        return first_agent_wins(task)

    progress = Runner(store, store.begin(plan), Inline(script)).play()
    assert (progress.stored, len(progress.failures), progress.given_up) == (900, 100, {})


def test_only_http_players_see_which_process_plays_a_run(tmp_path):
    plan = small_plan(tmp_path, agents={"a": "random", "b": "legal", "far": "http://localhost:1"})
    runs = (Schedule(plan, token=token).tasks() for token in "xy")
    for (_, first), (_, second) in zip(*runs, strict=True):
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
    (row,) = decisions(run.plan, make_report(store, run).decisions).rows
    assert row[2:] == ("b vs a", "at most 0 Elo better")


def wins_at_first_only(task):
    """Goals for which the SPRT decides after some repetitions, but would not at the end."""
    wins = task.repetition < 10 or task.repetition % 3 == 0
    return result_of(task, [100 if (seat == "a") == wins else 0 for seat in task.seats])


@pytest.mark.parametrize("repetitions", [40, 12])  # a decision holds regardless of later matches
@pytest.mark.parametrize("seed", range(4))
def test_a_decision_depends_on_the_set_of_matches_alone(store, tmp_path, seed, repetitions):
    plan = small_plan(tmp_path, repetitions=repetitions, until={"rule": "sprt", "elo1": 200})
    tasks = tasks_of(plan)
    random.Random(seed).shuffle(tasks)
    run = store.begin(plan)
    stopping = Stopping(Schedule(plan))
    for task in tasks:
        stopping.add(store.add(run, wins_at_first_only(task)))
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
