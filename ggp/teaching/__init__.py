"""Teaching a network to play one game, by self-play.

play         matches side by side, here or in other processes, and their searches as samples
samples      training targets, and the window of recent ones
teacher      fits a network to samples, in torch
generations  play, teach, compare with the generation before, keep: again and again
"""
