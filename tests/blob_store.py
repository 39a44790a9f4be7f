"""Azure's blob storage on loopback, for tests: Azurite, Microsoft's own emulator, from its package."""

from __future__ import annotations

import base64
import hashlib
import hmac
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path

from tests.object_store import free_ports

ACCOUNT = "devstoreaccount1"
# The emulator's own account, the same everywhere and written in its documentation.
KEY = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
CONTAINER = "team"
NEEDED = "needs Azurite (npm): make .venv/.azurite"
_READY_S = 60.0
_VERSION = "2021-08-06"


def azurite() -> list[str] | None:
    """The command that starts the emulator, where it is installed."""
    script = Path(sys.prefix) / "azurite" / "node_modules" / "azurite" / "dist" / "src" / "blob" / "main.js"
    node = shutil.which("node")
    return [node, str(script)] if node and script.exists() else None


def environment(port: int) -> dict[str, str]:
    """What a client needs in its environment to use the emulator."""
    return {
        "AZURE_STORAGE_ACCOUNT_NAME": ACCOUNT,
        "AZURE_STORAGE_ACCOUNT_KEY": KEY,
        "AZURE_STORAGE_USE_EMULATOR": "true",
        "AZURITE_BLOB_STORAGE_URL": f"http://127.0.0.1:{port}",
    }


@contextmanager
def running_blobs(folder: Path) -> Iterator[int]:
    """Start an emulator with one container in a folder; gives its port."""
    command = azurite()
    assert command is not None
    (port,) = free_ports(1)
    options = ["--blobHost", "127.0.0.1", "--blobPort", str(port), "--location", str(folder), "--silent"]
    log = folder / "azurite.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [*command, *options, "--skipApiVersionCheck", "--disableTelemetry"], stdout=said, stderr=said
        )
        try:
            _make_container(process, port, log)
            yield port
        finally:
            process.kill()
            process.wait()


def _make_container(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    import httpx

    until = time.monotonic() + _READY_S
    while time.monotonic() < until and process.poll() is None:
        try:
            url = f"http://127.0.0.1:{port}/{ACCOUNT}/{CONTAINER}?restype=container"
            if httpx.put(url, headers=_signed(), timeout=5).status_code in (201, 409):
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"Azurite did not start: {log.read_text(errors='replace')[-2000:]}")


def _signed() -> dict[str, str]:
    """The headers of the request that makes the container, signed with the account's key."""
    date = formatdate(usegmt=True)
    resource = f"/{ACCOUNT}/{ACCOUNT}/{CONTAINER}\nrestype:container"
    text = f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:{_VERSION}\n{resource}"
    digest = hmac.new(base64.b64decode(KEY), text.encode(), hashlib.sha256).digest()
    signature = base64.b64encode(digest).decode()
    return {
        "Authorization": f"SharedKey {ACCOUNT}:{signature}",
        "x-ms-date": date,
        "x-ms-version": _VERSION,
        "Content-Length": "0",
    }
