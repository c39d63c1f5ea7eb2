"""`ggp assess`: measure a player on positions with known answers."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from ggp.assessment.positions import SKILLS, load_positions
from ggp.cli.options import Count, json_option, play_clock_option, seed_option, start_clock_option
from ggp.cli.progress import interruptible, load_compiled, progress_of, reported_as
from ggp.cli.tables import plain_text, results_table
from ggp.game import hides_information
from ggp.match.player import PlayerSpecError
from ggp.players.factory import check_player, require_kind

if TYPE_CHECKING:
    from ggp.assessment.asking import AssessmentTerms, Faults
    from ggp.assessment.exploitability import Exploitability
    from ggp.assessment.regret import RegretReport
    from ggp.assessment.score_card import ScoreCard
    from ggp.match.player import Player
    from ggp.solver.cfr import ApproximateEquilibrium

SHOWN_FAULTS = 5
SAMPLES = 10
"""Default number of answers in each information set."""


@click.command("assess")
@click.argument("player")
@start_clock_option(1.0)
@play_clock_option(1.0)
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    help=f"Test only this skill, or with --regret this game; repeatable. Skills: {', '.join(SKILLS)}.",
)
@click.option("--regret", "is_regret", is_flag=True, help="Measure regret in positions of solved games.")
@click.option(
    "--exploit",
    "exploited",
    metavar="FILE",
    help="Measure how exploitable the player is in this game with hidden information.",
)
@click.option(
    "--count",
    type=Count(1),
    help="At most this many positions of each game for regret; answers in each information set for"
    f" --exploit.  [default: all; {SAMPLES}]",
)
@seed_option("Random seed for players on this machine.")
@json_option
def command(
    player: str,
    start_clock: float,
    play_clock: float,
    only: tuple[str, ...],
    is_regret: bool,
    exploited: str | None,
    count: int | None,
    seed: int,
    is_json: bool,
) -> None:
    """Test PLAYER on a fixed set of positions with known answers; takes a few minutes at most.

    PLAYER is written as for `ggp match`; an HTTP player (http://HOST:PORT) is also tested for protocol
    conformance. --regret reports the goals that one move in each of many positions loses; with --start-clock
    0 the player cannot solve them before the first move. --exploit asks for moves in every information set
    that its own moves lead to, and computes an exact best response.

    Exit code: 0 success, 1 faults or failed conformance checks, 2 wrong usage or no such player.
    """
    if exploited is not None and (is_regret or only):
        raise click.UsageError("--exploit cannot be combined with --regret or --only")
    if count is not None and not (is_regret or exploited):
        raise click.UsageError("--count belongs to --regret and --exploit")
    unknown = set() if is_regret else set(only) - set(SKILLS)
    if unknown:
        raise click.UsageError(f"unknown skill {min(unknown)!r}; expected one of {', '.join(SKILLS)}")
    try:
        require_kind(player, refused=("human",) if exploited is None else ("human", "http"))
        seat = check_player(player)  # before numba is imported
    except PlayerSpecError as error:
        raise click.UsageError(str(error)) from None

    from ggp.assessment.asking import AssessmentTerms

    terms = AssessmentTerms(start_clock, play_clock, seed=seed)
    if exploited is not None:
        _exploit(seat, exploited, terms, count or SAMPLES, is_json=is_json)
    elif is_regret:
        sys.exit(_regret(player, terms, count, only, is_json=is_json))
    else:
        sys.exit(_assess(player, terms, only, is_json=is_json))


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


def _regret(
    player: str, terms: AssessmentTerms, per_game: int | None, games: tuple[str, ...], *, is_json: bool
) -> int:
    """Measure and print a player's regret in the bundled positions; returns the exit code."""
    from ggp.assessment.regret import PositionsError, RegretReport, measure_regret, read_positions

    report = RegretReport(player, terms)
    try:
        positions = read_positions(per_game, games)
        with (
            interruptible(player, "what was measured is shown") as work,
            progress_of(lambda number, total: f"{number} of {total} positions") as listen,
        ):
            measure_regret(player, positions, terms, report=report, listen=listen)
    except (PlayerSpecError, PositionsError) as error:
        raise click.UsageError(str(error)) from None
    if is_json:
        click.echo(json.dumps(report.to_dict()))
    elif report.games:
        _show_regret(Console(highlight=False), report)
    return work.exit_code or (1 if report.faults.count else 0)


def _show_regret(console: Console, report: RegretReport) -> None:
    title = f"{report.player}: goals given away, mean and 95 % interval"
    table = results_table(title, ["game"], ["positions", "mistakes", "regret", "random moves"])
    total = report.total
    for each in [*report.games, total] if len(report.games) > 1 else report.games:
        if each is total:
            table.add_section()
        count = len(each.regrets)
        regret = f"{each.mean:.2f} ± {each.margin:.2f}" if count > 1 else f"{each.mean:.2f}"
        table.add_row(each.game, str(count), str(each.mistakes), regret, f"{each.chance:.1f}")
    console.print(table)
    _show_faults(console, len(total.regrets), report.faults)


def _exploit(player: Player, file: str, terms: AssessmentTerms, samples: int, *, is_json: bool) -> None:
    """Ask a player in every information set of a game and print its exploitability."""
    game = load_compiled(file)
    if not hides_information(game):
        raise click.UsageError(f"--exploit is for games with hidden information (`sees`): not {game.name}")

    from ggp.assessment.exploitability import measure_exploitability
    from ggp.cli.solve_hidden import progress_text
    from ggp.solver import SolverError, SolverLimits
    from ggp.solver.cfr import CfrOptions, find_equilibrium, make_state_graph, sequence_form

    limits = SolverLimits()
    with reported_as(game.name, SolverError):
        with progress_of(progress_text) as report:
            form = sequence_form(make_state_graph(game, limits), limits, report)
        if len(form.graph.agents) == 1:
            raise click.UsageError("--exploit is for games of two roles")
        with progress_of(lambda answers, sets: f"{answers:,} answers in {sets:,} information sets") as listen:
            asked = measure_exploitability(form, player, terms, samples, listen)
        found = find_equilibrium(form, CfrOptions(accuracy=1e-6))
    show = exploitability_data if is_json else exploitability_text
    click.echo(show(asked, found, player.name))


def exploitability_text(asked: Exploitability, found: ApproximateEquilibrium, name: str) -> str:
    graph = asked.form.graph
    lines = [f"{graph.game.name}: {name} is exploitable by {asked.gain:.6g} goals"]
    for role, goal, value in zip(graph.agents, asked.goals, found.values, strict=True):
        lines.append(f"  as {role} it earns {goal:.6g} against a best response; the value is {value:.6g}")
    lines.append(f"  {asked.answers:,} answers in {asked.sets:,} information sets that its own moves lead to")
    if faults := asked.faults.examples:
        lines.append(f"  {len(faults):,} of them were not legal moves, such as {faults[0]}")
    return "\n".join(lines)


def exploitability_data(asked: Exploitability, found: ApproximateEquilibrium, name: str) -> str:
    """The exploitability of a player as one line of JSON."""
    agents = list(map(str, asked.form.graph.agents))
    data = {
        "game": asked.form.graph.game.name,
        "player": name,
        "exploitability": asked.gain,
        "goals": dict(zip(agents, asked.goals, strict=True)),
        "values": dict(zip(agents, found.values, strict=True)),
        "answers": asked.answers,
        "information_sets": asked.sets,
        "faults": asked.faults.examples,
    }
    return json.dumps(data)
