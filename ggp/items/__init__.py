"""Questions about games with answers from the engine, to test programs that read rules.

wording      terms and rules in KIF, infix or sentences, under their own or scrambled names
walks        random matches, the source of the states in questions
questions    the kinds of question: wording and right answer
making       from a game to its items
grading      scores of answers by kind and difficulty
"""
