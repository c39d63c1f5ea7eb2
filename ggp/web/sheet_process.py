"""The process that reads rule sheets of the workbench: `python -m ggp.web.sheet_process MIB`.

check     rules       findings, roles, and the initial state
format    rules       the sheet, formatted
prove     rules       findings of random matches and of all reachable states
picture   rules       the initial state as an SVG document
validate  rules       findings as `ggp validate --format json` gives them, with what a repair needs
evaluate  rules       figures of self-play: balance, depth and so on
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from gdl.errors import Diagnostic, GdlError
from gdl.syntax.formatting import format_kif
from gdl.validation.codes import EXPLANATIONS
from gdl.validation.selection import ALL
from ggp.analysis.board_svg import board_svg
from ggp.analysis.figures import words_of
from ggp.analysis.sheet_comment import read_comment
from ggp.analysis.state_view import show
from ggp.analysis.svg import svg_document, svg_text
from ggp.engines.loading import load
from ggp.game import GameError
from ggp.processes.child_end import Parent, serve
from ggp.validation.output import to_json
from ggp.validation.sheet import validate
from ggp.web.match_view import state_view

FINDING_LIMIT = 200
PROOF_SECONDS = 10.0
EVALUATION_SECONDS = 20.0
EVALUATION_SIMULATIONS = 64
EVALUATION_MATCHES = 64
PICTURE_LINES = 9
PICTURE_CHARACTERS = 32


def check(rules: str) -> dict[str, Any]:
    """Findings of a sheet, and its initial state if it can be computed.

    All codes are reported: a variable that occurs only once is often a typing error.

    >>> result = check("(role x) (legal x wait) (init (a b)")
    >>> [finding["code"] for finding in result["findings"]], result["state"]
    (['GDL101'], None)
    """
    text = rules + "\n"
    report = validate(text, select=(ALL,))
    result: dict[str, Any] = {
        "title": read_comment(rules).title,
        "findings": [_finding(each) for each in report.diagnostics[:FINDING_LIMIT]],
        "has_errors": report.has_errors,
        "roles": [],
        "moves": {},
        "state": None,
        "note": "",
    }
    try:
        game = load(text, engine="reasoner", name="sheet")
        view = show(game)
        state = game.initial_state()
        result["roles"] = [str(role) for role in game.roles]
        result["state"] = state_view(view.picture, view.facts, None, is_over=view.is_over)
        roles = () if view.is_over else game.roles
        result["moves"] = {str(role): list(map(words_of, game.legal_moves(state, role))) for role in roles}
    except (GdlError, GameError) as error:
        result["note"] = "" if report.has_errors else str(error)
    return result


def _finding(diagnostic: Diagnostic) -> dict[str, Any]:
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity.value),
        "text": diagnostic.message,
        "explanation": EXPLANATIONS.get(diagnostic.code, ""),
        "line": None if span is None else span.line,
        "column": None if span is None else span.column,
    }


def prove(rules: str) -> dict[str, Any]:
    """Findings of random matches and of the exploration of all states."""
    report = validate(rules + "\n", play=True, prove=True, seconds=PROOF_SECONDS, select=(ALL,))
    return {
        "findings": [_finding(each) for each in report.diagnostics[:FINDING_LIMIT]],
        "text": str(report),
    }


def picture(rules: str) -> str:
    """The initial state as a standalone SVG document: its board, else its first lines as text.

    >>> picture("(role x) (init (heap a 3)) (legal x wait)").count("<text")
    1
    """
    view = show(load(rules + "\n", engine="reasoner", name="sheet"))
    if (board := view.board) is not None:
        return board_svg(board, filter(board.shows, view.facts))
    lines = [line[:PICTURE_CHARACTERS] for line in str(view).splitlines()[:PICTURE_LINES]]
    width = 8 * max(map(len, lines), default=1) + 20
    texts = [
        svg_text(10, 20 * row + 22, line, style=' xml:space="preserve"') for row, line in enumerate(lines)
    ]
    return svg_document(width, 20 * len(lines) + 14, texts, font="monospace")


def examine(rules: str) -> Any:
    """Findings as data for programs.

    >>> examine("(role x) (legal x wait")["sheets"][0]["diagnostics"][0]["code"]
    'GDL101'
    """
    return json.loads(to_json([validate(rules + "\n")]))


def judge(rules: str) -> dict[str, Any]:
    """Figures of a game, as `ggp evaluate --json` gives them."""
    from ggp.engines.batches import require_compiled
    from ggp.evaluation.evaluate import EvaluationTerms, evaluate

    game = require_compiled(load(rules + "\n", engine="lanes", name="sheet"))
    terms = EvaluationTerms(
        simulations=EVALUATION_SIMULATIONS, matches=EVALUATION_MATCHES, seconds=EVALUATION_SECONDS
    )
    return evaluate(game, terms).to_dict()


_METHODS: dict[str, Callable[..., Any]] = {
    "check": check,
    "format": lambda rules: format_kif(rules),
    "prove": prove,
    "picture": picture,
    "validate": examine,
    "evaluate": judge,
}


if __name__ == "__main__":
    serve(Parent(), _METHODS, (GdlError, GameError), int(sys.argv[1]))
