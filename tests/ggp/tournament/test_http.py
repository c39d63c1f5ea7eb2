"""Tournaments with HTTP players: no match without them, and none is left in a match."""

import asyncio
from concurrent.futures import Future
from dataclasses import replace

import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from ggp.match.faults import Late
from ggp.protocol.messages import Abort, Play, Start, Stop
from ggp.tournament import play as play_module
from ggp.tournament.play import UnplayableError, play_task
from ggp.tournament.pool import ProcessWorkers
from ggp.tournament.runner import Runner
from ggp.tournament.store import Store
from tests.ggp.tournament.plans import small_plan, tasks_of
from tests.ggp.tournament.test_runner import Inline
from tests.ggp.wire import answering, scripted_player_in_thread


def task_with(tmp_path, **agents):
    agents = {name: f"http://{spec}" if ":" in spec else spec for name, spec in agents.items()}
    return tasks_of(small_plan(tmp_path, agents=agents))[0]


async def busy(message):
    return "busy"


def test_a_match_over_http_is_played_with_unknown_policy(tmp_path):
    with scripted_player_in_thread(answering("2")) as (address, heard):
        result = play_task(task_with(tmp_path, far=address, b="legal"))
    assert [type(message) for message in heard] == [Start, Play, Stop]
    found = [(seat.agent, seat.goal, seat.fallback) for seat in result.seats]
    assert found == [("far", 100, None), ("b", 0, "")]
    assert [seat.late + seat.illegal + seat.lost for seat in result.seats] == [0, 0]


def test_a_player_that_refuses_start_gets_no_match(tmp_path):
    words = r"did not start: .* answers START with 'busy'"
    with (
        scripted_player_in_thread(busy) as (address, heard),
        pytest.raises(UnplayableError, match=words) as caught,
    ):
        play_task(task_with(tmp_path, far=address, b="legal"))
    assert [type(message) for message in heard] == [Start, Abort]
    assert (caught.value.agent, caught.value.is_gone) == ("far", False)


def test_starting_players_are_aborted_once_they_have_started(tmp_path):
    """ABORT uses another connection: before the reply to START it might be read first."""
    order = []

    async def slow(message):
        order.append(type(message).__name__)
        if isinstance(message, Start):
            for _ in range(50):
                await asyncio.sleep(0.01)
                if "Abort" in order:
                    break
            order.append("ready")
            return "ready"
        return "aborted"

    with scripted_player_in_thread(busy) as (other, _), scripted_player_in_thread(slow) as (address, _):
        task = task_with(tmp_path, b=other, far=address)
        assert task.seats == ("b", "far")
        with pytest.raises(UnplayableError) as caught:
            play_task(task)
    assert caught.value.agent == "b"
    assert order == ["Start", "ready", "Abort"]


def test_error_messages_come_back_from_a_worker(tmp_path):
    task = task_with(tmp_path, far="127.0.0.1:1", b="legal")
    play_module.abort_tasks([task])  # raises nothing
    with ProcessWorkers(1) as workers:
        error = workers.submit(play_task, task).exception(60)
    assert isinstance(error, UnplayableError)
    assert (error.agent, error.is_gone) == ("far", True)
    assert str(error).startswith("127.0.0.1:1 did not start: ")
    assert "\n" not in str(error)


def test_a_tournament_against_an_unreachable_player_stores_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_plan(tmp_path)
    agents = ["--agents", "http://127.0.0.1:1", "legal"]
    options = ["--repetitions", "2", "--set", "engine=reasoner", "--workers", "1"]
    result = CliRunner().invoke(app, ["tournament", "--game", "small.kif", *agents, *options])
    assert result.exit_code == 1
    assert "127.0.0.1:1 did not start: " in result.output
    assert "4 matches could not be played" in result.output
    with Store(tmp_path / "tournament.sqlite") as store:
        assert store.match_count(store.run()) == 0


def test_faults_at_start_do_not_count_as_faults_of_moves(tmp_path, monkeypatch):
    def late_at_start(*arguments, **settings):
        record = play_match(*arguments, **settings)
        record.steps[0] = replace(record.steps[0], faults=(Late(), None))
        return record

    play_match = play_module.play_match
    monkeypatch.setattr(play_module, "play_match", late_at_start)
    result = play_task(tasks_of(small_plan(tmp_path))[0])
    assert [seat.late for seat in result.seats] == [0, 0]
    assert result.fault == "left was late at START"


class Unfinished(Inline):
    """One worker that never finishes; the second call of `size` is interrupted."""

    looks = 0

    def size(self):
        self.looks += 1
        if self.looks > 1:
            raise KeyboardInterrupt
        return 1

    def submit(self, function, task):
        return Future()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.looks = -1


def test_players_of_interrupted_matches_are_aborted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_plan(tmp_path)
    workers = Unfinished()

    async def script(message):
        assert workers.looks == -1, "while workers might still ask it something"
        return "aborted"

    monkeypatch.setattr("ggp.cli.tournament.open_workers", lambda text: workers)
    with scripted_player_in_thread(script) as (address, heard):
        agents = ["--agents", f"http://{address}", "legal"]
        result = CliRunner().invoke(
            app, ["tournament", "--game", "small.kif", *agents, "--set", "engine=reasoner"]
        )
    assert result.exit_code == 130
    (message,) = heard
    assert isinstance(message, Abort)
    assert message.match_id.startswith("small.")


def test_a_run_refused_by_a_player_can_be_resumed(store, tmp_path):
    is_busy = True
    ready = answering("2")

    async def script(message):
        return "busy" if is_busy else await ready(message)

    with scripted_player_in_thread(script) as (address, _):
        plan = small_plan(tmp_path, agents={"far": f"http://{address}", "b": "legal"}, repetitions=2)
        run = store.begin(plan)
        progress = Runner(store, run, Inline()).play()
        assert (progress.stored, len(progress.failures)) == (0, 4)
        is_busy = False
        progress = Runner(store, run, Inline()).play()
        assert (progress.stored, progress.failures) == (4, {})
