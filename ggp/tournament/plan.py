"""A tournament as plain data: agents, games, conditions and stopping rule.

A plan is complete: it contains the text of the rules and needs no other file. It is stored with the matches,
so that a run can be resumed from its store alone.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from gdl.errors import GdlError
from gdl.syntax.parser import parse
from gdl.syntax.printer import to_kif
from ggp.integers import check_integers
from ggp.match.player import PlayerSpecError
from ggp.match.terms import GRACE_SECONDS
from ggp.players.factory import seat_player
from ggp.players.own import is_own_player

Lineups = Literal["pairs", "all"] | int
"""Groups of agents in games with more than two roles; see `Plan`."""
Rule = Literal["sprt", "width"]


@dataclass(frozen=True)
class Agent:
    """A named configuration of a player.

    player   a spec for `make_player`
    code     digest of the files that it names (`ggp.tournament.agent_code`); empty without any
    """

    name: str
    player: str
    code: str = ""

    @property
    def is_remote(self) -> bool:
        return self.player.startswith("http://")


@dataclass(frozen=True)
class GameEntry:
    """A game of the tournament.

    simulations   overrides the number of any condition that has one
    lineups       overrides `Plan.lineups`
    """

    name: str
    rules: str
    simulations: int | None = None
    lineups: Lineups | None = None

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, simulations=1)


@dataclass(frozen=True)
class Condition:
    """The clocks or simulations under which matches are played.

    repetitions   matches for each assignment of agents to roles
    simulations   per move, for agents that have this option and do not set it themselves
    options       (name, value) for agents that have the option and do not set it themselves
    """

    name: str
    repetitions: int
    start_clock_seconds: float
    play_clock_seconds: float
    simulations: int | None = None
    options: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        """Raises TypeError and ValueError for numbers that are not integers or too small."""
        check_integers(self, repetitions=1, simulations=1)


@dataclass(frozen=True)
class Until:
    """Stopping rule of a cell (`ggp.tournament.stopping`).

    rule          "sprt": one of two hypotheses on the difference in strength is accepted;
                  "width": the 95 % interval of the win rate is at most `width` wide
    elo0, elo1    the hypotheses, as differences in Elo points; alpha, beta: error probabilities
    """

    rule: Rule
    elo0: float = 0.0
    elo1: float = 30.0
    alpha: float = 0.05
    beta: float = 0.05
    width: float = 0.1


@dataclass(frozen=True)
class Plan:
    """A complete tournament.

    lineups   in games with more than two roles, "pairs": two agents per match in every mixed assignment;
              "all": as many different agents as the game has roles, in every assignment; a number: a
              sample of that many of these assignments, the same in each repetition
    against   unless empty, only pairs with one of these agents are played
    grace_seconds, memory_mebibytes   see MatchTerms and `seat_player`
    """

    name: str
    seed: int
    engine: str
    agents: tuple[Agent, ...]
    games: tuple[GameEntry, ...]
    conditions: tuple[Condition, ...]
    lineups: Lineups = "pairs"
    against: tuple[str, ...] = ()
    until: Until | None = None
    grace_seconds: float = GRACE_SECONDS
    memory_mebibytes: int | None = None

    def __post_init__(self) -> None:
        """Raises TypeError for a seed that is not an integer."""
        check_integers(self, seed=None)

    def lineups_in(self, game: GameEntry) -> Lineups:
        return self.lineups if game.lineups is None else game.lineups

    def agent(self, name: str) -> Agent:
        return next(agent for agent in self.agents if agent.name == name)

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs to compare: first the agent to measure, then its opponent or baseline."""
        names = [agent.name for agent in self.agents]
        if not self.against:
            return list(combinations(names, 2))
        return [
            (name, base)
            for number, base in enumerate(self.against, start=1)
            for name in names
            if name not in self.against[:number]
        ]

    def settings(self) -> dict[str, str]:
        """The settings that matches depend on: fixed once a match was played.

        Repetitions, pairs and stopping rule are not among them: they only determine how many matches are
        played.
        """
        pieces = {"seed": str(self.seed), "engine": self.engine, "grace": f"{self.grace_seconds:g} s"}
        for agent in self.agents:
            pieces[f"agent {agent.name}"] = agent.player
            if agent.code:
                pieces[f"code of agent {agent.name}"] = agent.code
        for game in self.games:
            digest = hashlib.sha256(_meaning(game.rules).encode()).hexdigest()[:16]
            own = "" if game.simulations is None else f", simulations {game.simulations}"
            pieces[f"game {game.name}"] = f"rules {digest}{own}"
        for condition in self.conditions:
            limit = "" if condition.simulations is None else f", simulations {condition.simulations}"
            clocks = f"{condition.start_clock_seconds:g} s, {condition.play_clock_seconds:g} s"
            options = "".join(f", {option} {value}" for option, value in condition.options)
            pieces[f"condition {condition.name}"] = f"clocks {clocks}{limit}{options}"
        return pieces

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> Plan:
        """The inverse of `to_json`."""
        data: dict[str, Any] = json.loads(text)
        until = data.pop("until")
        return cls(
            **{
                **data,
                "agents": tuple(Agent(**each) for each in data["agents"]),
                "games": tuple(GameEntry(**each) for each in data["games"]),
                "conditions": tuple(
                    Condition(**{**each, "options": tuple(map(tuple, each.get("options", ())))})
                    for each in data["conditions"]
                ),
                "against": tuple(data["against"]),
                "until": Until(**until) if until else None,
            }
        )


def _meaning(rules: str) -> str:
    """The rules without comments and layout, which may change between runs."""
    try:
        return to_kif(parse(rules))
    except GdlError:  # reported when the game is loaded
        return rules


def changed_settings(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Changes that prevent resuming a run of `old`, one line each; additions are allowed.

    >>> changed_settings({"seed": "0"}, {"seed": "1", "agent a": "mcts"})
    ["seed was '0', now is '1'"]
    """
    changes = []
    for key, value in old.items():
        if key.startswith("code of agent ") and new.get(key) != value:
            changes.append(code_change(key.removeprefix("code of agent ")))
        elif key not in new:
            changes.append(f"{key} is gone")
        elif new[key] != value:
            changes.append(f"{key} was {value!r}, now is {new[key]!r}")
    return changes


def code_change(agent: str) -> str:
    """Error text for an agent whose files changed after it had played."""
    return (
        f"the files of agent {agent} have changed since its matches were played:"
        " restore them, and add the new version as another agent with its own files"
    )


def player_spec(agent: Agent, game: GameEntry, condition: Condition) -> str:
    """The spec of `agent` in this game under this condition.

    An agent that has the options and does not set them itself gets those of the condition, and its number of
    simulations; or, if it plays by the clock, one thread, because every worker plays its own match and needs
    its own core.
    """
    player = agent.player
    for option, value in condition.options:
        player = with_option(player, option, value)
    if condition.simulations is None:
        return with_option(player, "threads", 1)
    return with_option(player, "simulations", game.simulations or condition.simulations)


def extend_spec(player: str, options: Mapping[str, object]) -> str:
    """Append options to the spec of a player.

    >>> extend_spec("mcts", {"c": 40, "threads": 2}), extend_spec("mcts:c=40", {"threads": 2})
    ('mcts:c=40,threads=2', 'mcts:c=40,threads=2')
    >>> extend_spec("agents.py:Greedy", {"depth": 3})
    'agents.py:Greedy:depth=3'
    """
    if not options:
        return player
    has_options = player.count(":") > is_own_player(player)
    text = ",".join(f"{name}={value}" for name, value in options.items())
    return f"{player}{',' if has_options else ':'}{text}"


def with_option(player: str, option: str, value: object) -> str:
    """Add an option to the spec `player`, unless it sets or does not have this option."""
    if player.startswith(("http://", "text:")) or re.search(rf"[:,]{re.escape(option)}=", player):
        return player
    extended = extend_spec(player, {option: value})
    return extended if _is_made(extended) else player


@functools.lru_cache(maxsize=1024)
def _is_made(player: str) -> bool:
    try:
        return getattr(seat_player(player), "fault", None) is None
    except PlayerSpecError:
        return False
