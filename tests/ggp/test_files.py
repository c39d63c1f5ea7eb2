"""A disk that is full is noticed in the middle of writing; the message names the file all the same."""

import errno
import sys
from pathlib import Path

import pytest

from ggp.files import require_private_folder, user_cache_folder, write_text, writing

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


@pytest.mark.skipif(sys.platform != "linux", reason="XDG_CACHE_HOME is read on Linux")
def test_relative_cache_home_is_ignored(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert user_cache_folder() == tmp_path / ".cache" / "ggp-lanes"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "mine"))
    assert user_cache_folder() == tmp_path / "mine" / "ggp-lanes"


@pytest.mark.skipif(sys.platform == "win32", reason="needs permission bits")
def test_private_folder_is_closed_to_others(tmp_path):
    folder = tmp_path / "a" / "b"
    require_private_folder(folder)
    assert [place.stat().st_mode & 0o777 for place in (folder, folder.parent)] == [0o700, 0o700]
    folder.chmod(0o777)
    require_private_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform == "win32", reason="needs permission bits")
def test_private_folder_of_another_user_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(PermissionError, match="another user"):
        require_private_folder(tmp_path)
