"""Knowledge about games, kept for later matches by the digest of the rules.

folder    where it is kept, and JSON files that are checked when they are read
book      an opening book: moves found by long searches of the first plies
tuned     options of `mcts` that won in self-play of bundled games
taught    networks taught to play one game
trial     how trial matches of alpha-beta against the tree ended

`ggp prepare` writes them; `mcts` reads all, `alphabeta` not the options.
"""
