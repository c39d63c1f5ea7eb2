"""Game evaluation: figures about a rule sheet, each with its interval, sample and definition.

figures     what is measured: names, definitions, sources
measuring   figures from matches that were played
coverage    how much of the rules those matches use
replaying   the states that those matches went through
tedium      joint moves that are forced or lead back
dominance   moves that no search chooses, or to which another is never inferior
exact       values, equilibria and solutions of small games
evaluate    plays the matches that a game needs, solves it if it is small, and collects the figures
sheets      one sheet judged in this process or in a worker
page        evaluations as one HTML page
"""
