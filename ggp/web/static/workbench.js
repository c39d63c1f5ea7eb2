// The workbench: a rule sheet on the left; what is proven, the findings and the initial state on the right.
import { Editor } from "./editor.js";
import { capital, element, find, request, showState, whyNot } from "./page.js";
import { askSeats, titleOf } from "./setup.js";

const PAUSE_MS = 350, PROOF_PAUSE_MS = 900;
const CHANGE = /^; *(change .*)$/i; // the line after such a comment has its own field
const OPENING = "opening …";
const MISSING = "GDL214"; // no rules for a keyword: still to be written
let timer = 0;
let proofTimer = 0;
let latest = 0;
let proving = 0;
let isProving = location.hash === "#small" || sessionStorage.getItem("proving") === "on"; // prove again after every change
let concluded = null; // the sheet that was proven last
let loaded = ""; // the sheet as it was put there, to ask before edits are lost
let roles = []; // of the sheet as it was checked last
let record = null; // the match that shows what was proven
const editor = new Editor(find("rules"), find("paint"), changed);

const status = (text) => { find("status").textContent = text; };
const plainSheet = (name) => request(new URL(`${name}.kif`, import.meta.url));

// --- findings ---

function item(each, explained) {
  const isNew = each.explanation && !explained.has(each.code);
  explained.add(each.code);
  return element("li", { class: each.severity },
    element("button", { type: "button", onclick: () => each.line ? editor.goTo(each.line, each.column) : editor.goTo(editor.text.split("\n").length, 1) },
      element("b", {}, `${each.severity} ${each.code}`), each.line ? ` line ${each.line}, column ${each.column}: ` : " ", each.text),
    isNew ? element("small", { class: "faint" }, each.explanation.replaceAll("`", "")) : "");
}

/** Mistakes first, then what is still to be written, then warnings and notes. */
function showFindings(findings, note) {
  const explained = new Set();
  const groups = [
    ["", findings.filter((each) => each.severity === "error" && each.code !== MISSING)],
    ["Still to be written", findings.filter((each) => each.code === MISSING)],
    ["Worth a look", findings.filter((each) => each.severity !== "error" && each.code !== MISSING)],
  ];
  const items = groups.flatMap(([title, group]) => group.length ? [title ? element("li", { class: "title" }, title) : "", ...group.map((each) => item(each, explained))] : []).filter(Boolean);
  if (note) items.unshift(element("li", { class: "error" }, element("b", {}, note)));
  if (!items.length) items.push(element("li", { class: "good" }, "No findings."));
  find("findings").replaceChildren(...items);
  editor.showBad(findings.filter((each) => each.severity === "error" && each.line).map((each) => each.line));
}

async function check() {
  const number = ++latest;
  status("checking …");
  try {
    const result = await request("/api/sheet/check", { rules: editor.text });
    if (number !== latest) return;
    showFindings(result.findings, result.note);
    find("title").textContent = result.title;
    ({ roles } = result);
    whyNot("play", (!result.state || result.has_errors) && "correct the errors first");
    whyNot("prove", result.has_errors && "correct the errors first");
    if (result.state) showState(find("state"), result.state, result.roles);
    else find("state").replaceChildren(element("p", { class: "faint" }, "Correct the errors to see the board."));
    find("moves").replaceChildren(...Object.entries(result.moves).map(([role, moves]) => element("div", {}, `${role}: ${moves.slice(0, 30).join(", ")}${moves.length > 30 ? ` … ${moves.length} in all` : ""}`)));
    const by = find("explain").elements.by, chosen = by.value;
    find("explain").hidden = !result.explained.length;
    by.replaceChildren(...result.explained.map((name) => element("option", { selected: name === chosen }, name)));
    status("");
    if (isProving && result.has_errors && !find("conclusion").hidden) conclusion(...whatIsLeft(result.findings));
    if (isProving && !result.has_errors && concluded !== editor.text) proofTimer = setTimeout(conclude, PROOF_PAUSE_MS);
  } catch (error) {
    if (number !== latest) return;
    showFindings([], error.message);
    find("state").replaceChildren();
    find("moves").replaceChildren();
    for (const name of ["play", "prove"]) whyNot(name, error.message);
    if (!find("conclusion").hidden) conclusion("Not proven", `${capital(error.message)}.`);
    find("explain").hidden = true;
    status("");
  }
}

// --- proofs ---

function conclusion(sentence, detail, kind = "") {
  find("conclusion").hidden = false;
  find("sentence").textContent = sentence;
  find("sentence").className = kind;
  find("detail").textContent = detail;
}

/** What to do before a sheet can be proven: headline and sentence. */
function whatIsLeft(findings) {
  if (!editor.text.replace(/;.*/g, "").trim()) return ["No rules yet", "Begin with a (role …) for each player, or choose a sheet under Start from."];
  const isUnfinished = findings.every((each) => each.severity !== "error" || each.code === MISSING);
  return isUnfinished ? ["Not finished", "Write what is missing: the findings below say it."] : ["Not proven", "Correct the errors first: the findings below say where."];
}

/** Who wins with best play, with a match that shows it. */
async function conclude() {
  const number = ++proving;
  concluded = editor.text;
  conclusion("Proving …", "Every position of the game is looked at.", "faint");
  find("witness").hidden = true;
  try {
    const found = await request("/api/sheet/conclude", { rules: editor.text });
    if (number !== proving) return;
    conclusion(found.sentence, found.detail, found.record ? "good" : "");
    record = found.record;
    find("witness").hidden = !record;
  } catch (error) {
    if (number === proving) conclusion("Not proven", error.message);
  }
}

async function prove() {
  isProving = true;
  sessionStorage.setItem("proving", "on");
  clearTimeout(proofTimer);
  const { text } = editor;
  await conclude();
  status("proving more …");
  try {
    const result = await request("/api/sheet/prove", { rules: text });
    if (text !== editor.text) return;
    showFindings(result.findings, "");
    find("proof").textContent = result.text;
    find("proof-box").hidden = false;
    status("");
  } catch (error) {
    status(error.message);
  }
}

function changed() {
  try {
    sessionStorage.setItem("sheet", editor.text);
  } catch {
    sessionStorage.removeItem("sheet"); // longer than a browser keeps
  }
  showChange();
  proving += 1;
  if (isProving && !find("conclusion").hidden) conclusion("…", "The rules have changed: they are checked and proven again in a moment.", "faint");
  else find("conclusion").hidden = true;
  find("proof-box").hidden = find("witness").hidden = true;
  clearTimeout(timer);
  clearTimeout(proofTimer);
  timer = setTimeout(check, PAUSE_MS);
}

// --- one rule in a field of its own ---

const changeLine = () => editor.text.split("\n").findIndex((line) => CHANGE.test(line));

function showChange() {
  const lines = editor.text.split("\n"), at = changeLine();
  find("try").hidden = at < 0 || at + 1 >= lines.length;
  if (find("try").hidden || document.activeElement === find("rule")) return;
  find("try-text").textContent = `${CHANGE.exec(lines[at])[1]}:`;
  find("rule").value = lines[at + 1];
}

find("rule").addEventListener("input", () => {
  const lines = editor.text.split("\n");
  lines[changeLine() + 1] = find("rule").value;
  editor.set(lines.join("\n"));
  changed();
});

// A link holds the sheet behind `#`, which browsers do not send to servers.
async function packed(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join("")).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const MAX_CHARACTERS = 1_000_000;

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).pipeThrough(new TextDecoderStream()).getReader();
  let sheet = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return sheet;
    sheet += value;
    if (sheet.length > MAX_CHARACTERS) throw new Error("the sheet in this link is too large");
  }
}

/** Puts a sheet into the editor, unless changes would be lost. */
async function load(read) {
  if (editor.text !== loaded && editor.text.trim() && !confirm("Replace the sheet that you have changed?")) return;
  try {
    loaded = await read();
    editor.set(loaded);
    document.querySelector(".editor").scrollTop = 0;
    changed();
  } catch (error) {
    status(error.message);
  }
}

function save() {
  const title = (find("title").textContent || "game").toLowerCase().replace(/[^a-z0-9]+/g, "_").slice(0, 40);
  const link = element("a", { href: URL.createObjectURL(new Blob([editor.text], { type: "text/plain" })), download: `${title}.kif` });
  link.click();
  URL.revokeObjectURL(link.href);
  loaded = editor.text;
}

async function open(body) {
  if (find("status").textContent === OPENING) return; // a second click
  status(OPENING);
  try {
    const { id } = await request("/api/matches", body);
    location.href = `/match/${id}`;
  } catch (error) {
    status(error.message);
  }
}

find("explain").addEventListener("submit", () => { find("explain").elements.rules.value = editor.text; });
find("play").addEventListener("click", () => {
  const title = find("title").textContent || "Your game";
  askSeats({ name: title, title, roles: roles.join(","), rules: editor.text, isOwn: true, isHere: true }).catch((error) => status(error.message));
});
find("witness").addEventListener("click", () => open({ record }));
find("prove").addEventListener("click", prove);
find("sheets").addEventListener("change", () => {
  const wanted = find("sheets").value;
  find("sheets").value = "";
  load(() => wanted.startsWith("+") ? plainSheet(wanted.slice(1)) : request(`/api/games/${encodeURIComponent(wanted)}/rules`));
});
find("file").addEventListener("change", (event) => {
  const [file] = event.target.files;
  if (file) load(() => file.text());
  event.target.value = "";
});
find("store").addEventListener("click", save);
find("renaming").addEventListener("click", () => status(editor.rename()));
find("no-rename").addEventListener("click", () => find("rename").close());
document.addEventListener("keydown", (event) => {
  if (event.key === "F2") { event.preventDefault(); status(editor.rename()); }
  if (event.key === "s" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); save(); }
});
find("format").addEventListener("click", async () => {
  try {
    editor.set(await request("/api/sheet/format", { rules: editor.text }), true);
    changed();
  } catch (error) {
    status(error.message);
  }
});
find("link").addEventListener("click", async () => {
  location.hash = await packed(editor.text);
  try {
    await navigator.clipboard.writeText(location.href);
    status("copied");
  } catch {
    status("the address of this page now holds the sheet");
  }
});

document.addEventListener("back", check);

const kept = sessionStorage.getItem("sheet");
let isTyped = false; // before the sheet has come
find("rules").addEventListener("input", () => { isTyped = true; }, { once: true });
try {
  const isSmall = location.hash === "#small";
  loaded = await plainSheet(isSmall ? "small" : "example");
  const text = isSmall ? loaded : location.hash.length > 1 ? await unpacked(location.hash.slice(1)) : kept ?? loaded;
  if (!isTyped) editor.set(text);
  if (isSmall) { // so that coming back finds the changes
    history.replaceState(null, "", location.pathname);
    sessionStorage.setItem("sheet", loaded);
    sessionStorage.setItem("proving", "on");
  }
} catch (error) {
  status(`the link holds no sheet (${error.message})`);
}
find("help").open = innerWidth > 960 && !isProving;
showChange();
check();
try {
  find("sheets").append(...(await request("/api/games")).map((game) => element("option", { value: game.name }, titleOf(game))));
} catch {
  // the sheets are a convenience
}
