"""Exact values of whole games: every reachable state, found and valued on lanes."""
