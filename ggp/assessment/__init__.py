"""One player measured on positions with known answers.

    positions       the positions, stored in positions.json, and how one becomes rules of its own
    asking          a player's answers, with the faults it made
    skills          answers → scores
    manners         what an HTTP player does with odd and broken messages
    card            the score card

The positions were made by benchmarks/make_positions.py; the tests solve every one of them again.
"""
