// Runs of tournament stores: tables that follow a run while it is played, and its matches to step through.
import { element, find, request } from "./page.js";

const POLL_MS = 2000;
let shown = { store: -1, run: "", size: -1 };
let matches = [];

function tableView(table) {
  const kind = (index) => (index < table.text_columns ? {} : { class: "number" });
  const row = (tag, cells) => element("tr", {}, ...cells.map((text, index) => element(tag, kind(index), text)));
  return element("div", { class: "card" }, element("h3", {}, table.title),
    element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": table.title },
      element("table", {}, element("thead", {}, row("th", table.header)), element("tbody", {}, ...table.rows.map((cells) => row("td", cells))))));
}

function showReport(report) {
  find("summary").textContent = report.summary;
  find("progress").hidden = false;
  find("progress").max = Math.max(report.planned, report.stored, 1);
  find("progress").value = report.stored;
  find("report").replaceChildren(...report.sections.flatMap((section) => [
    element("h2", {}, section.title), ...section.tables.map(tableView)]));
  matches = report.matches;
  find("left-out").textContent = report.left_out ? `the newest ${matches.length}; ${report.left_out} older ones are not listed` : "";
  find("matches-box").hidden = false;
  showMatches();
}

function describe(match) {
  return match.seats.map((seat) => `${seat.agent} (${seat.role}) ${seat.goal ?? "–"}`).join(" · ");
}

function showMatches() {
  const words = find("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = matches.filter((match) => {
    const text = `${match.game} ${describe(match)} ${match.condition} ${match.fault}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const focused = document.activeElement?.dataset?.match;
  find("matches").replaceChildren(...chosen.map((match) => element("tr", {},
    element("td", {}, element("button", { type: "button", "data-match": match.id, "aria-label": `replay ${match.game}: ${describe(match)}`, onclick: () => replay(match) }, match.game)),
    element("td", {}, describe(match)), element("td", { class: "number" }, String(match.steps)), element("td", {}, match.condition), element("td", {}, match.fault))));
  if (focused) find("matches").querySelector(`[data-match="${CSS.escape(focused)}"]`)?.focus();
}

async function replay(match) {
  try {
    const { id } = await request("/api/matches", { store: shown.store, run: shown.run, match: match.id });
    location.href = `/match/${id}`;
  } catch (error) {
    find("message").textContent = error.message;
  }
}

/** Fills the list of runs where it changed; the newest run of the last store comes first. */
function showRuns(stores) {
  const known = stores.flatMap((store, number) => Object.keys(store.runs).map((run) => ({ value: JSON.stringify([number, run]), text: stores.length > 1 ? `${store.name}: ${run}` : run })));
  known.reverse();
  const select = find("run");
  if (known.map((each) => each.value).join() === [...select.options].map((each) => each.value).join()) return;
  const before = select.value || decodeURIComponent(location.hash.slice(1));
  select.replaceChildren(...known.map((each) => element("option", { value: each.value }, each.text)));
  if (known.some((each) => each.value === before)) select.value = before;
}

async function refresh() {
  try {
    const stores = await request("/api/stores");
    showRuns(stores);
    const broken = stores.filter((store) => store.error).map((store) => `${store.name}: ${store.error}`);
    const nothing = stores.length ? "No matches yet." : "Start with `ggp serve --store FILE` to see the tournaments in a store.";
    const text = broken.join(" ") || (find("run").value ? "" : nothing);
    if (find("run").value) {
      const [store, run] = JSON.parse(find("run").value);
      const size = stores[store].runs[run];
      if (store !== shown.store || run !== shown.run || size !== shown.size) {
        const report = await request(`/api/stores/${store}?run=${encodeURIComponent(run)}`);
        shown = { store, run, size };
        showReport(report);
      }
    }
    find("message").textContent = text;
  } catch (error) {
    find("message").textContent = error.message;
  }
}

async function follow() {
  await refresh();
  setTimeout(follow, POLL_MS);
}

find("filter").addEventListener("input", showMatches);
find("run").addEventListener("change", () => { location.hash = encodeURIComponent(find("run").value); refresh(); });
follow();
