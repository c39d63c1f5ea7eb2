"""`ggp manage`: referee a match between players that listen somewhere."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ggp.commands.loading_status import load_visibly
from ggp.commands.options import OutputFile, Seconds
from ggp.game import Game
from ggp.game_manager import MatchTerms, OnError, manage_match, take_seats
from ggp.live_view import MatchView, result_view
from ggp.match import MatchRecord, write_record


@dataclass(frozen=True)
class ManagerOptions:
    """What `ggp manage` was asked to do: the rules, the players in role order, the terms, the record file."""

    rules: str
    addresses: tuple[str, ...]
    terms: MatchTerms
    record: Path | None = None
    engine: str = "auto"


@click.command("manage")
@click.argument("rules", metavar="FILE")
@click.argument("addresses", metavar="HOST:PORT...", nargs=-1, required=True)
@click.option("--start-clock", default=30.0, show_default=True, type=Seconds(0.1), help="Seconds.")
@click.option("--play-clock", default=10.0, show_default=True, type=Seconds(0.1), help="Seconds.")
@click.option("--scramble", is_flag=True, help="Hide the meaning of names from the players.")
@click.option("--record", type=OutputFile(), help="Write the match as JSON.")
@click.option(
    "--on-error",
    default="random",
    show_default=True,
    type=click.Choice(["first", "random"]),
    help="Which legal move replaces a missing or illegal one.",
)
@click.option("--seed", default=0, show_default=True, type=int, help="Decides chance and replacements.")
@click.option("--match-id", default="", help="[default: the game's name and the time]")
@click.option("--engine", default="auto", show_default=True, help="What keeps the state.")
def command(
    rules: str,
    addresses: tuple[str, ...],
    start_clock: float,
    play_clock: float,
    scramble: bool,
    record: Path | None,
    on_error: OnError,
    seed: int,
    match_id: str,
    engine: str,
) -> None:
    """Play one match of the game in FILE between HTTP players, one HOST:PORT per role.

    Exit code: 0 when the match was completed, 1 when it was aborted, 2 where a file is not there.
    """
    terms = MatchTerms(start_clock, play_clock, on_error, scramble, seed, match_id)
    try:
        sys.exit(run_manager(ManagerOptions(rules, addresses, terms, record, engine)))
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def run_manager(options: ManagerOptions) -> int:
    """Play the match and show it; 0 when it was completed, 1 when it was aborted.

    Raises GdlError, OSError and ValueError where it cannot even begin.
    """
    console = Console(highlight=False)
    game = load_visibly(options.rules, options.engine)
    take_seats(game, options.addresses)
    records: list[MatchRecord] = []
    try:
        with MatchView(console, game) as view:
            asyncio.run(_play(game, options, view, records))
    except (asyncio.CancelledError, KeyboardInterrupt):
        console.print("stopped; the players were told")
    finally:
        if records and options.record is not None:
            write_record(records[0], options.record)
    if not records:
        return 1
    console.print(result_view(records[0]))
    return 0 if records[0].is_completed else 1


async def _play(
    game: Game[Any], options: ManagerOptions, view: MatchView, records: list[MatchRecord]
) -> None:
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(number, task.cancel)
    await manage_match(game, options.addresses, options.terms, watch=view, record=records.append)
