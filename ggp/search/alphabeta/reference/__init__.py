"""Alpha-beta in plain Python, to be read next to a lecture: one function per refinement.

refinements   which refinements are used; an option table
position      a position and its children: who chooses, static scores, goal distance, immediate wins; and what
              the circuit proves: goals, symmetries and goal bounds
node          a node under search, and the memory: table, killers, history; it shows a listener the events
bounds        nodes that need no search: transposition table, enhanced cutoffs, goal bounds
ordering      which child comes first: table move, killers, history, static order
selective     reductions, forward pruning, extensions, quiescence
negamax       the search itself, with principal variation search
search        `ReferenceSearch`: iterative deepening, aspiration, bisection

The kernels (`ggp.search.alphabeta.kernels`) have the refinements that are on by default, except symmetries,
immediate wins and goal bounds. Without these both search the same nodes in the same order.
"""
