"""Files: where this package lies, and write errors that include the file name."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
"""The folder of `ggp`; `gdl` and, in a checkout, `games` and `docs` are next to it."""


def user_cache_folder() -> Path | None:
    """The folder of our caches in the user's cache folder; None if there is no home folder."""
    return _user_folder("LOCALAPPDATA", "~/Library/Caches", "XDG_CACHE_HOME", "~/.cache")


def user_data_folder() -> Path | None:
    """The folder of what users had computed and want kept; None if there is no home folder."""
    return _user_folder("APPDATA", "~/Library/Application Support", "XDG_DATA_HOME", "~/.local/share")


def _user_folder(windows: str, mac: str, xdg: str, default: str) -> Path | None:
    """Our folder in one of the user's: an environment variable on Windows, else a folder.

    A relative path in the variable `xdg` is ignored, as the XDG base directory specification demands.
    """
    if sys.platform == "win32":
        base = os.environ.get(windows)
    elif sys.platform == "darwin":
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

    Compiled code is run as it is found: a folder that others may write to would let them run theirs.
    """
    make_private_folder(folder)
    if sys.platform == "win32":
        return
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
        if error.filename is None:
            error.filename = str(path)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Make `text` the content of a file, in UTF-8. Raises OSError with its name."""
    with writing(path):
        Path(path).write_text(text, encoding="utf-8")
