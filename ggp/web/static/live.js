// The matches of a running player or manager, the newest first; a waiting page opens the first one.
import { element, find, nameServer, request } from "./page.js";

const POLL_MS = 1000;
let shown = "";
let hasWaited = false;

const title = (match) => match.name || `match ${match.id}`;

function showMatches(matches) {
  const now = JSON.stringify(matches);
  if (now === shown) return;
  shown = now;
  const focused = document.activeElement?.getAttribute("href");
  find("matches-box").hidden = !matches.length;
  find("matches").replaceChildren(...matches.map((match) => element("tr", {},
    element("td", {}, match.is_shown ? element("a", { href: `/match/${match.id}` }, title(match)) : title(match)),
    element("td", {}, match.role ?? ""), element("td", { class: "number" }, String(match.step)), element("td", {}, match.text))));
  if (focused) find("matches").querySelector(`[href="${CSS.escape(focused)}"]`)?.focus();
}

async function follow() {
  try {
    const matches = await request("/api/live");
    if (matches[0]?.is_shown && hasWaited) { location.href = `/match/${matches[0].id}`; return; }
    hasWaited = !matches.length;
    showMatches(matches);
    find("message").textContent = matches.length ? "" : "Waiting for a match …";
  } catch (error) {
    find("message").textContent = error.status ? error.message : "The player has ended.";
  }
  setTimeout(follow, POLL_MS);
}

nameServer("The player or manager has ended.");
follow();
