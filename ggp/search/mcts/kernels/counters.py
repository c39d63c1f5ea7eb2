"""Indices of `SearchArrays.counter`; kernels read them as `c.TICK`.

NODES, EDGES, EXPANSIONS       of the tree; EXPANSIONS: entries of Tree.expanded
TICK                           joint moves that all lanes have made
LAUNCHES_LEFT                  playouts still to be started
LANES_BUSY                     lanes of a walker
FINISHED, DESCENTS             playouts that entered the statistics; walkers launched
DEPTH_SUM, DEEPEST, STEPS      of finished playouts: depth in the tree, and joint moves in all
DESCENDING                     entries of Walkers.descending
FREE_WALKERS, FREE_LANES       heights of their stacks
ROOT_VISITS                    playouts through the root
REFRESH_IN                     playouts until the weights of moves are recomputed
NEXT_CUT                       tick before which no playout can reach its limit
IS_CONSTANT_SUM                1 as long as the goals of two roles summed up to 100 at every end
REFUSED                        nodes and expansions for which there was no room
FREE_TABLES                    height of the stack of GRAVE's free tables
LEAST_IN_FLIGHT                lanes that may be in flight however few visits the root has
SLOTS                          slots of the hash table of states in use, a power of two
ROOT_NODE                      the root: ROOT unless it moved and nothing was dropped since
"""

(
    NODES,
    EDGES,
    EXPANSIONS,
    TICK,
    LAUNCHES_LEFT,
    LANES_BUSY,
    FINISHED,
    DESCENTS,
    DEPTH_SUM,
    DEEPEST,
    STEPS,
    DESCENDING,
    FREE_WALKERS,
    FREE_LANES,
    ROOT_VISITS,
    REFRESH_IN,
    NEXT_CUT,
    IS_CONSTANT_SUM,
    REFUSED,
    FREE_TABLES,
    LEAST_IN_FLIGHT,
    SLOTS,
    ROOT_NODE,
) = range(23)
COUNTERS = 23
