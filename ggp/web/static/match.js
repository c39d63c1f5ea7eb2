// One match: the board, one's moves, what the search thinks, and the way back through the steps.
import { connectBoard, describe, markCells, pathOf, turn } from "./board.js";
import { chance, effort, opinion, showBar, showPath, showTable, showValues } from "./analysis.js";
import { connect, showControls } from "./controls.js";
import { pointing, showMoves } from "./log.js";
import { capital, colorOf, drawn, element, find, inkOf, lose, merged, request, showState, whyNot } from "./page.js";
import { LISTED as MISTAKES, chart, series } from "./review.js";
import { Variants } from "./variants.js";

const id = location.pathname.split("/").pop();
const api = `/api/matches/${id}`;
const LISTED = 200; // moves listed at once
let about = { roles: [], seats: [] };
let state = {}; // the last state as the server describes it
let live = null; // the same, with moves as objects
let shown = null; // the step on the board; null: the last one
let isSent = false; // a move is on its way: until the next state, clicks on moves are ignored
let clicks = []; // cells clicked for the move in the making
let best = null; // move of the hint
let hintWanted = false;
let preparing = null; // the search that gets ready: since when, whether it is an analysis
let readyTimer = 0;
let isStudying = false; // every position on the board is analyzed
let studyTimer = 0;
const thoughts = new Map(); // analyses by position, as events `think`
const variants = new Variants(id);
let explored = null; // the position on the board, if it is not the last one: its choices, and moves chosen for it
let isTurned = null; // whether the board is turned; null: as the only person sits
let linePlays = 0; // the best line that plays, by number; a later one or any other position ends it
const LINE_MS = 900;
const LATE_MS = 4000;
const AGAIN_MS = 2000; // between attempts to reach a server that was started again
const LONGEST_ADDRESS = 6000;
let review = null; // what searches expected at every choice: entries, number of steps

const seatKey = `seat:${id}`;
let seatHere = keptSeat(new URLSearchParams(location.search).get("seat")); // the only role that is played in this browser

/** The seat that the address names, which is then remembered; else the one remembered in this browser. */
function keptSeat(named) {
  try {
    if (named !== null) localStorage.setItem(seatKey, named);
    return named ?? localStorage.getItem(seatKey);
  } catch {
    return named; // a convenience: without storage the address has the seat
  }
}

let isKept = false; // a problem that stays until the next request
const problem = (text) => { find("problem").textContent = text; };

/** The answer to a request, true if there is nothing to say; null if it failed. */
async function ask(what, body = {}) {
  isKept = false;
  try {
    const answer = await request(`${api}/${what}`, body);
    problem("");
    return answer ?? true;
  } catch (error) {
    if (error.status === 404) end("This match has ended.");
    else if (error.status === 410) end(error.message);
    else {
      isKept = what === "play"; // the state that came meanwhile does not say why
      problem(`${capital(error.message)}.`);
    }
    return null;
  }
}

// --- moves ---

const isLive = () => !variants.here && (shown === null || shown === live.step);
const offered = () => isLive() ? live.moves : explored?.moves ?? [];
/** Moves with their clicks. Moves that name no cell have an arrow where they lead, and are made by a click there if all do. */
function asMoves({ moves, texts, paths, arrows = [] }) {
  const isWalk = arrows.length > 0 && arrows.every(Boolean);
  return moves.map((move, index) => {
    const path = pathOf(paths[index]), arrow = pathOf(arrows[index]);
    return { move, text: texts[index], path: isWalk ? arrow.slice(-1) : path, arrow: arrow.length ? arrow : path };
  });
}
const plain = (text) => text.startsWith("(") ? text.slice(1, -1) : text;
const WAITS = "waits"; // the text of a move that does nothing
/** What distinguishes a typed move: no dashes, signs or letter case. */
const typed = (text) => plain(text.trim().toLowerCase()).replace(/ ?[–—×-] ?/g, "-").replace(/(\d)x(?=[a-z]?\d)/g, "$1-");
const persons = () => about.is_replay ? [] : about.roles.filter((role, index) => about.seats[index] === "person");
const fits = (move, cells) => cells.every((cell, index) => move.path[index]?.includes(cell));

function candidates() {
  const words = typed(find("filter").value);
  const found = offered().filter((move) => fits(move, clicks) && (typed(move.text).includes(words) || plain(move.move).includes(words)));
  const exact = found.filter((move) => [typed(move.text), plain(move.move)].includes(words));
  return exact.length === 1 ? exact : found;
}

function click(cell) {
  if (!live) return;
  if (!offered().length) return sayNotNow(cell);
  for (const next of [[...clicks, cell], [cell]]) {
    const found = offered().filter((move) => fits(move, next));
    if (!found.length) continue;
    if (found.length === 1 && (found[0].path.length === next.length || offered().length === 1)) return play(found[0].move);
    clicks = next.length === 2 && clicks[0] === cell ? [] : next;
    return showChoice();
  }
  const why = whyWrong(cell);
  showChoice(); // what was clicked before stays
  say(why, cell);
}

const boardHere = () => document.querySelector("#state svg.board");

/** Says why a click does nothing, and marks the cell. */
function say(text, cell) {
  find("how").textContent = text;
  find("how").classList.add("wrong");
  markCells(boardHere(), { chosen: clicks, wrong: [cell] });
}

/** A click while no move is offered. */
function sayNotNow(cell) {
  const acting = live.waiting.length ? live.waiting.join(" and ") : "another player";
  if (isLive() && persons().length && !live.is_over && !live.fault) say(`Not your move: ${acting} is to move.`, cell);
}

function whyWrong(cell) {
  const { place, content, owner } = describe(boardHere(), cell);
  const moves = offered(), mover = isLive() ? live.person : explored.role;
  if (clicks.length) {
    const from = describe(boardHere(), clicks.at(-1)).place;
    return `${from} cannot go to ${place}: choose a marked place.`;
  }
  const isPlacing = moves.every((move) => move.path.length === 1 && move.arrow.length < 2 && move.path[0].some((each) => !describe(boardHere(), each).content));
  if (content && isPlacing) return `${place} is taken: choose an empty place.`;
  if (content && owner && owner !== mover) return `${place} belongs to ${owner}; ${mover} is to move.`;
  if (!moves.some((move) => move.path.length)) return "No move is made on the board now: choose under Your moves.";
  const sources = new Set(moves.filter((move) => move.path.length > 1).flatMap((move) => move.path[0]));
  const why = moves.every((move) => move.text.includes("×")) ? " Only captures are possible."
    : sources.size === 1 && moves.every((move) => move.path.length > 1) ? ` Only the piece on ${describe(boardHere(), [...sources][0]).place} can move.` : "";
  return content ? `${capital(content)} on ${place} has no move now.${why}` : `No move goes to ${place} now.${why}`;
}

async function play(move) {
  if (isSent) return;
  clicks = [];
  find("filter").value = "";
  if (!isLive()) return branch(move);
  isSent = true;
  const late = setTimeout(() => problem("The program has not answered yet. The move is made when it does."), LATE_MS);
  if (await ask("play", { step: live.step, role: live.person, move }) === null) isSent = false;
  clearTimeout(late);
}

function showChoice() {
  find("state").style.setProperty("--mover", colorOf(isLive() ? live.person : explored?.role, about.roles));
  const moves = candidates();
  const items = moves.slice(0, LISTED).map((move) =>
    element("li", {}, element("button", { type: "button", class: move.move === best ? "best" : "", title: move.move, onclick: () => play(move.move), ...pointing(move.arrow) }, move.text)));
  if (moves.length > LISTED) items.push(element("li", { class: "faint" }, `… and ${(moves.length - LISTED).toLocaleString("en")} more: filter them, or click on the board`));
  const isEnd = isLive() && live.is_over;
  find("choice-title").textContent = isEnd ? "The match is over" : isLive() || !explored?.role ? "Your moves" : `Moves of ${explored.role}`;
  find("filter").hidden = isEnd;
  find("moves").replaceChildren(...(isEnd ? [element("li", { class: "faint" }, "Step back to see earlier positions and to try other lines.")] : items));
  const clickable = offered().filter((move) => fits(move, clicks)).map((move) => move.path[clicks.length] ?? []);
  const next = new Set(clickable.flat());
  const single = new Set(clickable.filter((cells) => cells.length === 1).flat()); // others are columns to drop into
  const firsts = new Set(offered().flatMap((move) => move.path[0] ?? []));
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
  markCells(boardHere(), { chosen: clicks, played, hinted });
  find("how").classList.remove("wrong");
  find("how").textContent = howText(next, moves, entry);
  find("how").title = find("how").textContent;
  find("how").classList.toggle("because", isLive() && live.is_over);
  find("how").classList.toggle("idle", !persons().length && !review);
}

/** How to move, or what the colors of a reviewed position mean. */
function howText(next, moves, entry) {
  if (entry && entry.best !== entry.played) return `${capital(entry.role)} played ${entry.played_text} (red); the search prefers ${entry.best_text} (green).`;
  if (entry) return `${capital(entry.role)} played ${entry.played_text}, as the search would.`;
  if (isLive() && live.is_over) return live.because;
  if (!isLive()) return explored?.moves.length ? `Choose a move of ${explored.role} to try another line: the match stays as it is.` : "";
  if (!live.person || !live.moves.length) return "";
  if (clicks.length) return next.size ? "Now click the destination, or choose under Your moves. Escape cancels." : `${moves.length} moves end here: choose one under Your moves.`;
  return next.size ? "Click a marked place, or choose under Your moves." : "Choose under Your moves.";
}

// --- the state on the board ---

function statusText() {
  if (variants.here) return lineText();
  if (!isLive()) return `Position after step ${shown} of ${live.step}`;
  if (live.fault) return `The rules are at fault: ${live.fault}`;
  if (live.note) return live.note;
  if (live.is_over) return outcomeText();
  if (about.is_replay) return "The record ends here, before the game is over";
  if (live.person) return `${capital(live.person)}, it is your move`;
  if (live.waiting.length) return `${capital(live.waiting.join(", "))} ${preparing && !preparing.is_yours ? readyText() : "thinking …"}`;
  return preparing && !preparing.is_yours ? `The computer is ${readyText()}` : "Waiting for the other players …";
}

/** Where a line of one's own stands. */
function lineText() {
  const { step, line } = variants.line();
  const end = explored?.is_over ? explored.outcome : explored?.role ? `${explored.role} to move` : "";
  return `Your own line, ${line.length} after step ${step}${end ? `: ${end}` : ""}`;
}

/** The result; for a single person: whether they won. */
function outcomeText() {
  const text = capital(live.outcome);
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
  find("flip").hidden = !boardHere()?.dataset.area;
  turn(boardHere(), isTurned ?? (persons().length === 1 && about.turned?.includes(persons()[0])));
  find("status").textContent = statusText();
  showGoals();
  find("step").max = live.step;
  find("step").value = shown ?? live.step;
  find("step-text").textContent = `${shown ?? live.step} of ${live.step}`;
  for (const name of ["first", "back"]) whyNot(name, (shown ?? live.step) === 0 && !variants.here && "this is the first position");
  for (const name of ["forward", "last"]) whyNot(name, isLive() && "this is the last position");
  showLog();
  showChart();
  showChoice();
  showVariants();
  find("leave").hidden = !variants.here;
  showExplain();
  history.replaceState(null, "", isLive() ? location.pathname + location.search : `#${shown}`);
  showThought(thoughts.get(placeOf()));
  study();
  if (focused) place.querySelector(`[data-cell="${focused}"]`)?.focus();
}

/** The form that opens the explanation of the position on the board. */
function showExplain() {
  const form = find("explain"), { step, line } = JSON.parse(placeOf());
  form.elements.step.value = step;
  form.elements.line.value = JSON.stringify(line);
  form.hidden = about.is_blind;
  whyNot("explain-button", about.is_hidden && !live.is_over ? "some of the state is hidden: an explanation would show it"
    : (isLive() ? live : explored).is_over ? "the match is over here: there is nothing to search"
    : encodeURIComponent(form.elements.line.value).length > LONGEST_ADDRESS && "this line is too long");
}

/** The goals beside the result, each with its role's name. */
function showGoals() {
  const isShown = isLive() && live.is_over && Boolean(live.goals?.length);
  find("goals").hidden = !isShown;
  find("status").classList.toggle("result", isLive() && live.is_over);
  if (!isShown) return;
  find("goals").replaceChildren(...about.roles.flatMap((role, index) => role === "random" ? [] :
    [element("span", {}, element("b", { class: `by-${inkOf(role, about.roles)}` }, role), ` ${live.goals[index] ?? "–"}`)]));
}

function percepts() {
  const isOwn = (role) => persons().includes(role);
  const labelOf = ({ label, is_public }) => is_public ? label : `your ${label}`;
  const seenOf = (each) => each.drawn ? [`${each.label} `, ...drawn(each)] : [each.text];
  const rows = live.drawn.map((seen, index) => element("li", {},
    element("strong", {}, live.history[index].find((move, place) => move !== WAITS && isOwn(about.roles[place])) ?? ""), " ",
    element("span", { class: "faint" }, seen.length ? "you see: " : live.percepts[index].length ? "" : "you see nothing", ...seen.flatMap((each, place) => [place ? "; " : "", ...seenOf(each)]))));
  const cards = live.drawn.flat().filter((each) => ["card", "die"].includes(each.drawn));
  const others = about.roles.filter((role) => role !== "random" && !isOwn(role));
  const labels = [...new Set(cards.map(labelOf))];
  const table = !cards.length ? [] : [element("p", { class: "hands" }, ...labels.flatMap((label) => [element("b", {}, `${label} `), ...cards.filter((each) => labelOf(each) === label).flatMap((each) => drawn(each)), " "]),
    ...(cards.some((each) => each.drawn === "card") ? others.flatMap((role) => [element("b", {}, ` ${role} `), ...drawn({ text: "", drawn: "back" })]) : []))];
  return element("div", { class: "card" }, element("h2", {}, "What you know"), ...table,
    element("p", { class: "faint" }, "You cannot see everything. These are the moves made and what was seen after each."), element("ol", {}, ...rows));
}

async function goTo(step) {
  step = Math.max(0, Math.min(live.step, step));
  clicks = [];
  variants.here = null;
  explored = null;
  if (step === live.step || about.is_blind) { shown = null; return showPosition(live); }
  return explore(step, []);
}

/** Puts a position of the match, or of a line of one's own after it, on the board. */
async function explore(step, line) {
  const view = await ask("explore", { step, line });
  if (!view) return;
  shown = step;
  explored = { ...view, chosen: {}, place: 0 };
  offerNext();
  showPosition(view);
}

/** Offers the moves of the next role that has a choice in the explored position. */
function offerNext() {
  const choice = explored.choices[explored.place];
  explored.role = choice?.role ?? null;
  explored.moves = choice ? asMoves(choice) : [];
}

/** Tries a move in the explored position: the others choose next, then the line goes on. */
async function branch(move) {
  explored.chosen[explored.role] = move;
  explored.texts = [...(explored.texts ?? []), explored.moves.find((each) => each.move === move).text];
  explored.place += 1;
  offerNext();
  if (explored.role) return showChoice();
  const moves = about.roles.map((role) => explored.chosen[role] ?? explored.forced[role]);
  variants.add(shown, moves, explored.texts.join(" · "));
  const { step, line } = variants.line();
  return explore(step, line);
}

/** The position after a move of an analysis, as a line of one's own. */
async function openMove(move) {
  if (isSent || (isLive() && !live.is_over && persons().length && !live.person)) return;
  if (isLive()) await explore(live.step, []);
  if (explored?.moves.some((each) => each.move === move)) await branch(move);
}

function openNode(node) {
  variants.here = node;
  const { step, line } = variants.line();
  return explore(step, line);
}

/** One step back or forward, within a line of one's own too. */
function go(by) {
  const { here } = variants;
  if (!here) return goTo((shown ?? live.step) + by);
  if (by > 0) return here.children.length ? openNode(here.children[0]) : null;
  return here.parent ? openNode(here.parent) : goTo(here.step);
}

function showVariants() {
  find("variants").hidden = !variants.roots.length;
  find("variants").replaceChildren(...(variants.roots.length ? [element("strong", {}, "Your own lines"), ...variants.markup(openNode)] : []));
}

function showLog() {
  const noteAt = (step, place) => {
    if (live.forced.some(([forced, seat]) => forced === step && seat === place)) return { text: "only", title: "The only legal move: it was made at once", kind: "faint" };
    const lost = found().find((each) => each.step === step - 1 && each.role === about.roles[place])?.lost;
    return lost ? { text: `−${lost}`, title: `cost ${lost} expected points` } : null;
  };
  showMoves({ match: live, roles: about.roles, first: live.person ?? live.waiting[0], at: variants.here ? null : shown ?? live.step, noteAt, open: goTo });
}

/** Plays the best line of an analysis on the board, as a line of one's own. */
async function playLine() {
  const event = thoughts.get(placeOf()), number = ++linePlays;
  if (!event) return;
  if (isLive()) await explore(live.step, []);
  for (const [index, moves] of event.report.line_terms.entries()) {
    if (index) await new Promise((done) => setTimeout(done, LINE_MS));
    if (number !== linePlays) return;
    const texts = event.report.line[index].filter((text) => text !== WAITS);
    variants.add(shown, moves, texts.join(" · ") || WAITS);
    const { step, line } = variants.line();
    await explore(step, line);
  }
}

// --- the search ---

/** The position on the board, as the key of its analysis. */
const placeOf = () => variants.here ? JSON.stringify(variants.line()) : JSON.stringify({ step: shown ?? live.step, line: [] });

function receiveThought(event) {
  const line = event.line ?? [];
  const place = JSON.stringify({ step: event.step - line.length, line });
  if (event.is_yours) thoughts.set(place, event);
  if (place === placeOf() && (event.is_yours || !thoughts.has(place))) showThought(event);
  if (event.is_yours && hintWanted && event.is_done) {
    hintWanted = false;
    best = event.move;
    showChoice();
  }
}

/** Shows an event `think`; without one, what stood there stays if it is of a search that plays. */
function showThought(event) {
  if (!event && !isStudying && isLive() && live.waiting.length) return;
  const at = event && (event.step === live.step || event.line?.length ? "" : `, step ${event.step}`);
  find("thought-title").textContent = !event ? "Analysis" : event.is_yours ? `Analysis${at}` : `Search of ${event.role}`;
  const last = event ?? ended() ?? lastExpected();
  find("bar-text").textContent = !event && last?.outcome ? capital(last.outcome) : !event && isStudying ? "thinking …" : !last ? "" : last.is_yours ? opinion(last, about) : ownOpinion(last);
  showBar(last, about);
  if (last) find("bar").title = find("bar-text").textContent;
  const isEmpty = !event && !isStudying && !about.is_hidden && !(isLive() ? live.is_over : explored?.is_over);
  showTable({ event, about, hint: isEmpty && "Analyze fills this table.", count: event ? offered().length : 0, open: about.is_hidden ? null : openMove, point: pointAt });
  showPath(variants.nodes(), { back: () => go(-1), open: openNode });
  showValues(event?.is_yours ? event : null, offered());
  find("line").disabled = !event?.is_yours || !event.report.line.length;
  find("line").textContent = event?.report.line.length ? `best line: ${event.report.line.map((joint) => joint.filter((move) => move !== WAITS).join(" + ") || WAITS).join(", ")}` : "best line: –";
  find("line").title = event?.report.line_terms.map((joint) => joint.filter((move) => move !== "noop").join(" + ")).join(", ") || "Analyze finds the best line";
  find("effort").textContent = event ? effort(event.report) : "";
}

/** Who plays a role: "computer, easy", the name of an agent, or "you". */
function playerOf(role) {
  const seat = about.seats[about.roles.indexOf(role)] ?? "";
  return seat === "person" && persons().length === 1 ? "you" : seat.replace(/^mcts:level=/, "computer, ");
}

/** The opinion of a search that plays, which an analysis may not share. */
function ownOpinion({ role, report }) {
  const value = report.goal ?? report.expectation;
  if (value === null || report.goal !== null) return value === null ? "" : opinion({ role, report }, about);
  const player = playerOf(role).replace("computer, ", "");
  return `${capital(role)}${player ? ` (${player})` : ""} expects ${chance(value, about)}`;
}

/** The result as the bar shows it, where the match or a line of one's own is over. */
function ended() {
  const { is_over: isOver, goals, outcome } = (isLive() ? live : explored) ?? {};
  const place = about.roles.findIndex((role) => role !== "random");
  return isOver && goals?.[place] != null ? { role: about.roles[place], report: { goal: goals[place], expectation: null }, outcome } : null;
}

/** What the last search up to this position expected, as far as it is known without an analysis. */
function lastExpected() {
  for (let step = shown ?? live.step; step > 0; step--) {
    const place = live.values[step - 1]?.findIndex((value) => value !== null) ?? -1;
    if (place >= 0) return { role: about.roles[place], report: { goal: null, expectation: live.values[step - 1][place] } };
  }
  return null;
}

/** The listeners of an entry of the analysis for a move of the position on the board. */
const pointAt = (move) => pointing(offered().find((each) => each.move === move)?.arrow ?? []);

/** While the analysis is on, it follows the board. */
function study() {
  clearTimeout(studyTimer);
  const why = about.is_hidden ? "some of the state is hidden: an analysis would show it" : "";
  whyNot("think", why);
  if (!isStudying || why || (isLive() ? live.is_over : explored?.is_over)) return;
  const { step, line } = JSON.parse(placeOf());
  if (thoughts.get(placeOf())?.is_done) return;
  studyTimer = setTimeout(() => ask("think", { seconds: 20, step, line }), 150);
}

function setStudying(isOn) {
  isStudying = isOn;
  find("think").setAttribute("aria-pressed", String(isOn));
  if (review && isOn) review.isRunning = false; // the server lets it pause
  if (!isOn) { clearTimeout(studyTimer); ask("rest"); }
  showThought(thoughts.get(placeOf()));
  study();
  showChart();
}

// --- who was ahead: what searches expected, and the review of a match that is over ---

/** The entry of the review for the position on the board. */
const reviewed = () => shown === null ? null : review?.entries.find((entry) => entry.step === shown) ?? null;

const found = () => review?.mistakes ?? [];

function showMistakes() {
  const own = persons();
  const isOther = (each) => own.length === 1 && each.role !== own[0];
  const items = found().sort((one, other) => isOther(one) - isOther(other)).slice(0, MISTAKES).map((each) => element("li", {},
    element("button", { type: "button", title: each.played, onclick: () => goTo(each.step) }, `Move ${each.step + 1}, ${each.played_text}`),
    ` took ${capital(each.role)}'s chances from ${Math.round(each.value)} to ${Math.round(each.after)} %; the search prefers ${each.best_text}.`));
  const first = review?.entries.find((entry) => own.length !== 1 || entry.role === own[0]);
  if (review?.is_done && !items.length && first) {
    items.push(element("li", {}, `No single move lost much. At the start ${capital(first.role)}'s chances were ${(first.value ?? 50).toFixed(0)} %.`));
  }
  find("mistakes").replaceChildren(...items);
}

function showReview() {
  const can = !about.is_hidden && live.step > 0 && (live.is_over || about.is_replay);
  const isRunning = Boolean(review?.isRunning);
  find("review").hidden = !can || Boolean(review?.is_done);
  whyNot("review", isRunning && "the review runs");
  const last = review?.entries.at(-1);
  find("review-text").textContent = isRunning && last ? `position ${last.step + 1} of ${review.of}` : isRunning ? "the search gets ready …" : "";
  const thinkers = about.roles.filter((role, place) => live.values.some((row) => row[place] != null));
  const [who, whom] = thinkers.length === 1 ? [`${thinkers[0]}${playerOf(thinkers[0]) ? ` (${playerOf(thinkers[0])})` : ""}`, thinkers[0]] : ["each player", "that player"];
  find("chart-help").textContent = review?.is_done ? "Chances at every choice: at 100 that player wins. Click the chart or a move to see the position."
    : [thinkers.length ? `What ${who} thought of its own chances: at 100 ${whom} wins. Click the chart to see the position.` : "", can ? "The review searches every position and lists the worst moves." : ""].join(" ");
  showMistakes();
}

function showChart() {
  const lists = series(review, live, about);
  const has = lists.some((list) => list.length);
  find("chart-box").hidden = about.is_blind || (!has && !(live.step > 0 && !about.is_hidden && (live.is_over || about.is_replay)));
  showReview();
  const width = Math.max(240, Math.min(640, find("chart").clientWidth));
  const onStep = (step) => goTo(step);
  find("chart").replaceChildren(...(has ? [chart(lists, { roles: about.roles, steps: live.step, at: shown ?? live.step, marks: found(), width, onStep })] : []));
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

const readyText = () => `getting ready, ${Math.floor((Date.now() - preparing.since) / 1000)} s`;

/** Counts the seconds until a search is ready: the first one of a game loads its rules, and may compile. */
function watchPhase(event) {
  clearInterval(readyTimer);
  preparing = event?.phase === "preparing" ? preparing ?? { since: Date.now(), is_yours: event.is_yours } : null;
  if (event?.phase === "searching" && !event.is_yours) runClock(true);
  const show = () => {
    if (!live) return;
    find("status").textContent = statusText();
    if (!preparing?.is_yours) return;
    find("bar-text").textContent = readyText();
    find("effort").textContent = "The first time it can take a minute.";
  };
  if (preparing) readyTimer = setInterval(show, 1000);
  show();
}

function receive(event) {
  if (event.event === "state") event = state = merged(state, event);
  if (event.event === "state" && !event.waiting.length) { runClock(false); if (!preparing?.is_yours && !about.is_blind) watchPhase(null); }
  if (event.event !== "failed" && !isKept) problem("");
  if (event.event === "state") {
    const wasLive = live === null || isLive();
    isSent = false;
    if (live?.step !== event.step) { best = null; clicks = []; }
    if (live && event.step < live.step) thoughts.clear(); // moves were taken back
    const isFirst = live === null;
    about.is_blind = event.is_blind;
    live = { ...event, moves: asMoves(event) };
    if (seatHere && event.person && event.person !== seatHere) Object.assign(live, { moves: [], person: null, waiting: [event.person] });
    if (event.review || !review?.isRunning) review = event.review ?? null;
    find("undo").hidden = find("hint").hidden = !persons().length;
    find("choice").hidden = !persons().length;
    document.body.classList.toggle("over", event.is_over);
    showControls(event, about, persons(), live.person);
    find("steps").hidden = about.is_blind;
    whyNot("undo", !event.can_undo && (about.is_blind ? "taking back would reveal what is hidden" : about.has_remote_players ? "a player elsewhere cannot take moves back" : "there is no move of yours to take back"));
    whyNot("hint", about.is_hidden ? "some of the state is hidden: a hint would show it" : !event.person && "it is not your move");
    for (const name of ["save", "save-svg"]) whyNot(name, about.is_blind && "some of the state is hidden from you");
    const linked = isFirst ? Number(location.hash.slice(1)) || live.step : live.step;
    if (wasLive) { shown = null; showPosition(event); } else showProgress();
    if (linked !== live.step) goTo(linked);
  } else if (event.event === "think") receiveThought(event);
  else if (event.event === "phase") watchPhase(event);
  else if (event.event === "review") takeReview(event);
  else if (event.event === "failed") {
    if (review) review.isRunning = false;
    if (preparing?.is_yours) { watchPhase(null); find("bar-text").textContent = ""; }
    problem(`${event.role}: ${event.text}`);
    showChart();
  }
  else if (event.event === "replaced") end("A newer match has taken the place of this one: reload the page to go on here.");
  else if (event.event === "gone") end("The process of this match was ended: its rules took too much time or memory.");
}

function takeReview({ entry, mistakes, of }) {
  review ??= { entries: [] };
  Object.assign(review, { mistakes, of, isRunning: true });
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
  watchPhase(null);
  runClock(false);
  find("status").textContent = statusText();
  showChoice();
}

function follow() {
  const source = new EventSource(`${api}/events${opening ? `?known=${opening.digest}` : ""}`);
  source.onmessage = (message) => described.then(() => receive(JSON.parse(message.data)), () => source.close());
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) followAgain();
    else lose(); // the browser tries again
  };
}

/** After a restart of the server the match goes on, once this browser is logged in again. */
async function followAgain() {
  try {
    await request(api);
    opening = null;
    follow();
  } catch (error) {
    if (error.status === 404 || error.status === 410) { end("This match has ended. Choose a game again under Games."); return; }
    if (error.status && !find("reload")) {
      problem("The program was started again: reload this page, or open the address that it prints, and the match goes on here. ");
      find("problem").append(element("button", { id: "reload", type: "button", onclick: () => location.reload() }, "Reload"));
    }
    setTimeout(followAgain, AGAIN_MS);
  }
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
  if (live && event.key === "ArrowLeft") go(-1);
  if (live && event.key === "ArrowRight") go(1);
  if (live && event.key === "Home") { event.preventDefault(); goTo(0); }
  if (live && event.key === "End") { event.preventDefault(); goTo(live.step); }
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

connectBoard(find("state"), {
  begin: (cell) => {
    if (!offered().some((move) => fits(move, [cell]) && move.path.length > 1)) return false;
    clicks = [cell];
    showChoice();
    return true;
  },
  drop: (cell) => {
    if (cell) click(cell);
    else { clicks = []; showChoice(); }
  },
  tap: click,
});
find("flip").addEventListener("click", () => {
  isTurned = !(isTurned ?? (persons().length === 1 && about.turned?.includes(persons()[0])));
  showPosition(variants.here || !isLive() ? explored : live);
});
find("line").addEventListener("click", playLine);
for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, (event) => { if (!event.target.closest?.("#line")) linePlays += 1; });
find("filter").addEventListener("input", showChoice);
find("filter").addEventListener("keydown", (event) => {
  const moves = candidates();
  if (event.key === "Enter" && moves.length === 1) play(moves[0].move);
});
find("undo").addEventListener("click", () => ask("undo"));
find("hint").addEventListener("click", () => { hintWanted = true; ask("think", { seconds: 1, step: live.step, line: [] }); });
find("think").addEventListener("click", () => setStudying(!isStudying));
find("leave").addEventListener("click", () => goTo(live.step));
find("review").addEventListener("click", () => {
  if (isStudying) setStudying(false);
  review = { entries: [], of: live.step, ...review, isRunning: true };
  ask("review");
  showChart();
});
connect(ask, () => live.person);

/** For two persons at two browsers: the address for the other seat; this page keeps the others. */
function showInvitations() {
  const own = persons();
  if (own.length !== 2 || seatHere) return;
  find("invite").replaceChildren(...own.map((role, index) => element("button", { type: "button", title: `copies an address at which another browser that is logged in plays ${role}`, onclick: async () => {
    seatHere = keptSeat(own[1 - index]);
    history.replaceState(null, "", `?seat=${encodeURIComponent(seatHere)}`);
    const text = `${location.origin}${location.pathname}?seat=${encodeURIComponent(role)}`;
    const isCopied = await navigator.clipboard.writeText(text).then(() => true, () => false);
    find("invite").replaceChildren(element("span", {}, `${isCopied ? "Copied. " : ""}Another browser that is logged in plays ${role} there; here you play ${seatHere}.`),
      isCopied ? "" : element("input", { type: "text", readonly: true, value: text, "aria-label": `address for ${role}`, onfocus: ({ target }) => target.select() }));
  } }, `Invite ${role}`)));
}

let chartWidth = 0;
new ResizeObserver(() => {
  if (!live || find("chart").clientWidth === chartWidth) return;
  chartWidth = find("chart").clientWidth;
  showChart();
}).observe(find("chart"));
find("first").addEventListener("click", () => goTo(0));
find("back").addEventListener("click", () => go(-1));
find("forward").addEventListener("click", () => go(1));
find("last").addEventListener("click", () => goTo(live.step));
find("step").addEventListener("input", (event) => goTo(Number(event.target.value)));
find("save").addEventListener("click", async () => {
  const text = await ask("record");
  if (text) save(text, "application/json", `${about.name}.json`);
});
find("save-svg").addEventListener("click", () => {
  const text = boardFile();
  if (text) save(text, "image/svg+xml", `${about.name}.svg`);
});

/** Refuses a seat in the address that no person of the match has, and forgets it. */
function seated(match) {
  const seats = match.roles.filter((_, index) => match.seats[index] === "person" && !match.is_replay);
  if (!seatHere || seats.includes(seatHere)) return match;
  const named = seatHere;
  seatHere = null;
  try { localStorage.removeItem(seatKey); } catch { /* nothing was kept */ }
  const links = [["the whole match", location.pathname], ...seats.map((seat) => [seat, `?seat=${encodeURIComponent(seat)}`])];
  throw Object.assign(new Error(`no person plays ${named} in this match`), { advice: ["Open ", ...links.flatMap(([text, href], index) => [index ? " · " : "", element("a", { href }, text)])] });
}

let opening = JSON.parse(find("opening")?.textContent ?? "null"); // what the page brought along
const described = (opening ? Promise.resolve(opening.about) : request(api)).then(seated);
follow(); // at the same time
try {
  about = await described;
  document.title = about.short;
  find("title").textContent = about.short;
  find("title").title = about.title || about.name;
  const isTimed = !about.is_replay && about.seconds && about.seats.some((each) => !["person", "chance"].includes(each));
  find("seats").textContent = [...about.roles.filter((role) => role !== "random").map((role) => playerOf(role) ? `${role}: ${playerOf(role)}` : role), isTimed ? `${about.seconds} s a move` : ""].filter(Boolean).join(" · ");
  find("about").hidden = !about.about?.length;
  find("about-title").textContent = "How to play";
  find("about-text").replaceChildren(...(about.about ?? []).map((text) => element("p", {}, text)));
  find("explain").action = `${location.pathname}/explanation`;
  find("explain").elements.by.append(...about.explained.map((name) => element("option", {}, name)));
  showBar(null, about);
  showTable({ about, point: pointAt });
  showPath([], {});
  if (about.is_blind) find("thought").hidden = true;
  find("bar").hidden = find("thought").hidden || about.is_hidden;
  showInvitations();
  if (opening) receive(opening.state);
} catch (error) {
  find("status").textContent = `${capital(error.message)}.`;
  find("status").style.whiteSpace = "normal";
  find("how").after(element("p", {}, ...error.advice ?? ["Choose a game again under Games; after a restart of the server, open the address that it prints."]));
  for (const part of document.querySelectorAll(".table, .sides, #clock, #steps, #actions")) part.hidden = true;
}
