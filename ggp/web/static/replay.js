// A published match: its steps are in the page, each with what differs from the one before.
const match = JSON.parse(find("match").textContent);
const states = [];
for (const step of match.steps) states.push(merged(states.at(-1) ?? {}, step));
let shown = 0;

function movesText(step) {
  const moves = step.moves.map((move, seat) => [match.roles[seat] ?? "", move]);
  const telling = moves.filter(([, move]) => move !== "waits");
  return (telling.length ? telling : moves).map(([role, move]) => `${role}: ${move}`).join(" · ");
}

function faultsText(step) {
  return step.faults.map((fault, seat) => (fault ? `${match.roles[seat] ?? ""}: ${fault}` : "")).filter(Boolean).join(" · ");
}

function show(number) {
  const last = states.length - 1;
  shown = Math.max(0, Math.min(last, number));
  history.replaceState(null, "", `#${shown}`);
  const state = states[shown];
  showState(find("state"), state, match.roles);
  find("status").textContent = shown === last ? match.outcome.charAt(0).toUpperCase() + match.outcome.slice(1) : shown ? movesText(state) : "The match begins";
  find("step").value = shown;
  find("step-text").textContent = `${shown} of ${last}`;
  for (const name of ["first", "back"]) whyNot(name, shown === 0 && "this is the first position");
  for (const name of ["forward", "last"]) whyNot(name, shown === last && "this is the last position");
  for (const item of find("log").children) item.classList.toggle("here", Number(item.dataset.step) === shown);
  find("log").querySelector(".here")?.scrollIntoView({ block: "nearest" });
}

if (states.length) {
  find("step").max = states.length - 1;
  find("log").start = faultsText(states[0]) ? 0 : 1;
  find("log").append(...states.map((state, number) => {
    const button = element("button", { type: "button", title: state.terms.join(" "), onclick: () => show(number) }, number ? movesText(state) : "START");
    return element("li", { "data-step": number }, button, element("span", { class: "lost" }, faultsText(state)));
  }).slice(faultsText(states[0]) ? 0 : 1));
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
