"""Kinds of option values that several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from ggp.protocol import MAX_CLOCK_SECONDS


class Amount(click.FloatRange):
    """A number in a range. What is not a number is in none, although no comparison says so."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if number is not None and math.isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


class Seconds(Amount):
    """A clock in seconds: at least `min`, at most what the protocol knows."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if seconds is not None and not seconds <= MAX_CLOCK_SECONDS:
            self.fail(f"a clock is at most a week, not {value} seconds", param, ctx)
        return seconds


class OutputFile(click.Path):
    """A file that will be written: whether its folder is there is better known before the work than after.

    is_replaced   the file is written beside and then takes this place, which a pipe or device would lose
    """

    def __init__(self, *, is_replaced: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)
        self.is_replaced = is_replaced

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        if path is not None and not path.parent.is_dir():
            self.fail(f"there is no folder {str(path.parent)!r}", param, ctx)
        if path is not None and self.is_replaced and path.exists() and not path.is_file():
            self.fail(f"{str(path)!r} is not a regular file", param, ctx)
        return path


class InputFile(click.Path):
    """A file that is there."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False)
