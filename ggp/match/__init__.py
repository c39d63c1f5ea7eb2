"""Matches: players, the referee that asks them, and the record of what happened.

player      `Player`, the base class of every seat, and its errors
faults      why a player gave no usable answer, and the record's text for it
terms       clocks, seed, limits and substitutes of a match
referee     plays one match: asks, times, substitutes, records
outcome     who won, in words
record      a match as a list of steps, and as ggp-base's JSON
replay      a recorded match, to be looked at step by step
"""
