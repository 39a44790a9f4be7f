"""``kebab serve``: the HTTP interface with its web page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kebab.cli.session import INDEX, Session, command
from kebab.cli.staying import WATCH, staying
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.app import Kebab
    from kebab.ingest.watch import Heard
    from kebab.web.app import Access, Joined
    from kebab.web.serve import Binding

FILE = click.Path(path_type=Path)


@command("serve")
@INDEX
@click.option("--host", metavar="ADDRESS", help="Where to listen; anything but this computer needs a token.")
@click.option("--port", type=click.IntRange(1, 65535), help="Which port; 7777 by default.")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A name this server is reached by.")
@click.option("--token", "need_token", is_flag=True, help="Ask for a token on this computer too.")
@click.option("--new-token", is_flag=True, help="Replace the token.")
@WATCH
@click.option("--mcp", "with_mcp", is_flag=True, help="Answer agents over MCP too, at /mcp.")
@click.option("--tls-cert", type=FILE, metavar="FILE", help="Certificate for https, with --tls-key.")
@click.option("--tls-key", type=FILE, metavar="FILE", help="Private key of the certificate.")
def serve(
    session: Session,
    host: str | None,
    port: int | None,
    allow_host: tuple[str, ...],
    need_token: bool,
    new_token: bool,
    watch: bool,
    with_mcp: bool,
    tls_cert: Path | None,
    tls_key: Path | None,
) -> int:
    """Serve the web page and the HTTP interface.

    Only this computer can reach it by default. Elsewhere every caller needs a token, which is shown once and
    kept in the data folder. With --watch and --mcp one process also follows the files and answers agents.
    Ctrl-C ends it.
    """
    from kebab.web.app import create_app
    from kebab.web.serve import Binding, run

    kebab = session.kebab()
    settings = kebab.settings.serve
    binding = Binding(host or settings.host, port or settings.port, tls_cert, tls_key)
    access = _access(session, binding, allow_host, need_token=need_token, new_token=new_token)
    joined = (_mcp(kebab),) if with_mcp else ()
    app = create_app(kebab, access=access, readonly=kebab.engines.readonly, joined=joined)
    with staying(session, watch=watch, heard=_heard(session)):
        run(app, binding, ready=lambda: session.say(f"kebab listens at {binding.url} (Ctrl-C ends it)"))
    return 0


def _mcp(kebab: Kebab) -> Joined:
    from kebab.mcp import Options
    from kebab.mcp.http import PATH, http_app
    from kebab.web.app import Joined

    made = http_app(kebab, Options())
    return Joined(PATH, made.app, made.lifespan)


def _heard(session: Session) -> Heard:
    from kebab.cli.watch import put_run
    from kebab.ingest.watch import Heard

    return Heard(run=lambda report: put_run(session, report), note=lambda message: session.warn([message]))


def _access(
    session: Session, binding: Binding, names: tuple[str, ...], *, need_token: bool, new_token: bool
) -> Access:
    from kebab.web.app import Access
    from kebab.web.guard import LOOPBACK

    hosts = LOOPBACK | {binding.host.lower(), *(name.lower() for name in names)}
    token = None
    if need_token or new_token or not binding.is_loopback:
        token = _token(session, binding, renew=new_token)
    return Access(hosts=hosts, token=token, any_address=binding.listens_everywhere)


def _token(session: Session, binding: Binding, *, renew: bool) -> str:
    from kebab.web.token import FILE_NAME, ensure_token

    folder = session.kebab().settings.data_dir
    if session.readonly and not (folder / FILE_NAME).exists():
        raise InvalidInput(
            "there is no token yet, and kebab is running read-only", hint="run it once without"
        )
    token, made = ensure_token(folder, renew=renew and not session.readonly)
    if not binding.is_loopback:
        secure = "" if binding.certificate else "; without TLS others can read what is sent"
        session.warn([f"{binding.url} can be reached from other computers{secure}"])
    if made:
        session.warn([f"the token, shown this once: {token}", f"open {binding.url}/#token={token}"])
    else:
        session.say(f"callers need the token in {folder / FILE_NAME}")
    return token
