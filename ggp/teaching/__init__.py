"""Teaching a network to play one game, by self-play.

play         matches side by side, and what their searches say as samples
players      matches in this process, or in others while this one learns
samples      what a network is to say of states, and the window of recent ones
teacher      fits a network to samples, in torch
state        the file from which teaching goes on
generations  play, teach, compare with the generation before, keep: again and again
"""
