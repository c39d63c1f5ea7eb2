"""Options, and types of option values, that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from ggp.analysis.notation import KINDS
from ggp.analysis.scale import Scale, parse_scale
from ggp.engines.loading import ENGINES
from ggp.match.terms import GRACE_SECONDS
from ggp.players.factory import MIN_MEBIBYTES
from ggp.protocol.messages import MAX_CLOCK_SECONDS
from ggp.tournament.pool import MAX_PROCESSES

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Amount(click.ParamType):  # type: ignore[type-arg]
    """A number from `least` to `most`; NaN is an error."""

    name, kind = "number", "a number"
    parse: type[int] | type[float] = float

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


class Count(Amount):
    """A whole number from `least` to `most`."""

    name, kind = "n", "a whole number"
    parse = int


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
    """An output file; a missing folder is reported before the work starts.

    is_replaced   a temporary file next to it will replace it: refuse pipes and devices, which would be lost
    """

    def __init__(self, *, is_replaced: bool = False) -> None:
        super().__init__(path_type=Path, dir_okay=False, writable=True)
        self.is_replaced = is_replaced

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        path: Any = super().convert(value, param, ctx)
        if not path.parent.is_dir():
            self.fail(f"folder {str(path.parent)!r} does not exist", param, ctx)
        if self.is_replaced and path.exists() and not path.is_file():
            self.fail(f"{str(path)!r} is not a regular file", param, ctx)
        if not path.exists():
            try:
                target = path.resolve()  # of a link to a file that does not exist yet
                target.touch()
                target.unlink()
            except OSError as error:
                self.fail(f"{str(path)!r} cannot be written: {error.strerror}", param, ctx)
        return path


def _scale(text: str) -> Scale:
    try:
        return parse_scale(text)
    except ValueError as error:
        raise click.BadParameter(str(error)) from None


INPUT_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)


class Limit(NamedTuple):
    """A bound that `--limit` can set; `default` None: no bound, or the one described in `meaning`."""

    name: str
    kind: Amount
    default: float | None
    meaning: str


def limit_option(*limits: Limit) -> Callable[[_Function], _Function]:
    """`--limit NAME=N,…`: rarely changed bounds of a command in one option; a dict with all of them.

    Scripts may still give each as an option of its own, `--NAME N`, as before; no help lists those.
    """
    kinds = {limit.name: limit.kind for limit in limits}
    defaults = {limit.name: limit.default for limit in limits}

    def parse(text: str) -> dict[str, Any]:
        numbers: dict[str, Any] = {}
        for part in filter(None, text.split(",")):
            name, _, number = (each.strip() for each in part.partition("="))
            if name not in kinds:
                known = ", ".join(kinds)
                raise click.BadParameter(f"unknown limit {part!r}; expected NAME=N with {known}")
            numbers[name] = kinds[name].convert(number, None, None)
        return numbers

    values = ("N" if each.default is None else each.default for each in limits)
    texts = (f"{each.name}={value} ({each.meaning})" for each, value in zip(limits, values, strict=True))
    option = click.option(
        "--limit",
        "limits",
        default="",
        show_default=False,
        type=parse,
        metavar="NAME=N,…",
        help=f"Limits, comma-separated: {', '.join(texts)}.",
        callback=lambda context, _, given: {**defaults, **context.meta.get(__name__, {}), **given},
    )

    def keep(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value is not None:
            context.meta.setdefault(__name__, {})[parameter.name] = value

    def decorate(function: _Function) -> _Function:
        for name, kind in kinds.items():
            alone = click.option(
                f"--{name}", type=kind, hidden=True, is_eager=True, expose_value=False, callback=keep
            )
            function = alone(function)
        return option(function)

    return decorate


def seed_option(meaning: str) -> Callable[[_Function], _Function]:
    """`--seed`, 0 unless given."""
    return click.option("--seed", default=0, type=int, help=meaning)


def start_clock_option(seconds: float, least: float = 0.0) -> Callable[[_Function], _Function]:
    return click.option(
        "--start-clock", default=seconds, type=Clock(least), help="Time before the first move."
    )


def play_clock_option(seconds: float, least: float = 0.01) -> Callable[[_Function], _Function]:
    return click.option("--play-clock", default=seconds, type=Clock(least), help="Time for each move.")


json_option = click.option("--json", "is_json", is_flag=True, help="Print JSON, one object per line.")
scale_option = click.option(
    "--scale",
    type=_scale,
    metavar="A:B",
    help="Show goal 0 as A and goal 100 as B.  [default: the scale that the sheet states, else goals]",
)
notation_option = click.option(
    "--notation",
    default="short",
    type=click.Choice(KINDS),
    help="How moves are written: short, as d5–e4, or as KIF terms.",
)
out_option = click.option(
    "-o",
    "--out",
    type=OutputFile(is_replaced=True),
    metavar="FILE",
    help="Write to this file, to be named in a player's option.  [default: where players find it]",
)
record_option = click.option("--record", type=OutputFile(), help="Write the match record to this JSON file.")
workers_option = click.option("--workers", type=Count(1, MAX_PROCESSES), help="Use this many processes.")
engine_option = click.option(
    "--engine",
    default="auto",
    type=click.Choice(ENGINES),
    metavar="ENGINE",
    help=f"Engine for the rules: {', '.join(ENGINES)}.",
)
GRACE = Limit("grace", Clock(0.0), GRACE_SECONDS, "seconds that a player may be late")
MEMORY_OF_OWN = Limit("memory", Count(MIN_MEBIBYTES), 4096, "MiB for each agent of your own")
