"""Assessment: one player, measured on positions with known answers.

positions     the bundled positions (positions.json), and rules that start in them
asking        position → the player's answer, with its faults
scoring       answer → score 0..1
conformance   does an HTTP player keep the protocol?
exploitability   what a best response gains against a player, in games with hidden information
regret        positions with the goal of every move, and what a player gives away in them
score_card    all of it: one line per skill, faults, conformance checks

benchmarks/make_positions.py of commit 675d7e8 made the positions; the tests solve each of them again.
"""
