"""`ggp player` and `ggp manage` from the command line: errors and records."""

import asyncio
import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from ggp.cli import manage, player
from ggp.engines.loading import RulesNotFoundError
from tests.ggp.wire import answering, running_player, scripted_player


@pytest.mark.parametrize(
    "arguments",
    [
        ["--agent", "human"],
        ["--agent", "wizard"],
        ["--limit", "matches=0"],
        ["--limit", "memory=1"],
        ["--port", "99999"],
        ["--margin", "-1"],
    ],
)
def test_player_command_rejects_wrong_options(arguments):
    result = CliRunner().invoke(player.command, arguments)
    assert result.exit_code == 2
    assert "Error" in result.output


def test_player_command_fails_on_a_port_that_is_taken():
    async def scenario():
        async with running_player() as server:
            command = [sys.executable, "-m", "ggp", "player", "--port", str(server.port)]
            return await asyncio.to_thread(
                subprocess.run, command, capture_output=True, text=True, timeout=30, check=False
            )

    done = asyncio.run(scenario())
    assert done.returncode == 1
    assert "cannot listen on 127.0.0.1" in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["tictactoe", "127.0.0.1:1"],
        ["tictactoe", "127.0.0.1:1", "127.0.0.1:port"],
        ["tictactoe"],
        ["tictactoe", "a:1", "b:2", "--limit", "patience=1"],
        ["tictactoe", "a:1", "b:2", "--limit", "wait"],
        ["tictactoe", "a:1", "b:2", "--play-clock", "nan"],
    ],
)
def test_manage_command_rejects_wrong_arguments(arguments):
    result = CliRunner().invoke(manage.command, arguments)
    assert result.exit_code == 2
    assert "Error" in result.output


def test_manage_command_names_a_missing_game():
    with pytest.raises(RulesNotFoundError, match="no-such-game"):  # `ggp` reports it and exits with 2
        CliRunner().invoke(manage.command, ["no-such-game", "a:1"], catch_exceptions=False)


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
            arguments = [
                str(sheet),
                address,
                "--start-clock",
                "5",
                "--play-clock",
                "2",
                "--record",
                str(path),
            ]
            command = [sys.executable, "-m", "ggp", "manage", *arguments, "--scramble"]
            return await asyncio.to_thread(
                subprocess.run, command, capture_output=True, text=True, timeout=60, check=False
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
    result = CliRunner().invoke(
        manage.command, ["tictactoe", "127.0.0.1:1", "127.0.0.1:1", "--limit", "wait=0"]
    )
    assert result.exit_code == 1
    assert "no player listens at 127.0.0.1:1" in result.output
