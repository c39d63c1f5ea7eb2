"""Search: choosing a move by looking ahead.

tree          Monte-Carlo tree search on lanes; `tree/reference` is its readable twin
alphabeta     alpha-beta for games of one role, or of two with constant sum; max^n and paranoid search
proof_numbers proof-number search on full lanes, for the value of a state
decisive      circuits that see wins in one, for the three above
rollouts      nested rollouts for games of one role
forest        hundreds of independent tree searches at once
sets          UCT by what each role observed, on lanes
budget        what a search may use: deadline, simulations, nodes, whether it is stopped
protocol      what every search answers, and what may work next to a tree search
root_value    the proven value of the initial state, by the two above
certificate   proofs of such a value that can be checked by the rules alone
report        results of a search as readable data
one_state     the tree search of a single state, for Python users
option_table  tables of options: names, types, defaults, ranges and help, and how they are parsed
"""
