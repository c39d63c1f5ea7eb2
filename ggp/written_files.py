"""Errors of writing that name the file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: str | Path) -> Iterator[None]:
    """Give an OSError inside the file's name where it has none: a full disk is only noticed after opening."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Make `text` the content of a file, in UTF-8. Raises OSError with its name."""
    with writing(path):
        Path(path).write_text(text, encoding="utf-8")
