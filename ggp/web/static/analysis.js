// What a search thinks of a position, in words: chances, tries, the best line, and numbers on the board.
import { capital, colorOf, element, find } from "./page.js";
import { termsOf } from "./variants.js";

const ROWS = 6;
const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 2 });
const SVG = "http://www.w3.org/2000/svg";

export const players = (about) => about.roles.filter((role) => role !== "random");

/** "51 %" of a win, or points where no one else plays. */
export const chance = (value, about) => players(about).length > 1 ? `${value.toFixed(0)} %` : `${value.toFixed(0)} of 100`;

const CERTAIN = { 100: "wins", 50: "draws", 0: "loses" };

/** What is proven, for one role: "White wins for certain". */
export function certainty(role, goal, about) {
  const verb = players(about).length > 1 && CERTAIN[goal];
  return `${capital(role)} ${verb || `gets ${goal} of 100`} for certain`;
}

/** The opinion of a report in one sentence. */
export function opinion({ role, report }, about) {
  const value = report.goal ?? report.expectation;
  if (value === null) return "";
  if (report.goal !== null) return certainty(role, report.goal, about);
  return players(about).length > 1 ? `${capital(role)}'s chances ${chance(value, about)}` : `${capital(role)} can expect ${chance(value, about)}`;
}

/** How many games stand behind the numbers, those kept from the search before included; nothing where they do not count. */
export function effort(report) {
  if (report.goal !== null) return "Proven: no move does better.";
  const count = Math.max(report.playouts, report.moves.reduce((sum, move) => sum + move.visits, 0));
  return count ? `${count.toLocaleString("en")} game${count === 1 ? "" : "s"} simulated` : "";
}

/** Fills the table of openings: what the search found; `hint` stands in an empty one; `count`: of legal moves; `open(move)` goes on to a move, `point(move)`: listeners. */
export function showTable({ event, about, hint, count = 0, open, point }) {
  const moves = event?.report.moves ?? [];
  const rows = moves.map((move) => {
    const goal = move.goal ?? (event?.report.goal === 0 ? 0 : null); // in a lost position every move loses
    const text = goal === null ? move.visits ? chance(move.mean, about) : "–" : (players(about).length > 1 && CERTAIN[goal]) || `= ${goal}`;
    const name = element("button", { type: "button", class: "plain", title: open ? `${move.move}: see the position after it` : move.move, disabled: !open, onclick: () => open(move.move), ...point(move.move) }, move.text);
    return element("tr", {}, element("td", {}, name), element("td", { title: goal === null ? move.visits.toLocaleString("en") : "" }, goal === null ? SHORT.format(move.visits) : ""),
      element("td", { class: goal === null ? "" : goal === 0 ? "proven lost" : "proven" }, text));
  });
  const left = moves.length ? count - moves.length : 0;
  if (left > 0) rows.push(element("tr", {}, element("td", { colspan: 3, class: "faint" }, `${left} other move${left === 1 ? "" : "s"}: ${event?.report.goal === 0 ? "all lose" : event?.report.goal == null ? "tried less" : "not looked at"}`)));
  if (hint && !moves.length) rows.push(element("tr", {}, element("td", { colspan: 3, class: "faint" }, hint)));
  while (rows.length < ROWS) rows.push(element("tr", {}, element("td", {}, "\u00a0"), element("td"), element("td")));
  find("candidates").replaceChildren(...rows);
}

/** The line on the board after the match: a way back, and a button for each of its moves; `nodes`: of the tree of variants. */
export function showPath(nodes, { back, open }) {
  const steps = nodes.map((node, index) => element("button", { type: "button", class: "plain", title: termsOf(node), "aria-current": index === nodes.length - 1 ? "step" : null, onclick: () => open(node) }, node.text));
  find("path").replaceChildren(...(nodes.length ? [element("button", { type: "button", class: "plain", "aria-label": "back in the line", onclick: back }, "‹ back"), ...steps]
    : [element("span", { class: "faint" }, "Click a move to go on")]));
  find("path").scrollLeft = find("path").scrollWidth;
}

/** The bar beside the board: how much of it belongs to the first player. */
export function showBar(event, about) {
  const [first, second] = players(about);
  const bar = find("bar"), value = event && (event.report.goal ?? event.report.expectation);
  bar.style.setProperty("--first", colorOf(first, about.roles));
  bar.style.setProperty("--second", colorOf(second, about.roles));
  bar.setAttribute("aria-label", `${first}'s chances`);
  if (value === null || value === undefined) return; // what was known last stays
  bar.classList.remove("none");
  const share = event.role === first || players(about).length !== 2 ? value : 100 - value;
  find("bar-fill").style.transform = `scaleY(${share / 100})`;
  bar.setAttribute("aria-valuenow", share);
  bar.title = opinion(event, about);
}

/** The chances of the moves, on the cells where they end. `moves`: those of the board, with their clicks. */
export function showValues(event, moves) {
  for (const old of document.querySelectorAll("#state .value, #state .value-back")) old.remove();
  for (const old of document.querySelectorAll("#state .has-value")) old.classList.remove("has-value");
  const taken = new Set();
  for (const { move, mean, goal: known } of event?.report.moves ?? []) {
    const goal = known ?? (event.report.goal === 0 ? 0 : null);
    const path = moves.find((each) => each.move === move)?.path ?? [];
    const name = path.length && path.at(-1).length === 1 ? path.at(-1)[0] : "";
    const cell = name && !taken.has(name) && document.querySelector(`#state [data-cell="${CSS.escape(name)}"]`);
    const dot = cell && cell.querySelector(".dot");
    if (!dot) continue;
    taken.add(name);
    const x = Number(dot.getAttribute("cx")), y = Number(dot.getAttribute("cy"));
    const text = goal === null ? mean.toFixed(0) : { 100: "win", 50: "draw", 0: "loss" }[goal] ?? `= ${goal}`;
    const width = 8 + 7 * text.length;
    const draw = (tag, attributes) => {
      const node = document.createElementNS(SVG, tag);
      for (const [key, given] of Object.entries(attributes)) node.setAttribute(key, given);
      cell.append(node);
      return node;
    };
    draw("rect", { class: "value-back", x: x - width / 2, y: y - 9, width, height: 18, rx: 5 });
    draw("text", { class: "value", x, y: y + 4 }).textContent = text;
    cell.classList.add("has-value");
  }
}
