"""The store: matches count once, settings of played matches are fixed, other files are refused."""

import random
import sqlite3
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from ggp.tournament.store import SCHEMA_VERSION, SettingsChangedError, Store, StoreError
from tests.ggp.tournament.plans import ONE_SHOT, result_of, small_plan, tasks_of


def test_a_match_counts_once(store, tmp_path):
    run = store.begin(small_plan(tmp_path))
    task = tasks_of(run.plan)[0]
    assert store.add(run, result_of(task, [100, 0]))
    assert not store.add(run, result_of(task, [0, 100]))
    (match,) = store.matches(run)
    assert [seat.goal for seat in match.seats] == [100, 0]
    assert match.id == task.id


def test_everything_comes_back(store, tmp_path):
    run = store.begin(small_plan(tmp_path))
    tasks = tasks_of(run.plan)[:3]
    added = [
        store.add(run, result_of(task, [50, 50], simulations=7, late=1, fallback="mast")) for task in tasks
    ]
    assert store.matches(run) == sorted(added, key=lambda match: match.id)
    for match, task in zip(added, tasks, strict=True):
        assert (match.id, match.cell_agents) == (task.id, ("a", "b"))
        assert tuple(seat.agent for seat in match.seats) == task.seats
        facts = {(each.simulations, each.late, each.think_seconds, each.fallback) for each in match.seats}
        assert facts == {(7, 1, 0.5, "mast")}
    assert store.record(run, tasks[0].id).rules == ONE_SHOT
    (detail, *_) = store.details(run)
    assert detail["seed"] in {task.seed for task in tasks}
    assert detail["seats"][0]["player"] in {"random", "legal"}


def test_changed_settings_are_refused_once_there_are_matches(store, tmp_path):
    plan = small_plan(tmp_path)
    run = store.begin(plan)
    changed = small_plan(tmp_path, agents={"a": "random", "b": "mcts"})
    store.begin(changed)  # no match was played yet
    run = store.begin(plan)
    store.add(run, result_of(tasks_of(plan)[0], [100, 0]))
    with pytest.raises(SettingsChangedError, match="agent b was 'legal', now is 'mcts'"):
        store.begin(changed)
    again = store.begin(small_plan(tmp_path, repetitions=20))
    assert (again.id, again.plan.conditions[0].repetitions) == (run.id, 20)


def test_what_was_not_played_may_change(store, tmp_path):
    games = {"small": {"rules": str(tmp_path / "small.kif")}, "later": {"rules": str(tmp_path / "small.kif")}}
    agents = {"a": "random", "b": "legal", "c": "random"}
    conditions = {"now": {}, "then": {"simulations": 5}}
    plan = small_plan(tmp_path, games=games, agents=agents, conditions=conditions)
    tasks = [task for task in tasks_of(plan) if (task.condition, task.game) == ("now", "small")]
    task = next(task for task in tasks if "c" not in task.seats)
    store.add(store.begin(plan), result_of(task, [100, 0]))
    changed = small_plan(
        tmp_path,
        games={**games, "later": {**games["later"], "simulations": 5}},
        agents={**agents, "c": "mcts"},
        conditions={"now": {}, "then": {"simulations": 7}},
    )
    assert store.begin(changed).plan.settings() == changed.settings()
    same = {"games": games, "agents": agents, "conditions": conditions}
    for refused in (
        {"games": {**games, "small": {**games["small"], "simulations": 5}}},
        {"agents": {**agents, "a": "mcts"}},
        {"conditions": {**conditions, "now": {"simulations": 5}}},
        {"seed": 7},
    ):
        with pytest.raises(SettingsChangedError):
            store.begin(small_plan(tmp_path, **{**same, **refused}))


def test_a_store_holds_runs_by_name(store, tmp_path):
    plan = small_plan(tmp_path)
    with pytest.raises(StoreError, match="no run"):
        store.run()
    runs = [store.begin(replace(plan, name=name)) for name in ("small", "small-2", "small-3")]
    assert [run.name for run in (*runs, store.run(), store.run("small-2"))] == [
        *("small", "small-2", "small-3", "small-3", "small-2")
    ]
    with pytest.raises(StoreError, match=r"no run 'x'; expected one of small, small-2, small-3"):
        store.run("x")
    with Store(store.path, must_exist=True) as reader:  # sees matches at once
        store.add(runs[0], result_of(tasks_of(plan)[0], [100, 0]))
        assert [reader.match_count(run) for run in runs] == [1, 0, 0]


def test_write_errors_are_reported_and_temporary(store, tmp_path):
    plan = small_plan(tmp_path)
    run = store.begin(plan)
    first, second, third = (result_of(task, [100, 0]) for task in tasks_of(plan)[:3])
    store._link.execute("pragma busy_timeout = 0")
    with sqlite3.connect(store.path, isolation_level=None) as other:
        other.execute("begin immediate")
        for write in (
            lambda: store.add(run, first),
            lambda: store.begin(small_plan(tmp_path, repetitions=9)),
        ):
            with pytest.raises(StoreError, match=r"results\.sqlite: database is locked"):
                write()
        other.execute("rollback")
    assert store.add(run, first)
    store._link.execute("pragma max_page_count = 1")  # the current number
    second = replace(second, record="".join(random.Random(1).choices("abcdefgh", k=100_000)))
    with pytest.raises(StoreError, match=r"results\.sqlite: database or disk is full"):
        store.add(run, second)
    store._link.execute("pragma max_page_count = 1000000")
    store._link.execute("pragma query_only = on")
    with pytest.raises(StoreError, match=r"results\.sqlite: attempt to write a readonly database"):
        store.add(run, third)
    store._link.execute("pragma query_only = off")
    assert store.add(run, second)
    assert store.match_count(run) == 2


def test_other_files_are_refused(tmp_path):
    text = tmp_path / "text"
    text.write_text("no database at all, but long enough to be looked at" * 50)
    with pytest.raises(StoreError, match="not a tournament store"):
        Store(text)
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as link:
        link.execute("create table mine (x)")
    with pytest.raises(StoreError, match="is not a tournament store"):
        Store(other)
    with pytest.raises(FileNotFoundError):
        Store(tmp_path / "missing.sqlite", must_exist=True)
    assert not (tmp_path / "missing.sqlite").exists()


def test_programming_errors_are_not_reported_as_errors_of_the_file(store, tmp_path):
    run = store.begin(small_plan(tmp_path))
    with pytest.raises(sqlite3.IntegrityError):
        store.add(run, result_of(tasks_of(run.plan)[0], [100, 0], late=None))


@pytest.mark.parametrize("difference", [-1, 1])
def test_a_store_of_another_schema_is_refused(store, difference):
    with sqlite3.connect(store.path) as link:
        link.execute(f"pragma user_version = {SCHEMA_VERSION + difference}")
    with pytest.raises(StoreError, match=r"written by another version .* reads only schema"):
        Store(store.path)


def test_comments_and_layout_of_rules_may_change(store, tmp_path):
    plan = small_plan(tmp_path)
    task = tasks_of(plan)[0]
    store.add(store.begin(plan), result_of(task, [100, 0]))
    reformatted = "; the same\n" + ONE_SHOT.replace(" (role right)", "\n(ROLE right)")
    store.begin(small_plan(tmp_path, rules=reformatted))
    with pytest.raises(SettingsChangedError, match="game small was"):
        store.begin(small_plan(tmp_path, rules=ONE_SHOT.replace("(goal ?r 50)", "(goal ?r 40)")))


@pytest.mark.parametrize(("known", "later"), [('"seed"', '"seeds"'), ('"repetitions"', '"rounds"')])
def test_plans_of_a_later_version_are_refused(store, tmp_path, known, later):
    plan = small_plan(tmp_path)
    store.begin(plan)
    with sqlite3.connect(store.path) as link:
        link.execute("update run set plan = replace(plan, ?, ?)", (known, later))
    for use in (store.run, lambda: store.begin(plan)):
        with pytest.raises(StoreError, match=r"run 'small' has settings unknown .* a later one"):
            use()
    other = store.begin(replace(plan, name="small-2"))
    assert store.run("small-2").plan == other.plan
    assert store.run_sizes() == {"small": 0, "small-2": 0}


def test_several_threads_may_create_the_file_at_once(tmp_path):
    def open_it(number):
        with Store(tmp_path / "results.sqlite") as store:
            return store.run_names()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(open_it, range(16))) == [[]] * 16


BROKEN = [b"", b"text", zlib.compress(b"[]"), zlib.compress(b"{}")[:-3], "text"]
BROKEN_LINEUPS = ["", "3", "[1]", "[" * 100_000]


@pytest.mark.parametrize(
    ("column", "content"),
    [*(("record", content) for content in BROKEN), *(("lineup", text) for text in BROKEN_LINEUPS)],
)
def test_broken_columns_are_errors_of_the_file(store, tmp_path, column, content):
    run = store.begin(small_plan(tmp_path))
    task = tasks_of(run.plan)[0]
    store.add(run, result_of(task, [100, 0]))
    name = {"lineup": "cell_agents"}.get(column, column)
    store._link.execute(f"update match set {name} = ?", (content,))
    reads = {
        "record": [lambda: store.record(run, task.id)],
        "lineup": [lambda: store.matches(run), lambda: list(store.details(run))],
    }
    for read in reads[column]:
        with pytest.raises(StoreError, match=f"broken {column}"):
            read()
