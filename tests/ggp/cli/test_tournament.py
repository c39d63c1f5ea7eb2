"""`ggp tournament` from the command line."""

import csv
import json
import runpy
import shlex
import sqlite3
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from ggp.tournament.store import Store, StoreError
from tests.ggp.tournament.plans import ONE_SHOT


@pytest.fixture
def ggp(tmp_path, monkeypatch):
    """Run `ggp tournament …` in a folder with a rule sheet; returns exit code and output."""
    (tmp_path / "small.kif").write_text(ONE_SHOT)
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        result = CliRunner().invoke(app, ["tournament", *arguments])
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
        return result.exit_code, result.output

    return run


PLAY = ("--game", "small.kif", "--agents", "random", "legal", "--repetitions", "2", "--workers", "1")
PLAYED = (*PLAY, "--set", "engine=reasoner")


def test_flags_play_a_tournament_and_resuming_adds_nothing(ggp, tmp_path):
    code, output = ggp(*PLAYED)
    assert code == 0
    assert "4 of 4 matches; 0 faults, 0 aborted" in output
    assert "random vs legal" in output
    assert ggp("show", "tournament.sqlite", "--html", "out")[0] == 0
    assert "<h1>small</h1>" in (tmp_path / "out" / "index.html").read_text()
    before = ggp("show", "tournament.sqlite")[1]
    assert ggp(*PLAYED)[0] == 0
    assert ggp("run", "tournament.sqlite", "--workers", "1")[0] == 0
    assert ggp("show", "tournament.sqlite")[1] == before


def test_changed_settings_are_rejected_and_new_runs_are_not(ggp):
    assert ggp(*PLAYED)[0] == 0
    code, output = ggp(*PLAYED, "--play-clock", "2")
    assert code == 1
    assert "condition default was" in output
    assert "--run NAME" in output
    assert ggp(*PLAYED, "--play-clock", "2", "--run", "other")[0] == 0
    shown = ggp("show", "tournament.sqlite")[1]
    assert "runs, for --run: small (4 matches), other (4 matches)\n" in shown


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
    assert ggp("export", "t.sqlite", "all.jsonl")[0] == 0
    lines = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    assert all(len(line["record"]["moves"]) == 1 for line in lines)


WRONG = """
import ggp
from gdl.terms import Symbol

class Wrong(ggp.Player):
    def choose(self, state, deadline, joint_move):
        return Symbol("nonsense")
"""


@pytest.fixture
def wrong(ggp, tmp_path):
    """A played tournament of an agent that only answers illegal moves."""
    (tmp_path / "wrong.py").write_text(WRONG)
    agents = ("--agents", "wrong.py:Wrong", "legal", "--repetitions", "1", "--workers", "1")
    assert ggp("--game", "small.kif", *agents, "--set", "engine=reasoner")[0] == 0


def test_an_agent_is_shown_its_faults_and_how_to_replay_them(ggp, wrong):
    code, output = ggp("show", "tournament.sqlite", "--agent", "wrong.py:Wrong")
    assert code == 0
    assert "faults in 2" in output
    assert output.count("illegal move nonsense at step 1") == 2
    command = shlex.split(output.partition("Replay one: ")[2])
    assert command[:3] == ["ggp", "tournament", "show"]
    code, output = ggp(*command[2:])
    assert code == 0
    assert "IL nonsense" in output
    assert "step 1 of 1" in output


def test_a_tournament_is_published_as_pages(ggp, wrong, tmp_path):
    code, output = ggp("show", "tournament.sqlite", "--agent", "nobody")
    assert (code, "no agent 'nobody' in run 'small'; expected one of" in output) == (2, True)
    code, output = ggp("show", "tournament.sqlite", "--match", "nothing")
    assert (code, "has no match 'nothing'" in output) == (1, True)
    code, output = ggp("show", "tournament.sqlite", "--agent", "legal", "--html", "out")
    assert (code, "expected one of --agent, --match and --html" in output) == (2, True)
    assert ggp("show", "tournament.sqlite", "--html", "out") == (0, "open out/index.html\n")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"index.html", "matches.html", "match-2.html", "replay.js", "base.css"} <= names


PUBLISHED = "condition", "game", "repetition", "agent", "goal", "steps", "simulations"
"""Columns that `store_from_csv.py` restores."""
STORE_FROM_CSV = Path(__file__).parents[3] / "experiments" / "store_from_csv.py"


@pytest.fixture
def published(ggp, tmp_path, monkeypatch):
    """t.toml, t.sqlite with its four matches, and all.csv as published; runs `store_from_csv.py`."""
    (tmp_path / "t.toml").write_text(
        'engine = "reasoner"\nrepetitions = 2\n[games.mine]\nrules = "small.kif"\n'
        '[agents]\nr = "random"\nm = { player = "mcts", options = { search = "reference" } }\n'
        "[conditions.default]\nsimulations = 5\n"
    )
    assert ggp("t.toml", "--workers", "1")[0] == 0
    assert ggp("export", "t.sqlite", "all.csv")[0] == 0

    def store_from_csv(matches, store):
        monkeypatch.setattr(sys, "argv", ["store_from_csv.py", "t.toml", matches, store])
        runpy.run_path(str(STORE_FROM_CSV), run_name="__main__")

    return store_from_csv


def published_rows(path):
    return [
        {name: cell for name, cell in row.items() if name.rstrip("0123456789") in PUBLISHED}
        for row in csv.DictReader(path.open())
    ]


def test_published_matches_restore_their_store(ggp, published, tmp_path, capsys):
    published("all.csv", "again.sqlite")
    assert capsys.readouterr().out == "4 matches added; 0 of the file do not belong to the plan\n"
    assert ggp("export", "again.sqlite", "again.csv")[0] == 0
    assert published_rows(tmp_path / "again.csv") == published_rows(tmp_path / "all.csv")


def test_a_run_resumes_after_published_matches(ggp, published, tmp_path, capsys):
    lines = (tmp_path / "all.csv").read_text().splitlines(keepends=True)
    strange = lines[1].replace("mine", "yours")
    (tmp_path / "some.csv").write_text("".join([lines[0], lines[2], lines[3], strange]))
    published("some.csv", "again.sqlite")
    assert capsys.readouterr().out == "2 matches added; 1 of the file do not belong to the plan\n"
    code, output = ggp("t.toml", "--store", "again.sqlite", "--workers", "1")
    assert code == 0
    assert "4 of 4 matches" in output
    assert ggp("export", "again.sqlite", "again.csv")[0] == 0
    assert published_rows(tmp_path / "again.csv") == published_rows(tmp_path / "all.csv")


def test_published_matches_with_faults_are_rejected(published, tmp_path):
    rows = list(csv.reader((tmp_path / "all.csv").open()))
    rows[2][rows[0].index("goal1")] = ""
    with (tmp_path / "faulty.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(SystemExit, match="matches with faults cannot be imported"):
        published("faulty.csv", "again.sqlite")


MISTAKES = """
run | expected a CONFIG file, or both
--game small.kif | expected a CONFIG file, or both
--game small.kif --agents random | needs 2 agents
--game small.kif --agents random random | given twice
--game small.kif ./small.kif --agents random legal | two games have the same name
--game small.kif --agents --repetitions 1 | needs at least one value
--game nowhere --agents random legal | no such file or game
PLAY --set until=soon | expected sprt, sprt:ELO0:ELO1 or a width
PLAY --set seed | expected KEY=VALUE
PLAY --set luck=1 | unknown key 'luck'
PLAY --repetitions 0 | at least 1
PLAY --workers none | 'none' is not a whole number
PLAY --workers 1 --only chess | no condition, game or agent 'chess'
PLAY --play-clock nan | more than 0
PLAY --set start_clock=inf | at most a week
missing.toml | missing.toml
shwo t.sqlite | No such command 'shwo'. Did you mean show?
show missing.sqlite | missing.sqlite
show small.kif | not a tournament store
export missing.sqlite | missing.sqlite
"""
"""Arguments | words of the message."""


@pytest.mark.parametrize("row", MISTAKES.strip().splitlines())
def test_mistakes_are_reported(ggp, row):
    arguments, _, words = row.replace("PLAY", shlex.join(PLAY)).partition(" | ")
    result = CliRunner().invoke(app, ["tournament", *shlex.split(arguments)])
    output = result.output + str(result.exception or "")
    assert result.exit_code != 0
    assert words in output.replace("\n", " ")


def test_a_rejected_selection_creates_no_store(ggp, tmp_path):
    assert ggp(*PLAY, "--store", "new.sqlite", "--only", "chess")[0] == 2
    assert not (tmp_path / "new.sqlite").exists()


CONFIG = 'games = ["nim"]\nagents = { a = "random", b = "legal" }\n'


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        ("seed = " + "9" * 6000, (), "t.toml"),
        ("a = " + "[" * 3000, (), "t.toml"),
        (CONFIG, ("--set", "simulations=5"), "--set: not allowed with t.toml, which has the configuration"),
        ('games = ["nim"]\n[agents]\na = "mctx"\n', (), "t.toml:3: agent a"),
    ],
)
def test_errors_in_a_file_are_reported_with_their_line(ggp, tmp_path, text, arguments, words):
    (tmp_path / "t.toml").write_text(text)
    code, output = ggp("t.toml", *arguments)
    assert code == 2
    assert words in output


@pytest.mark.slow
def test_unplayable_matches_are_reported_in_a_sentence(ggp):
    agents = ("--agents", "random", "mcts:search=lanes", "--set", "engine=reasoner")
    code, output = ggp("--game", "small.kif", *agents, *PLAY[5:])
    assert code == 1
    assert "mcts did not start: small is not compiled: there is no search on lanes" in output
    assert "0 of 4 matches" in output
    growing = "(role a) (role b) (init (n z)) (<= (next (n (s ?x))) (true (n ?x))) (legal a x) (legal b x)"
    Path("growing.kif").write_text(f"{growing} (goal a 0) (goal b 0) (<= terminal (true (n (s z))))")
    games = ("--game", "growing.kif", "tictactoe", *PLAY[2:6], "6", "--store", "other.sqlite")
    code, output = ggp(*games, "--set", "engine=lanes", "--workers", "1")
    assert code == 1
    assert "gave up on growing after 10 failures; 2 matches skipped" in output
    assert "12 of 24 matches" in output
    assert "terms may grow without limit" in output
    assert "Traceback" not in output


def test_write_errors_of_the_store_include_how_to_resume(ggp, monkeypatch):
    assert ggp(*PLAYED)[0] == 0

    def fail(self, run, result):
        raise StoreError("tournament.sqlite: database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(Store, "add", fail)
        code, output = ggp(*PLAY[:6], "3", *PLAY[7:], "--set", "engine=reasoner")
    assert code == 1
    assert "database or disk is full; stored matches are safe" in output
    assert "resume with: ggp tournament run tournament.sqlite --run small" in output
    assert "4 of 6 matches" in output
    assert ggp("run", "tournament.sqlite", "--workers", "1")[0] == 0


def test_read_errors_of_the_store_are_reported(ggp, monkeypatch):
    assert ggp(*PLAYED)[0] == 0

    def fail(self, run):
        raise sqlite3.DatabaseError("database disk image is malformed")

    monkeypatch.setattr(Store, "matches", fail)
    assert ggp("show", "tournament.sqlite") == (1, "Error: database disk image is malformed\n")


def test_aborted_matches_are_reported(ggp, tmp_path):
    (tmp_path / "stuck.kif").write_text(
        "(role a) (role b) (init s) (<= (legal a x) (true never)) (<= (legal b x) (true s))"
        "(<= (next s) (does b x)) (<= terminal (true over)) (goal a 0) (goal b 0)"
        "(<= (next never) (does a x)) (<= (next over) (does a x))"
    )
    code, output = ggp("--game", "stuck.kif", *PLAY[2:], "--set", "engine=reasoner")
    assert "4 aborted matches" in output
    assert code == 0


def test_exporting_an_empty_run_or_a_broken_record_is_an_error(ggp, tmp_path):
    assert ggp(*PLAYED)[0] == 0
    with sqlite3.connect("tournament.sqlite") as link:
        link.execute("update match set record = ?", (b"broken",))
    code, output = ggp("export", "tournament.sqlite", "out.jsonl")
    assert code == 1
    assert "has a broken record" in output
    assert "bug" not in output
    with sqlite3.connect("tournament.sqlite") as link:
        link.execute("delete from seat")
        link.execute("delete from match")
    for kind in ("csv", "jsonl"):
        code, output = ggp("export", "tournament.sqlite", f"empty.{kind}")
        assert code == 1
        assert "no matches to export" in output
        assert not (tmp_path / f"empty.{kind}").exists()
