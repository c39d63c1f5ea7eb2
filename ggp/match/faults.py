"""Faults: reasons for missing or unusable answers, and their text in match records.

    Fault
    ├── Late           TO          no answer by the deadline
    ├── Unreachable    CE          no connection, or a reply that is not HTTP
    ├── Illegal        IL <text>   an answer that is not a legal move, or not `ready`
    ├── Crashed        CR <text>   the player's program failed: the error, and its file and line
    └── OtherFault     <text>      written by other managers

The texts are those of ggp-base, where it has one. Only this module writes and reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Fault:
    """One missing or unusable answer; records hold `form` with `text` in its braces.

    >>> str(Late()), str(Illegal("(mark 9 9)"))
    ('TO', 'IL (mark 9 9)')
    """

    form: ClassVar[str] = "{}"
    text: str = ""

    def __str__(self) -> str:
        return self.form.format(self.text)


class Late(Fault):
    """No answer by the deadline."""

    form = "TO"


class Unreachable(Fault):
    """No connection to the player, or a reply that cannot be read."""

    form = "CE"


class Illegal(Fault):
    """An answer that is not a legal move, or to START anything but `ready`; `text` is the answer."""

    form = "IL {}"


class Crashed(Fault):
    """The player's program failed; `text` is the error, with file and line if known."""

    form = "CR {}"


class OtherFault(Fault):
    """A fault of a kind known only to another manager."""


_PLAIN: dict[str, type[Fault]] = {kind.form: kind for kind in (Late, Unreachable)}
_WITH_TEXT: dict[str, type[Fault]] = {"IL": Illegal, "CR": Crashed}


def parse_fault(text: str) -> Fault | None:
    """Parse the text of a fault in a record; None for the empty text.

    >>> parse_fault("IL (mark 9 9)")
    Illegal(text='(mark 9 9)')
    >>> parse_fault("CR ZeroDivisionError: division by zero (agents.py:7)")
    Crashed(text='ZeroDivisionError: division by zero (agents.py:7)')
    >>> parse_fault("") is None
    True
    """
    if not text:
        return None
    if text in _PLAIN:
        return _PLAIN[text]()
    code, _, rest = text.partition(" ")
    return _WITH_TEXT[code](rest) if rest and code in _WITH_TEXT else OtherFault(text)


def fault_text(fault: Fault | None) -> str:
    return "" if fault is None else str(fault)


def shorten(reply: str) -> str:
    """A reply for a record or a log line: one line, at most 200 characters.

    >>> shorten("(mark 1\\n 1)")
    '(mark 1 1)'
    """
    text = " ".join(reply.split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
