"""Matches: players, the referee, and the record.

player      `Player`, the base class of every seat, and its errors
faults      missing or unusable answers, and their text in records
terms       clocks, seed, limits and substitutes of a match
referee     plays one match: asks, times, substitutes, records
outcome     who won, in words
record      a match as a list of steps, and as ggp-base's JSON
replay      a recorded match, step by step
"""
