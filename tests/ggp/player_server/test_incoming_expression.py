"""The end of a message without a length, found piece by piece as the parser finds it."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggp.player_server.http_listener import IncomingExpression
from ggp.protocol.messages import ProtocolError, split_expressions


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(INFO)", True),
        ("((a)) ", True),
        ("(a) (b", True),
        (")", True),
        ("", False),
        ("INFO", False),
        ("(INFO", False),
        ("(a (b)", False),
        ("(a ; b)", False),
        ("(a ; b)\n)", True),
        ('(a "b)', False),
        ('(a "b)" )', True),
        ('(a b"c)', True),
        ("(é)", True),
    ],
)
def test_the_last_parenthesis_ends_a_message(text, expected):
    assert IncomingExpression().take(text.encode()) is expected
    assert (taken_byte_by_byte(text.encode()) is not None) is expected


@given(st.text(alphabet="(((()))ab;\n\r é", max_size=60), st.lists(st.integers(0, 120)))
def test_pieces_give_the_same_end_as_the_whole(text, cuts):
    data = text.encode()
    ends = [index for index in range(1, len(data) + 1) if is_closed(data[:index].decode(errors="replace"))]
    expected = ends[0] if ends else None
    assert taken_byte_by_byte(data) == expected
    borders = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    expression = IncomingExpression()
    for begin, end in pairwise(borders):
        is_end = expression.take(data[begin:end])
        assert is_end is (expected is not None and expected <= end)
        if is_end:
            break


def taken_byte_by_byte(data: bytes) -> int | None:
    """The number of bytes it takes."""
    expression = IncomingExpression()
    return next(
        (index + 1 for index in range(len(data)) if expression.take(data[index : index + 1])),
        None,
    )


def is_closed(text: str) -> bool:
    """The same from the whole text, for texts without strings."""
    try:
        return any(expression.startswith("(") for expression in split_expressions(text))
    except ProtocolError as error:
        return "unbalanced" in str(error)
