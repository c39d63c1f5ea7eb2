"""Players of one's own in processes of their own: whatever they do, the match goes on and counts it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner

import ggp
from ggp.assessment.asking import AssessmentTerms
from ggp.assessment.positions import load_positions
from ggp.assessment.score_card import assess
from ggp.cli.main import app
from ggp.engines.loading import find_rules
from ggp.match.faults import Crashed, Illegal, Late, fault_text
from ggp.match.player import PlayerFaultError, PlayerSpecError
from ggp.player_server.match import SearchOptions
from ggp.players.factory import check_player, make_player, seat_player
from ggp.protocol.manager import manage_match
from ggp.tournament.store import Store
from tests.ggp.players.asking import choose, started
from tests.ggp.wire import running_player

ROOT = Path(__file__).resolve().parents[3]
TERMS = ggp.MatchTerms(0.5, 0.5, seed=1, grace_seconds=0.2)

AGENTS = """
import os, stat, subprocess, sys, time

import ggp


class First(ggp.Player):
    def choose(self, state, deadline, joint_move):
        return self.legal_moves(state)[0]


class Acts(First):  # before it makes its move
    def choose(self, state, deadline, joint_move):
        self.act(joint_move)
        return super().choose(state, deadline, joint_move)


class Talks(Acts):
    def act(self, joint_move):
        print("x" * 100_000)


class Loops(Acts):
    def act(self, joint_move):
        while True:
            pass


class Hogs(Acts):
    def act(self, joint_move):
        sum(range(10**13))  # never gives the interpreter back


class LoopsInStart(First):
    def start(self, setup, deadline):
        while True:
            pass


class Crashes(Acts):
    def act(self, joint_move):
        return 1 // 0


class CrashesOnce(Acts):
    def act(self, joint_move):
        if joint_move is None:
            raise ValueError("the first move")


class StartsOnce(Acts):
    def start(self, setup, deadline):
        super().start(setup, deadline)
        if os.path.exists("left"):
            time.sleep(60)

    def act(self, joint_move):
        open("left", "w").close()
        os._exit(3)


class CrashesInStart(First):
    def start(self, setup, deadline):
        raise RuntimeError("no book")


class CrashesInInit(First):
    def __init__(self):
        raise RuntimeError("no model")


class CrashesInStop(First):
    def stop(self, told):
        raise RuntimeError("not over")


class Leaves(Acts):
    def act(self, joint_move):
        sys.exit(0)


class Ends(Acts):
    def act(self, joint_move):
        os._exit(3)


class Eats(Acts):
    def __init__(self, mebibytes=4096):
        self.mebibytes = mebibytes

    def act(self, joint_move):
        self.eaten = bytearray(self.mebibytes << 20)


class Garbage(ggp.Player):
    def __init__(self):
        self.said = [None, "noop", 3, ggp.parse_term("(mark 9 9)"), ggp.parse_term("?x")]

    def choose(self, state, deadline, joint_move):
        return self.said.pop(0) if self.said else self.legal_moves(state)[0]


class Forks(Acts):
    def act(self, joint_move):
        pid = os.fork()
        if pid == 0:
            os.setsid()
            subprocess.run(["sleep", "600"], start_new_session=True)
        with open("forked", "a") as file:
            file.write(f"{pid}\\n")


class ForksAndReturns(Acts):
    def act(self, joint_move):
        os.fork()


class AnswersOutOfTurn(Acts):
    def act(self, joint_move):
        for number in range(3, 30):
            try:
                if stat.S_ISFIFO(os.fstat(number).st_mode):
                    os.write(number, b'{"result": null}\\n{}\\n{"result": {"move": 3}}\\n')
            except OSError:
                pass


class FailsAtLength(Acts):
    def act(self, joint_move):
        raise ValueError("x" * 1_000_000)


class Watches(First):
    def observe(self, observation, deadline):
        super().observe(observation, deadline)
        with open("observed", "a") as file:
            file.write(f"{os.getpid()} {observation.own_move}\\n")

    def choose_by_observations(self, deadline):
        if self.belief.position.step == 1:
            os._exit(1)
        return super().choose_by_observations(deadline)


class Ponders(First):
    ponders = True
    pondered = 0

    def ponder(self, is_over, deadline):
        while not is_over():
            time.sleep(0.001)
        self.pondered += 1
        with open("pondered", "a") as file:
            file.write(f"{self.pondered}\\n")
"""


def place(code):
    """The place of a line of AGENTS, as errors name it."""
    (number,) = (n for n, line in enumerate(AGENTS.splitlines(), start=1) if code in line)
    return f"agents.py:{number}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "syntax.py").write_text("class Last(\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def game():
    return ggp.load("tictactoe", engine="reasoner")


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until_gone(pids):
    end = time.monotonic() + 10
    while any(map(is_running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    return not any(map(is_running, pids))


def play(game, agent, terms=TERMS):
    record = ggp.play_match(game, [seat_player(f"agents.py:{agent}"), make_player("random")], terms)
    assert record.is_completed
    assert record.fault_count(1) == 0
    return [fault_text(step.faults[0]) for step in record.steps]


@pytest.mark.parametrize("agent", ["First", "Talks", "CrashesInStop", "Forks", "ForksAndReturns"])
def test_seat_plays_as_its_class_does(folder, game, agent, capfd):
    record = ggp.play_match(game, [seat_player(f"agents.py:{agent}"), make_player("random")], TERMS)
    other = ggp.play_match(game, [make_player("agents.py:First"), make_player("random")], TERMS)
    assert record.moves == other.moves
    assert record.player_names == other.player_names == ("First", "random")
    assert not any(map(any, record.errors))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        pytest.param("Loops", "TO", marks=pytest.mark.slow),
        pytest.param("Hogs", "TO", marks=pytest.mark.slow),
        ("Crashes", f"CR ZeroDivisionError: integer division or modulo by zero ({place('1 // 0')})"),
        ("Leaves", f"CR SystemExit: 0 ({place('sys.exit(0)')})"),
        ("Ends", "CR its process ended with exit code 3"),
        ("Eats", f"CR MemoryError ({place('self.eaten')})"),
    ],
)
def test_seat_whose_code_fails_or_does_not_answer_has_a_fault_in_every_move(folder, game, agent, fault):
    terms = ggp.MatchTerms(0.5, 0.2, seed=1, grace_seconds=0.1) if fault == "TO" else TERMS
    start, *moves = play(game, agent, terms)
    assert start == ""
    assert set(moves) == {fault}


@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        ("LoopsInStart", "TO"),
        ("CrashesInStart", f"CR RuntimeError: no book ({place('no book')})"),
        ("CrashesInInit", f"CR CrashesInInit() failed: RuntimeError: no model ({place('no model')})"),
    ],
)
def test_seat_that_does_not_start_has_a_fault_in_every_answer(folder, game, agent, fault):
    terms = ggp.MatchTerms(0.3, 0.3, seed=1, grace_seconds=0.1, all_must_start=True)
    assert set(play(game, agent, terms)) == {fault}


def test_seat_plays_on_after_a_fault(folder, game):
    start, first, *others = play(game, "CrashesOnce")
    assert (start, first[:2], set(others)) == ("", "CR", {""})


def test_seat_that_does_not_start_again_is_late_in_this_match_alone(folder, game):
    for _ in range(2):
        (folder / "left").unlink(missing_ok=True)
        start, first, *others = play(game, "StartsOnce", ggp.MatchTerms(0.5, 0.5, seed=1, grace_seconds=0.2))
        assert (start, first[:2], set(others)) == ("", "CR", {"TO"})


def test_seat_notes_what_is_no_move(folder, game):
    faults = play(game, "Garbage")[1:6]
    assert [fault[:2] for fault in faults] == ["IL"] * 5
    assert faults[1] == "IL 'noop' is of type str, not a term"
    assert faults[3] == "IL (mark 9 9)"


def test_memory_of_a_seat_is_limited(folder, game):
    seat = seat_player("agents.py:Eats:mebibytes=1500", mebibytes=1000)
    seat.prepare(game)
    started(seat, game, clock=5)
    for _ in range(2):
        with pytest.raises(PlayerFaultError, match="MemoryError"):
            choose(seat, seconds=5)
    seat.stop(None)


def test_answers_out_of_turn_are_faults_of_the_player(folder, game):
    assert "CR its process wrote to the wrong place" in play(game, "AnswersOutOfTurn")


def test_a_long_traceback_is_cut(folder, game, capfd):
    assert any(fault.startswith("CR") for fault in play(game, "FailsAtLength"))
    assert len(capfd.readouterr().err) < 100_000


def test_seat_ends_what_its_player_has_started(folder, game):
    play(game, "Forks")
    pids = list(map(int, (folder / "forked").read_text().split()))
    assert pids
    assert wait_until_gone(pids)


def test_seat_that_is_replaced_observes_everything_again(folder):
    poker = ggp.load("kuhn_poker", engine="reasoner")
    seats = [seat_player("agents.py:Watches"), make_player("legal"), None]
    record = ggp.play_match(poker, seats, TERMS)
    assert record.is_completed
    told = [line.split() for line in (folder / "observed").read_text().splitlines()]
    first = {pid for pid, _ in told}
    assert len(first) > 1
    assert all(next(own for pid, own in told if pid == each) == told[0][1] for each in first)
    assert any(isinstance(step.faults[0], Crashed) for step in record.steps[1:])


def test_seat_ponders_while_the_other_one_thinks(folder):
    class Slow(ggp.Player):
        def choose(self, state, deadline, joint_move):
            time.sleep(0.05)
            return self.legal_moves(state)[0]

    game = ggp.load("tictactoe", engine="lanes")
    record = ggp.play_match(game, [seat_player("agents.py:Ponders"), Slow()], TERMS)
    assert not any(map(any, record.errors))
    assert len((folder / "pondered").read_text().split()) >= len(record.moves)


def test_seat_of_no_class_is_refused(folder):
    with pytest.raises(PlayerSpecError, match=r"agents\.py has no class Nobody"):
        seat_player("agents.py:Nobody")


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("agents.py:CrashesInInit", f"RuntimeError: no model ({place('no model')})"),
        ("syntax.py:Last", "syntax.py, line 1"),
    ],
)
def test_match_with_a_class_that_cannot_be_made_is_refused_with_its_line(folder, spec, told):
    with pytest.raises(PlayerSpecError) as caught:
        check_player(spec)
    assert told in str(caught.value)
    result = CliRunner().invoke(app, ["match", "tictactoe", spec, "random", "--engine", "reasoner"])
    assert result.exit_code == 2
    assert told in result.output
    assert "bug in ggp" not in result.output


@pytest.mark.slow
def test_tournament_counts_all_that_players_do_and_resumes_nothing(folder):
    late, clean = {"Loops", "Hogs", "LoopsInStart"}, {"First", "CrashesInStop", "Forks"}
    crashing = {"Crashes", "CrashesInStart", "CrashesInInit", "Ends", "Eats"}
    agents = sorted({*late, *crashing, *clean, "Garbage"})
    lines = "\n".join(f'{agent} = "agents.py:{agent}"' for agent in agents)
    (folder / "t.toml").write_text(
        'engine = "reasoner"\nrepetitions = 1\nplay_clock = 0.2\nagainst = ["plain"]\ngames = ["tictactoe"]\n'
        f'grace = 0.1\nmemory = 2048\n[agents]\nplain = "random"\n{lines}\n'
    )
    command = ["tournament", "t.toml", "--workers", "2"]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    count = 2 * len(agents)
    assert f"{count} of {count} matches" in result.output
    with Store(folder / "t.sqlite") as store:
        run = store.run()
        matches = store.matches(run)
        before = {match.id: match.stored_ms for match in matches}
    assert all(match.is_completed for match in matches)
    seats = [seat for match in matches for seat in match.seats if seat.agent != "plain"]
    faults = {agent: [0, 0, 0, 0] for agent in agents}
    for seat in seats:
        for kind, number in enumerate((seat.late, seat.illegal, seat.crashed, seat.lost)):
            faults[seat.agent][kind] += number == seat.moves
    assert {agent for agent in agents if faults[agent][0] == 2} == late
    assert {agent for agent in agents if faults[agent][2] == 2} == crashing
    assert {seat.agent for seat in seats if not seat.late + seat.illegal + seat.crashed + seat.lost} == clean
    assert CliRunner().invoke(app, command).exit_code == 0
    with Store(folder / "t.sqlite") as store:
        assert {match.id: match.stored_ms for match in store.matches(store.run())} == before


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize(
    "command",
    [
        "match tictactoe stuck.py:Stuck random --engine reasoner --play-clock 100",
        "tournament --game tictactoe --agents stuck.py:Stuck random --set engine=reasoner --play-clock 100",
        "player --agent stuck.py:Stuck --port 0",
    ],
)
def test_nothing_outlives_a_command_that_is_ended(folder, command, end):
    (folder / "stuck.py").write_text(
        "import glob, os, signal, time, ggp\n"
        "class Stuck(ggp.Player):\n"
        "    def choose(self, state, deadline, joint_move):\n"
        "        if os.fork() == 0:\n"
        "            os.setsid()\n"
        "            open(f'pid.{os.getpid()}', 'w').close()\n"
        "            time.sleep(600)\n"
        "        open(f'pid.{os.getpid()}', 'w').close()\n"
        "        while len(glob.glob('pid.*')) < 2:\n"
        "            time.sleep(0.01)\n"
        "        os.killpg(0, signal.SIGSTOP)\n"
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "ggp", *command.split()],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    limit = time.monotonic() + 60
    while len(list(folder.glob("pid.*"))) < 2 and time.monotonic() < limit:
        time.sleep(0.05)
    pids = [int(path.suffix[1:]) for path in folder.glob("pid.*")]
    running.send_signal(end)
    running.wait(20)
    assert len(pids) >= 2
    assert wait_until_gone(pids)


SEARCHING = """
import gc
import ggp
from numba.core.dispatcher import Dispatcher


def kernels():
    return sum(len(each.overloads) for each in gc.get_objects() if isinstance(each, Dispatcher))


class Searching(ggp.Player):
    def choose(self, state, deadline, joint_move):
        before = kernels()
        ggp.search_state(self.setup.game, state, role=self.setup.role, simulations=20)
        if self.setup.match_id != "prepare":
            with open("loaded", "a") as file:
                file.write(f"{kernels() - before}\\n")
        return self.legal_moves(state)[0]
"""


@pytest.mark.slow
def test_kernels_of_a_player_are_loaded_before_its_first_clock(folder):
    (folder / "searching.py").write_text(SEARCHING)
    seats = [seat_player("searching.py:Searching"), make_player("legal")]
    ggp.play_match(ggp.load("tictactoe"), seats, ggp.MatchTerms(60, 60, seed=1))
    assert set((folder / "loaded").read_text().split()) == {"0"}


@pytest.mark.slow
def test_assessment_of_a_class_that_fails_counts_crashes(folder):
    positions = [each for each in load_positions() if each.place.game == "tictactoe"][:2]
    card = assess("agents.py:Crashes", positions, AssessmentTerms(1.0, 1.0, "reasoner"))
    assert card.faults.crashed == card.move_count > 0
    assert f"{place('1 // 0')}" in card.faults.examples[0]


def managed(folder, agent, play_clock=1.5, **search):
    """The faults of an agent behind an HTTP server, and its moves."""

    async def scenario():
        options = SearchOptions(agent=f"agents.py:{agent}", engine="reasoner", seed=1, **search)
        async with running_player(search=options) as server, running_player() as other:
            addresses = [f"127.0.0.1:{port}" for port in (server.port, other.port)]
            game = ggp.load("tictactoe", engine="reasoner")
            return await manage_match(game, addresses, ggp.MatchTerms(30, play_clock, seed=1))

    record = asyncio.run(scenario())
    assert record.is_completed
    # With one legal move the server answers without its agent.
    return [step.faults[0] for step in record.steps[1:] if step.joint_move[0] != "noop"]


@pytest.mark.slow
@pytest.mark.parametrize("fallback", [True, False])
@pytest.mark.parametrize(
    ("agent", "fault"),
    [
        ("Crashes", Crashed(f"ZeroDivisionError: integer division or modulo by zero ({place('1 // 0')})")),
        ("CrashesInStart", Crashed(f"RuntimeError: no book ({place('no book')})")),
        ("Loops", Late()),
    ],
)
def test_moves_behind_a_server_that_are_not_the_agents_are_faults(folder, agent, fault, fallback, caplog):
    faults = managed(folder, agent, 0.5 if fault == Late() else 1.5, fallback=fallback)
    assert set(faults) == {fault}
    assert f"{len(faults)} of" in caplog.text
    assert "moves were not the agent's own" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize("fallback", [True, False])
def test_agent_behind_a_server_that_ends_its_process_has_a_fault_in_every_move(folder, fallback):
    faults = managed(folder, "Ends", fallback=fallback)
    assert faults
    assert all(isinstance(fault, Crashed | Late) for fault in faults)


@pytest.mark.slow
def test_agent_behind_a_server_that_plays_has_no_fault(folder):
    assert not any(managed(folder, "First", fallback=False))
    assert isinstance(managed(folder, "Garbage")[0], Illegal | Crashed)


@pytest.mark.slow
def test_server_ends_what_its_agent_has_started(folder):
    assert not any(managed(folder, "Forks"))
    assert wait_until_gone(list(map(int, (folder / "forked").read_text().split())))


@pytest.mark.slow
def test_repeated_play_gets_the_error_again_where_nothing_replaces_the_agents_moves(folder):
    async def scenario():
        options = SearchOptions(agent="agents.py:Crashes", engine="reasoner", seed=1, fallback=False)
        async with running_player(search=options) as server, aiohttp.ClientSession() as session:
            rules = find_rules("tictactoe").read_text(encoding="utf-8")
            start = f"( START m1 x ({rules}\n) 10 2 )"
            found = []
            for message in (start, "( PLAY m1 NIL )", "( PLAY m1 NIL )"):
                async with session.post(f"http://127.0.0.1:{server.port}", data=message) as reply:
                    found.append((reply.status, await reply.text()))
            return found

    ready, first, second = asyncio.run(scenario())
    assert ready == (200, "ready")
    assert first == second
    assert (first[0], first[1][:9]) == (500, "error CR ")
