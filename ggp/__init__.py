"""General Game Playing: engines, players, matches, and everything that talks to game managers."""

from ggp.game import Game, GameError, GoalError, IllegalMoveError, NoLegalMoveError
from ggp.loading import load

__version__ = "0.1.0"

__all__ = ["Game", "GameError", "GoalError", "IllegalMoveError", "NoLegalMoveError", "__version__", "load"]
