"""A tournament as static pages: results, agents, and every match as a replay.

    index.html      crosstable, ratings and the other tables
    matches.html    every match with its faults and their reasons, and a filter
    match-N.html    a match step by step

Browsers load no ES modules from files, so the pages use plain scripts. Files are named by
number, and every name from outside is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from gdl.program import Program
from gdl.terms import Symbol, Term
from ggp.analysis.goal_support import deciding_facts
from ggp.files import PACKAGE, write_text
from ggp.match.outcome import outcome_text
from ggp.match.record import MatchRecord, RecordError
from ggp.match.replay import Replay, rules_of
from ggp.tournament.agent_report import appearance, reason_of
from ggp.tournament.plan import Condition
from ggp.tournament.report import MEANING, Report, make_report, notes
from ggp.tournament.results import PairScore
from ggp.tournament.store import Run, Store, StoredMatch
from ggp.tournament.tables import Table, condition_text, ranking, rate_text, scores_between
from ggp.web.changes import changes
from ggp.web.match_view import state_view, trail

LINES_SHOWN = 15
"""Maximum number of rows of a table that is not folded."""

_STATIC = PACKAGE / "web" / "static"
_SCRIPTS = {"replay.js": ("page.js", "board.js", "log.js", "replay.js"), "filter.js": ("filter.js",)}
"""Scripts of the pages → the modules of the live page that they consist of."""
_MODULE_SYNTAX = re.compile(r"^import .*\n|^export ", re.MULTILINE)


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
    for match in matches:
        record = store.record(run, match.id)
        pages.note_faults(match, record)
        if match.game not in rules:
            rules[match.game] = rules_of(record)
        data = _match_data(Replay(record, rules[match.game]))
        _write(folder / pages.file_of(match), pages.match_page(match, data))
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
    goals: dict[Term, int | None] = dict(zip(map(Symbol, roles), replay.goals or (), strict=False))
    for number, (step, facts) in enumerate(zip(record.steps, states, strict=True)):
        is_over = number == len(states) - 1 and record.is_completed
        earlier = states[number - 1 :: -1] if number else ()
        deciding = deciding_facts(replay.program, facts, goals, earlier) if is_over else ()
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
    outcome = f"aborted: {record.fault}" if record.is_aborted else outcome_text(roles, replay.goals)
    return {"roles": roles, "steps": steps, "outcome": outcome}


class Pages:
    """The texts of the pages of a run.

    matches   in the order in which they were stored, so that their numbers stay as a run grows
    """

    def __init__(self, report: Report, matches: Sequence[StoredMatch]) -> None:
        self.report, self.matches = report, matches
        self._numbers = {match.id: number for number, match in enumerate(matches, start=1)}
        self._faults = {match.id: [match.fault] if match.fault else [] for match in matches}

    def note_faults(self, match: StoredMatch, record: MatchRecord) -> None:
        """Note the faults of the agents in a match, for the list of matches."""
        for agent in sorted({seat.agent for seat in match.seats if seat.agent}):
            if text := appearance(match, record, agent).fault_text:
                self._faults[match.id].append(f"{agent}: {text}")

    def file_of(self, match: StoredMatch) -> str:
        return f"match-{self._numbers[match.id]}.html"

    def index_page(self) -> str:
        """The crosstables, and the other tables of the report."""
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
        title = f"<h2>{escape(condition.name)}: {escape(condition_text(condition))}</h2>"
        cards = map(_card, self.report.condition_tables(condition.name))
        return [title, self._crosstable(condition.name), *cards]

    def _crosstable(self, condition: str) -> str:
        """Agents × agents: win rates in percent; each leads to the matches of the pair."""
        results = self.report.results
        agents, scores = ranking(results, condition), scores_between(results, condition)
        if not scores:
            return ""
        rows = []
        for place, a in enumerate(agents, start=1):
            cells = [_cell(place), f'<td><a href="matches.html#{quote(a)}">{escape(a)}</a></td>']
            cells += [_rate_cell(a, b, scores.get((a, b))) for b in agents]
            rows.append(f"<tr>{''.join(cells)}</tr>")
        heads = "<td></td><th>win rate %</th>"
        for place, agent in enumerate(agents, start=1):
            heads += f'<th class="place"><abbr title="{escape(agent)}">{place}</abbr></th>'
        return _table_card("Crosstable", heads, rows)

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
