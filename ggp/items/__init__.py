"""Questions about games with answers from the engine, to test programs that read rules.

wording      terms and rules in KIF, infix or sentences, under their own or scrambled names
questions    random matches, and the kinds of question about their states
making       from a game to its items
grading      scores of answers by kind and difficulty
"""
