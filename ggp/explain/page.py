"""An explanation as one HTML page without other files: the tree, its steps by keys, and the numbers."""

from __future__ import annotations

import json
from base64 import b64encode
from hashlib import sha256
from html import escape
from typing import Any

from ggp.explain.bare_trees import read_tree
from ggp.explain.explanation import MARKS, Explanation, Table, count_text
from ggp.explain.picture import STYLE as TREE_STYLE
from ggp.explain.picture import tree_svg
from ggp.explain.searches import explain
from ggp.explain.writing import writing_of
from ggp.game import Game

STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --faint: #5c6670; --paper: #f3f4f2; --accent: #0b5cad;
  --rule: #c9cfd5; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e7eb; --faint: #a3adb8; --paper: #14171c; --accent: #7db4f2; --rule: #3a4150; }
}
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 1rem; }
h1 { font-size: 1.2rem; margin: 0 0 .5rem; } h2 { font-size: 1rem; margin: 1rem 0 .3rem; }
.bar { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
button { font: inherit; color: inherit; background: transparent; border: 1px solid var(--faint);
  border-radius: 6px; padding: .2rem .7rem; min-width: 2.6rem; cursor: pointer; }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
#now { min-height: 1.5em; font-weight: 600; margin: .6rem 0; }
#frame { overflow: auto; max-height: 70vh; border: 1px solid var(--rule); border-radius: 8px; }
#frame svg { display: block; margin: auto; } #frame.fit svg { max-width: 100%; height: auto; }
[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }
.columns { display: grid; grid-template-columns: minmax(0, 3fr) minmax(14rem, 2fr); gap: 0 2rem; }
#position { margin: 1rem 0; font: 14px/1.2 ui-monospace, monospace; } #position:empty { display: none; }
summary { cursor: pointer; } summary h2 { display: inline-block; }
#verdict { font-size: 1.1rem; margin: .3rem 0 .7rem; }
#steps { max-height: 24rem; overflow: auto; padding-left: 3.2rem; margin: 0; color: var(--faint); }
#steps li { cursor: pointer; } #steps li[aria-current] { color: var(--ink); font-weight: 600; }
table { border-collapse: collapse; margin: .2rem 0 .8rem; } caption { text-align: left; font-weight: 600; }
th, td { padding: .1rem .9rem .1rem 0; text-align: right; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; }
td:not(:last-child) { white-space: nowrap; }
.faint { color: var(--faint); } kbd { border: 1px solid var(--rule); border-radius: 4px; padding: 0 .3em; }
@media (max-width: 45rem) {
  .columns { grid-template-columns: minmax(0, 1fr); }
  table { font-size: 13px; } th, td { padding-right: .5rem; } td:first-child { white-space: normal; }
}
#numbers { overflow-x: auto; }
"""

SCRIPT = """
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const list = document.getElementById("steps"), frame = document.getElementById("frame");
const fit = document.getElementById("fit");
const buttons = Object.fromEntries([...document.querySelectorAll("[data-go]")].map(b => [b.dataset.go, b]));
const names = ["value", "window", "note", "marks"];
let step = data.steps.length;
function show(node, look) {
  const group = document.getElementById("n" + node);
  group.setAttribute("class", "node " + look[0] + (look[3] ? " struck" : ""));
  names.forEach((name, i) => {
    group.querySelector("." + name).textContent = look[i + 1] || (i ? "" : data.given[node]);
  });
}
function tables(all) {
  const box = document.getElementById("tables");
  box.replaceChildren(...all.map(([title, head, rows]) => {
    const table = document.createElement("table");
    table.createCaption().textContent = title;
    const top = table.createTHead().insertRow();
    head.forEach(text => {
      const cell = document.createElement("th");
      cell.scope = "col"; cell.textContent = text; top.append(cell);
    });
    const body = table.createTBody();
    rows.forEach(row => {
      const line = body.insertRow();
      row.forEach(text => { line.insertCell().textContent = text; });
    });
    return table;
  }));
}
function go(to) {
  const last = data.steps.length;
  to = Math.max(0, Math.min(last, to));
  const looks = new Map();
  if (to < step) for (let i = 0; i < data.given.length; i++) looks.set(i, ["new", "", "", "", ""]);
  for (let i = to < step ? 0 : step; i < to; i++)
    for (const [node, look] of Object.entries(data.steps[i].looks)) looks.set(Number(node), look);
  document.querySelectorAll(".node.now, .node.best").forEach(each => each.classList.remove("now", "best"));
  looks.forEach((look, node) => show(node, look));
  step = to;
  const here = to ? data.steps[to - 1] : null;
  if (here && to < last) document.getElementById("n" + here.node).classList.add("now");
  if (to === last) data.line.forEach(node => document.getElementById("n" + node).classList.add("best"));
  document.getElementById("now").textContent = here ? here.text : "Before the search";
  const counts = here ? ", " + here.counts : "";
  document.getElementById("counts").textContent = "step " + to + " of " + last + counts;
  tables(here ? here.tables : []);
  document.getElementById("position").textContent = data.positions[here ? here.node : 0] || "";
  buttons.first.disabled = buttons.back.disabled = to === 0;
  buttons.next.disabled = buttons.last.disabled = to === last;
  list.querySelectorAll("[aria-current]").forEach(each => each.removeAttribute("aria-current"));
  if (here) {
    const line = list.children[to - 1];
    line.setAttribute("aria-current", "step");
    list.scrollTop = line.offsetTop - list.offsetTop - list.clientHeight / 2;
  }
  const box = document.querySelector("#n" + (here ? here.node : 0) + " .shape").getBoundingClientRect();
  const view = frame.getBoundingClientRect();
  const x = box.left - view.left, y = box.top - view.top;
  if (x < 0 || x > view.width - 40) frame.scrollLeft += x - view.width / 2;
  if (y < 0 || y > view.height - 40) frame.scrollTop += y - view.height / 2;
}
const moves = {first: () => 0, back: () => step - 1, next: () => step + 1, last: () => data.steps.length};
const keys = {ArrowRight: moves.next, ArrowLeft: moves.back, Home: moves.first, End: moves.last,
  PageDown: () => step + 10, PageUp: () => step - 10};
for (const name in moves) buttons[name].addEventListener("click", () => go(moves[name]()));
list.addEventListener("click", event => {
  const line = event.target.closest("li");
  if (line) go([...list.children].indexOf(line) + 1);
});
fit.addEventListener("click", () => {
  const is = frame.classList.toggle("fit");
  fit.setAttribute("aria-pressed", is);
});
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
  event.preventDefault();
  go(keys[event.key]());
});
document.querySelector(".bar").hidden = false;
go(0);
"""


def _hashes(*texts: str) -> str:
    return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)


POLICY = (
    f"default-src 'none'; script-src {_hashes(SCRIPT)}; style-src {_hashes(STYLE, TREE_STYLE)}; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
"""Content security policy for a server of such pages: nothing but their own script and styles, no origin."""


def page_of(found: Explanation, verdict: str = "") -> str:
    """A self-contained page; without JavaScript it shows the end of the search and all steps as text.

    verdict   a sentence that comes first; the list of steps is folded then

    >>> page_of(explain("[[3,9],[2,4]]")).startswith("<!doctype html>")
    True
    """
    data = {
        "positions": found.positions,
        "given": [node.given for node in found.nodes],
        "line": found.line,
        "steps": [
            {
                "text": step.text,
                "node": step.node,
                "looks": step.looks,
                "counts": count_text(step.counts),
                "tables": step.tables,
            }
            for step in found.steps
        ],
    }
    # In a script "</script" ends the data early, and "<!--<script" keeps it open beyond its end.
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    marks = {mark for step in found.steps for look in step.looks.values() for mark in look.marks}
    legend = "".join(f"<li><b>{mark}</b> {each}</li>" for mark, each in MARKS.items() if mark in marks)
    terms = [f' title="{escape(term)}"' * bool(term) for term in terms_of(found)]
    steps = "".join(f"<li{terms[step.node]}>{escape(step.text)}</li>" for step in found.steps)
    compared = "" if found.comparison is None else table_html(found.comparison)
    tree = tree_svg(found, found.looks(), now=-1, line=found.line)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(found.title)}</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>{STYLE}</style></head><body><main>
<h1>{escape(found.title)}</h1>
{f'<p id="verdict">{escape(verdict)}</p>' if verdict else ""}
<div class="bar" hidden>
<button data-go="first" aria-label="First step">«</button>
<button data-go="back" aria-label="Step back">‹</button>
<button data-go="next" aria-label="Next step">›</button>
<button data-go="last" aria-label="Last step">»</button>
<button id="fit" aria-pressed="false">Fit width</button>
<span id="counts"></span>
<span class="faint">Keys: <kbd>←</kbd> <kbd>→</kbd> a step, <kbd>PgUp</kbd> <kbd>PgDn</kbd> ten,
<kbd>Home</kbd> <kbd>End</kbd></span></div>
<p id="now" role="status"></p>
<div id="frame" tabindex="0" role="region" aria-label="Search tree">
{tree}</div>
<div class="columns"><section aria-label="Steps">
<details{"" if verdict else " open"}><summary><h2>Steps</h2></summary>
<ol id="steps" tabindex="0" aria-label="All steps">{steps}</ol></details></section>
<section id="numbers" tabindex="0" aria-label="Numbers"><pre id="position"></pre>
<div id="tables"></div><h2>Result</h2>
<ul>{"".join(f"<li>{escape(line)}</li>" for line in found.summary)}</ul>
{compared}<p class="faint">Nodes are positions that were expanded, leaves those that were evaluated.</p>
<ul class="faint">{legend}</ul></section></div></main>
<script type="application/json" id="data">{text}</script>
<script>{SCRIPT}</script></body></html>
"""


def explain_page(game: Game[Any] | str, by: str = "alphabeta", **settings: Any) -> str:
    """The page of a search, with moves as on the board; arguments and errors as of `searches.explain`.

    >>> "root is 3" in explain_page("[[3,9],[2,4]]", "pvs")
    True
    """
    known = read_tree(game) if isinstance(game, str) else game
    return page_of(explain(writing_of(known, "short"), by, **settings))


def terms_of(found: Explanation) -> list[str]:
    """The moves from the root to each node in KIF, if they are written in another notation."""
    terms: list[str] = []
    for node in found.nodes:  # parents come before their children
        above = terms[node.parent] if node.parent >= 0 else ""
        terms.append(" ".join(filter(None, (above, node.term))))
    return terms


def table_html(table: Table) -> str:
    """A table with its title as caption."""
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.head)
    rows = "".join(f"<tr>{''.join(f'<td>{escape(c)}</td>' for c in row)}</tr>" for row in table.rows)
    return (
        f"<table><caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>\n"
    )
