"""`ggp match`: a match on this machine."""

from __future__ import annotations

import random
import shlex
import sys
from collections.abc import Iterable
from itertools import zip_longest
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
    limit_option,
    notation_option,
    record_option,
    start_clock_option,
)
from ggp.cli.progress import make_visibly
from ggp.engines.loading import read_program, stated_roles
from ggp.game import RANDOM_ROLE, Game, is_compiled
from ggp.match.player import Player, PlayerFaultError, PlayerSpecError
from ggp.match.record import write_record
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
@record_option
@engine_option
@limit_option(Limit("steps", Count(1), STEP_LIMIT, "of a match; then it is aborted"), GRACE, MEMORY_OF_OWN)
@notation_option
def command(
    rules: str,
    players: tuple[str, ...],
    start_clock: float,
    play_clock: float | None,
    seed: int | None,
    record: Path | None,
    engine: str,
    limits: dict[str, int],
    notation: str,
) -> None:
    """Play the game in FILE on this machine, with one PLAYER per role in the order of the rules.

    PLAYER is human, random, legal, mcts, uct, alphabeta, solving, tablebase:file=PATH, text:COMMAND,
    http://HOST:PORT or a class of yours, module:Class or file.py:Class, with options as in
    mcts:simulations=500,c=40, which `ggp players` lists. Roles without a PLAYER are played by mcts.

    Exit code: 0 match completed, 1 match aborted, 2 wrong usage or a player that does not start.
    """
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
        seed,
        step_limit=limits["steps"],
        all_must_start=True,
        grace_seconds=limits["grace"],
    )
    console = Console(highlight=False)
    view = MatchView(console, game, has_person="human" in players, notation=notation)
    seats = _seats(game, limits["memory"], made, notation)
    try:
        with view:
            played = play_match(game, seats, terms, watch=view)
    except NotStartedError as error:
        raise PlayerNotStartedError(str(error)) from None
    console.print(result_view(played))
    if record is not None:
        write_record(played, record)
    if played.fault != INTERRUPTED:
        leave_compiling()
    sys.exit(0 if played.is_completed else 1)


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


def _seats(game: Game[Any], mebibytes: int | None, made: list[Player], notation: str) -> list[Player | None]:
    """A player for each role, None for chance: `made`, and the default for the remaining roles."""
    roles = [number for number, role in enumerate(game.roles) if role != RANDOM_ROLE]
    seats: list[Player | None] = [None] * len(game.roles)
    for seat, player in zip_longest(roles, made):
        player = player or seat_player(DEFAULT_PLAYER, mebibytes=mebibytes)
        player.begins_early = True
        player.notation = notation
        seats[seat] = player
    return seats
