"""The report of a run, and its view in a terminal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ggp.tournament import tables
from ggp.tournament.results import Results, collect
from ggp.tournament.runner import Progress
from ggp.tournament.schedule import CellKey, Schedule
from ggp.tournament.stopping import Decision, Stopping
from ggp.tournament.store import Run, Store
from ggp.tournament.tables import Table

MEANING = (
    "Win rates: percent, 95 % Wilson interval, number of matches; a draw counts half a win. "
    "Ratings: Bradley-Terry over all games, in Elo points, with 95 % interval."
)

PAIRS_SHOWN = 15
"""Maximum number of pairs listed in a terminal; with more, only the crosstable is shown."""

WIDE_COLUMNS = 8
"""Number of columns beyond which a table is printed compactly."""

ABORTED_SHOWN = 10
"""Maximum number of aborted matches in a report, and of completed matches with a fault."""


@dataclass(frozen=True)
class Section:
    """Tables below a title, and their condition (None: all conditions)."""

    title: str
    tables: list[Table]
    condition: str | None = None


@dataclass(frozen=True)
class Report:
    """The contents of the report of a run."""

    run: Run
    results: Results
    planned: int
    saved: int
    decisions: dict[CellKey, Decision]

    def condition_tables(self, condition: str) -> list[Table]:
        """The tables of one condition, without empty ones."""
        found = [
            tables.win_rates(self.results, condition).upright(),
            tables.ratings_table(self.results, condition),
            tables.mean_goals(self.results, condition).upright(),
            tables.speeds(self.results, condition).upright(),
            tables.faults(self.results, condition),
            tables.fallbacks(self.results, condition),
        ]
        return [table for table in found if table.rows]

    def sections(self) -> list[Section]:
        """All tables with rows, in the order of the report."""
        plan = self.run.plan
        found = [
            Section(
                f"{each.name}: {tables.condition_text(each)}", self.condition_tables(each.name), each.name
            )
            for each in plan.conditions
        ]
        found.append(Section("Decided early", [tables.decisions(plan, self.decisions)]))
        found = [replace(each, tables=[table for table in each.tables if table.rows]) for each in found]
        return [section for section in found if section.tables]

    def summary(self) -> str:
        """Number of matches and of faults, in one line."""
        results = self.results
        faults = sum(total.faults for total in results.agents.values())
        fallbacks = sum(total.fallbacks.total() for total in results.agents.values())
        return "".join(
            [
                count_text(results.match_count, self.planned),
                f", {self.saved} not needed" if self.saved else "",
                f"; {faults} faults, {len(results.aborted)} aborted matches",
                f", {len(results.flawed)} flawed" if results.flawed else "",
                f", {fallbacks} seats with a fallback policy" if fallbacks else "",
            ]
        )


def count_text(stored: int, planned: int) -> str:
    """Stored and planned matches; after a reduction of repetitions, more may be stored than planned.

    >>> count_text(120, 400), count_text(12, 10)
    ('120 of 400 matches', '12 matches, 10 planned')
    """
    return f"{stored} of {planned} matches" if stored <= planned else f"{stored} matches, {planned} planned"


def progress_text(progress: Progress) -> str:
    """The progress of a run in one line."""
    rate = progress.per_second
    left = timedelta(seconds=round(progress.left / rate)) if rate and progress.left else None
    parts = [
        count_text(progress.stored, progress.total),
        f"{progress.saved} not needed" if progress.saved else "",
        f"{progress.running} running",
        f"{60 * rate:.1f} per minute" if rate else "",
        f"about {left} left" if left else "",
    ]
    return ", ".join(filter(None, parts))


def make_report(store: Store, run: Run) -> Report:
    """Read the matches of a run and summarize them."""
    matches = store.matches(run)
    schedule = Schedule(run.plan)
    stopping = Stopping(schedule)
    if run.plan.until is not None:
        for match in matches:
            stopping.add(match)
    return Report(run, collect(run.plan, matches), schedule.match_count, stopping.saved(), stopping.decisions)


def terminal_view(report: Report) -> RenderableType:
    parts: list[RenderableType] = [Text(f"{report.run.name}: {report.summary()}", style="bold")]
    for section in report.sections():
        parts.append(Text(f"\n{section.title}", style="bold"))
        parts += [rich_table(table) for table in _with_crosstable(report, section)]
    parts += [Text(line) for line in notes(report)]
    return Group(*parts)


def _with_crosstable(report: Report, section: Section) -> list[Table]:
    """The tables of a section, the crosstable first; it replaces a table of more than PAIRS_SHOWN pairs."""
    if section.condition is None:
        return section.tables
    brief = tables.brief_crosstable(report.results, section.condition)
    if not brief.rows:
        return section.tables
    is_long = len(report.results.met(section.condition)) > PAIRS_SHOWN
    return [brief, *section.tables[is_long:]]


def rich_table(table: Table) -> RichTable:
    title = Text(table.title, style="italic")  # not markup: names may contain brackets
    padding = (0, 1) if len(table.header) <= WIDE_COLUMNS else (0, 0)
    view = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=padding)
    for number, name in enumerate(table.header):
        view.add_column(Text(name), justify="left" if number < table.text_columns else "right")
    for row in table.rows:
        view.add_row(*map(Text, row))
    return view


def notes(report: Report) -> list[str]:
    """Remarks on the settings of the run and on its results, one sentence each."""
    results = report.results
    found = [f"seed {report.run.plan.seed}, engine {report.run.plan.engine}"]
    found += [f"program {version}" for version in results.versions]
    if len(results.versions) > 1:
        found.append("the program changed during this run: results may not be comparable")
    found += results.processors
    for (condition, game), goal in results.even.items():
        place = game if len(report.run.plan.conditions) == 1 else f"{game} ({condition})"
        found.append(
            f"every agent got goal {goal} in every match of {place},"
            " which is left out of win rates and ratings"
        )
    unknown = sum(total.seats - total.reporting for total in results.agents.values())
    if unknown:
        found.append(f"seats with unknown policy (HTTP players): {unknown}")
    for word, listed in (("aborted", results.aborted), ("flawed", results.flawed)):
        found += [f"{word}: {match.id}: {match.fault}" for match in listed[:ABORTED_SHOWN]]
        if len(listed) > ABORTED_SHOWN:
            found.append(f"{word}: {len(listed) - ABORTED_SHOWN} more matches")
    return found
