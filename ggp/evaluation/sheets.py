"""Evaluate one sheet in this process or in a worker; only plain data is exchanged."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass

from gdl.errors import GdlError
from gdl.program import Program
from ggp.engines.loading import make_game, read_program
from ggp.evaluation.evaluate import Evaluation, EvaluationTerms, evaluate
from ggp.game import GameError

UNPLAYABLE = (GdlError, GameError, OSError, RecursionError, MemoryError)
"""Errors that end the evaluation of one sheet only."""


@dataclass(frozen=True)
class JudgedSheet:
    """Result for one sheet: its evaluation, or the reason why there is none.

    sheet   as the user names it
    """

    sheet: str
    evaluation: Evaluation | None
    error: str = ""


def judge_program(
    sheet: str,
    program: Program,
    name: str,
    terms: EvaluationTerms,
    report: Callable[[str, int, int], None] | None = None,
) -> JudgedSheet:
    """Compile and evaluate a program; errors in the rules are part of the result.

    >>> from gdl.syntax.parser import parse
    >>> judge_program("empty.kif", parse("(legal x wait)"), "empty", EvaluationTerms()).error
    '<rules>: error GDL201: no roles: declare each player, for instance (role robot)'
    """
    try:
        return JudgedSheet(sheet, evaluate(make_game(program, name, "lanes"), terms, report))
    except UNPLAYABLE as error:
        return failed(sheet, error)


def judge_file_in(
    submit: Callable[..., Future[JudgedSheet]], file: str, terms: EvaluationTerms
) -> JudgedSheet | Future[JudgedSheet]:
    """Read a sheet and submit its program to workers; fail at once if it cannot be read."""
    try:
        program, name = read_program(file)
    except UNPLAYABLE as error:
        return failed(file, error)
    return submit(judge_program, file, program, name, terms)


def failed(sheet: str, error: BaseException) -> JudgedSheet:
    """A sheet that cannot be judged, with the reason in a sentence.

    >>> failed("a.kif", MemoryError()).error
    'MemoryError'
    """
    return JudgedSheet(sheet, None, str(error) or type(error).__name__)
