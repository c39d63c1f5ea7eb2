"""General Game Playing: engines, players, matches, and everything that talks to game managers."""
