"""Indices of `SearchArrays.counter`; kernels read them as `c.TICK`.

NODES, EDGES, EXPANSIONS       of the tree; EXPANSIONS: entries of Tree.expanded
SLOTS                          slots of the hash table of states in use, a power of two
ROOT_NODE, ROOT_VISITS         the root (ROOT unless it moved and nothing was dropped since); its playouts
TICK                           joint moves that all lanes have made
LAUNCHES_LEFT                  playouts still to be started
MIN_IN_FLIGHT                  lanes that may be in flight however few visits the root has
LANES_BUSY                     lanes of a walker
DESCENDING                     entries of Walkers.descending
FREE_WALKERS, FREE_LANES       heights of their stacks
FINISHED, DESCENTS             playouts that entered the statistics; walkers launched
DEPTH_SUM, DEEPEST, STEPS      of finished playouts: depth in the tree, and joint moves in all
REFRESH_IN                     playouts until the weights of moves are recomputed
NEXT_CUT                       tick before which no playout can reach its limit
REFUSED                        nodes and expansions for which there was no room
IS_CONSTANT_SUM                1 as long as the goals of two roles summed up to 100 at every end
LEAF_ROW                       0 if moves have rows in this tick; else their numbers have planes of `scratch`,
                               and leaves of legal ones rows from this one on, with several literals of Turns
"""

COUNTERS = 23
NODES, EDGES, EXPANSIONS, SLOTS, ROOT_NODE, ROOT_VISITS = range(6)
TICK, LAUNCHES_LEFT, MIN_IN_FLIGHT, LANES_BUSY, DESCENDING = range(6, 11)
FREE_WALKERS, FREE_LANES = range(11, 13)
FINISHED, DESCENTS, DEPTH_SUM, DEEPEST, STEPS = range(13, 18)
REFRESH_IN, NEXT_CUT, REFUSED, IS_CONSTANT_SUM, LEAF_ROW = range(18, 23)
