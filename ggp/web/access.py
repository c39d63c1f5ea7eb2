"""Access control: answer requests to this host, with the token or a cookie, and not from other pages.

The Host check defeats names that another site points at this machine (DNS rebinding); the Origin check, and
the SameSite=Strict cookie, defeat pages of other sites.

Cookies ignore ports: a server of another user of this machine receives them when this user visits it. So they
count only in the run that set them.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

COOKIE = "ggp-session"
LOGIN = "/login"
"""Login address for a browser that comes from a file. The answer is a page: after a redirection from
elsewhere browsers would withhold the new cookie."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; object-src 'none'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""Sent with every reply: the page uses nothing from other hosts and must not be framed."""

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Access:
    """The token of this run, and the names under which the server may be asked.

    >>> access = Access("127.0.0.1", 8000, "secret")
    >>> access.is_own_host("localhost:8000"), access.is_own_host("evil.example:8000")
    (True, False)
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)

    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    """The value of the cookie of browsers that have logged in."""

    @property
    def address(self) -> str:
        """The address to open, token included."""
        return f"http://{self._name}:{self.port}/?token={quote(self.token, safe='')}"

    @property
    def opening_page(self) -> str:
        """HTML for a file that redirects to the page: a command line would be visible to every user."""
        return redirection(escape(self.address.replace("/?", f"{LOGIN}?")))

    @property
    def _name(self) -> str:
        is_bare = ":" in self.host and not self.host.startswith("[")
        return f"[{self.host}]" if is_bare else self.host

    def is_own_host(self, host: str) -> bool:
        """Whether a Host header names this server."""
        return host.lower() in {f"{name}:{self.port}" for name in (*_LOOPBACK, self._name.lower())}

    def is_own_origin(self, origin: str | None, host: str) -> bool:
        """Whether a request that changes something comes from a page of this server."""
        return origin is not None and self.is_own_host(host) and origin.lower() == f"http://{host.lower()}"

    def is_bearer(self, header: str | None) -> bool:
        """Whether an Authorization header has the token.

        Pages of other sites cannot send one: a browser asks for leave first, which this server never gives.
        """
        scheme, _, given = (header or "").partition(" ")
        return scheme.lower() == "bearer" and self.is_token(given.strip())

    def is_token(self, given: str) -> bool:
        """Whether `given` is the token; takes equally long for every wrong one."""
        return _is_same(given, self.token)

    def is_cookie(self, given: str) -> bool:
        """Whether `given` is the value of the cookie of this run."""
        return _is_same(given, self.cookie)


def _is_same(given: str, secret: str) -> bool:
    return secrets.compare_digest(given.encode(errors="surrogatepass"), secret.encode())


def redirection(address: str) -> str:
    """HTML that redirects to `address`, which is escaped."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>ggp</title>'
        f'<meta http-equiv="refresh" content="0;url={address}"><a href="{address}">Open the page</a></html>'
    )
