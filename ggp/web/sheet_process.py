"""The process that reads rule sheets of the workbench: `python -m ggp.web.sheet_process MIB`.

check     rules       findings, roles, and the initial state
format    rules       the sheet, formatted
prove     rules       findings of random matches and of all reachable states
conclude  rules       who wins with best play, in words, with a match that shows it
scene     rules moves a position in the middle of a match
explain   rules …     the page of a search, see `explained`
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from typing import Any

from gdl.errors import GdlError
from gdl.syntax.formatting import format_kif
from gdl.syntax.parser import parse_term
from gdl.validation.codes import EXPLANATIONS
from gdl.validation.selection import ALL
from ggp.analysis.picture import find_picture
from ggp.analysis.sheet_comment import read_comment
from ggp.analysis.state_view import show
from ggp.engines.loading import load
from ggp.game import GameError
from ggp.processes.child_end import Parent, serve
from ggp.validation.output import SheetReport
from ggp.validation.sheet import validate
from ggp.web.catalog import short_title
from ggp.web.conclusion import conclude
from ggp.web.explained import explained, fitting
from ggp.web.match_history import MatchHistory
from ggp.web.match_view import box_owners, state_view

_FINDING_LIMIT = 200
_NICENESS = 2
"""Of the process for proofs."""
_PROOF_SECONDS = 10.0
_SCENE_SECONDS, _SCENE_STEPS = 0.4, 60
_PICTURE_LINES = 9


def check(rules: str) -> dict[str, Any]:
    """Findings of a sheet, and its initial state if it can be computed.

    All codes are reported: a variable that occurs only once is often a typing error.
    """
    text = rules + "\n"
    report = validate(text, select=(ALL,))
    result: dict[str, Any] = {
        "title": short_title(read_comment(rules).title),
        "findings": _findings(report),
        "has_errors": report.has_errors,
        "roles": [],
        "explained": [],
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
        result["explained"] = list(fitting(roles)) if roles else []
        notation = view.picture.notation
        result["moves"] = {
            str(role): notation.texts(game.legal_moves(state, role), view.facts) for role in roles
        }
    except (GdlError, GameError) as error:
        result["note"] = "" if report.has_errors else str(error)
    return result


def _findings(report: SheetReport) -> list[dict[str, Any]]:
    return [
        {
            "code": each.code,
            "severity": str(each.severity.value),
            "text": each.message,
            "explanation": EXPLANATIONS.get(each.code, ""),
            "line": each.span and each.span.line,
            "column": each.span and each.span.column,
        }
        for each in report.diagnostics[:_FINDING_LIMIT]
    ]


def prove(rules: str) -> dict[str, Any]:
    """Findings of random matches and of the exploration of all states."""
    report = validate(rules + "\n", play=True, prove=True, seconds=_PROOF_SECONDS, select=(ALL,))
    return {"findings": _findings(report), "text": str(report)}


def scene(rules: str, moves: list[list[str]] | None = None) -> dict[str, Any]:
    """A position in the middle of a match, as in matches: after `moves`, or else of random ones.

    Random matches are cut after a while, and their first half is played.
    """
    history = MatchHistory(load(rules + "\n", engine="reasoner", name="sheet"))
    game = history.game
    given = None if moves is None else [tuple(map(parse_term, row)) for row in moves]
    rng, deadline = random.Random(1), time.monotonic() + _SCENE_SECONDS
    for step in range(_SCENE_STEPS if given is None else len(given)):
        if given is None and (history.is_over or time.monotonic() > deadline):
            break
        history.play(
            [rng.choice(history.legal(role)) for role in game.roles] if given is None else given[step]
        )
    is_cut = given is None and len(game.roles) > 1
    step = (len(history.steps) + 1) // 2 if is_cut else len(given or ())
    facts = history.facts(step)
    picture = find_picture(game.program, history.facts(0))
    is_over, owners = game.is_terminal(history.state(step)), box_owners(history, picture, step)
    view = state_view(picture, facts, None, is_over=is_over, owners=owners)
    return {"board": view["board"], "lines": view["lines"], "facts": view["facts"][:_PICTURE_LINES]}


_METHODS: dict[str, Callable[..., Any]] = {
    "check": check,
    "format": lambda rules: format_kif(rules),
    "prove": prove,
    "conclude": conclude,
    "scene": scene,
    "explain": explained,
}


if __name__ == "__main__":
    if sys.argv[2:] == ["proofs"] and hasattr(os, "nice"):
        os.nice(_NICENESS)
    serve(Parent(), _METHODS, (GdlError, GameError), int(sys.argv[1]))
