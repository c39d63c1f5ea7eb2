"""Game evaluation: figures about a rule sheet, each with its interval, sample and definition.

figures     what is measured: names, definitions, sources
measuring   figures from matches that were played
exact       values, equilibria and solutions of small games
evaluate    plays the matches that a game needs, solves it if it is small, and collects the figures
"""
