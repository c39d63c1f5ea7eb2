// What persons may do besides moving: resign, play again, share the address.
import { find, whyNot } from "./page.js";

const SURE_MS = 4000;
let sureTimer = 0;
let isOpening = false; // the next match is on its way
addEventListener("pageshow", () => { isOpening = false; }); // also when the browser comes back to this page

/** The controls as a state allows them; `own`: roles of persons, `acting`: the one who may act here. */
export function showControls(state, about, own, acting) {
  const isOver = state.is_over, isPlayed = own.length > 0 && !about.is_replay;
  const isAlone = about.roles.filter((role) => role !== "random").length < 2;
  find("resign").hidden = !isPlayed || isOver;
  for (const name of ["swap", "again"]) find(name).hidden = !isOver || about.is_replay;
  find("swap").hidden ||= isAlone;
  whyNot("resign", acting ? "" : "it is not your move");
}

/** Connects the buttons; `ask(what, body)` asks the server, `acting()` is the role that acts here. */
export function connect(ask, acting) {
  find("resign").addEventListener("click", () => {
    const button = find("resign");
    clearTimeout(sureTimer);
    if (button.dataset.sure) { delete button.dataset.sure; button.textContent = "Resign"; ask("resign", { role: acting() }); return; }
    button.dataset.sure = "asked";
    button.textContent = "Really resign?";
    sureTimer = setTimeout(() => { delete button.dataset.sure; button.textContent = "Resign"; }, SURE_MS);
  });
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
