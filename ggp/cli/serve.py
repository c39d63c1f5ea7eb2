"""`ggp serve`: games in the browser."""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
import threading
import webbrowser
from pathlib import Path

import click

from ggp.cli.options import Count, InputFile, Seconds
from ggp.files import write_text

TOKEN_VARIABLE = "GGP_TOKEN"


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8765, show_default=True, type=Count(1, 65535), help="Port to listen on.")
@click.option(
    "--token-file",
    type=InputFile(),
    help="File with the secret that opens the page.  [env var for the secret itself: GGP_TOKEN;"
    " default: a new one each run]",
)
@click.option(
    "--store",
    "stores",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Show the tournaments in this store, also while they run; may be repeated.",
)
@click.option("--open/--no-open", "is_opening", default=True, help="Open the page in the browser.")
@click.option(
    "--sessions", default=4, show_default=True, type=Count(1, 1000), help="Browsers served at the same time."
)
@click.option("--matches", default=3, show_default=True, type=Count(1, 100), help="Open matches per browser.")
@click.option(
    "--memory",
    default=4096,
    show_default=True,
    type=Count(512),
    metavar="MIB",
    help="Memory limit of each match process.",
)
@click.option(
    "--idle",
    default=1800.0,
    show_default=True,
    type=Seconds(1),
    help="End sessions that have been idle for this long.",
)
def command(
    host: str,
    port: int,
    token_file: Path | None,
    stores: tuple[Path, ...],
    is_opening: bool,
    sessions: int,
    matches: int,
    memory: int,
    idle: float,
) -> None:
    """Play, watch and write games in the browser, until Ctrl-C.

    The page listens on this machine only, and opens with the token in its address.
    """
    from ggp.web.access import Access
    from ggp.web.server import run_server
    from ggp.web.sessions import SessionLimits

    token = os.environ.pop(TOKEN_VARIABLE, "") or None  # no child needs it
    if token_file is not None:
        token = _read_token(token_file)
    if token is not None and len(token) < 8:
        raise click.UsageError("a token has at least 8 characters")
    access = Access(host, port) if token is None else Access(host, port, token)
    _check_stores(stores)
    limits = SessionLimits(sessions=sessions, matches=matches, mebibytes=memory, idle_seconds=idle)

    def report_ready() -> None:
        click.echo(f"open {access.address}")
        if is_opening:
            # By a file, because every user of the machine can read the command line of a browser.
            page = Path(folder, "open.html")
            write_text(page, access.opening_page)
            # In a thread: a browser of the terminal returns only when it is closed.
            threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()

    try:
        with (
            contextlib.suppress(KeyboardInterrupt, asyncio.CancelledError),
            tempfile.TemporaryDirectory(prefix="ggp-page-") as folder,
        ):
            asyncio.run(run_server(access, limits, stores, report_ready))
    except OSError as error:
        raise click.ClickException(
            f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}"
        ) from None


def _read_token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise click.ClickException(f"cannot read the token in {path}: {error}") from None


def _check_stores(paths: tuple[Path, ...]) -> None:
    """Open every store once, so that a wrong file is reported here and not in the browser."""
    from ggp.tournament.schema import StoreError
    from ggp.tournament.store import Store

    for path in paths:
        try:
            with Store(path, must_exist=True):
                pass
        except (StoreError, OSError) as error:
            raise click.ClickException(str(error)) from None
