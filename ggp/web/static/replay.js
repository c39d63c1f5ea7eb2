// A published match: its steps are in the page, each with what differs from the one before.
import { capital, element, find, merged, showState, whyNot } from "./page.js";
import { showMoves } from "./log.js";

const match = JSON.parse(find("match").textContent);
const states = [];
for (const step of match.steps) states.push(merged(states.at(-1) ?? {}, step));
const faultAt = (number, place) => states[number].faults[place] ?? "";
const moves = { terms: [], trails: [], history: [] };
for (const [index, state] of states.slice(1).entries()) {
  moves.terms.push(state.terms);
  moves.trails.push(state.trails);
  moves.history.push(state.moves.map((text, place) => text === "waits" && faultAt(index + 1, place) ? "(waits)" : text)); // a fault is never left out
}
let shown = 0;

function statusText() {
  if (shown === states.length - 1) return capital(match.outcome);
  const faults = states[shown].faults.map((fault, place) => fault && `${match.roles[place] ?? ""}: ${fault}`).filter(Boolean).join(" · ");
  return [shown ? `Position after step ${shown} of ${states.length - 1}` : "The match begins", faults].filter(Boolean).join(" · ");
}

function show(number) {
  const last = states.length - 1;
  shown = Math.max(0, Math.min(last, number));
  history.replaceState(null, "", `#${shown}`);
  showState(find("state"), states[shown], match.roles);
  find("status").textContent = statusText();
  find("step").value = shown;
  find("step-text").textContent = `${shown} of ${last}`;
  for (const name of ["first", "back"]) whyNot(name, shown === 0 && "this is the first position");
  for (const name of ["forward", "last"]) whyNot(name, shown === last && "this is the last position");
  const noteAt = (step, place) => faultAt(step, place) ? { text: faultAt(step, place) } : null;
  showMoves({ match: moves, roles: match.roles, at: shown, noteAt, open: show });
}

if (states.length) {
  find("step").max = states.length - 1;
  const go = { first: () => 0, back: () => shown - 1, forward: () => shown + 1, last: () => states.length - 1 };
  for (const [name, target] of Object.entries(go)) find(name).addEventListener("click", () => show(target()));
  find("step").addEventListener("input", () => show(Number(find("step").value)));
  document.addEventListener("keydown", (event) => {
    const name = { ArrowLeft: "back", ArrowRight: "forward", Home: "first", End: "last" }[event.key];
    if (!name || event.target === find("step")) return;
    event.preventDefault();
    show(go[name]());
  });
  show(Number(location.hash.slice(1)) || 0);
} else {
  find("status").textContent = match.outcome;
}
