"""`ggp assess`: measure a player on positions with known answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.assessment.positions import SKILLS, load_positions
from ggp.cli.live_view import plain_text
from ggp.cli.options import Clock, engine_option
from ggp.match.player import PlayerSpecError
from ggp.players.factory import require_kind

if TYPE_CHECKING:
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
    engine: str,
    seed: int,
    no_conformance: bool,
    verbose: bool,
    is_json: bool,
) -> None:
    """Test PLAYER on a fixed set of positions with known answers; takes a few minutes at most.

    PLAYER is written as for `ggp match`; an HTTP player (http://HOST:PORT) is also tested for protocol
    conformance.

    Exit code: 0 success, 1 faults or failed conformance checks, 2 wrong usage or no such player.
    """
    unknown = set(skills) - set(SKILLS)
    if unknown:
        raise click.UsageError(f"unknown skill {min(unknown)!r}; expected one of {', '.join(SKILLS)}")
    try:
        require_kind(player, refused=("human",))  # before aiohttp and numpy are imported
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None

    from ggp.assessment.asking import AssessmentTerms
    from ggp.assessment.conformance import NoAnswerError
    from ggp.assessment.score_card import assess, longest_seconds

    positions = [each for each in load_positions() if not skills or each.place.skill in skills]
    terms = AssessmentTerms(start_clock, play_clock, engine, seed)
    console = Console(highlight=False)
    if not is_json:
        minutes = longest_seconds(positions, terms) / 60
        console.print(f"{len(positions)} positions, at most {minutes:.1f} minutes")

    def listen(number: int, total: int, each: Score) -> None:
        place = each.answer.position.place
        if verbose and not is_json:
            line = f"{number:>3}/{total} {place.id}: {each.value:.2f}  {each.remark}"
            console.print(plain_text(line), soft_wrap=True)

    try:
        card = assess(player, positions, terms, listen=listen, with_conformance=not no_conformance)
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None
    except NoAnswerError as error:
        raise click.UsageError(f"{player}: {error}") from None
    if is_json:
        click.echo(json.dumps(card.to_dict(), indent=1))
    else:
        show_card(console, card)
    has_failed = card.faults.count or not all(check.is_passed for check in card.conformance)
    sys.exit(1 if has_failed else 0)


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
    faults = card.faults
    console.print(
        f"{card.move_count} moves: {faults.late} late, {faults.illegal} illegal, "
        f"{faults.lost} lost connections; {faults.start} failed STARTs"
    )
    for example in faults.examples[:SHOWN_FAULTS]:
        console.print(plain_text(f"  {example}"))
    if card.conformance:
        _show_conformance(console, card)


def _show_conformance(console: Console, card: ScoreCard) -> None:
    passed = sum(check.is_passed for check in card.conformance)
    title = f"Conformance: {passed} of {len(card.conformance)} checks passed"
    table = Table("message", "expected", "", "seen", title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for check in card.conformance:
        mark = Text("yes", style="green") if check.is_passed else Text("NO", style="red")
        table.add_row(check.name, check.expected, mark, plain_text(check.seen))
    console.print(table)
