"""`ggp match`: a match on this machine."""

from __future__ import annotations

import functools
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ggp.commands.loading_status import load_visibly
from ggp.commands.options import InputFile, OutputFile, Seconds
from ggp.exact_players import require_tablebase_rules, tablebase_spec
from ggp.game import RANDOM_ROLE, Game
from ggp.live_view import MatchView, result_view
from ggp.match import STEP_LIMIT, MatchRecord, NotStartedError, play_match, write_record
from ggp.players import Player, PlayerSpecError, make_player
from ggp.search.report import SearchReport

DEFAULT_PLAYER = "mcts"


@click.command("match")
@click.argument("rules", metavar="FILE")
@click.argument("players", metavar="[PLAYER]...", nargs=-1)
@click.option("--start-clock", default=1.0, show_default=True, type=Seconds(0.0), help="Seconds.")
@click.option(
    "--play-clock",
    type=Seconds(0.01),
    help="Seconds.  [default: 0.5; 60 where players count simulations instead]",
)
@click.option("--seed", type=int, help="Decides chance and all random players.  [default: another each time]")
@click.option("--record", type=OutputFile(), help="Write the match as JSON.")
@click.option("--engine", default="auto", show_default=True, help="auto, lanes, reasoner or prolog.")
@click.option(
    "--step-limit", default=STEP_LIMIT, show_default=True, type=click.IntRange(1), help="Abort after."
)
@click.option("--no-cache", is_flag=True, help="Compile anew, whatever the cache holds.")
@click.option("--think", is_flag=True, help="Show how the players' searches stand.")
@click.option("--json", "is_json", is_flag=True, help="Print each match as one JSON object, nothing else.")
@click.option("--tablebase", type=InputFile(), help="Solution that roles without a PLAYER play from.")
@click.option(
    "--repeat", default=1, show_default=True, type=click.IntRange(1), help="Play that many matches."
)
def command(
    rules: str,
    players: tuple[str, ...],
    start_clock: float,
    play_clock: float | None,
    seed: int | None,
    record: Path | None,
    engine: str,
    step_limit: int,
    no_cache: bool,
    think: bool,
    is_json: bool,
    tablebase: Path | None,
    repeat: int,
) -> None:
    """Play the game in FILE on this machine, one PLAYER per role in the order of the rules.

    A PLAYER is random, legal, mcts[:option=value,…] (options: simulations, c, margin and more), alphabeta,
    solving, tablebase:file=PATH, human or http://host:port; roles without one are played by mcts, the role
    random by chance.
    """
    if record is not None and repeat > 1:
        raise click.UsageError("--record is for one match: leave out --repeat")
    if is_json and "human" in players:
        raise click.UsageError("--json prints nothing that a human player could answer to")
    try:
        chosen = [make_player(spec) for spec in players]
        game = load_visibly(rules, engine, use_cache=not no_cache)
        if tablebase is not None:
            count = sum(role != RANDOM_ROLE for role in game.roles)
            players = (*players, *[tablebase_spec(tablebase)] * (count - len(players)))
            chosen.append(make_player(tablebase_spec(tablebase)))
        require_tablebase_rules(chosen, game)
        _require_lanes(chosen, game)
    except (PlayerSpecError, ValueError) as error:
        raise click.UsageError(str(error)) from None
    if play_clock is None:
        play_clock = 60.0 if any("simulations=" in spec for spec in players) else 0.5
    first_seed = random.SystemRandom().getrandbits(31) if seed is None else seed
    _check_count(game, players)
    console = Console(highlight=False)
    records: list[MatchRecord] = []
    for number in range(repeat):
        view = MatchView(
            console,
            game,
            has_person="human" in players,
            is_brief=repeat > 1 or is_json,
            is_thinking=think,
        )
        seats = seat_players(game, players, view.show_report if think else None)
        try:
            with view:
                played = play_match(
                    game,
                    seats,
                    start_clock_seconds=start_clock,
                    play_clock_seconds=play_clock,
                    seed=first_seed + number,
                    step_limit=step_limit,
                    watch=view,
                    all_must_start=True,
                )
        except NotStartedError as error:
            if records and not is_json:
                _print_totals(console, records)
            raise PlayerNotThereError(str(error)) from None
        records.append(played)
        if is_json:
            click.echo(json.dumps(played.to_dict()))
        elif repeat > 1:
            console.print(_result_line(number + 1, played), soft_wrap=True)
    if record is not None:
        write_record(records[0], record)
    if not is_json and repeat == 1:
        console.print(result_view(records[0]))
    elif not is_json:
        _print_totals(console, records)
    sys.exit(0 if all(played.is_completed for played in records) else 1)


class PlayerNotThereError(click.ClickException):
    """A player did not take the match."""

    exit_code = 2


def seat_players(
    game: Game[Any],
    specs: tuple[str, ...],
    show_report: Callable[[int, SearchReport], None] | None = None,
) -> list[Player | None]:
    """A fresh player per role: as `specs` say in turn, then the default; None for the role `random`.

    show_report   given the seat and how its search stands
    """
    left = iter(specs)
    return [
        None
        if role == RANDOM_ROLE
        else make_player(
            next(left, DEFAULT_PLAYER),
            on_report=None if show_report is None else functools.partial(show_report, seat),
        )
        for seat, role in enumerate(game.roles)
    ]


def _require_lanes(players: list[Player], game: Game[Any]) -> None:
    for player in players if not hasattr(game, "lane_tables") else ():
        inner: Any = player
        while inner is not None:  # some players leave to another one what they cannot solve
            if getattr(inner, "kind", "") == "lanes":
                raise PlayerSpecError(f"{game.name} is not compiled: there is no search on lanes")
            inner = getattr(inner, "other", None)


def _check_count(game: Game[Any], specs: tuple[str, ...]) -> None:
    roles = [str(role) for role in game.roles if role != RANDOM_ROLE]
    if len(specs) > len(roles):
        raise click.UsageError(
            f"{game.name} takes {len(roles)} player(s), one for each of {', '.join(roles)}; got {len(specs)}"
        )


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
    """Mean goals, how often each role had how much, and its faults."""
    complete = [record for record in records if record.goals is not None]
    for index, role in enumerate(records[0].roles):
        goals = [record.goals[index] for record in complete if record.goals is not None]
        known = [goal for goal in goals if goal is not None]
        if known:
            spread = ", ".join(
                f"{count} × {goal}" for goal, count in sorted(Counter(known).items(), reverse=True)
            )
            mean = sum(known) / len(known)
            faults = sum(record.fault_count(index) for record in records)
            told = f"   {faults} faults: moves by chance instead" if faults else ""
            console.print(f"{role} ({records[0].player_names[index]}): mean goal {mean:.1f}   {spread}{told}")
