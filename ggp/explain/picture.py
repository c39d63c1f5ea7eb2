"""The tree of an explanation as SVG, for readers of light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ggp.analysis.svg import xml_text
from ggp.explain.explanation import Explanation, Look, Shape, TreeNode

LEVEL = 84
MARGIN = 28
RADIUS = 12
LETTER = 6.6
"""Width of a letter of a label, in pixels."""
MIN_WIDTH = 400

STYLE = """
svg.tree { --ink: #1f2933; --faint: #5c6670; --paper: #fbfbfa; --line: #8792a0; --accent: #0b6bcb;
  --cut: #b3261e; --box: #e8eef2; --good: #00695c; font: 13px system-ui, sans-serif; }
@media (prefers-color-scheme: dark) {
  svg.tree { --ink: #e4e7eb; --faint: #a3adb8; --paper: #1e2129; --line: #66707a; --accent: #7db4f2;
    --cut: #ff8a80; --box: #2c3340; --good: #4db6ac; }
}
.tree text { fill: var(--ink); paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
.tree .paper { fill: var(--paper); }
.tree .shape { fill: var(--box); stroke: var(--line); stroke-width: 1.2; }
.tree .edge { stroke: var(--line); fill: none; stroke-width: 1.2; }
.tree .move, .tree .window, .tree .fold { font-size: 11px; fill: var(--faint); }
.tree .note { font-size: 11px; fill: var(--cut); }
.tree .marks { font-size: 11px; fill: var(--good); font-weight: 700; }
.tree .strike { stroke: var(--cut); stroke-width: 2; visibility: hidden; }
.tree .new > .value, .tree .cut > .value { fill: var(--faint); }
.tree .new > .shape, .tree .cut > .shape { stroke-dasharray: 3 3; fill: none; }
.tree .cut > .edge { stroke-dasharray: 3 3; } .tree .struck > .strike { visibility: visible; }
.tree .open > .shape { stroke: var(--accent); stroke-width: 2; }
.tree .best > .edge { stroke: var(--good); stroke-width: 3; }
.tree .now > .shape { fill: var(--accent); stroke: var(--accent); stroke-dasharray: none; }
.tree .now > .inside { fill: var(--paper); stroke: none; }
"""


class Place(NamedTuple):
    """Where a node is drawn: the middle of its shape, in pixels."""

    x: float
    y: float


def picture_of(found: Explanation, step: int | None = None) -> str:
    """The tree after `step` steps as an SVG document; None: in the end.

    >>> from ggp.explain.searches import explain
    >>> picture_of(explain("[[3,9],[2,4]]"))[:38]
    '<svg xmlns="http://www.w3.org/2000/svg'
    """
    looks = found.looks(step)
    is_end = step is None or step >= len(found.steps)
    now = -1 if is_end or not step else found.steps[step - 1].node
    return tree_svg(found, looks, now=now, line=found.line if is_end else ())


def tree_svg(found: Explanation, looks: Sequence[Look], *, now: int, line: Sequence[int]) -> str:
    """now: number of the node in hand, -1 for none; line: nodes whose edges are drawn as the best line."""
    letters = letters_of(found)
    own = [width_of(node, each) for node, each in zip(found.nodes, letters, strict=True)]
    places, width, height = layout(found, own)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="tree" role="img" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">',
        f"<title>{xml_text(found.title)}</title><style>{STYLE}</style>",
        '<rect class="paper" width="100%" height="100%" rx="8"/>',
    ]
    # From the last node to the first, so that no edge crosses the note of the node that it leads from.
    for node, look in reversed(list(zip(found.nodes, looks, strict=True))):
        names = [look.status.value, *["struck"] * bool(look.note)]
        names += ["now"] * (node.number == now) + ["best"] * (node.number in line)
        above = places[node.parent] if node.parent >= 0 else None
        half = half_of(letters[node.number][0])
        parts.append(node_svg(node, look, places[node.number], above, half, " ".join(names)))
    return "\n".join([*parts, "</svg>\n"])


def letters_of(found: Explanation) -> list[tuple[int, int]]:
    """The letters of the longest labels of each node at any step: next to or in its shape; below it."""
    across = [len(node.given) for node in found.nodes]
    below = [max(len(node.move) + len(node.probability) + 1, len(node.folded)) for node in found.nodes]
    for step in found.steps:
        for number, look in step.looks.items():
            is_leaf = found.nodes[number].shape is Shape.LEAF
            across[number] = max(across[number], len(look.value), 0 if is_leaf else len(look.window))
            below[number] = max(below[number], len(look.note), len(look.window) if is_leaf else 0)
    return list(zip(across, below, strict=True))


def width_of(node: TreeNode, letters: tuple[int, int]) -> float:
    """The room that a node's own labels take: a leaf's value is inside, others are right of the middle."""
    across, below = letters
    inside = 2 * half_of(across) if node.shape is Shape.LEAF else 2 * (LETTER * across + RADIUS)
    return max(LETTER * below, inside) + 10


def half_of(letters: int) -> float:
    """Half the width of a leaf."""
    return max(15.0, LETTER * letters / 2 + 5)


def layout(found: Explanation, own: Sequence[float]) -> tuple[list[Place], float, float]:
    """Places of all nodes, each centered above its children; and the size of the picture."""
    nodes, room = found.nodes, list(own)
    for node in reversed(nodes):
        room[node.number] = max(own[node.number], sum(room[child] for child in node.children))
    places = [Place(0.0, 0.0)] * len(nodes)
    left = [0.0] * len(nodes)
    left[0] = MARGIN
    for node in nodes:
        number = node.number
        y = MARGIN + RADIUS if node.parent < 0 else places[node.parent].y + LEVEL
        places[number] = Place(left[number] + room[number] / 2, y)
        at = left[number] + (room[number] - sum(room[child] for child in node.children)) / 2
        for child in node.children:
            left[child] = at
            at += room[child]
    width = max(MIN_WIDTH, room[0] + 2 * MARGIN)
    shift = (width - room[0]) / 2 - MARGIN
    places = [Place(place.x + shift, place.y) for place in places]
    return places, width, max(place.y for place in places) + 2 * RADIUS + MARGIN


def node_svg(node: TreeNode, look: Look, at: Place, above: Place | None, half: float, names: str) -> str:
    """A node with the edge that leads to it; the page changes its classes and its texts of a class."""
    x, y = at
    parts = []
    if above is not None:
        middle_x, middle_y = (x + above.x) / 2, (y + above.y) / 2
        parts.append(f'<path class="edge" d="M{above.x:.1f},{above.y + RADIUS}L{x:.1f},{y - RADIUS}"/>')
        parts.append(f'<path class="strike" d="M{middle_x - 8:.1f},{middle_y + 3:.1f}l16,-6m-16,0l16,6"/>')
        label = " ".join(filter(None, (node.move, node.probability)))
        parts.append(text_svg("move", x, y - RADIUS - 5, label, tip=node.term))
    parts.append(shape_svg(node, at, half))
    is_leaf = node.shape is Shape.LEAF
    parts.append(
        text_svg(
            "value inside" if is_leaf else "value",
            *((x, y + 4.5) if is_leaf else (x + 17, y + 1)),
            look.value or node.given,
            "middle" if is_leaf else "start",
        )
    )
    place = (x, y + RADIUS + 14, look.window) if is_leaf else (x + 17, y + 14, look.window, "start")
    parts.append(text_svg("window", *place))
    parts.append(text_svg("note", x, y + RADIUS + 14, look.note))
    parts.append(text_svg("marks", x - 16, y + 4, look.marks, "end"))
    if node.folded:
        parts.append(text_svg("fold", x, y + RADIUS + 26, node.folded))
    return f'<g id="n{node.number}" class="node {names}">{"".join(parts)}</g>'


def shape_svg(node: TreeNode, at: Place, half: float) -> str:
    """The shape says who chooses: max and min point up and down, chance is round."""
    x, y, r = at.x, at.y, RADIUS
    tip = f"<title>{xml_text(node.path or 'root')}: {xml_text(node.player or 'leaf')}</title>"
    if node.shape is Shape.MAX:
        return f'<path class="shape" d="M{x:.1f},{y - r}l{r},{2 * r}h{-2 * r}z">{tip}</path>'
    if node.shape is Shape.MIN:
        return f'<path class="shape" d="M{x:.1f},{y + r}l{r},{-2 * r}h{-2 * r}z">{tip}</path>'
    if node.shape is Shape.CHANCE:
        return f'<circle class="shape" cx="{x:.1f}" cy="{y}" r="{r}">{tip}</circle>'
    half, corner, name = (half, 3, "") if node.shape is Shape.LEAF else (r, 8, node.player[:3])
    box = f'x="{x - half:.1f}" y="{y - r}" width="{2 * half:.1f}" height="{2 * r}" rx="{corner}"'
    inside = text_svg("move inside", x, y + 4, name) if name else ""
    return f'<rect class="shape" {box}>{tip}</rect>{inside}'


def text_svg(name: str, x: float, y: float, text: str, anchor: str = "middle", tip: str = "") -> str:
    title = f"<title>{xml_text(tip)}</title>" if tip else ""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{name}" {place}>{xml_text(text)}{title}</text>'
