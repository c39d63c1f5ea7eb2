// Who was ahead: what searches expected, as a chart.
import { inkOf } from "./page.js";

const SVG = "http://www.w3.org/2000/svg";
export const LISTED = 3;

/** What is known of each role's expectation: lists of [position, value], the result last. */
export function series(review, live, about) {
  const lists = about.roles.map((role, index) => {
    const known = new Map(live.values.map((row, step) => [step, row[index]]).filter(([, value]) => value !== null && value !== undefined));
    for (const entry of review?.entries ?? []) if (entry.role === role && entry.value !== null) known.set(entry.step, entry.value);
    return [...known].sort(([one], [other]) => one - other);
  });
  return lists.map((list, index) => list.length && live.is_over && live.goals?.[index] != null ? [...list, [live.step, live.goals[index]]] : list);
}

/** The chart as SVG; `at`: the step on the board, `marks`: mistakes, `onStep(step)` follows a click. */
export function chart(lists, { roles, steps, at, marks, width, onStep }) {
  const height = 130, left = 28, right = 84, bottom = 108, top = 10;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "chances of the players over the steps");
  const x = (step) => left + (width - left - right) * step / Math.max(1, steps);
  const y = (value) => bottom - (bottom - top) * value / 100;
  const draw = (tag, attributes, text) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text) node.textContent = text;
    svg.append(node);
  };
  for (const value of [0, 50, 100]) {
    draw("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) });
    draw("text", { x: left - 4, y: y(value) + 4, "text-anchor": "end" }, String(value));
  }
  draw("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, `moves (${steps})`);
  draw("line", { class: "now", x1: x(at), x2: x(at), y1: top, y2: bottom });
  lists.forEach((list, index) => {
    if (!list.length) return;
    const role = roles[index], ink = `series-${inkOf(role, roles)}`;
    draw("path", { class: ink, d: list.map(([step, value], place) => `${place ? "L" : "M"}${x(step).toFixed(1)} ${y(value).toFixed(1)}`).join("") });
    const [step, value] = list.findLast(([step]) => step <= at) ?? list[0];
    draw("circle", { class: ink, cx: x(step), cy: y(value), r: 3 });
    draw("text", { class: ink, x: width - right + 8, y: 20 + 16 * index }, `${role} ${value.toFixed(0)}`);
  });
  for (const each of marks) draw("circle", { class: "lost", cx: x(each.step), cy: y(each.value), r: 4.5 });
  svg.addEventListener("click", (event) => {
    const place = (event.clientX - svg.getBoundingClientRect().left) * width / svg.clientWidth;
    onStep(Math.round((place - left) / (width - left - right) * steps));
  });
  return svg;
}
