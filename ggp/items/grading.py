"""Scores of answers to items, by kind and difficulty.

A list scores if it has the same elements as the right one, in any order; F1 measures partial overlap (C. J.
van Rijsbergen, "Information Retrieval", 1979, chapter 7). A number may be off by a hundredth, because
expectations are rounded. A move scores if it is one of the best; its regret is the value it loses.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple

from gdl.errors import GdlError
from gdl.syntax.parser import parse, parse_term
from ggp.confidence_intervals import wilson_interval

SCHEMA = 1
NUMBER_TOLERANCE = 0.01
MAX_LINE_BYTES = 4_000_000
MAX_TERM_CHARACTERS = 2_000
"""Maximum length of a fact or move in an answer."""
DIFFICULTIES = ("horizon", "state_size", "rule_depth")
_TRUTHS = {"yes": True, "true": True, "no": False, "false": False}
_NOTHING = {"", "nothing", "none", "[]"}


class GradingError(ValueError):
    """The file does not contain items.

    >>> grade([b"no item"], [])
    Traceback (most recent call last):
    ggp.items.grading.GradingError: line 1 is not an item: write items with `ggp items make`
    """


class Mark(NamedTuple):
    """Score of one answer.

    is_readable   whether it has the required form; of "best": is a legal move
    overlap       F1 of a list; None for other kinds
    regret        of a legal move, in goals; None for other kinds
    """

    is_correct: bool
    is_readable: bool = True
    overlap: float | None = None
    regret: float | None = None


@dataclass
class Tally:
    """The marks of a group of items: numbers, and sums of overlaps and regrets."""

    items: int = 0
    answered: int = 0
    readable: int = 0
    correct: int = 0
    lists: int = 0
    overlap: float = 0.0
    moves: int = 0
    regret: float = 0.0

    def add(self, mark: Mark | None) -> None:
        """Count an item; None: it has no answer."""
        self.items += 1
        if mark is not None:
            self.answered += 1
            self.readable += mark.is_readable
            self.correct += mark.is_correct
            self.lists += mark.overlap is not None
            self.overlap += mark.overlap or 0.0
            self.moves += mark.regret is not None
            self.regret += mark.regret or 0.0

    def to_dict(self) -> dict[str, Any]:
        """For JSON. A missing or unreadable answer counts as wrong; overlap and regret are means."""
        low, high = wilson_interval(self.correct, self.items)
        return {
            "items": self.items,
            "answered": self.answered,
            "readable": self.readable,
            "correct": self.correct,
            "share": round(self.correct / self.items, 4) if self.items else None,
            "low": round(low, 4),
            "high": round(high, 4),
            "overlap": round(self.overlap / self.lists, 4) if self.lists else None,
            "regret": round(self.regret / self.moves, 2) if self.moves else None,
        }


@dataclass
class Grades:
    """Tallies of all items, and by game, kind and difficulty.

    strange   lines that are not answers, or answer an unknown item or one answered before
    """

    total: Tally = field(default_factory=Tally)
    groups: dict[str, dict[str, Tally]] = field(default_factory=dict)
    strange: int = 0

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        groups = {
            by: {name: tally.to_dict() for name, tally in tallies.items()}
            for by, tallies in self.groups.items()
        }
        total = self.total.to_dict()
        return {"schema": SCHEMA, "total": total, "strange_lines": self.strange, "groups": groups}

    def add(self, item: Mapping[str, Any], mark: Mark | None) -> None:
        """Count the mark of an item in all its groups."""
        self.total.add(mark)
        places = {"kind": item["kind"], "game": item["game"]}
        places |= {name: size_class(item["difficulty"][name]) for name in DIFFICULTIES}
        for by, name in places.items():
            self.groups.setdefault(by, {}).setdefault(name, Tally()).add(mark)


def size_class(number: int | None) -> str:
    """The powers of two between which a number lies.

    >>> size_class(1), size_class(13), size_class(None)
    ('1', '8-15', 'endless')
    """
    if number is None or number < 2:
        return "endless" if number is None else str(number)
    low = 1 << (number.bit_length() - 1)
    return f"{low}-{2 * low - 1}"


def grade_files(items: Path, answers: Path) -> Grades:
    """Score the answers in one file to the items in another. Raises OSError, GradingError."""

    def lines(file: IO[bytes]) -> Iterator[bytes]:
        """Nonblank lines; a line longer than any item counts as several."""
        return filter(bytes.strip, iter(lambda: file.readline(MAX_LINE_BYTES), b""))

    with items.open("rb") as asked, answers.open("rb") as given:
        return grade(lines(asked), lines(given))


def grade(items: Iterable[bytes], answers: Iterable[bytes]) -> Grades:
    """Score lines `{"id": …, "answer": …}` against lines of `ggp items make`; first answers count.

    >>> item = {"id": "t-1", "game": "t", "kind": "legal", "answer": ["(mark 1)", "noop"],
    ...         "difficulty": {"horizon": 0, "state_size": 2, "rule_depth": 1}}
    >>> found = grade([json.dumps(item).encode()], [b'{"id": "t-1", "answer": "noop (MARK 1)"}'])
    >>> found.total.correct, found.groups["state_size"]["2-3"].correct
    (1, 1)

    Raises GradingError if a line of `items` is not an item, or has the id of an earlier one.
    """
    grades = Grades()
    given: dict[str, Any] = {}
    for line in answers:
        entry = _json(line)
        name = entry.get("id") if isinstance(entry, dict) else None
        if not isinstance(name, str) or "answer" not in entry or name in given:
            grades.strange += 1
        else:
            given[name] = entry["answer"]
    asked: set[str] = set()
    for number, line in enumerate(items, start=1):
        item = _json(line)
        if isinstance(item, dict) and item.get("kind") == "rules":
            continue
        if not _is_item(item):
            raise GradingError(f"line {number} is not an item: write items with `ggp items make`")
        if item["id"] in asked:
            raise GradingError(f"line {number} has the id of an earlier item: grade them apart")
        asked.add(item["id"])
        grades.add(item, mark(item, given.pop(item["id"])) if item["id"] in given else None)
    grades.strange += len(given)
    return grades


def mark(item: Mapping[str, Any], answer: Any) -> Mark:
    """Score one answer to an item.

    >>> mark({"answer": True}, "yes"), mark({"answer": 50}, "no idea")
    (Mark(is_correct=True, ...), Mark(is_correct=False, is_readable=False, overlap=None, regret=None))
    """
    right = item["answer"]
    if isinstance(right, bool):
        found = _TRUTHS.get(str(answer).strip(" .\n").lower())
        return Mark(found is right, found is not None)
    if isinstance(right, int | float):
        number = _number(answer)
        return Mark(number is not None and abs(number - right) <= NUMBER_TOLERANCE, number is not None)
    given = _terms(answer, item.get("notation", "kif"))
    if isinstance(right, dict):
        known = {canonical(move): regret for move, regret in right["regret"].items()}
        if given is None or len(given) != 1 or not given <= known.keys():
            return Mark(is_correct=False, is_readable=False)
        regret = known[given.pop()]
        return Mark(regret == 0, regret=regret)
    if given is None:
        return Mark(is_correct=False, is_readable=False, overlap=0.0)
    wanted = {canonical(text) for text in right}
    common = 2 * len(wanted & given) / (len(wanted) + len(given)) if wanted or given else 1.0
    return Mark(wanted == given, overlap=common)


def _number(answer: Any) -> float | None:
    if isinstance(answer, bool) or not isinstance(answer, int | float | str):
        return None
    try:
        number = float(answer)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _terms(answer: Any, notation: str) -> set[str] | None:
    """The facts, moves or roles of an answer; None if it is neither text nor a list of texts."""
    if isinstance(answer, str):
        answer = split_terms(answer, notation)
    if not isinstance(answer, list) or not all(isinstance(text, str) for text in answer):
        return None
    return {canonical(text) for text in answer}


def split_terms(text: str, notation: str = "kif") -> list[str]:
    """The terms in one text: on lines of their own, or separated by `,` or `;`, in KIF also by blanks.

    >>> split_terms("(a 1) (b 2) noop"), split_terms("a(1,2), b(2)", "infix"), split_terms("a 1; b (c 2)", "")
    (['(a 1)', '(b 2)', 'noop'], ['a(1,2)', 'b(2)'], ['a 1', 'b (c 2)'])
    """
    if text.strip(" .\n").lower() in _NOTHING:
        return []
    separators = ",;\n" + (" \t\r" if notation == "kif" else "")
    parts, depth, start = [], 0, 0
    for place, sign in enumerate(text):
        depth = max(0, depth + (sign == "(") - (sign == ")"))
        if depth == 0 and sign in separators:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in (*parts, text[start:]) if part.strip()]


@lru_cache(maxsize=1 << 16)
def canonical(text: str) -> str:
    """A term in KIF, infix or words as canonical KIF; other text in lower case.

    >>> canonical("(Mark 1  1)"), canonical("mark(1, 1)"), canonical("mark 1 1"), canonical("noop.")
    ('(mark 1 1)', '(mark 1 1)', '(mark 1 1)', 'noop')
    """
    text = text.strip().rstrip(".").strip().lower()
    if len(text) > MAX_TERM_CHARACTERS or re.fullmatch(r"[^\s()',]*", text):
        return text[:MAX_TERM_CHARACTERS]
    try:
        if re.match(r"[^\s()]+\(|'", text):
            return str(parse(f"{text}.", syntax="infix").rules[0].head)
        return str(parse_term(text if text.startswith("(") else f"({text})"))
    except (GdlError, IndexError):
        return text


def _is_item(item: Any) -> bool:
    """Whether a line has the fields of `ggp items make` that grading needs."""
    if not isinstance(item, dict) or not isinstance(difficulty := item.get("difficulty"), dict):
        return False
    sizes = [difficulty.get(name) for name in DIFFICULTIES]
    if not (
        all(isinstance(item.get(key), str) for key in ("id", "kind", "game"))
        and all(size is None or (type(size) is int and 0 <= size < 2**63) for size in sizes)
    ):
        return False
    answer = item.get("answer")
    if isinstance(answer, dict):
        regret = answer.get("regret")
        return isinstance(regret, dict) and all(_number(value) is not None for value in regret.values())
    if isinstance(answer, list):
        return all(isinstance(text, str) for text in answer)
    return isinstance(answer, bool | int | float) and _number(float(answer)) is not None


def _json(line: bytes) -> Any:
    """Parse a line as JSON; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
