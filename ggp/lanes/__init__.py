"""Lanes: 512 games played by every machine instruction.

One bit per game (lane), one row of bits per circuit node.

layout             a circuit laid out for kernels, with rows shared by gates: LaneTables
turns              proof that roles take turns, whose moves then share one tree
settle             the interpreter of circuits: recompute the gates of a phase in all lanes
bits               single lanes of rows
choose             random bits; a uniformly random legal move of every role in every lane
roulette           the same by weight, in all lanes at once
step               states, moves, gates and successors: what every kernel does with a circuit
indices            which move each lane made, as integers
playout            uniformly random playouts in all lanes
engine             Lanes: the memory of one engine and its methods; playouts on several threads
keys/              states as keys of few bits, and a table of them
"""
