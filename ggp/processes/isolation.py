"""Isolation from the working directory: a child imports no module from there.

`python -m` puts the working directory first in the module path: a file `queue.py` there would replace the
standard library's.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

_SOURCES = Path(__file__).resolve().parents[2]
"""The folder of the running `ggp`: a checkout, or where it is installed."""


def isolated_command(module: str, *arguments: str) -> list[str]:
    """The command line that runs `module` in a new Python; start it in `isolated_environment()`.

    >>> isolated_command("ggp.web.sheet_process", "512")[1:]
    ['-P', '-m', 'ggp.web.sheet_process', '512']
    """
    return [sys.executable, "-P", "-m", module, *arguments]


def isolated_environment() -> dict[str, str]:
    """This process's environment, with the running `ggp` first in PYTHONPATH.

    Relative entries of PYTHONPATH, the empty one included, mean the working directory and are omitted.
    """
    inherited = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [str(_SOURCES), *filter(os.path.isabs, inherited)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
