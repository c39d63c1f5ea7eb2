"""`ggp player`: run a player that game managers can reach over HTTP."""

from __future__ import annotations

import logging
import sys
from typing import Any

import click

from ggp.cli.options import Count, Limit, Seconds, limit_option
from ggp.match.player import PlayerSpecError
from ggp.player_server.margins import MAX_MARGIN_SECONDS, PLAY_MARGIN, START_MARGIN
from ggp.player_server.match import SearchOptions
from ggp.player_server.server import PlayerOptions, run_player


@click.command("player")
@click.option("--host", default="127.0.0.1", help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", default=9147, type=Count(0, 65535), help="Port to listen on; 0 picks a free one.")
@click.option("--name", default="ggp-lanes", help="Player name reported in INFO replies.")
@click.option(
    "--agent",
    default="mcts",
    metavar="PLAYER",
    help="Player that chooses the moves, as for `ggp match`; also a class of your own.",
)
@click.option(
    "--margin",
    "margin_seconds",
    type=Seconds(0, MAX_MARGIN_SECONDS),
    help=f"Reply this long before a clock ends.  [default: {PLAY_MARGIN}; start clock: {START_MARGIN}]",
)
@limit_option(
    Limit("matches", Count(1), 4, "at the same time"),
    Limit("memory", Count(256), 4096, "MiB for each search process; mcts needs 2048"),
)
@click.option(
    "--allow-origin",
    "allowed_origins",
    multiple=True,
    metavar="ORIGIN",
    help="Answer web pages of this origin (http://example.org), or * for all; repeatable.  [default: none]",
)
@click.option(
    "--ponder/--no-ponder",
    default=True,
    help="Search while the other players think, with agents that play by the clock.",
)
@click.option(
    "--fallback/--no-fallback",
    default=True,
    help="Move for an agent that has no move in time; otherwise, the game manager gets an error.",
)
def command(
    agent: str,
    limits: dict[str, int],
    ponder: bool,
    fallback: bool,
    **given: Any,
) -> None:
    """Listen for GGP game managers over HTTP and play their matches, until Ctrl-C."""
    logging.basicConfig(
        level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    search = SearchOptions(agent=agent, memory_mebibytes=limits["memory"], ponder=ponder, fallback=fallback)
    options = PlayerOptions(max_matches=limits["matches"], search=search, **given)
    try:
        sys.exit(run_player(options))
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None
