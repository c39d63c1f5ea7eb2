"""What a tournament consists of, as plain data: agents, games, conditions and when to stop.

A plan is complete: it carries the rules' text and needs no file any more. It is stored with the results,
so a run can be resumed from its results alone.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

from gdl.errors import GdlError
from gdl.parser import parse
from gdl.printer import to_kif
from ggp.players import PlayerSpecError, make_player

Lineups = Literal["pairs", "all"]
Rule = Literal["sprt", "width"]


@dataclass(frozen=True)
class Agent:
    """A named configuration of a player: `player` is what `make_player` takes."""

    name: str
    player: str

    @property
    def is_remote(self) -> bool:
        return self.player.startswith("http://")


@dataclass(frozen=True)
class GameEntry:
    """A game of the tournament; its `simulations` stand in for those of every condition that has some."""

    name: str
    rules: str
    simulations: int | None = None


@dataclass(frozen=True)
class Condition:
    """One way to give agents their time.

    repetitions   how often every assignment of a lineup's agents to roles is played
    simulations   per move, for agents that can count them and do not bring a number of their own
    options       name and value, of every agent that knows the option and does not set it itself
    """

    name: str
    repetitions: int
    start_clock_seconds: float
    play_clock_seconds: float
    simulations: int | None = None
    options: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Until:
    """When a cell needs no more matches, although repetitions are left (`ggp.tournament.sequential`).

    rule          "sprt": one of two hypotheses on the difference in strength is accepted;
                  "width": the 95 % interval of the win rate is at most `width` wide
    elo0, elo1    the hypotheses, as differences in Elo points; alpha, beta: probabilities to err
    """

    rule: Rule
    elo0: float = 0.0
    elo1: float = 30.0
    alpha: float = 0.05
    beta: float = 0.05
    width: float = 0.1


@dataclass(frozen=True)
class Plan:
    """A tournament in full.

    lineups   who meets: "pairs" two agents at a time, in games of more than two roles with every mixed
              assignment; "all" as many different agents as the game has roles
    against   where not empty, only pairs with one of these agents are played
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

    def agent(self, name: str) -> Agent:
        return next(agent for agent in self.agents if agent.name == name)

    def pairs(self) -> list[tuple[str, str]]:
        """Who is compared with whom: the agent that is measured first, its opponent or baseline second."""
        names = [agent.name for agent in self.agents]
        if not self.against:
            return list(combinations(names, 2))
        found = []
        for number, base in enumerate(self.against):
            done = self.against[: number + 1]
            found += [(name, base) for name in names if name not in done]
        return found

    def settings(self) -> dict[str, str]:
        """What the matches mean, piece by piece: a run cannot change those that it has matches of.

        Repetitions, who meets whom and when to stop are not among them: they only decide how many matches
        are played.
        """
        pieces = {"seed": str(self.seed), "engine": self.engine}
        for agent in self.agents:
            pieces[f"agent {agent.name}"] = agent.player
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
    """The rules as they are printed: comments and layout may change during a run."""
    try:
        return to_kif(parse(rules))
    except GdlError:  # told where the game is loaded
        return rules


def changed_settings(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """What keeps `new` from going on with a run of `old`, one line each; additions do not."""
    changes = []
    for key, value in old.items():
        if key not in new:
            changes.append(f"{key} is gone")
        elif new[key] != value:
            changes.append(f"{key} was {value!r}, now is {new[key]!r}")
    return changes


def player_spec(agent: Agent, game: GameEntry, condition: Condition) -> str:
    """The player that `agent` is in this game under this condition.

    Where it has such options and does not set them itself, it gets those of the condition, its number of
    simulations, or by clock one thread: every worker plays a match of its own, and agents that took all cores
    would take them from other matches.
    """
    player = agent.player
    for option, value in condition.options:
        player = with_option(player, option, value)
    if condition.simulations is None:
        return with_option(player, "threads", 1)
    return with_option(player, "simulations", game.simulations or condition.simulations)


def with_option(player: str, option: str, value: object) -> str:
    """`player` with an option added, unless it has it already or knows no such option."""
    if player.startswith("http://") or re.search(rf"[:,]{re.escape(option)}=", player):
        return player
    extended = f"{player}{',' if ':' in player else ':'}{option}={value}"
    try:
        make_player(extended)
    except PlayerSpecError:
        return player
    return extended
