// The dialog that asks who plays, and what a seat has: on the front page and in the workbench.
import { capital, element, find, request } from "./page.js";

const REMOTE = "over HTTP";
const LEVELS = { person: "You, a person", "mcts:level=easy": "Computer, easy", "mcts:level=medium": "Computer, medium", "mcts:level=strong": "Computer, strong" };
const ADVANCED = {
  [REMOTE]: "Another's address (a player over HTTP)", mcts: "mcts: tree search, all its strength", alphabeta: "alphabeta", solving: "solving: mcts beside a solver",
  random: "random moves", legal: "first legal move",
};
let players = null; // kinds of players with their options

/** "Hex 5×5": the short title with the size, unless it ends in it. */
export const titleOf = ({ short, size }) => !size || short.toLowerCase().endsWith(size.toLowerCase()) ? short : `${short} ${size}`;

/** Loads what the page of a match needs, while a person looks at the dialog. */
function prepare(game) {
  for (const file of ["match.css", "fit.css", "match.js", "analysis.js", "board.js", "controls.js", "log.js", "review.js", "variants.js"]) {
    document.head.append(element("link", { rel: "prefetch", href: new URL(file, import.meta.url) }));
  }
  if (!game.isOwn) request(`/api/games/${encodeURIComponent(game.name)}/prepare`, {}).catch(() => null);
}

/** Opens the dialog for a game. `sizes`: the games of its family; `isHere`: its rules are on the page. Throws if it has no roles. */
export async function askSeats(game, sizes = []) {
  find("setup-title").textContent = game.short ? titleOf(game) : game.title || game.name;
  find("setup-about").textContent = game.about ?? "";
  find("setup-error").textContent = "";
  find("setup-sizes").replaceChildren(...(sizes.length > 1 ? sizes.map((each) =>
    element("button", { type: "button", "aria-pressed": String(each.name === game.name), onclick: () => askSeats(each, sizes) }, each.size || "usual")) : []));
  prepare(game);
  const known = [["full title", game.title], ["roles", game.roles], ["kind", game.kind], ["value with perfect play", game.value !== "unknown" && game.value], ["name in commands", !game.isOwn && game.name]].filter(([, text]) => text);
  find("more").hidden = !known.length;
  find("more-list").replaceChildren(...known.flatMap(([name, text]) => [element("dt", {}, name), element("dd", {}, text)]));
  let roles = (game.roles ?? "").split(",").map((role) => role.trim()).filter((role) => role && role !== "random");
  const readRules = () => game.rules ?? request(`/api/games/${encodeURIComponent(game.name)}/rules`);
  if (!roles.length) roles = (await request("/api/sheet/check", { rules: await readRules() })).roles.filter((role) => role !== "random");
  if (!roles.length) throw new Error("this sheet cannot be played: open it in the workbench to see why");
  const option = ([value, text]) => element("option", { value }, text);
  find("seats").replaceChildren(...roles.map((role, index) => {
    const kind = element("select", { name: "kind", "aria-label": `player of ${role}` }, ...Object.entries(LEVELS).map(option),
      element("optgroup", { label: "Advanced" }, ...Object.entries(ADVANCED).map(option)));
    const options = element("input", { name: "options", "aria-label": `options of ${role}`, hidden: true });
    kind.value = index ? "mcts:level=medium" : "person";
    kind.addEventListener("change", () => {
      options.hidden = kind.value in LEVELS;
      options.placeholder = kind.value === REMOTE ? "127.0.0.1:9147" : "options, such as c=40";
      showOptions();
    });
    return element("label", {}, capital(role), kind, options);
  }));
  showOptions();
  find("setup").onsubmit = (event) => { event.preventDefault(); start(game); };
  find("edit").hidden = Boolean(game.isHere);
  find("edit").onclick = async () => {
    sessionStorage.setItem("sheet", await readRules());
    location.href = "/workbench";
  };
  if (!find("setup").open) find("setup").showModal();
}

/** The options of the advanced players that are chosen, each with its help. */
async function showOptions() {
  const kinds = [...new Set([...find("seats").querySelectorAll("select")].map((each) => each.value))].filter((kind) => kind in ADVANCED && kind !== REMOTE);
  find("options-help").hidden = !kinds.length;
  if (!kinds.length) return;
  if (!players) find("options-list").replaceChildren(element("dt", {}, "reading …"));
  players ??= await request("/api/players").catch(() => ({}));
  find("options-list").replaceChildren(...kinds.filter((kind) => players[kind]).flatMap((kind) => [element("dt", { class: "kind" }, kind), element("dd", {}, players[kind].help),
    ...players[kind].options.flatMap((row) => [element("dt", {}, row.name), element("dd", {}, `${row.help} (${row.range ? `${row.range}; ` : ""}${row.default})`)])]));
}

async function start(game) {
  const seats = [...find("seats").children].map((row) => {
    const kind = row.querySelector("select").value;
    const options = row.querySelector("input").value.trim();
    if (kind in LEVELS) return kind;
    if (kind === REMOTE) return `http://${(options || "127.0.0.1:9147").replace("http://", "")}`;
    return options ? `${kind}:${options}` : kind;
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

find("cancel").addEventListener("click", () => find("setup").close());
document.addEventListener("back", () => { find("setup-error").textContent = ""; });
