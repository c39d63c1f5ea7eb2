"""Alpha-beta search on lanes: a node settles all its children in one pass.

options         what a user may ask of the evaluation
estimate        how the horizon is scored
events          the steps that the readable searches show a listener
symmetry        renamings of facts under which the game is the same
latches         facts that never change again, proven on the circuit
goal_distance   how near the roles are to their goals, as a fuzzy formula
goal_bounds     which goals a state can still end with
memory          arrays for one game and estimate
kernels/        the search itself, with the refinements that save nodes with a horizon
reference/      the same search to read, with all refinements of the lectures (plain Python)
search          `AlphaBeta`: iterative deepening, windows, deadlines
result          what a search found
role_search     `RoleSearch`: one role, with the contract of all searches
self_play       games of alpha-beta against itself
learning        learns weights of features or facts by self-play
evaluation      chooses the estimate for a game: mobility, distance, learned features
multi_role      chance, three and more roles, simultaneous moves (plain Python)
"""
