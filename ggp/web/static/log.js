// The moves made: a column for every player, a row for every round.
import { element, find, inkOf } from "./page.js";

const WAITS = "waits"; // the text of a move that does nothing

/** Steps by rounds: lists of { step, place, text }; a round ends before a role moves again. */
export function rounds(history) {
  const rows = [];
  history.forEach((row, index) => {
    const known = row.map((text, place) => ({ step: index + 1, place, text })).filter(({ text }) => text !== null);
    const shown = known.filter(({ text }) => text !== WAITS);
    if (!shown.length) return;
    const last = rows.at(-1);
    if (!last || shown.some(({ place }) => place <= last.at(-1).place)) rows.push(shown);
    else last.push(...shown);
  });
  return rows;
}

/** Draws the list. `lostAt(step)`: points that a move cost, `open(step)` follows a click, `point(step, place)` a pointer. */
export function showMoves({ live, roles, at, lostAt, open, point }) {
  const log = find("log");
  const rows = rounds(live.history);
  const places = roles.map((_, place) => place).filter((place) => rows.some((row) => row.some((move) => move.place === place)));
  const shown = places.length ? places : roles.map((_, place) => place).slice(0, 2);
  const box = log.parentNode;
  const name = (place) => roles[place] === "random" ? "chance" : roles[place];
  box.querySelector(".log-head")?.remove();
  log.before(element("div", { class: "log-head", "aria-hidden": "true" }, element("span", { class: "number" }),
    ...shown.map((place) => element("span", { class: `by-${inkOf(roles[place], roles)}` }, name(place)))));
  for (const node of [log, log.previousSibling]) node.style.setProperty("--columns", shown.length);
  log.replaceChildren(...rows.map((row, number) => element("li", {}, element("span", { class: "number" }, String(number + 1)),
    ...shown.map((place) => cellOf(row.filter((move) => move.place === place)[0], place)))));

  function cellOf(move, place) {
    if (!move) return element("span");
    const lost = lostAt(move.step - 1);
    const button = element("button", {
      type: "button", title: live.terms[move.step - 1][place] ?? "", "data-step": move.step, class: `by-${inkOf(roles[place], roles)}${move.step === at ? " here" : ""}`,
      "aria-current": move.step === at ? "step" : null, onclick: () => open(move.step),
      onpointerenter: () => point(move.step, place), onpointerleave: () => point(null), onfocus: () => point(move.step, place), onblur: () => point(null),
    }, move.text);
    return element("span", {}, button, lost ? element("span", { class: "lost", title: `cost ${lost.toFixed(0)} expected points` }, `−${lost.toFixed(0)}`) : "");
  }
  const here = log.querySelector(".here");
  if (here) log.scrollTop = here.offsetTop - log.offsetTop - log.clientHeight / 2;
}
