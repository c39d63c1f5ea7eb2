"""The choice of state tracker for a game."""

from __future__ import annotations

import random
from typing import Any

from ggp.beliefs.belief import Belief
from ggp.beliefs.tracking import StateTracker, Tracker
from ggp.game import Game, Role, has_percepts


def make_tracker(game: Game[Any], role: Role, rng: random.Random) -> Tracker:
    """The tracker that `game` needs, at its initial state. `rng` samples states in GDL-II."""
    if has_percepts(game):
        return Belief(game, role, rng)
    return StateTracker(game, role)
