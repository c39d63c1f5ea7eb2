"""Block web pages: any page open in a browser on this machine can send requests to the player.

Browsers send the origin of a request (Origin, Sec-Fetch-Site) and the name they used (Host), which a
page can make point to this machine. Game managers send neither of the first two, and often no Host.
"""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit


class OriginRules:
    """The pages that may use the player, and the names by which it is reached.

    host      what the player listens on
    allowed   origins such as `http://example.org`, or `*` for all; their requests are answered
    """

    def __init__(self, host: str = "127.0.0.1", allowed: Iterable[str] = ()) -> None:
        self._allowed = {origin.rstrip("/").lower() for origin in allowed}
        self._names = {"localhost", host.lower(), socket.gethostname().lower()}
        self._is_everywhere = host in ("", "0.0.0.0", "::")

    def fault(self, headers: Mapping[str, str], local_address: str) -> str:
        """Why a request is refused; empty if it is allowed.

        headers         with names in lower case
        local_address   of this machine, as its peer reached it

        >>> OriginRules().fault({"host": "evil.example"}, "127.0.0.1")
        'evil.example is not an address of this player'
        """
        origin = headers.get("origin", "").lower()
        if origin and not self._allowed.isdisjoint(("*", origin)):
            return ""
        host = name = headers.get("host", "").lower()
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname or ""
        if host and not self._is_own(name, local_address):
            return f"{name} is not an address of this player"
        if origin and origin != f"http://{host}":
            return f"requests from {origin} are not allowed"
        if not origin and headers.get("sec-fetch-site", "none").lower() in ("cross-site", "same-site"):
            return "requests from web pages are not allowed"
        return ""

    def _is_own(self, name: str, local_address: str) -> bool:
        if name in self._names or name == local_address:
            return True
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            # The full host name of this machine is one of its own names.
            return self._is_everywhere and name == socket.getfqdn().lower()
        # Behind NAT a player does not know its own address; a page cannot fake a numeric one.
        return self._is_everywhere or address.is_loopback
