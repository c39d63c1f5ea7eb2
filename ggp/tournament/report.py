"""The report of a run: for the terminal, and as Markdown with charts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ggp.tournament import charts, tables
from ggp.tournament.plan import Condition
from ggp.tournament.results import Results, collect
from ggp.tournament.runner import Stopping
from ggp.tournament.schedule import CellKey, Schedule
from ggp.tournament.sequential import Decision
from ggp.tournament.store import Run, Store
from ggp.tournament.tables import Table
from ggp.written_files import write_text

BY_SIMULATIONS = "by number of simulations"

ABORTED_SHOWN = 10
"""Aborted matches that a report lists, and as many that were played although something was wrong."""


@dataclass(frozen=True)
class Report:
    """All that is said about a run."""

    run: Run
    results: Results
    planned: int
    saved: int
    decisions: dict[CellKey, Decision]

    def condition_tables(self, condition: Condition) -> list[Table]:
        """The tables of one condition; those without rows are left out."""
        name, results = condition.name, self.results
        found = [
            tables.win_rates(results, name).upright(),
            tables.ratings_table(results, name),
            tables.mean_goals(results, name).upright(),
            tables.speeds(results, name).upright(),
            tables.faults(results, name),
            tables.fallbacks(results, name),
        ]
        return [table for table in found if table.rows]

    def growth_tables(self) -> list[Table]:
        """Win rates by the number of simulations, where conditions differ in it."""
        found = [tables.growth(self.results, game) for game in self.run.plan.games]
        return [table for table in found if table.rows]

    @property
    def fallback_count(self) -> int:
        """Seats in which an agent played by another policy than its own."""
        return sum(total.fallbacks.total() for total in self.results.agents.values())

    @property
    def fault_count(self) -> int:
        return sum(total.faults for total in self.results.agents.values())

    def summary(self) -> str:
        """How many matches there are and what went wrong, in one line."""
        saved = f", {self.saved} not needed" if self.saved else ""
        flawed = f", {len(self.results.flawed)} flawed" if self.results.flawed else ""
        fallbacks = f", {self.fallback_count} seats played by a fallback" if self.fallback_count else ""
        return (
            f"{count_text(self.results.match_count, self.planned)}{saved}; "
            f"{self.fault_count} faults, {len(self.results.aborted)} aborted matches{flawed}{fallbacks}"
        )


def count_text(stored: int, planned: int) -> str:
    """`120 of 400 matches`; a run that goes on with fewer repetitions may have more than it wants."""
    return f"{stored} of {planned} matches" if stored <= planned else f"{stored} matches, {planned} wanted"


def make_report(store: Store, run: Run) -> Report:
    """Read the run's matches and sum them up."""
    matches = store.matches(run)
    schedule = Schedule(run.plan)
    stopping = Stopping(schedule)
    if run.plan.until is not None:
        for match in matches:
            stopping.add(match)
    return Report(run, collect(run.plan, matches), schedule.match_count, stopping.saved(), stopping.decisions)


def terminal_view(report: Report) -> RenderableType:
    """The report for a terminal."""
    parts: list[RenderableType] = [Text(f"{report.run.name}: {report.summary()}", style="bold")]
    for condition in report.run.plan.conditions:
        found = report.condition_tables(condition)
        if found:
            parts.append(Text(f"\n{condition.name}: {tables.condition_text(condition)}", style="bold"))
        parts += [rich_table(table) for table in found]
    if growth := report.growth_tables():
        parts.append(Text(f"\n{BY_SIMULATIONS}", style="bold"))
        parts += [rich_table(table) for table in growth]
    decided = tables.decisions(report.run.plan, report.decisions)
    if decided.rows:
        parts.append(rich_table(decided))
    parts += [Text(line) for line in _notes(report)]
    return Group(*parts)


def rich_table(table: Table) -> RichTable:
    """A table for a terminal."""
    title = Text(table.title, style="italic")  # no markup: brackets may be in the names of games and agents
    view = RichTable(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    for number, name in enumerate(table.header):
        view.add_column(Text(name), justify="left" if number < table.text_columns else "right")
    for row in table.rows:
        view.add_row(*map(Text, row))
    return view


def markdown(report: Report, drawn: charts.ChartNames | None = None) -> str:
    """The report as Markdown; `drawn` are the file names of charts."""
    lines = [f"# {report.run.name}", "", report.summary() + ".", ""]
    lines += [
        "Win rates: percent, 95 % Wilson interval, matches; a draw is half a win. Ratings: Bradley-Terry "
        "over all games, Elo points, 95 % interval.",
        "",
    ]
    for condition in report.run.plan.conditions:
        found = report.condition_tables(condition)
        if not found:
            continue
        title = f"{condition.name}: {tables.condition_text(condition)}"
        lines += _section(title, found, (drawn or {}).get(condition.name, []))
    if growth := report.growth_tables():
        lines += _section(BY_SIMULATIONS, growth, (drawn or {}).get(None, []))
    decided = tables.decisions(report.run.plan, report.decisions)
    if decided.rows:
        lines += ["## Decided early", "", *markdown_table(decided), ""]
    lines += ["## Played with", "", *(f"* {note}" for note in _notes(report)), ""]
    agents = [(agent.name, f"`{agent.player}`") for agent in report.run.plan.agents]
    lines += markdown_table(Table("", ("agent", "settings"), tuple(agents), text_columns=2))
    return "\n".join(lines) + "\n"


def _section(title: str, shown: list[Table], drawn: list[str]) -> list[str]:
    lines = [f"## {title}", ""]
    for table in shown:
        lines += [f"### {table.title}", "", *markdown_table(table), ""]
    return [*lines, *(f"![{name}]({name})" for name in drawn), ""]


def markdown_table(table: Table) -> list[str]:
    """A table in Markdown, numbers to the right."""
    rule = ["---" if number < table.text_columns else "---:" for number in range(len(table.header))]
    return [f"| {' | '.join(cells)} |" for cells in (table.header, rule, *map(_escaped, table.rows))]


def _escaped(cells: tuple[str, ...]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in cells]


def _notes(report: Report) -> list[str]:
    results = report.results
    notes = [f"seed {report.run.plan.seed}, engine {report.run.plan.engine}"]
    notes += [f"program {version}" for version in results.versions]
    if len(results.versions) > 1:
        notes.append("the program changed during this run: compare with care")
    notes += results.processors
    untold = sum(total.seats - total.told for total in results.agents.values())
    if untold:
        notes.append(f"seats that do not tell their policy (HTTP, earlier versions): {untold}")
    for word, found in (("aborted", results.aborted), ("flawed", results.flawed)):
        notes += [f"{word}: {match.id}: {match.fault}" for match in found[:ABORTED_SHOWN]]
        if len(found) > ABORTED_SHOWN:
            notes.append(f"{word}: {len(found) - ABORTED_SHOWN} more matches")
    return notes


def write_report(report: Report, folder: Path) -> list[str]:
    """Write `report.md` and, where matplotlib is installed, its charts; what could not be written, in words.

    Raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True)
    notes: list[str] = []
    names: charts.ChartNames = {}
    try:
        names = charts.write_charts(report.results, folder)
    except ImportError:
        notes.append("no charts: they need the extra, pip install 'ggp-lanes[charts]'")
    write_text(folder / "report.md", markdown(report, names))
    return notes
