"""Alpha-beta in plain Python, to be read next to a lecture: one function per refinement.

refinements   which refinements are used; an option table
knowledge     properties that need the circuit: goals, symmetries and goal bounds
position      a position and its children: who chooses, static scores, immediate wins
evaluation    the static score, with the goal distance of one state
events        what a listener is shown of each node
node          a node under search, and the memory of the search: table, killers, history
bounds        nodes that need no search: transposition table, enhanced cutoffs, goal bounds
ordering      which child comes first: table move, killers, history, static order
selective     reductions, forward pruning, extensions, quiescence
negamax       the search itself, with principal variation search
windows       iterative deepening, aspiration, bisection
search        `ReferenceSearch`

The kernels (`ggp.search.alphabeta.kernels`) have the refinements that are on by default, and search the same
nodes in the same order.
"""
