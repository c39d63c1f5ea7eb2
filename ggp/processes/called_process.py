"""Call a function in a separate process: `python -m ggp.processes.called_process`.

For work on many Python objects, which in a thread would delay all others by up to half a second: by garbage
collections, and by long calls that hold the interpreter lock.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import TypeVar, cast

from ggp.processes.isolation import isolated_command, isolated_environment

Result = TypeVar("Result")


def result_of_process(call: Callable[[], Result]) -> Result:
    """The result of `call`, a `functools.partial` of a function of a module, called in a new process.

    The process belongs to this one's group, and ends with it.

    >>> from functools import partial
    >>> result_of_process(partial(divmod, 17, 5))
    (3, 2)

    Raises OSError if the process cannot be started, ChildProcessError if it ends without a result.
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


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)()))
