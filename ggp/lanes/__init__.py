"""Lanes: 512 games played by every machine instruction.

One bit per game (lane), one row of bits per circuit node.

layout             a circuit laid out for kernels: LaneTables
row_sharing        which rows gates share whose values are not needed at the same time
settle             the interpreter of circuits: recompute the gates of a phase in all lanes
bits               single lanes of rows
random_rows        random bits for all lanes
choose             a uniformly random legal move of every role in every lane
roulette           the same by weight, in all lanes at once
sparse_roulette    the same by weight, lane by lane: for moves that are legal in few lanes
step               states, moves, gates and successors: what every kernel does with a circuit
indices            which move each lane made, as integers
playout            uniformly random playouts in all lanes
engine             Lanes: the memory of one engine and its methods; playouts on several threads
keys/              states as keys of few bits, and a table of them
"""
