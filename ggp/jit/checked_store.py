"""CheckedStore: cached files with checksums; a damaged one counts as absent.

Caches hold what can be made again. So nothing about them ends a command: a file that cannot be read or was
changed is removed, with one line in the log, and a folder that cannot be written is one warning.
"""

from __future__ import annotations

import functools
import hashlib
import logging
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ggp.files import make_private_folder, replacing

_logger = logging.getLogger("ggp")
_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True)
class CheckedStore:
    """Named contents in a folder; any number of processes may read and write them at once.

    folder   created, with mode 0700, on the first write; None: nothing is kept. Contents that are executed
             need one that `ggp.files.require_private_folder` has checked

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = CheckedStore(Path(folder))
    ...     store.save("a", b"some bytes")
    ...     store.load("a"), store.load("b")
    True
    (b'some bytes', None)
    """

    folder: Path | None

    def load(self, name: str) -> bytes | None:
        """The content saved under `name`; None if it is missing or damaged."""
        if self.folder is None:
            return None
        path = self.folder / name
        try:
            if stat.S_IFMT(path.stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
                # Pipes and devices may never end.
                self.drop(name, "not a file")
                return None
            data = path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            self.drop(name, error.strerror or str(error))
            return None
        content = data[_DIGEST_BYTES:]
        if data[:_DIGEST_BYTES] != _checksum(name, content):
            self.drop(name, "wrong checksum")
            return None
        return content

    def save(self, name: str, content: bytes) -> bool:
        """Save `content` under `name` and return True; if that fails, the first time, log a warning."""
        if self.folder is None:
            return False
        try:
            make_private_folder(self.folder)
            with replacing(self.folder / name, is_synced=False) as file:
                file.write(_checksum(name, content))
                file.write(content)
        except OSError as error:
            _warn_once(self.folder, error.strerror or str(error))
            return False
        return True

    def touch(self, name: str) -> None:
        """Note that what is saved under `name` was used, for `shrink`."""
        if self.folder is not None:
            with suppress(OSError):
                os.utime(self.folder / name)

    def shrink(self, suffix: str, limit_bytes: int, *, newest: str) -> None:
        """Remove the least recently used files whose names end in `suffix` until the rest fit, but never
        `newest`; leftovers of processes that were killed count, too."""
        if self.folder is None:
            return
        known: list[tuple[float, int, Path]] = []
        for place in (*self.folder.glob("*" + suffix), *self.folder.glob(".new-*.part")):
            with suppress(OSError):
                found = place.stat()
                known.append((found.st_mtime, found.st_size, place))
        total = sum(size for _, size, _ in known)
        for _, size, place in sorted(known):
            if total <= limit_bytes:
                break
            if place.name != newest:
                with suppress(OSError):
                    place.unlink()
                total -= size

    def drop(self, name: str, reason: str) -> None:
        """Remove what is saved under `name`, for a `reason` that is logged."""
        if self.folder is None:
            return
        path = self.folder / name
        _logger.warning("%s: damaged (%s); compiling it again", path, reason)
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()


def _checksum(name: str, content: bytes) -> bytes:
    """SHA-256 of the name too: a file under another's name is as wrong as a changed one."""
    return hashlib.sha256(hashlib.sha256(name.encode()).digest() + content).digest()


@functools.cache
def _warn_once(folder: Path, reason: str) -> None:
    _logger.warning("%s: cannot be written (%s); what is compiled now is not kept", folder, reason)
