"""A disk that is full is noticed in the middle of writing; the message names the file all the same."""

import errno
from pathlib import Path

import pytest

from ggp.written_files import write_text, writing

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
