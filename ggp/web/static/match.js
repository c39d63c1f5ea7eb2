// One match: the board, one's moves, what the search thinks, and the way back through the steps.
import { element, find, inkOf, merged, request, showState } from "./page.js";

const id = location.pathname.split("/").pop();
const api = `/api/matches/${id}`;
const ROWS = 6;
const LISTED = 200; // moves listed at once
let about = { roles: [], seats: [] };
let state = {}; // the last state as the server describes it
let live = null; // the same, with moves as objects
let shown = null; // the step on the board; null: the last one
let clicks = []; // cells clicked for the move in the making
let best = null; // move of the hint
let hintWanted = false;
let isSlow = false; // an awaited agent has not reported for a while
let slowTimer = 0;
let thought = null; // the last event `think` of an analysis
let review = null; // what searches expected at every choice: entries, number of steps
const SLOW_MS = 4000;

const problem = (text) => { find("problem").textContent = text; };

async function ask(what, body = {}) {
  try {
    const answer = await request(`${api}/${what}`, body);
    problem("");
    return answer;
  } catch (error) {
    if (error.status === 404 || error.status === 410) end(error.message);
    else problem(error.message);
    return null;
  }
}

// --- moves ---

const isLive = () => shown === null || shown === live.step;
const plain = (text) => text.startsWith("(") ? text.slice(1, -1) : text;
const WAITS = "waits"; // the text of a move that does nothing
/** What distinguishes a typed move: no dashes, signs or letter case. */
const typed = (text) => plain(text.trim().toLowerCase()).replace(/ ?[–—×-] ?/g, "-").replace(/(\d)x(?=[a-z]?\d)/g, "$1-");
const pathOf = (text) => text ? text.split(";").map((cells) => cells.split("|")) : [];
const persons = () => about.is_replay ? [] : about.roles.filter((role, index) => about.seats[index] === "person");
const fits = (move, cells) => cells.every((cell, index) => move.path[index]?.includes(cell));

function candidates() {
  const words = typed(find("filter").value);
  const found = live.moves.filter((move) => fits(move, clicks) && (typed(move.text).includes(words) || plain(move.move).includes(words)));
  const exact = found.filter((move) => [typed(move.text), plain(move.move)].includes(words));
  return exact.length === 1 ? exact : found;
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
    element("li", {}, element("button", { type: "button", class: move.move === best ? "best" : "", title: move.move, onclick: () => play(move.move) }, move.text)));
  if (moves.length > LISTED) items.push(element("li", { class: "faint" }, `… and ${(moves.length - LISTED).toLocaleString("en")} more: filter them, or click on the board`));
  find("moves").replaceChildren(...items);
  const clickable = isLive() ? live.moves.filter((move) => fits(move, clicks)).map((move) => move.path[clicks.length] ?? []) : [];
  const next = new Set(clickable.flat());
  const single = new Set(clickable.filter((cells) => cells.length === 1).flat()); // others are columns to drop into
  const firsts = new Set(isLive() ? live.moves.flatMap((move) => move.path[0] ?? []) : []);
  const entry = reviewed();
  const hinted = entry ? pathOf(entry.best_path).flat() : isLive() ? live.moves.find((move) => move.move === best)?.path.flat() ?? [] : [];
  const played = entry ? pathOf(entry.played_path).flat() : [];
  for (const cell of document.querySelectorAll("#state [data-cell]")) {
    const name = cell.dataset.cell;
    const can = next.has(name) || firsts.has(name);
    cell.classList.toggle("can", can);
    cell.classList.toggle("chosen", clicks.includes(name));
    cell.classList.toggle("hinted", hinted.includes(name));
    cell.classList.toggle("played", played.includes(name));
    cell.classList.toggle("next", single.has(name) || (next.has(name) && !cell.classList.contains("full")));
    if (can) { cell.setAttribute("tabindex", "0"); cell.setAttribute("role", "button"); }
    else { cell.removeAttribute("tabindex"); cell.setAttribute("role", "img"); }
  }
  find("how").textContent = howText(next, moves, entry);
  find("how").classList.toggle("idle", !persons().length && !review);
}

/** How to move, or what the colors of a reviewed position mean. */
function howText(next, moves, entry) {
  if (entry && entry.best !== entry.played) return `${entry.role} played ${entry.played_text} (red); the search prefers ${entry.best_text} (green).`;
  if (entry) return `${entry.role} played ${entry.played_text}, as the search would.`;
  if (!isLive() || !live.person || !live.moves.length) return "";
  if (clicks.length) return next.size ? "Now click the destination, or choose under Your moves. Escape cancels." : `${moves.length} moves end here: choose one under Your moves.`;
  return next.size ? "Click a marked place on the board, or choose under Your moves." : "Choose under Your moves.";
}

// --- the state on the board ---

function statusText() {
  if (!isLive()) return `Position after step ${shown} of ${live.step}`;
  if (live.fault) return `The rules are at fault: ${live.fault}`;
  if (live.note) return live.note;
  if (live.is_over) return outcomeText();
  if (about.is_replay) return "The record ends here, before the game is over";
  if (live.person) return `${live.person}, it is your move`;
  if (live.waiting.length) return `${live.waiting.join(", ")} ${isSlow ? "gets ready (the first search compiles, for up to a minute) …" : "thinking …"}`;
  return "Waiting for the other players …";
}

/** The result; for a single person: whether they won. */
function outcomeText() {
  const text = `${live.outcome.charAt(0).toUpperCase()}${live.outcome.slice(1)}`;
  const own = persons();
  const others = (live.goals ?? []).filter((goal, index) => about.roles[index] !== own[0] && about.roles[index] !== "random" && goal !== null);
  const mine = live.goals?.[about.roles.indexOf(own[0])];
  if (own.length !== 1 || !others.length || mine == null || mine === Math.max(...others)) return text;
  return `${mine > Math.max(...others) ? "You win" : "You lose"}: ${live.outcome}`;
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
    element("p", { class: "faint" }, "You cannot see everything. These are the moves made and the percepts after each."), element("ol", {}, ...rows));
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
    const told = row.filter((move) => move !== null && move !== WAITS).join(" · ") || row.find((move) => move !== null) || "…";
    const here = (shown ?? live.step) === index + 1;
    const lost = lostAt(index);
    return element("li", { class: here ? "here" : "" }, element("button", { type: "button", title: live.terms[index].filter((move) => move !== null).join(" "), onclick: () => goTo(index + 1) }, told),
      lost ? element("span", { class: "lost", title: `cost ${lost.toFixed(0)} expected points` }, `−${lost.toFixed(0)}`) : "");
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
    element("td", { title: move.move }, move.text), element("td", {}, move.visits.toLocaleString("en")),
    element("td", { class: move.goal !== null ? "proven" : "" }, move.goal !== null ? `= ${move.goal}` : move.mean.toFixed(1))));
  fillRows(rows);
  find("line").textContent = report.line.length ? `line: ${report.line.map((joint) => joint.filter((move) => move !== WAITS).join(" + ") || WAITS).join(", ")}` : "";
  find("line").title = report.line_terms.map((joint) => joint.filter((move) => move !== "noop").join(" + ")).join(", ");
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

function fillRows(rows) {
  while (rows.length < ROWS) rows.push(element("tr", {}, element("td", {}, "\u00a0"), element("td", {}), element("td", {})));
  find("candidates").replaceChildren(...rows);
}

// --- who was ahead: what searches expected, and the review of a match that is over ---

const LOSS = 10; // expected points that a move must cost to be called a mistake

/** The entry of the review for the position on the board. */
const reviewed = () => shown === null ? null : review?.entries.find((entry) => entry.step === shown) ?? null;

/** Moves that lowered their role's expectation although the search prefers another; the costliest first. */
function mistakes() {
  const found = [];
  for (const [index, role] of about.roles.entries()) {
    const own = (review?.entries ?? []).filter((entry) => entry.role === role && entry.value !== null);
    own.forEach((entry, place) => {
      const after = own[place + 1]?.value ?? (live.is_over ? live.goals?.[index] : null) ?? null;
      if (after !== null && entry.best !== entry.played && entry.value - after >= LOSS) found.push({ ...entry, after, lost: entry.value - after });
    });
  }
  return found.sort((one, other) => other.lost - one.lost);
}

const lostAt = (step) => mistakes().find((each) => each.step === step)?.lost ?? 0;

function showMistakes() {
  const own = persons();
  const mine = mistakes().filter((each) => own.length !== 1 || each.role === own[0]).slice(0, 4);
  const items = mine.map((each) => element("li", {},
    element("button", { type: "button", onclick: () => goTo(each.step) }, `Move ${each.step + 1}, ${each.played_text}`),
    ` took ${each.role} from ${each.value.toFixed(0)} to ${each.after.toFixed(0)}; the search prefers ${each.best_text}.`));
  const first = review?.entries.find((entry) => own.length !== 1 || entry.role === own[0]);
  if (review?.is_done && !items.length && first) {
    items.push(element("li", {}, `No single move lost more than ${LOSS} points. At the start the search expects ${(first.value ?? 50).toFixed(0)} of 100 for ${first.role}.`));
  }
  find("mistakes").replaceChildren(...items);
}

function showReview() {
  const can = !about.is_hidden && !about.is_live && live.step > 0 && (live.is_over || about.is_replay);
  const isRunning = Boolean(review?.isRunning);
  find("review").hidden = !can || Boolean(review?.is_done);
  find("review").disabled = isRunning;
  const last = review?.entries.at(-1);
  find("review-text").textContent = isRunning && last ? `position ${last.step + 1} of ${review.of}` : isRunning ? "the search gets ready …" : "";
  find("chart-help").textContent = review?.is_done ? "Expected goals at every choice. Click the chart or a move to see the position."
    : can ? "The review searches every position, and shows which moves lost ground." : "What the searches expected; 100 is a win. Click the chart to see the position.";
  showMistakes();
}

/** What is known of each role's expectation: lists of [position, value], the result last. */
function series() {
  const lists = about.roles.map((role, index) => {
    const known = new Map(live.values.map((row, step) => [step, row[index]]).filter(([, value]) => value !== null && value !== undefined));
    for (const entry of review?.entries ?? []) if (entry.role === role && entry.value !== null) known.set(entry.step, entry.value);
    return [...known].sort(([one], [other]) => one - other);
  });
  return lists.map((list, index) => list.length && live.is_over && live.goals?.[index] != null ? [...list, [live.step, live.goals[index]]] : list);
}

function showChart() {
  const lists = series();
  const has = lists.some((list) => list.length);
  find("chart-box").hidden = about.is_blind || (!has && !(live.step > 0 && !about.is_hidden && (live.is_over || about.is_replay)));
  showReview();
  if (!has) { find("chart").replaceChildren(); return; }
  const width = Math.max(280, Math.min(640, find("chart").clientWidth)), height = 150, left = 28, right = 84, bottom = 128, top = 10;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "expected goals of the roles over the steps");
  const x = (step) => left + (width - left - right) * step / Math.max(1, live.step);
  const y = (value) => bottom - (bottom - top) * value / 100;
  const draw = (tag, attributes, text) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    svg.append(node);
  };
  for (const value of [0, 50, 100]) {
    draw("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) });
    draw("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, String(value));
  }
  draw("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, `moves (${live.step})`);
  const at = shown ?? live.step;
  draw("line", { class: "now", x1: x(at), x2: x(at), y1: top, y2: bottom });
  lists.forEach((list, index) => {
    if (!list.length) return;
    const role = about.roles[index], ink = `series-${inkOf(role, about.roles)}`;
    draw("path", { class: ink, d: list.map(([step, value], place) => `${place ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("") });
    const [step, value] = list.findLast(([step]) => step <= at) ?? list[0];
    draw("circle", { class: ink, cx: x(step), cy: y(value), r: 3 });
    draw("text", { class: ink, x: width - right + 8, y: 20 + 16 * index }, `${role} ${value.toFixed(0)}`);
  });
  for (const each of mistakes()) draw("circle", { class: "lost", cx: x(each.step), cy: y(each.value), r: 4.5 });
  svg.addEventListener("click", (event) => {
    const place = (event.clientX - svg.getBoundingClientRect().left) * width / svg.clientWidth;
    goTo(Math.round((place - left) / (width - left - right) * live.step));
  });
  find("chart").replaceChildren(svg);
}

// --- events ---

/** The time of the agents that choose now, from left to right. */
function runClock(isRunning) {
  const hand = find("clock-hand");
  hand.style.animation = "none";
  if (!isRunning || !about.seconds || about.is_replay) return;
  hand.getBoundingClientRect(); // so that it starts again
  hand.style.animation = `run-out ${about.seconds}s linear forwards`;
}

function watchAgents(event) {
  clearTimeout(slowTimer);
  isSlow = false;
  if (event.event === "state") runClock(event.waiting.length > 0);
  if (event.event === "state" && event.waiting.length) slowTimer = setTimeout(() => { isSlow = true; find("status").textContent = statusText(); }, SLOW_MS);
}

function receive(event) {
  if (event.event === "state") event = state = merged(state, event);
  watchAgents(event);
  if (event.event !== "failed") problem("");
  if (event.event === "state") {
    const wasLive = live === null || isLive();
    if (live?.step !== event.step) { best = null; clicks = []; thought = null; }
    const isFirst = live === null;
    live = { ...event, moves: event.moves.map((move, index) => ({ move, text: event.texts[index], path: pathOf(event.paths[index]) })) };
    if (event.review || !review?.isRunning) review = event.review ?? null;
    find("choice").hidden = !persons().length;
    document.body.classList.toggle("over", event.is_over);
    find("choice-title").textContent = event.is_over ? "The match is over" : "Your moves";
    find("again").hidden = !event.is_over;
    find("steps").hidden = about.is_blind;
    find("undo").disabled = !event.can_undo;
    find("hint").disabled = !event.person || about.is_hidden;
    for (const name of ["save", "save-svg", "save-animation"]) find(name).disabled = about.is_blind;
    const linked = isFirst ? Number(location.hash.slice(1)) || live.step : live.step;
    if (wasLive) { shown = null; showPosition(event); } else showProgress();
    if (linked !== live.step) goTo(linked);
  } else if (event.event === "think") showThought(event);
  else if (event.event === "review") takeReview(event);
  else if (event.event === "failed") {
    if (review) review.isRunning = false;
    problem(`${event.role}: ${event.text}`);
    showChart();
  }
  else if (event.event === "gone") end("The process of this match was ended: its rules took too much time or memory.");
}

function takeReview({ entry, of }) {
  review ??= { entries: [] };
  Object.assign(review, { of, isRunning: true });
  if (!review.entries.some((each) => each.step === entry.step && each.role === entry.role)) review.entries.push(entry);
  showChart();
  showLog();
}

/** Leaves the board on an earlier position while the match continues. */
function showProgress() {
  find("step").max = live.step;
  find("step-text").textContent = `${shown} of ${live.step}`;
  showLog();
  showChart();
}

/** The match has ended: what is on the page stays, with its buttons disabled. */
function end(text) {
  problem(text);
  document.querySelectorAll("button, input").forEach((control) => { control.disabled = true; });
  if (!live) return;
  Object.assign(live, { moves: [], waiting: [], person: null, note: live.is_over ? "" : "This match has ended." });
  watchAgents(live);
  find("status").textContent = statusText();
  showChoice();
}

function follow() {
  const source = new EventSource(`${api}/events`);
  source.onmessage = (message) => receive(JSON.parse(message.data));
  source.onerror = () => {
    problem("Connection lost; reconnecting …");
    if (source.readyState === EventSource.CLOSED) end("This match has ended. Choose a game again under Games; after a restart of the server, open the address that it prints.");
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
find("think").addEventListener("click", () => {
  if (review) review.isRunning = false; // the server lets it pause
  ask("think", { seconds: 10, step: shown ?? live.step });
  showChart();
});
find("review").addEventListener("click", () => {
  review = { entries: [], of: live.step, ...review, isRunning: true };
  ask("review");
  showChart();
});
find("again").addEventListener("click", async () => {
  const opened = await ask("again");
  if (opened) location.href = `/match/${opened.id}`;
});
let chartWidth = 0;
new ResizeObserver(() => {
  if (!live || find("chart").clientWidth === chartWidth) return;
  chartWidth = find("chart").clientWidth;
  showChart();
}).observe(find("chart"));
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
  const seat = (index) => about.seats[index] === "person" && persons().length === 1 ? "you" : about.seats[index];
  const isTimed = !about.is_replay && about.seconds && about.seats.some((each) => !["person", "chance"].includes(each));
  find("seats").textContent = [...about.roles.map((role, index) => seat(index) ? `${role}: ${seat(index)}` : role), isTimed ? `${about.seconds} s a move` : ""].filter(Boolean).join(" · ");
  find("about").hidden = !about.about?.length;
  find("about-title").textContent = "How to play";
  find("about-text").replaceChildren(...(about.about ?? []).map((text) => element("p", {}, text)));
  fillRows([]);
  if (about.is_live ? !about.own_role : about.is_blind) find("thought").hidden = true;
  find("think").hidden = about.is_live || about.is_hidden;
  if (about.is_live) find("nav").replaceChildren(element("a", { href: "/" }, "Matches"));
  follow();
} catch (error) {
  find("status").textContent = error.status === 404 ? "This match has ended." : error.message;
  end("Choose a game again under Games; after a restart of the server, open the address that it prints.");
}
