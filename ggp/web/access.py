"""Access control: answer requests to this host, with the token or a session, and not from other pages.

The Host check defeats names that another site points at this machine (DNS rebinding); the Origin check, and
the SameSite=Strict cookie, defeat pages of other sites.

Cookies ignore ports: a server of another user of this machine receives them when this user visits it. So they
count only in the run that set them. What outlives a run is a pass: it is bound to the port, signed with a key
that only this user can read, and kept in the browser's storage, which other ports cannot see. Browsers never
send it by themselves: only the page of the refusal does, once a person has opened it.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import stat
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from urllib.parse import quote

from ggp.files import make_private_folder, user_data_folder, write_text

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

PASS_SECONDS = 30 * 24 * 3600.0
"""How long a browser that has logged in once may come back, also after a restart."""
INVITATION_SECONDS = 24 * 3600.0
_KEY_BYTES = 32

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Access:
    """The token of this run, the key of passes, and the names under which the server may be asked.

    >>> access = Access("127.0.0.1", 8000, "secret")
    >>> access.is_own_host("localhost:8000"), access.is_own_host("evil.example:8000")
    (True, False)
    """

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    key: bytes = field(default_factory=lambda: secrets.token_bytes(_KEY_BYTES), repr=False)

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
        return secrets.compare_digest(given.encode(errors="surrogatepass"), self.token.encode())

    def new_pass(self, scope: tuple[str, ...] = (), seconds: float = PASS_SECONDS) -> str:
        """A text that admits a browser for a time: to everything, or to a `scope`, a match and a role in it.

        >>> access = Access("127.0.0.1", 8000)
        >>> access.scope_of(access.new_pass(("match", "white")))
        ('match', 'white')
        >>> access.scope_of(access.new_pass(seconds=-1)) is None, access.scope_of("forged.0") is None
        (True, True)
        """
        content = json.dumps([*scope, int(time.time() + seconds)])
        packed = urlsafe_b64encode(content.encode()).decode()
        return f"{packed}.{self._signature(packed)}"

    def scope_of(self, given: str) -> tuple[str, ...] | None:
        """What a pass of this port admits to; None if it is forged or its time is over."""
        packed, _, signature = given.partition(".")
        if not secrets.compare_digest(
            signature.encode(errors="surrogatepass"), self._signature(packed).encode()
        ):
            return None
        *scope, until = json.loads(urlsafe_b64decode(packed))
        return tuple(scope) if time.time() < until else None

    def _signature(self, packed: str) -> str:
        signed = f"{self.port} {packed}".encode(errors="surrogatepass")
        return hmac.new(self.key, signed, "sha256").hexdigest()


def kept_key(token: str | None) -> bytes:
    """The key of passes from a file that only this user can read, made once; a new one if there can be none.

    token   given by the user, None if it is new in each run: with another one, no pass is valid any more
    """
    folder = user_data_folder()
    secret = secrets.token_hex(_KEY_BYTES)
    with suppress(OSError, UnicodeDecodeError):
        secret = secret if folder is None else _kept_secret(folder / "page.key", secret)
    return hmac.digest(secret.encode(), (token or "").encode(errors="surrogatepass"), "sha256")


def _kept_secret(path: Path, new: str) -> str:
    """The text of a private file; `new`, which is written there, if there is none or others may read it."""
    with suppress(FileNotFoundError, UnicodeDecodeError):
        found, text = path.lstat(), path.read_text(encoding="ascii")
        is_private = found.st_uid == os.getuid() and not found.st_mode & 0o077
        if stat.S_ISREG(found.st_mode) and is_private and len(text) == len(new):
            return text
    make_private_folder(path.parent)
    path.unlink(missing_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    write_text(path, new)  # keeps the mode
    return new


def redirection(address: str) -> str:
    """HTML that redirects to `address`, which is escaped."""
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>ggp</title>'
        f'<meta http-equiv="refresh" content="0;url={address}"><a href="{address}">Open the page</a></html>'
    )
