"""Rule sheets that are small to read and enormous if derived bottom-up.

counting      a recursive count over a board that carries two counters to its end
lists         predicates over lists of up to 25 cells, called with the list given
exactly_once  a 10-ary relation of distinct values, as in sudoku
armies        40 pieces that are named in the state
"""

from __future__ import annotations


def chain(name: str, last: int, first: int = 0) -> str:
    """Facts `(name 0 1) … (name last-1 last)`."""
    return " ".join(f"({name} {number} {number + 1})" for number in range(first, last))


def counting(points: int = 24) -> str:
    """Two players mark points; who marked more at the end, by a count with two accumulators, has won."""
    cells = " ".join(f"(init (cell {point} blank))" for point in range(1, points + 1))
    numbers = " ".join(f"(number {number})" for number in range(points + 1))
    return f"""
    (role white) (role black) {cells} (init (control white)) (init (left {points}))
    {numbers} {chain("succ", points + 1)}
    (<= (less ?x ?y) (succ ?x ?y) (number ?y))
    (<= (less ?x ?z) (succ ?x ?y) (less ?y ?z))
    (other white black) (other black white)
    (<= (legal ?r (mark ?p)) (true (control ?r)) (true (cell ?p blank)))
    (<= (legal ?r noop) (other ?r ?s) (true (control ?s)))
    (<= (next (cell ?p ?r)) (does ?r (mark ?p)))
    (<= (next (cell ?q ?r)) (does ?r (mark ?p)) (succ ?p ?q) (true (cell ?q ?s)) (other ?r ?s))
    (<= (next (cell ?q ?s)) (true (cell ?q ?s)) (does ?r (mark ?p)) (distinct ?p ?q) (not (flipped ?q)))
    (<= (flipped ?q) (does ?r (mark ?p)) (succ ?p ?q) (true (cell ?q ?s)) (other ?r ?s))
    (<= (next (control ?s)) (true (control ?r)) (other ?r ?s))
    (<= (next (left ?m)) (true (left ?n)) (succ ?m ?n))
    (<= terminal (true (left 0)))
    (<= (material ?w ?b) (count_loop 1 0 0 ?w ?b))
    (<= (count_loop ?p ?w ?b ?m ?n) (true (cell ?p white)) (succ ?p ?q) (succ ?w ?v)
        (count_loop ?q ?v ?b ?m ?n))
    (<= (count_loop ?p ?w ?b ?m ?n) (true (cell ?p black)) (succ ?p ?q) (succ ?b ?c)
        (count_loop ?q ?w ?c ?m ?n))
    (<= (count_loop ?p ?w ?b ?m ?n) (true (cell ?p blank)) (succ ?p ?q) (count_loop ?q ?w ?b ?m ?n))
    (<= (count_loop {points + 1} ?w ?b ?w ?b) (number ?w) (number ?b))
    (<= (goal white 100) (material ?w ?b) (less ?b ?w))
    (<= (goal white 50) (material ?w ?w))
    (<= (goal white 0) (material ?w ?b) (less ?w ?b))
    (<= (goal black 100) (material ?w ?b) (less ?w ?b))
    (<= (goal black 50) (material ?w ?w))
    (<= (goal black 0) (material ?w ?b) (less ?b ?w))
    """


def list_of(names: list[str]) -> str:
    """The list of `names`, as nested pairs."""
    return " ".join(f"(cons {name}" for name in names) + " nil" + ")" * len(names)


def lists(size: int = 5) -> str:
    """Marking cells until a line is owned; lines and the whole board are lists, tested by `islist`."""
    cells = [[f"c{x}{y}" for y in range(size)] for x in range(size)]
    columns = [list(column) for column in zip(*cells, strict=True)]
    names = [name for row in cells for name in row]
    return f"""
    (role x) (role o) (init (control x))
    {" ".join(f"(cell {name})" for name in names)}
    {" ".join(f"(line {list_of(line)})" for line in cells + columns)} (board {list_of(names)})
    (<= (islist nil))
    (<= (islist (cons ?head ?tail)) (cell ?head) (islist ?tail))
    (<= (owned ?r nil) (role ?r))
    (<= (owned ?r (cons ?head ?tail)) (islist ?tail) (true (mark ?head ?r)) (owned ?r ?tail))
    (<= (filled nil))
    (<= (filled (cons ?head ?tail)) (true (mark ?head ?r)) (islist (cons ?head ?tail)) (filled ?tail))
    (<= (won ?r) (line ?list) (owned ?r ?list))
    (<= full (board ?list) (filled ?list))
    (<= (taken ?c) (true (mark ?c ?r)))
    (<= (legal ?r (put ?c)) (true (control ?r)) (cell ?c) (not (taken ?c)))
    (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
    (<= (next (mark ?c ?r)) (true (mark ?c ?r)))
    (<= (next (mark ?c ?r)) (does ?r (put ?c)))
    (<= (next (control x)) (true (control o)))
    (<= (next (control o)) (true (control x)))
    (<= terminal (won ?r))
    (<= terminal full)
    (<= (goal ?r 100) (won ?r))
    (<= (goal ?r 0) (role ?r) (won ?s) (distinct ?r ?s))
    (<= (goal ?r 50) (role ?r) (not (won x)) (not (won o)))
    """


def exactly_once(size: int = 9) -> str:
    """Filling a square in which every row and column shall hold every digit exactly once."""
    digits = range(1, size + 1)
    letters = [f"?v{digit}" for digit in digits]
    distinct = " ".join(f"(value {letter}) (distinct ?n {letter})" for letter in letters[1:])
    once = "\n".join(
        f"(<= (once ?n {' '.join(letters)})"
        f" (exactlyfirst ?n {' '.join([letter, *(other for other in letters if other != letter)])}))"
        for letter in letters
    )
    row = " ".join(
        f"(true (cell {digit} ?y {letter}))" for digit, letter in zip(digits, letters, strict=True)
    )
    column = " ".join(
        f"(true (cell ?x {digit} {letter}))" for digit, letter in zip(digits, letters, strict=True)
    )
    return f"""
    (role robot) (value blank) {" ".join(f"(digit {digit}) (value {digit})" for digit in digits)}
    {" ".join(f"(init (cell {x} {y} blank))" for x in digits for y in digits)}
    (<= (exactlyfirst ?n ?n {" ".join(letters[1:])}) (digit ?n) {distinct})
    {once}
    (<= (row_holds ?y ?n) (digit ?y) (digit ?n) {row} (once ?n {" ".join(letters)}))
    (<= (column_holds ?x ?n) (digit ?x) (digit ?n) {column} (once ?n {" ".join(letters)}))
    (<= (legal robot (fill ?x ?y ?n)) (true (cell ?x ?y blank)) (digit ?n))
    (<= (next (cell ?x ?y ?n)) (does robot (fill ?x ?y ?n)))
    (<= (next (cell ?x ?y ?v)) (true (cell ?x ?y ?v)) (does robot (fill ?u ?w ?n)) (differs ?x ?y ?u ?w))
    (<= (differs ?x ?y ?u ?w) (digit ?x) (digit ?y) (digit ?u) (digit ?w) (distinct ?x ?u))
    (<= (differs ?x ?y ?u ?w) (digit ?x) (digit ?y) (digit ?u) (digit ?w) (distinct ?y ?w))
    (<= wrong (digit ?y) (digit ?n) (not (row_holds ?y ?n)))
    (<= wrong (digit ?x) (digit ?n) (not (column_holds ?x ?n)))
    (<= open (true (cell ?x ?y blank)))
    (<= terminal (not open))
    (<= (goal robot 100) (not wrong))
    (<= (goal robot 0) wrong)
    """


def armies(pieces: int = 40, size: int = 8) -> str:
    """Two armies of named pieces that step and capture; the pieces left are counted by name."""
    half = pieces // 2
    names = [f"p{number}" for number in range(1, pieces + 1)]
    owners = " ".join(f"(owner {name} {'red' if i < half else 'blue'})" for i, name in enumerate(names))
    places = [(x, y) for y in range(1, size + 1) for x in range(1, size + 1)]
    squares = places[:half] + places[::-1][: pieces - half]
    start = " ".join(f"(init (at {name} {x} {y}))" for name, (x, y) in zip(names, squares, strict=True))
    follows = " ".join(
        f"(after {one} {other})" for one, other in zip(names, [*names[1:], "end"], strict=True)
    )
    return f"""
    (role red) (role blue) (init (control red)) (init (step 0)) {owners} {start} {follows}
    {chain("succ", 60)} {" ".join(f"(coordinate {c})" for c in range(1, size + 1))}
    (<= (near ?x ?y) (coordinate ?x) (coordinate ?y) (succ ?x ?y))
    (<= (near ?x ?y) (coordinate ?x) (coordinate ?y) (succ ?y ?x))
    (<= (legal ?r (go ?p ?u ?y)) (true (control ?r)) (owner ?p ?r) (true (at ?p ?x ?y)) (near ?x ?u)
        (not (held ?r ?u ?y)))
    (<= (legal ?r (go ?p ?x ?v)) (true (control ?r)) (owner ?p ?r) (true (at ?p ?x ?y)) (near ?y ?v)
        (not (held ?r ?x ?v)))
    (<= (legal ?r noop) (role ?r) (not (true (control ?r))))
    (<= (legal ?r noop) (true (control ?r)))
    (<= (held ?r ?x ?y) (owner ?p ?r) (true (at ?p ?x ?y)))
    (<= (moved ?p) (does ?r (go ?p ?x ?y)))
    (<= (captured ?p) (true (at ?p ?x ?y)) (does ?r (go ?q ?x ?y)) (distinct ?p ?q))
    (<= (next (at ?p ?x ?y)) (does ?r (go ?p ?x ?y)))
    (<= (next (at ?p ?x ?y)) (true (at ?p ?x ?y)) (not (moved ?p)) (not (captured ?p)))
    (<= (next (control red)) (true (control blue)))
    (<= (next (control blue)) (true (control red)))
    (<= (next (step ?m)) (true (step ?n)) (succ ?n ?m))
    (<= (alive ?p) (true (at ?p ?x ?y)))
    (<= (tally ?p ?r ?n ?m) (alive ?p) (owner ?p ?r) (after ?p ?q) (succ ?n ?k) (tally ?q ?r ?k ?m))
    (<= (tally ?p ?r ?n ?m) (alive ?p) (owner ?p ?s) (role ?r) (distinct ?r ?s) (after ?p ?q)
        (tally ?q ?r ?n ?m))
    (<= (tally ?p ?r ?n ?m) (after ?p ?q) (not (alive ?p)) (tally ?q ?r ?n ?m))
    (<= (tally end ?r ?n ?n) (role ?r) (number ?n))
    {" ".join(f"(number {n})" for n in range(half + 1))}
    (<= (strength ?r ?n) (role ?r) (tally p1 ?r 0 ?n))
    (<= (less ?x ?y) (succ ?x ?y) (number ?y))
    (<= (less ?x ?z) (succ ?x ?y) (less ?y ?z))
    (<= terminal (true (step 60)))
    (<= terminal (strength ?r 0))
    (<= (goal ?r 100) (strength ?r ?n) (strength ?s ?m) (distinct ?r ?s) (less ?m ?n))
    (<= (goal ?r 50) (strength red ?n) (strength blue ?n) (role ?r))
    (<= (goal ?r 0) (strength ?r ?n) (strength ?s ?m) (distinct ?r ?s) (less ?n ?m))
    """
