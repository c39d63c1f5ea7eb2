"""States as keys of few bits.

state_code   which bits a game's facts share: facts that exclude each other need fewer
packing      lanes to keys and keys to lanes, in kernels
hashing      the hash of a key
key_table    from keys to state numbers
"""
