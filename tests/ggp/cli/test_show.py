"""`ggp show`: recorded matches, ours and other managers'."""

import json
import os
import pty
import select
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from ggp.engines.loading import load
from ggp.match.record import write_record
from ggp.match.referee import play_match
from ggp.match.terms import MatchTerms
from ggp.players.simple import LegalPlayer
from tests.conftest import ROOT


@pytest.fixture
def record(tmp_path):
    path = tmp_path / "match.json"
    players = [LegalPlayer(), LegalPlayer()]
    write_record(play_match(load("tictactoe", engine="reasoner"), players, MatchTerms(seed=1)), path)
    return path


def run(*arguments):
    result = CliRunner().invoke(app, ["show", *map(str, arguments)])
    return result.exit_code, result.output


def test_show_prints_all_steps_without_a_terminal(record):
    code, out = run(record)
    assert code == 0
    steps = [f"tictactoe, step {number} of 7" for number in range(8)]
    assert [line for line in out.splitlines() if "step" in line] == steps
    assert "x legal, o legal" in out
    assert "  x  a1\n  o  waits\n" in out
    assert out.rstrip().endswith("x wins")
    assert "1[x]. ." in out


def test_show_prints_a_step_with_its_moves_and_its_board(record):
    step = run(record)[1].partition("step 1 of 7")[2].partition("tictactoe, step 2")[0]
    board = ["3 . . .", "2 . . .", "1[x]. .", "  a b c"]
    assert [line.rstrip() for line in step.splitlines()][-7:] == ["  o  waits", *board, "o to move", ""]


def test_show_reads_records_of_other_managers(tmp_path):
    path = tmp_path / "base.json"
    states = ["( ( true ( cell 1 1 b ) ) ( true ( control white ) ) )", "( ( true ( cell 1 1 x ) ) )"]
    data = {"matchId": "m\x1b[2J", "states": states, "moves": [["( mark 1 1 )", "noop\x1b[31m"]]}
    path.write_text(json.dumps({**data, "isCompleted": True, "goalValues": [100, None]}))
    code, out = run(path)
    assert code == 0
    assert "(cell 1 1 x)" in out
    assert "\x1b" not in out
    assert "no result" in out


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ("[]", "a match record is a JSON object"),
        ('{"matchId": "m", "states": ["( (p"], "moves": []}', "state 0"),
        ('{"matchId": "m", "states": [], "moves": []}', "no steps"),
        ('{"matchId": "m", "states": ["( p )"], "moves": [], "rules": "(role"}', "rules cannot be read"),
    ],
)
def test_show_refuses_broken_records_in_one_line(tmp_path, data, part):
    path = tmp_path / "broken.json"
    path.write_text(data)
    code, out = run(path)
    assert code == 2
    assert part in out.splitlines()[-1]


def test_show_takes_the_rules_from_a_file(record):
    data = json.loads(record.read_text())
    del data["rules"]
    record.write_text(json.dumps(data))
    assert "o to move" not in run(record)[1]
    assert "o to move" in run(record, "--rules", ROOT / "games" / "tictactoe.kif")[1]


def test_show_uses_the_pager_in_a_terminal(record):
    near, far = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "80", "LINES": "24", "PAGER": "sed s/wins/WINS/"}
    command = [sys.executable, "-m", "ggp", "show", str(record)]
    process = subprocess.Popen(command, stdin=far, stdout=far, stderr=far, env=environment, cwd=ROOT)
    os.close(far)
    seen, end = "", time.monotonic() + 60
    while "x WINS" not in seen and time.monotonic() < end:
        if select.select([near], [], [], 0.2)[0]:
            seen += os.read(near, 65536).decode()
    assert "x WINS" in seen
    assert all(f"step {number} of 7" in seen for number in range(8))
    assert "\x1b[1m" in seen  # with its colors
    assert process.wait(60) == 0
    os.close(near)


def test_show_writes_terms_if_asked(record):
    out = run(record, "--notation", "kif")[1]
    assert "  x  (mark 1 1)\n  o  noop\n" in out
    assert "  1 2 3\n" in out
