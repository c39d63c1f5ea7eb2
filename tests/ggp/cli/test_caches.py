"""Commands on damaged caches, full disks and folders that cannot be written: a warning is the most."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
from itertools import cycle

import pytest

from gdl.syntax.printer import to_kif
from ggp.engines.loading import read_program
from ggp.jit.compiling import IS_COMPILED
from ggp.player_server.match import SearchOptions
from tests.ggp.jit.test_checked_store import DAMAGES
from tests.ggp.small_disk import small_disk
from tests.ggp.wire import post, running_player

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not IS_COMPILED or sys.platform != "linux", reason="needs compiled kernels"),
]
MATCH = ("match", "tictactoe", "random", "random", "--engine", "lanes", "--seed", "1")


def run(home, *arguments, setup=None):
    """Run `ggp`, with its caches in `home`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GGP_")}
    environment |= {"XDG_CACHE_HOME": str(home), "XDG_DATA_HOME": str(home)}
    command = [sys.executable, "-m", "ggp", *arguments]
    done = subprocess.run(
        command, env=environment, preexec_fn=setup, capture_output=True, text=True, check=False
    )
    done.stdout = re.sub(r" \(\d+\.\d\d s\)|\d+\.\d\d s", "", done.stdout)  # times differ from run to run
    return done


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache with what MATCH needs, and its output."""
    home = tmp_path_factory.mktemp("home")
    done = run(home, *MATCH)
    assert done.returncode == 0
    assert len(cached(home)) >= 3
    return home, done.stdout


def cached(home):
    return [path for end in ("kernel", "circuit") for path in sorted(home.rglob(f"*.{end}"))]


def damaged(filled, tmp_path):
    """A copy in which all files are damaged, each in another way than the next."""
    home = tmp_path / "home"
    shutil.copytree(filled, home)
    for path, damage in zip(cached(home), cycle(DAMAGES.values()), strict=False):
        path.write_bytes(damage(path.read_bytes()))
    return home


def test_a_command_mends_a_damaged_cache(filled, tmp_path):
    """What counts as damaged is tested in `test_checked_store`."""
    home = damaged(filled[0], tmp_path)
    first, second = run(home, *MATCH), run(home, *MATCH)
    assert (first.returncode, first.stdout) == (0, filled[1])
    assert first.stderr.count("compiling it again") == len(cached(home))
    assert (second.returncode, second.stdout, second.stderr) == (0, filled[1], "")


def test_a_player_mends_a_damaged_cache(filled, tmp_path, monkeypatch, caplog):
    home = damaged(filled[0], tmp_path)
    before = {path: path.read_bytes() for path in cached(home)}
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.delenv("GGP_KERNEL_CACHE", raising=False)
    rules = " ".join(map(to_kif, read_program("tictactoe")[0].rules))

    async def scenario():
        async with running_player(search=SearchOptions(agent="random", seed=1)) as server:
            started = await post(server.port, f"(START m x ({rules}) 60 60)")
            return started, await post(server.port, "(PLAY m NIL)")

    started, move = asyncio.run(scenario())
    assert started == "ready"
    assert move.startswith("(mark ")
    assert "not prepared" not in caplog.text
    assert sum(path.read_bytes() != before.get(path) for path in cached(home)) >= 3


def test_a_full_disk_is_a_warning(tmp_path):
    done = run(tmp_path, *MATCH, setup=small_disk)
    assert done.returncode == 0
    assert "steps" in done.stdout
    assert done.stderr.count("cannot be written (File too large)") == len(("kernels", "circuits"))


@pytest.mark.parametrize("home", ["file", "file/home"])
def test_a_home_that_cannot_be_made_is_a_warning(home, tmp_path):
    (tmp_path / "file").touch()
    done = run(tmp_path / home, *MATCH)
    assert done.returncode == 0
    assert "steps" in done.stdout
    assert "cannot be written" in done.stderr


def test_a_record_outlives_a_full_disk(filled, tmp_path):
    record = tmp_path / "record.json"
    record.write_text("the record of another match")
    done = run(filled[0], *MATCH, "--record", str(record), setup=small_disk)
    assert done.returncode == 2
    assert done.stderr == f"{record}: File too large\n"
    assert record.read_text() == "the record of another match"
    assert list(tmp_path.iterdir()) == [record]
    assert run(filled[0], *MATCH, "--record", str(record)).returncode == 0
    assert "matchId" in record.read_text()


def test_a_record_can_be_written_to_standard_output(filled):
    done = run(filled[0], *MATCH, "--record", "/dev/stdout")
    assert done.returncode == 0
    assert "matchId" in done.stdout


def test_a_link_to_a_file_that_is_not_there_yet_is_followed(filled, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "record.json")
    assert run(filled[0], *MATCH, "--record", str(tmp_path / "link")).returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert "matchId" in (tmp_path / "record.json").read_text()
