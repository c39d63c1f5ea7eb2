"""A match as a file: the JSON text of its record, or an SVG that plays by itself."""

from __future__ import annotations

from collections.abc import Sequence

from ggp.analysis.board_animation import animated_svg
from ggp.analysis.picture import Picture
from ggp.match.record import MatchRecord, Step
from ggp.processes.child_end import RequestError
from ggp.web.match_history import MatchHistory

ANIMATED_STEPS = 1000
"""Maximum number of steps of an animation."""


def record_text(history: MatchHistory, rules: str, seats: Sequence[str], seconds: float) -> str:
    """The match as far as it has been played, as the JSON text of a record.

    seats     names of the players in role order
    seconds   per move
    """
    game = history.game
    record = MatchRecord(
        "web", game.name, tuple(map(str, game.roles)), 0, round(seconds), tuple(seats), rules
    )
    record.steps.append(Step((), _state_text(history, 0)))
    for number, step in enumerate(history.steps, start=1):
        record.steps.append(Step(tuple(map(str, step.joint_move)), _state_text(history, number)))
    goals = history.goals()
    if goals is not None:
        record.complete(goals)
    return record.to_json()


def _state_text(history: MatchHistory, step: int) -> str:
    return f"( {' '.join(map(str, history.game.facts(history.state(step))))} )"


def animation_text(history: MatchHistory, picture: Picture) -> str:
    """The match as an SVG document. Raises RequestError without a board, and for very long matches."""
    if picture.board is None:
        raise RequestError("this game has no board to draw")
    if len(history.steps) > ANIMATED_STEPS:
        raise RequestError(f"the match has more than {ANIMATED_STEPS:,} steps")
    states = [history.game.facts(history.state(step)) for step in range(len(history.steps) + 1)]
    return animated_svg(picture.board, states)
