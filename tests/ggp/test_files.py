"""Files are replaced as a whole or not at all; whatever fails, the message names the file."""

import ast
import errno
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from ggp.files import (
    PACKAGE,
    replacing_text,
    require_private_folder,
    user_cache_folder,
    write_text,
    writing,
)
from tests.ggp.small_disk import SMALL, small_disk

FULL = Path("/dev/full")


def test_text_is_written(tmp_path):
    write_text(tmp_path / "a", "é\n")
    assert (tmp_path / "a").read_bytes() == "é\n".encode()


@pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")
def test_full_disk_is_named():
    with pytest.raises(OSError, match="No space left") as caught:
        write_text(FULL, "a")
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(FULL))


def test_names_that_are_known_stay(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, writing("another"):
        (tmp_path / "a" / "b").write_text("")
    assert caught.value.filename == str(tmp_path / "a" / "b")


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_what_was_there(tmp_path, error):
    path = tmp_path / "a"
    path.write_text("old")

    def write():
        with replacing_text(path) as text:
            text.write("new")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_what_was_there(tmp_path):
    path = tmp_path / "a"
    path.write_text("old")
    script = f"from ggp.files import write_text\nwrite_text({str(path)!r}, 'x' * {2 * SMALL})"
    run = subprocess.run(
        [sys.executable, "-c", script], preexec_fn=small_disk, capture_output=True, text=True, check=False
    )
    assert f"File too large: '{path}'" in run.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_replacing_follows_links_and_keeps_permissions(tmp_path):
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o640)
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "folder" / "other")
    write_text(dangling, "new")
    assert (tmp_path / "folder" / "other").read_text() == "new"


def test_new_files_have_the_permissions_of_any_new_file(tmp_path):
    write_text(tmp_path / "a", "new")
    (tmp_path / "b").write_text("new")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_names_of_any_length_are_written(tmp_path):
    path = tmp_path / ("n" * 255)
    for text in ("old", "new"):
        write_text(path, text)
        assert path.read_text() == text


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        write_text(tmp_path / "missing" / "a", "new")
    assert caught.value.filename == str(tmp_path / "missing" / "a")
    with pytest.raises(IsADirectoryError) as caught:
        write_text(tmp_path, "new")
    assert caught.value.filename == str(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_is_written_to(tmp_path):
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    write_text(pipe, "new")
    reader.join()
    assert read == [b"new"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_is_not_replaced(tmp_path):
    script = "from ggp.files import write_text\nwrite_text('/dev/stdout', 'text')"
    with (tmp_path / "out").open("wb") as out:
        subprocess.run([sys.executable, "-c", script], stdout=out, check=True)
        out.seek(4)
        out.write(b" and more")
    assert (tmp_path / "out").read_text() == "text and more"


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_file_in_a_folder_that_takes_no_new_ones_is_written(tmp_path):
    path = tmp_path / "folder" / "a"
    path.parent.mkdir()
    path.write_text("old")
    path.parent.chmod(0o500)
    write_text(path, "new")
    assert path.read_text() == "new"


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is read on Linux")
def test_relative_cache_home_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache_folder() == tmp_path / ".cache" / "ggp-lanes"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert user_cache_folder() == tmp_path / "mine" / "ggp-lanes"


def test_private_folder_is_closed_to_others(tmp_path):
    folder = tmp_path / "a" / "b"
    require_private_folder(folder)
    assert [place.stat().st_mode & 0o777 for place in (folder, folder.parent)] == [0o700, 0o700]
    folder.chmod(0o777)
    require_private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_private_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="another user"):
        require_private_folder(tmp_path)


WRITERS = {"files.py", "second_process.py", "compile_client.py", "space.py"}
"""Where files are opened for writing: to replace others, as locks, and to append keys
to a work folder, which counts only with a checkpoint written afterwards."""


def is_written(call):
    """Whether a call opens or makes a file for writing."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    words = [each.value for each in call.args if isinstance(each, ast.Constant)]
    words += [each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)]
    mode = re.compile("[rbt]*[wax+][rbt+]*")
    is_for_writing = any(isinstance(word, str) and mode.fullmatch(word) for word in words)
    opens = name.endswith(("open", "File")) and name != "fdopen"
    return name in ("write_text", "write_bytes") or (opens and is_for_writing)


def test_files_are_replaced_in_one_place():
    found = set()
    for package in (PACKAGE, PACKAGE.parent / "gdl"):
        for path in package.rglob("*.py"):
            calls = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
            ours = [call for call in calls if getattr(call.func, "id", "") != "write_text"]
            found |= {path.name for call in ours if is_written(call)}
    assert found == WRITERS
