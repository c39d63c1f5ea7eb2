"""States as keys of few bits.

codes      which bits a game's facts share: facts that exclude each other need fewer
packing    lanes to keys and keys to lanes, in kernels
table      the key table: from keys to state numbers
"""
