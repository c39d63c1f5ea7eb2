"""Assessment: one player, measured on positions with known answers.

positions     the bundled positions (positions.json), and rules that start in them
asking        position → the player's answer, with its faults
conformance   protocol tests of an HTTP player
exploitability   gain of a best response to a player, in games with hidden information
regret        positions with the goal of every move, and a player's loss in them
score_card    answer → score 0..1; one line per skill, faults, conformance checks

benchmarks/make_positions.py of commit 675d7e8 made the positions; the tests solve each of them again.
"""
