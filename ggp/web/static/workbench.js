// The workbench: a rule sheet on the left, the findings and the initial state on the right.
import { element, find, request, showState } from "./page.js";

const PAUSE_MS = 350;
const EXAMPLE = `; Take away.
;
; A heap of seven; each takes one or two in turn. Who takes the last one wins.
;
; roles: first, second
; kind: turn-taking, zero-sum

; Who plays, and what is true at the start

(role first) (role second)
(init (heap 7)) (init (control first))

; Numbers are names, so say what they mean; (minus ?n ?k ?m): n - k = m

(succ 0 1) (succ 1 2) (succ 2 3) (succ 3 4) (succ 4 5) (succ 5 6) (succ 6 7)
(<= (minus ?n 1 ?m) (succ ?m ?n))
(<= (minus ?n 2 ?m) (succ ?m ?k) (succ ?k ?n))

; What each may do; one that waits needs a move too. A variable whose value does not matter begins with ?_

(<= (legal ?p (take ?k)) (true (control ?p)) (true (heap ?n)) (minus ?n ?k ?_m))
(<= (legal first noop) (true (control second)))
(<= (legal second noop) (true (control first)))

; What is true after the moves

(<= (next (heap ?m)) (true (heap ?n)) (does ?_p (take ?k)) (minus ?n ?k ?m))
(<= (next (control first)) (true (control second)))
(<= (next (control second)) (true (control first)))

; When it is over, and what that is worth: here the other one took the last

(<= terminal (true (heap 0)))
(<= (goal first 100) (true (heap 0)) (true (control second)))
(<= (goal first 0) (true (heap 0)) (true (control first)))
(<= (goal second 100) (true (heap 0)) (true (control first)))
(<= (goal second 0) (true (heap 0)) (true (control second)))
(<= (goal ?p 50) (role ?p) (not terminal))
`;
const EMPTY = `; Title.
;
; How it is played.
;
; roles: first, second
; kind: turn-taking, zero-sum

; Who plays, and what is true at the start

(role first) (role second)
(init (control first))

; What each may do; one that waits needs a move too

(<= (legal ?p noop) (role ?p) (not (true (control ?p))))

; What is true after the moves

(<= (next (control first)) (true (control second)))
(<= (next (control second)) (true (control first)))

; When it is over, and what that is worth

`;
const rules = find("rules");
let timer = 0;
let latest = 0;
let loaded = EXAMPLE; // the sheet as it was put there, to ask before edits are lost

const status = (text) => { find("status").textContent = text; };

function showNumbers(findings = []) {
  const bad = new Set(findings.filter((each) => each.severity === "error").map((each) => each.line));
  const count = rules.value.split("\n").length;
  const lines = [];
  for (let number = 1; number <= count; number++) lines.push(bad.has(number) ? element("span", { class: "bad" }, String(number)) : String(number), "\n");
  find("numbers").replaceChildren(...lines);
  find("numbers").scrollTop = rules.scrollTop;
}

function goTo(line, column) {
  const lines = rules.value.split("\n");
  const at = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column - 1;
  rules.focus();
  rules.setSelectionRange(at, at + 1);
  rules.scrollTop = Math.max(0, (line - 8) * 21);
}

function showFindings(findings, note) {
  const explained = new Set();
  const errorsFirst = [...findings].sort((a, b) => (b.severity === "error") - (a.severity === "error"));
  const items = errorsFirst.map((each) => {
    const isNew = each.explanation && !explained.has(each.code);
    explained.add(each.code);
    return element("li", { class: each.severity },
      element("button", { type: "button", onclick: () => each.line && goTo(each.line, each.column) },
        element("b", {}, `${each.severity} ${each.code}`), each.line ? ` line ${each.line}, column ${each.column}: ` : " ", each.text),
      isNew ? element("small", { class: "faint" }, each.explanation.replaceAll("`", "")) : "");
  });
  if (note) items.push(element("li", { class: "error" }, element("b", {}, note)));
  if (!items.length) items.push(element("li", { class: "good" }, "No findings."));
  find("findings").replaceChildren(...items);
  showNumbers(findings);
}

async function check() {
  const number = ++latest;
  status("checking …");
  try {
    const result = await request("/api/sheet/check", { rules: rules.value });
    if (number !== latest) return;
    showFindings(result.findings, result.note);
    find("title").textContent = result.title;
    find("play").disabled = !result.state || result.has_errors;
    find("prove").disabled = result.has_errors;
    if (result.state) showState(find("state"), result.state, result.roles);
    else find("state").replaceChildren(element("p", { class: "faint" }, "Fix the errors to see the board."));
    find("moves").replaceChildren(...Object.entries(result.moves).map(([role, moves]) => element("div", {}, `${role}: ${moves.slice(0, 30).join(", ")}${moves.length > 30 ? ` … ${moves.length} in all` : ""}`)));
    status("");
  } catch (error) {
    if (number !== latest) return;
    showFindings([], error.message);
    find("state").replaceChildren();
    find("moves").replaceChildren();
    find("play").disabled = find("prove").disabled = true;
    status("");
  }
}

function changed() {
  sessionStorage.setItem("sheet", rules.value);
  showNumbers();
  find("proof").hidden = true;
  clearTimeout(timer);
  timer = setTimeout(check, PAUSE_MS);
}

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

rules.addEventListener("input", changed);
rules.addEventListener("scroll", () => { find("numbers").scrollTop = rules.scrollTop; });
find("play").addEventListener("click", async () => {
  status("opening …");
  try {
    const { id } = await request("/api/matches", { rules: rules.value });
    location.href = `/match/${id}`;
  } catch (error) {
    status(error.message);
  }
});
find("prove").addEventListener("click", async () => {
  status("proving …");
  try {
    const result = await request("/api/sheet/prove", { rules: rules.value });
    showFindings(result.findings, "");
    find("proof").textContent = result.text;
    find("proof").hidden = false;
    status("");
  } catch (error) {
    status(error.message);
  }
});
find("sheets").addEventListener("change", async () => {
  const wanted = find("sheets").value;
  find("sheets").value = "";
  if (rules.value !== loaded && rules.value.trim() && !confirm("Replace the sheet that you have changed?")) return;
  try {
    loaded = { "+example": EXAMPLE, "+empty": EMPTY }[wanted] ?? (await request(`/api/games/${encodeURIComponent(wanted)}/rules`));
    rules.value = loaded;
    rules.scrollTop = rules.scrollLeft = 0;
    changed();
  } catch (error) {
    status(error.message);
  }
});
find("format").addEventListener("click", async () => {
  try {
    rules.value = await request("/api/sheet/format", { rules: rules.value });
    changed();
  } catch (error) {
    status(error.message);
  }
});
find("link").addEventListener("click", async () => {
  location.hash = await packed(rules.value);
  try {
    await navigator.clipboard.writeText(location.href);
    status("copied");
  } catch {
    status("the address of this page now holds the sheet");
  }
});

try {
  rules.value = location.hash.length > 1 ? await unpacked(location.hash.slice(1)) : sessionStorage.getItem("sheet") ?? EXAMPLE;
} catch (error) {
  status(`the link holds no sheet (${error.message})`);
}
loaded = rules.value === EXAMPLE ? EXAMPLE : "";
find("help").open = innerWidth > 960;
showNumbers();
check();
try {
  find("sheets").append(...(await request("/api/games")).map((game) => element("option", { value: game.name }, game.name)));
} catch {
  // the sheets are a convenience
}
