"""Building blocks of SVG pictures; all text is escaped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    r"""`text` between tags: escaped, with the characters replaced that XML forbids.

    >>> xml_text("a < b\x00\uffff") == "a &lt; b\ufffd\ufffd"
    True
    """
    return escape(_NOT_XML.sub("\ufffd", text))


def xml_attribute(text: str) -> str:
    """`text` as the value of an attribute, quotes included.

    >>> print(xml_attribute('say "a"'))
    'say "a"'
    """
    return quoteattr(_NOT_XML.sub("\ufffd", text))


def svg_document(width: float, height: float, parts: Sequence[str], *, font: str = "sans-serif") -> str:
    """An SVG document on white, with one part per line.

    >>> print(svg_document(20, 10, [svg_text(0, 9, "a < b")]))
    <svg xmlns="http://www.w3.org/2000/svg" width="20" height="10" viewBox="0 0 20 10"
     font-family="sans-serif" font-size="12">
    <rect width="100%" height="100%" fill="white"/>
    <text x="0.0" y="9.0" text-anchor="start">a &lt; b</text>
    </svg>
    <BLANKLINE>
    """
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"\n font-family="{font}" font-size="12">\n'
        '<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def svg_text(x: float, y: float, text: str, anchor: str = "start", style: str = "") -> str:
    """A line of text. anchor: "start", "middle" or "end"; style: further attributes, with a space before."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{style}>{xml_text(text)}</text>'
