"""Faults: reasons for missing or unusable answers, and their text in match records.

    Fault
    ├── Late           TO          no answer by the deadline
    ├── Unreachable    CE          no connection, or a reply that is not HTTP
    ├── Illegal        IL <text>   an answer that is not a legal move, or not `ready`
    ├── Crashed        CR <text>   the player's program failed: the error, and its file and line
    ├── WrongTablebase TB          the player's saved solution is of another game
    └── OtherFault     <text>      written by other managers

The texts are those of ggp-base, where it has one. Only this module writes and reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

_SHOWN_CHARACTERS = 200


@dataclass(frozen=True)
class Fault:
    """One missing or unusable answer; `code` is the first word of its text.

    >>> str(Late()), str(Illegal("(mark 9 9)"))
    ('TO', 'IL (mark 9 9)')
    """

    code: ClassVar[str] = ""

    def __str__(self) -> str:
        return self.code


@dataclass(frozen=True)
class Late(Fault):
    """No answer by the deadline."""

    code: ClassVar[str] = "TO"


@dataclass(frozen=True)
class Unreachable(Fault):
    """No connection to the player, or a reply that cannot be read."""

    code: ClassVar[str] = "CE"


@dataclass(frozen=True)
class Illegal(Fault):
    """An answer that is not a legal move, or to START anything but `ready`."""

    answer: str
    code: ClassVar[str] = "IL"

    def __str__(self) -> str:
        return f"{self.code} {self.answer}"


@dataclass(frozen=True)
class Crashed(Fault):
    """The player's program failed; `error` is the message, with file and line if known."""

    error: str
    code: ClassVar[str] = "CR"

    def __str__(self) -> str:
        return f"{self.code} {self.error}"


@dataclass(frozen=True)
class WrongTablebase(Fault):
    """The player's saved solution is of another game."""

    code: ClassVar[str] = "TB"


@dataclass(frozen=True)
class OtherFault(Fault):
    """A fault of a kind known only to another manager."""

    text: str

    def __str__(self) -> str:
        return self.text


_PLAIN = {kind.code: kind for kind in (Late, Unreachable, WrongTablebase)}
_WITH_TEXT: dict[str, type[Illegal | Crashed]] = {kind.code: kind for kind in (Illegal, Crashed)}


def parse_fault(text: str) -> Fault | None:
    """Parse the text of a fault in a record; None for the empty text.

    >>> parse_fault("IL (mark 9 9)")
    Illegal(answer='(mark 9 9)')
    >>> parse_fault("CR ZeroDivisionError: division by zero (agents.py:7)")
    Crashed(error='ZeroDivisionError: division by zero (agents.py:7)')
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
    """The inverse of `parse_fault`."""
    return "" if fault is None else str(fault)


def shorten(reply: str) -> str:
    """A reply for a record or a log line: one line, at most 200 characters.

    >>> shorten("(mark 1\\n 1)")
    '(mark 1 1)'
    """
    text = " ".join(reply.split())
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."
