"""One rule sheet through all that `ggp validate` was asked to do."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gdl.errors import Diagnostic, GdlError, GdlSyntaxError
from gdl.parser import Syntax, decode, parse
from gdl.program import Program
from gdl.terms import Span
from gdl.validation import check, validate
from ggp.diagnostics_output import SheetReport
from ggp.game import Game
from ggp.game_properties import (
    LONGEST,
    LONGEST_SEEN,
    Declarations,
    Outcome,
    PlayLimits,
    ProofLimits,
    Property,
    declarations_of,
    diagnostic_of,
    record_of,
)
from ggp.match_record import write_record
from ggp.sheet_files import RulesNotFoundError, read_bytes

HINDRANCES = frozenset({"GDL401", "GDL402", "GDL403"})
"""Faults that may be why nobody wins."""


@dataclass(frozen=True)
class Request:
    """What to do with a sheet; None for `play` and `prove` where it is not wanted."""

    syntax: Syntax = "auto"
    play: PlayLimits | None = None
    prove: ProofLimits | None = None
    record: Path | None = None
    progress: Callable[[str], None] = field(default=lambda text: None)


def examine(name: str, request: Request) -> SheetReport:
    """Read a sheet, check it, and play and prove where that is asked for. Never raises for bad input."""
    try:
        data, label = read_bytes(name)
    except RulesNotFoundError as error:
        return SheetReport(name, unreadable=str(error))
    except OSError as error:
        return SheetReport(name, unreadable=f"{name}: {error.strerror or error}")
    try:
        program = parse(decode(data), name=label, syntax=request.syntax)
    except GdlSyntaxError as error:
        return SheetReport(label, error.source, diagnostics=list(error.diagnostics))
    report = SheetReport(label, program.source, len(program.rules), validate(program))
    if request.play is not None or request.prove is not None:
        if check(program):
            report.note = "not played: the errors leave the rules without a meaning"
        else:
            _play(program, report, request)
    return report


def _play(program: Program, report: SheetReport, request: Request) -> None:
    name = Path(report.name).stem
    is_growing = any(diagnostic.code == "GDL318" for diagnostic in report.diagnostics)
    try:
        with _silence():
            game, exact = _games(program, name, request, is_growing=is_growing)
    except GdlError as error:
        report.note = f"not played: {error}"
        return
    try:
        request.progress("base and input")
        declarations = Declarations() if is_growing else declarations_of(program)
        if request.play is not None:
            report.properties += _played(game, exact, declarations, request)
        if request.prove is not None:
            report.properties += _proved(game, declarations, request)
    except GdlError as error:
        report.note = f"not played to the end: {error}"
    report.properties = _surest(report.properties)
    _note_faults(program, exact, report, request.record)


def _surest(properties: list[Property]) -> list[Property]:
    """Of several properties that say the same the one decided, or the one that comes last."""
    chosen: dict[str, Property] = {}
    for fact in properties:
        earlier = chosen.get(fact.statement)
        if earlier is None or earlier.outcome is Outcome.SAMPLED or fact.outcome is not Outcome.SAMPLED:
            chosen[fact.statement] = fact
    if any(statement.startswith(LONGEST) for statement in chosen):
        chosen = {text: fact for text, fact in chosen.items() if not text.startswith(LONGEST_SEEN)}
    return list(chosen.values())


def _games(program: Program, name: str, request: Request, *, is_growing: bool) -> tuple[Game[Any], Game[Any]]:
    """(the fastest form of the game, the reasoner's). Growing terms cannot be ground, so it is not tried."""
    from ggp.compilation import CompilationLimits
    from ggp.interpreted_game import InterpretedGame
    from ggp.loading import make_game

    exact = InterpretedGame(program, name)
    if is_growing:
        return exact, exact
    seconds = max(part.seconds for part in (request.play, request.prove) if part is not None)
    limits = CompilationLimits(seconds=min(CompilationLimits().seconds, seconds))
    return make_game(program, name, limits=limits), exact


def _played(
    game: Game[Any], exact: Game[Any], declarations: Declarations, request: Request
) -> list[Property]:
    from ggp.rule_playouts import play_randomly

    assert request.play is not None
    return play_randomly(
        game,
        exact,
        declarations,
        request.play,
        lambda count: request.progress(f"{count:,} matches"),
    )


def _proved(game: Game[Any], declarations: Declarations, request: Request) -> list[Property]:
    from ggp.proving import prove

    assert request.prove is not None
    return prove(
        game,
        declarations,
        request.prove,
        progress=lambda count: request.progress(f"{count:,} states"),
    )


def _note_faults(program: Program, game: Game[Any], report: SheetReport, record: Path | None) -> None:
    """Turn refuted properties into diagnostics, one a code, and write the first that has a match."""
    found: dict[str, Diagnostic] = {}
    refuted = {fact.code for fact in report.properties if fact.outcome is Outcome.REFUTED}
    for fact in report.properties:
        if fact.code == "GDL406" and not refuted.isdisjoint(HINDRANCES):
            continue
        diagnostic = diagnostic_of(fact, program)
        if diagnostic is not None:
            found.setdefault(fact.code, diagnostic)
            if record is not None and fact.witness is not None:
                write_record(record_of(game, fact.witness, f"{fact.code}: {fact.detail}"), record)
                record = None
    report.diagnostics = sorted(
        [*report.diagnostics, *found.values()], key=lambda d: (d.span or Span(0, 0, 0, 0), d.code)
    )


@contextmanager
def _silence() -> Iterator[None]:
    """No warnings of the logger `ggp`: that lanes cannot be built is no news here."""
    logger = logging.getLogger("ggp")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
