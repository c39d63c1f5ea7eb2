"""Options, and types of option values, that several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from ggp.engines.loading import ENGINES
from ggp.match.terms import GRACE_SECONDS
from ggp.players.factory import LEAST_MEBIBYTES
from ggp.protocol.messages import MAX_CLOCK_SECONDS


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number from `least` to `most`; NaN is an error."""

    name = "number"
    kind = "a number"

    def __init__(self, least: float = -math.inf, most: float = math.inf) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            number = self.parse(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isnan(number):
            self.fail(f"{value!r} is not {self.kind}", param, ctx)
        if not self.least <= number <= self.most:
            low = f"at least {self.least:g}" if self.least > -math.inf else ""
            high = f"at most {self.most:g}" if self.most < math.inf else ""
            self.fail(f"{value} is out of range: {' and '.join(filter(None, (low, high)))}", param, ctx)
        return number

    def parse(self, value: Any) -> float:
        """Convert text; raises ValueError."""
        return float(value)


class Count(Amount):
    """A whole number from `least` to `most`."""

    name = "n"
    kind = "a whole number"

    def parse(self, value: Any) -> int:
        return int(value)


class Seconds(Amount):
    """A duration in seconds."""

    name = "seconds"


class Clock(Seconds):
    """A clock of a match: at most the maximum of the protocol."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if seconds > MAX_CLOCK_SECONDS:
            self.fail(f"clocks are at most a week, not {value} seconds", param, ctx)
        return seconds


class OutputFile(click.Path):
    """An output file; a missing folder is an error before the work starts, not after it.

    is_replaced   a temporary file next to it will replace it: refuse pipes and devices, which would be lost
    """

    def __init__(self, *, is_replaced: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)
        self.is_replaced = is_replaced

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        if path is not None and not path.parent.is_dir():
            self.fail(f"folder {str(path.parent)!r} does not exist", param, ctx)
        if path is not None and self.is_replaced and path.exists() and not path.is_file():
            self.fail(f"{str(path)!r} is not a regular file", param, ctx)
        if path is not None and not path.exists():
            target = path.resolve()  # of a link that leads to no file yet
            try:
                target.touch()
                target.unlink()
            except OSError as error:
                self.fail(f"{str(path)!r} cannot be written: {error.strerror}", param, ctx)
        return path


class InputFile(click.Path):
    """An existing file."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, exists=True, dir_okay=False)


engine_option = click.option(
    "--engine",
    default="auto",
    show_default=True,
    type=click.Choice(ENGINES),
    metavar="ENGINE",
    help=f"Engine for the rules: {', '.join(ENGINES)}.",
)
grace_option = click.option(
    "--grace",
    default=GRACE_SECONDS,
    show_default=True,
    type=Clock(0.0),
    help="How much longer than its clock any player may take.",
)
memory_option = click.option(
    "--memory",
    type=Count(LEAST_MEBIBYTES),
    metavar="MIB",
    help="Memory limit of the process of each agent of your own.  [default: 4096]",
)
no_cache_option = click.option("--no-cache", is_flag=True, help="Ignore the cache and recompile.")

page_port_option = click.option(
    "--page-port", default=0, type=Count(0, 65535), help="Port of the page.  [default: a free one]"
)
