"""`ggp match`: a match, or several, on this machine."""

from __future__ import annotations

import functools
import json
import random
import shlex
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from gdl.errors import GroundingError
from gdl.program import Program
from gdl.terms import Term
from ggp.cli.live_view import MatchView, result_view
from ggp.cli.options import (
    GRACE,
    MEMORY_OF_OWN,
    Clock,
    Count,
    Limit,
    engine_option,
    json_option,
    limit_option,
    notation_option,
    record_option,
    start_clock_option,
)
from ggp.cli.progress import make_visibly
from ggp.engines.loading import read_program, stated_roles
from ggp.game import RANDOM_ROLE, Game, is_compiled
from ggp.match.player import Player, PlayerFaultError, PlayerSpecError
from ggp.match.record import MatchRecord, write_record
from ggp.match.referee import INTERRUPTED, NotStartedError, play_match
from ggp.match.terms import STEP_LIMIT, MatchTerms
from ggp.players.factory import (
    check_player,
    require_kind,
    require_members,
    require_tablebase_rules,
    seat_player,
)

DEFAULT_PLAYER = "mcts"
DEFAULT_CLOCK_SECONDS = 0.5
COUNTING_CLOCK_SECONDS = 60.0
"""Default play clock if players count simulations instead."""
GROUNDING_SECONDS = 10.0
"""CPU time of grounding after which the interpreter plays instead."""


@click.command("match")
@click.argument("rules", metavar="FILE")
@click.argument("players", metavar="[PLAYER]...", nargs=-1)
@start_clock_option(1.0)
@click.option(
    "--play-clock",
    type=Clock(0.01),
    help="Time for each move.  [default: 0.5; 60 if players count simulations]",
)
@click.option(
    "--seed", type=int, help="Random seed for chance and random players.  [default: a new one each run]"
)
@click.option("--repeat", default=1, type=Count(1), help="Number of matches to play.")
@record_option
@engine_option
@limit_option(Limit("steps", Count(1), STEP_LIMIT, "of a match; then it is aborted"), GRACE, MEMORY_OF_OWN)
@notation_option
@click.option("--think", is_flag=True, help="Show the progress of the players' searches.")
@json_option
def command(
    rules: str,
    players: tuple[str, ...],
    start_clock: float,
    play_clock: float | None,
    seed: int | None,
    repeat: int,
    record: Path | None,
    engine: str,
    limits: dict[str, int],
    notation: str,
    think: bool,
    is_json: bool,
) -> None:
    """Play the game in FILE on this machine, with one PLAYER per role in the order of the rules.

    PLAYER is human, random, legal, mcts, alphabeta, solving, tablebase:file=PATH, text:COMMAND or
    http://HOST:PORT, with options as in mcts:simulations=500,c=40, which `ggp players` lists. Roles without a
    PLAYER are played by mcts.

    Exit code: 0 matches completed, 1 a match was aborted, 2 wrong usage or a player that does not start.
    """
    if record is not None and repeat > 1:
        raise click.UsageError("--record is for a single match and cannot be used with --repeat")
    if is_json and "human" in players:
        raise click.UsageError("a human player cannot play with --json")
    try:
        game, made = _load(rules, players, engine, limits["memory"])
    except (PlayerSpecError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    if play_clock is None:
        is_counting = any("simulations=" in spec for spec in players)
        play_clock = COUNTING_CLOCK_SECONDS if is_counting else DEFAULT_CLOCK_SECONDS
    if seed is None:
        seed = random.SystemRandom().getrandbits(31)
    terms = MatchTerms(
        start_clock,
        play_clock,
        step_limit=limits["steps"],
        all_must_start=True,
        grace_seconds=limits["grace"],
    )
    shown = Shown(notation, think, is_json)
    series = Series(game, players, terms, shown, limits["memory"], [] if think else made)
    records = series.play(repeat, seed)
    if record is not None:
        write_record(records[0], record)
    if records[-1].fault != INTERRUPTED:
        leave_compiling()
    sys.exit(0 if all(played.is_completed for played in records) else 1)


def leave_compiling() -> None:
    """Leave kernels that are compiled for later matches to a process in the background."""
    late_proofs = sys.modules.get("ggp.players.late_proofs")
    if late_proofs is not None and late_proofs.leave_late_proofs():
        click.echo("a background process continues to compile kernels for later matches", err=True)


class PlayerNotStartedError(click.ClickException):
    exit_code = 2


def _make_soon(program: Program, name: str, rules: str, engine: str) -> Game[Any]:
    """Make the game; fall back to the interpreter if its circuit takes long, so that the match can begin."""
    if engine != "auto":
        return make_visibly(program, name, engine)
    from gdl.grounding import GroundingLimitError
    from ggp.circuit.circuit import CircuitError
    from ggp.engines.compilation import CompilationLimits

    try:
        return make_visibly(program, name, "lanes", limits=CompilationLimits(seconds=GROUNDING_SECONDS))
    except GroundingLimitError as error:
        reason = str(error).partition("\n")[0]
        click.echo(f"falling back to the interpreter (slower): {reason}", err=True)
        advice = "gives compiling more time, for later matches"
        click.echo(f"`ggp games info {shlex.quote(rules)}` {advice}", err=True)
        return make_visibly(program, name, "reasoner")
    except (GroundingError, CircuitError):
        return make_visibly(program, name, "auto")


def _load(
    rules: str, specs: tuple[str, ...], engine: str, mebibytes: int | None
) -> tuple[Game[Any], list[Player]]:
    """The game and its players.

    Raises PlayerSpecError and ValueError if game and players do not fit together.
    """
    for spec in specs:
        require_kind(spec, refused=())
    program, name = read_program(rules)
    stated = stated_roles(program)
    if stated:  # before players import numba
        _require_seats(name, stated, specs)
    chosen = [check_player(spec, mebibytes=mebibytes) for spec in specs]
    _require_listeners(chosen)
    game = _make_soon(program, name, rules, engine)
    if not stated:
        _require_seats(name, game.roles, specs)
    if any(spec.startswith("tablebase:") for spec in specs):
        require_tablebase_rules(chosen, game)
    if not is_compiled(game) and any(player.needs_lanes for player in chosen):
        raise PlayerSpecError(f"{game.name} is not compiled: there is no search on lanes")
    return game, chosen


def _require_listeners(players: Iterable[Player]) -> None:
    """Raises PlayerSpecError if no HTTP player listens at its address."""
    remote = [player for player in players if player.is_remote]
    if remote:
        from ggp.protocol.client import RemotePlayer

        try:
            for player in remote:
                assert isinstance(player, RemotePlayer)
                player.require_listener()
        except PlayerFaultError as error:
            raise PlayerSpecError(str(error)) from None


def _require_seats(name: str, roles: tuple[Term, ...], specs: tuple[str, ...]) -> None:
    """Raises PlayerSpecError if there are too few roles for `specs`, or roles of a coalition are missing."""
    seats = [str(role) for role in roles if role != RANDOM_ROLE]
    if len(specs) > len(seats):
        count = "1 player" if len(seats) == 1 else f"{len(seats)} players"
        raise PlayerSpecError(f"{name} takes {count}, one for each of {', '.join(seats)}; got {len(specs)}")
    for spec in specs:
        require_members(spec, name, roles)


@dataclass(frozen=True)
class Shown:
    """What the terminal shows: the notation of moves, the searches, or records as JSON only."""

    notation: str
    is_thinking: bool
    is_json: bool


@dataclass(frozen=True)
class Series:
    """One match or several between the same players, shown on the terminal.

    terms       of each match, the seed aside
    mebibytes   memory of each user-defined agent
    made        the players of the first match, if they have been made
    """

    game: Game[Any]
    specs: tuple[str, ...]
    terms: MatchTerms
    shown: Shown
    mebibytes: int | None
    made: list[Player]

    def play(self, count: int, first_seed: int) -> list[MatchRecord]:
        """Play and print matches with successive seeds; of several, Ctrl-C ends all, with totals.

        Raises PlayerNotStartedError, KeyboardInterrupt.
        """
        console = Console(highlight=False)
        records: list[MatchRecord] = []
        for number in range(count):
            view = MatchView(
                console,
                self.game,
                has_person="human" in self.specs,
                is_brief=count > 1 or self.shown.is_json,
                is_thinking=self.shown.is_thinking,
                notation=self.shown.notation,
            )
            try:
                played = self._play_one(view, first_seed + number)
                if played.fault == INTERRUPTED and count > 1:
                    raise KeyboardInterrupt
            except (NotStartedError, KeyboardInterrupt) as error:
                if records and not self.shown.is_json:
                    _print_totals(console, records)
                if isinstance(error, KeyboardInterrupt):
                    raise
                raise PlayerNotStartedError(str(error)) from None
            records.append(played)
            if self.shown.is_json:
                click.echo(json.dumps(played.to_dict()))
            elif count > 1:
                console.print(_result_line(number + 1, played), soft_wrap=True)
            else:
                console.print(result_view(played))
        if count > 1 and not self.shown.is_json:
            _print_totals(console, records)
        return records

    def _play_one(self, view: MatchView, seed: int) -> MatchRecord:
        specs, seats = iter(self.specs), list[Player | None]()
        for seat, role in enumerate(self.game.roles):
            if role == RANDOM_ROLE:
                seats.append(None)
                continue
            spec = next(specs, DEFAULT_PLAYER)
            on_report = functools.partial(view.show_report, seat) if self.shown.is_thinking else None
            made = self.made.pop(0) if self.made else None
            player = made or seat_player(spec, mebibytes=self.mebibytes, on_report=on_report)
            player.begins_early = True
            player.notation = self.shown.notation
            seats.append(player)
        with view:
            return play_match(self.game, seats, replace(self.terms, seed=seed), watch=view)


def _result_line(number: int, record: MatchRecord) -> str:
    goals = " ".join(
        f"{role} {'-' if goal is None else goal}"
        for role, goal in zip(record.roles, record.goals or [None] * len(record.roles), strict=True)
    )
    counts = [record.fault_count(seat) for seat in range(len(record.roles))]
    faults = "".join(f"   {role}: {n} faults" for role, n in zip(record.roles, counts, strict=True) if n)
    end = "" if record.is_completed else f"   aborted: {record.fault}"
    return f"match {number:>3}   {len(record.moves):>4} steps   {goals}{faults}{end}"


def _print_totals(console: Console, records: list[MatchRecord]) -> None:
    for index, role in enumerate(records[0].roles):
        goals = [record.goals[index] for record in records if record.goals is not None]
        known = [goal for goal in goals if goal is not None]
        if known:
            counts = sorted(Counter(known).items(), reverse=True)
            spread = ", ".join(f"{count} × {goal}" for goal, count in counts)
            faults = sum(record.fault_count(index) for record in records)
            note = f"   {faults} faults: legal moves instead" if faults else ""
            name, mean = records[0].player_names[index], sum(known) / len(known)
            console.print(f"{role} ({name}): mean goal {mean:.1f}   {spread}{note}")
