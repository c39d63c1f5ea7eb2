"""Tournaments in the browser: what a request may read of the stores named on the command line."""

import json

import pytest
from click.testing import CliRunner

from ggp.cli.serve import command
from ggp.match.record import MatchRecord
from ggp.tournament.schedule import Schedule
from ggp.tournament.store import Store
from ggp.web import server
from ggp.web.sessions import SessionLimits
from ggp.web.stores import Stores, UnknownStoreError
from tests.ggp.tournament.plans import result_of, small_plan
from tests.ggp.web.test_server import post, with_server


@pytest.fixture
def path(tmp_path):
    """A store with one run, of which two of four matches are played; `a` won both."""
    plan = small_plan(tmp_path, repetitions=2)
    path = tmp_path / "results.sqlite"
    with Store(path) as store:
        run = store.begin(plan)
        for _, task in list(Schedule(plan).tasks())[:2]:
            store.add(run, result_of(task, [100, 0] if task.seats[0] == "a" else [0, 100]))
    return path


def add_rest(path):
    with Store(path) as store:
        run = store.run()
        for _, task in list(Schedule(run.plan).tasks())[2:]:
            store.add(run, result_of(task, [50, 50]))


def test_report_has_tables_and_matches_and_grows_with_the_run(path):
    stores = Stores([path])
    assert stores.sizes() == [{"name": "results.sqlite", "runs": {"small": 2}}]
    report = stores.report(0, "small")
    assert (report["stored"], report["planned"]) == (2, 4)
    assert "100.0" in report["sections"][0]["tables"][0]["rows"][0][1]
    goals = [{seat["agent"]: seat["goal"] for seat in match["seats"]} for match in report["matches"]]
    assert goals == [{"a": 100, "b": 0}] * 2
    add_rest(path)
    assert stores.sizes()[0]["runs"] == {"small": 4}
    assert stores.report(0, "small")["stored"] == 4


@pytest.mark.parametrize(("number", "run"), [(1, "small"), (-1, "small"), (0, "other")])
def test_unknown_store_or_run_is_refused_without_telling_its_folder(path, number, run):
    with pytest.raises(UnknownStoreError) as caught:
        Stores([path]).report(number, run)
    assert str(path.parent) not in str(caught.value)


def test_store_that_is_gone_is_told_and_others_stay(path, tmp_path):
    first, second = Stores([tmp_path / "gone.sqlite", path]).sizes()
    assert "no such file" in first["error"]
    assert second["runs"] == {"small": 2}


def test_requests_read_reports_but_no_other_file(path, tmp_path):
    @with_server(stores=[path])
    async def conversation(client, server):
        report = await client.get("/api/stores/0", params={"run": "small"})
        assert (report.status, (await report.json())["stored"]) == (200, 2)
        for wrong in ("1?run=small", "0?run=none", "-1?run=small", "..%2Fresults.sqlite?run=small"):
            assert (await client.get(f"/api/stores/{wrong}")).status == 404
        for data, status in (
            ({"store": 0, "run": "small", "match": "none"}, 404),
            ({"store": 0, "run": "small", "match": "\ud800"}, 400),
            ({"store": 0, "run": "\ud800", "match": "none"}, 400),
            ({"store": str(path), "run": "small", "match": "none"}, 400),
            ({"store": 0, "run": "small"}, 400),
        ):
            found, reply = await post(client, "/api/matches", data)
            assert found == status
            assert str(tmp_path) not in reply["error"]
        client.session.cookie_jar.clear()
        assert (await client.get("/api/stores")).status == 403

    conversation()


def test_record_has_its_rules(path):
    stores = Stores([path])
    match = stores.report(0, "small")["matches"][0]["id"]
    record = MatchRecord.from_json(stores.record(0, "small", match))
    assert "(role left)" in record.rules


def test_command_refuses_a_file_that_is_no_store(tmp_path):
    path = tmp_path / "notes.json"
    path.write_text(json.dumps([]))
    result = CliRunner().invoke(command, ["--no-open", "--store", str(path)])
    assert result.exit_code == 1
    assert "not a tournament store" in result.output


def test_limits_of_the_command_reach_the_server(monkeypatch):
    given = []

    def refuse(access, limits, stores, kept):
        given.append(limits)
        raise OSError

    monkeypatch.setattr(server, "WebServer", refuse)
    CliRunner().invoke(command, ["--no-open", "--limit", "idle=60,sessions=2"])
    assert given == [SessionLimits(sessions=2, idle_seconds=60)]
