"""Matches on disk, so that their addresses keep working after their processes and after the server.

A folder of the user's data with one file a match, named like its address: a record, or what is needed to
resume a match that was played here. The oldest go when there are too many. Whatever cannot be written or read
is left out: a kept match is a convenience.
"""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path
from typing import Any

from ggp.files import make_private_folder, user_data_folder, write_text

MAX_MATCHES = 200
MAX_BYTES = 6 * 1024 * 1024
"""More than the largest record that the page takes."""
MAX_READ = 24
"""Maximum number of files read to find those that can be resumed."""
_NAME = re.compile(r"[\w-]{8,40}", re.ASCII)


class KeptMatches:
    """The matches in `folder`; None: nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def keep(self, name: str, text: str) -> None:
        """Write the file of a match, and remove the oldest ones beyond MAX_MATCHES."""
        path = self._path(name)
        if path is None or len(text) > MAX_BYTES:
            return
        with contextlib.suppress(OSError, UnicodeEncodeError):
            make_private_folder(path.parent)
            write_text(path, text)
            for old in self._newest()[MAX_MATCHES:]:
                old.unlink(missing_ok=True)

    def text(self, name: str) -> str | None:
        """The file of a match that was kept."""
        path = self._path(name)
        with contextlib.suppress(OSError):
            if path is not None and path.is_file() and path.stat().st_size <= MAX_BYTES:
                return path.read_text(encoding="utf-8", errors="replace")
        return None

    def going_on(self, count: int) -> dict[str, dict[str, Any]]:
        """The `summary` of the newest matches that can be resumed, at most `count`, by name."""
        found: dict[str, dict[str, Any]] = {}
        with contextlib.suppress(OSError):
            for path in self._newest()[:MAX_READ]:
                with contextlib.suppress(ValueError, RecursionError):
                    content = json.loads(self.text(path.stem) or "0")
                    summary = content.get("summary") if isinstance(content, dict) else None
                    if not isinstance(summary, dict) or "record" in content or len(found) == count:
                        continue
                    if isinstance(summary.get("seats"), dict):
                        found[path.stem] = summary
        return found

    def _newest(self) -> list[Path]:
        """All files, the newest first. Raises OSError."""
        paths = [] if self._folder is None else self._folder.glob("*.json")
        return sorted(
            (path for path in paths if path.is_file()), key=lambda each: each.stat().st_mtime, reverse=True
        )

    def forget(self, name: str) -> None:
        """Remove the file of a match."""
        path = self._path(name)
        with contextlib.suppress(OSError):
            if path is not None:
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path | None:
        """The file of a match; None for what is not the name of one, which may come from a stranger."""
        if self._folder is None or not _NAME.fullmatch(name):
            return None
        return self._folder / f"{name}.json"


def matches_folder() -> Path | None:
    """Where the matches of this user are kept."""
    folder = user_data_folder()
    return None if folder is None else folder / "matches"
