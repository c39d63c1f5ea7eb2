"""`ggp player`: run a player that game managers can reach over HTTP."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ggp.cli.options import Count, InputFile, Seconds, page_port_option
from ggp.match.player import PlayerSpecError
from ggp.player_server.margins import MOST_MARGIN_SECONDS, PLAY_MARGIN, START_MARGIN
from ggp.player_server.match import SearchOptions
from ggp.player_server.server import PlayerOptions, check_options, run_player

_log = logging.getLogger("ggp.player")


@click.command("player")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option(
    "--port",
    default=9147,
    show_default=True,
    type=Count(0, 65535),
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--name", default="ggp-lanes", show_default=True, help="Player name reported in INFO replies.")
@click.option(
    "--agent",
    default="mcts",
    show_default=True,
    metavar="PLAYER",
    help="Player that chooses the moves, as for `ggp match`; also a class of your own.",
)
@click.option("--tablebase", type=InputFile(), help="Play from this solution; --agent plays all other games.")
@click.option(
    "--margin",
    type=Seconds(0, MOST_MARGIN_SECONDS),
    help=f"Reply this long before the play clock ends.  [default: {PLAY_MARGIN}]",
)
@click.option(
    "--start-margin",
    type=Seconds(0, MOST_MARGIN_SECONDS),
    help=f"Reply this long before the start clock ends.  [default: {START_MARGIN}]",
)
@click.option(
    "--max-matches",
    default=4,
    show_default=True,
    type=Count(1),
    help="Maximum number of concurrent matches.",
)
@click.option(
    "--memory",
    default=4096,
    show_default=True,
    type=Count(256),
    metavar="MIB",
    help="Memory limit of each search process.",
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="Answer web pages of this origin (http://example.org), or * for all.  [default: none]",
)
@click.option(
    "--ponder/--no-ponder",
    default=True,
    show_default=True,
    help="Search while the other players think, with agents that play by the clock.",
)
@click.option(
    "--fallback/--no-fallback",
    default=True,
    show_default=True,
    help="Move for an agent that has no move in time; without, the game manager gets an error.",
)
@click.option(
    "--page", "has_page", is_flag=True, help="Show the running matches in the browser, on this machine."
)
@page_port_option
@click.option("--json", "is_json", is_flag=True, help="Print one JSON object per answered move.")
@click.option(
    "--seed", type=int, help="Random seed; makes searches with a fixed number of simulations reproducible."
)
@click.option(
    "--log-level",
    default="info",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="Lowest level of messages on standard error.",
)
def command(
    host: str,
    port: int,
    name: str,
    agent: str,
    tablebase: Path | None,
    margin: float | None,
    start_margin: float | None,
    max_matches: int,
    memory: int,
    allowed_origins: tuple[str, ...],
    ponder: bool,
    fallback: bool,
    has_page: bool,
    page_port: int,
    is_json: bool,
    seed: int | None,
    log_level: str,
) -> None:
    """Listen for GGP game managers over HTTP and play their matches, until Ctrl-C."""
    logging.basicConfig(
        level=log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if tablebase is not None:
        from ggp.players.factory import tablebase_spec

        try:
            agent = tablebase_spec(tablebase, agent)
        except PlayerSpecError as error:
            raise click.UsageError(str(error)) from None
    options = PlayerOptions(
        host=host,
        port=port,
        name=name,
        margin_seconds=margin,
        start_margin_seconds=start_margin,
        max_matches=max_matches,
        allowed_origins=allowed_origins,
        search=SearchOptions(
            agent=agent, memory_mebibytes=memory, seed=seed, ponder=ponder, fallback=fallback
        ),
        on_answer=_print_json if is_json else None,
    )
    try:
        sys.exit(_run_with_page(options, page_port) if has_page else run_player(options))
    except (PlayerSpecError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _run_with_page(options: PlayerOptions, port: int) -> int:
    from ggp.web.live_page import LivePage, PageError

    check_options(options)
    try:
        with LivePage(port, _log.warning) as page:
            click.echo(f"page: {page.address}", err=True)
            return run_player(replace(options, on_event=page.send))
    except PageError as error:
        raise click.ClickException(str(error)) from None


def _print_json(answer: Mapping[str, Any]) -> None:
    # A closed pipe must not stop the player.
    with contextlib.suppress(OSError):
        click.echo(json.dumps(answer))
