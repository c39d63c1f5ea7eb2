// The board on a page: turned to a player, with marks and arrows, and pieces that follow the pointer.
const SVG = "http://www.w3.org/2000/svg";
const DRAG_PIXELS = 5;

const cellOf = (svg, name) => svg?.querySelector(`[data-cell="${CSS.escape(name)}"]`);
const areaOf = (svg) => svg?.dataset.area?.split(" ").map(Number);

function draw(place, tag, attributes) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  place.append(node);
  return node;
}

/** Turns a board upside down; pieces and names stay upright. */
export function turn(svg, isTurned) {
  const area = areaOf(svg);
  if (!area || !isTurned) return;
  const [left, right, top, bottom] = area;
  const move = (node, x, y) => node.setAttribute("transform", `translate(${x} ${y})`);
  for (const node of svg.querySelectorAll("[data-x]")) move(node, left + right - 2 * node.dataset.x, top + bottom - 2 * node.dataset.y);
  for (const node of svg.querySelectorAll(".turns")) node.setAttribute("transform", `rotate(180 ${(left + right) / 2} ${(top + bottom) / 2})`);
  for (const node of svg.querySelectorAll(".names text")) {
    const isRow = node.getAttribute("text-anchor") === "end";
    move(node, isRow ? 0 : left + right - 2 * node.getAttribute("x"), isRow ? top + bottom - 2 * (node.getAttribute("y") - 4) : 0);
  }
}

/** Outlines cells, above all others; `groups`: kind of mark → names of cells. */
export function markCells(svg, groups) {
  const layer = svg?.querySelector(".marks");
  if (!layer) return;
  for (const old of layer.querySelectorAll(".ring")) old.remove();
  for (const [kind, names] of Object.entries(groups)) {
    for (const cell of names.map((name) => cellOf(svg, name)).filter(Boolean)) {
      const ring = cell.querySelector(".square").cloneNode(false);
      ring.setAttribute("class", `ring is-${kind}`);
      if (cell.hasAttribute("transform")) ring.setAttribute("transform", cell.getAttribute("transform"));
      layer.append(ring);
    }
  }
}

/** The middle of a cell, or of a line between dots, as it stands on the board. */
function middle(svg, name) {
  const cell = cellOf(svg, name), dot = cell?.querySelector(".dot");
  if (!dot) return null;
  const shift = cell.getAttribute("transform")?.match(/-?[\d.]+/g)?.map(Number) ?? [0, 0];
  return [Number(dot.getAttribute("cx")) + shift[0], Number(dot.getAttribute("cy")) + shift[1]];
}

/** Where a click ends that may be on any of these cells: on empty ones, of a frame on the lowest, where the disc falls. */
function ends(svg, names) {
  if (names.length < 2) return names;
  const empty = names.filter((name) => !cellOf(svg, name)?.matches(".full"));
  if (!svg.matches(".frame")) return empty.length ? empty : names;
  return empty.sort((one, other) => cellOf(svg, other).dataset.y - cellOf(svg, one).dataset.y).slice(0, 1);
}

/** The cells of each click of a move, from their text. */
export const pathOf = (text) => text ? text.split(";").map((cells) => cells.split("|")) : [];

/** Shows where a move goes, until the next call; `path`: the cells of each click. */
export function showArrow(svg, path) {
  svg?.querySelector(".arrow")?.remove();
  const layer = svg?.querySelector(".marks") ?? svg;
  if (!layer || !path?.length) return;
  const middles = path.map((names) => ends(svg, names).map((name) => middle(svg, name)).filter(Boolean)).filter((each) => each.length);
  const arrow = draw(layer, "g", { class: "arrow" });
  const points = middles.filter((each) => each.length === 1).flat();
  if (points.length === 1 && svg.matches(".frame")) { // from above, where the disc is dropped
    const [, , top, bottom] = areaOf(svg), isTurned = svg.querySelector(".cell[transform]");
    points.unshift([points[0][0], isTurned ? bottom : top]);
  }
  if (points.length < 2) for (const [cx, cy] of middles.at(-1) ?? []) draw(arrow, "circle", { cx, cy, r: 19 });
  for (let index = 1; index < points.length; index++) {
    const [[x1, y1], [x2, y2]] = [points[index - 1], points[index]];
    const length = Math.hypot(x2 - x1, y2 - y1) || 1, [dx, dy] = [(x2 - x1) / length, (y2 - y1) / length];
    draw(arrow, "path", { d: `M${x1} ${y1}L${x2 - 10 * dx} ${y2 - 10 * dy}` });
    const tip = [[x2, y2], [x2 - 14 * dx - 7 * dy, y2 - 14 * dy + 7 * dx], [x2 - 14 * dx + 7 * dy, y2 - 14 * dy - 7 * dx]];
    draw(arrow, "polygon", { points: tip.map((point) => point.join(",")).join(" ") });
  }
}

/** What stands on a cell, for a sentence: its name, its content or "", and the role that owns it, if that is known. */
export function describe(svg, name) {
  const cell = cellOf(svg, name), [place, content] = (cell?.getAttribute("aria-label") ?? name).split(": ");
  return { place, content: content === "empty" ? "" : content?.replaceAll("_", " ") ?? "", owner: cell?.dataset.owner };
}

/** Connects taps and drags on boards in `place`: `begin(cell)` says whether a piece may be picked up. */
export function connectBoard(place, { begin, drop, tap }) {
  let pressed = null; // where the pointer went down
  let dragged = null; // the copy of a piece under the pointer
  const under = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("#state [data-cell]")?.dataset.cell;

  function pick(event) {
    const svg = place.querySelector("svg.board");
    const layer = svg?.querySelector(".marks"), cell = cellOf(svg, pressed.cell);
    const parts = cell ? [...cell.querySelectorAll(".piece, .groove, .crown, .disc")] : [];
    if (!layer || !parts.length || !begin(pressed.cell)) return;
    const group = draw(layer, "g", { class: "dragged" });
    group.append(...parts.map((part) => part.cloneNode(true)));
    cell.classList.add("lifted");
    dragged = { group, svg, from: { x: Number(cell.dataset.x), y: Number(cell.dataset.y) }, cell };
    follow(event);
  }

  function follow(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(dragged.svg.getScreenCTM().inverse());
    dragged.group.setAttribute("transform", `translate(${point.x - dragged.from.x} ${point.y - dragged.from.y})`);
  }

  function release() {
    dragged?.group.remove();
    dragged?.cell.classList.remove("lifted");
    dragged = pressed = null;
  }

  place.addEventListener("pointerdown", (event) => {
    const cell = event.target.closest("[data-cell]")?.dataset.cell;
    pressed = cell && event.button === 0 ? { cell, x: event.clientX, y: event.clientY } : null;
  });
  document.addEventListener("pointermove", (event) => {
    if (!pressed) return;
    if (dragged) follow(event);
    else if (!pressed.isTried && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > DRAG_PIXELS) { pressed.isTried = true; pick(event); }
  });
  document.addEventListener("pointerup", (event) => {
    const start = pressed?.cell, isDragged = Boolean(dragged), target = under(event);
    if (!start) return;
    release();
    if (isDragged) { if (target !== start) drop(target); } else if (target) tap(target);
  });
  document.addEventListener("pointercancel", release);
}
