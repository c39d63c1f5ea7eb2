"""`ggp assess`: one player measured on positions with known answers."""

from __future__ import annotations

import json
import sys

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ggp.assessment.asking import Terms
from ggp.assessment.card import ScoreCard, assess, longest_seconds, skill_percent
from ggp.assessment.manners import NoAnswerError
from ggp.assessment.positions import SKILLS, load_positions
from ggp.assessment.scoring import Score
from ggp.commands.options import Seconds
from ggp.loading import ENGINES
from ggp.players import PlayerSpecError

SHOWN_FAULTS = 5


@click.command("assess")
@click.argument("player")
@click.option("--start-clock", default=1.0, show_default=True, type=Seconds(0.0), help="Seconds.")
@click.option("--play-clock", default=1.0, show_default=True, type=Seconds(0.01), help="Seconds.")
@click.option("--skill", "skills", multiple=True, help=f"Only these; of {', '.join(SKILLS)}.")
@click.option("--engine", default="auto", show_default=True, type=click.Choice(ENGINES))
@click.option("--seed", default=0, show_default=True, type=int, help="Of players in this process.")
@click.option("--no-manners", is_flag=True, help="HTTP players: leave out odd and broken messages.")
@click.option("--verbose", "-v", is_flag=True, help="Tell every position.")
@click.option("--json", "is_json", is_flag=True, help="The whole card as JSON.")
def command(
    player: str,
    start_clock: float,
    play_clock: float,
    skills: tuple[str, ...],
    engine: str,
    seed: int,
    no_manners: bool,
    verbose: bool,
    is_json: bool,
) -> None:
    """Measure one PLAYER (as for `ggp match`; http://host:port for one that listens).

    It is asked about a fixed set of positions with known answers, for some minutes at most. Exit code: 0
    it was measured, 1 it made faults or missed manners, 2 it is not there.
    """
    unknown = set(skills) - set(SKILLS)
    if unknown:
        raise click.UsageError(f"no skill {min(unknown)!r}; there are {', '.join(SKILLS)}")
    positions = [each for each in load_positions() if not skills or each.place.skill in skills]
    terms = Terms(start_clock, play_clock, engine, seed)
    console = Console(highlight=False)
    if not is_json:
        minutes = longest_seconds(positions, terms) / 60
        console.print(f"{len(positions)} positions, {minutes:.1f} minutes of clocks at most")

    def listen(number: int, total: int, each: Score) -> None:
        place = each.answer.position.place
        if verbose and not is_json:
            line = f"{number:>3}/{total} {place.id}: {each.value:.2f}  {each.remark}"
            console.print(line, soft_wrap=True, markup=False)

    try:
        card = assess(player, positions, terms, listen=listen, with_manners=not no_manners)
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None
    except NoAnswerError as error:
        raise click.UsageError(f"{player}: {error}") from None
    if is_json:
        click.echo(json.dumps(card.to_dict(), indent=1))
    else:
        show_card(console, card)
    has_failed = card.faults.count or not all(manner.is_met for manner in card.manners)
    sys.exit(1 if has_failed else 0)


def show_card(console: Console, card: ScoreCard) -> None:
    """Print the score card."""
    title = Text(f"{card.player}: {card.total:.0f} of 100", style="italic")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for name, justify in (("skill", "left"), ("", "left"), ("right", "right"), ("score %", "right")):
        table.add_column(name, justify="left" if justify == "left" else "right")
    for skill in card.skills:
        found = card.of_skill(skill)
        right = sum(each.is_right for each in found)
        table.add_row(skill, SKILLS[skill], f"{right} of {len(found)}", f"{skill_percent(found):.0f}")
    console.print(table)
    faults = card.faults
    console.print(
        f"{card.move_count} moves: {faults.late} too late, {faults.illegal} illegal, "
        f"{faults.lost} lost, {faults.start} bad answers to START"
    )
    for example in faults.examples[:SHOWN_FAULTS]:
        console.print(f"  {example}", markup=False)
    if card.manners:
        _show_manners(console, card)


def _show_manners(console: Console, card: ScoreCard) -> None:
    met = sum(manner.is_met for manner in card.manners)
    title = f"Manners: {met} of {len(card.manners)}"
    table = Table("message", "expected", "", "seen", title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for manner in card.manners:
        mark = Text("yes", style="green") if manner.is_met else Text("NO", style="red")
        table.add_row(manner.name, manner.expected, mark, Text(manner.seen))
    console.print(table)
