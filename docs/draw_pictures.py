"""Draw the pictures of the essays from the real program: `python docs/draw_pictures.py [NAME…]`.

Every function named `draw_*` makes docs/pictures/NAME.svg. Everything is seeded, so a picture
changes only with the program. Colors follow the reader's light or dark scheme.
"""

from __future__ import annotations

import csv
import gzip
import html
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
sys.path.insert(0, str(ROOT))

STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2933 }
  .paper { fill: #fbfbfa; stroke: #d5d9dd }
  .muted, .muted text { fill: #66707a }
  .small { font-size: 11px }
  .line { stroke: #9aa5b1; fill: none }
  text.on { fill: #ffffff }
  .box { fill: #e8eef2; stroke: #9aa5b1 }
  .a { fill: #00796b } .b { fill: #d9822b } .c { fill: #5c6bc0 } .d { fill: #b0bec5 } .e { fill: #c2185b }
  .sa { stroke: #00796b } .sb { stroke: #d9822b } .sc { stroke: #5c6bc0 }
  .sd { stroke: #78909c } .se { stroke: #c2185b }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb }
    .paper { fill: #1e2129; stroke: #3a4150 }
    .muted, .muted text { fill: #9aa5b1 }
    .line { stroke: #66707a }
    text.on { fill: #10151a }
    .box { fill: #2c3340; stroke: #66707a }
    .a { fill: #4db6ac } .b { fill: #ffb74d } .c { fill: #9fa8da } .d { fill: #546e7a } .e { fill: #f06292 }
    .sa { stroke: #4db6ac } .sb { stroke: #ffb74d } .sc { stroke: #9fa8da }
    .sd { stroke: #90a4ae } .se { stroke: #f06292 }
  }
"""
"""Classes of shapes (`a` … `e` fill, `sa` … `se` stroke), in both schemes."""


class Svg:
    """A picture under construction, in pixels from the top left."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self.width, self.height = width, height
        self.parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" role="img"'
            f' viewBox="0 0 {width} {height}" width="{width}">',
            f"<title>{html.escape(title)}</title><style>{STYLE}</style>",
            f'<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>',
        ]

    def rect(self, x: float, y: float, width: float, height: float, kind: str = "box", tip: str = "") -> None:
        inside = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.parts.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}">'
            f"{inside}</rect>"
        )

    def text(self, x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> None:
        self.parts.append(
            f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'
        )

    def line(self, points: list[tuple[float, float]], kind: str = "line", width: float = 1) -> None:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline class="{kind}" points="{path}" fill="none" stroke-width="{width:g}"/>')

    def dot(self, x: float, y: float, radius: float, kind: str, tip: str = "") -> None:
        inside = f"<title>{html.escape(tip)}</title>" if tip else ""
        self.parts.append(
            f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}">{inside}</circle>'
        )

    def save(self, name: str) -> None:
        PICTURES.mkdir(exist_ok=True)
        (PICTURES / f"{name}.svg").write_text("\n".join((*self.parts, "</svg>\n")), encoding="utf-8")


def draw_architecture() -> None:
    """Rooms by floor, from the layer test; the width of a room grows with its lines of code."""
    from tests.test_layers import FLOORS, modules, room

    lines: dict[str, int] = defaultdict(int)
    for name, path in modules().items():
        lines[room(name)] += len(path.read_text(encoding="utf-8").splitlines())
    floors = [[each for each in floor if each.startswith("ggp")] for floor in FLOORS]
    floors[0].insert(0, "gdl")
    lines["gdl"] = sum(count for name, count in lines.items() if name == "gdl" or name.startswith("gdl."))
    picture = Svg(760, 46 * len(floors) + 60, "Rooms of ggp by floor")
    picture.text(20, 28, "Imports point down", kind="muted")
    for number, floor in enumerate(floors):
        y = 46 * (len(floors) - number)
        picture.text(20, y + 14, str(number + 1), kind="muted small")
        x = 44.0
        for each in floor:
            label = each.removeprefix("ggp.") if each != "ggp" else "ggp (public API)"
            width = max(8.0 * len(label) + 20, 3.4 * math.sqrt(lines[each]))
            picture.rect(x, y - 8, width, 36)
            picture.text(x + width / 2, y + 8, label, "middle")
            picture.text(x + width / 2, y + 22, f"{lines[each]:,} lines", "middle", "muted small")
            x += width + 8
    picture.save("architecture")


def draw_native() -> None:
    """From gates to instructions: the first of tic-tac-toe's LEGAL phase at each of four stages."""
    from llvmlite import binding

    from ggp.circuit.tables import Phase
    from ggp.engines.loading import load
    from ggp.lanes.choose import native_layout
    from ggp.native.emit import Rows, part_text
    from ggp.native.schedule import schedule_phase

    game = load("tictactoe", "lanes")
    tables, layout = game.tables, native_layout(game.lane_tables)
    schedule, rows = schedule_phase(tables, layout, Phase.LEGAL), Rows(8, has_ternary=True)

    def literal(value: int) -> str:
        return ("not " if value & 1 else "") + str(value >> 1)

    gates = [
        f"{tables.gate0 + g} = "
        + " and ".join(map(literal, tables.input[tables.first_input[g] : tables.first_input[g + 1]].tolist()))
        for g in range(6)
    ]
    operations = [
        f"{~i}: table {schedule.table[i]:02x} of {', '.join(map(str, schedule.source[i].tolist()))}"
        for i in range(6)
    ]
    text = part_text(schedule, "next", rows)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple("x86_64-unknown-linux-gnu").create_target_machine(
        cpu="skylake-avx512", opt=1
    )
    assembly = machine.emit_assembly(binding.parse_assembly(text)).splitlines()
    instructions = [" ".join(line.split()) for line in assembly if line.startswith("\tv")][:9]
    calls = [line.replace("<8 x i64> ", "").split("llvm.x86.avx512.")[-1] for line in text.splitlines()]
    calls = [line for line in calls if line.startswith("pternlog")][1:7]
    picture = Svg(760, 400, "A gate of tic-tac-toe on its way to an instruction")
    columns = (
        (20, 36, "gates of the circuit", gates),
        (400, 36, "operations: table, rows (or earlier operations)", operations),
        (20, 216, "LLVM", calls),
        (400, 216, "instructions: 512 games each", instructions),
    )
    for x, y, title, lines in columns:
        picture.text(x, y, title)
        for number, line in enumerate(lines):
            picture.text(x, y + 20 + 17 * number, line, kind="muted small")
    picture.save("native")


def draw_reasoning() -> None:
    """Predicates of tic-tac-toe by stratum: what each needs, and what depends on state and moves."""
    from gdl.dependencies import Dependencies
    from gdl.normalize import normalize
    from gdl.syntax.parser import parse_file

    graph = Dependencies(normalize(parse_file(ROOT / "games" / "tictactoe.kif")))
    wanted = [each for each in graph.strata if each.name not in ("base", "input", "init", "distinct", "succ")]
    depth: dict[Any, int] = {}

    def level(predicate: Any) -> int:
        if predicate not in depth:
            depth[predicate] = 0
            below = [each for each in graph.callees(predicate) if each in wanted and each != predicate]
            depth[predicate] = 1 + max((level(each) for each in below), default=-1)
        return depth[predicate]

    columns: dict[int, list[Any]] = defaultdict(list)
    for each in wanted:
        columns[level(each)].append(each)
    height = 60 + 52 * max(map(len, columns.values()))
    picture = Svg(760, height, "Predicates of tic-tac-toe by what they need")
    place: dict[Any, tuple[float, float]] = {}
    step = 720 / max(len(columns), 1)
    for number in sorted(columns):
        for row, each in enumerate(columns[number]):
            gap = (height - 50) / (len(columns[number]) + 1)
            place[each] = (24 + number * step, 28 + gap * (row + 1))
    for each, (x, y) in place.items():
        for needed in graph.callees(each):
            if needed in place and needed != each:
                left, top = place[needed]
                picture.line([(left + 92, top), (x, y)])
    for each, (x, y) in place.items():
        kind = "b" if each in graph.move_dependent else "a" if each in graph.dynamic else "d"
        picture.rect(x, y - 14, 92, 28)
        picture.rect(x, y - 14, 5, 28, kind)
        picture.text(x + 48, y + 5, f"{each.name}/{each.arity}", "middle", "small")
    for x, kind, label in (
        (24, "d", "static"),
        (100, "a", "depends on the state"),
        (250, "b", "depends on the moves"),
    ):
        picture.rect(x, 14, 10, 10, kind)
        picture.text(x + 15, 24, label, kind="small")
    picture.save("reasoning")


def draw_grounding() -> None:
    """Rules of the bundled sheets against the ground rules that become of them, both logarithmic."""
    from gdl.grounding import ground
    from gdl.syntax.parser import parse_file

    sizes = {}
    for path in sorted((ROOT / "games").glob("*.kif")):
        if path.stem != "amazons":
            program = parse_file(path)
            sizes[path.stem] = (len(program.rules), ground(program).rule_count)
    picture = Svg(760, 420, "Rules of a sheet and ground rules")

    def x_of(count: float) -> float:
        return 70 + 640 * math.log10(count / 15) / math.log10(700 / 15)

    def y_of(count: float) -> float:
        return 370 - 330 * math.log10(count / 10) / 4

    for tick in (20, 50, 100, 200, 500):
        picture.line([(x_of(tick), 40), (x_of(tick), 370)])
        picture.text(x_of(tick), 388, f"{tick}", "middle", "muted small")
    for tick in (10, 100, 1000, 10_000, 100_000):
        picture.line([(70, y_of(tick)), (710, y_of(tick))])
        picture.text(64, y_of(tick) + 4, f"{tick:,}", "end", "muted small")
    named = (
        "tictactoe",
        "checkers",
        "skirmish",
        "minichess",
        "connectfour",
        "othello",
        "lightsout",
        "pentago",
    )
    for name, (rules, instances) in sizes.items():
        picture.dot(
            x_of(rules), y_of(instances), 5, "a", f"{name}: {rules} rules, {instances:,} ground rules"
        )
        if name in named:
            picture.text(x_of(rules) + 8, y_of(instances) + 4, name, kind="small")
    picture.text(70, 28, "ground rules", kind="muted")
    picture.text(710, 408, "rules and facts of the sheet", "end", "muted")
    picture.save("grounding")


def draw_circuit() -> None:
    """Literals as built and simplified: the 18 corpus sheets that shrink most, from results/circuits.md."""
    sizes = []
    for line in (ROOT / "results" / "circuits.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 4 and cells[3].replace(",", "").isdigit():
            sizes.append((int(cells[3].replace(",", "")), int(cells[4].replace(",", "")), cells[0]))
    sizes.sort(key=lambda size: size[1] / size[0])
    picture = Svg(760, 66 + 20 * 18, "Literals before and after simplification")

    def x_of(literals: float) -> float:
        return 160 + 560 * (math.log10(literals) - 1.5) / 6

    for power in range(2, 8):
        picture.line([(x_of(10**power), 40), (x_of(10**power), 48 + 20 * 18)], "line", 0.5)
        picture.text(x_of(10**power), 34, f"{10**power:,}", "middle", "muted small")
    for number, (before, after, name) in enumerate(sizes[:18]):
        y = 54 + 20 * number
        picture.text(150, y + 4, name, "end", "small")
        picture.line([(x_of(after), y), (x_of(before), y)], "sd", 3)
        picture.dot(x_of(before), y, 5, "b", f"{name}: {before:,} literals as built")
        picture.dot(x_of(after), y, 5, "a", f"{name}: {after:,} literals after simplification")
    for y, kind, label in ((20, "b", "as built"), (36, "a", "simplified")):
        picture.dot(24, y, 5, kind)
        picture.text(34, y + 4, label, kind="small")
    picture.save("circuit")


def draw_lanes() -> None:
    """Sixty-four random matches of tic-tac-toe after four moves: a column per lane, a row per fact."""
    import ggp

    game = ggp.load("tictactoe", engine="reasoner")
    rng = random.Random(5)
    lanes = []
    for _ in range(64):
        state: Hashable = game.initial_state()
        for _ in range(4):
            state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
        lanes.append({str(fact) for fact in game.facts(state)})
    facts = sorted(set().union(*lanes))
    picture = Svg(760, 70 + 15 * len(facts), "64 matches as rows of bits")
    picture.text(20, 28, "one row: a fact in 64 matches, one machine word", kind="muted")
    for row, fact in enumerate(facts):
        y = 44 + 15 * row
        picture.text(112, y + 11, fact, "end", "small")
        for lane, holds in enumerate(lanes):
            picture.rect(
                120 + 9.6 * lane, y, 8, 12, ("b" if " o" in fact else "a") if fact in holds else "box"
            )
    x = 120 + 9.6 * 20
    picture.line(
        [(x - 1, 40), (x + 9, 40), (x + 9, 48 + 15 * len(facts)), (x - 1, 48 + 15 * len(facts)), (x - 1, 40)],
        "se",
        1.5,
    )
    picture.text(x + 4, 62 + 15 * len(facts), "one lane: one match", "middle", "small")
    picture.save("lanes")


def draw_tree_search() -> None:
    """The tree of the plain search on connect four 4x4: the width of a node is its share of the visits."""
    import ggp
    from ggp.search.budget import Budget
    from ggp.search.tree.options import MctsOptions
    from ggp.search.tree.reference.search import Search

    game = ggp.load("connectfour_4x4", engine="reasoner")
    search = Search(game, game.roles[0], seed=4, options=MctsOptions(is_solving=True))
    search.move_to(game.initial_state(), None)
    search.run(Budget(simulations=2000))
    root = search.root
    assert root is not None
    picture = Svg(760, 300, "Visits in a search tree")
    picture.text(
        20,
        28,
        "connect four 4x4, 2,000 simulations: width = visits, color = mean goal of the player to move",
        kind="muted",
    )

    def draw(node: Any, x: float, width: float, depth: int) -> None:
        if depth > 7:
            return
        mover = max(range(len(node.moves)), key=lambda role: len(node.moves[role]), default=0)
        for indices, child in sorted(node.children.items()):
            visits, total = node.visits[mover][indices[mover]], node.totals[mover][indices[mover]]
            share = width * visits / max(node.visit_count, 1)
            if share >= 0.8:
                mean = total / max(visits, 1)
                kind = "a" if mean >= 58 else "d" if mean >= 42 else "b"
                picture.rect(
                    x, 44 + 29 * depth, max(share - 0.8, 0.4), 27, kind, f"{visits} visits, mean {mean:.0f}"
                )
                if share > 34:
                    picture.text(
                        x + share / 2,
                        62 + 29 * depth,
                        f"{mean:.0f}",
                        "middle",
                        "small" if kind == "d" else "small on",
                    )
                draw(child, x, share, depth + 1)
            x += share

    draw(root, 20, 720, 0)
    for x, kind, label in ((20, "a", "at least 58"), (120, "d", "42 to 58"), (200, "b", "below 42")):
        picture.rect(x, 281, 10, 10, kind)
        picture.text(x + 15, 290, label, kind="small")
    picture.save("tree-search")


def draw_policies() -> None:
    """Win rates against plain UCT on breakthrough over simulations, from the published matches."""
    points: dict[tuple[str, int], list[float]] = defaultdict(list)
    with gzip.open(ROOT / "results" / "matches" / "simulation_counts.csv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file):
            agents = [row["agent1"], row["agent2"]]
            if row["game"] == "breakthrough" and "uct" in agents and row["condition"].isdigit():
                seat = 1 - agents.index("uct")
                points[agents[seat], int(row["condition"])].append(float(row[f"goal{seat + 1}"]))
    counts = sorted({count for _, count in points})
    picture = Svg(760, 330, "Win rates of learning policies over the number of simulations")

    def x_of(count: float) -> float:
        return 70 + 560 * math.log10(count / counts[0]) / math.log10(counts[-1] / counts[0])

    def y_of(share: float) -> float:
        return 290 - 240 * (share - 35) / 65

    for tick in (40, 50, 60, 70, 80, 90, 100):
        picture.line([(70, y_of(tick)), (630, y_of(tick))], "line", 2 if tick == 50 else 0.5)
        picture.text(62, y_of(tick) + 4, f"{tick}", "end", "muted small")
    for count in counts:
        picture.text(x_of(count), 308, f"{count:,}", "middle", "muted small")
    labels = []
    for agent, color in zip(("mast", "past", "fast", "to-mast", "rave"), "abcde", strict=True):
        means = [(count, sum(points[agent, count]) / len(points[agent, count])) for count in counts]
        picture.line([(x_of(count), y_of(mean)) for count, mean in means], f"s{color}", 2.5)
        for count, mean in means:
            picture.dot(x_of(count), y_of(mean), 4, color, f"{agent}, {count}: {mean:.0f} %")
        labels.append((y_of(means[-1][1]), agent.upper(), color))
    y = -math.inf
    for wanted, label, color in sorted(labels):
        y = max(wanted, y + 15)
        picture.rect(642, y - 5, 10, 10, color)
        picture.text(657, y + 4, label, kind="small")
    picture.text(70, 28, "breakthrough, % of points against plain UCT; x: simulations per move", kind="muted")
    picture.save("policies")


def draw_exact_search() -> None:
    """The states of tic-tac-toe by number of marks and value, as `ggp solve` finds them."""
    import ggp
    from ggp.solver.solution import solve

    game = ggp.load("tictactoe", engine="lanes")
    solution = solve(game)
    layer, layers = {game.initial_state()}, []
    while layer:
        layers.append([solution.values(state)[0] for state in layer])
        following = set()
        for state in layer:
            if not game.is_terminal(state):
                first, second = (game.legal_moves(state, role) for role in game.roles)
                following |= {game.next_state(state, (a, b)) for a in first for b in second}
        layer = following
    largest = max(map(len, layers))
    picture = Svg(760, 70 + 26 * len(layers), "States of tic-tac-toe by marks and value")
    for number, values in enumerate(layers):
        y = 48 + 26 * number
        picture.text(84, y + 14, f"{number} marks", "end", "small")
        x = 94.0
        for kind, goal in (("a", 100), ("d", 50), ("b", 0)):
            width = 580 * sum(value == goal for value in values) / largest
            picture.rect(x, y, width, 19, kind)
            x += width
        picture.text(x + 6, y + 14, f"{len(values):,}", kind="muted small")
    for x, kind, label in ((94, "a", "x wins"), (170, "d", "draw"), (230, "b", "o wins")):
        picture.rect(x, 20, 10, 10, kind)
        picture.text(x + 15, 30, label, kind="small")
    picture.text(
        330, 30, f"{sum(map(len, layers)):,} states, valued from the last to the first", kind="muted small"
    )
    picture.save("exact-search")


def draw_proof_numbers() -> None:
    """One tick of four walkers in connect four: a lane for every child of their nodes."""
    import ggp

    game = ggp.load("connectfour_4x4", engine="reasoner")
    rng = random.Random(3)
    picture = Svg(760, 180, "One tick of four walkers in connect four 4x4")
    picture.text(94, 28, "four walkers wait at a node each; every child has a lane, settled with all others")
    for y, label in ((56, "node of"), (90, "makes move"), (124, "number")):
        picture.text(84, y + 15, label, "end", "small")
    lane = 0
    for walker, kind, plies in zip("ABCD", "abce", (5, 8, 9, 11), strict=True):
        state: Hashable = game.initial_state()
        for _ in range(plies):
            state = game.next_state(state, [rng.choice(game.legal_moves(state, role)) for role in game.roles])
        children = [
            game.next_state(state, joint)
            for joint in product(*(game.legal_moves(state, role) for role in game.roles))
        ]
        x = 94 + 42 * lane
        picture.rect(x, 56, 42 * len(children) - 4, 22, kind)
        picture.text(x + 21 * len(children) - 2, 71, f"walker {walker}", "middle", "on small")
        for k, child in enumerate(children):
            is_end = game.is_terminal(child)
            moves = 0 if is_end else max(len(game.legal_moves(child, role)) for role in game.roles)
            picture.rect(x + 42 * k, 90, 38, 22)
            picture.text(x + 42 * k + 19, 105, f"{k}", "middle", "small")
            picture.rect(x + 42 * k, 124, 38, 22, kind if is_end else "box")
            text, on = ("end", "on small") if is_end else (str(moves), "small")
            picture.text(x + 42 * k + 19, 139, text, "middle", on)
        lane += len(children)
    picture.text(94, 168, "a new child counts as many as its mover has moves", kind="muted small")
    picture.save("proof-numbers")


def draw_explain() -> None:
    """A tree after alpha-beta with killers, as `ggp explain --svg` draws it."""
    from ggp.explain import explain, picture_of

    found = explain("[[[3,5],[6,9],[7,4]],[[1,2],[8,0],[9,9]],[[0,3],[5,8],[6,6]]]", "alphabeta:killers=on")
    (PICTURES / "explain.svg").write_text(picture_of(found), encoding="utf-8")


def draw_hidden_information() -> None:
    """Exploitability of strategies of CFR over iterations, in four games; both axes logarithmic."""
    import ggp
    from ggp.solver.cfr import CfrOptions, find_equilibrium, make_state_graph, sequence_form

    counts = [2**k for k in range(1, 13)]
    picture = Svg(760, 330, "Exploitability over iterations of counterfactual regret minimization")

    def x_of(count: float) -> float:
        return 80 + 500 * math.log2(count / counts[0]) / math.log2(counts[-1] / counts[0])

    def y_of(goals: float) -> float:
        return 50 + 240 * (1.5 - math.log10(max(goals, 1e-8))) / 9.5

    for power in range(-8, 2, 2):
        picture.line([(80, y_of(10.0**power)), (580, y_of(10.0**power))], "line", 0.5)
        picture.text(72, y_of(10.0**power) + 4, f"{10.0**power:g}", "end", "muted small")
    for count in counts[1::2]:
        picture.text(x_of(count), 312, f"{count:,}", "middle", "muted small")
    names = ("kuhn_poker", "leduc_poker", "liars_dice", "goofspiel_hidden")
    for place, (name, color) in enumerate(zip(names, "abce", strict=True)):
        form = sequence_form(make_state_graph(ggp.load(name)))
        found = [find_equilibrium(form, CfrOptions(1e-8, count)).exploitability for count in counts]
        picture.line(
            [(x_of(n), y_of(goals)) for n, goals in zip(counts, found, strict=True)], f"s{color}", 2.5
        )
        for n, goals in zip(counts, found, strict=True):
            picture.dot(x_of(n), y_of(goals), 3, color, f"{name}, {n}: {goals:.2g} goals")
        picture.rect(594, 60 + 20 * place, 10, 10, color)
        picture.text(610, 69 + 20 * place, name.replace("_", " "), kind="small")
    picture.text(80, 28, "what best responses gain, in goals; x: iterations of predictive CFR+", kind="muted")
    picture.save("hidden-information")


def draw_networks() -> None:
    """A network that is taught, its layers as columns, and the circle of playing and teaching."""
    picture = Svg(760, 300, "A taught network and the circle of teaching")
    columns = [("facts", 12, "a"), ("64 units", 8, "b"), ("32 units", 5, "b"), ("", 2, "c")]
    places = [
        [(60 + 110 * column, 150 + 17 * (row - (count - 1) / 2)) for row in range(count)]
        for column, (_, count, _) in enumerate(columns)
    ]
    for left, right in pairwise(places):
        for begin in left:
            for end in right:
                picture.line([begin, end], "line", 0.3)
    for (name, _, color), column in zip(columns, places, strict=True):
        for x, y in column:
            picture.dot(x, y, 5, color)
        picture.text(column[0][0], 282, name, "middle", "muted small")
    picture.text(402, 146, "goal of each role", kind="small")
    picture.text(402, 164, "share of each move", kind="small")
    steps = [(600, 60, "512 matches"), (700, 150, "samples"), (600, 240, "torch"), (545, 150, "network")]
    for (x, y, name), (next_x, next_y, _) in zip(steps, [*steps[1:], steps[0]], strict=True):
        picture.line([(x, y), (next_x, next_y)], "sb", 1.5)
        picture.rect(x - 42, y - 13, 84, 26, "box")
        picture.text(x, y + 4, name, "middle", "small")
    picture.save("networks")


def draw_clocks() -> None:
    """One PLAY of five seconds: who does what until when (margins as for a remote manager)."""
    picture = Svg(760, 290, "One PLAY request over time")
    lanes = {"manager": 66, "server": 116, "tracker": 166, "search process": 216}

    def x_of(seconds: float) -> float:
        return 130 + 110 * seconds

    for label, y in lanes.items():
        picture.text(118, y + 4, label, "end", "small")
        picture.line([(130, y), (x_of(5.3), y)])
    for second in range(6):
        picture.line([(x_of(second), 40), (x_of(second), 240)], "line", 0.5)
        picture.text(x_of(second), 258, f"{second} s", "middle", "muted small")

    def bar(lane: str, begin: float, end: float, kind: str, label: str) -> None:
        picture.rect(x_of(begin), lanes[lane] - 10, x_of(end) - x_of(begin), 20, kind)
        picture.text(x_of(begin) + 4, lanes[lane] - 15, label, kind="small")

    bar("manager", 0, 0.06, "d", "PLAY")
    bar("server", 0, 4.0, "box", "waits for the decision, keeps the best move so far")
    bar("tracker", 0.06, 0.4, "c", "applies the joint move: a legal move is known")
    bar("search process", 0.06, 3.95, "a", "searches; every new best move is reported at once")
    bar("server", 4.0, 4.08, "b", "answers")
    bar("manager", 4.1, 4.16, "d", "move")
    picture.line([(x_of(4), 40), (x_of(4), 240)], "se", 2)
    picture.text(x_of(4) + 4, 278, "deadline: clock minus margin", "middle", "small")
    picture.line([(x_of(5), 40), (x_of(5), 240)], "sb", 2)
    picture.text(x_of(5), 34, "play clock", "middle", "small")
    picture.save("clocks")


DRAWERS: dict[str, Callable[[], None]] = {
    name.removeprefix("draw_").replace("_", "-"): function
    for name, function in list(globals().items())
    if name.startswith("draw_")
}


def main() -> None:
    """Draw the pictures named on the command line, or all."""
    for name in sys.argv[1:] or DRAWERS:
        DRAWERS[name]()
        print(PICTURES / f"{name}.svg")


if __name__ == "__main__":
    main()
