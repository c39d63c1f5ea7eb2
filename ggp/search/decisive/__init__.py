"""Immediate wins, read off circuits: for two roles that alternate.

kept_circuits    the circuits below, made once per suitable game and kept
decisive_moves   immediate wins taken and immediate losses blocked, as a game with narrower legality
immediate_wins   whether the role to move wins at once, or loses in two
"""
