"""What was found out about a game and is kept for later matches, by the digest of its rules.

folder    where it is kept, and JSON files that are checked when they are read
book      an opening book: moves found by long searches of the first plies

`ggp book` writes it; the players `mcts` and `alphabeta` read it.
"""
