"""`ggp player`: listen for game managers."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from ggp.commands.options import Amount, InputFile
from ggp.http_player import PlayerOptions, run_player
from ggp.player_match import SearchOptions
from ggp.players import PlayerSpecError


@click.command("player")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on; 0.0.0.0 for all.")
@click.option("--port", default=9147, show_default=True, type=click.IntRange(0, 65535), help="0 picks one.")
@click.option("--name", default="ggp-lanes", show_default=True, help="What INFO answers.")
@click.option(
    "--agent",
    default="mcts",
    show_default=True,
    help="random, legal, alphabeta, solving or mcts[:option=value,…].",
)
@click.option("--tablebase", type=InputFile(), help="Solution to play from; --agent plays other games.")
@click.option(
    "--margin",
    type=Amount(0, 60),
    help="Seconds left of the play clock.  [default: 1; 0.2 for managers on this machine]",
)
@click.option(
    "--start-margin",
    type=Amount(0, 60),
    help="Seconds left of the start clock.  [default: 2; 0.3 for managers on this machine]",
)
@click.option("--max-matches", default=4, show_default=True, type=click.IntRange(1), help="Matches at once.")
@click.option(
    "--memory",
    default=4096,
    show_default=True,
    type=click.IntRange(256),
    metavar="MIB",
    help="Limit of each search process.",
)
@click.option("--ponder", is_flag=True, help="Think on while the other players think.")
@click.option("--json", "is_json", is_flag=True, help="One JSON object per answered move on standard output.")
@click.option("--seed", type=int, help="Makes searches with a fixed number of simulations repeatable.")
@click.option(
    "--log-level",
    default="info",
    show_default=True,
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is written to standard error.",
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
    ponder: bool,
    is_json: bool,
    seed: int | None,
    log_level: str,
) -> None:
    """Play over HTTP for any GGP game manager, until Ctrl-C."""
    logging.basicConfig(
        level=log_level.upper(), stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    if tablebase is not None:
        from ggp.exact_players import tablebase_spec

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
        search=SearchOptions(agent=agent, memory_mebibytes=memory, seed=seed, ponder=ponder),
        on_answer=_print_json if is_json else None,
    )
    try:
        sys.exit(run_player(options))
    except (PlayerSpecError, ValueError) as error:
        raise click.UsageError(str(error)) from None


def _print_json(answer: Mapping[str, Any]) -> None:
    # Nobody who stops reading shall stop the player.
    with contextlib.suppress(OSError):
        click.echo(json.dumps(answer))
