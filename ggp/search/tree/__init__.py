"""Monte-Carlo tree search.

options          the option table
search           LanesSearch, the search of one role in one match on lanes
tree_engine      one tree, its lanes, and the calls of the kernels that grow it
mixed_root       mixed strategies at simultaneous moves
kernels/         descending, expanding and backing up, lane by lane
policies/        how playouts choose, what they teach, what the tree mixes in; RAVE
reference/       the same search in plain Python: readable twin, and fallback for other games
"""
