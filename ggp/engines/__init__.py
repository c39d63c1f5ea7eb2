"""Engines: the rules of a game as a `Game` that can be played.

loading          from a path, a name or rule text to a game of any engine
compilation      from a program to a circuit, and to a compiled game
compiled         the compiled game: single states, and many at once; also on its circuit as built
side_tables      circuits made of a game's gates, with machine code of their own
point_of_view    how the second of two roles sees a game as the first one
batches          successors and playouts in batches, and states from facts, of a game of any engine
single_state     kernels for one state at a time
reasoner         the interpreted game: exact, slow, the oracle of the others
"""
