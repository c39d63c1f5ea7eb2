"""Records of matches that have ended, so that their addresses keep working after their processes.

A folder of the user's data with one file a match, named like its address; the oldest go when there are too
many. Whatever cannot be written or read is left out: a kept match is a convenience.
"""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

from ggp.files import make_private_folder, user_data_folder, write_text

MAX_MATCHES = 200
MAX_BYTES = 2 * 1024 * 1024
_NAME = re.compile(r"[\w-]{8,40}", re.ASCII)


class KeptMatches:
    """The records in `folder`; None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def keep(self, name: str, record: str) -> None:
        """Write the record of a match, and remove the oldest ones beyond MAX_MATCHES."""
        path = self._path(name)
        if path is None or len(record) > MAX_BYTES:
            return
        with contextlib.suppress(OSError, UnicodeEncodeError):
            make_private_folder(path.parent)
            write_text(path, record)
            files = sorted(path.parent.glob("*.json"), key=lambda each: each.stat().st_mtime, reverse=True)
            for old in files[MAX_MATCHES:]:
                old.unlink(missing_ok=True)

    def record(self, name: str) -> str | None:
        """The record of a match that was kept."""
        path = self._path(name)
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if path is not None and path.stat().st_size <= MAX_BYTES:
                return path.read_text(encoding="utf-8")
        return None

    def _path(self, name: str) -> Path | None:
        """The file of a match; None for what is not the name of one, which may come from a stranger."""
        if self._folder is None or not _NAME.fullmatch(name):
            return None
        return self._folder / f"{name}.json"


def matches_folder() -> Path | None:
    """Where the matches of this user are kept."""
    folder = user_data_folder()
    return None if folder is None else folder / "matches"
