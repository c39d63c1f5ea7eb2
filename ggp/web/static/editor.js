// The editor of rule sheets: a text area, and behind it the same text in colors, one element a line.
//
// What is typed, selected, undone and read aloud is the text area's; lines wrap equally in both because font,
// width and padding are the same. Own code instead of a component: CodeMirror 6 comes as packages that import
// each other by bare names, which browsers resolve only after a build or with an import map.
import { element, find } from "./page.js";

const KEYWORDS = new Set(["role", "init", "true", "does", "legal", "next", "terminal", "goal", "not", "distinct", "or", "sees", "base", "input", "<=", "random"]);
const TOKEN = /;.*|[()]|[^\s();]+|\s+/g;
const OFFERED = 8;
const COLORED = 100_000; // characters; a longer text is shown by the text area alone, as coloring it would take minutes

/** The tokens of a line: text, class, and column. `afterOpen`: whether the token before is a parenthesis. */
function tokens(line) {
  const found = [];
  let afterOpen = false;
  for (const { 0: text, index } of line.matchAll(TOKEN)) {
    const kind = text[0] === ";" ? "comment" : text === "(" || text === ")" ? "paren" : !text.trim() ? "" : text[0] === "?" ? "variable"
      : KEYWORDS.has(text.toLowerCase()) ? "keyword" : /^\d+$/.test(text) ? "number" : afterOpen ? "relation" : "name";
    found.push({ text, kind, index });
    if (text.trim()) afterOpen = text === "(";
  }
  return found;
}

/** For every parenthesis of the text, by offset: the offset of its partner, or -1. Comments have none. */
export function pairs(text) {
  const partner = new Map(), open = [];
  let offset = 0;
  for (const line of text.split("\n")) {
    for (const { text: token, index } of tokens(line)) {
      if (token === "(") { open.push(offset + index); partner.set(offset + index, -1); }
      if (token !== ")") continue;
      const start = open.pop();
      partner.set(offset + index, start ?? -1);
      if (start !== undefined) partner.set(start, offset + index);
    }
    offset += line.length + 1;
  }
  return partner;
}

/** `text` with the name or variable `old` replaced wherever it is a token; a variable only within `[from, to)`. */
export function renamed(text, old, name, from = 0, to = text.length) {
  let offset = 0;
  const change = (token, at) => token === old && at >= from && at < to ? name : token;
  return text.split("\n").map((line) => {
    const start = offset;
    offset += line.length + 1;
    return tokens(line).map(({ text: token, index }) => change(token, start + index)).join("");
  }).join("\n");
}

export class Editor {
  /** `onChange` is called after every change of the text. */
  constructor(area, paint, onChange) {
    Object.assign(this, { area, paint, onChange, lines: [], bad: new Set(), marks: "", offered: [], chosen: -1 });
    this.list = element("ul", { id: "complete", hidden: true, "aria-label": "completions" });
    paint.parentElement.append(this.list);
    area.addEventListener("input", () => { this.draw(); this.offer(false); onChange(); });
    document.addEventListener("selectionchange", () => { if (document.activeElement === area) this.match(); });
    area.addEventListener("paste", (event) => {
      const text = event.clipboardData.getData("text/plain");
      if (text.length <= COLORED) return;
      event.preventDefault(); // browsers insert line by line, and lay the page out after each
      area.setRangeText(text.replace(/\r\n?/g, "\n"), area.selectionStart, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input"));
    });
    area.addEventListener("blur", () => this.close());
    area.addEventListener("keydown", (event) => this.key(event));
  }

  get text() { return this.area.value; }

  /** Replaces the text; `canUndo`: as one edit of the user's. */
  set(text, canUndo = false) {
    if (canUndo) {
      this.area.focus();
      this.area.select();
      if (!document.execCommand("insertText", false, text)) this.area.value = text;
    } else this.area.value = text;
    this.draw();
  }

  /** Colors the lines that have changed. */
  draw() {
    this.isPlain = this.text.length > COLORED;
    find("uncolored").hidden = !this.isPlain;
    find("keys").hidden = this.isPlain;
    this.paint.parentElement.classList.toggle("plain", this.isPlain);
    if (this.isPlain) {
      Object.assign(this, { lines: [], partner: new Map(), marked: [] });
      this.paint.replaceChildren();
      return;
    }
    const texts = this.text.split("\n");
    const partner = this.partner = pairs(this.text);
    let offset = 0;
    texts.forEach((text, number) => {
      const lost = tokens(text).filter(({ kind, index }) => kind === "paren" && partner.get(offset + index) === -1).map(({ index }) => index);
      const marked = this.marked?.filter((at) => at >= offset && at <= offset + text.length).map((at) => at - offset) ?? [];
      const key = `${text}\n${lost}\n${marked}\n${this.bad.has(number + 1)}`;
      offset += text.length + 1;
      const known = this.lines[number];
      if (known?.key === key) return;
      const node = element("div", { class: this.bad.has(number + 1) ? "line bad" : "line" }, ...tokens(text).map(({ text: token, kind, index }) =>
        kind ? element("span", { class: `${kind}${lost.includes(index) ? " lost" : ""}${marked.includes(index) ? " matched" : ""}` }, token) : token));
      if (!text) node.append("\u200b");
      if (known) known.node.replaceWith(node); else this.paint.append(node);
      this.lines[number] = { key, node };
    });
    for (const { node } of this.lines.splice(texts.length)) node.remove();
  }

  /** Marks the parenthesis at the caret and its partner. */
  match() {
    const at = this.area.selectionStart;
    const near = this.area.selectionEnd !== at ? undefined : [at - 1, at].find((each) => this.partner?.has(each));
    const marked = near === undefined || this.partner.get(near) < 0 ? [] : [near, this.partner.get(near)];
    if (String(marked) === String(this.marked ?? [])) return;
    this.marked = marked;
    this.draw();
  }

  /** Shows lines with errors. */
  showBad(lines) {
    this.bad = new Set(lines);
    this.draw();
  }

  goTo(line, column) {
    const before = this.text.split("\n").slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0);
    const at = before + column - 1;
    this.area.focus({ preventScroll: true });
    this.area.setSelectionRange(at, at + 1);
    this.lines[line - 1]?.node.scrollIntoView({ block: "center" });
  }

  // --- names ---

  /** The token that ends or lies at the caret: text and offset. */
  word() {
    const at = this.area.selectionStart, line = this.text.lastIndexOf("\n", at - 1) + 1;
    const end = this.text.indexOf("\n", at);
    const found = tokens(this.text.slice(line, end < 0 ? undefined : end)).filter(({ kind }) => !["", "paren", "comment"].includes(kind));
    const token = found.find(({ text, index }) => line + index < at && at <= line + index + text.length) ?? found.find(({ index }) => line + index === at);
    return token && { text: token.text, start: line + token.index };
  }

  /** Where the top-level form around an offset begins and ends. */
  form(offset) {
    let start = 0, depth = 0;
    for (const [at, other] of [...this.partner].sort(([one], [two]) => one - two)) {
      const isOpen = other > at || (other === -1 && this.text[at] === "(");
      if (isOpen && depth++ === 0) start = at;
      if (!isOpen && --depth === 0 && at >= offset) return [start, at];
    }
    return [start, this.text.length];
  }

  /** All names of the sheet, the most frequent first; variables of the form at the caret. */
  names(isVariable) {
    const [from, to] = isVariable ? this.form(this.area.selectionStart) : [0, this.text.length];
    const count = new Map(isVariable ? [] : [...KEYWORDS].map((word) => [word, 1]));
    for (const line of this.text.slice(from, to).split("\n")) {
      for (const { text, kind } of tokens(line)) if (kind === "variable" ? isVariable : !isVariable && ["relation", "name", "keyword"].includes(kind)) count.set(text, (count.get(text) ?? 0) + 1);
    }
    return [...count].sort(([one, n], [other, m]) => m - n || one.localeCompare(other)).map(([text]) => text);
  }

  /** Offers names that begin like the word before the caret; `isAsked`: also without a letter. */
  offer(isAsked) {
    if (this.isPlain) return this.close();
    const at = this.area.selectionStart, word = this.word();
    const prefix = word && word.start + word.text.length === at ? word.text : "";
    const isComment = this.text.slice(this.text.lastIndexOf("\n", at - 1) + 1, at).includes(";");
    if (isComment || (!prefix && !isAsked) || this.area.selectionEnd !== at) return this.close();
    this.prefix = prefix;
    this.offered = this.names(prefix.startsWith("?")).filter((name) => name.startsWith(prefix) && name !== prefix).slice(0, OFFERED);
    this.chosen = this.offered.length ? 0 : -1;
    if (!this.offered.length) return this.close();
    this.list.replaceChildren(...this.offered.map((name, index) => element("li", { class: index ? "" : "chosen", onpointerdown: (event) => { event.preventDefault(); this.take(name); } }, name)));
    this.list.hidden = false;
    const line = this.text.slice(0, at).split("\n").length - 1, box = this.lines[line].node.getBoundingClientRect(), outer = this.paint.parentElement.getBoundingClientRect();
    const caret = this.caretBox(line, at - this.text.lastIndexOf("\n", at - 1) - 1) ?? box;
    this.list.style.left = `${Math.min(caret.left - outer.left, outer.width - 160) + this.paint.parentElement.scrollLeft}px`;
    this.list.style.top = `${caret.bottom - outer.top + this.paint.parentElement.scrollTop}px`;
    return null;
  }

  /** The box of the character before a column, in the colored text. */
  caretBox(line, column) {
    const walker = document.createTreeWalker(this.lines[line].node, NodeFilter.SHOW_TEXT);
    for (let left = column; walker.nextNode();) {
      const { currentNode: node } = walker;
      if (left <= node.length) {
        const range = document.createRange();
        range.setStart(node, Math.max(0, left - 1));
        range.setEnd(node, left);
        return range.getBoundingClientRect();
      }
      left -= node.length;
    }
    return null;
  }

  take(name) {
    document.execCommand("insertText", false, name.slice(this.prefix.length));
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.offered = [];
    return null;
  }

  key(event) {
    if (event.key === " " && event.ctrlKey) { event.preventDefault(); this.offer(true); return; }
    if (!this.offered.length) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.chosen = (this.chosen + step + this.offered.length) % this.offered.length;
      [...this.list.children].forEach((item, index) => item.classList.toggle("chosen", index === this.chosen));
    } else if (event.key === "Tab") { event.preventDefault(); this.take(this.offered[this.chosen]); }
    else if (event.key === "Escape") { event.preventDefault(); this.close(); }
    else if (["Enter", "ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) this.close();
  }

  /** Asks for a new name for the word at the caret, one that is not taken, and replaces it: variables in their rule only. */
  rename() {
    if (this.isPlain) return "this sheet is too long to rename in";
    const word = this.word();
    if (!word || KEYWORDS.has(word.text)) return "put the caret on a name or variable of yours";
    const [from, to] = word.text.startsWith("?") ? this.form(word.start) : [0, this.text.length];
    const dialog = find("rename"), field = find("new-name");
    find("old-name").textContent = word.text;
    field.value = word.text;
    const taken = new Set([...KEYWORDS, ...tokens(this.text.slice(from, to)).map(({ text }) => text)]);
    taken.delete(word.text);
    field.oninput = () => field.setCustomValidity(taken.has(field.value.trim()) ? `${field.value.trim()} means something else here` : "");
    field.oninput();
    let name = "";
    dialog.querySelector("form").onsubmit = () => { name = field.value.trim(); };
    dialog.onclose = () => { // not before: behind an open dialog nothing has the focus
      if (/^[^\s();]+$/.test(name) && name.startsWith("?") === word.text.startsWith("?")) this.set(renamed(this.text, word.text, name, from, to), true);
    };
    dialog.showModal();
    field.select();
    return "";
  }
}
