"""Watching a match in the terminal: board, joint move and clocks, or plain lines where it is no terminal."""

from __future__ import annotations

import time
from types import TracebackType
from typing import Any, Self

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ggp.board import Board, layout, legend
from ggp.board_finder import find_board
from ggp.game import Fact, Game
from ggp.match import MatchRecord, Moment
from ggp.search.report import SearchReport, report_text

PALETTE = ("red", "yellow", "cyan", "green", "magenta", "blue", "bright_white", "bright_black")
"""Colors for contents whose own name is no color."""

NAMED_COLORS = {
    "red": "red",
    "blue": "bright_blue",
    "green": "green",
    "yellow": "yellow",
    "white": "bright_white",
    "black": "bright_black",
    "magenta": "magenta",
    "cyan": "cyan",
    "teal": "cyan",
}

FACT_LINES = 24
"""Most lines of facts shown of a state that is no board."""


class MatchView:
    """Shows the moments of one match; give it to `play_match` as `watch`, inside a `with` block.

    In a terminal the view is redrawn in place. With a person at the keyboard, whose typing must not be
    drawn over, states are printed one below the other, and elsewhere one line per step. With `is_thinking` it
    also shows how the players' searches stand: `show_report` takes their reports, from any thread.
    """

    def __init__(
        self,
        console: Console,
        game: Game[Any],
        *,
        has_person: bool = False,
        is_brief: bool = False,
        is_thinking: bool = False,
    ) -> None:
        self.console = console
        self.game = game
        self.has_person = has_person
        self.is_brief = is_brief
        self.is_thinking = is_thinking
        self._reports: dict[int, dict[str, Any]] = {}
        self.board: Board | None = None
        self.moment: Moment | None = None
        self._live: Live | None = None
        self._state_text: RenderableType = Text("")

    def __enter__(self) -> Self:
        if self.is_brief and not self.has_person:
            return self
        self.board = find_board(self.game.program, self.game.facts(self.game.initial_state()))
        if self.console.is_terminal and not self.has_person:
            self._live = Live(
                console=self.console, get_renderable=self.render, refresh_per_second=8, transient=False
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live is not None:
            self._live.refresh()
            self._live.stop()
            self._live = None

    def __call__(self, moment: Moment) -> None:
        if self.is_brief and not self.has_person:
            return
        # Drawn here and not when the view refreshes itself: that happens in a thread, and a game is not
        # to be asked by two threads at once.
        if self.moment is None or self.moment.state != moment.state:
            self._state_text = state_view(self.board, self.game.facts(moment.state))
        self.moment = moment
        if moment.thinking is None and moment.record.reports:
            told = enumerate(moment.record.reports[-1])
            self._reports |= {seat: report for seat, report in told if report is not None}
        if self._live is not None:
            return
        if moment.is_over:
            if not self.has_person:
                self.console.print(self._state_text)
        elif moment.thinking is None:
            self.console.print(step_line(moment), soft_wrap=True)
            if self.is_thinking:
                for line in report_lines(moment.record):
                    self.console.print(line, soft_wrap=True)
            if self.has_person:
                self.console.print(self._state_text)

    def show_report(self, seat: int, report: SearchReport) -> None:
        """How the search of a seat, counted from 0 in role order, stands now."""
        self._reports[seat] = report.to_dict()

    def render(self) -> RenderableType:
        moment = self.moment
        if moment is None:
            return Text("")
        record = moment.record
        title = Text(f"{record.game_name}, step {moment.step}", style="bold")
        table = Table.grid(padding=(0, 2))
        for _ in range(6):
            table.add_column(no_wrap=True)
        for seat, role in enumerate(record.roles):
            table.add_row(*self._seat_row(moment, seat, role))
        body = Table.grid(padding=(0, 4))
        body.add_row(self._state_text, table)
        if self.is_thinking:
            return Panel(Group(body, self._thoughts(moment)), title=title, title_align="left", expand=False)
        return Panel(body, title=title, title_align="left", expand=False)

    def _thoughts(self, moment: Moment) -> RenderableType:
        """The latest report of every seat, that of the seat whose clock runs as it comes in."""
        views: list[RenderableType] = []
        for seat, role in enumerate(moment.record.roles):
            report = self._reports.get(seat)
            if report is not None:
                style = f"bold {content_color(role, moment.record.roles)}"
                views += [Text(""), Text(f"{role} thinks", style=style), report_view(report)]
        return Group(*views)

    def _seat_row(self, moment: Moment, seat: int, role: str) -> tuple[Text, ...]:
        """Marker, role, player, last move, clock of one seat."""
        record = moment.record
        is_thinking = moment.thinking is not None and str(moment.thinking) == role
        move = str(moment.joint_move[seat]) if moment.joint_move is not None else ""
        used = record.move_seconds[-1][seat] if record.move_seconds else None
        clock = "" if used is None else f"{used:5.2f} s"
        if is_thinking and moment.deadline is not None:
            clock = f"{max(0.0, moment.deadline - time.monotonic()):5.1f} s left"
        fault = record.errors[-1][seat] if record.errors else ""
        return (
            Text(">" if is_thinking else " ", style="bold green"),
            Text(role, style=f"bold {content_color(role, record.roles)}"),
            Text(record.player_names[seat], style="dim"),
            Text(move),
            Text(clock, style="green" if is_thinking else "dim"),
            Text(fault, style="bold red"),
        )


def step_line(moment: Moment) -> Text:
    """One line for a state that was reached: step, joint move, clock use, faults."""
    record = moment.record
    if moment.joint_move is None:
        seats = ", ".join(
            f"{role} {name}" for role, name in zip(record.roles, record.player_names, strict=True)
        )
        return Text(f"{record.game_name}: {seats}; seed {record.seed}")
    line = Text(f"{moment.step:>4} ")
    for role, move, seconds, fault in zip(
        record.roles, moment.joint_move, record.move_seconds[-1], record.errors[-1], strict=True
    ):
        line.append(f"  {role} {move}")
        if seconds is not None and seconds >= 0.005:
            line.append(f" ({seconds:.2f} s)", style="dim")
        if fault:
            line.append(f" [{fault}]", style="bold red")
    return line


def report_lines(record: MatchRecord) -> list[Text]:
    """One line per role that told how its search for the last move stood in the end."""
    if not record.reports:
        return []
    return [
        Text(f"       {role}: {report_text(report)}", style="dim")
        for role, report in zip(record.roles, record.reports[-1], strict=True)
        if report is not None
    ]


def report_view(report: dict[str, Any], move_limit: int = 5) -> RenderableType:
    """How a search stands, from `SearchReport.to_dict`: one line of counts, then the first moves."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column(justify="right")
    for move in report["moves"][:move_limit]:
        expects = f"proven {move['goal']}" if move["goal"] is not None else f"expects {move['mean']:.1f}"
        table.add_row(Text(move["move"]), f"{move['visits']:,} visits", expects if move["visits"] else "")
    return Group(Text(report_text(report), style="dim"), table)


def state_view(board: Board | None, facts: tuple[Fact, ...]) -> RenderableType:
    """A state as a colored board, with the facts that the board does not show; else as its facts."""
    if board is None:
        return _fact_view(facts)
    stacks = board.contents(facts)
    labels = {cell: board.label(stack[0]) for cell, stack in stacks.items()}
    names = tuple(board.labels)
    lines = []
    for pieces in layout(board, labels):
        line = Text()
        for text, cell in pieces:
            if cell in stacks:
                line.append(text, style=f"bold {content_color(stacks[cell][0][-1], names)}")
            else:
                line.append(text, style="dim" if cell is None or text.strip() == "." else "")
        lines.append(line)
    rest = [fact for fact in facts if all(layer.place(fact) is None for layer in board.layers)]
    key = "  ".join(f"{label} {name}" for label, name in legend(board, facts))
    parts: list[RenderableType] = [*lines]
    if key:
        parts.append(Text(key, style="dim"))
    if rest:
        parts.append(Text(_shortened("  ".join(map(str, rest))), style="dim"))
    return Group(*parts)


def _fact_view(facts: tuple[Fact, ...]) -> RenderableType:
    texts = [Text(str(fact)) for fact in facts[: FACT_LINES * 3]]
    if len(facts) > len(texts):
        texts.append(Text(f"… {len(facts) - len(texts)} more", style="dim"))
    return Columns(texts, column_first=True, padding=(0, 3)) if len(texts) > FACT_LINES else Group(*texts)


def _shortened(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 2] + " …"


def content_color(name: str, names: tuple[str, ...]) -> str:
    """The color that `name` says, as `redking` does, else one by its place among `names`."""
    for word, color in NAMED_COLORS.items():
        if name.startswith(word):
            return color
    return PALETTE[names.index(name) % len(PALETTE)] if name in names else "default"


def result_view(record: MatchRecord) -> RenderableType:
    """How the match ended, and who got what: role, player, goal, faults, seconds of the slowest move."""
    outcome = f", aborted: {record.fault}" if record.is_aborted else ""
    if record.is_completed and record.fault:
        outcome = f"; {record.fault}"
    title = Text(f"{record.game_name}: {len(record.moves)} steps{outcome}", style="bold")
    table = Table()
    for heading in ("role", "player", "goal", "faults", "slowest move"):
        table.add_column(heading, justify="left" if heading in ("role", "player") else "right")
    goals = record.goals or [None] * len(record.roles)
    for seat, role in enumerate(record.roles):
        seconds = [row[seat] for row in record.move_seconds[1:]]
        known = [value for value in seconds if value is not None]
        goal = goals[seat]
        table.add_row(
            Text(role),
            Text(record.player_names[seat]),
            "-" if goal is None else str(goal),
            str(record.fault_count(seat)),
            f"{max(known):.2f} s" if known else "-",
        )
    return Group(title, table)
