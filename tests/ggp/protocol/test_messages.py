"""Messages of peers, parsed and written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gdl.terms import Compound, Symbol
from ggp.protocol.messages import (
    MAX_TERM_DEPTH,
    Abort,
    Info,
    InfoReply,
    Play,
    Preview,
    ProtocolError,
    Start,
    Stop,
    format_info_reply,
    format_message,
    parse_info_reply,
    parse_message,
    parse_move_reply,
    parse_term,
    spell,
)

NOOP = Symbol("noop")
MARK = Compound("mark", (Symbol("1"), Symbol("1")))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *((text, Info()) for text in ("( INFO )", "(info)", "(Info)", "INFO", " ( INFO ) \r\n")),
        (
            "( START m.1 xplayer ((role xplayer) (<= terminal\n p)) 30 10 )",
            Start("m.1", Symbol("xplayer"), "(role xplayer) (<= terminal\n p)", 30.0, 10.0),
        ),
        (
            "(START m x ((role x)) 30 10 verbose (more stuff))",
            Start("m", Symbol("x"), "(role x)", 30.0, 10.0),
        ),
        (
            "(START M1 XPLAYER((ROLE XPLAYER)(<= TERMINAL P))30 10)",
            Start("M1", Symbol("xplayer"), "(ROLE XPLAYER)(<= TERMINAL P)", 30.0, 10.0),
        ),
        ("(PLAY M1((MARK 1 1)NOOP))", Play("M1", (MARK, NOOP))),
        *((f"( PLAY m {nil} )", Play("m", None)) for nil in ("NIL", "nil", "none", "0")),
        ("(PLAY m ())", Play("m", ())),
        ("( PLAY m ( ( mark 1 1 ) ) )", Play("m", (MARK,))),
        ("( STOP m ( noop ) )", Stop("m", (NOOP,))),
        ("(PLAY m 3 (noop))", Play("m", (NOOP,), turn=3)),
        ("(PLAY m (noop) 3)", Play("m", (NOOP,), turn=3)),
        ("(PLAY m 0 NIL)", Play("m", None, turn=0)),
        ("(PLAY m NIL 0)", Play("m", None, turn=0)),
        ("(PLAY m 0 NIL NIL)", Play("m", None, turn=0)),
        ("(PLAY m 2 (mark 1 1) ((sees a) noop))", Play("m", (parse_term("(sees a)"), NOOP), 2, MARK)),
        ("(STOP m 2 noop ())", Stop("m", (), 2, NOOP)),
        ("( ABORT m )", Abort("m")),
        ("( PREVIEW ((role x)) 20 )", Preview("(role x)", 20.0)),
        ("(PLAY m (((a) b) noop))", Play("m", (Symbol("((a) b)"), NOOP))),  # garbled
        ("; hello (\n( PLAY m ; here )\n NIL )", Play("m", None)),
    ],
)
def test_parse_message_reads(text, expected):
    assert parse_message(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "()",
        "(())",
        "( DANCE )",
        "( PLAY m",
        "( PLAY m NIL ) )",
        ")",
        "( INFO ) ( INFO )",
        "( PLAY )",
        "( PLAY m )",
        "( PLAY m a b c d )",
        "( PLAY m (a) (b) )",
        "( PLAY (m) NIL )",
        "( START m x ((role x)) 30 )",
        "( START m x rules 30 10 )",
        "( START m x ((role x)) soon 10 )",
        "( START m x ((role x)) nan 10 )",
        "( START m x ((role x)) -1 10 )",
        "( START m ?x ((role x)) 30 10 )",
        "( STOP m )",
        "( ABORT )",
        "( PREVIEW )",
        "(" * 100_000,
        "(" * 5000 + ")" * 5000,
    ],
)
def test_parse_message_refuses_other_text(text):
    with pytest.raises(ProtocolError):
        parse_message(text)


@pytest.mark.parametrize(
    "message",
    [
        Info(),
        Start("m", Symbol("x"), "(role x) (init p)", 30.0, 0.5),
        Play("m", None),
        Play("m", ()),
        Play("m", (MARK, NOOP)),
        Play("m", (MARK,), turn=4, last_move=NOOP),
        Play("m", (MARK,), turn=4),
        Play("m", None, turn=0),
        Stop("m", (NOOP,)),
        Abort("m"),
        Preview("(role x)", 20.0),
    ],
)
def test_format_message_is_read_back(message):
    read = parse_message(format_message(message))
    if isinstance(read, Start | Preview):
        read = type(read)(*(f.strip() if isinstance(f, str) else f for f in _fields(read)))
    assert read == message


def _fields(message):
    return [getattr(message, name) for name in type(message).__slots__]


def test_format_message_writes_blanks_like_ggp_base():
    assert format_message(Play("m", (MARK, NOOP))) == "( PLAY m ( ( mark 1 1 ) noop ) )"
    assert format_message(Play("m", None)) == "( PLAY m NIL )"


@pytest.mark.parametrize("text", ["(mark 1 1)", "( MARK 1 1 )\r\n", "(mark 1 1) (taunt hah)"])
def test_parse_move_reply_reads_moves(text):
    assert parse_move_reply(text) == MARK


@pytest.mark.parametrize("text", ["", "(mark 1", "mark 1 1", "()", "((mark) 1)", "(mark ?x 1)", "error )("])
def test_parse_move_reply_refuses_nonsense(text):
    with pytest.raises(ProtocolError):
        parse_move_reply(text)


def test_parse_term_limits_nesting():
    depth = MAX_TERM_DEPTH - 2
    assert str(parse_term("(f " * depth + "a" + ")" * depth)).startswith("(f (f")
    with pytest.raises(ProtocolError):
        parse_term("(f " * 5000 + "a" + ")" * 5000)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "( ( name Ann ) ( status AVAILABLE ) ( species alien ) )",
            InfoReply("Ann", "available", "alien"),
        ),
        ("available", InfoReply(status="available")),
        ("((status busy)(color red))", InfoReply(status="busy")),
        ("((name two words))", InfoReply(name="two words")),
        ("(available)", InfoReply(status="available")),
        ("()", InfoReply()),
    ],
)
def test_parse_info_reply_reads_incomplete_replies(text, expected):
    assert parse_info_reply(text) == expected


def test_format_info_reply_writes_names_as_one_word():
    reply = format_info_reply("My (best) player; 2", "busy")
    assert parse_info_reply(reply) == InfoReply("My_best_player_2", "busy", "alien")


def test_spell_uses_the_sheet_s_capitals():
    assert spell(MARK, {"mark": "Mark"}) == "(Mark 1 1)"
    assert spell(NOOP, {"noop": "NOOP"}) == "NOOP"
    assert spell(MARK, {}) == "(mark 1 1)"


@given(st.text(alphabet='()pPlLaAyY sStTrRoO0123 ?;"\n<=é\x00', max_size=200))
def test_parse_message_raises_no_other_error(text):
    try:
        message = parse_message(text)
    except ProtocolError:
        return
    parse_message(format_message(message))
