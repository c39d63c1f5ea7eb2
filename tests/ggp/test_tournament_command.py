"""`ggp tournament` from the command line."""

import csv
import json
import runpy
import sqlite3
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggp.cli import app
from ggp.tournament.pool import WorkersError
from ggp.tournament.schema import StoreError
from ggp.tournament.store import Store
from tests.ggp.tournament_plans import ONE_SHOT


@pytest.fixture
def ggp(tmp_path, monkeypatch):
    """Run `ggp tournament …` in a folder with a rule sheet; its exit code and output."""
    (tmp_path / "small.kif").write_text(ONE_SHOT)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, ["tournament", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


PLAY = ("--game", "small.kif", "--agents", "random", "legal", "--repetitions", "2", "--workers", "1")


def test_flags_play_a_tournament_and_going_on_adds_nothing(ggp, tmp_path):
    code, output = ggp(*PLAY, "--engine", "reasoner", "--report", "out")
    assert code == 0
    assert "4 of 4 matches; 0 faults, 0 aborted" in output
    assert "random vs legal" in output
    assert (tmp_path / "out" / "report.md").read_text().startswith("# small\n")
    code, output = ggp("show", "tournament.sqlite", "--markdown")
    before = output
    assert ggp(*PLAY, "--engine", "reasoner")[0] == 0
    assert ggp("resume", "tournament.sqlite", "--workers", "1")[0] == 0
    assert ggp("show", "tournament.sqlite", "--markdown")[1] == before


def test_changed_settings_are_refused_and_new_runs_are_not(ggp):
    assert ggp(*PLAY, "--engine", "reasoner")[0] == 0
    code, output = ggp(*PLAY, "--engine", "reasoner", "--play-clock", "2")
    assert code == 1
    assert "condition default was" in output
    assert "--new" in output
    assert ggp(*PLAY, "--engine", "reasoner", "--play-clock", "2", "--new")[0] == 0
    assert ggp("show", "tournament.sqlite", "--runs")[1] == "small: 4 matches\nsmall-2: 4 matches\n"


def test_config_file_is_played_and_exported(ggp, tmp_path):
    (tmp_path / "t.toml").write_text(
        'engine = "reasoner"\nrepetitions = 1\n[games.mine]\nrules = "small.kif"\n'
        '[agents]\nr = "random"\nl = "legal"\n'
    )
    code, output = ggp("t.toml", "--workers", "1")
    assert code == 0
    assert "t: 2 of 2 matches" in output
    assert ggp("export", "t.sqlite", "all.csv")[0] == 0
    rows = list(csv.DictReader((tmp_path / "all.csv").open()))
    assert [row["game"] for row in rows] == ["mine", "mine"]
    assert ggp("export", "t.sqlite", "few.csv", "--columns", "game,goal,repetition")[0] == 0
    assert (tmp_path / "few.csv").read_text().splitlines()[0] == "game,repetition,goal1,goal2"
    assert [len(row) for row in csv.reader((tmp_path / "few.csv").open())] == [4, 4, 4]
    assert ggp("export", "t.sqlite", "other.csv", "--records")[0] == 2
    assert ggp("export", "t.sqlite", "all.jsonl", "--records")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert all(len(line["record"]["moves"]) == 1 for line in lines)


PUBLISHED = ("--columns", "condition,game,repetition,agent,goal,steps,simulations")
STORE_FROM_CSV = Path(__file__).parents[2] / "benchmarks" / "store_from_csv.py"


@pytest.fixture
def published(ggp, tmp_path, monkeypatch):
    """t.toml, t.sqlite with its four matches, and all.csv as it is published; runs `store_from_csv.py`."""
    (tmp_path / "t.toml").write_text(
        'engine = "reasoner"\nrepetitions = 2\n[games.mine]\nrules = "small.kif"\n'
        '[agents]\nr = "random"\nm = { player = "mcts", options = { search = "reference" } }\n'
        "[conditions.default]\nsimulations = 5\n"
    )
    assert ggp("t.toml", "--workers", "1")[0] == 0
    assert ggp("export", "t.sqlite", "all.csv", *PUBLISHED)[0] == 0

    def store_from_csv(matches, store):
        monkeypatch.setattr(sys, "argv", ["store_from_csv.py", "t.toml", matches, store])
        runpy.run_path(str(STORE_FROM_CSV), run_name="__main__")

    return store_from_csv


def test_published_matches_make_the_store_they_came_from(ggp, published, tmp_path, capsys):
    published("all.csv", "again.sqlite")
    assert capsys.readouterr().out == "4 matches added; 0 of the file are not in the plan\n"
    assert ggp("export", "again.sqlite", "again.csv", *PUBLISHED)[0] == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()


def test_a_run_goes_on_where_published_matches_end(ggp, published, tmp_path, capsys):
    lines = (tmp_path / "all.csv").read_text().splitlines(keepends=True)
    strange = lines[1].replace("mine", "yours")
    (tmp_path / "some.csv").write_text("".join([lines[0], lines[2], lines[3], strange]))
    published("some.csv", "again.sqlite")
    assert capsys.readouterr().out == "2 matches added; 1 of the file are not in the plan\n"
    code, output = ggp("t.toml", "--store", "again.sqlite", "--workers", "1")
    assert code == 0
    assert "4 of 4 matches" in output
    assert ggp("export", "again.sqlite", "again.csv", *PUBLISHED)[0] == 0
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "all.csv").read_bytes()


def test_published_matches_with_faults_are_refused(published, tmp_path):
    rows = list(csv.reader((tmp_path / "all.csv").open()))
    rows[2][rows[0].index("goal1")] = ""
    with (tmp_path / "faulty.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(SystemExit, match="matches with faults cannot be taken over"):
        published("faulty.csv", "again.sqlite")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run",), "name a CONFIG file, or both"),
        (("--game", "small.kif"), "name a CONFIG file, or both"),
        (("--game", "small.kif", "--agents", "random"), "needs 2 agents"),
        (("--game", "small.kif", "--agents", "random", "random"), "named twice"),
        (
            ("--game", "small.kif", "./small.kif", "--agents", "random", "legal"),
            "two games have the same name",
        ),
        (("--game", "small.kif", "--agents", "--repetitions", "1"), "needs at least one word"),
        (("--game", "nowhere", "--agents", "random", "legal"), "no such file or game"),
        ((*PLAY, "--until", "soon"), "sprt or a width"),
        ((*PLAY, "--repetitions", "0"), "at least 1"),
        ((*PLAY, "--workers", "none"), "number of processes"),
        ((*PLAY, "--workers", "1", "--only", "chess"), "no condition, game or agent 'chess'"),
        ((*PLAY, "--play-clock", "nan"), "more than 0"),
        ((*PLAY, "--start-clock", "inf"), "at most a week"),
        (("missing.toml",), "missing.toml"),
        (("show", "missing.sqlite"), "missing.sqlite"),
        (("show", "small.kif"), "no tournament results"),
        (("export", "missing.sqlite"), "missing.sqlite"),
        (("export", "missing.sqlite", "-", "--columns", "game,chess"), "no column 'chess'"),
        (("export", "missing.sqlite", "a.jsonl", "--columns", "game"), "--columns needs --format csv"),
    ],
)
def test_mistakes_are_told(ggp, arguments, words):
    result = CliRunner().invoke(app, ["tournament", *arguments])
    output = result.output + str(result.exception or "")
    assert result.exit_code != 0
    assert words in output.replace("\n", " ")


def test_a_refused_selection_leaves_no_store(ggp, tmp_path):
    assert ggp(*PLAY, "--store", "new.sqlite", "--only", "chess")[0] == 2
    assert not (tmp_path / "new.sqlite").exists()


@pytest.mark.parametrize("text", ["seed = " + "9" * 6000, "a = " + "[" * 3000])
def test_files_that_are_too_much_are_told(ggp, tmp_path, text):
    (tmp_path / "t.toml").write_text(text)
    code, output = ggp("t.toml")
    assert code == 2
    assert "t.toml" in output


def test_flags_and_file_do_not_mix(ggp, tmp_path):
    (tmp_path / "t.toml").write_text('games = ["nim"]\nagents = { a = "random", b = "legal" }\n')
    code, output = ggp("t.toml", "--simulations", "5")
    assert code == 2
    assert "--simulations: write that into t.toml" in output


def test_mistakes_in_a_file_are_told_with_their_line(ggp, tmp_path):
    (tmp_path / "t.toml").write_text('games = ["nim"]\n[agents]\na = "mctx"\n')
    code, output = ggp("t.toml")
    assert code == 2
    assert "t.toml:3: agent a" in output


def test_what_a_match_cannot_be_played_for_is_told_in_a_sentence(ggp):
    agents = ("--agents", "random", "mcts:search=lanes", "--engine", "reasoner")
    code, output = ggp("--game", "small.kif", *agents, *PLAY[5:])
    assert code == 1
    assert "mcts did not start: small is not compiled: there is no search on lanes" in output
    assert "0 of 4 matches" in output
    growing = "(role a) (role b) (init (n z)) (<= (next (n (s ?x))) (true (n ?x))) (legal a x) (legal b x)"
    Path("growing.kif").write_text(f"{growing} (goal a 0) (goal b 0) (<= terminal (true (n (s z))))")
    games = ("--game", "growing.kif", "tictactoe", *PLAY[2:6], "6", "--store", "other.sqlite")
    code, output = ggp(*games, "--engine", "lanes", "--workers", "1")
    assert code == 1
    assert "gave up on growing after 10 failures; 2 matches not tried" in output
    assert "12 of 24 matches" in output
    assert "terms may grow without limit" in output
    assert "Traceback" not in output


def test_a_store_that_cannot_be_written_is_told_with_how_to_go_on(ggp, monkeypatch):
    assert ggp(*PLAY, "--engine", "reasoner")[0] == 0

    def fail(self, run, result):
        raise StoreError("tournament.sqlite: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", fail)
        code, output = ggp(*PLAY[:6], "3", *PLAY[7:], "--engine", "reasoner")
    assert code == 1
    assert "database or disk is full; what was stored before is safe" in output
    assert "go on with: ggp tournament resume tournament.sqlite --run small" in output
    assert "4 of 6 matches" in output
    assert ggp("resume", "tournament.sqlite", "--workers", "1")[0] == 0


def test_workers_that_are_gone_are_told_with_how_to_go_on(ggp, monkeypatch):
    def fail(self):
        raise WorkersError("the Dask scheduler is gone")

    monkeypatch.setattr("ggp.tournament.pool.ProcessWorkers.size", fail)
    code, output = ggp(*PLAY, "--engine", "reasoner")
    assert code == 1
    assert "the Dask scheduler is gone; what was stored before is safe, go on with: ggp tournament" in output
    assert "0 of 4 matches" in output
    _, output = ggp(*PLAY, "--engine", "reasoner", "--store", "[old] results.sqlite", "--name", "a b")
    assert "go on with: ggp tournament resume '[old] results.sqlite' --run 'a b'" in output


def test_a_store_that_cannot_be_read_is_told(ggp, monkeypatch):
    assert ggp(*PLAY, "--engine", "reasoner")[0] == 0

    def fail(self, run):
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(Store, "matches", fail)
    assert ggp("show", "tournament.sqlite") == (1, "Error: database disk image is malformed\n")


def test_failed_matches_are_told(ggp, tmp_path):
    (tmp_path / "stuck.kif").write_text(
        "(role a) (role b) (init s) (<= (legal a x) (true never)) (<= (legal b x) (true s))"
        "(<= (next s) (does b x)) (<= terminal (true over)) (goal a 0) (goal b 0)"
        "(<= (next never) (does a x)) (<= (next over) (does a x))"
    )
    code, output = ggp("--game", "stuck.kif", *PLAY[2:], "--engine", "reasoner")
    assert "4 aborted matches" in output
    assert code == 0
