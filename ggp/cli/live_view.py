"""Watch a match in the terminal: board, joint move and clocks; plain lines if not a terminal."""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Self

from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from ggp.analysis.figures import Line
from ggp.analysis.notation import IDLE, WAITS
from ggp.analysis.picture import Picture, find_picture
from ggp.cli.tables import one_line, plain_text
from ggp.game import Fact, Game, hides_information
from ggp.match.faults import fault_text
from ggp.match.outcome import outcome_text
from ggp.match.record import MatchRecord
from ggp.match.referee import Moment
from ggp.validation.properties import counted

PALETTE = ("red", "yellow", "cyan", "green", "magenta", "blue", "bright_white", "bright_black")
"""Colors for contents that are not named after a color."""

NAMED_COLORS = {color: color for color in ("red", "green", "yellow", "magenta", "cyan")} | {
    "blue": "bright_blue",
    "white": "bright_white",
    "black": "bright_black",
    "teal": "cyan",
}

FACT_LINES = 24
"""Maximum number of lines of facts for a state without a board."""

NAME_WIDTH = 14
"""Number of characters of roles and players that are kept even in a narrow terminal."""


HIDDEN = Text("hidden information: you see what the rules show to your role", style="dim")


@dataclass(eq=False)
class MatchView:
    """Shows the moments of one match; pass it to `play_match` as `watch`, inside a `with` block.

    In a terminal the view is redrawn in place. With a person at the keyboard, whose input must not be
    overwritten, states are printed one after the other; without a terminal, one line per step. In games with
    hidden information the state is not shown to a person before the end: the player `human` shows what that
    person sees and knows. notation: how moves are written, see `find_picture`.
    """

    console: Console
    game: Game[Any]
    _: KW_ONLY
    has_person: bool = False
    notation: str = "short"
    moment: Moment | None = field(default=None, init=False)
    _texts: list[str] = field(default_factory=list, init=False)
    _live: Live | None = field(default=None, init=False)
    _state_text: RenderableType | None = field(default_factory=Text, init=False)
    _key_text: Text = field(default_factory=Text, init=False)

    @cached_property
    def _picture(self) -> Picture:
        """How to draw the states; the layout of the board is found in the first one."""
        initial = self.game.facts(self.game.initial_state())
        return find_picture(self.game.program, initial, self.notation)

    @property
    def is_hiding(self) -> bool:
        return self.has_person and hides_information(self.game)

    def __enter__(self) -> Self:
        self._see(self.game.facts(self.game.initial_state()))
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
        # Drawn here and not when the view refreshes itself: that happens in a thread, and a game must not
        # be used by two threads at once.
        if self.moment is None or self.moment.step != moment.step:
            self._note_moves(moment)
        if self.moment is None or self.moment.state != moment.state:
            is_over = moment.is_over or self.game.is_terminal(moment.state)
            if self.is_hiding and not is_over:
                self._state_text = HIDDEN if moment.joint_move is None else None
            else:
                is_next = self.moment is not None and moment.step == self.moment.step + 1
                before = self.game.facts(self.moment.state) if self.moment and is_next else None
                self._state_text = self._see(self.game.facts(moment.state), before, is_over=is_over)
        self.moment = moment
        if self._live is not None:
            return
        if moment.is_over:
            if not self.has_person:
                self.console.print(self._state_text)
        elif moment.thinking is None:
            line = step_line(moment, self._texts, has_person=self.has_person, is_hiding=self.is_hiding)
            # Lines of a log are not wrapped; those for a person are.
            self.console.print(line, soft_wrap=not (self.has_person and self.console.is_terminal))
            if self.has_person and self._state_text is not None:
                self.console.print(self._state_text)

    def _note_moves(self, moment: Moment) -> None:
        """Write the moves that led to a moment; a person is not shown what hidden pieces they captured."""
        is_next = self.moment is not None and moment.step == self.moment.step + 1 and not self.is_hiding
        facts = self.game.facts(self.moment.state) if self.moment is not None and is_next else ()
        self._texts = self._picture.notation.joint(moment.joint_move or (), facts)

    def _see(
        self, facts: tuple[Fact, ...], before: tuple[Fact, ...] | None = None, *, is_over: bool = False
    ) -> RenderableType:
        """Draw a state."""
        is_live = self._live is not None
        if is_live:
            self._key_text = one_line(key_view(self._picture, facts).plain, "dim")
        return state_view(self._picture, facts, before=before, is_over=is_over, has_key=not is_live)

    def render(self) -> RenderableType:
        moment = self.moment
        if moment is None:
            return Text("")
        record = moment.record
        table = Table.grid(padding=(0, 2))
        names = (min(NAME_WIDTH, max(map(len, names))) for names in (record.roles, record.player_names))
        for width in (None, *names, None, len("99.9 s left"), None):
            table.add_column(no_wrap=True, min_width=width)
        for seat, role in enumerate(record.roles):
            table.add_row(*self._seat_row(moment, seat, role))
        body = Table.grid(padding=(0, 4))
        body.add_row(self._state_text, table)
        parts: list[RenderableType] = [body, self._key_text] if self._key_text else [body]
        title = plain_text(f"{record.game_name}, step {moment.step}", "bold")
        return Panel(Group(*parts), title=title, title_align="left", expand=False)

    def _seat_row(self, moment: Moment, seat: int, role: str) -> tuple[Text, ...]:
        """Marker, role, player, last move, clock of one seat."""
        record, step = moment.record, moment.record.steps[-1]
        is_thinking = moment.thinking is not None and str(moment.thinking) == role
        used = step.seconds[seat] if step.seconds else None
        clock = "" if used is None else f"{used:5.2f} s"
        if is_thinking and moment.deadline is not None:
            clock = f"{max(0.0, moment.deadline - time.monotonic()):5.1f} s left"
        return (
            Text(">" if is_thinking else " ", style="bold green"),
            plain_text(role, f"bold {content_color(role, record.roles)}"),
            plain_text(record.player_names[seat], "dim"),
            plain_text(self._texts[seat] if seat < len(self._texts) else ""),
            Text(clock, style="green" if is_thinking else "dim"),
            plain_text(fault_text(step.faults[seat]) if step.faults else "", "bold red"),
        )


def step_line(
    moment: Moment, texts: Sequence[str] = (), *, has_person: bool = False, is_hiding: bool = False
) -> Text:
    """One line for a new state: step, joint move, faults; roles that wait are left out if another moves.

    texts        of the joint move, if not those in KIF
    has_person   leave out thinking times, and moves that do nothing
    is_hiding    show the moves of persons only
    """
    record, step = moment.record, moment.record.steps[-1]
    if moment.joint_move is None:
        seats = ", ".join(map(" ".join, zip(record.roles, record.player_names, strict=True)))
        return plain_text(f"{record.game_name}: {seats}; seed {record.seed}")
    rows = list(
        zip(record.roles, texts or map(str, moment.joint_move), step.seconds, step.faults, strict=True)
    )
    rows = list(itertools.compress(rows, record.is_player_human)) if is_hiding else rows
    idle = (WAITS, IDLE) if has_person else (WAITS,)
    line = Text(f"{moment.step:>4} ")
    for role, move, seconds, fault in [row for row in rows if row[1] not in idle or row[3]] or rows:
        line.append("  ").append(plain_text(role, f"bold {content_color(role, record.roles)}"))
        line.append(plain_text(f" {move}"))
        if not has_person and seconds is not None and seconds >= 0.005:
            line.append(f" ({seconds:.2f} s)", style="dim")
        if fault is not None:
            line.append(plain_text(f" [{fault}]", "bold red"))
    return line


def state_view(
    picture: Picture,
    facts: tuple[Fact, ...],
    *,
    before: tuple[Fact, ...] | None = None,
    is_over: bool = False,
    has_key: bool = True,
) -> RenderableType:
    """A state as a colored picture with the remaining facts.

    has_key  whether abbreviations on the board are explained
    before   the facts of the state before it: what the last move changed on the board is marked
    """
    names = () if picture.board is None else tuple(picture.board.labels)
    parts: list[RenderableType] = [
        _styled(line, names, style="bold ") for line in picture.board_lines(facts, before)
    ]
    if has_key and picture.key(facts):
        parts.append(key_view(picture, facts))
    parts += [_styled(line, names) for line in picture.figure_lines(facts, is_over=is_over)]
    rest = picture.rest(facts)
    if rest and parts:
        parts.append(plain_text(_shortened("  ".join(map(str, rest))), "dim"))
    elif rest:
        return _fact_view(tuple(rest))
    return Group(*parts)


def key_view(picture: Picture, facts: tuple[Fact, ...]) -> Text:
    """The meaning of abbreviations on the board, in one paragraph."""
    return plain_text("  ".join(f"{label} {name}" for label, name in picture.key(facts)), "dim")


def _styled(line: Line, names: tuple[str, ...], style: str = "") -> Text:
    text = Text(no_wrap=True)
    for piece in line:
        color = f"{style}{content_color(piece.name, names)}" if piece.name else "dim" if piece.is_dim else ""
        text.append(plain_text(piece.text, color))
    text.rstrip()
    return text


def _fact_view(facts: tuple[Fact, ...]) -> RenderableType:
    texts = [plain_text(str(fact)) for fact in facts[: FACT_LINES * 3]]
    if len(facts) > len(texts):
        texts.append(Text(f"… {len(facts) - len(texts)} more", style="dim"))
    return Columns(texts, column_first=True, padding=(0, 3)) if len(texts) > FACT_LINES else Group(*texts)


def _shortened(text: str) -> str:
    return text if len(text) <= 200 else text[:198] + " …"


def content_color(name: str, names: tuple[str, ...]) -> str:
    """The color that a name starts with, else one by its position in `names`.

    >>> content_color("redking", ()), content_color("o", ("x", "o")), content_color("unknown", ())
    ('red', 'yellow', 'default')
    """
    for word, color in NAMED_COLORS.items():
        if name.startswith(word):
            return color
    return PALETTE[names.index(name) % len(PALETTE)] if name in names else "default"


def result_view(record: MatchRecord) -> RenderableType:
    """The outcome of a match: role, player, goal, faults, and the slowest move in seconds."""
    steps = counted(len(record.moves), "step")
    if record.is_completed:
        outcome = f"{outcome_text(record.roles, record.goals)} after {steps}"
        outcome += f"; {record.fault}" if record.fault else ""
    else:
        outcome = f"{steps}, aborted: {record.fault}" if record.is_aborted else steps
    title = plain_text(f"{record.game_name}: {outcome}", "bold")
    table = Table()
    for heading in ("role", "player", "goal", "faults", "slowest move"):
        table.add_column(heading, justify="left" if heading in ("role", "player") else "right")
    goals = record.goals or [None] * len(record.roles)
    for seat, role in enumerate(record.roles):
        seconds = [step.seconds[seat] for step in record.steps[1:] if step.seconds]
        known = [value for value in seconds if value is not None]
        goal = goals[seat]
        table.add_row(
            plain_text(role),
            plain_text(record.player_names[seat]),
            "-" if goal is None else str(goal),
            str(record.fault_count(seat)),
            f"{max(known):.2f} s" if known else "-",
        )
    return Group(title, table)
