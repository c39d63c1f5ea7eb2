"""EndingTable: the saved values of a part of a game that no move leaves, as players use them.

The part is closed under legal moves (`ggp.solver.reachable.closed_states`), so that its values are exact
although the game as a whole was not solved: what "endgame tables" are in chess and checkers. A state that is
not in the table is just unknown.
"""

from __future__ import annotations

from collections.abc import Hashable
from pathlib import Path
from typing import Any

from ggp.engines.compiled import CompiledGame
from ggp.game import Game
from ggp.solver.limits import SolverError
from ggp.solver.saved import Tablebase
from ggp.solver.stages import Stage


class EndingTable:
    """The values kept for one game. Safe to share between threads.

    known   for searches on lanes; None if they cannot use the values, as those of three roles or of chance
    """

    def __init__(self, path: str | Path, game: Game[Any]) -> None:
        """Raises OSError, SavedSolutionError if the file is damaged or of other rules."""
        self.tablebase = Tablebase(path)
        self.tablebase.require_rules(game.program)
        self.known = self.tablebase.known_goals(game) if isinstance(game, CompiledGame) else None

    @property
    def state_count(self) -> int:
        return int(self.tablebase.header["states"])

    @property
    def goal_sum(self) -> int | None:
        """The sum of two roles' goals in every state, None with one role."""
        found = self.tablebase.header["sum"]
        return None if found is None else int(found)

    def stage(self, game: Game[Any], state: Hashable) -> Stage | None:
        """The optimal moves in a state that is not terminal; None unless all its successors are known."""
        try:
            return self.tablebase.stage(game, state)
        except (KeyError, SolverError):
            return None
