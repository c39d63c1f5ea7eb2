"""Option tables: which options a player has, and how `name=value` is read.

A table is a frozen dataclass whose fields are made by `number`, `switch`, `choice` and `text`: each is one
row with name, type, default, range and one line of help. Parsing, error messages, `ggp players` and the
reference pages all come from these rows.

    >>> @dataclass(frozen=True)
    ... class Example:
    ...     share: float = number("share", 0.5, "Share of the time.", least=0.0, most=1.0)
    ...     is_loud: bool = switch("loud", False, "Whether to log.")
    >>> parse_table(Example(), {"share": "0.25", "loud": "on"})
    Example(share=0.25, is_loud=True)
    >>> parse_table(Example(), {"share": "2"})
    Traceback (most recent call last):
    ggp.search.option_table.OptionError: share must be from 0 to 1, not 2
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from ggp.integers import to_integer
from ggp.suggestions import did_you_mean

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Table = TypeVar("Table", bound=DataclassInstance)
else:
    Table = TypeVar("Table")

OFF = "off"
SWITCH_WORDS = ("on", OFF)

MAX_SHOWN = 10**9
"""Upper bounds from here on only protect machine integers: range texts omit them."""


class OptionError(ValueError):
    """An unknown option, or a value that it cannot take."""


@dataclass(frozen=True)
class Option:
    """One row of an option table.

    name            as users write it; `field` is the attribute that it sets
    kind            `whole number`, `number`, `switch`, `choice` or `text`
    default         as the field holds it; `default_text` replaces it in tables where it depends on something
    least, most     bounds of numbers, both included; None: no bound
    choices         the values of a `choice`; of a number, the only ones if there are any
    names_file      whether the value is the path of a file, apart from words such as `off`
    has_off         whether `off` means 0
    """

    name: str
    field: str
    kind: str
    default: Any
    help: str
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    default_text: str = ""
    names_file: bool = False
    has_off: bool = False

    def parse(self, text: str) -> Any:
        """The value that `text` means. Raises OptionError, which names the range."""
        if self.kind == "switch":
            self._require_choice(text, SWITCH_WORDS)
            return text == "on"
        if self.kind in ("choice", "text"):
            value = self.checked(text)
            if self.names_file and not _is_path(text):
                raise OptionError(f"{self.name} must be the path of a file, not {text!r}")
            return value
        if self.has_off and text == OFF:
            return 0
        try:
            number = int(text) if self.kind == "whole number" else float(text)
        except ValueError:
            raise OptionError(f"{self.name} must be a {self.kind}, not {text!r}") from None
        return self.checked(number, text)

    def checked(self, value: Any, text: str | None = None) -> Any:
        """`value` if the field may hold it, or None if that is its default; else OptionError, which quotes
        `text`."""
        if self.kind == "switch" or (value is None and self.default is None):
            return value
        if self.kind == "whole number":
            try:
                value = to_integer(value, self.name)
            except TypeError:
                raise OptionError(f"{self.name} must be a whole number, not {value!r}") from None
        if self.choices or self.kind == "text":
            self._require_choice(str(value), self.choices)
        else:
            self._require_range(value, str(value) if text is None else text)
        return value

    def _require_range(self, value: float, text: str) -> None:
        least = -math.inf if self.least is None else self.least
        most = math.inf if self.most is None else self.most
        if not math.isfinite(value) or value < least:
            raise OptionError(f"{self.name} must be {self.range_text}, not {text}")
        if value > most:
            allowed = self.range_text if most < MAX_SHOWN else f"at most {_digits(most)}"
            raise OptionError(f"{self.name} must be {allowed}, not {text}")

    def _require_choice(self, text: str, choices: tuple[str, ...]) -> None:
        if choices and text not in choices:
            raise OptionError(f"{self.name} must be {_alternatives(choices)}, not {text!r}")

    @property
    def range_text(self) -> str:
        """The values that are allowed, in words; empty for free text."""
        if self.kind == "switch":
            return _alternatives(SWITCH_WORDS)
        if self.choices:
            return _alternatives(self.choices)
        if self.kind == "text":
            return ""
        if self.least is not None and self.most is not None and self.most < MAX_SHOWN:
            return f"{'off or ' if self.has_off else ''}from {self.least:,g} to {_digits(self.most)}"
        return "any number" if self.least is None else f"at least {self.least:g}"

    def shown_default(self, value: Any) -> str:
        """`value`, the default in use, as users would write it."""
        if self.default_text:
            return self.default_text
        if value is None:
            return "none"
        if isinstance(value, bool):
            return "on" if value else "off"
        return f"{value:g}" if isinstance(value, float) else str(value)


def _is_path(text: str) -> bool:
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def _digits(number: float) -> str:
    return f"{number:,g}" if number < 100_000 else f"{number:,.0f}"


def _alternatives(choices: tuple[str, ...]) -> str:
    if len(choices) == 1:
        return choices[0]
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def number(
    name: str,
    default: float | None,
    help: str,
    *,
    least: float,
    most: float | None = None,
    default_text: str = "",
    has_off: bool = False,
) -> Any:
    """A dataclass field for a number: a whole one if `least` is an int. `has_off`: `off` means 0."""
    kind = "whole number" if isinstance(least, int) else "number"
    return _row(name, kind, default, help, least=least, most=most, default_text=default_text, has_off=has_off)


def switch(name: str, default: bool, help: str) -> Any:
    """A dataclass field for a switch, written `on` or `off`."""
    return _row(name, "switch", default, help)


def choice(name: str, default: str, help: str, choices: Iterable[str]) -> Any:
    """A dataclass field for one of a few words."""
    return _row(name, "choice", default, help, choices=tuple(choices))


def number_of(name: str, default: int, help: str, choices: Iterable[int], *, default_text: str = "") -> Any:
    """A dataclass field for one of a few whole numbers."""
    texts = tuple(map(str, choices))
    return _row(name, "whole number", default, help, choices=texts, default_text=default_text)


def text(name: str, default: str | None, help: str, *, default_text: str = "") -> Any:
    """A dataclass field for free text; the dataclass checks it."""
    return _row(name, "text", default, help, default_text=default_text)


def file_path(name: str, default: str | None, help: str) -> Any:
    """A dataclass field for the path of a file."""
    return _row(name, "text", default, help, names_file=True)


def _row(name: str, kind: str, default: Any, help: str, **rest: Any) -> Any:
    row = Option(name, "", kind, default, help, **rest)
    return field(default=default, metadata={"option": row})


def rows_of(table: Any) -> tuple[Option, ...]:
    """The rows of a table, a dataclass or an instance of one, in the order of its fields."""
    return tuple(
        replace(each.metadata["option"], field=each.name)
        for each in fields(table)
        if "option" in each.metadata
    )


def check_table(table: Any) -> None:
    """Make whole numbers ints. Raise OptionError if a field of `table` holds a value out of its range."""
    for row in rows_of(table):
        object.__setattr__(table, row.field, row.checked(getattr(table, row.field)))


def take_options(defaults: Table, given: dict[str, str]) -> Table:
    """`defaults` with the options of this table, which are removed from `given`. Raises OptionError."""
    rows = {row.name: row for row in rows_of(defaults)}
    known = [name for name in given if name in rows]
    changes = {rows[name].field: rows[name].parse(given.pop(name)) for name in known}
    return replace(defaults, **changes)


def refuse_unknown(left: Mapping[str, str], *tables: Any) -> None:
    """Raise OptionError if options are left over; `tables` are the known ones."""
    if left:
        names, wrong = [row.name for table in tables for row in rows_of(table)], next(iter(left))
        hint = did_you_mean(wrong, names)
        rest = f".{hint}" if hint else f"; known options: {', '.join(names)}"
        raise OptionError(f"unknown option {wrong!r}{rest}")


def parse_table(defaults: Table, given: Mapping[str, str]) -> Table:
    """`defaults` with the options of `given`, all of which it must have. Raises OptionError."""
    left = dict(given)
    parsed = take_options(defaults, left)
    refuse_unknown(left, defaults)
    return parsed
