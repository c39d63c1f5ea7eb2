"""`ggp assess`: measure a player on positions with known answers."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from ggp.assessment.positions import SKILLS, load_positions
from ggp.cli.live_view import plain_text
from ggp.cli.options import Clock, engine_option
from ggp.match.player import PlayerSpecError
from ggp.players.factory import check_player, require_kind

if TYPE_CHECKING:
    from ggp.assessment.asking import AssessmentTerms, Faults
    from ggp.assessment.regret import GameRegret, RegretReport
    from ggp.assessment.score_card import ScoreCard
    from ggp.assessment.scoring import Score

SHOWN_FAULTS = 5


@click.command("assess")
@click.argument("player")
@click.option(
    "--start-clock",
    default=1.0,
    show_default=True,
    type=Clock(0.0),
    help="Time before the first move.",
)
@click.option(
    "--play-clock",
    default=1.0,
    show_default=True,
    type=Clock(0.01),
    help="Time for each move.",
)
@click.option(
    "--skill", "skills", multiple=True, help=f"Test only this skill; repeatable: {', '.join(SKILLS)}."
)
@click.option(
    "--regret",
    "is_regret",
    is_flag=True,
    help="Measure the goals that moves give away in positions of solved games instead.",
)
@click.option(
    "--positions",
    "positions_file",
    type=click.Path(path_type=Path),
    help="With --regret: JSON file of positions instead of the bundled ones.",
)
@click.option(
    "--game", "games", multiple=True, help="With --regret: only positions of this game; repeatable."
)
@click.option(
    "--per-game",
    type=click.IntRange(1),
    help="With --regret: at most this many positions of each game.",
)
@engine_option
@click.option("--seed", default=0, show_default=True, type=int, help="Random seed for local players.")
@click.option("--no-conformance", is_flag=True, help="For HTTP players: skip the malformed-message tests.")
@click.option("--verbose", "-v", is_flag=True, help="Show the result of every position.")
@click.option("--json", "is_json", is_flag=True, help="Print the whole score card as JSON.")
def command(
    player: str,
    start_clock: float,
    play_clock: float,
    skills: tuple[str, ...],
    is_regret: bool,
    positions_file: Path | None,
    games: tuple[str, ...],
    per_game: int | None,
    engine: str,
    seed: int,
    no_conformance: bool,
    verbose: bool,
    is_json: bool,
) -> None:
    """Test PLAYER on a fixed set of positions with known answers; takes a few minutes at most.

    PLAYER is written as for `ggp match`; an HTTP player (http://HOST:PORT) is also tested for protocol
    conformance. With --regret it is asked for one move in each of many positions of solved games; give it
    --start-clock 0 if it shall not solve them before the first move.

    Exit code: 0 success, 1 faults or failed conformance checks, 2 wrong usage or no such player.
    """
    wanted = positions_file, per_game, games
    if not is_regret and any(wanted):
        raise click.UsageError("--positions, --game and --per-game belong to --regret")
    if is_regret and skills:
        raise click.UsageError("--skill does not apply to --regret")
    unknown = set(skills) - set(SKILLS)
    if unknown:
        raise click.UsageError(f"unknown skill {min(unknown)!r}; expected one of {', '.join(SKILLS)}")
    try:
        require_kind(player, refused=("human",))
        check_player(player)  # before numba is imported
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None

    from ggp.assessment.asking import AssessmentTerms

    terms = AssessmentTerms(start_clock, play_clock, engine, seed)
    if is_regret:
        sys.exit(_regret(player, terms, wanted, is_json=is_json))
    console = Console(highlight=False, quiet=is_json)
    card = _assess(player, terms, skills, console, is_verbose=verbose, with_conformance=not no_conformance)
    if is_json:
        click.echo(json.dumps(card.to_dict(), indent=1))
    show_card(console, card)
    has_failed = card.faults.count or not all(check.is_passed for check in card.conformance)
    sys.exit(1 if has_failed else 0)


def _assess(
    player: str,
    terms: AssessmentTerms,
    skills: tuple[str, ...],
    console: Console,
    *,
    is_verbose: bool,
    with_conformance: bool,
) -> ScoreCard:
    """Test the player on the positions of `skills` (empty: of all) and show its progress on the console."""
    from ggp.assessment.conformance import NoAnswerError
    from ggp.assessment.score_card import assess, longest_seconds

    positions = [each for each in load_positions() if not skills or each.place.skill in skills]
    minutes = longest_seconds(positions, terms) / 60
    console.print(f"{len(positions)} positions, at most {minutes:.1f} minutes")

    def listen(number: int, total: int, each: Score) -> None:
        place = each.answer.position.place
        if is_verbose:
            line = f"{number:>3}/{total} {place.id}: {each.value:.2f}  {each.remark}"
            console.print(plain_text(line), soft_wrap=True)

    try:
        return assess(player, positions, terms, listen=listen, with_conformance=with_conformance)
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None
    except NoAnswerError as error:
        raise click.UsageError(f"{player}: {error}") from None


def show_card(console: Console, card: ScoreCard) -> None:
    """Print the score card."""
    from ggp.assessment.score_card import skill_percent

    title = plain_text(f"{card.player}: {card.total:.0f} of 100", "italic")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name, justify in (("skill", "left"), ("", "left"), ("correct", "right"), ("score %", "right")):
        table.add_column(name, justify="left" if justify == "left" else "right")
    for skill in card.skills:
        found = card.of_skill(skill)
        right = sum(each.is_right for each in found)
        table.add_row(skill, SKILLS[skill], f"{right} of {len(found)}", f"{skill_percent(found):.0f}")
    console.print(table)
    _show_faults(console, card.move_count, card.faults)
    if card.conformance:
        _show_conformance(console, card)


def _show_faults(console: Console, moves: int, faults: Faults) -> None:
    console.print(
        f"{moves} moves: {faults.late} late, {faults.illegal} illegal, "
        f"{faults.lost} lost connections, {faults.crashed} crashes; {faults.start} failed STARTs"
    )
    for example in faults.examples[:SHOWN_FAULTS]:
        console.print(plain_text(f"  {example}"))


def _show_conformance(console: Console, card: ScoreCard) -> None:
    passed = sum(check.is_passed for check in card.conformance)
    title = f"Conformance: {passed} of {len(card.conformance)} checks passed"
    table = Table("message", "expected", "", "seen", title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for check in card.conformance:
        mark = Text("yes", style="green") if check.is_passed else Text("NO", style="red")
        table.add_row(check.name, check.expected, mark, plain_text(check.seen))
    console.print(table)


def _regret(
    player: str,
    terms: AssessmentTerms,
    wanted: tuple[Path | None, int | None, tuple[str, ...]],
    *,
    is_json: bool,
) -> int:
    """Measure and print a player's regret in the `wanted` positions, as `read_positions` takes them.

    Returns the exit code. Ctrl-C ends it with what is measured.
    """
    from ggp.assessment.regret import PositionsError, RegretReport, measure_regret, read_positions

    report = RegretReport(player, terms)
    console = Console(highlight=False)
    is_interrupted = False
    try:
        positions = read_positions(*wanted)
        count = sum(map(len, positions.values()))
        with Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=is_json,
        ) as progress:
            task = progress.add_task("positions", total=count)
            measure_regret(
                player,
                positions,
                terms,
                report=report,
                listen=lambda number, total: progress.update(task, completed=number),
            )
    except (PlayerSpecError, PositionsError) as error:
        raise click.UsageError(str(error)) from None
    except KeyboardInterrupt:
        is_interrupted = True
    if is_json:
        click.echo(json.dumps(report.to_dict(), indent=1))
    elif report.games:
        _show_regret(console, report)
    if is_interrupted:
        click.echo("interrupted", err=True)
        return 130
    return 1 if report.faults.count else 0


def _show_regret(console: Console, report: RegretReport) -> None:
    title = plain_text(f"{report.player}: goals given away, mean and 95 % interval", "italic")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("game")
    for name in ("positions", "mistakes", "regret", "random moves"):
        table.add_column(name, justify="right")
    for each in report.games:
        table.add_row(*_regret_row(each))
    if len(report.games) > 1:
        table.add_section()
        table.add_row(*_regret_row(report.total))
    console.print(table)
    _show_faults(console, len(report.total.regrets), report.faults)


def _regret_row(each: GameRegret) -> tuple[str, ...]:
    count = len(each.regrets)
    regret = f"{each.mean:.2f} ± {each.margin:.2f}" if count > 1 else f"{each.mean:.2f}"
    return (each.game, str(count), str(each.mistakes), regret, f"{each.chance:.1f}")
