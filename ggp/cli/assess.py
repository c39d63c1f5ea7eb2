"""`ggp assess`: measure a player on positions with known answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from ggp.assessment.positions import SKILLS, load_positions
from ggp.cli.options import json_option, play_clock_option, seed_option, start_clock_option
from ggp.cli.progress import progress_of
from ggp.cli.tables import plain_text, results_table
from ggp.match.player import PlayerSpecError
from ggp.players.factory import check_player, require_kind

if TYPE_CHECKING:
    from ggp.assessment.asking import AssessmentTerms, Faults
    from ggp.assessment.score_card import ScoreCard

SHOWN_FAULTS = 5


@click.command("assess")
@click.argument("player")
@start_clock_option(1.0)
@play_clock_option(1.0)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help=f"Test only this skill; repeatable. Skills: {', '.join(SKILLS)}.",
)
@seed_option("Random seed for players on this machine.")
@json_option
def command(
    player: str,
    start_clock: float,
    play_clock: float,
    only: tuple[str, ...],
    seed: int,
    is_json: bool,
) -> None:
    """Test PLAYER on a fixed set of positions with known answers; takes a few minutes at most.

    PLAYER is written as for `ggp match`; an HTTP player (http://HOST:PORT) is also tested for protocol
    conformance.

    Exit code: 0 success, 1 faults or failed conformance checks, 2 wrong usage or no such player.
    """
    if unknown := set(only) - set(SKILLS):
        raise click.UsageError(f"unknown skill {min(unknown)!r}; expected one of {', '.join(SKILLS)}")
    try:
        require_kind(player, refused=("human",))
        check_player(player)  # before numba is imported
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None

    from ggp.assessment.asking import AssessmentTerms

    sys.exit(_assess(player, AssessmentTerms(start_clock, play_clock, seed=seed), only, is_json=is_json))


def _assess(player: str, terms: AssessmentTerms, skills: tuple[str, ...], *, is_json: bool) -> int:
    """Test the player on the positions of `skills` (empty: all) and print the card; returns the exit code."""
    from ggp.assessment.conformance import NoAnswerError
    from ggp.assessment.score_card import Score, assess, longest_seconds

    console = Console(highlight=False, quiet=is_json)
    positions = [each for each in load_positions() if not skills or each.place.skill in skills]
    minutes = longest_seconds(positions, terms) / 60
    console.print(f"{len(positions)} positions, at most {minutes:.1f} minutes")

    def text(number: int, total: int, each: Score) -> str:
        return f"{number} of {total}, {each.answer.position.place.id}: {each.value:.2f}"

    try:
        with progress_of(text) as report:
            card = assess(player, positions, terms, listen=report)
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None
    except NoAnswerError as error:
        raise click.UsageError(f"{player}: {error}") from None
    if is_json:
        click.echo(json.dumps(card.to_dict()))
    show_card(console, card)
    has_failed = card.faults.count or not all(check.is_passed for check in card.conformance)
    return 1 if has_failed else 0


def show_card(console: Console, card: ScoreCard) -> None:
    from ggp.assessment.score_card import skill_percent

    table = results_table(f"{card.player}: {card.total:.0f} of 100", ["skill", ""], ["correct", "score %"])
    for skill in card.skills:
        found = card.of_skill(skill)
        right = sum(each.is_right for each in found)
        table.add_row(skill, SKILLS[skill], f"{right} of {len(found)}", f"{skill_percent(found):.0f}")
    console.print(table)
    _show_faults(console, card.move_count, card.faults)
    if card.conformance:
        passed = sum(check.is_passed for check in card.conformance)
        title = f"Conformance: {passed} of {len(card.conformance)} checks passed"
        table = results_table(title, ["message", "expected", ""], [], ["seen"])
        for check in card.conformance:
            mark = Text("yes", style="green") if check.is_passed else Text("NO", style="red")
            table.add_row(check.name, check.expected, mark, plain_text(check.seen))
        console.print(table)


def _show_faults(console: Console, moves: int, faults: Faults) -> None:
    console.print(
        f"{moves} moves: {faults.late} late, {faults.illegal} illegal, "
        f"{faults.lost} lost connections, {faults.crashed} crashes; {faults.start} failed STARTs"
    )
    for example in faults.examples[:SHOWN_FAULTS]:
        console.print(plain_text(f"  {example}"))
