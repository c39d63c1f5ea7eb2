"""circuits: a game as a sequential circuit, for model checkers, logic synthesis and drawing.

Latches are fluents with their initial values, inputs are moves: one per role in each step. Outputs are
`legal(ROLE,MOVE)`, `terminal`, `goal(ROLE,VALUE)` and `sees(ROLE,PERCEPT)`. Names are terms as written in
Prolog, without blanks; all but ASCII letters, digits and harmless punctuation is written as in URLs.

    aiger   ASCII AIGER 1.9 (Biere, Heljanko, Wieringa 2011, "AIGER 1.9 and beyond")
    blif    Berkeley Logic Interchange Format, as ABC reads it
    dot     a drawing by Graphviz
    json    the arrays of `CircuitTables` with the names
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import quote

from gdl.terms import Compound, Term
from ggp.circuit.tables import CircuitTables, CircuitTerms

_HARMLESS = "!$&'*+-./:<>?@[]^_`{|}~"
"""Punctuation that neither terms nor the formats use: BLIF has comments after `#`, and `\\` joins lines."""


class NamedCircuit(NamedTuple):
    """A circuit with the names of its nodes and outputs.

    inputs    of gate g: gates[g], literals as in CircuitTables
    outputs   names and literals
    """

    tables: CircuitTables
    fluents: tuple[str, ...]
    moves: tuple[str, ...]
    outputs: tuple[tuple[str, int], ...]
    gates: tuple[tuple[int, ...], ...]


def named_circuit(tables: CircuitTables, terms: CircuitTerms) -> NamedCircuit:
    """The circuit of a game with names.

    >>> import ggp
    >>> game = ggp.load("tictactoe")
    >>> named_circuit(game.tables, game.terms).outputs[0][0]
    'legal(x,mark(1,1))'
    """
    roles = [name_of(role) for role in terms.roles]
    of_roles = [[name_of(move) for move in moves] for moves in terms.moves]
    moves = [f"{role},{move}" for role, of_role in zip(roles, of_roles, strict=True) for move in of_role]
    goals = zip(tables.goal_role.tolist(), tables.goal_value.tolist(), strict=True)
    percepts = zip(tables.percept_role.tolist(), map(name_of, terms.percepts), strict=True)
    names = [
        *(f"legal({move})" for move in moves),
        "terminal",
        *(f"goal({roles[role]},{value})" for role, value in goals),
        *(f"sees({roles[role]},{percept})" for role, percept in percepts),
    ]
    literals = [
        *tables.legal.tolist(),
        tables.terminal,
        *tables.goal_literal.tolist(),
        *tables.percept_literal.tolist(),
    ]
    first, inputs = tables.first_input.tolist(), tables.input.tolist()
    return NamedCircuit(
        tables,
        tuple(f"true({name_of(fluent)})" for fluent in terms.fluents),
        tuple(f"does({move})" for move in moves),
        tuple(zip(names, literals, strict=True)),
        tuple(tuple(inputs[a:b]) for a, b in pairwise(first)),
    )


def name_of(term: Term) -> str:
    """A term in Prolog's notation.

    >>> from gdl.syntax.parser import parse_term
    >>> name_of(parse_term("(cell 1 2 (piece x))")), name_of(parse_term("no#1,2"))
    ('cell(1,2,piece(x))', 'no%231%2C2')
    """
    if isinstance(term, Compound):
        return f"{_quoted(term.name)}({','.join(map(name_of, term.arguments))})"
    return _quoted(str(term))


def _quoted(symbol: str) -> str:
    return quote(symbol, safe=_HARMLESS)


def to_aiger(circuit: NamedCircuit) -> str:
    """ASCII AIGER with symbols; latches have initial values. Gates become ANDs of two inputs."""
    tables = circuit.tables
    moves, fluents = len(circuit.moves), len(circuit.fluents)
    # AIGER numbers inputs first, then latches, then ANDs; its literal 0 is false, ours is true.
    variable = [0, *range(moves + 1, moves + fluents + 1), *range(1, moves + 1)]
    literal_of: list[int] = [1, *(2 * each for each in variable[1:])]
    ands: list[str] = []
    for gate in circuit.gates:
        together = literal_of[gate[0] >> 1] ^ (gate[0] & 1)
        for x in gate[1:]:
            other, result = literal_of[x >> 1] ^ (x & 1), 2 * (moves + fluents + len(ands) + 1)
            ands.append(f"{result} {max(together, other)} {min(together, other)}")
            together = result
        literal_of.append(together)

    def written(literal: int) -> int:
        return literal_of[literal >> 1] ^ (literal & 1)

    following, initial = tables.next.tolist(), tables.initial.tolist()
    lines = [
        f"aag {moves + fluents + len(ands)} {moves} {fluents} {len(circuit.outputs)} {len(ands)}",
        *(str(2 * m) for m in range(1, moves + 1)),
        *(f"{literal_of[1 + f]} {written(following[f])} {initial[f]}" for f in range(fluents)),
        *(str(written(literal)) for _, literal in circuit.outputs),
        *ands,
        *(f"i{m} {name}" for m, name in enumerate(circuit.moves)),
        *(f"l{f} {name}" for f, name in enumerate(circuit.fluents)),
        *(f"o{i} {name}" for i, (name, _) in enumerate(circuit.outputs)),
    ]
    return "\n".join(lines) + "\n"


def to_blif(circuit: NamedCircuit) -> str:
    """BLIF: one table per gate, one per output."""
    tables = circuit.tables
    nodes = ["one", *circuit.fluents, *circuit.moves, *(f"gate{g}" for g in range(len(circuit.gates)))]

    def table(literals: tuple[int, ...], result: str) -> Iterator[str]:
        yield f".names {' '.join(nodes[x >> 1] for x in literals)} {result}"
        yield f"{''.join('10'[x & 1] for x in literals)} 1"

    lines = [
        ".model game",
        f".inputs {' '.join(circuit.moves)}",
        f".outputs {' '.join(output for output, _ in circuit.outputs)}",
        *(
            f".latch next:{fluent} {fluent} {start}"
            for fluent, start in zip(circuit.fluents, tables.initial.tolist(), strict=True)
        ),
        ".names one",
        "1",
    ]
    for g, gate in enumerate(circuit.gates):
        lines += table(gate, f"gate{g}")
    for fluent, literal in zip(circuit.fluents, tables.next.tolist(), strict=True):
        lines += table((literal,), f"next:{fluent}")
    for output, literal in circuit.outputs:
        lines += table((literal,), output)
    return "\n".join([*lines, ".end"]) + "\n"


def to_dot(circuit: NamedCircuit) -> str:
    """A graph for Graphviz: boxes are fluents and moves, ellipses outputs; dashed edges negate."""
    nodes = ["1", *circuit.fluents, *circuit.moves, *("&" for _ in circuit.gates)]
    edges = [(x, f"n{circuit.tables.gate0 + g}") for g, gate in enumerate(circuit.gates) for x in gate]
    edges += [(literal, f"o{i}") for i, (_, literal) in enumerate(circuit.outputs)]
    edges += [(literal, f"next{f}") for f, literal in enumerate(circuit.tables.next.tolist())]
    lines = [
        *(
            f"  n{n} [label={json.dumps(label)}{'' if label == '&' else ', shape=box'}];"
            for n, label in enumerate(nodes)
        ),
        *(f"  o{i} [label={json.dumps(name)}];" for i, (name, _) in enumerate(circuit.outputs)),
        *(f"  next{f} [label={json.dumps(f'next {name}')}];" for f, name in enumerate(circuit.fluents)),
        *(f"  n{x >> 1} -> {target}{' [style=dashed]' if x & 1 else ''};" for x, target in edges),
    ]
    return "\n".join(["digraph game {", "  rankdir=LR;", *lines, "}"]) + "\n"


def to_json(circuit: NamedCircuit) -> str:
    """The arrays as JSON; a literal is 2*node + negated, node 0 is true, then fluents, moves and gates."""
    tables = circuit.tables
    data = {
        "fluents": circuit.fluents,
        "moves": circuit.moves,
        "initial": tables.initial.tolist(),
        "next": tables.next.tolist(),
        "outputs": circuit.outputs,
        "gates": circuit.gates,
    }
    return json.dumps(data) + "\n"


FORMATS: dict[str, Callable[[NamedCircuit], str]] = {
    "aiger": to_aiger,
    "blif": to_blif,
    "dot": to_dot,
    "json": to_json,
}
