"""SearchReport: statistics of a search, for the log, the terminal and JSON; every kind of search fills it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ggp.game import Move
from ggp.notebook import html_table

REPORT_SECONDS = 0.25
"""Time between two reports of a running search: making one costs it about a millisecond."""

JSON_MOVES = 8
JSON_LINE = 8
JSON_CHARACTERS = 4000
"""Upper bound of the line in a report: rules can have very long moves or very many roles."""
JSON_MOVE_CHARACTERS = 200
TEXT_LINE = 4
TEXT_LINE_CHARACTERS = 120


@dataclass(frozen=True)
class MoveReport:
    """Statistics of one move: playouts, mean goal of the role, proven goal (or None), bounds of the goal.

    >>> import ggp
    >>> report = ggp.search_state(ggp.load("nim", engine="reasoner"), simulations=50)
    >>> sum(move.visits for move in report.moves), report.moves[0].to_dict().keys()
    (50, dict_keys(['move', 'visits', 'mean', 'goal']))
    """

    move: Move
    visits: int
    mean: float
    goal: int | None
    bounds: tuple[int, int] = (0, 100)

    @property
    def promise(self) -> float:
        """Expected goal of a move that is not proven: the mean counts only as far as bounds leave it open."""
        least, most = self.bounds
        return least + (most - least) * self.mean / 100

    @property
    def expectation(self) -> float | None:
        """Expected goal: the proven one, else the mean; None before any playout."""
        if self.goal is not None:
            return float(self.goal)
        return self.mean if self.visits else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data."""
        mean = round(self.mean, 2)
        return {"move": _shown(self.move), "visits": self.visits, "mean": mean, "goal": self.goal}


def best_of(moves: Sequence[MoveReport]) -> MoveReport | None:
    """The move to play: the one visited most, unless a proof knows better; the first of equals.

    A move that is proven to give nothing is best only if all are: any other is at least as good. Of moves
    with different bounds the most promising is played, of those with equal ones the most visited.
    """
    favorites: dict[tuple[int, int], MoveReport] = {}
    for move in sorted(moves, key=lambda m: (-m.visits, -m.mean)):
        if move.goal is None:
            favorites.setdefault(move.bounds, move)
    favorite = max(favorites.values(), key=lambda m: m.promise, default=None)
    surest = max((m for m in moves if m.goal is not None), key=lambda m: m.goal or 0, default=None)
    if favorite is None or (surest is not None and surest.goal and surest.goal >= favorite.promise):
        return surest
    return favorite


@dataclass(frozen=True, repr=False)
class SearchReport:
    """The state of a search.

    mode                           kind of search: lanes, reference, alphabeta, proof, solution, plan,
                                   mixed, equilibrium, trees, network, book, uct, rollouts
    seconds, playouts, descents    since the root was set
    carried                        playouts below the root from earlier searches, when the root was set
    mean_depth, deepest            in the tree, in joint moves
    nodes, is_full                 in memory, of all trees; whether a memory limit stopped one from growing
    leaves                         of alpha-beta: positions evaluated, and `nodes` those expanded
    moves                          of the searching role in the root state, most visited first
    best_line                      joint moves along the most visited edges of one tree
    goal                           proven goal of the searching role, or None
    fallback                       the policy that stands in for the one asked for, or ""
    tuned                          options of the shipped table for the game, or ""

    >>> import ggp
    >>> ggp.search_state(ggp.load("nim", engine="reasoner"), simulations=50)
    <SearchReport (reduce ...; reference, 50 playouts ...>

    In a notebook it is a table of the moves.
    """

    seconds: float = 0.0
    playouts: int = 0
    descents: int = 0
    mean_depth: float = 0.0
    deepest: int = 0
    nodes: int = 0
    leaves: int = 0
    is_full: bool = False
    moves: tuple[MoveReport, ...] = ()
    best_line: tuple[tuple[Move, ...], ...] = ()
    goal: int | None = None
    mode: str = "lanes"
    carried: int = 0
    fallback: str = ""
    tuned: str = ""

    def __repr__(self) -> str:
        return f"<SearchReport {self._summary()}>"

    def _repr_html_(self) -> str:
        """The moves as a table, most visited first, for notebooks."""
        rows = [
            [move.move, f"{move.visits:,}", f"{move.mean:.1f}", "" if move.goal is None else move.goal]
            for move in self.moves
        ]
        return html_table(self._summary(), ["move", "visits", "mean goal", "proven"], rows)

    @property
    def best_move(self) -> Move | None:
        """The move to play, by `best_of`; None without any."""
        best = best_of(sorted(self.moves, key=lambda each: str(each.move)))  # the order of legal moves
        return None if best is None else best.move

    def _summary(self) -> str:
        best = self.best_move
        return ("" if best is None else f"{_shown(best)}; ") + report_text(self.to_dict())

    @property
    def playouts_per_second(self) -> float:
        return self.playouts / self.seconds if self.seconds > 0 else 0.0

    @property
    def descents_per_second(self) -> float:
        return self.descents / self.seconds if self.seconds > 0 else 0.0

    @property
    def expectation(self) -> float | None:
        """Expected goal of the searching role; None if nothing is known."""
        if self.goal is not None:
            return float(self.goal)
        known = [m for m in self.moves if m.expectation is not None]
        return known[0].expectation if known else None

    def to_dict(self) -> dict[str, Any]:
        """As JSON-able data, limited to the first moves and the beginning of the line."""
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
            "tuned": self.tuned,
            "mean_depth": round(self.mean_depth, 2),
            "deepest": self.deepest,
            "nodes": self.nodes,
            "leaves": self.leaves,
            "is_full": self.is_full,
            "goal": self.goal,
            "expectation": None if expectation is None else round(expectation, 2),
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


def report_text(report: dict[str, Any], line: Sequence[Sequence[str]] | None = None) -> str:
    """A report (`SearchReport.to_dict`) as one line for logs. line: the texts of its best line."""
    parts = [str(report["mode"])]
    if report["playouts"]:
        rate, descents = (count_text(report[f"{each}_per_second"]) for each in ("playouts", "descents"))
        parts.append(f"{count_text(report['playouts'])} playouts ({rate}/s), {descents} descents/s")
    if report["carried"]:
        parts.append(f"{count_text(report['carried'])} carried over")
    if report["deepest"]:
        parts.append(f"depth {report['mean_depth']:.1f}, at most {report['deepest']}")
    if report.get("leaves"):  # records of earlier versions have no such entry
        counts = (count_text(report[each]) for each in ("nodes", "leaves"))
        parts.append("{} nodes expanded, {} leaves evaluated".format(*counts))
    parts += _prospect(report)
    if report["fallback"]:
        parts.append(f"plays as {report['fallback']}")
    if report.get("tuned"):  # likewise
        parts.append(f"tuned to {report['tuned']}")
    if report["is_full"]:
        parts.append("tree full")
    if report["line"]:
        parts.append(line_of_play(report, line))
    return ", ".join(parts)


def _prospect(report: dict[str, Any]) -> list[str]:
    """What the role is proven, or expects, to get; empty if that is not known."""
    if report["goal"] is not None:
        return [f"proven {report['goal']}"]
    return [] if report["expectation"] is None else [f"expects {report['expectation']:.1f}"]


def line_of_play(report: dict[str, Any], line: Sequence[Sequence[str]] | None = None) -> str:
    """The most visited line of a report in brief; empty if there is none. `noop` is left out if another role
    does something.

    line   texts of the moves of that line, if not those in KIF
    """
    if not report["line"]:
        return ""
    shown = report["line"] if line is None else line
    pairs = [list(zip(*each, strict=True)) for each in zip(report["line"][:TEXT_LINE], shown, strict=False)]
    moved = [[text for move, text in joint_move if move != "noop"] for joint_move in pairs]
    text = " ".join("+".join(moves or ["noop"]) for moves in moved)
    return f"line {text if len(text) <= TEXT_LINE_CHARACTERS else text[: TEXT_LINE_CHARACTERS - 2] + ' …'}"


def count_text(number: float) -> str:
    """A count in three digits.

    >>> [count_text(number) for number in (950, 12_345, 1_260_000)]
    ['950', '12.3k', '1.26M']
    """
    if number < 1000:
        return f"{number:.0f}"
    size = min(2, int(math.log10(number) // 3))
    scaled = number / 1000**size
    return f"{scaled:.{0 if scaled >= 100 else 1 if scaled >= 10 else 2}f}{('', 'k', 'M')[size]}"


def _shown(move: Move) -> str:
    text = str(move)
    return text if len(text) <= JSON_MOVE_CHARACTERS else text[: JSON_MOVE_CHARACTERS - 1] + "…"
