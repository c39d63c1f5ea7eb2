// The list of published matches: words limit it; a word that is the name of an agent means that agent only.
const field = document.getElementById("filter");
const rows = [...document.querySelectorAll("tr[data-agents]")];
const agents = new Set(rows.flatMap((row) => row.dataset.agents.split("|")));

function limit() {
  const words = field.value.split(/\s+/).filter(Boolean);
  const has = (row, word) => agents.has(word) ? row.dataset.agents.split("|").includes(word) : row.textContent.toLowerCase().includes(word.toLowerCase());
  for (const row of rows) row.hidden = !words.every((word) => has(row, word));
  document.getElementById("count").textContent = `${rows.filter((row) => !row.hidden).length} of ${rows.length} matches`;
}

function read() {
  field.value = decodeURIComponent(location.hash.slice(1));
  limit();
}

field.addEventListener("input", limit);
window.addEventListener("hashchange", read);
read();
