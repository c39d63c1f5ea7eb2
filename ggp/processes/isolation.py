"""Python processes that import no module from the working directory, and a function called in one.

`python -m` puts the working directory first in the module path: a file `queue.py` there would replace the
standard library's. `python -m ggp.processes.isolation` is the process of `result_of_process`.
"""

from __future__ import annotations

import base64
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

Result = TypeVar("Result")

_SOURCES = Path(__file__).resolve().parents[2]
"""The folder of the running `ggp`: a checkout, or where it is installed."""


def isolated_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs `module` in a new Python; start it in `isolated_environment()`.

    >>> isolated_command("ggp.web.sheet_process", "512")[1:]
    ['-P', '-m', 'ggp.web.sheet_process', '512']
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def grouped_command(*arguments: str) -> list[str]:
    """The command line that runs a program, and keeps all that it starts in its process group.

    >>> grouped_command("ls")[1:3], grouped_command("ls")[-1]
    (['-I', '-S'], 'ls')
    """
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("child_end.py")), *arguments]


def isolated_environment() -> dict[str, str]:
    """This process's environment, with the running `ggp` first in PYTHONPATH.

    Relative entries of PYTHONPATH, the empty one included, mean the working directory and are omitted.
    """
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(_SOURCES), *filter(os.path.isabs, inherited)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}


def result_of_process(call: Callable[[], Result]) -> Result:
    """The result of `call`, a `functools.partial` of a function of a module, called in a new process.

    For work on many Python objects, which in a thread would delay all others by up to half a second: by
    garbage collections, and by long calls that hold the interpreter lock. The process belongs to this one's
    group, and ends with it. Raises OSError if it cannot be started, ChildProcessError without a result.
    """
    process = subprocess.run(
        isolated_command(__name__),
        input=pickle.dumps(call),
        stdout=subprocess.PIPE,
        env=isolated_environment(),
        check=False,
    )
    if process.returncode:
        raise ChildProcessError(f"the process ended with code {process.returncode}")
    return cast("Result", pickle.loads(process.stdout))


def to_text(value: Any) -> str:
    """A value for a message to another process of this package.

    >>> from_text(to_text((1, "a")))
    (1, 'a')
    """
    return base64.b64encode(pickle.dumps(value)).decode()


def from_text(text: str) -> Any:
    """The inverse of `to_text`, for text of a parent or its own child only: it could run any code."""
    return pickle.loads(base64.b64decode(text))


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)()))
