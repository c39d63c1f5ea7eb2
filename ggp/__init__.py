"""General Game Playing: load a game from its rules, play it, search it, solve it.

    import ggp

    game = ggp.load("tictactoe")
    record = ggp.play_match(game, [ggp.make_player("mcts"), ggp.make_player("random")])

Everything named here is imported when it is first used, so that `import ggp` is fast. No name here
is that of a package inside `ggp`: Python makes `ggp.search` the package as soon as one of its modules is
imported, so the function that searches a state is `search_state`. `ggp.env` is a package on purpose.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gdl.errors import GdlError
    from gdl.syntax.parser import parse_term
    from ggp.analysis.info import GameInfo, describe
    from ggp.analysis.state_view import StateView, show
    from ggp.beliefs.observation import Observation
    from ggp.engines.batches import playouts, successors
    from ggp.engines.compilation import CompilationLimits
    from ggp.engines.compiled import Successors
    from ggp.engines.loading import RulesNotFoundError, load
    from ggp.game import RANDOM_ROLE, Game, GameError, GoalError, IllegalMoveError, NoLegalMoveError
    from ggp.lanes.engine import PlayoutStatistics
    from ggp.match.player import MatchSetup, Player, PlayerError, PlayerFaultError, PlayerSpecError
    from ggp.match.record import MatchRecord, RecordError, read_record, write_record
    from ggp.match.referee import play_match
    from ggp.match.terms import MatchTerms
    from ggp.players.advisors.advisor import Advisor
    from ggp.players.factory import make_player
    from ggp.search.forest.self_play import SelfPlay, self_play
    from ggp.search.one_state import search_state
    from ggp.search.protocol import Advice
    from ggp.search.report import MoveReport, SearchReport
    from ggp.solver.limits import SolverError, SolverLimits
    from ggp.solver.solution import Solution, solve
    from ggp.validation.output import SheetReport
    from ggp.validation.sheet import validate

__version__ = "0.1.0"

_HOMES = {
    "ggp.analysis.info": ("GameInfo", "describe"),
    "ggp.analysis.state_view": ("StateView", "show"),
    "ggp.beliefs.observation": ("Observation",),
    "ggp.engines.batches": ("playouts", "successors"),
    "ggp.engines.compilation": ("CompilationLimits",),
    "ggp.engines.compiled": ("Successors",),
    "ggp.engines.loading": ("RulesNotFoundError", "load"),
    "ggp.game": ("RANDOM_ROLE", "Game", "GameError", "GoalError", "IllegalMoveError", "NoLegalMoveError"),
    "ggp.lanes.engine": ("PlayoutStatistics",),
    "ggp.match.player": ("MatchSetup", "Player", "PlayerError", "PlayerFaultError", "PlayerSpecError"),
    "ggp.match.record": ("MatchRecord", "RecordError", "read_record", "write_record"),
    "ggp.match.referee": ("play_match",),
    "ggp.match.terms": ("MatchTerms",),
    "ggp.players.advisors.advisor": ("Advisor",),
    "ggp.players.factory": ("make_player",),
    "ggp.search.forest.self_play": ("SelfPlay", "self_play"),
    "ggp.search.one_state": ("search_state",),
    "ggp.search.protocol": ("Advice",),
    "ggp.search.report": ("MoveReport", "SearchReport"),
    "ggp.solver.limits": ("SolverError", "SolverLimits"),
    "ggp.solver.solution": ("Solution", "solve"),
    "ggp.validation.output": ("SheetReport",),
    "ggp.validation.sheet": ("validate",),
    "gdl.errors": ("GdlError",),
    "gdl.syntax.parser": ("parse_term",),
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names}

_PACKAGES = ("env", "explain")
"""Packages reachable as attributes: `ggp.env.make`, `ggp.explain.explain`."""

__all__ = [
    "RANDOM_ROLE",
    "Advice",
    "Advisor",
    "CompilationLimits",
    "Game",
    "GameError",
    "GameInfo",
    "GdlError",
    "GoalError",
    "IllegalMoveError",
    "MatchRecord",
    "MatchSetup",
    "MatchTerms",
    "MoveReport",
    "NoLegalMoveError",
    "Observation",
    "Player",
    "PlayerError",
    "PlayerFaultError",
    "PlayerSpecError",
    "PlayoutStatistics",
    "RecordError",
    "RulesNotFoundError",
    "SearchReport",
    "SelfPlay",
    "SheetReport",
    "Solution",
    "SolverError",
    "SolverLimits",
    "StateView",
    "Successors",
    "describe",
    "load",
    "make_player",
    "parse_term",
    "play_match",
    "playouts",
    "read_record",
    "search_state",
    "self_play",
    "show",
    "solve",
    "successors",
    "validate",
    "write_record",
]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"ggp.{name}")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'ggp' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(_HOME_OF[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
