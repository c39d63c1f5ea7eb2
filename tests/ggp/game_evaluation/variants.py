"""Ten variants of one race game: five that can be played, and five that are no games at all."""

RACE = """
    (role white) (role black)
    (opponent white black) (opponent black white)
    (next_row 1 2) (next_row 2 3) (next_row 3 4) (next_row 4 5) (next_row 5 6)
    (<= (ahead white ?a ?b) (next_row ?a ?b)) (<= (ahead black ?b ?a) (next_row ?a ?b))
    (next_column a b) (next_column b c) (next_column c d) (next_column d e)
    (<= (near ?x ?x) (file ?x))
    (<= (near ?x ?y) (file ?x) (file ?y) (next_column ?x ?y))
    (<= (near ?y ?x) (file ?x) (file ?y) (next_column ?x ?y))
    (init (turn white)) (init (ply 0))

    (<= (legal ?p wait) (opponent ?p ?q) (true (turn ?q)))
    (<= (legal ?p (go ?x ?y ?u ?v))
        (true (turn ?p)) (true (at ?x ?y ?p)) (near ?x ?u) (step ?p ?y ?v) (not (barred ?p ?x ?u ?v)))
    (<= (barred ?p ?x ?u ?v) (true (at ?u ?v ?p)) (near ?x ?u))
    (<= (barred ?p ?x ?x ?v) (opponent ?p ?q) (true (at ?x ?v ?q)))

    (<= (next (at ?u ?v ?p)) (does ?p (go ?x ?y ?u ?v)))
    (<= (next (at ?x ?y ?p)) (true (at ?x ?y ?p)) (not (touched ?x ?y)))
    (<= (touched ?x ?y) (does ?p (go ?x ?y ?u ?v)))
    (<= (touched ?u ?v) (does ?p (go ?x ?y ?u ?v)))
    (<= (next (turn ?q)) (true (turn ?p)) (opponent ?p ?q))
    (<= (next (ply ?n)) (true (ply ?m)) (after ?m ?n))

    (<= (alive ?p) (true (at ?x ?y ?p)))
    (<= over (won ?p)) (<= terminal over)
    (<= (goal ?p 100) (won ?p)) (<= (goal ?p 0) (won ?q) (opponent ?p ?q))
    (<= (goal ?p 50) (opponent ?p ?q) (not over))
"""
"""Pieces go one row ahead, straight or diagonally, and capture diagonally."""

WIDE = "(file a) (file b) (file c) (file d) (file e)"
TWO_ROWS = """
    (home white 1) (home white 2) (home black 5) (home black 6)
    (<= (init (at ?x ?y ?p)) (file ?x) (home ?p ?y))
"""
ONE_PIECE_EACH = "(file a) (file c) (init (at a 1 white)) (init (at c 6 black))"
AHEAD = "(<= (step ?p ?y ?v) (ahead ?p ?y ?v))"
TO_AND_FRO = f"{AHEAD} (<= (step ?p ?y ?v) (ahead ?p ?v ?y))"
FAR_ROW = """
    (<= (won white) (true (at ?x 6 white))) (<= (won black) (true (at ?x 1 black)))
    (<= (won ?p) (opponent ?p ?q) (not (alive ?q)))
"""
NOBODY = "(<= (won ?p) (true (at z 1 ?p)))"


def clock(plies):
    """Draw the match after so many joint moves."""
    count = " ".join(f"(after {n} {n + 1})" for n in range(plies))
    return f"{count} (<= terminal (true (ply {plies})))"


def lottery(sides):
    """Toss a die of so many sides after each move: 1 wins for White, 2 for Black."""
    faces = " ".join(f"(legal random (throw {n}))" for n in range(1, sides + 1))
    return f"""
        (role random) {faces} (init (die none)) (<= (next (die ?n)) (does random (throw ?n)))
        (<= (won white) (true (die 1))) (<= (won black) (true (die 2)))
    """


GOOD = f"{RACE} {WIDE} {TWO_ROWS} {AHEAD} {FAR_ROW}"

VARIANTS = {
    "good": GOOD,
    "lucky": f"{GOOD} {lottery(60)}",
    "timed": f"{GOOD} {clock(15)}",
    "unfair": f"{GOOD} (home white 3) (home white 4)",
    "luckier": f"{GOOD} {lottery(6)}",
    "forced": f"{RACE} {ONE_PIECE_EACH} {AHEAD} {FAR_ROW}",
    "tossed": f"{RACE} {WIDE} {TWO_ROWS} {AHEAD} {lottery(2)}",
    "trivial": f"{GOOD} (<= (step white 1 6))",
    "unreachable": f"{RACE} {WIDE} {TWO_ROWS} {TO_AND_FRO} {NOBODY} {clock(30)}",
    "endless": f"{RACE} {WIDE} {TWO_ROWS} {TO_AND_FRO} {NOBODY}",
}
"""The first five can be played; the last five are no games."""
