"""Engines: the rules of a game as a `Game` that can be played.

loading          from a path, a name or rule text to a game of any engine
compilation      from a program to a circuit, and to a compiled game
quick            a compiled game on its circuit as built, while a thread simplifies that
once_per_game    what is worked out once per game and kept as long as the game is
stated           states from their facts
compiled         the compiled game: single states and successors in batches
batches          successors and playouts in batches, of a game of any engine
single_state     kernels for one state at a time
reasoner         the interpreted game: exact, slow, the oracle of the others
prolog           the game under SWI-Prolog (extra), with its source text (`prolog_text`) and child
                 process (`prolog_process`)
"""
