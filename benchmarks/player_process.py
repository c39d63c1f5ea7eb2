"""`ggp player` as a child process, for benchmarks that play over HTTP."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections import deque
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOG_LINES = 20_000


def environment_of(root: Path) -> dict[str, str]:
    """Environment variables under which Python imports the checkout in `root`."""
    return {**os.environ, "PYTHONPATH": str(root)}


ENVIRONMENT = environment_of(ROOT)


def pinned(core: int | None) -> list[str]:
    """What to put before a command to keep it on one core; nothing for None, or without `taskset`."""
    return [] if core is None or shutil.which("taskset") is None else ["taskset", "-c", str(core)]


class PlayerProcess:
    """A `ggp player` of the checkout in `root` on a free port; `lines` holds the end of its log."""

    def __init__(self, *options: str, root: Path = ROOT, core: int | None = None) -> None:
        command = [*pinned(core), sys.executable, "-m", "ggp", "player", "--port", "0", *options]
        self.process = subprocess.Popen(
            command, stderr=subprocess.PIPE, text=True, env=environment_of(root), cwd=root
        )
        self.lines: deque[str] = deque(maxlen=LOG_LINES)
        assert self.process.stderr is not None
        for line in self.process.stderr:  # it may report first that it compiles
            if " listens on " in line:
                self.port = int(line.strip().rpartition(":")[2])
                break
        else:
            raise RuntimeError(f"ggp player ended with {self.process.wait()}")
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line.rstrip())

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def workers(self) -> list[int]:
        """Process ids of its children: search processes and those that compute states."""
        try:
            text = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        except OSError:
            return []
        return list(map(int, text.split()))

    def count(self, about: str, *endings: str) -> int:
        """Log lines with `about` that end in one of `endings`."""
        return sum(1 for line in list(self.lines) if about in line and line.endswith(endings))

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
        self.process.wait(10)


def resident_mebibytes(pid: int) -> float:
    """Resident memory of a process; 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, ValueError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20
