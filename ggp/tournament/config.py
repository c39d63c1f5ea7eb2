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
from collections.abc import Collection, Mapping
from itertools import product
from pathlib import Path
from typing import Any

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
_TOP_KEYS = {"name", "seed", "engine", "games", "agents", "options", "against", "lineups", "grace", "memory"}
_TABLES = {"conditions", "until"}
_SEARCHING = re.compile(r"(mcts|alphabeta|solving|tablebase|text)(:|$)")
_LIMIT = re.compile(r"[:,](simulations|depth|nodes)=")
_NAME = re.compile(r"[^\s/|]+")


class ConfigError(Exception):
    """An error in a tournament configuration.

    key   location of the error as a path of keys; empty for the whole file
    """

    def __init__(self, message: str, key: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.key = key


def read_config(path: Path) -> Plan:
    """Read a tournament from a TOML file. Raises ConfigError (located) and OSError."""
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_toml_error(path, str(error))) from None
    except (ValueError, RecursionError):
        raise ConfigError(f"{path}: a number is too long, or lists are nested too deeply") from None
    try:
        return plan_from_data({"name": path.stem, **data}, folder=path.parent)
    except ConfigError as error:
        where = f"{path}:{find_line(text, error.key)}" if error.key else str(path)
        raise ConfigError(f"{where}: {error}") from None


def plan_from_data(data: Mapping[str, Any], *, folder: Path = Path()) -> Plan:
    """Make a tournament from the keys and values of a TOML file. Raises ConfigError."""
    _check_keys(data, {*_TOP_KEYS, *_TABLES, *_CONDITION_KEYS}, ())
    agents = _agents(_need(data, "agents", dict, ()), _need(data, "options", dict, (), {}))
    names = [agent.name for agent in agents]
    against = tuple(_need(data, "against", list, (), []))
    for name in against:
        if name not in names:
            raise ConfigError(
                f"against: unknown agent {name!r}; expected one of {', '.join(names)}", ("against",)
            )
    _check_once(list(against), "against", "name each agent once")
    conditions = _conditions(data)
    _check_options(agents, conditions)
    plan = Plan(
        name=_need(data, "name", str, ()),
        seed=_need(data, "seed", int, (), 0),
        engine=_one_of(_need(data, "engine", str, (), "auto"), ENGINES, ("engine",)),
        agents=agents,
        games=_games(data.get("games"), folder),
        conditions=conditions,
        lineups=_lineups(data.get("lineups", "pairs"), ("lineups",)),
        against=against,
        until=_until(_need(data, "until", dict, (), {})),
        grace_seconds=_grace(data),
        memory_mebibytes=_memory(data),
    )
    _check_seats(plan)
    _check_clocks(plan)
    return plan


def _grace(data: Mapping[str, Any]) -> float:
    grace = float(_need(data, "grace", (int, float), (), GRACE_SECONDS))
    if not 0 <= grace <= MAX_CLOCK_SECONDS:
        raise ConfigError("grace must be at least 0 seconds and at most a week", ("grace",))
    return grace


def _memory(data: Mapping[str, Any]) -> int | None:
    memory: int | None = _need(data, "memory", int, (), None)
    if memory is not None and memory < MIN_MEBIBYTES:
        raise ConfigError(f"memory must be at least {MIN_MEBIBYTES} MiB", ("memory",))
    return memory


def _agents(entries: Mapping[str, Any], shared: Mapping[str, Any]) -> tuple[Agent, ...]:
    agents = []
    for name, entry in entries.items():
        key = ("agents", name)
        if not _NAME.fullmatch(name):
            raise ConfigError(f"agent name {name!r}: spaces, '/' and '|' are not allowed", key)
        spec = entry if isinstance(entry, str) else _agent_spec(entry, key)
        try:
            player = seat_player(spec)
        except PlayerSpecError as error:
            raise ConfigError(f"agent {name}: {error}", key) from None
        if player.is_human:
            raise ConfigError(f"agent {name}: 'human' cannot take part in a tournament", key)
        for option, value in shared.items():
            spec = with_option(spec, option, _option_text(value))
        agents.append(Agent(name, spec, code_digest(spec)))
    if not agents:
        raise ConfigError("no agents: a tournament needs some", ("agents",))
    for option in shared:
        if not any(f"{option}=" in agent.player for agent in agents):
            raise ConfigError(
                f"unknown option or invalid value for every agent: {option}", ("options", option)
            )
    return tuple(agents)


def _agent_spec(entry: object, key: tuple[str, ...]) -> str:
    if not isinstance(entry, dict):
        raise ConfigError(f'agent {key[-1]}: expected "player" or {{ player = "…", options = {{…}} }}', key)
    _check_keys(entry, {"player", "options"}, key)
    options = _need(entry, "options", dict, key, {})
    texts = {name: _option_text(value) for name, value in options.items()}
    return extend_spec(_need(entry, "player", str, key), texts)


def _option_text(value: object) -> str:
    """An option of a player spec; TOML's booleans are switches."""
    if isinstance(value, bool):
        return "on" if value else "off"
    return str(value)


def _games(entries: object, folder: Path) -> tuple[GameEntry, ...]:
    if isinstance(entries, list):
        tables: dict[str, Any] = {str(name): {} for name in entries}
        if len(tables) < len(entries):
            raise ConfigError("the same game is given twice", ("games",))
    elif isinstance(entries, dict):
        tables = entries
    else:
        raise ConfigError(
            'games: expected a list of names or a table of tables, such as games = ["tictactoe"]', ("games",)
        )
    if not tables:
        raise ConfigError("no games: a tournament needs some", ("games",))
    games = tuple(_game(name, table, folder) for name, table in tables.items())
    _check_once([game.name for game in games], "games", "rename them: [games.NAME] with rules = PATH")
    return games


def _check_once(names: list[str], key: str, advice: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"{name!r} appears twice in {key}; {advice}", (key,))


def _game(name: str, table: object, folder: Path) -> GameEntry:
    key = ("games", name)
    if not isinstance(table, dict):
        raise ConfigError(f"game {name}: expected a table such as {{ simulations = 500 }}", key)
    _check_keys(table, {"rules", "simulations", "lineups"}, key)
    place = _expanded(_need(table, "rules", str, key, name), key)
    local = folder / place
    try:
        path = local if local.is_file() else find_rules(place)
        program, _ = read_program(path)
        make_game(program, path.stem, "reasoner")
    except (GdlError, OSError) as error:
        raise ConfigError(f"game {name}: {error}", key) from None
    simulations = _positive(_need(table, "simulations", int, key, None), (*key, "simulations"))
    lineups = _lineups(table["lineups"], (*key, "lineups")) if "lineups" in table else None
    return GameEntry(path.stem if name == place else name, program.source.text, simulations, lineups)


def _lineups(value: object, key: tuple[str, ...]) -> Lineups:
    if value == "pairs" or value == "all":
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 1:
        return value
    raise ConfigError(f'lineups must be "pairs", "all" or a number of matches, not {value!r}', key)


def _expanded(place: str, key: tuple[str, ...]) -> str:
    expanded = os.path.expandvars(place)
    missing = re.search(r"\$\{?(\w+)", expanded)
    if missing:
        raise ConfigError(f"{place}: the environment variable {missing[1]} is not set", key)
    return expanded


def _conditions(data: Mapping[str, Any]) -> tuple[Condition, ...]:
    shared = {name: data[name] for name in _CONDITION_KEYS if name in data}
    if "conditions" not in data:
        return (_condition("default", shared, ()),)
    tables = _need(data, "conditions", dict, ())
    if not tables:
        raise ConfigError("conditions is empty; omit it for a single condition", ("conditions",))
    found = []
    for name, table in tables.items():
        key = ("conditions", name)
        if not isinstance(table, dict):
            raise ConfigError(
                f"condition {name}: expected a table with some of {', '.join(_CONDITION_KEYS)}", key
            )
        if not _NAME.fullmatch(name):
            raise ConfigError(f"condition name {name!r}: spaces, '/' and '|' are not allowed", key)
        _check_keys(table, {*_CONDITION_KEYS, "options"}, key)
        found.append(_condition(name, {**shared, **table}, key))
    return tuple(found)


def _condition(name: str, table: Mapping[str, Any], key: tuple[str, ...]) -> Condition:
    simulations = _positive(_need(table, "simulations", int, key, None), (*key, "simulations"))
    usual = DEFAULT_CLOCK_SECONDS if simulations is None else SIMULATION_CLOCK_SECONDS
    repetitions = _positive(_need(table, "repetitions", int, key, DEFAULT_REPETITIONS), (*key, "repetitions"))
    play_clock = float(_need(table, "play_clock", (int, float), key, usual))
    start_clock = float(_need(table, "start_clock", (int, float), key, play_clock))
    if not 0 < play_clock <= MAX_CLOCK_SECONDS:
        raise ConfigError("play_clock must be more than 0 seconds and at most a week", (*key, "play_clock"))
    if not 0 <= start_clock <= MAX_CLOCK_SECONDS:
        raise ConfigError("start_clock must be at least 0 seconds and at most a week", (*key, "start_clock"))
    assert repetitions is not None
    options = _need(table, "options", dict, key, {})
    texts = tuple((option, _option_text(value)) for option, value in options.items())
    return Condition(name, repetitions, start_clock, play_clock, simulations, texts)


def _check_options(agents: Collection[Agent], conditions: Collection[Condition]) -> None:
    """Check that every option of a condition applies to some agent."""
    for condition in conditions:
        for option, value in condition.options:
            if all(with_option(agent.player, option, value) == agent.player for agent in agents):
                raise ConfigError(
                    f"unknown option or invalid value for every agent, or set by all agents: {option}",
                    ("conditions", condition.name, "options", option),
                )


def _until(table: Mapping[str, Any]) -> Until | None:
    if not table:
        return None
    _check_keys(table, set(_UNTIL_KEYS), ("until",))
    rule = _one_of(_need(table, "rule", str, ("until",)), ("sprt", "width"), ("until", "rule"))
    numbers = {
        name: float(_need(table, name, (int, float), ("until",))) for name in _UNTIL_KEYS[1:] if name in table
    }
    for name, number in numbers.items():
        if not math.isfinite(number):
            raise ConfigError(f"{name} must be finite, not {number}", ("until", name))
    until = Until(rule, **numbers)  # type: ignore[arg-type]
    if until.elo0 >= until.elo1:
        raise ConfigError("elo0 must be less than elo1", ("until", "elo1"))
    for name in ("alpha", "beta"):
        if not 0 < getattr(until, name) < 0.5:
            raise ConfigError(f"{name} must be a probability below 0.5", ("until", name))
    if not 0 < until.width < 1:
        raise ConfigError("width must be between 0 and 1, such as 0.1", ("until", "width"))
    return until


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
        roles = [role for role in role_names(game) if role != str(RANDOM_ROLE)]
        key = ("games", game.name)
        if not roles:
            raise ConfigError(f"game {game.name} has no role for an agent", key)
        if game.lineups is not None and len(roles) < 3:
            raise ConfigError(
                f"game {game.name} has only {len(roles)} roles for agents: lineups concern games with more",
                (*key, "lineups"),
            )
        is_in_pairs = plan.lineups_in(game) == "pairs"
        wanted = 2 if is_in_pairs and len(roles) > 1 else len(roles)
        if len(plan.agents) < wanted:
            raise ConfigError(f"game {game.name} needs {wanted} agents, got {len(plan.agents)}", key)
        remote = [agent.name for agent in plan.agents if agent.is_remote]
        if is_in_pairs and len(roles) > 2 and remote:
            raise ConfigError(
                f"in pairs, the HTTP player {remote[0]} would take several seats in {game.name}; "
                'use lineups = "all"',
                key,
            )


def role_names(game: GameEntry) -> tuple[str, ...]:
    """The roles of a game in rule-sheet order, `random` included."""
    program, _ = read_program(game.rules + "\n", game.name)
    return tuple(map(str, make_game(program, game.name, "reasoner").roles))


def _need(
    table: Mapping[str, Any],
    name: str,
    kind: type | tuple[type, ...],
    key: tuple[str, ...],
    default: Any = ...,
) -> Any:
    """The value of `name`, with its type checked."""
    if name not in table:
        if default is ...:
            raise ConfigError(f"{name!r} is missing", key)
        return default
    value = table[name]
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        words = {dict: "a table", list: "a list", str: "a string", int: "an integer"}
        wanted = "a number" if isinstance(kind, tuple) else words[kind]
        raise ConfigError(f"{name} must be {wanted}, not {value!r}", (*key, name))
    return value


def _positive(value: int | None, key: tuple[str, ...]) -> int | None:
    if value is not None and value < 1:
        raise ConfigError(f"{key[-1]} must be at least 1", key)
    return value


def _one_of(value: str, choices: Collection[str], key: tuple[str, ...]) -> str:
    if value not in choices:
        raise ConfigError(f"{key[-1]} must be one of {', '.join(choices)}, not {value!r}", key)
    return value


def _check_keys(table: Mapping[str, Any], known: set[str], key: tuple[str, ...]) -> None:
    for name in table:
        if name not in known:
            raise ConfigError(
                f"unknown key {name!r}; expected one of {', '.join(sorted(known))}", (*key, name)
            )


def _toml_error(path: Path, message: str) -> str:
    found = re.fullmatch(r"(.*) \(at line (\d+), column (\d+)\)", message)
    return f"{path}:{found[2]}:{found[3]}: {found[1]}" if found else f"{path}: {message}"


def find_line(text: str, key: tuple[str, ...]) -> int:
    """The line, from 1, that most likely contains the value of a key path.

    >>> find_line('seed = 1\\n[agents]\\na = "mcts"', ("agents", "a"))
    3
    """
    lines = text.splitlines()
    line, table, best = 0, (), 1  # type: int, tuple[str, ...], int
    matched = 0
    for line, content in enumerate(lines, start=1):
        header = re.match(r"\s*\[\[?\s*([^\]]+?)\s*\]", content)
        if header:
            table = tuple(part.strip(" \"'") for part in header[1].split("."))
        names = table if header else (*table, *_assigned(content))
        depth = _common(names, key)
        if depth > matched and (header or len(names) > len(table)):
            matched, best = depth, line
    return best


def _assigned(content: str) -> tuple[str, ...]:
    """The key path that a line assigns to."""
    found = re.match(r"\s*([\w\"'.+:\-]+)\s*=", content)
    return tuple(part.strip("\"'") for part in found[1].split(".")) if found else ()


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    count = 0
    for a, b in zip(left, right, strict=False):
        if a != b:
            break
        count += 1
    return count
