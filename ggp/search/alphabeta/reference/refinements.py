"""Which refinements the readable search uses: an option table of the player `alphabeta`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ggp.search.option_table import TUNING, check_table, number, switch


def _switch(name: str, default: bool, help: str) -> Any:
    return switch(name, default, help, group=TUNING)


def _number(name: str, most: int, help: str) -> Any:
    return number(name, 0, help, least=0, most=most, group=TUNING)


@dataclass(frozen=True)
class Refinements:
    """Refinements by name. The defaults are what the kernels do; the rest gained nothing there.

    Those up to `bisection` never change the value of a search to the end. The others can change the result of
    a search with a horizon; extensions end at twice the depth.

    >>> Refinements(late_move_reduction=True).changes
    ('late_move_reduction',)
    """

    transpositions: bool = _switch("transpositions", True, "Remember positions.")
    order_by_table: bool = _switch("order_by_table", True, "Search the remembered best move first.")
    killers: bool = _switch("killers", True, "Then the two moves that last caused a cutoff at the same ply.")
    history: bool = _switch("history", False, "Then moves by how often they caused cutoffs.")
    static_order: bool = _switch("static_order", True, "Order moves by terminal and static scores.")
    principal_variation: bool = _switch(
        "principal_variation", True, "Search all moves but the first with a null window first."
    )
    iterative_deepening: bool = _switch(
        "iterative_deepening", True, "Search to depth 1, 2, ... until the value is proven."
    )
    symmetries: bool = _switch("symmetries", True, "Let symmetric positions share their table entries.")
    enhanced_cutoffs: bool = _switch(
        "enhanced_cutoffs", True, "Look all children up in the table before one is searched."
    )
    aspiration: int = _number(
        "aspiration", 100, "Half width, in goals, of the window around the previous value; 0: no window."
    )
    bisection: bool = _switch("bisection", False, "Halve the possible goals by null-window searches.")
    immediate_wins: bool = _switch("immediate_wins", True, "Do not search children whose mover wins at once.")
    goal_bounds: bool = _switch("goal_bounds", True, "Do not search children whose goals are settled enough.")
    late_move_reduction: bool = _switch(
        "late_move_reduction", False, "Search moves from the fourth on two plies less deep at first."
    )
    kept_moves: int = _number("kept_moves", 1_000_000, "Moves of each node to search; 0: all.")
    singular_extension: bool = _switch(
        "singular_extension", False, "Search a move much better than all others one ply deeper."
    )
    forced_extension: bool = _switch("forced_extension", False, "Search a single move one ply deeper.")
    quiescence: int = _number(
        "quiescence", 100, "Search on at the horizon after score changes of at least this many goals; 0: no."
    )

    def __post_init__(self) -> None:
        check_table(self)

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of the refinements that differ from the defaults."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)


PLAIN = Refinements(
    transpositions=False,
    order_by_table=False,
    killers=False,
    static_order=False,
    principal_variation=False,
    iterative_deepening=False,
    symmetries=False,
    enhanced_cutoffs=False,
    immediate_wins=False,
    goal_bounds=False,
)
"""Alpha-beta as Knuth and Moore (1975) describe it."""
