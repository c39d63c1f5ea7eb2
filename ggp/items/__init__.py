"""Questions about games with answers from the engine, to test programs that read rules.

wording      terms and rules in KIF, infix or sentences, under their own or scrambled names
rule_depth   longest chain of rules that an answer needs
walks        random matches, the source of the states in questions
lane_walks   the same of compiled games, many side by side
solved       values and regrets of moves in games that are small enough to be solved
questions    the kinds of question: wording and right answer
making       from a game to its items
grading      scores of answers by kind and difficulty
"""
