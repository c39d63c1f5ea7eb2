// The list of games; choosing one asks for the players and opens a match.
import { element, find, request } from "./page.js";

const REMOTE = "over HTTP";
const AGENTS = {
  person: "you, a person", mcts: "machine: mcts (strong)", alphabeta: "machine: alphabeta", solving: "machine: solving",
  random: "machine: random moves", legal: "machine: first legal move", [REMOTE]: "a player over HTTP",
};
const KINDS = ["turn-taking", "simultaneous", "puzzle", "hidden information", "chance", "three roles"];
let games = [];

function mentions(game, words) {
  const text = Object.values(game).join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function showGames() {
  const words = find("words").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kinds = [...find("kinds").querySelectorAll('[aria-pressed="true"]')].map((each) => each.textContent);
  const shown = games.filter((game) => mentions(game, words) && kinds.every((kind) => (game.kind ?? "").includes(kind)));
  find("games").replaceChildren(...shown.map(card));
  find("message").textContent = shown.length || !games.length ? "" : "No game matches.";
}

function card(game) {
  const picture = element("span", { class: "picture" });
  const image = element("img", { src: `/api/games/${encodeURIComponent(game.name)}/picture.svg`, alt: "", loading: "lazy" });
  image.addEventListener("error", () => picture.replaceChildren(element("span", {}, game.name.slice(0, 2))));
  picture.append(image);
  const kind = [game.roles && `roles ${game.roles}`, game.kind].filter(Boolean).join(" · ");
  return element("li", {},
    element("button", { type: "button", "data-game": game.name, onclick: () => askSeats(game) },
      picture, element("strong", {}, game.title || game.name), element("small", {}, kind),
      element("small", {}, game.value && game.value !== "unknown" ? `value: ${game.value}` : "")));
}

async function askSeats(game) {
  find("setup-title").textContent = game.title || game.name;
  find("setup-about").textContent = game.about ?? "";
  find("setup-error").textContent = "";
  let roles;
  try {
    const rules = game.rules ?? (await request(`/api/games/${encodeURIComponent(game.name)}/rules`));
    const checked = await request("/api/sheet/check", { rules });
    roles = checked.roles.filter((role) => role !== "random");
    if (!roles.length) throw new Error("this sheet cannot be played: open it in the workbench to see why");
    game = { ...game, rules };
  } catch (error) {
    find("message").textContent = error.message;
    return;
  }
  find("seats").replaceChildren(...roles.map((role, index) => {
    const kind = element("select", { name: "kind", "aria-label": `player of ${role}` }, ...Object.entries(AGENTS).map(([value, text]) => element("option", { value }, text)));
    const options = element("input", { name: "options", placeholder: "options, such as c=40", "aria-label": `options of ${role}` });
    kind.value = index ? "mcts" : "person";
    options.disabled = kind.value === "person";
    kind.addEventListener("change", () => {
      options.disabled = kind.value === "person";
      options.placeholder = kind.value === REMOTE ? "127.0.0.1:9147" : "options, such as c=40";
    });
    return element("label", {}, role, kind, options);
  }));
  find("setup").onsubmit = (event) => { event.preventDefault(); start(game); };
  find("edit").onclick = () => { sessionStorage.setItem("sheet", game.rules); location.href = "/workbench"; };
  find("setup").showModal();
}

async function start(game) {
  const seats = [...find("seats").children].map((row) => {
    const kind = row.querySelector("select").value;
    const options = row.querySelector("input").value.trim();
    if (kind === REMOTE) return `http://${(options || "127.0.0.1:9147").replace("http://", "")}`;
    return options && kind !== "person" ? `${kind}:${options}` : kind;
  });
  const source = game.isOwn ? { rules: game.rules } : { game: game.name };
  find("start").disabled = true;
  try {
    const { id } = await request("/api/matches", { ...source, seats, seconds: Number(find("seconds").value) });
    location.href = `/match/${id}`;
  } catch (error) {
    find("setup-error").textContent = error.message;
  } finally {
    find("start").disabled = false;
  }
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
find("cancel").addEventListener("click", () => find("setup").close());
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
try {
  games = await request("/api/games");
  showGames();
  find("tournament").hidden = !(await request("/api/stores")).length;
} catch (error) {
  find("message").textContent = error.message;
}
