"""What was found out about a game and is kept for later matches, by the digest of its rules.

folder    where it is kept, and JSON files that are checked when they are read
book      an opening book: moves found by long searches of the first plies
tuned     options of `mcts` that won in self-play

`ggp book` and `ggp tune` write them; `mcts` reads both, `alphabeta` the book.
"""
