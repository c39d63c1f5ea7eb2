"""Game evaluation: figures about a rule sheet, each with its interval, sample and definition.

figures     what is measured: names, definitions, sources
measuring   figures from matches that were played
replaying   figures from the states of those matches: coverage, tedium
dominance   moves that no search chooses, or to which another is never inferior
exact       values, equilibria and solutions of small games
evaluate    plays the matches that a game needs, solves it if it is small, and collects the figures
page        evaluations as one HTML page
"""
