"""Recognize a board from the rules and the facts of the initial state alone.

A board is a family of fluents such as `(cell 1 3 x)` with two arguments over small ordered domains
(numbers, `c1 c2 c3`, runs of letters, or the order that a successor-like relation of the rules
gives), which together determine the rest. Further ordered arguments make boards of boards
(`(cell 1 1 3 2 5)`), drawn side by side, and a single argument such as `c4` may hold both coordinates.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, product, takewhile

from gdl.program import Literal, Program, arguments_of
from gdl.terms import Term, Variable
from ggp.analysis.board import EMPTY, Axis, Board, Layer, Values, argument_texts, is_of
from ggp.analysis.board_shape import shaped
from ggp.analysis.fluent_domains import fluent_domains, stated_relations
from ggp.analysis.walls import COMPASS, WallFamily, wall_arguments, walled_values

AXIS_LIMIT = 26
"""Maximum number of values on one axis of a board."""

CELL_LIMIT = 1000

BOARD_LIMIT = 6
"""Maximum number of boards distinguished by an unordered name such as `left` or `right`."""


def find_board(program: Program, facts: Sequence[Term]) -> Board | None:
    """The board that the rules and the facts of the initial state suggest, or None."""
    domains = fluent_domains(program)
    successors = successor_relations(program)
    walled = _walled(domains, facts)
    candidates: list[tuple[int, Layer]] = []
    for (name, arity), values in domains.items():
        own_facts = [fact for fact in facts if is_of(fact, name, arity)]
        layer = _find_layer(program, name, values, own_facts, (successors, walled))
        if layer is not None:
            candidates.append((len(own_facts), layer))
    if not candidates:
        return None
    (_, main), *others = sorted(candidates, key=_suitability)
    fitted = (_fit(layer, main) for count, layer in others if count)
    layers = (main, *(layer for layer in fitted if layer is not None))
    board = Board(
        layers,
        is_upward=not _is_row_first(program, main) and not _are_called(program, main, main.down, "row"),
        blanks=tuple(_blank(layer, facts, roles_of(program)) for layer in layers),
        labels=_labels(chain(*(_contents(each, domains[each.name, each.arity]) for each in layers))),
    )
    named_cells = () if main.joint is None else domains[main.name, main.arity][main.joint]
    board = shaped(board, program, named_cells)
    return replace(board, walls=_families_of_walls(board, domains))


def _walled(
    domains: Mapping[tuple[str, int], Sequence[frozenset[str]]], facts: Sequence[Term]
) -> frozenset[str]:
    """The coordinates of the cells of a maze, as far as its walls show."""
    for (name, arity), values in domains.items():
        at = wall_arguments(name, values)
        own = [fact for fact in facts if is_of(fact, name, arity)]
        if at is not None and at[2] >= 0 and own:
            return frozenset().union(*walled_values(own, at))
    return frozenset()


def _families_of_walls(
    board: Board, domains: Mapping[tuple[str, int], Sequence[frozenset[str]]]
) -> tuple[WallFamily, ...]:
    """The families, among fluents with these values, that name walls on `board`."""
    if board.row_shifts or len(board.across.positions) != 1 or len(board.down.positions) != 1:
        return ()
    columns, rows = _numbered(board.across), _numbered(board.down)
    is_down_first = board.down.positions[0] < board.across.positions[0]
    on_board = {(layer.name, layer.arity) for layer in board.layers}
    families = []
    for (name, arity), values in domains.items():
        at = None if (name, arity) in on_board else wall_arguments(name, values)
        if at is not None:
            at = (at[1], at[0], at[2]) if is_down_first else at
            if values[at[0]] and values[at[0]] <= columns.keys() and values[at[1]] <= rows.keys():
                side = "" if at[2] >= 0 else next(filter(name.endswith, COMPASS))
                families.append(WallFamily(name, arity, columns, rows, at, board.is_upward, side))
    return tuple(families)


def _numbered(axis: Axis) -> dict[str, int]:
    """The values of an axis by number, and those before and after them."""
    texts = [value[-1] for value in axis.values]
    places = {text: number for number, text in enumerate(texts)}
    if all(text.isdigit() for text in texts):
        places[str(int(texts[0]) - 1)], places[str(int(texts[-1]) + 1)] = -1, len(texts)
    return places


def _cell_count(layer: Layer) -> int:
    return len(layer.across.values) * len(layer.down.values)


def _contents(layer: Layer, domains: Sequence[frozenset[str]]) -> list[str]:
    """All possible contents of a cell; the family's name if facts consist of coordinates only."""
    split = _split_domains(domains, layer.joint)
    found = [value for position in layer.content_positions for value in sorted(split[position])]
    return found or [layer.name]


def _suitability(candidate: tuple[int, Layer]) -> tuple[object, ...]:
    """Sort key for the most informative family first: contents, facts, keys, size."""
    count, layer = candidate
    keys = len(layer.across.positions) + len(layer.down.positions)
    return (not layer.content_positions, -count, keys, -_cell_count(layer), layer.name, layer.arity)


def _split_domains(domains: Sequence[frozenset[str]], joint: int | None) -> list[frozenset[str]]:
    """The domains, with that of `a1`-like names at position `joint` split in two."""
    split = list(domains)
    if joint is not None:
        values = split[joint]
        split[joint : joint + 1] = (
            frozenset(value[:1] for value in values),
            frozenset(value[1:] for value in values),
        )
    return split


def _joint_position(domains: Sequence[frozenset[str]]) -> int | None:
    """The argument with values such as `a1`, at least three letters and numbers; or None."""
    for position, domain in enumerate(domains):
        if domain and all(re.fullmatch(r"[a-z]\d{1,2}", value) for value in domain):
            parts = _split_domains([domain], 0)
            if min(len(parts[0]), len(parts[1])) >= 3:
                return position
    return None


def _find_layer(
    program: Program,
    name: str,
    domains: Sequence[frozenset[str]],
    own_facts: Sequence[Term],
    known: tuple[Sequence[Mapping[str, str]], frozenset[str]],
) -> Layer | None:
    """The fluent family name/len(domains) as a layer, or None if it has no two coordinates.

    known   successor relations, and the coordinates of cells with walls
    """
    arity = len(domains)
    joint = _joint_position(domains)
    domains = _split_domains(domains, joint)
    facts = [argument_texts(arguments_of(fact), joint) for fact in own_facts]
    orders = _orders(domains, facts, *known)
    keys = _key_positions(orders, len(domains), facts)
    unordered = None
    if keys is None and facts and len(domains) > 3:
        for unordered in range(len(domains)):
            if unordered not in orders and 2 <= len(domains[unordered]) <= BOARD_LIMIT:
                named = {unordered: tuple(sorted(domains[unordered]))}
                keys = _key_positions({**orders, **named}, len(domains), facts, required=unordered)
                if keys is not None:
                    orders = {**orders, **named}
                    break
    if keys is None:
        return None
    is_content_free = len(domains) == len(keys) and joint is None
    if is_content_free and not _is_relation(facts, keys) and (facts or not _is_marked(program, name, arity)):
        return None
    across, down = _split_keys(keys, orders, unordered if unordered in keys else None)
    layer = Layer(name, arity, _axis(across, orders), _axis(down, orders), joint)
    if joint is None and _is_row_first(program, layer):
        layer = Layer(name, arity, layer.down, layer.across)
    return layer if 4 <= _cell_count(layer) <= CELL_LIMIT else None


def _orders(
    domains: Sequence[frozenset[str]],
    facts: Sequence[Sequence[str]],
    successors: Sequence[Mapping[str, str]],
    walled: frozenset[str],
) -> dict[int, Values]:
    """Arguments that can be coordinates, with their values in order."""
    orders: dict[int, Values] = {}
    for position, domain in enumerate(domains):
        order = ordered(domain, successors) if domain else None
        if facts and _is_full_grid(facts, position):
            # A sheet may count far beyond its board; initially filled cells show where the board ends.
            seen = ordered({fact[position] for fact in facts}, successors)
            if seen is not None and _is_gapless(seen):
                order = seen
        if order is not None and len(order) > AXIS_LIMIT and walled <= domain:
            order = tuple(value for value in order if value in walled)
        if order is not None and 2 <= len(order) <= AXIS_LIMIT:
            orders[position] = order
    return orders


def _is_gapless(order: Values) -> bool:
    """Whether no number is missing between the first and the last; true of unnumbered values."""
    first, last = (re.search(r"-?\d+$", value) for value in (order[0], order[-1]))
    return first is None or last is None or int(last[0]) - int(first[0]) == len(order) - 1


def _is_full_grid(facts: Sequence[Sequence[str]], position: int) -> bool:
    """Whether the facts fill a rectangle spanned by this argument and another one."""
    own, *columns = ([fact[each] for fact in facts] for each in (position, *range(len(facts[0]))))
    return len(set(own)) > 2 and any(
        len(set(column)) > 2
        and len(set(zip(own, column, strict=True))) == len(set(own)) * len(set(column)) == len(facts)
        for column in columns
    )


def _key_positions(
    orders: Mapping[int, Values],
    arity: int,
    facts: Sequence[Sequence[str]],
    required: int | None = None,
) -> tuple[int, ...] | None:
    """The coordinates: arguments that determine all others in the given facts; or None."""
    if len(orders) < 2:
        return None
    if not facts:
        free = [position for position in orders if position != arity - 1 or len(orders) < max(arity, 3)]
        return tuple(free[:4]) if len(free) >= 2 else None
    for size in (2, 3, 4) if required is None else (3,):
        choices = sorted(
            combinations(sorted(orders), size),
            key=lambda keys: (len({len(orders[position]) for position in keys}), keys),
        )
        for keys in choices:
            places = {tuple(fact[position] for position in keys) for fact in facts}
            if len(places) == len(facts) and (required is None or required in keys):
                return keys
    return None


def _split_keys(
    keys: tuple[int, ...], orders: Mapping[int, Values], outer: int | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Coordinates across and down. Of four, the first two name the board; of three, one does.

    That one is `outer`; else the one with a unique number of values, else the one with the fewest.
    """
    if len(keys) == 2:
        return (keys[0],), (keys[1],)
    if len(keys) == 4:
        return (keys[0], keys[2]), (keys[1], keys[3])
    if outer is None:
        sizes = Counter(len(orders[position]) for position in keys)
        outer = min(reversed(keys), key=lambda key: (sizes[len(orders[key])], len(orders[key])))
    inner = [position for position in keys if position != outer]
    return (outer, inner[0]), (inner[1],)


def _axis(positions: tuple[int, ...], orders: Mapping[int, Values]) -> Axis:
    return Axis(positions, tuple(product(*(orders[position] for position in positions))))


def _is_relation(facts: Sequence[Sequence[str]], keys: tuple[int, ...]) -> bool:
    """Whether facts that consist of coordinates mark cells: no coordinate determines the others."""
    return bool(facts) and all(len({fact[key] for fact in facts}) < len(facts) for key in keys)


def _is_marked(program: Program, name: str, arity: int) -> bool:
    """Whether a move with the same arguments makes a fact of the family hold, as `(mark ?x ?y)` does."""
    for rule in program.rules_for("next", 1):
        (fact,) = arguments_of(rule.head)
        for part in rule.body if is_of(fact, name, arity) else ():
            if isinstance(part, Literal) and part.is_positive and part.atom.name == "does":
                words = arguments_of(arguments_of(part.atom)[1])
                if len(set(words)) == arity and words == arguments_of(fact):
                    return True
    return False


def _fit(layer: Layer, main: Layer) -> Layer | None:
    """`layer` on the axes of `main`; None if it does not fit or has no content."""
    axes = ((layer.across, main.across), (layer.down, main.down))
    if (
        layer.joint != main.joint
        or not layer.content_positions
        or any(len(own.positions) != len(other.positions) for own, other in axes)
        or not all(set(own.values) <= set(other.values) for own, other in axes)
    ):
        return None
    across, down = (Axis(own.positions, other.values) for own, other in axes)
    return replace(layer, across=across, down=down)


def roles_of(program: Program) -> frozenset[str]:
    """The roles that a sheet states."""
    return frozenset(str(arguments_of(rule.head)[0]) for rule in program.rules_for("role", 1))


def _blank(layer: Layer, facts: Iterable[Term], roles: frozenset[str]) -> Values | None:
    """The initial content of at least half of the cells, or None.

    There is one only if (nearly) every cell has a content, and what is a role's is no blank.

    On boards whose free cells have no fact at all (or whose corners are missing) no content is blank.
    """
    counts = Counter(placed[1] for fact in facts if (placed := layer.place(fact)) is not None)
    if not layer.content_positions or counts.total() < 0.9 * _cell_count(layer):
        return None
    content, count = counts.most_common(1)[0]
    return content if 2 * count >= counts.total() and not roles & set(content) else None


def successor_relations(program: Program) -> list[Mapping[str, str]]:
    """Possible orders: binary relations of facts that map values one to one."""
    relations = [{(left, right) for left, right in rows} for _, rows in stated_relations(program, 2)]
    return [
        dict(pairs)
        for pairs in relations
        if len({left for left, _ in pairs}) == len({right for _, right in pairs}) == len(pairs) > 1
    ]


def ordered(domain: Collection[str], successors: Sequence[Mapping[str, str]] = ()) -> Values | None:
    """`domain` in its natural order; None if nothing suggests one.

    Numbers by value, `c1 c2 …` by the number after a common name, runs of letters by the alphabet, anything
    else along one of `successors` that chains all values.
    """
    if all(re.fullmatch(r"-?\d{1,9}", value) for value in domain):
        return tuple(sorted(domain, key=int))
    parts = [re.fullmatch(r"([a-z_+-]*?)(\d{1,9})", value) for value in domain]
    if all(parts) and len({part[1] for part in parts if part}) == 1:
        return tuple(sorted(domain, key=lambda value: (len(value), value)))
    for relation in successors:
        thread = _thread(domain, relation)
        if thread is not None:
            return thread
    letters = sorted(domain)
    if all(len(value) == 1 for value in letters) and ord(letters[-1]) - ord(letters[0]) == len(letters) - 1:
        return tuple(letters)
    return None


def _thread(domain: Collection[str], successor: Mapping[str, str]) -> Values | None:
    starts = set(domain) - {right for left, right in successor.items() if left in domain}
    if len(starts) != 1:
        return None
    thread = [starts.pop()]
    while (following := successor.get(thread[-1])) in domain and following not in thread:
        assert following is not None
        thread.append(following)
    return tuple(thread) if len(thread) == len(domain) else None


def _is_row_first(program: Program, layer: Layer) -> bool:
    """Whether the rules call the across argument row or rank, or the down argument column."""
    return _are_called(program, layer, layer.across, "row", "rank") or _are_called(
        program, layer, layer.down, "col", "file"
    )


def _are_called(program: Program, layer: Layer, axis: Axis, *beginnings: str) -> bool:
    """Whether most variables at the inner argument of an axis have such names, anywhere in the rules."""
    names = [
        argument.name
        for rule in program.rules
        for term in _subterms(rule.head)
        if is_of(term, layer.name, layer.arity)
        and isinstance(argument := arguments_of(term)[axis.positions[-1]], Variable)
    ]
    return 2 * sum(name.startswith(beginnings) for name in names) > len(names)


def _subterms(term: Term) -> Iterable[Term]:
    yield term
    for argument in arguments_of(term):
        yield from _subterms(argument)


def _labels(values: Iterable[str]) -> dict[str, str]:
    """Short, distinct labels for `values`: themselves, or prefixes of them or of their parts."""
    labels: dict[str, str] = {}
    taken: set[str] = {EMPTY}
    unique = sorted(dict.fromkeys(values), key=lambda value: (len(value) > 2, value))
    beginnings = [value for value in unique if len(value) > 2]
    for value in unique:
        free = (label for label in _label_candidates(value, beginnings) if label not in taken)
        labels[value] = next(free, value)
        taken.add(labels[value])
    return labels


def _label_candidates(value: str, others: Sequence[str]) -> Iterable[str]:
    if len(value) <= 2:
        yield value
        return
    group = [other for other in others if other[:3] == value[:3]]
    shared = takewhile(lambda letters: len(set(letters)) == 1, zip(*group, strict=False))
    stem = "".join(letters[0] for letters in shared) if len(group) > 1 else ""
    rest = value[len(stem) :].lstrip("_-")
    if stem and (len(rest) >= 3 or rest.isdigit()):
        yield from (value[0] + letter for letter in rest[:3])
        yield value[0] + rest[:2]
    yield value[0]
    yield value[:2]
    yield value[:3]
