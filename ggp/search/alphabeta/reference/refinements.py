"""Which refinements the readable search uses: an option table of `ggp explain`."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ggp.search.option_table import check_table, number, switch


def _on(name: str, help: str) -> Any:
    return switch(name, True, help)


def _off(name: str, help: str) -> Any:
    return switch(name, False, help)


def _count(name: str, most: int, help: str) -> Any:
    return number(name, 0, help, least=0, most=most)


@dataclass(frozen=True)
class Refinements:
    """Refinements by name. The defaults are what the kernels do, and what these leave to proof numbers:
    symmetries, immediate wins and goal bounds. The rest gained nothing there.

    Those up to `bisection` never change the value of a search to the end. The others can change the result of
    a search with a horizon; extensions end at twice the depth.

    >>> Refinements(late_move_reduction=True).changes
    ('late_move_reduction',)
    """

    transpositions: bool = _on("transpositions", "Remember positions.")
    order_by_table: bool = _on("order_by_table", "Search the remembered best move first.")
    killers: bool = _on("killers", "Then search the two moves that last caused cutoffs at the same ply.")
    history: bool = _off("history", "Then search moves in the order of how often they caused cutoffs.")
    static_order: bool = _on("static_order", "Order moves by certain and static scores.")
    principal_variation: bool = _on("principal_variation", "Negascout: null windows after the first move.")
    iterative_deepening: bool = _on("iterative_deepening", "Search to depths 1, 2, ... until a proof.")
    symmetries: bool = _on("symmetries", "Let symmetric positions share their table entries.")
    enhanced_cutoffs: bool = _on("enhanced_cutoffs", "Look up all children before searching one.")
    goal_window: bool = _on("goal_window", "Begin with the window of the goals that the rules give.")
    aspiration: int = _count("aspiration", 100, "Half width of the window around the last value; 0: none.")
    bisection: bool = _off("bisection", "Halve the possible goals by null-window searches.")
    immediate_wins: bool = _on("immediate_wins", "Skip children in which the player to move wins at once.")
    goal_bounds: bool = _on("goal_bounds", "Skip children whose goal bounds decide the window.")
    late_move_reduction: bool = _off("late_move_reduction", "Search late moves to a reduced depth first.")
    kept_moves: int = _count("kept_moves", 1_000_000, "Number of moves searched at each node; 0: all.")
    singular_extension: bool = _off("singular_extension", "Search a clearly best move one ply deeper.")
    forced_extension: bool = _off("forced_extension", "Search an only move one ply deeper.")
    quiescence: int = _count("quiescence", 100, "Search on after score changes of this many goals; 0: never.")

    def __post_init__(self) -> None:
        check_table(self)

    @property
    def changes(self) -> tuple[str, ...]:
        """Names of the refinements that differ from the defaults."""
        return tuple(each.name for each in fields(self) if getattr(self, each.name) != each.default)
