// One match: the board, one's moves, what the search thinks, and the way back through the steps.
import { element, find, inkOf, request, showState } from "./page.js";

const id = location.pathname.split("/").pop();
const api = `/api/matches/${id}`;
const ROWS = 6;
const LISTED = 200; // moves listed at once
let about = { roles: [], seats: [] };
let live = null; // the last event `state`
let shown = null; // the step on the board; null: the last one
let clicks = []; // cells clicked for the move in the making
let best = null; // move of the hint
let hintWanted = false;
let isSlow = false; // an awaited agent has not reported for a while
let slowTimer = 0;
let thought = null; // the last event `think` of an analysis
const SLOW_MS = 4000;

const problem = (text) => { find("problem").textContent = text; };

async function ask(what, body = {}) {
  try {
    const answer = await request(`${api}/${what}`, body);
    problem("");
    return answer;
  } catch (error) {
    problem(error.message);
    return null;
  }
}

// --- moves ---

const isLive = () => shown === null || shown === live.step;
const fits = (move, cells) => cells.every((cell, index) => move.path[index]?.includes(cell));

function candidates() {
  const words = find("filter").value.trim().toLowerCase();
  return live.moves.filter((move) => fits(move, clicks) && move.text.toLowerCase().includes(words));
}

function click(cell) {
  if (!live || !isLive() || !live.moves.length) return;
  for (const next of [[...clicks, cell], [cell]]) {
    const found = live.moves.filter((move) => fits(move, next));
    if (!found.length) continue;
    if (found.length === 1 && (found[0].path.length === next.length || live.moves.length === 1)) return play(found[0].move);
    clicks = next.length === 2 && clicks[0] === cell ? [] : next;
    return showChoice();
  }
  clicks = [];
  showChoice();
}

async function play(move) {
  clicks = [];
  find("filter").value = "";
  await ask("play", { step: live.step, role: live.person, move });
}

function showChoice() {
  const moves = isLive() ? candidates() : [];
  const items = moves.slice(0, LISTED).map((move) =>
    element("li", {}, element("button", { type: "button", class: move.move === best ? "best" : "", onclick: () => play(move.move) }, move.text)));
  if (moves.length > LISTED) items.push(element("li", { class: "faint" }, `… and ${(moves.length - LISTED).toLocaleString("en")} more: filter them, or click on the board`));
  find("moves").replaceChildren(...items);
  const next = new Set(isLive() ? live.moves.filter((move) => fits(move, clicks)).flatMap((move) => move.path[clicks.length] ?? []) : []);
  const firsts = new Set(isLive() ? live.moves.flatMap((move) => move.path[0] ?? []) : []);
  const hinted = live.moves.find((move) => move.move === best)?.path.flat() ?? [];
  for (const cell of document.querySelectorAll("#state [data-cell]")) {
    const name = cell.dataset.cell;
    const can = next.has(name) || firsts.has(name);
    cell.classList.toggle("can", can);
    cell.classList.toggle("chosen", clicks.includes(name));
    cell.classList.toggle("hinted", isLive() && hinted.includes(name) && hinted.length < 5);
    cell.classList.toggle("next", next.has(name));
    if (can) { cell.setAttribute("tabindex", "0"); cell.setAttribute("role", "button"); }
    else { cell.removeAttribute("tabindex"); cell.setAttribute("role", "img"); }
  }
}

// --- the state on the board ---

function statusText() {
  if (!isLive()) return `Position after step ${shown} of ${live.step}`;
  if (live.fault) return `The rules are at fault: ${live.fault}`;
  if (live.note) return live.note;
  if (live.is_over) return `${live.outcome.charAt(0).toUpperCase()}${live.outcome.slice(1)}`;
  if (about.is_replay) return "The record ends here, before the game is over";
  if (live.person) return `${live.person}, it is your move`;
  if (live.waiting.length) return `${live.waiting.join(", ")} ${isSlow ? "gets ready (the first search compiles, for up to a minute) …" : "thinking …"}`;
  return "Waiting for the others …";
}

function showPosition(state) {
  const place = find("state");
  const focused = document.activeElement?.dataset?.cell;
  if (about.is_blind) place.replaceChildren(percepts());
  else showState(place, state, about.roles);
  find("status").textContent = statusText();
  find("step").max = live.step;
  find("step").value = shown ?? live.step;
  find("step-text").textContent = `${shown ?? live.step} of ${live.step}`;
  for (const name of ["first", "back"]) find(name).disabled = (shown ?? live.step) === 0;
  for (const name of ["forward", "last"]) find(name).disabled = isLive();
  showLog();
  showChart();
  showChoice();
  showValues();
  find("think").disabled = about.is_hidden || about.is_live || (live.is_over && isLive());
  history.replaceState(null, "", isLive() ? location.pathname : `#${shown}`);
  if (focused) place.querySelector(`[data-cell="${focused}"]`)?.focus();
}

function percepts() {
  const rows = live.percepts.map((seen, index) => element("li", {},
    element("strong", {}, live.history[index].find((move) => move !== null) ?? ""), " ",
    element("span", { class: "faint" }, `${about.own_role ? "sees" : "you see"}${seen.length ? `: ${seen.join("; ")}` : " nothing"}`)));
  const whose = about.own_role ? `${about.own_role} knows` : "you know";
  return element("div", { class: "card" }, element("h2", {}, `What ${whose}`),
    element("p", { class: "faint" }, "The rules hide the state: shown are own moves, and what was seen after each."), element("ol", {}, ...rows));
}

async function goTo(step) {
  step = Math.max(0, Math.min(live.step, step));
  clicks = [];
  if (step === live.step || about.is_blind) { shown = null; return showPosition(live); }
  const view = await ask("view", { step });
  if (view) { shown = step; showPosition(view); }
}

function showLog() {
  const log = find("log");
  const items = live.history.map((row, index) => {
    const told = row.filter((move) => move !== null && move !== "noop").join(" · ") || row.find((move) => move !== null) || "…";
    const here = (shown ?? live.step) === index + 1;
    return element("li", { class: here ? "here" : "" }, element("button", { type: "button", onclick: () => goTo(index + 1) }, told));
  });
  log.replaceChildren(...items);
  const here = log.querySelector(".here");
  if (here) log.scrollTop = here.offsetTop - log.offsetTop - log.clientHeight / 2;
}

// --- the search ---

function showThought(event) {
  const { report } = event;
  const value = report.goal ?? report.expectation;
  const at = event.step === live.step ? "" : `, step ${event.step}`;
  const whose = live.person === event.role && !at ? `Search for you (${event.role})` : `Search for ${event.role}${at}`;
  find("thought-title").textContent = event.is_yours ? whose : `Search of ${event.role}`;
  thought = event.is_yours ? event : null;
  showValues();
  find("bar-fill").style.transform = `scaleX(${(value ?? 0) / 100})`;
  find("bar-text").textContent = value === null ? "" : report.goal !== null ? `proven: ${value} for ${event.role}` : `${event.role} expects ${value.toFixed(0)} of 100`;
  find("bar").setAttribute("aria-valuenow", value ?? 0);
  const rows = report.moves.slice(0, ROWS).map((move) => element("tr", {},
    element("td", { title: move.move }, plain(move.move)), element("td", {}, move.visits.toLocaleString("en")),
    element("td", { class: move.goal !== null ? "proven" : "" }, move.goal !== null ? `= ${move.goal}` : move.mean.toFixed(1))));
  fillRows(rows);
  find("line").textContent = report.line.length ? `line: ${report.line.map((joint) => joint.filter((move) => move !== "noop").map(plain).join(" + ") || "noop").join(", ")}` : "";
  find("line").title = find("line").textContent;
  find("effort").textContent = report.playouts ? `${report.playouts.toLocaleString("en")} playouts, ${report.playouts_per_second.toLocaleString("en")} per second` : report.mode;
  if (event.is_yours && hintWanted && event.is_done) {
    hintWanted = false;
    best = event.move;
    showChoice();
  }
}

/** The values of an analysis, on the cells where the moves end. */
function showValues() {
  for (const old of document.querySelectorAll("#state .value")) old.remove();
  for (const old of document.querySelectorAll("#state .has-value")) old.classList.remove("has-value");
  if (!thought || !isLive() || thought.step !== live.step) return;
  const taken = new Set();
  for (const { move, mean, goal } of thought.report.moves.slice(0, ROWS)) {
    const path = live.moves.find((each) => each.move === move)?.path ?? [];
    const name = path.length && path.at(-1).length === 1 ? path.at(-1)[0] : "";
    const cell = name && !taken.has(name) && document.querySelector(`#state [data-cell="${CSS.escape(name)}"]`);
    if (!cell) continue;
    taken.add(name);
    const dot = cell.querySelector(".dot");
    const text = document.createElementNS("http://www.w3.org/2000/svg", "text");
    for (const [key, value] of Object.entries({ class: "value", x: dot.getAttribute("cx"), y: Number(dot.getAttribute("cy")) + 4 })) text.setAttribute(key, value);
    text.textContent = goal !== null ? `= ${goal}` : mean.toFixed(0);
    cell.classList.add("has-value");
    cell.append(text);
  }
}

const plain = (text) => text.startsWith("(") ? text.slice(1, -1) : text;

function fillRows(rows) {
  while (rows.length < ROWS) rows.push(element("tr", {}, element("td", {}, "\u00a0"), element("td", {}), element("td", {})));
  find("candidates").replaceChildren(...rows);
}

function showChart() {
  const values = live.values;
  const has = values.some((row) => row.some((value) => value !== null));
  find("chart-box").hidden = !has;
  if (!has) return;
  const width = Math.max(300, Math.min(640, find("chart").clientWidth)), height = 130, left = 28, bottom = 112, top = 8;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "expected goals of the roles over the steps");
  const x = (step) => left + (width - left - 90) * (values.length > 1 ? step / (values.length - 1) : 0);
  const y = (value) => bottom - (bottom - top) * value / 100;
  const draw = (tag, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    svg.append(node);
  };
  for (const value of [0, 50, 100]) {
    draw("line", { class: "axis", x1: left, x2: width - 90, y1: y(value), y2: y(value) });
    draw("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, String(value));
  }
  const at = (shown ?? live.step) - 1;
  if (at >= 0) draw("line", { class: "now", x1: x(at), x2: x(at), y1: top, y2: bottom });
  about.roles.forEach((role, index) => {
    const points = values.map((row, step) => [step, row[index]]).filter(([, value]) => value !== null && value !== undefined);
    if (!points.length) return;
    const series = `series-${inkOf(role, about.roles)}`;
    draw("path", { class: series, d: points.map(([step, value], place) => `${place ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("") });
    const [step, value] = points[points.length - 1];
    draw("circle", { class: series, cx: x(step), cy: y(value), r: 3 });
    draw("text", { class: series, x: width - 84, y: 20 + 16 * index }, `${role} ${value.toFixed(0)}`);
  });
  svg.addEventListener("click", (event) => {
    const place = (event.clientX - svg.getBoundingClientRect().left) * width / svg.clientWidth;
    goTo(1 + Math.round((place - left) / (width - left - 90) * Math.max(1, values.length - 1)));
  });
  find("chart").replaceChildren(svg);
}

// --- events ---

function watchAgents(event) {
  clearTimeout(slowTimer);
  isSlow = false;
  if (event.event === "state" && event.waiting.length) slowTimer = setTimeout(() => { isSlow = true; find("status").textContent = statusText(); }, SLOW_MS);
}

function receive(event) {
  watchAgents(event);
  if (event.event !== "failed") problem("");
  if (event.event === "state") {
    const wasLive = live === null || isLive();
    if (live?.step !== event.step) { best = null; clicks = []; thought = null; }
    const isFirst = live === null;
    live = event;
    const persons = about.seats.includes("person") && !about.is_replay;
    find("choice").hidden = !persons;
    find("steps").hidden = about.is_blind;
    find("undo").disabled = !event.can_undo;
    find("hint").disabled = !event.person || about.is_hidden;
    for (const name of ["save", "save-svg", "save-animation"]) find(name).disabled = about.is_blind;
    const linked = isFirst ? Number(location.hash.slice(1)) || live.step : live.step;
    if (wasLive) { shown = null; showPosition(event); } else showProgress();
    if (linked !== live.step) goTo(linked);
  } else if (event.event === "think") showThought(event);
  else if (event.event === "failed") problem(`${event.role}: ${event.text}`);
  else if (event.event === "gone") problem("The process of this match has ended: its rules took too much time or memory.");
}

/** The match goes on while an earlier position is on the board. */
function showProgress() {
  find("step").max = live.step;
  find("step-text").textContent = `${shown} of ${live.step}`;
  showLog();
}

function follow() {
  const source = new EventSource(`${api}/events`);
  source.onmessage = (message) => receive(JSON.parse(message.data));
  source.onerror = () => {
    problem("The connection is lost; trying again …");
    if (source.readyState === EventSource.CLOSED) problem("This match has ended. Choose a game again under Games; after a restart of the server, open the address that it prints.");
  };
}

function save(text, type, name) {
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

/** The board as a file that needs no stylesheet: what the page computed is written into it. */
function boardFile() {
  const board = document.querySelector("#state svg.board");
  if (!board) return null;
  const copy = board.cloneNode(true);
  const parts = [...board.querySelectorAll("*")];
  [...copy.querySelectorAll("*")].forEach((node, index) => {
    const style = getComputedStyle(parts[index]);
    for (const name of ["fill", "stroke", "stroke-width", "font-size", "font-weight", "display"]) node.setAttribute(name, style.getPropertyValue(name));
  });
  return new XMLSerializer().serializeToString(copy);
}

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select")) return;
  if (event.key === "Escape") { clicks = []; showChoice(); }
  const cell = event.target.closest?.("[data-cell]");
  if (cell && (event.key === "Enter" || event.key === " ")) { event.preventDefault(); click(cell.dataset.cell); return; }
  if (cell && event.key.startsWith("Arrow")) { event.preventDefault(); moveFocus(cell, event.key); return; }
  if (live && event.key === "ArrowLeft") goTo((shown ?? live.step) - 1);
  if (live && event.key === "ArrowRight") goTo((shown ?? live.step) + 1);
});

/** The nearest cell that can be chosen in the direction of an arrow key. */
function moveFocus(from, key) {
  const middle = (node) => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const [x, y] = middle(from);
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  let nearest = null, least = Infinity;
  for (const node of document.querySelectorAll("#state .can")) {
    const [nx, ny] = middle(node);
    const along = (nx - x) * dx + (ny - y) * dy;
    const aside = Math.abs((nx - x) * dy) + Math.abs((ny - y) * dx);
    if (along > 1 && along + 2 * aside < least) { nearest = node; least = along + 2 * aside; }
  }
  nearest?.focus();
}

// A drag begins where a move begins, and ends where one clicks second.
let pressed = null;
find("state").addEventListener("pointerdown", (event) => { pressed = event.target.closest("[data-cell]")?.dataset.cell ?? null; });
find("state").addEventListener("pointerup", (event) => {
  const target = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]")?.dataset.cell;
  if (!target) return;
  if (pressed && pressed !== target) click(pressed);
  click(target);
});
find("filter").addEventListener("input", showChoice);
find("filter").addEventListener("keydown", (event) => {
  const moves = candidates();
  if (event.key === "Enter" && moves.length === 1) play(moves[0].move);
});
find("undo").addEventListener("click", () => ask("undo"));
find("hint").addEventListener("click", () => { hintWanted = true; ask("think", { seconds: 1, step: live.step }); });
find("think").addEventListener("click", () => ask("think", { seconds: 10, step: shown ?? live.step }));
find("first").addEventListener("click", () => goTo(0));
find("back").addEventListener("click", () => goTo((shown ?? live.step) - 1));
find("forward").addEventListener("click", () => goTo((shown ?? live.step) + 1));
find("last").addEventListener("click", () => goTo(live.step));
find("step").addEventListener("input", (event) => goTo(Number(event.target.value)));
find("save").addEventListener("click", async () => {
  const text = await ask("record");
  if (text) save(text, "application/json", `${about.name}.json`);
});
find("save-animation").addEventListener("click", async () => {
  const text = await ask("animation");
  if (text) save(text, "image/svg+xml", `${about.name}-match.svg`);
});
find("save-svg").addEventListener("click", () => {
  const text = boardFile();
  if (text) save(text, "image/svg+xml", `${about.name}.svg`);
});

try {
  about = await request(api);
  document.title = about.name;
  find("title").textContent = about.name;
  find("seats").textContent = about.roles.map((role, index) => about.seats[index] ? `${role}: ${about.seats[index]}` : role).join(" · ");
  fillRows([]);
  if (about.is_live ? !about.own_role : about.is_blind) find("thought").hidden = true;
  find("think").hidden = about.is_live || about.is_hidden;
  if (about.is_live) find("nav").replaceChildren(element("a", { href: "/" }, "Matches"));
  follow();
} catch (error) {
  find("status").textContent = error.status === 404 ? "This match has ended." : error.message;
  problem("Choose a game again under Games; after a restart of the server, open the address that it prints.");
}
