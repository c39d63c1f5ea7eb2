"""`ggp show`: a recorded match, step by step."""

from __future__ import annotations

import sys
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, zip_longest
from pathlib import Path

import click
from rich.console import Console, Group, RenderableType
from rich.text import Text

from gdl.terms import Term
from ggp.cli.live_view import content_color, state_view
from ggp.cli.options import INPUT_FILE, notation_option
from ggp.engines.loading import read_program
from ggp.match.outcome import outcome_text
from ggp.match.record import RecordError, Step, read_record
from ggp.match.replay import Replay, rules_of
from ggp.protocol.messages import printable
from ggp.search.report import report_text


@click.command("show")
@click.argument("record", metavar="RECORD", type=INPUT_FILE)
@click.option("--rules", metavar="FILE", help="Rule sheet of the game, if the record does not contain it.")
@notation_option
def command(record: Path, rules: str | None, notation: str) -> None:
    """Show the match in RECORD step by step, a file that `ggp match --record` or another manager wrote.

    A terminal shows it in a pager, `ggp serve` opens it on a board.
    """
    try:
        found = read_record(record)
        program = read_program(rules)[0] if rules is not None else rules_of(found)
        replay = ReplayView(found, program, notation)
        _ = replay.states
    except RecordError as error:
        raise click.UsageError(f"{record}: {error}") from None
    show_replay(replay)


def show_replay(replay: ReplayView) -> None:
    """Print all steps of a match, in a terminal through a pager."""
    console = Console(highlight=False)
    with console.capture() as captured:
        for number in range(len(replay.states)):
            console.print(replay.frame(number), "")
    if console.is_terminal and sys.stdin.isatty():
        click.echo_via_pager(captured.get(), color=True)
    else:
        click.echo(captured.get(), nl=False)


@dataclass(frozen=True)
class ReplayView(Replay):
    """Terminal view of a recorded match."""

    @cached_property
    def roles(self) -> tuple[str, ...]:
        return tuple(map(printable, super().roles))

    def frame(self, number: int) -> RenderableType:
        """One step: the joint move, and the state after it."""
        step = self.record.steps[number]
        last = len(self.states) - 1
        game = printable(str(self.record.game_name or self.record.match_id))
        parts: list[RenderableType] = [Text(f"{game}, step {number} of {last}", style="bold")]
        parts += [self._players()] if number == 0 else self._moves(step, self.states[number - 1])
        before = self.states[number - 1] if number else None
        is_over = number == last and self.record.is_completed is True
        parts.append(state_view(self.picture, self.states[number], before=before, is_over=is_over))
        if number == last:
            parts.append(Text(self._end(), style="bold"))
        return Group(*parts)

    def _players(self) -> Text:
        names = [printable(str(name)) for name in self.record.player_names]
        seats = [f"{role} {name}" for role, name in zip(self.roles, names, strict=False)]
        return Text(", ".join(seats) or ", ".join(self.roles))

    def _moves(self, step: Step, before: tuple[Term, ...]) -> list[RenderableType]:
        """A line per role: move, time, fault and search report. before: the facts of the state before."""
        lines: list[RenderableType] = []
        notation = self.picture.notation
        rows = zip_longest(step.joint_move, self.roles, step.seconds, step.faults, step.reports)
        for move, role, seconds, fault, report in islice(rows, len(step.joint_move)):
            line = Text("  ")
            line.append(role or "", style=f"bold {content_color(role or '', self.roles)}")
            line.append("  " + printable(notation.of_kif(str(move), before)))
            if isinstance(seconds, int | float) and seconds >= 0.005:
                line.append(f"  {seconds:.2f} s", style="dim")
            if fault is not None:
                line.append(f"  {printable(str(fault))}", style="bold red")
            lines.append(line)
            # Another manager may use another format of reports.
            with suppress(KeyError, TypeError, ValueError, AttributeError):
                if report:
                    text = report_text(report, notation.line(report["line"], before))
                    lines.append(Text(f"    {printable(text)}", style="dim"))
        return lines

    def _end(self) -> str:
        record = self.record
        fault = f": {printable(str(record.fault))}" if record.fault else ""
        if record.is_aborted:
            return f"aborted{fault}"
        if not record.is_completed:
            return "the record ends here"
        return outcome_text(self.roles, self.goals) + fault
