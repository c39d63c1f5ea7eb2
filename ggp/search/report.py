"""SearchReport: how a search stands, for the log, the terminal and JSON; every kind of search fills it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ggp.game import Move

REPORT_SECONDS = 0.25
"""Time between two reports of a running search: making one costs it about a millisecond."""

JSON_MOVES = 8
JSON_LINE = 8
JSON_CHARACTERS = 4000
"""Most of the line, so that rules with monstrous moves or very many roles make no monstrous reports."""
JSON_MOVE_CHARACTERS = 200
TEXT_LINE = 4
TEXT_LINE_CHARACTERS = 120


@dataclass(frozen=True)
class MoveReport:
    """What the search thinks of one move: playouts, mean goal of the role, proven goal (or None)."""

    move: Move
    visits: int
    mean: float
    goal: int | None

    @property
    def expectation(self) -> float | None:
        """The goal that this move is worth: the proven one, else the mean; None before any playout."""
        if self.goal is not None:
            return float(self.goal)
        return self.mean if self.visits else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        return {
            "move": _shown(self.move),
            "visits": self.visits,
            "mean": _rounded(self.mean),
            "goal": self.goal,
        }


@dataclass(frozen=True)
class SearchReport:
    """How a search stands.

    mode                           what searches: lanes, reference, alphabeta, proof, solution
    seconds, playouts, descents    since the root was set
    carried                        playouts below the root from earlier searches, when the root was set
    mean_depth, deepest            in the tree, in joint moves
    nodes, is_full                 of all trees; whether a memory limit stopped one from growing
    moves                          of the searching role in the root state, most visited first
    best_line                      joint moves along the most visited edges of one tree
    goal                           proven goal of the searching role, or None
    fallback                       the policy that stands in for the one asked for, or ""
    """

    seconds: float
    playouts: int
    descents: int
    mean_depth: float
    deepest: int
    nodes: int
    is_full: bool
    moves: tuple[MoveReport, ...]
    best_line: tuple[tuple[Move, ...], ...]
    goal: int | None
    mode: str = "lanes"
    carried: int = 0
    fallback: str = ""

    @property
    def playouts_per_second(self) -> float:
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def descents_per_second(self) -> float:
        return self.descents / self.seconds if self.seconds > 0 else 0.0

    @property
    def expectation(self) -> float | None:
        """The goal that the searching role expects; None where nothing is known."""
        if self.goal is not None:
            return float(self.goal)
        known = [m for m in self.moves if m.expectation is not None]
        return known[0].expectation if known else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data, with the first moves and the beginning of the line only."""
        expectation = self.expectation
        return {
            "mode": self.mode,
            "seconds": round(self.seconds, 3),
            "playouts": self.playouts,
            "playouts_per_second": round(self.playouts_per_second),
            "descents": self.descents,
            "descents_per_second": round(self.descents_per_second),
            "carried": self.carried,
            "fallback": self.fallback,
            "mean_depth": _rounded(self.mean_depth),
            "deepest": self.deepest,
            "nodes": self.nodes,
            "is_full": self.is_full,
            "goal": self.goal,
            "expectation": None if expectation is None else _rounded(expectation),
            "moves": [move.to_dict() for move in self.moves[:JSON_MOVES]],
            "line": self._json_line(),
        }

    def _json_line(self) -> list[list[str]]:
        line: list[list[str]] = []
        left = JSON_CHARACTERS
        for joint_move in self.best_line[:JSON_LINE]:
            texts = list(map(_shown, joint_move))
            left -= sum(map(len, texts))
            if left < 0:
                break
            line.append(texts)
        return line


def report_text(report: dict[str, Any]) -> str:
    """One line about a report as `SearchReport.to_dict` gives it, the way logs show it."""
    parts = [str(report["mode"])]
    if report["playouts"]:
        parts.append(f"{_count(report['playouts'])} playouts ({_count(report['playouts_per_second'])}/s)")
        parts.append(f"{_count(report['descents_per_second'])} descents/s")
    if report["carried"]:
        parts.append(f"{_count(report['carried'])} carried over")
    if report["deepest"]:
        parts.append(f"depth {report['mean_depth']:.1f}, at most {report['deepest']}")
    if report["goal"] is not None:
        parts.append(f"proven {report['goal']}")
    elif report["expectation"] is not None:
        parts.append(f"expects {report['expectation']:.1f}")
    if report["fallback"]:
        parts.append(f"plays as {report['fallback']}")
    if report["is_full"]:
        parts.append("tree full")
    if report["line"]:
        parts.append(f"line {_line_text(report['line'])}")
    return ", ".join(parts)


def _line_text(line: list[list[str]]) -> str:
    """Joint moves in brief: without `noop` where another role does something."""
    shown = []
    for joint_move in line[:TEXT_LINE]:
        telling = [move for move in joint_move if move != "noop"] or ["noop"]
        shown.append("+".join(telling))
    text = " ".join(shown)
    return text if len(text) <= TEXT_LINE_CHARACTERS else text[: TEXT_LINE_CHARACTERS - 2] + " …"


def _count(number: float) -> str:
    """Like 950, 12.3k or 1.26M."""
    if number < 1000:
        return f"{number:.0f}"
    size = min(2, int(math.log10(number) // 3))
    scaled = number / 1000**size
    return f"{scaled:.{0 if scaled >= 100 else 1 if scaled >= 10 else 2}f}{('', 'k', 'M')[size]}"


def _shown(move: Move) -> str:
    text = str(move)
    return text if len(text) <= JSON_MOVE_CHARACTERS else text[: JSON_MOVE_CHARACTERS - 1] + "…"


def _rounded(value: float) -> float:
    return round(value, 2)
