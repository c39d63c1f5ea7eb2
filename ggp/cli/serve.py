"""`ggp serve`: games in the browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import tempfile
import threading
import webbrowser
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import click

from ggp.cli.options import Count, Limit, Seconds, limit_option
from ggp.files import write_text

TOKEN_VARIABLE = "GGP_TOKEN"


@click.command("serve")
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=8765, type=Count(1, 65535), help="Port to listen on.")
@click.option("--open/--no-open", "is_opening", default=True, help="Open the page in the browser.")
@limit_option(
    Limit("matches", Count(1, 100), 6, "open matches"),
    Limit("memory", Count(512), 4096, "MiB for each match process"),
    Limit("idle", Seconds(1), 1800, "seconds until an idle match ends"),
)
def command(
    host: str,
    port: int,
    is_opening: bool,
    limits: dict[str, int],
) -> None:
    """Play, watch and write games in the browser, until Ctrl-C.

    The page listens on this machine only, and opens with the token in its address: the one in the variable
    GGP_TOKEN, or a new one each run.
    """
    from ggp.web.access import Access
    from ggp.web.kept_matches import matches_folder
    from ggp.web.open_matches import ServerLimits
    from ggp.web.server import WebServer, run_app

    token = os.environ.pop(TOKEN_VARIABLE, "") or None  # no child needs it
    if token is not None and len(token) < 8:
        raise click.UsageError("a token has at least 8 characters")
    access = Access(host, port) if token is None else Access(host, port, token)
    of_server = ServerLimits(limits["matches"], limits["memory"], idle_seconds=limits["idle"])

    def report_ready() -> None:
        click.echo(f"open {access.address}")
        if is_opening:
            # Open a file, because every user of the machine can read the command line of a browser.
            page = Path(folder, "open.html")
            write_text(page, access.opening_page)
            # In a thread: a terminal browser returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()

    try:
        with (
            contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
            tempfile.TemporaryDirectory(prefix="ggp-page-") as folder,
        ):
            server = WebServer(access, of_server, kept=matches_folder())
            serving = run_app(server.make_app(), access, report_ready, server.draw_featured)
            asyncio.run(_until_terminated(serving))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}"
        ) from None


async def _until_terminated(serving: Coroutine[Any, Any, None]) -> None:
    """Serve until cancelled; SIGTERM ends the server like Ctrl-C, so that open matches are kept."""
    task = asyncio.ensure_future(serving)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    await task
