"""States as keys of few bits.

state_code   which bits a game's facts share; states to keys and back, also in kernels
key_table    the hash of a key; from keys to state numbers
"""
