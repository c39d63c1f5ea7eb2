"""Teaching a network to play one game, by matches of its own.

play         matches side by side, and what their searches say as samples
samples      what a network is to say of states, and the window of recent ones
teacher      fits a network to samples, in torch
generations  play, teach, compare with the generation before, keep: again and again
"""
