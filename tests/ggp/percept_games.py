"""Small GDL-II games for tests."""

COIN = """
; Chance puts a coin under one of three cups, the player may peek under one cup at a time, then guesses.
(role random) (role player) (cup a) (cup b) (cup c) (init hide)
(<= (legal random (put ?c)) (true hide) (cup ?c))
(<= (legal random noop) (not (true hide)))
(<= (legal player noop) (true hide))
(<= (legal player (peek ?c)) (cup ?c) (not (true hide)))
(<= (legal player (guess ?c)) (cup ?c) (not (true hide)))
(<= (next (coin ?c)) (does random (put ?c)))
(<= (next (coin ?c)) (true (coin ?c)))
(<= (next play) (true hide))
(<= (next play) (true play) (does player (peek ?c)))
(<= (next (right)) (does player (guess ?c)) (true (coin ?c)))
(<= (next over) (does player (guess ?c)))
(<= (sees player found) (does player (peek ?c)) (true (coin ?c)))
(<= (sees player (looked ?c)) (does player (peek ?c)))
(<= terminal (true over))
(<= (goal player 100) (true (right)))
(<= (goal player 0) (not (true (right))))
(goal random 0)
"""
