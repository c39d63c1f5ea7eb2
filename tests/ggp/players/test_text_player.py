"""Commands as players: what they are told, what counts as an answer, and that nothing outlives its clock."""

import os
import shlex
import sys
import time
from dataclasses import replace

import pytest

import ggp
from ggp.assessment.asking import Asker, AssessmentTerms
from ggp.assessment.positions import Place
from ggp.match.faults import Illegal, Late, Unreachable
from ggp.match.player import PlayerFaultError
from ggp.players.factory import make_player
from ggp.players.text_player import MAX_ANSWER_BYTES, read_move, run_command
from ggp.processes.child_end import RequestError
from ggp.tournament.config import ConfigError, plan_from_data
from ggp.tournament.plan import with_option
from ggp.web.seats import check_seat
from tests.ggp.percept_games import COIN

TERMS = ggp.MatchTerms(play_clock_seconds=300.0)
"""No command is late on a busy machine."""

LAST = """
import sys
text = sys.stdin.read()
moves = text.partition("Your legal moves:\\n")[2].partition("\\n\\n")[0].split("\\n")
print("thinking about", len(moves), "moves")
print(moves[-1])
"""
"""Answers the last of the legal moves that it is told."""


@pytest.fixture(scope="module")
def game():
    return ggp.load("tictactoe", engine="reasoner")


@pytest.fixture
def command(tmp_path):
    """Write a Python script; returns the command that runs it."""

    def write(script):
        path = tmp_path / f"agent{len(list(tmp_path.iterdir()))}.py"
        path.write_text(script)
        return shlex.join([sys.executable, "-S", "-E", str(path)])

    return write


class Last(ggp.Player):
    def choose(self, state, deadline, joint_move):
        return self.legal_moves(state)[-1]


def moves_of(record):
    return [step.joint_move for step in record.steps]


def faults_of(record, seat):
    return [step.faults[seat] for step in record.steps[1:] if step.faults[seat] is not None]


def test_command_plays_a_match(game, command):
    record = ggp.play_match(game, [make_player(f"text:{command(LAST)}"), Last()], TERMS)
    assert moves_of(record) == moves_of(ggp.play_match(game, [Last(), Last()], TERMS))
    assert not faults_of(record, 0)


def test_command_is_told_rules_role_steps_and_state(game, command, tmp_path):
    told = tmp_path / "told.txt"
    script = f"{LAST}\nopen({str(told)!r}, 'a').write(text)"
    ggp.play_match(game, [Last(), make_player(f"text:{command(script)}")], TERMS)
    text = told.read_text()
    assert "(role x)\n(role o)\n" in text
    assert "You play the role o." in text
    assert "\n1. (does x (mark 3 3)) (does o noop)\n2. (does x noop) (does o (mark 3 2))\n" in text
    assert "State:\n(cell 3 3 x)\n(control o)\n\n" in text


def test_unreadable_and_illegal_answers_are_counted_and_replaced(game, command):
    terms = replace(TERMS, on_error="first")
    for script, shown in (("print('(mark 9 9)')", "(mark 9 9)"), ("print()", "no text")):
        record = ggp.play_match(game, [make_player(f"text:{command(script)}"), Last()], terms)
        assert record.is_completed
        assert set(faults_of(record, 0)) == {Illegal(shown)}
        assert record.steps[1].joint_move[0] == "(mark 1 1)"


def test_command_with_hidden_information_is_told_percepts_and_no_state(command, tmp_path):
    told = tmp_path / "told.txt"
    script = LAST.replace("moves[-1]", "moves[-1] if '(looked c)' not in text else '(guess c)'")
    script += f"\nopen({str(told)!r}, 'w').write(text)"
    seats = [None, make_player(f"text:{command(script)}")]
    record = ggp.play_match(ggp.load(COIN, engine="reasoner"), seats, replace(TERMS, seed=1))
    assert record.is_completed
    assert not faults_of(record, 1)
    text = told.read_text()
    assert "(sees player (looked c))" in text
    assert "State" not in text
    assert "(does random" not in text.partition("Steps so far")[2]


def test_late_command_is_a_fault(command):
    with pytest.raises(PlayerFaultError) as caught:
        run_command(shlex.split(command("import time; time.sleep(600)")), "", time.monotonic())
    assert caught.value.fault == Late()


def test_endless_output_is_cut_and_nothing_keeps_running(command, tmp_path):
    pids = tmp_path / "pids"
    script = f"""
import os, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
while True:
    print("(mark 1 1)" * 99)
"""
    with pytest.raises(PlayerFaultError, match=f"{MAX_ANSWER_BYTES:,} bytes") as caught:
        run_command(shlex.split(command(script)), "", time.monotonic() + 300)
    assert isinstance(caught.value.fault, Illegal)
    for pid in map(int, pids.read_text().split()):
        assert not is_running(pid)


def is_running(pid):
    """Whether a process still runs after ten seconds; a dead one may wait for its parent."""
    for _ in range(1000):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except OSError:
            return False
        time.sleep(0.01)
    return True


def test_failing_command_is_counted_and_says_why_once(game, command, caplog):
    player = make_player(f"text:{command('import sys; sys.exit(3)')}")
    record = ggp.play_match(game, [player, Last()], TERMS)
    assert set(faults_of(record, 0)) == {Unreachable()}
    assert [entry.message.rpartition(": ")[2] for entry in caplog.records] == ["exit code 3"]


def test_failing_command_says_what_it_wrote(command):
    failing = shlex.split(command("import sys; sys.exit('no key')"))
    with pytest.raises(PlayerFaultError, match="no key") as caught:
        run_command(failing, "x" * 10**6, time.monotonic() + 60)
    assert caught.value.fault == Unreachable()


def test_answer_that_fits_two_moves_is_no_answer():
    legal = [ggp.parse_term("(go (a b))"), ggp.parse_term("(go a b)")]
    with pytest.raises(PlayerFaultError):
        read_move("go a b", legal)


@pytest.mark.parametrize(
    ("spec", "message"),
    [("text", "expected text:COMMAND"), ("text:'", "not a command"), ("text:no-such-one", "no program")],
)
def test_mistakes_are_reported_before_a_match(spec, message):
    with pytest.raises(ggp.PlayerSpecError, match=message):
        make_player(spec)


def test_tournament_changes_no_command_and_wants_a_clock():
    spec = f"text:{shlex.quote(sys.executable)} agent.py"
    assert with_option(spec, "simulations", 100) == spec
    data = {"agents": {"one": spec, "two": "mcts"}, "games": ["tictactoe"], "simulations": 100}
    with pytest.raises(ConfigError, match="one does not count simulations"):
        plan_from_data({"name": "test", **data})


def test_assessment_asks_a_command(game, command):
    asker = Asker(lambda: make_player(f"text:{command(LAST)}"), AssessmentTerms(play_clock_seconds=300.0))
    place = Place("p", "strategy", "tictactoe", "", "x")
    assert asker.move_in(place, game, game.initial_state()) == "(mark 3 3)"
    assert asker.faults.count == 0


def test_browser_cannot_start_a_command():
    with pytest.raises(RequestError):
        check_seat("text:ls")
