"""Check an engine against a reference trace: the results of an independent prover on the same matches.

A trace is gzipped (or plain) JSON Lines: a header, then one `step` object per visited state. Its keys: `p`
playout, `s` step, `n` number of facts, `h` SHA-256 of the facts, `facts`, `term`, `legal` or `legal_n` and
`legal_h`, `move`, `goals`, `end` and `stuck` if a playout was cut.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ggp.game import Game, GameError, GoalError, Move, NoLegalMoveError

Row: TypeAlias = dict[str, Any]


class TraceError(ValueError):
    """The file is not a trace, or a trace of another game."""


@dataclass(frozen=True)
class Difference:
    """The first difference between an engine and a trace.

    what       "facts", "legal moves of xplayer", "goal of oplayer", …
    expected   the value in the trace
    found      the value of the engine
    facts      the engine's state, if it has one
    """

    playout: int
    step: int
    what: str
    expected: str
    found: str
    facts: tuple[str, ...] = ()
    detail: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReplayResult:
    """Number of playouts and states that agree, and the first difference, if any."""

    game: str
    playouts: int
    states: int
    difference: Difference | None

    @property
    def is_same(self) -> bool:
        return self.difference is None


class _DifferenceError(Exception):
    """Carries the first difference to the caller: what, expected, found, and details if there are any."""


def replay(game: Game[Any], trace: Path | str) -> ReplayResult:
    """Replay `trace` with `game` up to the first difference. Raises TraceError, OSError."""
    rows = read_trace(Path(trace))
    header = next(rows, None)
    if header is None or header.get("t") != "header":
        raise TraceError(f"{trace}: the first line is not a trace header")
    if not isinstance(header.get("roles"), list):
        raise TraceError(f"{trace}: the header has no roles")
    roles = tuple(map(str, game.roles))
    if tuple(map(str, header["roles"])) != roles:
        difference = Difference(0, 0, "roles", " ".join(map(str, header["roles"])), " ".join(roles))
        return ReplayResult(str(header.get("game")), 0, 0, difference)
    return _Follower(game, str(header.get("game"))).follow(rows)


def read_trace(path: Path) -> Iterator[Row]:
    """The objects of a trace file, one per line. Raises TraceError, OSError."""
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
    opener = gzip.open if is_gzip else open
    number = 0
    try:
        with opener(path, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                yield _row(line, f"{path}:{number}")
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"{path}:{number + 1}: {error}") from None


def _row(line: str, place: str) -> Row:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        row = None
    if not isinstance(row, dict):
        raise TraceError(f"{place}: not a trace: expected a JSON object on every line")
    return row


class _Follower:
    """One pass over a trace: the current playout's state, and the comparisons."""

    def __init__(self, game: Game[Any], name: str) -> None:
        self.game = game
        self.name = name
        self.state: Hashable = None
        self.joint_move: tuple[Move, ...] | None = None
        self.playouts = self.states = 0

    def follow(self, rows: Iterable[Row]) -> ReplayResult:
        difference = None
        for row in rows:
            if row.get("t") != "step":
                continue
            try:
                self.step(row)
            except _DifferenceError as error:
                difference = self.difference(row, *error.args)
                break
            except GameError as error:
                difference = self.difference(row, "step", "no error", f"{type(error).__name__}: {error}")
                break
            except (KeyError, TypeError, AttributeError) as error:
                place = f"playout {row.get('p')}, step {row.get('s')}"
                raise TraceError(f"{place}: not a valid trace step: {error}") from None
            self.states += 1
        return ReplayResult(self.name, self.playouts, self.states, difference)

    def difference(
        self, row: Row, what: str, expected: object, found: object, detail: Iterable[str] = ()
    ) -> Difference:
        facts = () if self.state is None else tuple(sorted(map(str, self.game.facts(self.state))))
        return Difference(row["p"], row["s"], what, str(expected), str(found), facts, tuple(detail))

    def step(self, row: Row) -> None:
        """Move to the state of `row`, compare it, and keep the joint move."""
        game = self.game
        if row["s"] == 0:
            self.state = game.initial_state()
            self.playouts += 1
        elif self.joint_move is None:
            raise TraceError(f"playout {row['p']}, step {row['s']}: no joint move led here")
        else:
            self.state = game.next_state(self.state, self.joint_move)
        self.joint_move = None
        self.compare_facts(row)
        is_terminal = game.is_terminal(self.state)
        if is_terminal != row["term"]:
            raise _DifferenceError("terminal", row["term"], is_terminal)
        if is_terminal:
            self.compare_goals(row)
        else:
            self.compare_moves(row)

    def compare_facts(self, row: Row) -> None:
        found = sorted(map(str, self.game.facts(self.state)))
        if "facts" in row and found != row["facts"]:
            raise _DifferenceError("facts", *_counts(row["facts"], found))
        if len(found) != row["n"]:
            raise _DifferenceError("number of facts", row["n"], len(found))
        digest = text_hash(found)
        if digest != row["h"]:
            raise _DifferenceError("hash of the facts", row["h"], digest)

    def compare_goals(self, row: Row) -> None:
        raw = row.get("goals_raw", {})
        for role in self.game.roles:
            expected = row["goals"][str(role)]
            found: int | None = None
            try:
                found = self.game.goal(self.state, role)
                text = str(found)
            except GoalError as error:
                text = str(error)
            if found != expected:
                none = f"not a single integer; the rules give {raw.get(str(role), [])}"
                raise _DifferenceError(f"goal of {role}", none if expected is None else expected, text)

    def compare_moves(self, row: Row) -> None:
        legal: list[dict[str, Move] | None] = []
        for role in self.game.roles:
            try:
                legal.append({str(move): move for move in self.game.legal_moves(self.state, role)})
            except NoLegalMoveError:
                legal.append(None)
        texts = [sorted(moves or ()) for moves in legal]
        if "legal" in row:
            for role, found in zip(self.game.roles, texts, strict=True):
                expected = row["legal"].get(str(role), [])
                if found != expected:
                    raise _DifferenceError(f"legal moves of {role}", *_counts(expected, found))
        elif "legal_n" in row:
            self.compare_move_counts(row, texts)
        if "stuck" in row:
            stuck = [str(role) for role, moves in zip(self.game.roles, legal, strict=True) if moves is None]
            if row["stuck"] not in stuck:
                raise _DifferenceError("role without a legal move", row["stuck"], " ".join(stuck) or "none")
        if "move" in row:
            for moves, text, role in zip(legal, row["move"], self.game.roles, strict=True):
                if text not in (moves or {}):
                    raise _DifferenceError(f"move of {role}", text, "not legal")
            self.joint_move = tuple(
                moves[text] for moves, text in zip(legal, row["move"], strict=True) if moves is not None
            )

    def compare_move_counts(self, row: Row, texts: Sequence[Sequence[str]]) -> None:
        counts = [len(found) for found in texts]
        lines = [
            f"{role} {move}" for role, found in zip(self.game.roles, texts, strict=True) for move in found
        ]
        if counts != row["legal_n"]:
            raise _DifferenceError("number of legal moves per role", row["legal_n"], counts, lines)
        digest = text_hash(lines)
        if digest != row["legal_h"]:
            raise _DifferenceError("hash of the legal moves", row["legal_h"], digest, lines)


def text_hash(lines: Sequence[str]) -> str:
    """The SHA-256 (hex) of a sorted list of canonical terms, as in traces.

    >>> text_hash(["(cell 1 1 b)", "(control x)"])[:8]
    '956287b2'
    """
    return hashlib.sha256("\n".join(lines).encode("utf-8")).hexdigest()


def _counts(expected: Sequence[str], found: Sequence[str]) -> tuple[str, str, list[str]]:
    """Compare two sets of terms: both texts, and the differing terms."""
    missing = sorted(set(expected) - set(found))
    extra = sorted(set(found) - set(expected))
    return (
        f"{len(expected)}, of which the engine lacks {len(missing)} (-)",
        f"{len(found)}, of which the trace lacks {len(extra)} (+)",
        [f"- {term}" for term in missing] + [f"+ {term}" for term in extra],
    )


def explain(result: ReplayResult, *, fact_limit: int = 200) -> str:
    """Format a result: one line if everything agrees, else the expected and the found value."""
    place = f"{result.game}: {result.playouts} playouts, {result.states} states"
    difference = result.difference
    if difference is None:
        return f"{place}: no difference"
    lines = [
        f"{result.game}: differs in playout {difference.playout}, step {difference.step}: {difference.what}",
        f"  expected  {difference.expected}",
        f"  found     {difference.found}",
        *(f"    {line}" for line in difference.detail[:fact_limit]),
    ]
    if difference.facts:
        lines.append(f"  state of the engine, {len(difference.facts)} facts:")
        lines += [f"    {fact}" for fact in difference.facts[:fact_limit]]
        if len(difference.facts) > fact_limit:
            lines.append(f"    … and {len(difference.facts) - fact_limit} more")
    lines.append(f"  {result.states} earlier states agree")
    return "\n".join(lines)
