"""``kebab serve`` from outside: requests at 1 and 16 clients, and keystrokes until results are painted.

    python -m benchmarks.web --sizes 10000 100000 [--no-browser]

The same queries go to ``Kebab.search`` in this process first, to compare with. Keystrokes are typed in
Chromium; from the input event to the second frame after the results were drawn.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

from benchmarks import product
from benchmarks.synthetic import Language, real_text

PROJECT = Path(__file__).resolve().parent.parent
CLIENTS = (1, 16)
QUERIES = 320
TYPED = 24
"""Queries that are typed, letter by letter."""

WATCH = """() => {
  window.painted = []
  let begun = 0
  document.querySelector('#query').addEventListener('input', () => { begun = performance.now() }, true)
  const results = document.querySelector('.results')
  new MutationObserver(() => {
    const current = document.querySelector('#query').value.trim()
    if (results.dataset.painted === 'true' && results.dataset.query === current && begun)
      { window.painted.push(performance.now() - begun); begun = 0 }
  }).observe(results, { attributes: true })
}"""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--no-browser", action="store_true")
    asked = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f}\n\n| chunks | what | p50 ms | p95 ms | a second |")
    print("|---|---|---|---|---|")
    for size in asked.sizes:
        with tempfile.TemporaryDirectory(prefix="kebab-web-") as place:
            measure(Path(place), size, data=asked.data, browser=not asked.no_browser)


def measure(folder: Path, size: int, *, data: Path, browser: bool) -> None:
    language = Language(real_text(data, PROJECT / "examples" / "vault"), topics=max(50, size // 500))
    product.build(folder, language.blocks(size))
    queries = language.queries(QUERIES, seed=3).texts
    with product.opened(folder) as kb:
        timed(lambda query: kb.search(query, k=20, explain=True), queries[:20], clients=1)
        for clients in CLIENTS:
            report(
                size,
                f"Kebab.search in process, {clients} threads",
                lambda q: kb.search(q, k=20, explain=True),
                queries,
                clients,
            )
    with serving(folder) as port:
        timed(Caller(port), queries[:20], clients=1)
        for clients in CLIENTS:
            report(size, f"GET /api/v1/search, {clients} clients", Caller(port), queries, clients)
        if browser:
            painted = typed(port, queries[:TYPED])
            print(
                row(size, f"keystroke to painted results ({len(painted)} keystrokes)", painted, None),
                flush=True,
            )


def report(size: int, what: str, call: Callable[[str], object], queries: Sequence[str], clients: int) -> None:
    begun = time.perf_counter()
    spent = timed(call, queries, clients=clients)
    print(row(size, what, spent, len(spent) / (time.perf_counter() - begun)), flush=True)


def row(size: int, what: str, spent: Sequence[float], rate: float | None) -> str:
    cuts = statistics.quantiles(spent, n=100)
    per_second = f"{rate:.0f}" if rate else ""
    return f"| {size:,} | {what} | {cuts[49]:.1f} | {cuts[94]:.1f} | {per_second} |"


def timed(call: Callable[[str], object], queries: Sequence[str], *, clients: int) -> list[float]:
    def one(query: str) -> float:
        begun = time.perf_counter()
        call(query)
        return (time.perf_counter() - begun) * 1000

    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(one, queries))


class Caller:
    """A client that keeps its connection, one for each thread."""

    def __init__(self, port: int) -> None:
        import threading

        self._port = port
        self._own = threading.local()

    def __call__(self, query: str) -> None:
        if not hasattr(self._own, "connection"):
            self._own.connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        connection: http.client.HTTPConnection = self._own.connection
        connection.request("GET", "/api/v1/search?" + urlencode({"query": query, "k": 20, "explain": "true"}))
        response = connection.getresponse()
        found = json.loads(response.read())
        if response.status != 200:
            raise SystemExit(found)


@contextmanager
def serving(folder: Path) -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    environ = os.environ | {
        "KEBAB_WORKSPACE__ROOT": str(folder / "notes"),
        "KEBAB_STORAGE__DATA_DIR": str(folder / "data"),
    }
    command = [
        sys.executable,
        "-m",
        "kebab",
        "--config",
        str(folder / "config.toml"),
        "serve",
        "--port",
        str(port),
    ]
    with subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if "listens at" in line:
                break
        try:
            yield port
        finally:
            server.send_signal(signal.SIGINT)


def typed(port: int, queries: Sequence[str]) -> list[float]:
    """Milliseconds from each keystroke until what it found was painted."""
    from tests.drivers.web_browser import browser

    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        page.goto(f"http://127.0.0.1:{port}/")
        page.wait_for_load_state("networkidle")
        page.evaluate(WATCH)
        for query in queries:
            page.locator("#query").fill("")
            page.wait_for_timeout(150)
            page.locator("#query").press_sequentially(query[:12], delay=220)
            page.wait_for_timeout(300)
        found: list[float] = page.evaluate("window.painted")
        return found


if __name__ == "__main__":
    main()
