"""Advisors: sources of moves.

advisor      the contract: `Advisor`, and the `Position` that it is asked about
book         an opening book
solution     the values of all states ahead, found in the start clock or by a solver on another core
tablebase    a saved solution
proof        alpha-beta to the end, in parallel to the tree; in games of one role a way to a good end
mixed        a mixed strategy for two roles that choose at once
equilibrium  strategies of all information sets, in small games with hidden information
sets         trees over beliefs, in other games with hidden information
alphabeta    alpha-beta, or max^n and paranoid search
trial        alpha-beta if it wins matches against the tree, which it plays in start clocks
network      a tree search that a network guides
tree         Monte-Carlo tree search
uct          plain UCT, every move from scratch

The players that ask them are rows of a table: `ggp.players.factory`.
"""
