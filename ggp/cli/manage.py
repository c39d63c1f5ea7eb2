"""`ggp manage`: run a match between HTTP players as game manager."""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ggp.cli.live_view import MatchView, result_view
from ggp.cli.options import (
    GRACE,
    Limit,
    Seconds,
    limit_option,
    play_clock_option,
    record_option,
    seed_option,
    start_clock_option,
)
from ggp.cli.progress import load_visibly
from ggp.engines.loading import read_program, stated_roles
from ggp.match.record import MatchRecord, write_record
from ggp.match.terms import MatchTerms
from ggp.protocol.messages import printable


@click.command("manage")
@click.argument("rules", metavar="FILE")
@click.argument("addresses", metavar="HOST:PORT...", nargs=-1, required=True)
@start_clock_option(30.0, least=0.1)
@play_clock_option(10.0, least=0.1)
@click.option("--scramble", is_flag=True, help="Replace all names in the rules by meaningless ones.")
@record_option
@seed_option("Random seed for chance and replacement moves.")
@limit_option(GRACE, Limit("wait", Seconds(0, 86400), 120, "seconds to wait for players that are busy"))
def command(
    rules: str,
    addresses: tuple[str, ...],
    start_clock: float,
    play_clock: float,
    scramble: bool,
    record: Path | None,
    seed: int,
    limits: dict[str, float],
) -> None:
    """Run one match of the game in FILE between HTTP players, one HOST:PORT per role.

    Exit code: 0 match completed, 1 match aborted, no player there or only replaced moves, 2 wrong usage or a
    file that does not exist.
    """
    program, name = read_program(rules)

    from ggp.protocol.manager import STEP_LIMIT, manage_match, require_address_each

    terms = MatchTerms(start_clock, play_clock, seed, step_limit=STEP_LIMIT, grace_seconds=limits["grace"])
    play = partial(manage_match, addresses=addresses, terms=terms, scramble=scramble)
    try:
        if roles := stated_roles(program):  # before numba is imported
            require_address_each(name, roles, addresses)
        sys.exit(_run_match(rules, addresses, limits["wait"], play, record))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _run_match(
    rules: str,
    addresses: tuple[str, ...],
    wait_seconds: float,
    play: Callable[..., Coroutine[Any, Any, MatchRecord]],
    place: Path | None,
) -> int:
    """Play and show the match; returns 0 if it was completed by its players, otherwise 1.

    Raises GdlError, OSError and ValueError if it cannot start.
    """
    from ggp.protocol.manager import NobodyThereError, take_seats, wait_until_available

    console = Console(highlight=False)
    game = load_visibly(rules)
    take_seats(game, addresses)
    try:
        asyncio.run(wait_until_available(addresses, limit_seconds=wait_seconds, say=_say))
    except NobodyThereError as error:
        _say(f"Error: {error}")
        return 1
    except KeyboardInterrupt:
        return 1
    records: list[MatchRecord] = []
    try:
        with MatchView(console, game) as view:
            asyncio.run(_cancelled_by_signals(play(game, watch=view, record=records.append)))
    except (asyncio.CancelledError, KeyboardInterrupt):
        console.print("interrupted; the players were notified")
    finally:
        if records and place is not None:
            write_record(records[0], place)
    if not records:
        return 1
    console.print(result_view(records[0]))
    if not has_own_move(records[0]):
        _say("Error: no player made a legal move of its own in time; all moves were replaced")
        return 1
    return 0 if records[0].is_completed else 1


def has_own_move(record: MatchRecord) -> bool:
    """Whether any move was a player's own, and not one that replaced a fault; also without any move."""
    answers = [
        fault is None
        for step in record.steps[1:]
        for fault, seconds in zip(step.faults, step.seconds, strict=False)
        if seconds is not None
    ]
    return not answers or any(answers)


def _say(line: str) -> None:
    click.echo(printable(line), err=True)


async def _cancelled_by_signals(match: Coroutine[Any, Any, MatchRecord]) -> None:
    task = asyncio.ensure_future(match)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    await task
