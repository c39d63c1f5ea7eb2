// Shared by all pages: requests, elements, and drawing a state that the server describes.

export class ServerError extends Error {
  constructor(status, text) {
    super(text);
    this.status = status;
  }
}

const AGAIN_MS = 2000;
const GONE = "The program is not running any more: start ggp serve again to go on.";

/** Says that the server does not answer, until it does; then the document gets an event `back`. */
export async function lose() {
  if (find("gone")) return;
  const line = element("p", { id: "gone", role: "alert" }, GONE);
  document.body.append(line);
  do await new Promise((done) => setTimeout(done, AGAIN_MS)); while (!await fetch("/static/base.css", { method: "HEAD" }).catch(() => null));
  line.remove();
  document.dispatchEvent(new Event("back"));
}

export async function request(path, body) {
  const options = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    lose();
    throw new ServerError(0, "the program does not answer");
  }
  const data = response.headers.get("Content-Type")?.includes("json") ? await response.json() : await response.text();
  if (!response.ok) throw new ServerError(response.status, data.error ?? response.statusText);
  return data;
}

/** An element; children are nodes or text, never markup. */
export function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export const find = (id) => document.getElementById(id);

export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Grays a button with a reason, or enables it without one. Gray buttons can be focused and tapped, and then say why. */
export function whyNot(name, reason) {
  const button = find(name), id = `why-${name}`;
  if (!find(id)) {
    button.after(element("span", { id, class: "why", role: "tooltip" }));
    button.dataset.title = button.title;
    button.addEventListener("blur", () => button.classList.remove("asked"));
    button.addEventListener("click", (event) => {
      if (!button.hasAttribute("aria-disabled")) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      button.classList.add("asked");
    }, true);
  }
  find(id).textContent = reason ? `${capital(reason)}.` : "";
  button.title = reason ? "" : button.dataset.title;
  if (!reason) button.classList.remove("asked");
  for (const [attribute, value] of [["aria-disabled", "true"], ["aria-describedby", id]]) {
    if (reason) button.setAttribute(attribute, value);
    else button.removeAttribute(attribute);
  }
}

/** A state after the changes of an event `state` (see changes.py): lists and texts of many lines may be patched. */
export function merged(before, { patches, ...changed }) {
  const state = { ...before, ...changed };
  for (const [key, { length, at }] of Object.entries(patches ?? {})) {
    const isText = typeof before[key] === "string";
    const known = isText ? before[key].split("\n") : before[key];
    const entries = Array.from({ length }, (_, place) => place in at ? at[place] : known[place]);
    state[key] = isText ? entries.join("\n") : entries;
  }
  return state;
}

const INKS = { blue: 0, red: 1, green: 2, yellow: 3, white: -1, black: -1 };

/** The number of the ink of a role, by its name if that is a color; -1: plain. */
export const inkOf = (name, roles) => INKS[name] ?? (roles.includes(name) ? roles.indexOf(name) % 6 : 5);

const COLORS = { white: "#fdfdfb", black: "#2b2d33", red: "#d43d3d", blue: "#3a6fd4", green: "#3c9a50", yellow: "#e0b83a" };

/** The color of a role as CSS; "" without a role. */
export const colorOf = (role, roles) => role ? COLORS[role] ?? `var(--ink-${inkOf(role, roles)})` : "";

const FACES = "⚀⚁⚂⚃⚄⚅";

/** A piece of a line: its text, or a card, die, chips or a pile as a person would see them. */
export function drawn({ text, drawn: what }, kind = "") {
  const word = text.trim();
  if (what === "card") return [" ", element("span", { class: "card-face", title: word }, /^[a-z]/.test(word) ? capital(word).slice(0, word.length > 5 ? 6 : 5) : word)];
  if (what === "back") return [" ", element("span", { class: "card-face back", role: "img", "aria-label": "a hidden card" })];
  if (what === "die") return [" ", element("span", { class: "die", role: "img", "aria-label": word }, FACES[word - 1])];
  if (what === "chip") return [" ", element("span", { class: "chip" }, word)];
  if (what === "pile") return word.split(" ").filter(Boolean).map(() => element("span", { class: `pile-piece ${kind}` }));
  return [element("span", kind ? { class: kind } : {}, text)];
}

/** Puts board, figures and facts of a state into `place`. */
export function showState(place, state, roles = []) {
  const parts = [];
  if (state.board) {
    const svg = new DOMParser().parseFromString(state.board, "image/svg+xml").documentElement;
    for (const disc of svg.querySelectorAll("[data-fall]")) disc.style.setProperty("--fall", disc.dataset.fall);
    parts.push(document.importNode(svg, true));
  }
  if (state.tally?.length) {
    const rows = state.tally.map(([role, text]) => element("div", { class: text ? "" : "none" }, element("span", { class: `name-${inkOf(role, roles)}` }, role), ` ${text}`));
    parts.push(element("div", { class: "tally figures" }, element("span", { class: state.tally.some(([, text]) => text) ? "dim" : "none" }, state.counted), ...rows));
  }
  if (state.lines?.length) {
    const lines = element("div", { class: "figures" });
    for (const line of state.lines) {
      const row = element("span", line.some((piece) => ["card", "chip", "die"].includes(piece.drawn)) ? { class: "wraps" } : {});
      for (const piece of line) {
        const kind = piece.dim ? "dim" : piece.name ? `name-${inkOf(piece.name, roles)}` : "";
        row.append(...drawn(piece, kind));
      }
      lines.append(row, "\n");
    }
    parts.push(lines);
  }
  if (state.facts?.length) {
    const list = element("ul", { class: "facts faint" }, ...state.facts.map((fact) => element("li", {}, fact)));
    if (state.facts_left_out) list.append(element("li", {}, `… and ${state.facts_left_out} more`));
    const isAll = !state.board && !state.lines?.length;
    parts.push(element("details", { open: isAll }, element("summary", { class: "faint" }, isAll ? "What is true now" : state.facts.length === 1 ? "1 more fact" : `${state.facts.length} more facts`), list));
  }
  place.replaceChildren(...parts);
}
