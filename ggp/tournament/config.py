"""Tournaments from TOML files; errors include file and line.

name = "small"            seed = 1             engine = "auto"
games = ["tictactoe"]     # or [games.NAME] tables with `rules` (a path), `simulations` and `lineups`
repetitions = 10          play_clock = 1.0     start_clock = 1.0     simulations = 500
against = ["plain"]       lineups = "pairs"
grace = 1.0               memory = 4096     # seconds beyond each clock; MiB for each user-defined agent

[agents]
plain = "mcts"
wide = { player = "mcts", options = { c = 60 } }

[options]                 # for all agents that have the option and do not set it themselves
solver = "off"

[conditions.time]         # instead of a single condition with the four values above
play_clock = 0.5
options = { c = 40 }      # as [options], in this condition only

[until]
rule = "sprt"
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from itertools import product, takewhile
from pathlib import Path
from typing import Any, cast

from gdl.errors import GdlError
from ggp.engines.loading import ENGINES, find_rules, make_game, read_program
from ggp.game import RANDOM_ROLE
from ggp.match.player import PlayerSpecError
from ggp.match.terms import GRACE_SECONDS
from ggp.players.factory import MIN_MEBIBYTES, seat_player
from ggp.protocol.messages import MAX_CLOCK_SECONDS
from ggp.tournament.agent_code import code_digest
from ggp.tournament.plan import (
    Agent,
    Condition,
    GameEntry,
    Lineups,
    Plan,
    Until,
    extend_spec,
    player_spec,
    with_option,
)

DEFAULT_REPETITIONS = 10
DEFAULT_CLOCK_SECONDS = 1.0
SIMULATION_CLOCK_SECONDS = 3600.0
"""Default clock of conditions with simulations: long enough never to cut a search."""

_CONDITION_KEYS = ("repetitions", "start_clock", "play_clock", "simulations")
_UNTIL_KEYS = ("rule", "elo0", "elo1", "alpha", "beta", "width")
_TOP_KEYS = (
    *("name", "seed", "engine", "games", "agents", "options", "against", "lineups", "grace", "memory"),
    *("conditions", "until"),
)
_KINDS = {dict: "a table", list: "a list", str: "a string", int: "an integer", float: "a number"}
_SEARCHING = re.compile(r"(mcts|alphabeta|solving|tablebase|text)(:|$)")
_LIMIT = re.compile(r"[:,](simulations|depth|nodes)=")
_NAME = re.compile(r"[^\s/|]+")

Key = tuple[str, ...]


class ConfigError(Exception):
    """An error in a tournament configuration.

    key   location of the error as a path of keys; empty for the whole file
    """

    def __init__(self, message: str, key: Key = ()) -> None:
        super().__init__(message)
        self.key = key


def read_config(path: Path) -> Plan:
    """Read a tournament from a TOML file. Raises ConfigError (located) and OSError."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", str(error))
        where, what = (f"{path}:{found[2]}:{found[3]}", found[1]) if found else (path, str(error))
        raise ConfigError(f"{where}: {what}") from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: a number is too long, or lists are nested too deeply") from None
    try:
        return plan_from_data({"name": path.stem, **data}, folder=path.parent)
    except ConfigError as error:
        where = f"{path}:{find_line(text, error.key)}" if error.key else path
        raise ConfigError(f"{where}: {error}") from None


class _Table:
    """A table of a configuration, at the path `key`. All methods raise ConfigError at the key they read."""

    def __init__(self, values: Mapping[str, Any], key: Key, known: Collection[str]) -> None:
        self.values, self.key = values, key
        for name in values:
            if name not in known:
                raise self.error(f"unknown key {name!r}; expected one of {', '.join(sorted(known))}", name)

    def error(self, message: str, *names: str) -> ConfigError:
        return ConfigError(message, (*self.key, *names))

    def get(self, name: str, kind: type, default: Any = ...) -> Any:
        """The value of a key, of the right type; without a default it must be there."""
        if name not in self.values:
            if default is ...:
                raise self.error(f"{name!r} is missing")
            return default
        value = self.values[name]
        if kind is float and type(value) is int:
            value = float(value)
        if not isinstance(value, kind) or isinstance(value, bool):
            raise self.error(f"{name} must be {_KINDS[kind]}, not {value!r}", name)
        return value

    def within(
        self, name: str, kind: type, default: Any, is_right: Callable[[Any], bool], wanted: str
    ) -> Any:
        """The value of a key if it is right, or the default, which may be None."""
        value = self.get(name, kind, default)
        if value is not None and not is_right(value):
            raise self.error(f"{name} must be {wanted}, not {value!r}", name)
        return value

    def choice(self, name: str, choices: Collection[str], default: Any = ...) -> str:
        value: str = self.get(name, str, default)
        if value not in choices:
            raise self.error(f"{name} must be one of {', '.join(choices)}, not {value!r}", name)
        return value

    def count(self, name: str, default: int | None = None) -> int | None:
        found: int | None = self.within(name, int, default, lambda value: value >= 1, "at least 1")
        return found

    def lineups(self) -> Lineups | None:
        value = self.values.get("lineups")
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if value not in ("pairs", "all", None) and not is_count:
            raise self.error(
                f'lineups must be "pairs", "all" or a number of matches, not {value!r}', "lineups"
            )
        return cast("Lineups | None", value)

    def options(self) -> dict[str, str]:
        """The options of player specs; TOML's booleans are switches."""
        return {
            name: ("on" if value else "off") if isinstance(value, bool) else str(value)
            for name, value in self.get("options", dict, {}).items()
        }


def plan_from_data(data: Mapping[str, Any], *, folder: Path = Path()) -> Plan:
    """Make a tournament from the keys and values of a TOML file. Raises ConfigError."""
    table = _Table(data, (), (*_TOP_KEYS, *_CONDITION_KEYS))
    agents = _agents(table)
    names = [agent.name for agent in agents]
    against = tuple(table.get("against", list, []))
    for name in against:
        if name not in names:
            raise table.error(
                f"against: unknown agent {name!r}; expected one of {', '.join(names)}", "against"
            )
    _check_once(list(against), "against", "name each agent once")
    plan = Plan(
        name=table.get("name", str),
        seed=table.get("seed", int, 0),
        engine=table.choice("engine", ENGINES, "auto"),
        agents=agents,
        games=_games(data.get("games"), folder),
        conditions=_conditions(table),
        lineups=table.lineups() or "pairs",
        against=against,
        until=_until(_Table(table.get("until", dict, {}), ("until",), _UNTIL_KEYS)),
        grace_seconds=table.within("grace", float, GRACE_SECONDS, *_CLOCK_OR_0),
        memory_mebibytes=table.within(
            "memory", int, None, lambda memory: memory >= MIN_MEBIBYTES, f"at least {MIN_MEBIBYTES} MiB"
        ),
    )
    _check_options(plan)
    _check_seats(plan)
    _check_clocks(plan)
    return plan


_CLOCK_OR_0 = (lambda clock: 0 <= clock <= MAX_CLOCK_SECONDS, "at least 0 seconds and at most a week")
_CLOCK = (lambda clock: 0 < clock <= MAX_CLOCK_SECONDS, "more than 0 seconds and at most a week")


def _agents(table: _Table) -> tuple[Agent, ...]:
    shared = table.options()
    agents = []
    for name, entry in table.get("agents", dict).items():
        key = ("agents", name)
        _check_name("agent", name, key)
        spec = entry
        if isinstance(entry, dict):
            own = _Table(entry, key, ("player", "options"))
            spec = extend_spec(own.get("player", str), own.options())
        elif not isinstance(entry, str):
            raise ConfigError(f'agent {name}: expected "player" or {{ player = "…", options = {{…}} }}', key)
        try:
            player = seat_player(spec)
        except PlayerSpecError as error:
            raise ConfigError(f"agent {name}: {error}", key) from None
        if player.is_human:
            raise ConfigError(f"agent {name}: 'human' cannot take part in a tournament", key)
        for option, value in shared.items():
            spec = with_option(spec, option, value)
        agents.append(Agent(name, spec, code_digest(spec)))
    if not agents:
        raise table.error("no agents: a tournament needs some", "agents")
    for option in shared:
        if not any(f"{option}=" in agent.player for agent in agents):
            raise table.error(f"unknown option or invalid value for every agent: {option}", "options", option)
    return tuple(agents)


def _check_name(kind: str, name: str, key: Key) -> None:
    if not _NAME.fullmatch(name):
        raise ConfigError(f"{kind} name {name!r}: spaces, '/' and '|' are not allowed", key)


def _check_once(names: list[str], key: str, advice: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name!r} appears twice in {key}; {advice}", (key,))


def _games(entries: object, folder: Path) -> tuple[GameEntry, ...]:
    tables = entries
    if isinstance(entries, list):
        tables = {str(name): {} for name in entries}
        if len(tables) < len(entries):
            raise ConfigError("the same game is given twice", ("games",))
    if not isinstance(tables, dict):
        raise ConfigError(
            'games: expected a list of names or a table of tables, such as games = ["tictactoe"]', ("games",)
        )
    if not tables:
        raise ConfigError("no games: a tournament needs some", ("games",))
    games = tuple(_game(name, table, folder) for name, table in tables.items())
    _check_once([game.name for game in games], "games", "rename them: [games.NAME] with rules = PATH")
    return games


def _game(name: str, entry: object, folder: Path) -> GameEntry:
    key = ("games", name)
    if not isinstance(entry, dict):
        raise ConfigError(f"game {name}: expected a table such as {{ simulations = 500 }}", key)
    table = _Table(entry, key, ("rules", "simulations", "lineups"))
    place = os.path.expandvars(table.get("rules", str, name))
    missing = re.search(r"\$\{?(\w+)", place)
    if missing:
        raise ConfigError(f"{place}: the environment variable {missing[1]} is not set", key)
    try:
        path = folder / place if (folder / place).is_file() else find_rules(place)
        program, _ = read_program(path)
        make_game(program, path.stem, "reasoner")
    except (GdlError, OSError) as error:
        raise ConfigError(f"game {name}: {error}", key) from None
    return GameEntry(
        path.stem if name == place else name,
        program.source.text,
        table.count("simulations"),
        table.lineups(),
    )


def _conditions(top: _Table) -> tuple[Condition, ...]:
    shared = {name: top.values[name] for name in _CONDITION_KEYS if name in top.values}
    if "conditions" not in top.values:
        return (_condition("default", _Table(shared, (), _CONDITION_KEYS)),)
    tables = top.get("conditions", dict)
    if not tables:
        raise top.error("conditions is empty; omit it for a single condition", "conditions")
    found = []
    for name, values in tables.items():
        key = ("conditions", name)
        if not isinstance(values, dict):
            raise ConfigError(
                f"condition {name}: expected a table with some of {', '.join(_CONDITION_KEYS)}", key
            )
        _check_name("condition", name, key)
        found.append(_condition(name, _Table({**shared, **values}, key, (*_CONDITION_KEYS, "options"))))
    return tuple(found)


def _condition(name: str, table: _Table) -> Condition:
    simulations = table.count("simulations")
    usual = DEFAULT_CLOCK_SECONDS if simulations is None else SIMULATION_CLOCK_SECONDS
    play_clock = table.within("play_clock", float, usual, *_CLOCK)
    return Condition(
        name,
        table.count("repetitions", DEFAULT_REPETITIONS) or DEFAULT_REPETITIONS,
        table.within("start_clock", float, play_clock, *_CLOCK_OR_0),
        play_clock,
        simulations,
        tuple(table.options().items()),
    )


def _until(table: _Table) -> Until | None:
    if not table.values:
        return None
    rule = table.choice("rule", ("sprt", "width"))
    numbers = {
        name: table.within(name, float, None, math.isfinite, "finite")
        for name in _UNTIL_KEYS[1:]
        if name in table.values
    }
    until = Until(rule, **numbers)  # type: ignore[arg-type]
    if until.elo0 >= until.elo1:
        raise table.error("elo0 must be less than elo1", "elo1")
    for name in ("alpha", "beta"):
        if not 0 < getattr(until, name) < 0.5:
            raise table.error(f"{name} must be a probability below 0.5", name)
    if not 0 < until.width < 1:
        raise table.error("width must be between 0 and 1, such as 0.1", "width")
    return until


def _check_options(plan: Plan) -> None:
    """Check that every option of a condition applies to some agent."""
    for condition in plan.conditions:
        for option, value in condition.options:
            if all(with_option(agent.player, option, value) == agent.player for agent in plan.agents):
                raise ConfigError(
                    f"unknown option or invalid value for every agent, or set by all agents: {option}",
                    ("conditions", condition.name, "options", option),
                )


def _check_clocks(plan: Plan) -> None:
    """Check that no agent searches by the practically endless default clock."""
    for condition in plan.conditions:
        if condition.simulations is None or condition.play_clock_seconds != SIMULATION_CLOCK_SECONDS:
            continue
        for agent, game in product(plan.agents, plan.games):
            spec = player_spec(agent, game, condition)
            if agent.is_remote or (_SEARCHING.match(spec) and not _LIMIT.search(spec)):
                key = () if condition.name == "default" else ("conditions", condition.name)
                raise ConfigError(
                    f"{agent.name} does not count simulations: condition {condition.name} needs a play_clock"
                    " of less than an hour as well",
                    (*key, "simulations"),
                )


def _check_seats(plan: Plan) -> None:
    """Check that no game lacks agents and no HTTP player needs two seats."""
    for game in plan.games:
        seats = sum(role != str(RANDOM_ROLE) for role in role_names(game))
        key = ("games", game.name)
        if not seats:
            raise ConfigError(f"game {game.name} has no role for an agent", key)
        if game.lineups is not None and seats < 3:
            raise ConfigError(
                f"game {game.name} has only {seats} roles for agents: lineups concern games with more",
                (*key, "lineups"),
            )
        is_in_pairs = plan.lineups_in(game) == "pairs"
        wanted = min(2, seats) if is_in_pairs else seats
        if len(plan.agents) < wanted:
            raise ConfigError(f"game {game.name} needs {wanted} agents, got {len(plan.agents)}", key)
        remote = [agent.name for agent in plan.agents if agent.is_remote]
        if is_in_pairs and seats > 2 and remote:
            raise ConfigError(
                f"in pairs, the HTTP player {remote[0]} would take several seats in {game.name}; "
                'use lineups = "all"',
                key,
            )


def role_names(game: GameEntry) -> tuple[str, ...]:
    """The roles of a game in rule-sheet order, `random` included."""
    program, _ = read_program(game.rules + "\n", game.name)
    return tuple(map(str, make_game(program, game.name, "reasoner").roles))


def find_line(text: str, key: Key) -> int:
    """The line, from 1, that most likely contains the value of a key path.

    >>> find_line('seed = 1\\n[agents]\\na = "mcts"', ("agents", "a"))
    3
    """
    table: Key = ()
    best, matched = 1, 0
    for line, content in enumerate(text.splitlines(), start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", content)
        assigned = re.match(r"\s*([\w\"'.+:\-]+)\s*=", content)
        if header:
            table = names = tuple(part.strip(" \"'") for part in header[1].split("."))
        elif assigned:
            names = (*table, *(part.strip("\"'") for part in assigned[1].split(".")))
        else:
            continue
        depth = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(names, key, strict=False)))
        if depth > matched:
            matched, best = depth, line
    return best
