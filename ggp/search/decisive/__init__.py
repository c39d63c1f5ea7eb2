"""Immediate wins, read off circuits: for two roles that alternate.

watched_ends     the waiting moves and the winning moves seen in random playouts
kept_circuits    the circuits below, made once per game and kept
decisive_moves   immediate wins taken and immediate losses blocked, as a game with narrower legality
immediate_wins   whether the role to move wins at once; whether a joint move wins
"""
