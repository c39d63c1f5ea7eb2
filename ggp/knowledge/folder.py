"""Where knowledge about a game is kept, and JSON files that are checked when they are read.

KnowledgeFileError    the file holds something else, is damaged, or belongs to other rules
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gdl.program import Program
from ggp.files import make_private_folder, user_data_folder, write_text

ENDINGS_FILE_NAME = "endings.solution"
"""A table of endings, in the format of saved solutions: see `ggp.solver.endings`."""
NETWORK_FORMAT = "ggp-network 1"
"""Of `ggp.knowledge.taught`, which needs numpy; a file is known by its format without it."""

MOST_BYTES = 64 << 20
"""Larger files are refused before they are read."""


class KnowledgeFileError(Exception):
    """The file holds something else, is damaged, or belongs to other rules."""


def kept_file(program: Program, name: str) -> Path | None:
    """The place of the file `name` for these rules; None if the user has no data folder."""
    folder = user_data_folder()
    if folder is None:
        return None
    from ggp.solver.work_folder import rules_digest

    return folder / "games" / rules_digest(program) / name


def prepare_kept_file(program: Program, name: str) -> Path | None:
    """The same, in a private folder that exists. Raises OSError."""
    path = kept_file(program, name)
    if path is not None:
        make_private_folder(path.parent)
    return path


def find_kept_file(program: Program, name: str) -> Path | None:
    """The file `name` for these rules if there is one."""
    folder = user_data_folder()
    if folder is None or not (folder / "games").is_dir():
        return None
    path = kept_file(program, name)
    return path if path is not None and path.is_file() else None


def read_knowledge(path: str | Path, file_format: str) -> dict[str, Any]:
    """The JSON object in a file of this format. Raises OSError, KnowledgeFileError."""
    path = Path(path)
    if path.exists() and not path.is_file():  # reading a pipe would block until a writer appears
        raise KnowledgeFileError(f"{path}: not a regular file")
    with path.open("rb") as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise KnowledgeFileError(f"{path}: larger than {MOST_BYTES >> 20} MiB")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise KnowledgeFileError(f"{path}: incomplete or damaged ({error})") from None
    if not isinstance(content, dict) or content.get("format") != file_format:
        raise KnowledgeFileError(f"{path}: not {file_format!r}")
    return content


def write_knowledge(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object atomically, into a new private folder if need be. Raises OSError."""
    make_private_folder(path.parent)
    write_text(path, json.dumps(content) + "\n")
