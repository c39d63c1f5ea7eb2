"""Reports: correct numbers in every format, also for very many matches."""

import csv
import io
import json
import time

import pytest
from rich.console import Console

from ggp.tournament import tables
from ggp.tournament.report import make_report, progress_text, rich_table, terminal_view
from ggp.tournament.results import collect, pair_scores
from ggp.tournament.runner import Progress
from ggp.tournament.store import write_csv, write_json_lines
from ggp.tournament.tables import Table
from tests.ggp.tournament.plans import ALONE, TRIO, result_of, small_plan, tasks_of


def report_of(store, plan, goals_of, facts_of=lambda task: {}):
    """The report of a run with a result for every match: its goals, and other facts (see `result_of`)."""
    run = store.begin(plan)
    store._link.execute("pragma synchronous = off")
    for task in tasks_of(plan):
        store.add(run, result_of(task, goals_of(task), **facts_of(task)))
    return make_report(store, store.run(run.name))


def first_wins(task):
    return [100, 0]


def a_wins_as_first(task):
    return [100, 0] if task.seats[0] == "a" else [50, 50]


def text_of(view, width=160):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(view)
    return console.export_text()


def printed(report):
    """The report in a wide terminal, with single blanks."""
    return "\n".join(" ".join(line.split()) for line in text_of(terminal_view(report)).splitlines())


def test_scores_goals_and_speed_add_up(store, tmp_path):
    plan = small_plan(tmp_path, repetitions=10)
    report = report_of(store, plan, a_wins_as_first, lambda task: {"simulations": 100})
    results = report.results
    score = results.pairs["default", "small", "a", "b"]
    assert (score.wins, score.draws, score.losses, score.points) == (10, 10, 0, 15)
    totals = results.agents["default", "small", "a"]
    assert (totals.mean_goal[0], totals.simulations_per_second, totals.faults) == (75, 200, 0)
    assert report.summary().endswith("0 aborted matches")
    text = printed(report)
    assert "Fallback policies" not in text
    assert "75.0 [53.1, 88.8] 20" in text
    assert "20 of 20 matches; 0 faults" in text
    assert "15 of 20" in text
    matches = store.matches(report.run)
    assert collect(plan, reversed(matches)).pairs == results.pairs


def test_crosstable_shows_every_pair_from_both_sides(store, tmp_path):
    plan = small_plan(tmp_path, agents={"a": "random", "b": "legal", "c": "legal"}, repetitions=1)
    table = tables.brief_crosstable(report_of(store, plan, a_wins_as_first).results, "default")
    assert table.header == ("", "win rate %", "1", "2", "3")
    cells = {row[1]: list(row[2:]) for row in table.rows}
    assert cells == {"a": ["", "75", "75"], "b": ["25", "", "50"], "c": ["25", "50", ""]}


def many_agents(tmp_path, count=13):
    return small_plan(tmp_path, agents={f"s{number}": "random" for number in range(count)}, repetitions=1)


def earlier_is_better(task):
    number = [int(seat[1:]) for seat in task.seats]
    return [100, 0] if number[0] < number[1] else [0, 100]


def test_thirteen_agents_are_a_crosstable_in_the_terminal(tmp_path, store):
    report = report_of(store, many_agents(tmp_path), earlier_is_better)
    lines = text_of(terminal_view(report), width=80).splitlines()
    (row,) = [line.split() for line in lines if line.split()[:2] == ["2", "s1"]]
    assert row[2:] == ["0", *["100"] * 11]
    assert not any(" vs " in line for line in lines)
    pairs, *_ = report.condition_tables("default")
    assert pairs.rows[0][0] == "s0 vs s1"


def test_scores_with_three_seats_compare_every_two_of_them(tmp_path, store):
    report = report_of(store, small_plan(tmp_path, rules=TRIO, repetitions=1), lambda task: [100, 50, 0])
    matches = store.matches(report.run)
    scores = {tuple(seat.agent for seat in m.seats): dict(pair_scores(m))["a", "b"] for m in matches}
    assert (scores["a", "a", "b"], scores["a", "b", "a"], scores["b", "a", "a"]) == (1, 0.5, 0)
    assert sum(scores.values()) == 3


def test_agents_that_play_alone_are_compared_by_repetition(tmp_path, store):
    plan = small_plan(tmp_path, rules=ALONE)
    report = report_of(store, plan, lambda t: [70 if t.seats == ("a",) or t.repetition == 0 else 30])
    score = report.results.pairs["default", "small", "a", "b"]
    assert (score.wins, score.draws, score.losses) == (2, 1, 0)


def test_a_puzzle_in_which_all_agents_did_equally_well_is_left_out(tmp_path, store):
    small_plan(tmp_path)
    (tmp_path / "alone.kif").write_text(ALONE, encoding="utf-8")
    games = {name: {"rules": str(tmp_path / f"{name}.kif")} for name in ("small", "alone")}
    plan = small_plan(tmp_path, games=games, repetitions=10)
    report = report_of(store, plan, lambda task: [0] if task.game == "alone" else a_wins_as_first(task))
    assert report.results.over_games("default", "a", "b").count == 20
    assert tables.ratings_table(report.results, "default").rows[0][2] == "15 of 20"
    text = "every agent got goal 0 in every match of alone, which is left out of win rates and ratings"
    assert text in printed(report)


def test_aborted_matches_and_faults_are_reported_and_not_scored(tmp_path, store):
    plan = small_plan(tmp_path)
    facts = {"is_completed": False, "late": 2, "fallback": "mast"}
    report = report_of(store, plan, lambda task: [None, None], lambda task: facts)
    assert report.results.pairs == {}
    assert "24 faults, 6 aborted matches" in report.summary()
    text = text_of(terminal_view(report))
    assert "time-outs" in text
    assert "broken" in text
    assert "fallback" not in report.summary()
    assert tables.speeds(report.results, "default").rows == (("a", "-"), ("b", "-"))


def test_aborted_matches_do_not_affect_speeds(tmp_path, store):
    def facts(task):
        if task.repetition > 0:
            return {"simulations": 100, "late": 1}
        return {"is_completed": False, "late": 1, "simulations": 0, "moves": 9, "think_seconds": 60.0}

    report = report_of(store, small_plan(tmp_path), first_wins, facts)
    totals = report.results.agents["default", "small", "a"]
    assert (totals.simulations_per_second, totals.seconds_per_move, totals.seats) == (200, 0.5, 4)
    assert "a small 22 6 0 0 0\n" in printed(report)


def test_flawed_matches_are_listed(tmp_path, store):
    plan = small_plan(tmp_path, repetitions=6)
    flaw = {"fault": "left was late at START"}
    text = printed(report_of(store, plan, first_wins, lambda task: flaw))
    assert "flawed: default|small|a b|0: left was late at START" in text
    assert text.count("late at START") == 10
    assert "flawed: 2 more matches" in text


@pytest.mark.parametrize("others", ["", None])
def test_fallback_policies_are_listed(tmp_path, store, others):
    plan = small_plan(tmp_path, repetitions=2)
    report = report_of(
        store, plan, first_wins, lambda task: {"fallback": others if task.repetition else "rave+mast"}
    )
    text, known = printed(report), 2 if others is None else 4
    assert "0 faults, 0 aborted matches, 4 seats with a fallback policy" in report.summary()
    assert f"a small rave+mast 2 of {known}\n" in text
    assert ("seats with unknown policy (HTTP players): 4" in text) == (others is None)
    assert "Fallback policies" in text


def odd_plan(tmp_path):
    """A plan with names that are markup in terminals."""
    small_plan(tmp_path)
    games = {name: {"rules": str(tmp_path / "small.kif")} for name in ("chess[v1]", "x[/b]")}
    return small_plan(tmp_path, agents={"a[b]": "random", "$\\frac$": "legal"}, games=games, repetitions=1)


def test_names_are_not_markup(tmp_path, store):
    report = report_of(store, odd_plan(tmp_path), first_wins)
    text = text_of(terminal_view(report))
    assert "chess[v1]" in text
    assert "a[b] vs $\\frac$" in text
    title = text_of(rich_table(Table("Win rates on chess[v1]", ("x[/b]", "y"), (("a", "1"),))))
    assert "chess[v1]" in title
    assert "x[/b]" in title


def test_report_mentions_changed_programs(tmp_path, store):
    plan = small_plan(tmp_path)
    assert "0 of 6 matches" in printed(make_report(store, store.begin(plan)))
    report = report_of(store, plan, first_wins, lambda task: {"version": f"ggp {task.repetition}"})
    assert "the program changed during this run" in printed(report)


def test_csv_has_a_row_per_match(tmp_path, store):
    run = report_of(store, small_plan(tmp_path), a_wins_as_first).run
    stream = io.StringIO()
    write_csv(store, run, stream)
    rows = list(csv.DictReader(io.StringIO(stream.getvalue())))
    assert len(rows) == 6
    assert {(row["agent1"], row["goal1"], row["agent2"], row["goal2"]) for row in rows} == {
        ("a", "100", "b", "0"),
        ("b", "50", "a", "50"),
    }
    assert "here" not in stream.getvalue()  # host names are not exported


def test_json_lines_carry_records(tmp_path, store):
    run = report_of(store, small_plan(tmp_path), a_wins_as_first).run
    stream = io.StringIO()
    write_json_lines(store, run, stream)
    first = json.loads(stream.getvalue().splitlines()[0])
    assert first["record"]["matchId"] == first["id"]
    assert "rules" not in first["record"]


def test_progress_shows_the_rate():
    tenth = time.monotonic() - 60
    line = progress_text(Progress(total=12, stored=6, new=6, running=1, saved=2, began=tenth))
    assert line == "6 of 12 matches, 2 not needed, 1 running, 6.0 per minute, about 0:00:40 left"
    assert progress_text(Progress(total=12, stored=18)) == "18 matches, 12 planned, 0 running"


@pytest.mark.slow
def test_ten_thousand_matches_are_reported(tmp_path, store):
    agents = dict.fromkeys("abcde", "random")
    run = report_of(store, small_plan(tmp_path, agents=agents, repetitions=500), first_wins).run
    begin = time.perf_counter()
    report = make_report(store, run)
    text = printed(report)
    seconds = time.perf_counter() - begin
    print(f"report of {report.results.match_count} matches: {seconds:.2f} s")
    assert report.results.match_count == 10_000
    assert "50.0 [46.9, 53.1] 1000" in text


def test_tables_with_more_games_than_pairs_have_a_row_per_game():
    wide = Table("Win rates", ("win rate %", *"abcdefg"), (("x vs y", *"1234567"), ("x vs z", *"2345678")))
    upright = wide.upright()
    assert upright.header == ("win rate %", "x vs y", "x vs z")
    assert upright.rows[:2] == (("a", "1", "2"), ("b", "2", "3"))
    assert len(upright.rows) == 7
    assert upright.upright() is upright
    narrow = Table("Win rates", ("win rate %", "a", "b"), (("x vs y", "1", "2"),))
    assert narrow.upright() is narrow
