"""A tournament as static pages: results, agents, and every match as a replay.

    index.html      standings, crosstable, ratings over time and the other tables
    agent-N.html    an agent: faults with their reasons, losses, all matches
    matches.html    every match, with a filter
    match-N.html    a match step by step

Browsers load no ES modules from files, so the pages use plain scripts. Files are named by
number, and every name from outside is escaped.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from gdl.program import Program
from gdl.terms import Symbol, Term
from ggp.analysis.goal_support import deciding_facts
from ggp.analysis.svg import svg_text
from ggp.files import PACKAGE, write_text
from ggp.match.outcome import outcome_text
from ggp.match.record import RecordError
from ggp.match.replay import Replay, rules_of
from ggp.tournament.agent_report import Appearance, appearance, reason_of, summary
from ggp.tournament.plan import Condition
from ggp.tournament.ratings import Rating
from ggp.tournament.report import MEANING, Report, make_report, notes
from ggp.tournament.results import PairScore
from ggp.tournament.store import Run, Store, StoredMatch
from ggp.tournament.tables import (
    Table,
    condition_text,
    ranking,
    rate_text,
    rating_history,
    ratings,
    ratings_table,
    scores_between,
)
from ggp.web.changes import changes
from ggp.web.match_view import state_view, trail

LINES_SHOWN = 15
"""Maximum number of rows of a table that is not folded."""

_STATIC = PACKAGE / "web" / "static"
_SCRIPTS = {"replay.js": ("page.js", "board.js", "log.js", "replay.js"), "filter.js": ("filter.js",)}
"""Scripts of the pages → the modules of the live page that they consist of."""
_MODULE_SYNTAX = re.compile(r"^import .*\n|^export ", re.MULTILINE)

_INKS = 6
"""Number of line colors in the stylesheet; further lines are dashed."""

_WIDTH, _HEIGHT = 760, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 150, 12, 34
_LABEL_GAP = 14
_WHISKER_WIDTH = 150


def write_pages(store: Store, run: Run, folder: Path) -> Path:
    """Write all pages of a run; returns the first one. Raises StoreError, OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("base.css", "board.css", "match.css", "tournament.css", "published.css"):
        write_text(folder / name, (_STATIC / name).read_text(encoding="utf-8"))
    for name, parts in _SCRIPTS.items():
        modules = [(_STATIC / part).read_text(encoding="utf-8") for part in parts]
        write_text(folder / name, "\n".join(_MODULE_SYNTAX.sub("", module) for module in modules))
    matches = sorted(store.matches(run), key=lambda match: (match.stored_ms, match.id))
    pages = Pages(make_report(store, run), matches)
    rules: dict[str, Program] = {}
    seen: dict[str, list[Appearance]] = {agent.name: [] for agent in run.plan.agents}
    for match in matches:
        record = store.record(run, match.id)
        for agent, found in seen.items():
            if agent in {seat.agent for seat in match.seats}:
                found.append(appearance(match, record, agent))
                pages.note(found[-1], agent)
        if match.game not in rules:
            rules[match.game] = rules_of(record)
        data = _match_data(Replay(record, rules[match.game]))
        _write(folder / pages.file_of(match), pages.match_page(match, data))
    for agent, found in seen.items():
        _write(folder / pages.agent_file(agent), pages.agent_page(agent, found[::-1]))
    _write(folder / "matches.html", pages.matches_page())
    _write(folder / "index.html", pages.index_page())
    return folder / "index.html"


def _write(path: Path, text: str) -> None:
    write_text(path, text.encode("utf-8", "replace").decode())  # half a character in a player's answer


def _match_data(replay: Replay) -> dict[str, Any]:
    """Roles, outcome and steps; a step contains only its difference from the previous one."""
    record, roles = replay.record, replay.roles
    steps: list[dict[str, Any]] = []
    try:
        states, picture = replay.states, replay.picture
    except RecordError as error:
        return {"roles": roles, "steps": steps, "outcome": f"{error}"}
    before: dict[str, Any] = {}
    for number, (step, facts) in enumerate(zip(record.steps, states, strict=True)):
        is_over = number == len(states) - 1 and record.is_completed
        earlier, goals_by_role = states[number - 1 :: -1] if number else (), _goals_by_role(replay)
        deciding = deciding_facts(replay.program, facts, goals_by_role, earlier) if is_over else ()
        won = picture.few_cells(deciding, facts)
        view = state_view(picture, facts, states[number - 1] if number else None, is_over=is_over, won=won)
        changed, before = changes(before, view), view
        faults = ["" if fault is None else reason_of(fault) for fault in step.faults]
        known = states[max(0, number - 1)]
        terms = [picture.notation.term_of(str(move)) for move in step.joint_move]
        steps.append(
            {
                **changed,
                "moves": [picture.notation.of_kif(str(move), known) for move in step.joint_move],
                "terms": list(step.joint_move),
                "trails": [
                    "" if term is None else trail(picture, role, term, known, facts)
                    for role, term in zip(roles, terms, strict=False)
                ],
                "faults": faults,
            }
        )
    goals = [goal if isinstance(goal, int) else None for goal in record.goals or ()]
    outcome = outcome_text(roles, goals if len(goals) == len(roles) else None)
    return {
        "roles": roles,
        "steps": steps,
        "outcome": f"aborted: {record.fault}" if record.is_aborted else outcome,
    }


def _goals_by_role(replay: Replay) -> dict[Term, int | None]:
    """The goals of a record by role; empty if they are not as they should be."""
    goals = [goal if isinstance(goal, int) else None for goal in replay.record.goals or ()]
    roles = [Symbol(role) for role in replay.roles]
    return dict(zip(roles, goals, strict=True)) if len(goals) == len(roles) else {}


class Pages:
    """The texts of the pages of a run.

    matches   in the order in which they were stored, so that their numbers stay as a run grows
    """

    def __init__(self, report: Report, matches: Sequence[StoredMatch]) -> None:
        self.report, self.matches = report, matches
        self._numbers = {match.id: number for number, match in enumerate(matches, start=1)}
        self._faults = {match.id: [match.fault] if match.fault else [] for match in matches}
        self._agents = {agent.name: number for number, agent in enumerate(report.run.plan.agents, start=1)}

    def note(self, found: Appearance, agent: str) -> None:
        """Note the faults of an agent in a match, for the list of matches."""
        self._faults[found.match.id] += [f"{agent}: {found.fault_text}"] if found.faults else []

    def file_of(self, match: StoredMatch) -> str:
        return f"match-{self._numbers[match.id]}.html"

    def agent_file(self, agent: str) -> str:
        return f"agent-{self._agents[agent]}.html"

    def index_page(self) -> str:
        """Standings, crosstable, ratings over time, and the other tables of the report."""
        parts = [
            f"<p>{escape(self.report.summary())}.</p>",
            f'<p class="faint">{escape(MEANING)} Each win rate of the crosstable leads to its matches.</p>',
        ]
        for condition in self.report.run.plan.conditions:
            parts += self._condition(condition)
        for section in self.report.sections():
            if section.condition is None:
                parts += [f"<h2>{escape(section.title)}</h2>", *map(_card, section.tables)]
        setup = "".join(f"<li>{escape(note)}</li>" for note in notes(self.report))
        agents = Table(
            "Agents",
            ("agent", "settings"),
            tuple((agent.name, agent.player) for agent in self.report.run.plan.agents),
            text_columns=2,
        )
        parts += ["<h2>Setup</h2>", _card(agents), f'<ul class="faint">{setup}</ul>']
        return self._page(self.report.run.name, "\n".join(parts))

    def _condition(self, condition: Condition) -> list[str]:
        results, name = self.report.results, condition.name
        parts = [f"<h2>{escape(name)}: {escape(condition_text(condition))}</h2>"]
        parts += [self._standings(name), self._crosstable(name)]
        chart = history_chart(rating_history(results.plan, self.matches, name))
        if chart:
            parts.append(f'<section class="card"><h3>Ratings over time, Elo</h3>{chart}</section>')
        rest = [each for each in self.report.condition_tables(name) if each.title != "Ratings"]
        return [*parts, *map(_card, rest)]

    def _standings(self, condition: str) -> str:
        results = self.report.results
        found = ratings(results, condition)
        ends = [rating.elo + sign * rating.margin for rating in found for sign in (-1, 1)]
        faults: Counter[str] = Counter()
        for (of_condition, _, agent), totals in results.agents.items():
            faults[agent] += totals.faults if of_condition == condition else 0
        rows = []
        for place, (rating, row) in enumerate(
            zip(found, ratings_table(results, condition).rows, strict=True), start=1
        ):
            cells = [_cell(place), f"<td>{self._agent_link(rating.agent)}</td>", _cell(row[1])]
            cells += [f"<td>{_whisker(rating, min(ends), max(ends))}</td>", _cell(row[2])]
            rows.append(f"<tr>{''.join(cells)}{_cell(faults[rating.agent])}</tr>")
        heads = '<td></td><th>agent</th><th class="number">Elo</th><th>95 % interval</th>'
        heads += '<th class="number">points</th><th class="number">faults</th>'
        return _table_card("Standings", heads, rows) if rows else ""

    def _crosstable(self, condition: str) -> str:
        """Agents × agents: win rates in percent; each leads to the matches of the pair."""
        results = self.report.results
        agents, scores = ranking(results, condition), scores_between(results, condition)
        if not scores:
            return ""
        rows = []
        for place, a in enumerate(agents, start=1):
            cells = [_cell(place), f"<td>{self._agent_link(a)}</td>"]
            cells += [_rate_cell(a, b, scores.get((a, b))) for b in agents]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        heads = "<td></td><th>win rate %</th>"
        for place, agent in enumerate(agents, start=1):
            heads += f'<th class="place"><abbr title="{escape(agent)}">{place}</abbr></th>'
        return _table_card("Crosstable", heads, rows)

    def _agent_link(self, agent: str) -> str:
        return f'<a href="{self.agent_file(agent)}">{escape(agent)}</a>'

    def agent_page(self, agent: str, found: Sequence[Appearance]) -> str:
        """Faults with their reasons, losses and other matches of an agent, newest first."""
        spec = self.report.run.plan.agent(agent).player
        parts = [f"<p><code>{escape(spec)}</code></p><p>{escape(summary(found))}</p>"]
        lost = [each for each in found if each.outcome == "lost"]
        groups = [
            ("Faults", [each for each in found if each.faults]),
            ("Losses", lost),
            ("Other matches", [each for each in found if each.outcome != "lost"]),
        ]
        heads = '<th>game</th><th>outcome</th><th>goals</th><th class="number">steps</th><th>faults</th>'
        for title, chosen in groups:
            rows = [
                f'<tr><td><a href="{self.file_of(each.match)}">{escape(each.match.game)}</a></td>'
                f"<td>{each.outcome}</td><td>{escape(each.score)}</td>{_cell(each.match.steps)}"
                f'<td class="error">{escape(each.fault_text)}</td></tr>'
                for each in chosen
            ]
            parts += [_table_card(f"{title} ({len(rows)})", heads, rows)] if rows else []
        return self._page(agent, "\n".join(parts))

    def matches_page(self) -> str:
        rows = []
        for match in reversed(self.matches):
            agents = "|".join(sorted({seat.agent for seat in match.seats if seat.agent}))
            rows.append(
                f'<tr data-agents="{escape(agents)}"><td><a href="{self.file_of(match)}">{escape(match.game)}'
                f"</a></td><td>{escape(_score(match))}</td>{_cell(match.steps)}"
                f"<td>{escape(match.condition)}</td>"
                f'<td class="error">{escape("; ".join(self._faults[match.id]))}</td></tr>'
            )
        heads = '<th>game</th><th>agents and goals</th><th class="number">steps</th><th>condition</th>'
        heads += "<th>faults</th>"
        tools = (
            '<p class="row"><input id="filter" type="search" placeholder="agents, game or fault" '
            'aria-label="filter matches"><span id="count" class="faint" role="status"></span></p>'
        )
        table = _table_card("Matches", heads, rows)
        return self._page("Matches", f'{tools}{table}<script src="filter.js"></script>')

    def match_page(self, match: StoredMatch, data: dict[str, Any]) -> str:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
        body = _template("replay.html").substitute(match=text)
        return self._page(match.game, body, about=_score(match), sheet="match.css")

    def _page(self, title: str, body: str, about: str = "", sheet: str = "tournament.css") -> str:
        run, heading = escape(self.report.run.name), escape(title)
        return _template("published.html").substitute(
            title=heading if heading == run else f"{heading} – {run}",
            heading=heading,
            about=escape(about),
            run=run,
            sheet=sheet,
            body=body,
        )


def _template(name: str) -> Template:
    return Template((_STATIC / name).read_text(encoding="utf-8"))


def _score(match: StoredMatch) -> str:
    return " · ".join(
        f"{seat.agent or 'random'} ({seat.role}) {'–' if seat.goal is None else seat.goal}"
        for seat in match.seats
    )


def _cell(value: object) -> str:
    return f'<td class="number">{escape(str(value))}</td>'


def _rate_cell(a: str, b: str, score: PairScore | None) -> str:
    if score is None or not score.count:
        return f'<td class="place faint">{"" if a == b else "–"}</td>'
    kind = "better" if score.rate > 0.5 else "worse"
    title = escape(f"{a} vs {b}: {rate_text(score)} matches")
    return (
        f'<td class="place {kind}" style="--share: {abs(score.rate - 0.5) * 80:.0f}%">'
        f'<a href="matches.html#{quote(f"{a} {b}")}" title="{title}">{100 * score.rate:.0f}</a></td>'
    )


def _card(table: Table) -> str:
    """A table of the report; a long one is folded."""
    kinds = ["" if index < table.text_columns else ' class="number"' for index in range(len(table.header))]
    heads = "".join(f"<th{kind}>{escape(text)}</th>" for kind, text in zip(kinds, table.header, strict=True))
    rows = []
    for row in table.rows:
        cells = [f"<td{kind}>{escape(text)}</td>" for kind, text in zip(kinds, row, strict=True)]
        rows.append(f"<tr>{''.join(cells)}</tr>")
    return _table_card(table.title, heads, rows, is_folded=len(rows) > LINES_SHOWN)


def _table_card(title: str, heads: str, rows: Iterable[str], *, is_folded: bool = False) -> str:
    body = "\n".join(rows)
    table = f'<div class="wide"><table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>'
    if is_folded:
        return f'<details class="card"><summary>{escape(title)}</summary>{table}</details>'
    return f'<section class="card"><h3>{escape(title)}</h3>{table}</section>'


def _whisker(rating: Rating, low: float, high: float) -> str:
    """The interval of a rating as a line with a dot, on a scale from `low` to `high`."""
    span = max(high - low, 1.0)
    start, middle, end, zero = (
        (value - low) / span * (_WHISKER_WIDTH - 10) + 5
        for value in (rating.elo - rating.margin, rating.elo, rating.elo + rating.margin, 0.0)
    )
    return (
        f'<svg class="whisker" width="{_WHISKER_WIDTH}" height="16" aria-hidden="true">'
        f'<line class="axis" x1="{zero:.1f}" y1="0" x2="{zero:.1f}" y2="16"/>'
        f'<line x1="{start:.1f}" y1="8" x2="{end:.1f}" y2="8"/>'
        f'<circle cx="{middle:.1f}" cy="8" r="3.5"/></svg>'
    )


def history_chart(history: Sequence[tuple[int, Sequence[Rating]]]) -> str:
    """Elo over the number of matches, a line per agent with its name; empty with less than two points."""
    if len(history) < 2:
        return ""
    values = [rating.elo for _, found in history for rating in found] or [0.0]
    span = max(values) - min(values)
    # A round distance of at most eight lines.
    step = next((each for each in (10.0, 20.0, 50.0, 100.0, 200.0, 500.0) if span / each <= 7), 1000.0)
    low, high = (min(values) // step) * step, (max(values) // step + 1) * step
    first, last = history[0][0], history[-1][0]

    def place(number: int, elo: float) -> tuple[float, float]:
        x = _LEFT + (number - first) / max(last - first, 1) * (_WIDTH - _LEFT - _RIGHT)
        return x, _TOP + (high - elo) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    right = _WIDTH - _RIGHT
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="history" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
        'role="img" aria-label="ratings over the matches">'
    ]
    for number in range(round((high - low) / step) + 1):
        y = place(first, low + number * step)[1]
        parts.append(f'<line class="axis" x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>')
        parts.append(svg_text(_LEFT - 6, y + 4, f"{low + number * step:.0f}", "end"))
    ends = ((number, place(number, low)[0]) for number in (first, last))
    parts += [svg_text(x, _HEIGHT - 12, f"{number} matches", "middle") for number, x in ends]
    agents = [rating.agent for rating in history[-1][1]]
    labels = _spread([place(last, rating.elo)[1] for rating in history[-1][1]])
    for index, (agent, label) in enumerate(zip(agents, labels, strict=True)):
        own = [(number, each.elo) for number, found in history for each in found if each.agent == agent]
        points = [place(number, elo) for number, elo in own]
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        kind = f"series-{index % _INKS}{' dashed' if index // _INKS % 2 else ''}"
        parts.append(f'<polyline class="{kind}" points="{line}"><title>{escape(agent)}</title></polyline>')
        parts.append(svg_text(right + 8, label + 4, agent, style=f' class="{kind}"'))
    return "\n".join([*parts, "</svg>"])


def _spread(heights: Sequence[float]) -> list[float]:
    """Labels at `heights`, from top to bottom, moved apart where they would overlap."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + _LABEL_GAP) if placed else height)
    limit = float(_HEIGHT - 8)
    for index in reversed(range(len(placed))):
        placed[index] = limit = min(placed[index], limit)
        limit -= _LABEL_GAP
    return placed
