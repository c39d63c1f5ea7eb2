"""Options of an alpha-beta search: its refinements."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refinements:
    """Which refinements are used; those that pay are on by default.

    transpositions        remember positions
    order_by_table        search the remembered best move first
    killers               then the two latest moves that caused cutoffs at the same ply
    history               then moves by how many cutoffs they caused
    static_order          terminal children first, then by goal, weights and mobility
    principal_variation   search all moves but the first with a null window first
    iterative_deepening   search to depth 1, 2, ... until the value is proven
    aspiration            half width of the window around the previous iteration's value, in goal points; 0:
                          no window. A failure doubles that side, then opens it
    bisection             null-window searches that halve the possible goals, instead of one window
    symmetries            symmetric positions share their table entries
    enhanced_cutoffs      look all children up before one is searched: one that is good enough may be known

    These can change the result of a search with a horizon:

    immediate_wins        children whose mover wins at once are not searched, nor estimated; see
                          `ggp.search.decisive`
    goal_bounds           nor are those that can only end with one goal any more, or with none that the
                          window asks for; see `ggp.search.alphabeta.goal_bounds`
    late_move_reduction   moves from the fourth on are first searched two plies less deep
    kept_moves            search at most this many moves of each node; 0: all
    singular_extension    a move much better than all others is searched one ply deeper
    forced_extension      a single move is searched one ply deeper
    quiescence            at the horizon, moves that change the static score by at least this many goal points
                          are searched one ply deeper, as long as there are such moves; 0: none

    Extensions end at twice the depth.
    """

    transpositions: bool = True
    order_by_table: bool = True
    killers: bool = True
    history: bool = True
    static_order: bool = True
    principal_variation: bool = True
    iterative_deepening: bool = True
    aspiration: int = 0
    bisection: bool = False
    symmetries: bool = True
    enhanced_cutoffs: bool = True
    immediate_wins: bool = True
    goal_bounds: bool = True
    late_move_reduction: bool = False
    kept_moves: int = 0
    singular_extension: bool = False
    forced_extension: bool = False
    quiescence: int = 0


PLAIN = Refinements(
    transpositions=False,
    order_by_table=False,
    killers=False,
    history=False,
    static_order=False,
    principal_variation=False,
    iterative_deepening=False,
    symmetries=False,
    enhanced_cutoffs=False,
    immediate_wins=False,
    goal_bounds=False,
)
"""Alpha-beta as Knuth and Moore describe it."""
