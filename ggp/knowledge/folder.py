"""Where knowledge about a game is kept, and JSON files that are checked when they are read.

KnowledgeFileError    the file holds something else, is damaged, or belongs to other rules
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from gdl.program import Program
from ggp.files import make_private_folder, user_data_folder, write_text
from ggp.game import Game
from ggp.solver.saved_header import rules_digest

NETWORK_FORMAT = "ggp-network 1"
"""Of `ggp.knowledge.taught`, which needs numpy; a file is known by its format without it."""

MAX_TEXT = 10_000
"""Characters of a text in a file."""
MAX_BYTES = 64 << 20
"""Larger files are refused before they are read."""


class KnowledgeFileError(Exception):
    """The file holds something else, is damaged, or belongs to other rules."""


def kept_file(program: Program, name: str) -> Path | None:
    """The place of the file `name` for these rules; None if the user has no data folder."""
    folder = user_data_folder()
    if folder is None:
        return None
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
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise KnowledgeFileError(f"{path}: larger than {MAX_BYTES >> 20} MiB")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise KnowledgeFileError(f"{path}: incomplete or damaged ({error})") from None
    if not isinstance(content, dict) or content.get("format") != file_format:
        raise KnowledgeFileError(f"{path}: not {file_format!r}")
    return content


@dataclass
class Knowledge:
    """Saved knowledge about the game with these rules, as JSON. Subclasses are dataclasses.

    game    name of the game
    rules   digest of its rules
    """

    game: str
    rules: str
    file_format: ClassVar[str]
    kind: ClassVar[str]

    @classmethod
    def empty(cls, game: Game[Any], *values: Any, **named: Any) -> Self:
        """Empty knowledge; further values are those of the other fields."""
        make: Any = cls
        return cast("Self", make(game.name, rules_digest(game.program), *values, **named))

    @classmethod
    def load(cls, path: str | Path, program: Program | None = None) -> Self:
        """Read what `save` wrote, of these rules only. Raises OSError, KnowledgeFileError."""
        content = read_knowledge(path, cls.file_format)
        try:
            found = cls._checked(content)
        except (ValueError, KeyError, TypeError, OverflowError, AttributeError) as error:
            raise KnowledgeFileError(f"{path}: incomplete or damaged ({error})") from None
        if program is not None and found.rules != rules_digest(program):
            raise KnowledgeFileError(f"{cls.kind} of other rules ({found.game})")
        return found

    @classmethod
    def _checked(cls, content: Mapping[str, Any]) -> Self:
        """The content of a file. Raises ValueError, KeyError, TypeError, OverflowError, AttributeError."""
        raise NotImplementedError

    def save(self, path: Path) -> None:
        """Write atomically. Raises OSError."""
        write_knowledge(path, {"format": self.file_format, **asdict(self)})


def checked_text(value: Any) -> str:
    """`value` if it is a text of acceptable length. Raises ValueError."""
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise ValueError("a text is missing or too long")
    return value


def checked_count(value: Any, most: int | None = None) -> int:
    """`value` if it is an integer from 0 to `most`. Raises ValueError."""
    if type(value) is not int or value < 0 or (most is not None and value > most):
        raise ValueError("a whole number is missing or out of range")
    return value


def checked_list(value: Any, most: int) -> list[Any]:
    """`value` if it is a list of at most `most` items. Raises ValueError."""
    if not isinstance(value, list) or len(value) > most:
        raise ValueError("a list is missing or too long")
    return value


def checked_number(value: Any, most: float = math.inf) -> float:
    """`value` if it is a finite number from 0 to `most`. Raises ValueError, TypeError, OverflowError."""
    number = float(value)
    if isinstance(value, str) or not 0 <= number <= most or math.isinf(number):
        raise ValueError("a number is out of range")
    return number


def write_knowledge(path: Path, content: Mapping[str, Any]) -> None:
    """Write a JSON object atomically, into a new private folder if need be. Raises OSError."""
    make_private_folder(path.parent)
    write_text(path, json.dumps(content) + "\n")
