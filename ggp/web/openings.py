"""What random games after each move of a position came to: the bars of the table of openings."""

from __future__ import annotations

import random
import time
from collections.abc import Hashable, Sequence
from typing import Any, TypeAlias

from ggp.engines.batches import require_compiled
from ggp.game import RANDOM_ROLE, Game, Move, Role, goals_or_none, is_compiled

_GAMES = 1024
"""For each move."""
_SAMPLES = 8
"""Choices of the other roles, where they have one: chance, and moves at the same time."""
_WIN, _LOSS = 100, 0


Results: TypeAlias = dict[str, tuple[int, int, int]]
"""Move, as text → random games that the first player won, drew and lost after it."""


def results(game: Game[Any], state: Hashable, role: Role, moves: Sequence[Move], deadline: float) -> Results:
    """The results after moves of `role`.

    deadline   `time.monotonic()` seconds; moves that are not reached by then are left out
    Games that are not compiled have none.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> middle = game.legal_moves(game.initial_state(), game.roles[0])[4]
    >>> found = results(game, game.initial_state(), game.roles[0], [middle], time.monotonic() + 60)
    >>> sum(found["(mark 2 2)"]), found["(mark 2 2)"][0] > 600
    (1024, True)
    """
    if not is_compiled(game):
        return {}
    from ggp.lanes.engine import Lanes

    compiled = require_compiled(game)
    lanes = Lanes(compiled.lane_tables, words=compiled.words)
    rng, found = random.Random(0), Results()
    first = next(index for index, each in enumerate(game.roles) if each != RANDOM_ROLE)
    legal = {each: game.legal_moves(state, each) for each in game.roles}
    samples = 1 if all(len(legal[each]) == 1 for each in game.roles if each != role) else _SAMPLES
    for move in moves:
        count = [0, 0, 0]
        for _ in range(samples):
            joint_move = [move if each == role else rng.choice(legal[each]) for each in game.roles]
            after: Any = game.next_state(state, joint_move)
            if game.is_terminal(after):
                goal = goals_or_none(game, after)[first]
                goals = {} if goal is None else {goal: _GAMES // samples}
            else:
                root = compiled.unpack(after)
                goals = lanes.playouts(root, _GAMES // samples, deadline=deadline).goal_counts[first]
            if time.monotonic() >= deadline:
                return found  # games that ended in time are the short ones
            for goal, games in goals.items():
                count[0 if goal == _WIN else 2 if goal == _LOSS else 1] += games
        found[str(move)] = (count[0], count[1], count[2])
    return found


def prepare_results(game: Game[Any]) -> None:
    """Compile what `results` needs, once for all games."""
    state, role = game.initial_state(), game.roles[0]
    results(game, state, role, game.legal_moves(state, role)[:1], deadline=0.0)
