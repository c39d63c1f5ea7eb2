"""The player on a real port: matches, odd messages, and failures of the search process."""

import asyncio
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ggp
from gdl.terms import Symbol
from ggp.engines.loading import find_rules
from ggp.match.player import PlayerSpecError
from ggp.player_server.match import SearchOptions
from ggp.player_server.process_pools import StatePool, WorkerPool, prepare_agent
from ggp.player_server.server import PlayerOptions, check_options
from ggp.protocol.messages import parse_term
from tests.ggp.percept_games import COIN
from tests.ggp.player_server.test_state_process import EXPLOSION
from tests.ggp.wire import QUICK, post, running_player

pytestmark = pytest.mark.slow  # processes

ROOT = Path(__file__).resolve().parents[3]
TICTACTOE = (ROOT / "games" / "tictactoe.kif").read_text(encoding="utf-8")
GAME = ggp.load(TICTACTOE, engine="reasoner")
UNSOLVED = "mcts:proof=off,solver=off"
"""Thinks for its whole clock, though tic-tac-toe can be solved in a start clock."""
INFO = "( ( name ggp-lanes ) ( status available ) ( species alien ) )"


def start(match_id="m", role="x", rules=TICTACTOE, start_clock=10, play_clock=5):
    return f"( START {match_id} {role} ({rules}) {start_clock} {play_clock} )"


def run(scenario):
    return asyncio.run(scenario)


@pytest.mark.parametrize("text", ["( PLAY m NIL )", "( STOP m NIL )", "( ABORT m )"])
def test_player_is_busy_for_matches_it_does_not_play(text):
    async def scenario():
        async with running_player() as server:
            return await post(server.port, text)

    assert run(scenario()) == "busy"


def test_player_is_ready_for_a_preview():
    async def scenario():
        async with running_player() as server:
            return await post(server.port, "( PREVIEW ((role x)) 5 )")

    assert run(scenario()) == "ready"


async def until(condition, seconds=60):
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.02)


# --- START ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "logged"),
    [
        (start(role="spectator"), "no role spectator"),
        (start(rules="(role x) (<= (legal x a)) (legal x)"), "GDL"),
        (start(rules="(role x) (<= (legal x ?y) (not (p ?y)))"), "GDL2"),
        (start(rules="tictactoe"), "without rules"),
        (start(rules=""), "without rules"),
    ],
)
def test_player_is_busy_for_rules_it_cannot_play(text, logged, caplog):
    async def scenario():
        async with running_player() as server:
            reply = await post(server.port, text)
            assert not server.matches
            return reply, await post(server.port, "( INFO )")

    with caplog.at_level(logging.INFO):
        reply, after = run(scenario())
    assert (reply, after) == ("busy", INFO)
    assert logged in caplog.text


def test_player_accepts_no_more_matches_than_allowed():
    async def scenario():
        async with running_player(max_matches=1) as server:
            replies = [await post(server.port, start("m1"))]
            replies.append(await post(server.port, "( INFO )"))
            replies.append(await post(server.port, start("m2")))
            replies.append(await post(server.port, "( PLAY m2 NIL )"))
            replies.append(await post(server.port, "( ABORT m1 )"))
            replies.append(await post(server.port, "( INFO )"))
            replies.append(await post(server.port, start("m2")))
            return replies

    busy = INFO.replace("available", "busy")
    assert run(scenario()) == ["ready", busy, "busy", "busy", "aborted", INFO, "ready"]


def test_player_answers_a_repeated_start_again():
    async def scenario():
        async with running_player() as server:
            first = await post(server.port, start())
            pid = server.matches["m"].worker_pid
            again = await post(server.port, start())
            assert server.matches["m"].worker_pid == pid
            return first, again, await post(server.port, start(role="o"))

    assert run(scenario()) == ("ready", "ready", "busy")


def freeze_state_processes(server):
    """Stop the processes that wait for matches; the first takes the next one."""
    for link in server._states.idle:
        os.kill(link.pid, signal.SIGSTOP)


def test_start_survives_the_death_of_the_process_that_reads_its_rules(caplog):
    async def scenario():
        async with running_player() as server:
            await until(lambda: len(server._states.idle) == 2)
            os.kill(server._states.idle[-1].pid, signal.SIGSTOP)
            starting = asyncio.create_task(post(server.port, start()))
            await until(lambda: server.matches and server.matches["m"].state_pid)
            os.kill(server.matches["m"].state_pid, signal.SIGKILL)
            return await starting, await post(server.port, "( PLAY m NIL )")

    ready, move = run(scenario())
    assert ready == "ready"
    assert move in legal_after()
    assert "the state process died; starting another one" in caplog.text


def test_start_whose_reader_dies_twice_says_so(caplog):
    async def scenario():
        async with running_player() as server:
            await until(lambda: len(server._states.idle) == 2)
            freeze_state_processes(server)
            starting = asyncio.create_task(post(server.port, start()))
            for pid in [link.pid for link in reversed(server._states.idle)]:
                await until(lambda: server.matches and server.matches["m"].state_pid == pid)  # noqa: B023
                os.kill(pid, signal.SIGKILL)
            return await starting, list(server.matches)

    with caplog.at_level(logging.INFO):
        assert run(scenario()) == ("busy", [])
    assert "cannot play: the state process died again" in caplog.text


def test_start_that_is_read_beyond_its_clock_is_kept_and_played():
    async def scenario():
        async with running_player() as server:
            await until(lambda: len(server._states.idle) == 2)
            freeze_state_processes(server)
            ready = await post(server.port, start(start_clock=0.5, play_clock=0.5))
            told = await post(server.port, "( INFO )")
            await post(server.port, "( PLAY m NIL )")  # a guess at best
            server.matches["m"].play_clock_seconds = 60.0
            playing = asyncio.create_task(post(server.port, "( PLAY m NIL )"))
            await asyncio.sleep(0.1)
            assert not playing.done()
            os.kill(server.matches["m"].state_pid, signal.SIGCONT)
            return ready, told, await playing, await post(server.port, "( INFO )")

    ready, told, move, after = run(scenario())
    assert (ready, told, after) == ("ready", INFO.replace("available", "busy"), INFO)
    assert move in legal_after()


# --- PLAY -------------------------------------------------------------------------------------


def legal_after(*joint_moves, role="x"):
    state = GAME.initial_state()
    for joint_move in joint_moves:
        state = GAME.next_state(state, [parse_term(move) for move in joint_move])
    return [str(move) for move in GAME.legal_moves(state, Symbol(role))]


def test_player_plays_a_match_to_its_end():
    async def scenario():
        async with running_player() as server:
            assert await post(server.port, start()) == "ready"
            first = await post(server.port, "( PLAY m NIL )")
            assert first in legal_after()
            waiting = await post(server.port, f"( PLAY m ( {first} noop ) )")
            move = next(move for move in legal_after((first, "noop"), role="o"))
            third = await post(server.port, f"(play m (noop {move}))")
            assert third in legal_after((first, "noop"), ("noop", move))
            done = await post(server.port, f"(Stop m ({third} noop))")
            return waiting, done, await post(server.port, f"( PLAY m ({third} noop) )")

    assert run(scenario()) == ("noop", "done", "busy")


def test_state_process_that_dies_in_a_match_is_replaced(caplog):
    async def scenario():
        async with running_player() as server:
            await post(server.port, start())
            match = server.matches["m"]
            first = await post(server.port, "( PLAY m NIL )")
            await post(server.port, f"( PLAY m ( {first} noop ) )")
            killed = match.state_pid
            os.kill(killed, signal.SIGKILL)
            move = next(move for move in legal_after((first, "noop"), role="o"))
            third = await post(server.port, f"( PLAY m (noop {move}) )")
            assert third in legal_after((first, "noop"), ("noop", move))
            return match.step, match.state_pid not in (None, killed)

    assert run(scenario()) == (2, True)
    assert "the state process died; starting another one" in caplog.text


def test_player_echoes_constants_as_received():

    async def scenario():
        async with running_player() as server:
            assert await post(server.port, f"(START M1 X({TICTACTOE.upper()})10 5)") == "ready"
            move = await post(server.port, "(PLAY M1 NIL)")
            return move, await post(server.port, f"(PLAY M1({move}NOOP))")

    move, waiting = run(scenario())
    assert move.startswith("(MARK ")
    assert move.lower() in legal_after()
    assert waiting == "NOOP"


def test_player_gives_a_repeated_play_the_same_answer():
    async def scenario():
        search = SearchOptions(agent="random")
        async with running_player(search=search) as server:
            await post(server.port, start())
            opening = [await post(server.port, "( PLAY m NIL )") for _ in range(5)]
            told = f"( PLAY m ( {opening[0]} noop ) )"
            await post(server.port, told)
            move = legal_after((opening[0], "noop"), role="o")[0]
            second = [await post(server.port, f"( PLAY m ( noop {move} ) )") for _ in range(5)]
            return opening, second

    opening, second = run(scenario())
    assert len(set(opening)) == 1
    assert len(set(second)) == 1


def test_player_distinguishes_a_repeated_message_from_a_repeated_joint_move():
    rules = """(role r) (role s) (init (n 0)) (succ 0 1) (succ 1 2) (succ 2 3)
    (<= (legal ?r a) (role ?r)) (<= (legal ?r b) (role ?r)) (<= (legal ?r (at ?n)) (role ?r) (true (n ?n)))
    (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m)) (<= terminal (true (n 3))) (<= (goal ?r 50) (role ?r))"""

    async def scenario():
        async with running_player() as server:
            await post(server.port, start(role="r", rules=rules))
            match = server.matches["m"]
            steps = []
            for told in ("NIL", "NIL", "(b b)", "(b b)", "((at 1) b)"):
                await post(server.port, f"( PLAY m {told} )")
                steps.append(match.step)
            return steps

    # `legal` answers (at n): "(b b)" was the manager's choice, so when it comes again it is no new step.
    assert run(scenario()) == [0, 0, 1, 1, 2]


def test_player_gives_a_play_that_is_repeated_at_once_the_same_answer():
    async def scenario():
        search = SearchOptions(agent="mcts")
        async with running_player(search=search) as server:
            await post(server.port, start(start_clock=1, play_clock=1))
            return await asyncio.gather(*(post(server.port, "( PLAY m NIL )") for _ in range(3)))

    assert len(set(run(scenario()))) == 1


@pytest.mark.parametrize(
    "told",
    ["( (mark 1 1) )", "( (mark 9 9) noop )", "( noop noop noop )", "( )", "( ((a) b) ?x )", "elephant"],
)
def test_player_answers_a_legal_move_to_an_impossible_joint_move(told, caplog):
    async def scenario():
        async with running_player() as server:
            await post(server.port, start(role="o"))
            await post(server.port, "( PLAY m NIL )")
            return await post(server.port, f"( PLAY m {told} )")

    with caplog.at_level(logging.WARNING):
        reply = run(scenario())
    every_move = set(legal_after(role="o")) | set(legal_after(("(mark 1 1)", "noop"), role="o"))
    assert reply in every_move | {"(mark 1 1)"}
    assert "joint move" in caplog.text or told == "elephant"


def test_player_answers_info_while_it_searches():
    async def scenario():
        async with running_player(search=SearchOptions(agent=UNSOLVED)) as server:
            await post(server.port, start(start_clock=1, play_clock=2))
            playing = asyncio.create_task(post(server.port, "( PLAY m NIL )"))
            await asyncio.sleep(0.3)
            info = await post(server.port, "( INFO )")
            assert not playing.done()
            return info, await playing

    info, move = run(scenario())
    assert info == INFO
    assert move in legal_after()


def test_player_plays_a_game_for_one_role():
    rules = "(role r) (init (n 0)) (succ 0 1) (succ 1 2) (legal r up) (legal r down) (<= (next (n ?m)) (true (n ?n)) (succ ?n ?m)) (<= terminal (true (n 2))) (goal r 100)"  # noqa: E501

    async def scenario():
        async with running_player() as server:
            await post(server.port, start(role="r", rules=rules))
            first = await post(server.port, "( PLAY m NIL )")
            second = await post(server.port, f"( PLAY m ( {first} ) )")
            return first, second, await post(server.port, f"( STOP m ( {second} ) )")

    assert run(scenario()) == ("down", "down", "done")


def test_player_uses_percepts():
    async def scenario():
        # Seen from outside: after `found` under cup b, a search must guess b.
        search = SearchOptions(agent="mcts:simulations=300,search=reference", seed=1)
        async with running_player(search=search) as server:
            assert await post(server.port, start(role="player", rules=COIN)) == "ready"
            first = await post(server.port, "( PLAY m 0 NIL NIL )")
            second = await post(server.port, "( PLAY m 1 noop () )")
            third = await post(server.port, "( PLAY m 2 (peek b) ( (looked b) found ) )")
            return first, second, third, await post(server.port, f"( STOP m 3 {third} () )")

    first, second, third, done = run(scenario())
    assert (first, third, done) == ("noop", "(guess b)", "done")
    assert second.startswith(("(peek ", "(guess "))


def test_player_answers_turn_own_move_and_percepts_in_capitals():
    """A whole match in the form of Dresden's manager for hidden information."""
    rules = re.sub(r";.*", "", find_rules("monty_hall").read_text()).upper()
    told = ["0 NIL NIL", "1 NOOP ()", "2 (PICK 1) ()", "3 NOOP ((OPENED 3))"]

    async def scenario():
        async with running_player() as server:
            ready = await post(server.port, start(role="CANDIDATE", rules=rules))
            answers = [await post(server.port, f"(PLAY m {each})") for each in told]
            return ready, answers, await post(server.port, "(STOP m 4 KEEP ())")

    assert run(scenario()) == ("ready", ["NOOP", "(PICK 1)", "NOOP", "KEEP"], "done")


@pytest.mark.parametrize("nothing", ["()", "(NIL NIL)", "( nil )", "0 NIL ()"])
@pytest.mark.parametrize(("role", "rules"), [("x", TICTACTOE), ("player", COIN)])
def test_first_play_reports_no_step_however_nil_is_written(nothing, role, rules):
    async def scenario():
        async with running_player() as server:
            assert await post(server.port, start(role=role, rules=rules)) == "ready"
            await post(server.port, f"( PLAY m {nothing} )")
            await post(server.port, f"( PLAY m {nothing} )" if role == "x" else "( INFO )")
            return server.matches["m"].step

    assert run(scenario()) == 0


# --- reports and pondering --------------------------------------------------------------------


async def play_two_moves(pause_seconds, options=""):
    """x moves, o pauses, x moves again; returns these answers."""
    answers = []
    agent = f"mcts:simulations=60,search=reference,solver=off{options}"
    async with running_player(search=SearchOptions(agent=agent)) as server:

        async def play(terms):
            move = await post(server.port, f"( PLAY m {terms} )")
            answers.append(server.matches["m"]._answered[1])
            return move

        await post(server.port, start(start_clock=20, play_clock=20))
        first = await play("NIL")
        await play(f"( {first} noop )")
        await asyncio.sleep(pause_seconds)
        reply = legal_after((first, "noop"), role="o")[0]
        second = await play(f"( noop {reply} )")
        assert second in legal_after((first, "noop"), ("noop", reply))
        assert await post(server.port, f"( PLAY m ( noop {reply} ) )") == second
    return answers


def test_player_reports_how_its_moves_were_found(caplog):
    with caplog.at_level(logging.INFO):
        told = run(play_two_moves(0.0))
    assert [answer.how for answer in told] == ["decided", "only move", "decided"]
    assert told[0].report["playouts"] == 60
    assert told[1].report is None
    lines = [record.getMessage() for record in caplog.records if " PLAY " in record.getMessage()]
    assert "(decided; reference, 60 playouts" in lines[0]
    assert lines[1].endswith("(only move)")
    assert lines[3].endswith("(repeated)")


def test_player_that_ponders_finds_a_larger_tree():
    without = run(play_two_moves(0.5))[-1].report["carried"]
    for pause_seconds in (1.0, 3.0, 9.0, 27.0):  # how long it takes depends on what else the machine does
        with_it = run(play_two_moves(pause_seconds, ",ponder=on"))[-1].report["carried"]
        if with_it > 2 * without:
            break
    assert with_it > 2 * without


def cpu_seconds(pid):
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_player_does_not_ponder_in_one_match_while_another_is_to_move():
    async def used(pid, seconds):
        before = cpu_seconds(pid)
        await asyncio.sleep(seconds)
        return cpu_seconds(pid) - before

    async def scenario():
        search = SearchOptions(agent="mcts:search=reference,solver=off")
        async with running_player(search=search) as server:
            await post(server.port, start("a", start_clock=3, play_clock=60))
            await post(server.port, start("b", start_clock=3, play_clock=6))
            pid = server.matches["a"].worker_pid
            alone = await used(pid, 1.0)
            playing = asyncio.create_task(post(server.port, "( PLAY b NIL )"))
            await asyncio.sleep(1.0)  # for the slice that is being searched
            meanwhile = await used(pid, 2.0)
            assert not playing.done()
            await playing
            return alone, meanwhile, await used(pid, 1.0)

    alone, meanwhile, afterwards = run(scenario())
    assert alone > 0.2
    assert meanwhile < 0.1
    assert afterwards > 0.2


@pytest.mark.parametrize("text", ["( ABORT m )", "( STOP m NIL )"])
def test_player_stops_pondering_when_the_match_ends(text):
    async def scenario():
        search = SearchOptions(agent="mcts:search=reference,solver=off")
        async with running_player(search=search) as server:
            await post(server.port, start(start_clock=3, play_clock=1))
            move = await post(server.port, "( PLAY m NIL )")
            await post(server.port, f"( PLAY m ( {move} noop ) )")
            worker = server.matches["m"].worker_pid
            assert is_alive(worker)
            assert await post(server.port, "( INFO )") == INFO
            begin = time.monotonic()
            await post(server.port, text)
            while is_alive(worker) and time.monotonic() - begin < 20:
                await asyncio.sleep(0.02)
            return time.monotonic() - begin

    assert run(scenario()) < 4


def test_player_accepts_no_match_while_it_prepares():
    async def scenario():
        async with running_player() as server:
            server.is_preparing = True
            early = [await post(server.port, "( INFO )"), await post(server.port, start())]
            server.is_preparing = False
            return [*early, await post(server.port, start())]

    assert run(scenario()) == [INFO.replace("available", "busy"), "busy", "ready"]


def test_agents_are_prepared_in_a_separate_process(caplog):
    assert run(prepare_agent("mcts:search=reference"))
    assert run(prepare_agent("legal"))
    assert not run(prepare_agent("wizard"))
    assert "unknown player 'wizard'" in caplog.text


HANGING_AGENT = """
import time, ggp

class Hanging(ggp.Player):
    def prepare(self, game):
        time.sleep(3600)
"""


def test_agent_that_hangs_in_its_preparation_is_cut_off(tmp_path, caplog):
    (tmp_path / "agents.py").write_text(HANGING_AGENT)
    agent = f"{tmp_path / 'agents.py'}:Hanging"
    pool = WorkerPool(agent, preparing_seconds=2.0)
    assert not run(pool.fill())
    assert caplog.messages == [f"not prepared: {agent} took more than 2 s"]


# --- the search process -----------------------------------------------------------------------


def test_player_survives_the_death_of_its_worker(caplog):
    async def scenario():
        async with running_player(search=SearchOptions(agent=UNSOLVED)) as server:
            await post(server.port, start(start_clock=1, play_clock=3))
            match = server.matches["m"]
            playing = asyncio.create_task(post(server.port, "( PLAY m NIL )"))
            await asyncio.sleep(0.3)
            killed = match.worker_pid
            os.kill(killed, signal.SIGKILL)
            move = await playing
            assert match.worker_pid not in (None, killed)
            return move, await post(server.port, f"( PLAY m ( {move} noop ) )")

    with caplog.at_level(logging.WARNING):
        move, waiting = run(scenario())
    assert move in legal_after()
    assert waiting == "noop"
    assert "worker died; starting another one" in caplog.text


def test_player_continues_without_search_when_workers_keep_dying(caplog):
    async def scenario():
        async with running_player(search=SearchOptions(agent=UNSOLVED)) as server:
            await post(server.port, start(start_clock=1, play_clock=6))
            match = server.matches["m"]
            playing = asyncio.create_task(post(server.port, "( PLAY m NIL )"))
            for _ in range(200):
                if match.worker_pid is not None:
                    os.kill(match.worker_pid, signal.SIGKILL)
                if playing.done():
                    break
                await asyncio.sleep(0.05)
            return await playing

    with caplog.at_level(logging.WARNING):
        assert run(scenario()) in legal_after()
    assert "continuing without search" in caplog.text


def test_player_answers_in_time_when_its_worker_is_stuck():
    async def scenario():
        async with running_player(search=SearchOptions(agent="mcts")) as server:
            await post(server.port, start(start_clock=1, play_clock=3))
            os.kill(server.matches["m"].worker_pid, signal.SIGSTOP)
            begin = time.monotonic()
            async with asyncio.timeout(20):
                move = await post(server.port, "( PLAY m NIL )")
            return move, time.monotonic() - begin

    move, seconds = run(scenario())
    assert move in legal_after()
    assert seconds < 3.0, "later than its clock"


def test_player_continues_when_its_worker_has_no_memory(caplog):
    async def scenario():
        search = SearchOptions(agent="mcts", memory_mebibytes=16)
        async with running_player(search=search) as server:
            ready = await post(server.port, start(start_clock=2, play_clock=3))
            return ready, await post(server.port, "( PLAY m NIL )")

    with caplog.at_level(logging.WARNING):
        ready, move = run(scenario())
    assert ready == "ready"
    assert move in legal_after()
    assert "worker" in caplog.text


def test_player_is_ready_in_time_though_its_worker_cannot_start(monkeypatch):
    async def scenario():
        async with running_player() as server:
            monkeypatch.setattr(sys, "executable", "/bin/false")
            return await post(server.port, start()), await post(server.port, "( PLAY m NIL )")

    ready, move = run(scenario())
    assert ready == "ready"
    assert move in legal_after()


def test_player_does_not_wait_for_a_worker_that_cannot_be_replaced(monkeypatch, caplog):
    async def scenario():
        async with running_player(search=SearchOptions(agent=UNSOLVED)) as server:
            await post(server.port, start(start_clock=1, play_clock=60))
            monkeypatch.setattr(sys, "executable", "/nowhere/python")
            playing = asyncio.create_task(post(server.port, "( PLAY m NIL )"))
            await asyncio.sleep(0.3)
            os.kill(server.matches["m"].worker_pid, signal.SIGKILL)
            async with asyncio.timeout(30):
                return await playing

    with caplog.at_level(logging.ERROR):
        assert run(scenario()) in legal_after()
    assert "no search process" in caplog.text


def player_process(*wrapper):
    code = (
        "import logging, sys; from ggp.player_server.server import *; logging.basicConfig(level='INFO');"
        "from ggp.player_server.match import SearchOptions;"
        "sys.exit(run_player(PlayerOptions(port=0, search=SearchOptions(agent='mcts'))))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [*wrapper, sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, env=environment
    )
    line = next(line for line in process.stderr if " listens on " in line)  # it may compile first
    return process, int(line.rpartition(":")[2])


def children(pid):
    found = []
    for entry in Path("/proc").iterdir():
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and int(fields[1]) == pid:
            found.append(int(entry.name))
    return found


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def sheet_of(size):
    """Tic-tac-toe with patterns and facts that decide nothing, of about `size` characters."""
    lines = [TICTACTOE]
    while sum(map(len, lines)) < size:
        number = len(lines)
        lines.append(f"(<= (pattern{number} ?x) (true (cell ?x ?y ?m)) (distinct ?m b) (near{number} ?x ?y))")
        lines += [f"(near{number} {x} {y})" for x in (1, 2, 3) for y in (1, 2)]
    return "\n".join(lines)


@pytest.mark.skipif(shutil.which("nice") is None, reason="lowers the priority of the player")
def test_player_under_load_loses_no_start_and_answers_every_play():
    """Two busy processes of higher priority per core; four matches at a time, as many as are allowed."""
    process, port = player_process("nice", "-n", "10")
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]

    async def play(number):
        ready = await post(port, start(f"m{number}", rules=sheet_of(5000 * number), start_clock=20))
        move = await post(port, f"( PLAY m{number} NIL )")
        await post(port, f"( ABORT m{number} )")
        return ready, move in legal_after()

    async def scenario():
        return [
            await asyncio.gather(*(play(number) for number in range(first, first + 4)))
            for first in range(1, 21, 4)
        ]

    try:
        assert run(scenario()) == [[("ready", True)] * 4] * 5
    finally:
        for each in (*busy, process):
            each.kill()
            each.wait()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_player_process_ends_its_workers_with_it(number):
    process, port = player_process()
    workers = []
    try:
        assert asyncio.run(post(port, start(start_clock=1, play_clock=60))) == "ready"
        workers = children(process.pid)
        assert workers
        process.send_signal(number)
        code = process.wait(10)
        for _ in range(100):
            if not any(map(is_alive, workers)):
                break
            time.sleep(0.05)
        assert not any(map(is_alive, workers))
        assert code == (-number if number == signal.SIGKILL else 0)
    finally:
        process.kill()
        process.wait()
        process.stderr.close()
        for worker in filter(is_alive, workers):
            os.kill(worker, signal.SIGKILL)


@pytest.mark.parametrize("agent", ["human", "http://127.0.0.1:1", "wizard", "mcts:depth=3"])
def test_check_options_refuses_agents_that_cannot_play(agent):
    with pytest.raises(PlayerSpecError):
        check_options(PlayerOptions(search=SearchOptions(agent=agent)))


def test_check_options_accepts_the_defaults():
    check_options(PlayerOptions())
    check_options(QUICK)


# --- strangers --------------------------------------------------------------------------------


def test_running_match_stays_when_a_start_with_its_id_is_bad():
    async def scenario():
        async with running_player() as server:
            await post(server.port, start())
            await post(server.port, "( PLAY m NIL )")
            match = server.matches["m"]
            bad = await post(server.port, start(rules="(role x) (<= (legal x a)) (legal x)"))
            assert server.matches["m"] is match
            match.manager = "192.0.2.1"
            stranger = await post(server.port, start())
            assert server.matches["m"] is match
            match.manager = "127.0.0.1"
            good = await post(server.port, start())
            assert server.matches["m"] is not match
            return bad, stranger, good, await post(server.port, "( PLAY m NIL )")

    bad, stranger, good, move = run(scenario())
    assert (bad, stranger, good) == ("busy", "busy", "ready")
    assert move in legal_after()


def test_clocks_of_a_week_keep_no_place_for_a_silent_manager():
    async def scenario():
        async with running_player(max_matches=1) as server:
            await post(server.port, start("m1", start_clock=604800, play_clock=604800))
            match = server.matches["m1"]
            match.last_heard -= 3000
            early = await post(server.port, start("m2"))
            match.last_heard -= 700
            return early, await post(server.port, start("m2"))

    assert run(scenario()) == ("busy", "ready")


@pytest.mark.parametrize(
    ("is_closed", "has_played", "silent_seconds", "reply"),
    [
        (True, False, 40, "ready"),
        (True, False, 20, "busy"),
        (False, False, 40, "busy"),
        (True, True, 40, "busy"),
    ],
)
def test_start_whose_connection_is_closed_early_keeps_no_place(
    is_closed, has_played, silent_seconds, reply, monkeypatch
):
    take = StatePool.take
    begins = asyncio.Event()

    async def slow_take(pool, is_abandoned):
        begins.set()
        await asyncio.sleep(0.5)
        return await take(pool, is_abandoned)

    async def scenario():
        async with running_player(max_matches=1) as server:
            monkeypatch.setattr(StatePool, "take", slow_take)
            text = start("m1", start_clock=600, play_clock=600)
            if is_closed:
                _, writer = await asyncio.open_connection("127.0.0.1", server.port)
                writer.write(f"POST / HTTP/1.0\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
                await begins.wait()
                writer.close()
                await until(lambda: "m1" in server.matches and server.matches["m1"].worker_pid is not None)
            else:
                await post(server.port, text)
            if has_played:
                await post(server.port, "( PLAY m1 NIL )")
            server.matches["m1"].last_heard -= silent_seconds
            return await post(server.port, start("m2"))

    assert run(scenario()) == reply


def test_player_plays_by_a_short_search_when_its_worker_sends_nothing(caplog):
    async def scenario():
        async with running_player(search=SearchOptions(agent="mcts", seed=1)) as server:
            await post(server.port, start(start_clock=4, play_clock=4))
            match = server.matches["m"]
            match._worker.on_event = lambda link, event: None
            return await post(server.port, "( PLAY m NIL )")

    with caplog.at_level(logging.INFO):
        assert run(scenario()) in legal_after()
    assert "(short search)" in caplog.text


def test_explosive_rules_leave_nothing_behind():
    """The same as a benchmark of 1,000: `benchmarks/flood.py`."""

    async def scenario():
        async with running_player() as server:
            for number in range(20):
                text = start(f"m{number}", rules=EXPLOSION, start_clock=30)
                starting = asyncio.create_task(post(server.port, text))
                while f"m{number}" not in server.matches:
                    await asyncio.sleep(0.05)
                assert await post(server.port, f"( ABORT m{number} )") == "aborted"
                await starting
            honest = await post(server.port, start("honest", start_clock=30))
            return honest, len(server.matches)

    honest, count = run(scenario())
    assert (honest, count) == ("ready", 1)


def test_search_process_serves_match_after_match_and_keeps_nothing_of_them():
    agent = "mcts:simulations=200,search=reference"

    async def scenario():
        pids, openings = [], []
        async with running_player(search=SearchOptions(agent=agent, seed=1)) as server:
            await server.prepare()
            for number, end in enumerate(["( STOP {} ({} noop) )", "( ABORT {} )", "( ABORT {} )"]):
                await until(lambda: server._workers.idle)
                await post(server.port, start(f"m{number}"))
                pids.append(server.matches[f"m{number}"].worker_pid)
                openings.append(await post(server.port, f"( PLAY m{number} NIL )"))
                await post(server.port, end.format(f"m{number}", openings[-1]))
            await until(lambda: server._workers.idle)
            return pids, openings

    pids, openings = run(scenario())
    assert len(set(pids)) == 1
    assert len(set(openings)) == 1


AGENTS = """
import time, ggp
from numba.core.event import trigger_event

class Stubborn(ggp.Player):
    def choose(self, state, deadline, joint_move):
        time.sleep(self.seconds_for(deadline))
        return self.legal_moves(state)[0]

    def seconds_for(self, deadline):
        return 0 if self.setup.match_id == "prepare" else 600

class Greedy(Stubborn):
    kept = []

    def seconds_for(self, deadline):
        if self.setup.match_id != "prepare":
            self.kept.append(bytes([1]) * (100 << 20))
        return 0

class Compiler(Stubborn):
    def choose(self, state, deadline, joint_move):
        if self.setup.match_id != "prepare":
            with trigger_event("numba:compile", data={}):
                time.sleep(3.0)
            open("compiled", "w").close()
        return self.legal_moves(state)[0]
"""


def play_and_abort(agent, folder, monkeypatch):
    """The process of a match that is aborted while its agent chooses: is it alive after that?"""
    monkeypatch.chdir(folder)
    (folder / "agents.py").write_text(AGENTS)

    async def scenario():
        search = SearchOptions(agent=f"agents.py:{agent}")
        async with running_player(search=search, margin_seconds=0.5) as server:
            await server.prepare()
            await post(server.port, start(start_clock=4, play_clock=1))
            pid = server.matches["m"].worker_pid
            await post(server.port, "( PLAY m NIL )")
            await post(server.port, "( ABORT m )")
            await until(lambda: not server._closing)
            return is_alive(pid)

    return run(scenario())


def test_search_process_is_killed_if_it_does_not_end_its_match(tmp_path, monkeypatch):
    assert not play_and_abort("Stubborn", tmp_path, monkeypatch)


def test_search_process_is_not_used_again_if_it_has_grown(tmp_path, monkeypatch):
    assert not play_and_abort("Greedy", tmp_path, monkeypatch)


def test_search_process_finishes_what_it_compiles_before_its_match_ends(tmp_path, monkeypatch):
    assert play_and_abort("Compiler", tmp_path, monkeypatch)
    assert (tmp_path / "compiled").exists()


def test_search_processes_are_no_more_than_there_may_be_matches():
    async def scenario():
        async with running_player(max_matches=2) as server:
            await server.prepare()
            for match_id in ("m1", "m2", "m1", "m2"):
                await post(server.port, start(match_id))
            pids = [match.worker_pid for match in server.matches.values()]
            for match_id in ("m1", "m2"):
                await post(server.port, f"( ABORT {match_id} )")
            await until(lambda: len(server._workers.idle) == 2)
            await post(server.port, start("m3"))
            return pids, server.matches["m3"].worker_pid

    pids, again = run(scenario())
    assert len(pids) == 2
    assert again in pids
