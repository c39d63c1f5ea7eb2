"""How a player that cannot be reached is described."""

import asyncio
import socket

import pytest

from ggp.match.player import PlayerFaultError
from ggp.protocol.client import ask
from ggp.protocol.messages import Info


def fault_of(url: str) -> str:
    with pytest.raises(PlayerFaultError) as caught:
        asyncio.run(ask(url, Info(), 2.0))
    return str(caught.value)


def test_refused_connection_is_described_in_plain_words():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    assert fault_of(url) == f"{url}: no player is listening there (connection refused)"


@pytest.mark.parametrize(
    ("reply", "words"),
    [(b"", "connection closed without an answer"), (b"not http at all\r\n\r\n", "the answer is not HTTP")],
)
def test_odd_answer_is_described_in_plain_words(reply, words):
    async def talk() -> str:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(reply)
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        try:
            await ask(f"http://127.0.0.1:{port}", Info(), 2.0)
        except PlayerFaultError as error:
            return str(error)
        finally:
            server.close()
        return ""

    assert asyncio.run(talk()).endswith(words)


def test_unknown_host_is_described_in_plain_words(monkeypatch):
    async def fail(*arguments: object, **options: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(asyncio.base_events.BaseEventLoop, "getaddrinfo", fail)
    assert fault_of("http://no.such.host:9147").endswith(": unknown host")
