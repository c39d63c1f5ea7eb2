"""side_tables: circuits next to a game's own, laid out for kernels, with machine code of their own.

The parts that environments settle, immediate wins, goal bounds: each is made of the gates of a game.
"""

from __future__ import annotations

from typing import NamedTuple

from ggp.circuit.circuit import Circuit
from ggp.circuit.tables import CircuitTables, Phase, tabulate
from ggp.engines.compiled import CompiledGame
from ggp.lanes.choose import native_layout
from ggp.lanes.layout import LaneTables, arrange
from ggp.native.background import NativeCode
from ggp.native.parts import Part


class SideTables(NamedTuple):
    """Tables of a circuit, and its machine code: searches `begin` it."""

    tables: LaneTables
    native: NativeCode


def side_tables(game: CompiledGame, circuit: Circuit) -> SideTables:
    """Lay out a circuit of `game`. It is compiled within the limit of the game; no moves are chosen on it.

    >>> import ggp
    >>> from ggp.circuit.tables import circuit_of
    >>> game = ggp.load("tictactoe")
    >>> side = side_tables(game, circuit_of(game.tables, game.terms))
    >>> side.tables.row_count == game.lane_tables.row_count, [part.name for part in side.native.parts]
    (True, ['LEGAL', 'NEXT'])
    """
    tables = tabulate(circuit)
    laid_out = arrange(tables)
    native = NativeCode(
        tables,
        native_layout(laid_out),
        laid_out.schedule.native,
        parts=_phases_with_gates(tables),
        limit=game.native.limit,
        name=game.name,
    )
    return SideTables(laid_out, native)


def _phases_with_gates(tables: CircuitTables) -> tuple[Part, ...]:
    ends = [0, *tables.phase_end.tolist()]
    return tuple(Part(phase) for phase in Phase if ends[phase] < ends[phase + 1])
