"""Kernels of the tree search.

arrays       the memory of a search: tree, walkers, statistics, settings
counters     indices of its counters
allocation   fresh arrays, and the memory they take
search       search_tree, one tick after the other: choose, end, descend, launch, finish
lane_half    what choosing and finishing do in all lanes at once
tree         expanding nodes, choosing edges, finding and making children
graph        transpositions: one node for one state
look_ahead   wins in one, seen when a node is expanded
values       what UCT compares
ends         where playouts end, and the back-up of their goals
proofs       MCTS-Solver
compaction   keeping a subtree after a move of the match
"""
