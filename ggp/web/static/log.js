// The moves made: a column for every player, a row for every round.
import { pathOf, showArrow } from "./board.js";
import { colorOf, element, find, inkOf } from "./page.js";

const WAITS = "waits"; // the text of a move that does nothing

/** Steps by rounds, in lists of { step, place, text }, and the roles in the order in which they moved first; a round ends before a role moves again. */
function rounds(history) {
  const rows = [], order = [];
  history.forEach((row, index) => {
    const shown = row.map((text, place) => ({ step: index + 1, place, text })).filter(({ text }) => text !== null && text !== WAITS);
    if (!shown.length) return;
    order.push(...shown.map(({ place }) => place).filter((place) => !order.includes(place)));
    const last = rows.at(-1), rank = ({ place }) => order.indexOf(place);
    if (!last || shown.some((move) => rank(move) <= rank(last.at(-1)))) rows.push(shown);
    else last.push(...shown);
  });
  return { rows, order };
}

/** Listeners of an entry for a move: under the pointer or in focus it shows where the move goes. */
export function pointing(path) {
  const point = (shown) => () => showArrow(document.querySelector("#state svg.board"), shown);
  return { onpointerenter: point(path), onpointerleave: point(null), onfocus: point(path), onblur: point(null) };
}

/** Draws the list of `match`. `first`: the role to move, if no move was made; `noteAt(step, place)`: a text beside a move with a title, if any; `open(step)` follows a click. */
export function showMoves({ match, roles, first, at, noteAt, open }) {
  const log = find("log");
  const { rows, order } = rounds(match.history);
  if (!order.length && roles.includes(first)) order.push(roles.indexOf(first));
  const players = roles.map((_, place) => place).filter((place) => roles[place] !== "random");
  const shown = [...order, ...players.filter((place) => players.length < 3 && !order.includes(place))];
  const box = log.parentNode;
  const name = (place) => roles[place] === "random" ? "chance" : roles[place];
  const inColor = (node, place) => { node.style.setProperty("--own", colorOf(roles[place], roles)); return node; };
  box.querySelector(".log-head")?.remove();
  log.before(element("div", { class: "log-head", "aria-hidden": "true" }, element("span", { class: "number" }),
    ...shown.map((place) => inColor(element("span", { class: `by-${inkOf(roles[place], roles)}` }, name(place)), place))));
  for (const node of [log, log.previousSibling]) node.style.setProperty("--columns", shown.length);
  log.replaceChildren(...rows.map((row, number) => element("li", {}, element("span", { class: "number" }, String(number + 1)),
    ...shown.map((place) => cellOf(row.filter((move) => move.place === place)[0], place)))));

  function cellOf(move, place) {
    if (!move) return element("span");
    const note = noteAt(move.step, place);
    const button = element("button", {
      type: "button", title: match.terms[move.step - 1][place] ?? "", "data-step": move.step, class: `by-${inkOf(roles[place], roles)}${move.step === at ? " here" : ""}`,
      "aria-current": move.step === at ? "step" : null, onclick: () => open(move.step), ...pointing(pathOf(match.trails[move.step - 1][place] ?? "")),
    }, move.text);
    return element("span", {}, inColor(button, place), note ? element("span", { class: note.kind ?? "lost", title: note.title }, note.text) : "");
  }
  const here = log.querySelector(".here");
  if (here) log.scrollTop = here.offsetTop - log.offsetTop - log.clientHeight / 2;
}
