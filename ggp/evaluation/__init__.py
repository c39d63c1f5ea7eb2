"""Is it a good game? Figures about a rule sheet, each with its interval, sample and definition.

figures     what is measured: names, definitions, sources
measuring   figures from matches that were played
coverage    how much of the rules those matches use
evaluate    plays the matches that a game needs, solves it if it is small, and collects the figures
"""
