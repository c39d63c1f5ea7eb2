// The front page: a game of one's own, eight games to play at once, and all others.
import { element, find, request, showState } from "./page.js";
import { askSeats, titleOf } from "./setup.js";

const KINDS = ["turn-taking", "simultaneous", "puzzle", "hidden information", "chance", "three roles"];
let games = [];

// --- the list ---

function mentions(game, words) {
  const text = Object.values(game).join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function showGames() {
  const words = find("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = [...find("kinds").querySelectorAll('[aria-pressed="true"]')].map((each) => each.textContent);
  const shown = games.filter((game) => mentions(game, words) && kinds.every((kind) => (game.kind ?? "").includes(kind)));
  for (const id of ["hero", "first", "going"]) find(id).hidden = (id === "going" && !find(id).querySelector("li")) || words.length > 0 || kinds.length > 0;
  find("games").replaceChildren(...families(shown).map(card));
  const message = find("message");
  message.replaceChildren();
  if (shown.length || !games.length) return;
  message.append("No game matches. ");
  const near = nearest(words);
  if (near.length) message.append("Did you mean ", ...near.flatMap((game, index) => [index ? " or " : "", element("button", { type: "button", class: "link", onclick: () => { find("words").value = game.short; showGames(); } }, game.short)]), "?");
}

const area = (game) => { const [a, b] = (game.size.match(/\d+/g) ?? [0, 0]).map(Number); return a * b; };

const choose = (game) => askSeats(game, games.filter((each) => each.family === game.family).sort((one, other) => area(one) - area(other)))
  .catch((error) => { find("message").textContent = error.message; });

/** Games with the same rules on boards of different sizes, together; the usual size first. */
function families(list) {
  const found = new Map();
  for (const game of list) found.set(game.family, [...(found.get(game.family) ?? []), game]);
  return [...found.values()].map((sizes) => sizes.sort((one, other) => (other.featured !== null) - (one.featured !== null) || area(one) - area(other)));
}

/** Titles that are a few typing errors away from the words. */
function nearest(words) {
  const typed = words.join(" ");
  const scored = families(games).map(([game]) => [Math.min(...[game.short, game.name].flatMap((name) => [name, ...name.split(/[\s_-]+/)]).map((name) => distance(typed, name.toLowerCase()))), game]);
  return scored.filter(([far]) => far <= Math.max(1, typed.length / 3)).sort(([one], [other]) => one - other).slice(0, 3).map(([, game]) => game);
}

/** The number of letters to insert, delete, replace or exchange with the next. */
function distance(one, other) {
  if (Math.abs(one.length - other.length) > 4) return 99;
  const rows = [Array.from({ length: other.length + 1 }, (_, place) => place)];
  for (let i = 1; i <= one.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= other.length; j++) {
      const isSame = one[i - 1] === other[j - 1];
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + !isSame);
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[one.length][other.length];
}

/** "two players", "puzzle", "two players, hidden cards": what a card says of a game. */
function people({ kind = "", roles = "" }) {
  const count = roles.split(",").filter((role) => role.trim() !== "random").length;
  const who = kind.includes("puzzle") ? "a puzzle" : count < 2 ? "for one" : count === 2 ? "two players" : `${count} players`;
  return [who, kind.includes("simultaneous") ? "both move at once" : "", kind.includes("hidden information") ? "hidden information" : "", kind.includes("chance") ? "with luck" : ""].filter(Boolean).join(", ");
}

function card(sizes) {
  const [game] = sizes;
  const main = element("button", { type: "button", class: "game", "data-game": game.name, onclick: () => choose(game) },
    scene(game), element("strong", {}, game.short), element("small", {}, people(game)));
  const others = sizes.length > 1 ? element("span", { class: "sizes" }, element("small", { class: "faint" }, game.size || "usual"),
    ...sizes.slice(1).map((each) => element("button", { type: "button", "data-game": each.name, "aria-label": `${each.short}, ${each.size || "usual"}`, onclick: () => choose(each) }, each.size || "usual"))) : "";
  return element("li", {}, main, others);
}

// Boards are drawn by the server, one after the other, when they come into view.
const watcher = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    if (!isIntersecting) continue;
    watcher.unobserve(target);
    showScene(target);
  }
}, { rootMargin: "200px" });
const scenes = new Map(Object.entries(JSON.parse(find("opening")?.textContent ?? "{}"))); // those that the page brought along

function scene(game) {
  const place = element("span", { class: "picture", "data-of": game.name, "aria-hidden": "true" });
  if (scenes.has(game.name)) drawScene(place, scenes.get(game.name));
  else watcher.observe(place);
  return place;
}

async function showScene(place) {
  try {
    const found = await request(`/api/games/${encodeURIComponent(place.dataset.of)}/scene`);
    scenes.set(place.dataset.of, found);
    drawScene(place, found);
  } catch {
    place.textContent = "";
  }
}

/** A board, or else its text; within a button nothing of it is a control. */
function drawScene(place, state) {
  showState(place, { ...state, facts: state.board || state.lines.length ? [] : state.facts, lines: state.board ? [] : state.lines });
  for (const cell of place.querySelectorAll("[role], [aria-label], [data-cell]")) for (const name of ["role", "aria-label", "data-cell", "tabindex"]) cell.removeAttribute(name);
  for (const title of place.querySelectorAll("title")) title.remove();
}

async function openText(text, name) {
  try {
    if (text.trimStart().startsWith("{")) {
      const { id } = await request("/api/matches", { record: text });
      location.href = `/match/${id}`;
    } else {
      await askSeats({ name, title: name, rules: text, isOwn: true });
    }
  } catch (error) {
    find("message").textContent = error.message;
  }
}

find("words").addEventListener("input", showGames);
find("kinds").replaceChildren(...KINDS.map((kind) => element("button", { type: "button", "aria-pressed": "false", onclick: ({ target }) => {
  target.setAttribute("aria-pressed", String(target.getAttribute("aria-pressed") !== "true"));
  showGames();
} }, kind)));
document.addEventListener("paste", (event) => {
  const text = event.clipboardData.getData("text");
  if (event.target.matches("input, select") || !text.includes("(")) return;
  openText(text, "pasted game");
});
find("record").addEventListener("change", async (event) => {
  const [file] = event.target.files;
  if (file) openText(await file.text(), file.name);
});
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", async (event) => {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (file) openText(await file.text(), file.name);
});
/** The matches of this machine that are not over. */
async function showGoing() {
  const found = await request("/api/matches");
  find("going").querySelector("ul").replaceChildren(...found.map(({ id, short, size, seats, step, person }) => {
    const own = Object.values(seats).filter((seat) => seat === "person").length === 1;
    const who = Object.entries(seats).filter(([role]) => role !== "random").map(([role, seat]) => `${role}: ${seat === "person" ? (own ? "you" : "a person") : seat.replace(/^mcts:level=/, "computer, ")}`);
    const when = `${step === 1 ? "1 step" : `${step} steps`}${person ? `, ${own ? "your" : `${person}'s`} move` : ""}`;
    return element("li", {}, element("a", { href: `/match/${id}` }, titleOf({ short, size })), element("span", { class: "faint" }, ` ${when} · ${who.join(" · ")}`));
  }));
  find("going").hidden = !found.length;
}

document.addEventListener("back", () => { if (games.length) find("message").textContent = ""; else location.reload(); });

try {
  [games] = await Promise.all([request("/api/games"), showGoing()]);
  const featured = games.filter((game) => game.featured !== null).sort((one, other) => one.featured - other.featured);
  find("featured").replaceChildren(...featured.map((game) => card([game])));
  showGames();
  request(new URL("small.kif", import.meta.url)).then((rules) => request("/api/sheet/scene", { rules })).then((state) => {
    const place = element("span", { class: "picture" });
    drawScene(place, state);
    find("hero-board").replaceChildren(place, "“White wins for certain.”");
  }).catch(() => null); // an ornament
} catch (error) {
  find("message").textContent = error.message;
}
