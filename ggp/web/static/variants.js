// Lines of one's own beside the match: a tree of variants, each node a joint move after its parent.
import { element } from "./page.js";

/** The moves of a node in KIF. */
export const termsOf = (node) => node.moves.filter((move) => move !== "noop").join(" + ");

/** A tree that is kept for `name` as long as the browser's tab lives. */
export class Variants {
  constructor(name) {
    this.key = `variants:${name}`;
    this.roots = []; // the first moves of variants; `step`: after which step of the match
    this.here = null; // the node on the board; null: the match itself
    try {
      this.roots = JSON.parse(sessionStorage.getItem(this.key) ?? "[]").map((root) => revived(root, null));
    } catch {
      // a convenience: without storage the tree lives as long as the page
    }
  }

  /** The nodes of the line on the board, the first one first. */
  nodes() {
    const found = [];
    for (let each = this.here; each; each = each.parent) found.unshift(each);
    return found;
  }

  /** The step of the match where the line on the board begins, and its joint moves. */
  line() {
    const nodes = this.nodes();
    return { step: nodes[0]?.step ?? 0, line: nodes.map((node) => node.moves) };
  }

  /** Enters the joint move `moves`, shown as `text`, after the node on the board or after `step` of the match. */
  add(step, moves, text) {
    const siblings = this.here ? this.here.children : this.roots;
    const start = this.here ? undefined : step;
    let node = siblings.find((each) => each.step === start && each.moves.join() === moves.join());
    if (!node) siblings.push(node = { step: start, moves, text, children: [], parent: this.here });
    this.here = node;
    this.keep();
  }

  keep() {
    try {
      sessionStorage.setItem(this.key, JSON.stringify(this.roots, (name, value) => name === "parent" ? undefined : value));
    } catch {
      // see above
    }
  }

  /** The tree as nested lists; `open(node)` shows one. */
  markup(open) {
    const item = (node, number) => element("span", {},
      element("button", { type: "button", title: termsOf(node), class: node === this.here ? "here" : "", onclick: () => open(node) }, `${number}. ${node.text}`), " "); // the blank is for readers and copies
    const lists = (nodes, number) => {
      const [main, ...others] = nodes;
      if (!main) return [];
      const side = others.map((each) => element("ul", {}, element("li", {}, item(each, number), ...lists(each.children, number + 1))));
      return [item(main, number), ...side, ...lists(main.children, number + 1)];
    };
    return this.roots.map((root) => element("ul", {}, element("li", {}, item(root, root.step + 1), ...lists(root.children, root.step + 2))));
  }
}

function revived(node, parent) {
  const copy = { ...node, parent };
  copy.children = node.children.map((each) => revived(each, copy));
  return copy;
}
