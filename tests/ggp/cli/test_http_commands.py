"""`ggp player` and `ggp manage` from the command line: errors and records."""

import asyncio
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from ggp.cli.main import app
from ggp.engines.loading import RulesNotFoundError
from tests.ggp.wire import answering, running_player, scripted_player

WRONG = """
player --agent human
player --agent wizard
player --limit matches=0
player --limit memory=1
player --port 99999
player --margin -1
manage tictactoe 127.0.0.1:1
manage tictactoe 127.0.0.1:1 127.0.0.1:port
manage tictactoe
manage tictactoe a:1 b:2 --limit patience=1
manage tictactoe a:1 b:2 --limit wait
manage tictactoe a:1 b:2 --play-clock nan
"""


@pytest.mark.parametrize("arguments", WRONG.strip().splitlines())
def test_wrong_arguments_are_rejected(arguments):
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    assert "Error" in result.output


def run_in_process(*arguments):
    """Run `ggp` next to a server of this process."""
    command = [sys.executable, "-m", "ggp", *arguments]
    return asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, timeout=60, check=False)


def test_player_command_fails_on_a_port_that_is_taken():
    async def scenario():
        async with running_player() as server:
            return await run_in_process("player", "--port", str(server.port))

    done = asyncio.run(scenario())
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1" in done.stderr


def test_manage_command_names_a_missing_game():
    with pytest.raises(RulesNotFoundError, match="no-such-game"):  # `ggp` reports it and exits with 2
        CliRunner().invoke(app, ["manage", "no-such-game", "a:1"], catch_exceptions=False)


def test_manage_command_plays_and_writes_the_record(tmp_path):
    path = tmp_path / "match.json"
    sheet = tmp_path / "once.kif"
    sheet.write_text(
        "(role r) (legal r a) (legal r b) (init start) (<= (next (end ?m)) (does r ?m))"
        "(<= terminal (not (true start))) (<= (goal r 100) (true (end b)))"
        "(<= (goal r 0) (not (true (end b))))"
    )

    async def scenario():
        async with scripted_player(answering("b")) as (address, _):
            clocks = ("--start-clock", "5", "--play-clock", "2")
            return await run_in_process(
                "manage", str(sheet), address, *clocks, "--record", str(path), "--scramble"
            )

    done = asyncio.run(scenario())
    # The player's only answer was not legal: the match is complete, but nobody has played it.
    assert done.returncode == 1
    assert "no player made a legal move of its own" in done.stderr
    record = json.loads(path.read_text())
    assert record["matchId"].startswith("once")
    assert record["isCompleted"] is True
    assert record["scrambled"] is True
    # The player answers `b`, which is not legal in the scrambled rules.
    assert record["errors"][0] == [""]
    assert record["errors"][1][0].startswith("IL ")
    assert record["goalValues"] in ([0], [100])
    assert len(record["randomToken"]) == 32
    assert "(role r)" in record["rules"]


def test_manage_command_reports_that_nobody_listens():
    arguments = "manage tictactoe 127.0.0.1:1 127.0.0.1:1 --limit wait=0"
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 1
    assert "no player listens at 127.0.0.1:1" in result.output
