"""Text of the GGP protocol: parse and format messages and replies, without I/O.

A message is one KIF expression, `( PLAY match7 ( ( mark 1 1 ) noop ) )`. Peers write it with or without
blanks, in any letter case, and some omit parts: the parser accepts what they actually send.
Terms are folded to lower case like rule sheets; match ids and rules stay as received.

Forms read: the ggp-base and Dresden managers' (INFO, START, PLAY, STOP, ABORT, PREVIEW), the 2005 form
(a subset), a turn number before or after the moves, and the GDL-II form of
http://ggpserver.general-game-playing.de/ggpserver/public/gdlii_protocol.jsp
`(PLAY id turn lastmove percepts)`.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from gdl.syntax.parser import decode
from gdl.terms import Compound, Symbol, Term

MAX_DEPTH = 1000
"""Maximum nesting of parentheses in a message; real rule sheets stay below 30."""

MAX_TERM_DEPTH = 100
"""Maximum nesting of a move or percept; well below the depth at which recursion over terms fails."""

MAX_CLOCK_SECONDS = 7 * 24 * 3600.0

FAULT_HEADER = "X-GGP-Fault"
"""Header of a reply to PLAY that is not the move of the player's agent: why, as match records write it."""

_STEP_TOKENS, _STEP_TERMS = 2000, 100
"""Size of a parsing step: about a millisecond."""

_TOKEN = re.compile(r'[()]|;[^\n\r]*|"[^"]*"|[^\s();]+')
_TOKEN_OR_GAP = re.compile(_TOKEN.pattern + r"|\s{8,}")
"""Gaps are matched too, because searching for a token in a long gap is slow."""


class ProtocolError(Exception):
    """The text is not a message or reply of the protocol; the error briefly explains why."""


@dataclass(frozen=True, slots=True)
class Info:
    """`( INFO )`: asks for the player's name and whether it is available."""


@dataclass(frozen=True, slots=True)
class Start:
    """`( START id role (rules…) startclock playclock )`.

    rules   the text between the outer parentheses of the rules, as received
    """

    match_id: str
    role: Term
    rules: str
    start_clock_seconds: float
    play_clock_seconds: float


@dataclass(frozen=True, slots=True)
class Play:
    """`( PLAY id (m1 m2 …) )`: reports the last step and asks for a move.

    terms       the joint move in role order, or in GDL-II the role's percepts; None for NIL
    turn        0 at the first PLAY; None if the manager does not count
    last_move   the role's own last move, in the GDL-II form
    """

    match_id: str
    terms: tuple[Term, ...] | None
    turn: int | None = None
    last_move: Term | None = None


@dataclass(frozen=True, slots=True)
class Stop:
    """`( STOP id (m1 m2 …) )`: the match is over. Fields as in `Play`."""

    match_id: str
    terms: tuple[Term, ...] | None
    turn: int | None = None
    last_move: Term | None = None


@dataclass(frozen=True, slots=True)
class Abort:
    """`( ABORT id )`: ends the match without a result."""

    match_id: str


@dataclass(frozen=True, slots=True)
class Preview:
    """`( PREVIEW (rules) clock )`: announces rules of a later match."""

    rules: str
    clock_seconds: float


Message: TypeAlias = Info | Start | Play | Stop | Abort | Preview


@dataclass(frozen=True, slots=True)
class InfoReply:
    """A player's report on itself; empty strings for omitted parts."""

    name: str = ""
    status: str = ""
    species: str = ""


# --- reading ------------------------------------------------------------------------------------


def message_text(data: bytes) -> str:
    """The text of a message or reply, without a byte order mark, blanks and NULs around it.

    >>> message_text(b"\\xef\\xbb\\xbf( INFO )\\0")
    '( INFO )'
    """
    return decode(data).strip("\ufeff\0" + string.whitespace)


def parse_message(text: str) -> Message:
    """Read a message. Raises ProtocolError: empty, unbalanced, unknown word, wrong arity.

    >>> parse_message("(play M7 (a b))")
    Play(match_id='M7', terms=(Symbol('a'), Symbol('b')), turn=None, last_move=None)
    """
    steps = parse_in_steps(text)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            message: Message = end.value
            return message


def parse_in_steps(text: str) -> Generator[None, None, Message]:
    """`parse_message` in steps of about a millisecond, between which an event loop can do other things."""
    parts = yield from _parts_in_steps(text)
    if not parts or parts[0].startswith("("):
        raise ProtocolError("no command word")
    word, arguments = parts[0].lower(), parts[1:]
    if word in ("play", "stop"):
        return (yield from _read_moves_in_steps(Play if word == "play" else Stop, arguments))
    _require(word in _ARGUMENTS, f"unknown command {_shorten(parts[0])}")
    return _read(word, arguments)


def _parts_in_steps(text: str) -> Generator[None, None, list[str]]:
    """The elements of the one list in `text`, or its one word, each as its own text."""
    parts: list[str] = []
    depth = expressions = begin = 0
    for number, token in enumerate(_TOKEN_OR_GAP.finditer(text), start=1):
        if number % _STEP_TOKENS == 0:
            yield
        first = text[token.start()]
        if first == "(":
            expressions += depth == 0
            depth += 1
            _require(depth <= MAX_DEPTH, f"nested deeper than {MAX_DEPTH} parentheses")
            if depth == 2:
                begin = token.start()
        elif first == ")":
            _require(depth > 0, "unbalanced ')'")
            depth -= 1
            if depth == 1:
                parts.append(text[begin : token.end()])
        elif depth <= 1 and first != ";" and not first.isspace():
            expressions += depth == 0
            parts.append(token.group())
    _require(depth == 0, "unclosed '('")
    _require(expressions > 0, "empty message")
    _require(expressions == 1, "more than one expression")
    return parts


def _read(word: str, arguments: list[str]) -> Message:
    """A message other than PLAY and STOP."""
    match word, arguments:
        case "info", _:
            return Info()
        case "start", [match_id, role, rules, start_clock, play_clock, *_]:
            clocks = _read_clock(start_clock), _read_clock(play_clock)
            return Start(_read_match_id(match_id), parse_term(role), _read_rules(rules), *clocks)
        case "abort", [match_id, *_]:
            return Abort(_read_match_id(match_id))
        case "preview", [rules, *rest]:
            return Preview(_read_rules(rules), _read_clock(rest[0]) if rest else 0.0)
    raise ProtocolError(f"{word.upper()} needs {_ARGUMENTS[word]}")


_ARGUMENTS = {
    "info": "nothing",
    "start": "id, role, rules, start clock and play clock",
    "abort": "an id",
    "preview": "rules and a clock",
}


def _read_moves_in_steps(kind: type[Play | Stop], arguments: list[str]) -> Generator[None, None, Play | Stop]:
    """A PLAY or STOP in any of the forms: id, then [turn [last move]] and the list."""
    word = kind.__name__.upper()
    _require(2 <= len(arguments) <= 4, f"{word} needs an id and the moves")
    match_id, *rest = arguments
    turn, last_move = None, None
    if len(rest) == 3:
        turn, last_move = _read_turn_number(word, rest[0]), _read_last_move(rest[1])
    elif len(rest) == 2:
        # Some managers put the number first, some last.
        place = 0 if _is_integer(rest[0]) else 1
        turn = _read_turn_number(word, rest.pop(place))
    terms: list[Term] | None = None  # an atom in place of the list
    if rest[-1].startswith("("):
        terms = []
        for item in split_expressions(rest[-1][1:-1]):
            terms.append(parse_term_or_name(item))
            if len(terms) % _STEP_TERMS == 0:
                yield
    return kind(_read_match_id(match_id), None if terms is None else tuple(terms), turn, last_move)


def _read_turn_number(word: str, text: str) -> int:
    _require(_is_integer(text), f"{word} with {_shorten(text)} where a turn number belongs")
    return int(text)


def _is_integer(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 9


def _read_last_move(text: str) -> Term | None:
    return None if text.lower() == "nil" else parse_term_or_name(text)


def parse_term_or_name(text: str) -> Term:
    """Read a term; a text that is not one becomes a symbol, which is not a legal move.

    A manager that garbles one move still expects an answer to its PLAY.
    """
    try:
        return parse_term(text)
    except ProtocolError:
        return Symbol(text.lower())


def _read_match_id(text: str) -> str:
    _require(not text.startswith("("), "the match id must be an atom")
    return text


def _read_rules(text: str) -> str:
    _require(text.startswith("("), "the rules must be a list")
    return text[1:-1]


def _read_clock(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        raise ProtocolError(f"{_shorten(text)} is not a clock") from None
    _require(math.isfinite(seconds) and 0 <= seconds <= MAX_CLOCK_SECONDS, f"{_shorten(text)} is not a clock")
    return seconds


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise ProtocolError(message)


def _shorten(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def split_expressions(text: str) -> Iterator[str]:
    """The successive expressions in `text`, each as its own text; comments are skipped.

    Raises ProtocolError for unbalanced parentheses or nesting deeper than MAX_DEPTH.

    >>> list(split_expressions("(a (b)) c ; d"))
    ['(a (b))', 'c']
    """
    depth, begin = 0, 0
    for token in _TOKEN.finditer(text):
        first = text[token.start()]
        if first == "(":
            if depth == 0:
                begin = token.start()
            depth += 1
            _require(depth <= MAX_DEPTH, f"nested deeper than {MAX_DEPTH} parentheses")
        elif first == ")":
            _require(depth > 0, "unbalanced ')'")
            depth -= 1
            if depth == 0:
                yield text[begin : token.end()]
        elif depth == 0 and first != ";":
            yield token.group()
    _require(depth == 0, "unclosed '('")


def split_list(text: str) -> list[str]:
    """The elements of a parenthesized list, each as its own text."""
    return list(split_expressions(text[1:-1]))


def is_word(text: str) -> bool:
    """Whether `text` is one atom in a message, as match ids must be.

    >>> is_word("match.7"), is_word("match 7")
    (True, False)
    """
    return text not in ("(", ")") and _TOKEN.findall(text) == [text] and text[0] not in ';"'


def parse_term(text: str) -> Term:
    """Read one ground term, folded to lower case. Raises ProtocolError.

    Not `gdl.syntax.parser`'s: strangers send a term for every move, and only ground terms are accepted.

    >>> str(parse_term("( Mark 1 1 )"))
    '(mark 1 1)'
    """
    open_lists: list[list[Term]] = [[]]
    for token in _TOKEN.findall(text):
        if token == "(":
            open_lists.append([])
            _require(len(open_lists) <= MAX_TERM_DEPTH, f"nested deeper than {MAX_TERM_DEPTH} parentheses")
        elif token == ")":
            _require(len(open_lists) > 1, "unbalanced ')'")
            parts = open_lists.pop()
            _require(bool(parts) and isinstance(parts[0], Symbol), "a term must begin with a name")
            open_lists[-1].append(Compound(str(parts[0]), tuple(parts[1:])))
        elif not token.startswith(";"):
            _require(not token.startswith("?"), "a move must not contain a variable")
            open_lists[-1].append(Symbol(token.lower()))
    _require(len(open_lists) == 1, "unclosed '('")
    _require(len(open_lists[0]) == 1, "one term expected")
    return open_lists[0][0]


def parse_move_reply(text: str) -> Term:
    """Read the answer to PLAY; `(explanation …)` and `(taunt …)` after the move are ignored.

    They may all stand in one list, or the move alone. Raises ProtocolError if there is no move.

    >>> str(parse_move_reply("(mark 1 1) (taunt ha)")), str(parse_move_reply("((mark 1 1) (taunt ha))"))
    ('(mark 1 1)', '(mark 1 1)')
    """
    expressions = list(split_expressions(text))
    _require(bool(expressions), "empty reply")
    if len(expressions) == 1 and expressions[0].startswith("("):
        elements = split_list(expressions[0])
        if elements and elements[0].startswith("("):
            expressions = elements
    for extra in expressions[1:]:
        words = split_list(extra) if extra.startswith("(") else []
        _require(bool(words) and words[0].lower() in ("explanation", "taunt"), "more than a move")
    return parse_term(expressions[0])


def parse_info_reply(text: str) -> InfoReply:
    """Read the answer to INFO: pairs in any order, with extra ones or too few, or a bare status.

    Raises ProtocolError if the text is unbalanced or empty.

    >>> parse_info_reply("((name Rob) (status Available))")
    InfoReply(name='Rob', status='available', species='')
    """
    expressions = list(split_expressions(text))
    _require(bool(expressions), "empty reply")
    if not expressions[0].startswith("("):
        return InfoReply(status=expressions[0].lower())
    found: dict[str, str] = {}
    for pair in split_list(expressions[0]):
        words = split_list(pair) if pair.startswith("(") else [pair]
        if len(words) > 1:
            found.setdefault(words[0].lower(), " ".join(words[1:]).strip('"'))
        elif words and not found:
            found["status"] = words[0]
    return InfoReply(found.get("name", ""), found.get("status", "").lower(), found.get("species", "").lower())


# --- writing ------------------------------------------------------------------------------------


def format_message(message: Message) -> str:
    """Write a message as ggp-base does, with blanks around parentheses.

    >>> format_message(Play("m7", None))
    '( PLAY m7 NIL )'
    """
    match message:
        case Info():
            return "( INFO )"
        case Start():
            clocks = f"{message.start_clock_seconds:g} {message.play_clock_seconds:g}"
            return f"( START {message.match_id} {message.role} ({message.rules}\n) {clocks} )"
        case Play() | Stop():
            return f"( {type(message).__name__.upper()} {message.match_id} {_format_turn(message)} )"
        case Abort():
            return f"( ABORT {message.match_id} )"
        case Preview():
            return f"( PREVIEW ({message.rules}\n) {message.clock_seconds:g} )"


def _format_turn(message: Play | Stop) -> str:
    terms = "NIL" if message.terms is None else f"({' '.join(map(str, message.terms))})"
    turn = "" if message.turn is None else f"{message.turn} "
    if turn and (message.last_move is not None or message.terms is None):
        turn += f"{message.last_move or 'NIL'} "
    return (turn + terms).replace("(", "( ").replace(")", " )")


def format_info_reply(name: str, status: str) -> str:
    """Format the answer to INFO. Characters of the name that would break the expression become `_`.

    >>> format_info_reply("my player", "available")
    '( ( name my_player ) ( status available ) ( species alien ) )'
    """
    safe_name = re.sub(r'[\s();"]+', "_", name).strip("_") or "player"
    return f"( ( name {safe_name} ) ( status {status} ) ( species alien ) )"


def spell(term: Term, spellings: Mapping[str, str]) -> str:
    """Write `term` as canonical KIF with names spelled as in the rule sheet (`Program.spellings`)."""
    if not spellings:
        return str(term)
    if isinstance(term, Compound):
        name = spellings.get(term.name, term.name)
        return "(" + " ".join([name, *(spell(argument, spellings) for argument in term.arguments)]) + ")"
    return spellings.get(term.name, term.name) if isinstance(term, Symbol) else str(term)


def printable(text: str, limit: int = 300) -> str:
    """`text` as part of a log line, without control characters.

    >>> printable("a\\nb")
    'a?b'
    """
    clean = "".join(char if char.isprintable() else "?" for char in text[:limit])
    return clean if len(text) <= limit else clean[: limit - 3] + "..."
