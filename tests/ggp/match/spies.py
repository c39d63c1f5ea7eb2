"""A player of one's own that writes down everything it is given, one JSON object per line.

Commands make it as `tests/ggp/match/spies.py:Spy:log=FILE`.
"""

import json
from typing import Any

import ggp


class Spy(ggp.Player):
    """Plays by what it observes, like any player without code for hidden information."""

    def __init__(self, log: str) -> None:
        self.log = log

    def note(self, what: str, value: Any) -> None:
        with open(self.log, "a", encoding="utf-8") as file:
            file.write(json.dumps([what, value]) + "\n")

    def start(self, setup: Any, deadline: float) -> None:
        super().start(setup, deadline)
        self.note("role", str(setup.role))

    def observe(self, observation: Any, deadline: float) -> None:
        super().observe(observation, deadline)
        self.note("observe", [str(observation.own_move), list(map(str, observation.percepts))])

    def choose(self, state: Any, deadline: float, joint_move: Any) -> Any:
        self.note("choose", [sorted(map(str, self.setup.game.facts(state))), joint_move])
        return self.legal_moves(state)[0]

    def stop(self, told: Any) -> None:
        self.note("stop", None if told is None else list(map(str, told)))
        super().stop(told)
