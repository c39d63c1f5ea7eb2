"""WorkFolder: the files of an enumeration, from which it resumes.

A folder of raw arrays: `edge-7` and `moves-7` belong to chunk 7, `keys` and `goal` to the states found, and
`checkpoint.json`, written last, records their rules and sizes.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ggp.files import write_text
from ggp.lanes.keys.state_code import StateCode

_CHECKPOINT = "checkpoint.json"


@dataclass(frozen=True)
class Checkpoint:
    """An interrupted enumeration: N states found; `chunks` are (first, count, transitions)."""

    rules: str
    code: dict[str, Any]
    states: int
    layer_ends: list[int]
    backward: int
    seconds: float
    chunks: list[tuple[int, int, int]]


def describe_code(code: StateCode) -> dict[str, Any]:
    """The state code as JSON-able data."""
    return {name: np.asarray(getattr(code, name)).tolist() for name in StateCode._fields}


class WorkFolder:
    """A folder of arrays; without a path a temporary one, removed with this object."""

    def __init__(self, path: Path | None) -> None:
        self._temporary = tempfile.TemporaryDirectory(prefix="ggp-solve-") if path is None else None
        self.path = Path(self._temporary.name) if self._temporary else path or Path()
        self.path.mkdir(parents=True, exist_ok=True)

    def store(self, name: str, array: NDArray[Any]) -> NDArray[Any]:
        """The array, moved to a file."""
        array.tofile(self.path / name)
        return self.open(name, array.dtype, array.shape)

    def open(self, name: str, dtype: Any, shape: tuple[int, ...]) -> NDArray[Any]:
        """A stored array, mapped into memory."""
        if 0 in shape:
            return np.zeros(shape, dtype)
        mapped: Any = np.memmap(self.path / name, dtype, "r", shape=shape)
        found: NDArray[Any] = mapped
        return found

    def save(self, checkpoint: Checkpoint, keys: NDArray[np.uint64], goal: NDArray[np.uint8]) -> None:
        """Save all that is needed to resume the enumeration."""
        (self.path / _CHECKPOINT).unlink(missing_ok=True)
        keys.tofile(self.path / "keys")
        goal.tofile(self.path / "goal")
        write_text(self.path / _CHECKPOINT, json.dumps(checkpoint.__dict__))

    def load(self) -> Checkpoint | None:
        """The checkpoint that `save` wrote; None if there is none. Raises ValueError if it is damaged."""
        try:
            text = (self.path / _CHECKPOINT).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        try:
            return _checked(Checkpoint(**json.loads(text)))
        except (TypeError, RecursionError) as error:
            raise ValueError(str(error)) from None

    def read(self, name: str, dtype: Any, length: int) -> NDArray[Any]:
        """An array that `save` wrote. Raises OSError, ValueError if it has another length."""
        found: NDArray[Any] = np.fromfile(self.path / name, dtype)
        if len(found) != length:
            raise ValueError("array lengths disagree")
        return found

    def clear(self) -> None:
        """Remove our files from the folder, and the folder if it is empty then."""
        for pattern in (_CHECKPOINT, "keys", "goal", "edge-*", "moves-*"):
            for file in self.path.glob(pattern):
                file.unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()


def _checked(checkpoint: Checkpoint) -> Checkpoint:
    """`checkpoint` if its numbers fit each other. Raises ValueError."""
    states, ends = checkpoint.states, checkpoint.layer_ends
    sizes = [number for chunk in checkpoint.chunks for number in chunk]
    numbers = [states, checkpoint.backward, *ends, *sizes]
    if not all(type(number) is int and number >= 0 for number in numbers):
        raise ValueError("numbers of another type")
    if not states:
        raise ValueError("no states")
    first = 0
    for chunk_first, count, _ in checkpoint.chunks:
        if chunk_first != first:
            raise ValueError("chunks do not follow each other")
        first += count
    if first > states or any(not 0 <= end <= states for end in ends) or ends != sorted(ends):
        raise ValueError("more states than were found")
    return checkpoint
