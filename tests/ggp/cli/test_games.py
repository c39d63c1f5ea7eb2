"""`ggp games`: what is listed, and what `ggp games info` shows of a sheet's comment."""

import json

from click.testing import CliRunner

from ggp.cli.main import app


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    return result.exit_code, result.output


def test_games_lists_names_titles_and_kinds():
    code, out = run("games")
    assert code == 0
    lines = out.splitlines()
    assert len(lines) >= 44
    assert any(
        line.startswith("tictactoe ") and "Tic-tac-toe (turn-taking, zero-sum)" in line for line in lines
    )
    assert all(len(line) <= 80 for line in lines)


def test_games_can_be_filtered():
    code, out = run("games", "puzzle", "hanoi")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == ["hanoi"]
    assert "no game mentions zugzwang" in run("games", "zugzwang")[1]


def test_games_of_the_current_folder_come_first(tmp_path, monkeypatch):
    (tmp_path / "games").mkdir()
    (tmp_path / "games" / "nim.kif").write_text("; My own nim.\n(role me)\n")
    (tmp_path / "games" / "broken.kif").write_bytes(b"\xff\xfe\x00")
    monkeypatch.chdir(tmp_path)
    assert "nim  My own nim\n" in run("games", "nim")[1]


def test_info_shows_title_and_rules_of_the_sheet():
    code, out = run("games", "info", "nim")
    assert code == 0
    assert "Nim with heaps of 1, 3, 5 and 7, normal play" in out
    assert "how to play" in out
    assert "makes one heap" in out
    data = json.loads(run("games", "info", "nim", "--json")[1])
    assert data["title"].startswith("Nim with heaps")
