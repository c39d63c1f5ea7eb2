// What persons may do besides moving: resign, offer a draw, look at the clock, play again, share the address.
import { capital, element, find, whyNot } from "./page.js";

const SURE_MS = 4000;
let clocks = { left: {}, running: [], since: 0 };
let sureTimer = 0;
let isOpening = false; // the next match is on its way
addEventListener("pageshow", () => { isOpening = false; }); // also when the browser comes back to this page

const minutes = (seconds) => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`;

function showClocks() {
  const spent = (Date.now() - clocks.since) / 1000;
  find("clocks").replaceChildren(...Object.entries(clocks.left).map(([role, left]) => {
    const isRunning = clocks.running.includes(role);
    const now = Math.max(0, left - (isRunning ? spent : 0));
    return element("span", { class: `${isRunning ? "running" : ""} ${now < 20 ? "short" : ""}` }, element("b", {}, role), ` ${minutes(now)}`);
  }));
}

/** The controls as a state allows them; `own`: roles of persons, `acting`: the one who may act here. */
export function showControls(state, about, own, acting) {
  const isOver = state.is_over, isPlayed = own.length > 0 && !about.is_replay;
  clocks = { left: state.clocks ?? {}, running: state.running ?? [], since: Date.now() };
  showClocks();
  const isAlone = about.roles.filter((role) => role !== "random").length < 2;
  for (const name of ["resign", "draw"]) find(name).hidden = !isPlayed || isOver || (isAlone && name === "draw");
  for (const name of ["swap", "again"]) find(name).hidden = !isOver || about.is_replay || about.is_invited;
  find("swap").hidden ||= isAlone;
  whyNot("resign", acting ? "" : "it is not your move");
  const offered = state.offered;
  whyNot("draw", own.length < 2 ? "only another person can accept a draw, the computer plays on" : !acting ? "it is not your move" : offered === acting ? "the draw is offered: the other answers with their move" : "");
  find("draw").textContent = offered && offered !== acting ? "Accept the draw" : "Offer a draw";
  find("decline").hidden = !offered || isOver || offered === acting;
  find("offer").textContent = offered && !isOver ? `${capital(offered)} offers a draw.` : "";
}

/** Connects the buttons; `ask(what, body)` asks the server, `acting()` is the role that acts here. */
export function connect(ask, acting) {
  setInterval(() => { if (clocks.running.length) showClocks(); }, 500);
  find("resign").addEventListener("click", () => {
    const button = find("resign");
    clearTimeout(sureTimer);
    if (button.dataset.sure) { delete button.dataset.sure; button.textContent = "Resign"; ask("resign", { role: acting() }); return; }
    button.dataset.sure = "asked";
    button.textContent = "Really resign?";
    sureTimer = setTimeout(() => { delete button.dataset.sure; button.textContent = "Resign"; }, SURE_MS);
  });
  find("draw").addEventListener("click", () => ask("offer", { role: acting() }));
  find("decline").addEventListener("click", () => ask("decline"));
  for (const [name, isSwapped] of [["again", false], ["swap", true]]) {
    find(name).addEventListener("click", async () => {
      if (isOpening) return; // each further match would end an older one, this one too
      isOpening = true;
      const opened = await ask("again", { is_swapped: isSwapped });
      isOpening = Boolean(opened);
      if (opened) location.href = `/match/${opened.id}`;
    });
  }
  find("share").addEventListener("click", async () => {
    const button = find("share");
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "Copied, for browsers that are logged in";
    } catch {
      button.textContent = "The address is in the address bar";
    }
    setTimeout(() => { button.textContent = "Copy address"; }, SURE_MS);
  });
}
