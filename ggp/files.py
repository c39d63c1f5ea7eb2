"""Files: the folders of this package and its user, and atomic writing."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, TextIO

PACKAGE = Path(__file__).resolve().parent
"""The folder of `ggp`; `gdl` and, in a checkout, `games` and `docs` are next to it."""

_PARTIAL = ".part"
"""Suffix of temporary files; errors name the file to be replaced instead."""


def user_cache_folder() -> Path | None:
    """The folder of our caches in the user's cache folder; None if there is no home folder."""
    return _user_folder("~/Library/Caches", "XDG_CACHE_HOME", "~/.cache")


def user_data_folder() -> Path | None:
    """The folder of results that users keep; None if there is no home folder."""
    return _user_folder("~/Library/Application Support", "XDG_DATA_HOME", "~/.local/share")


def _user_folder(mac: str, xdg: str, default: str) -> Path | None:
    """Our folder in one of the user's.

    A relative path in the variable `xdg` is ignored, as the XDG base directory specification demands.
    """
    if sys.platform == "darwin":
        base = os.path.expanduser(mac)
    else:
        chosen = os.environ.get(xdg, "")
        base = chosen if os.path.isabs(chosen) else os.path.expanduser(default)
    return Path(base) / "ggp-lanes" if base and os.path.isabs(base) else None


def make_private_folder(folder: Path) -> None:
    """Create `folder` with mode 0700, its new parents too. Raises OSError."""
    for missing in reversed([each for each in (folder, *folder.parents) if not each.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)


def require_private_folder(folder: Path) -> None:
    """Make `folder` the user's alone, for contents that are executed. Raises OSError if it is another user's.

    Compiled code is executed without checks: in a folder writable by others, they could run theirs.
    """
    make_private_folder(folder)
    found = folder.stat()
    if found.st_uid != os.getuid():
        raise PermissionError(errno.EPERM, "folder of another user", str(folder))
    if found.st_mode & 0o077:
        folder.chmod(0o700)


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Add the file's name to an OSError without one: a full disk is only noticed after opening."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename).endswith(_PARTIAL):
            error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def replacing(path: str | Path, *, is_synced: bool = True) -> Iterator[BinaryIO]:
    """Write a temporary file that replaces `path` when the `with` block ends.

    If the block or the disk fails, what was there stays as it was. Links are followed; permissions, and the
    owner as far as the system allows, are kept. Devices, pipes and whatever else is not a regular file are
    written to directly, and so is a file in a folder that takes no new ones.

    is_synced   False: a power failure may leave a damaged file, for callers that verify their files
    Raises OSError with the file's name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a") as file:
    ...         _ = file.write(b"some bytes")
    ...     Path(folder, "a").read_bytes()
    b'some bytes'
    """
    with writing(path):
        target = Path(os.path.realpath(path))
        partial = _partial_file(target) if _is_replaceable(path) else None
        if partial is None:
            with open(path, "wb") as file:
                yield file
            return
        try:
            with partial.open("wb") as file:
                yield file
                file.flush()
                if is_synced:
                    os.fsync(file.fileno())
            partial.replace(target)
        except BaseException:
            partial.unlink(missing_ok=True)
            raise


def _is_replaceable(path: str | Path) -> bool:
    """Whether another file may take the place of `path`: a regular file, or none yet, opened by its own name.

    /dev/stdout may lead to a regular file, but processes that hold it open would keep writing to the old one.
    """
    is_regular = os.path.isfile(path) or not os.path.exists(path)
    return is_regular and not os.path.abspath(path).startswith(("/dev/", "/proc/"))


def _partial_file(target: Path) -> Path | None:
    """A new file next to `target` with its permissions; None if only the old one can be written."""
    partial = target.with_name(f".new-{secrets.token_hex(8)}{_PARTIAL}")  # short: `target` may be long
    try:
        partial.touch(exist_ok=False)
    except OSError as error:
        if target.exists() and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            return None
        raise
    with suppress(FileNotFoundError):
        found = target.stat()
        with suppress(PermissionError):
            os.chown(partial, found.st_uid, found.st_gid)
        partial.chmod(stat.S_IMODE(found.st_mode))
    return partial


@contextmanager
def replacing_text(path: str | Path) -> Iterator[TextIO]:
    """The same for text in UTF-8, with line ends as they are written."""
    with replacing(path) as file:
        text = TextIOWrapper(file, "utf-8", newline="")
        yield text
        text.detach()


def write_text(path: str | Path, text: str) -> None:
    """Make `text` the content of a file, in UTF-8, at once or not at all. Raises OSError with its name."""
    with replacing(path) as file:
        file.write(text.encode())
