"""All stages of `ggp validate` for one rule sheet."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gdl.errors import Diagnostic, GdlError, GdlSyntaxError
from gdl.program import Program
from gdl.syntax.parser import decode, parse
from gdl.validation import Selection, check
from gdl.validation import validate as diagnose
from gdl.validation.all_checks import reading_order
from gdl.validation.fixes import FixError, fix
from ggp.engines.loading import RulesNotFoundError, find_rules, is_rule_text
from ggp.files import write_text
from ggp.game import Game
from ggp.match.record import write_record
from ggp.validation.output import SheetReport
from ggp.validation.properties import (
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

STANDARD_INPUT = "-"
SUFFIX = ".kif"
MAX_BYTES = 8_000_000
"""Maximum number of bytes read; the parser accepts less."""
HINDRANCES = frozenset({"GDL401", "GDL402", "GDL403"})
"""Faults that may be the reason why no role wins."""


@dataclass(frozen=True)
class Request:
    """What to do with a sheet; `play` and `prove` are None unless requested.

    is_fixing   replace the file by one with mechanical corrections
    """

    play: PlayLimits | None = None
    prove: ProofLimits | None = None
    record: Path | None = None
    selection: Selection = field(default_factory=Selection)
    is_fixing: bool = False
    progress: Callable[[str], None] = field(default=lambda text: None)


def sheet_names(arguments: Iterable[str]) -> list[str]:
    """Expand folders to the `.kif` files in and below them; no name occurs twice.

    Other names are kept, even of missing files: reading them raises the error.
    """
    names: list[str] = []
    for argument in arguments:
        path = Path(argument)
        if argument not in ("", STANDARD_INPUT) and path.is_dir():
            names += [str(sheet) for sheet in sorted(path.rglob(f"*{SUFFIX}")) if sheet.is_file()]
        else:
            names.append(argument)
    return list(dict.fromkeys(names))


def read_bytes(name: str) -> tuple[bytes, str]:
    """(content, name for messages) of a sheet. Raises RulesNotFoundError, OSError."""
    if name == STANDARD_INPUT:
        return sys.stdin.buffer.read(MAX_BYTES), "<stdin>"
    path = find_rules(name)
    with open(path, "rb") as file:
        return file.read(MAX_BYTES), str(path)


def examine(name: str, request: Request) -> SheetReport:
    """Read and check a sheet; play and prove if requested. Never raises for bad input."""
    try:
        data, label = read_bytes(name)
        if request.is_fixing:
            data, fixed, note = _fixed(data, label, request)
    except RulesNotFoundError as error:
        return SheetReport(name, unreadable=str(error))
    except OSError as error:
        return SheetReport(name, unreadable=f"{name}: {error.strerror or error}")
    report = _examine_bytes(data, label, request)
    if request.is_fixing:
        report.fixed, report.note = fixed, "; ".join(filter(None, (note, report.note)))
    return report


def _fixed(data: bytes, label: str, request: Request) -> tuple[bytes, int, str]:
    """Correct a file: (new content, number of corrections, why there can be none). Raises OSError."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return data, 0, "not fixed: not in UTF-8"
    try:
        program = parse(text, name=label)
    except GdlSyntaxError:
        return data, 0, ""
    try:
        corrected, count = fix(program, request.selection, text)
    except FixError:
        return data, 0, "not fixed: the corrections would change the rules"
    if count:
        write_text(Path(label), corrected)
        data = corrected.encode()
    return data, count, ""


def validate(
    path_or_text: str | Path,
    *,
    play: bool = False,
    prove: bool = False,
    seconds: float = 60.0,
    seed: int = 0,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> SheetReport:
    """Check a file, a bundled game or rule text for errors.

    play      also play random matches and report the properties of the game that they refute
    prove     also explore all reachable states and prove these properties, if there are few enough
    seconds   wall time for `play` and for `prove`, each
    select    codes to report, or their prefixes; all but GDL304 if there are none
    ignore    codes not to report, or their prefixes

    >>> import ggp
    >>> ggp.validate("tictactoe")
    <SheetReport ...tictactoe.kif: 28 rules, no errors>
    >>> print(ggp.validate("(role x"))
    <rules>:1:1: error GDL101: unclosed '(': add the ')' that belongs to it
     1 | (role x
       | ^
    <rules>: 0 rules, 1 error, 0 warnings

    Raises RulesNotFoundError, OSError.
    """
    request = Request(
        play=PlayLimits(seconds=seconds, seed=seed) if play else None,
        prove=ProofLimits(seconds=seconds) if prove else None,
        selection=Selection(tuple(select), tuple(ignore)),
    )
    if isinstance(path_or_text, str) and is_rule_text(path_or_text):
        return _examine_bytes(path_or_text.encode(), "<rules>", request)
    return _examine_bytes(*read_bytes(str(path_or_text)), request)


def _examine_bytes(data: bytes, label: str, request: Request) -> SheetReport:
    try:
        program = parse(decode(data), name=label)
    except GdlSyntaxError as error:
        return SheetReport(label, error.source, diagnostics=list(error.diagnostics))
    found = diagnose(program, request.selection)
    report = SheetReport(label, program.source, len(program.rules), found)
    if request.play is not None or request.prove is not None:
        if check(program):
            report.note = "not played, because of the errors"
        else:
            _play(program, report, request)
    return report


def _play(program: Program, report: SheetReport, request: Request) -> None:
    from ggp.solver import UnsolvableError
    from ggp.validation.playouts import play_randomly
    from ggp.validation.proving import prove

    is_growing = any(diagnostic.code == "GDL318" for diagnostic in report.diagnostics)
    try:
        with _silence():
            game, exact = _games(program, Path(report.name).stem, request, is_growing=is_growing)
    except GdlError as error:
        report.note = f"not played: {error}"
        return
    try:
        request.progress("base and input")
        declarations = Declarations() if is_growing else declarations_of(program)
        if request.play is not None:
            report.properties += play_randomly(
                game, exact, declarations, request.play, lambda n: request.progress(f"{n:,} matches")
            )
        if request.prove is not None:
            try:
                report.properties += prove(
                    game, declarations, request.prove, lambda n: request.progress(f"{n:,} states")
                )
            except UnsolvableError as error:
                report.note = f"nothing proved: {error}"
    except GdlError as error:
        report.note = f"aborted: {error}"
    report.properties = _surest(report.properties)
    _note_faults(program, exact, report, request)


def _surest(properties: list[Property]) -> list[Property]:
    """Of several properties with the same claim, keep the decided or else the last one."""
    chosen = {fact.statement: fact for fact in properties}
    chosen |= {fact.statement: fact for fact in properties if fact.outcome is not Outcome.SAMPLED}
    if any(statement.startswith(LONGEST) for statement in chosen):
        chosen = {text: fact for text, fact in chosen.items() if not text.startswith(LONGEST_SEEN)}
    return list(chosen.values())


def _games(program: Program, name: str, request: Request, *, is_growing: bool) -> tuple[Game[Any], Game[Any]]:
    """The game on the fastest engine, and on the reasoner; growing terms cannot be ground."""
    from ggp.engines.compilation import CompilationLimits
    from ggp.engines.loading import make_game
    from ggp.engines.reasoner import InterpretedGame

    exact = InterpretedGame(program, name)
    if is_growing:
        return exact, exact
    seconds = max(part.seconds for part in (request.play, request.prove) if part is not None)
    limits = CompilationLimits(seconds=min(CompilationLimits().seconds, seconds))
    return make_game(program, name, limits=limits), exact


def _note_faults(program: Program, game: Game[Any], report: SheetReport, request: Request) -> None:
    """Add a diagnostic per code for refuted properties; record the first witness match."""
    found: dict[str, Diagnostic] = {}
    record = request.record
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
    reported = (each for each in found.values() if request.selection.includes(each.code))
    report.diagnostics = sorted([*report.diagnostics, *reported], key=reading_order)


@contextmanager
def _silence() -> Iterator[None]:
    """Suppress warnings of the logger `ggp`, such as that the game has no lanes."""
    logger = logging.getLogger("ggp")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)
