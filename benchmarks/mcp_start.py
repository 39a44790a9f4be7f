"""From starting ``kebab mcp`` until it is connected, and until its first search is answered.

    python -m benchmarks.mcp_start [--starts 7]

The official client over standard input and output, on the sample vault; each start is a new process.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

VAULT = Path(__file__).resolve().parent.parent / "examples" / "vault"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--starts", type=int, default=7)
    starts = parser.parse_args().starts
    with tempfile.TemporaryDirectory() as data:
        environ = os.environ | {"KEBAB_WORKSPACE__ROOT": str(VAULT), "KEBAB_STORAGE__DATA_DIR": data}
        subprocess.run(
            [sys.executable, "-m", "kebab", "ingest", "--quiet"], env=environ, cwd=data, check=True
        )
        times = [anyio.run(_start, environ, data) for _ in range(starts)]
    print(f"load average {os.getloadavg()[0]:.1f}; {starts} starts\n")
    print("| until | median s | range |\n|---|---|---|")
    for name, seconds in zip(("connected", "first search answered"), zip(*times, strict=True), strict=True):
        print(f"| {name} | {statistics.median(seconds):.2f} | {min(seconds):.2f}–{max(seconds):.2f} |")


async def _start(environ: dict[str, str], folder: str) -> tuple[float, float]:
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "kebab", "mcp"], env=environ, cwd=folder
    )
    begun = time.perf_counter()
    with open(os.devnull, "w") as quiet:
        async with Client(stdio_client(server, errlog=quiet)) as client:
            connected = time.perf_counter() - begun
            await client.call_tool("search", {"query": "인증서 만료"})
            return connected, time.perf_counter() - begun


if __name__ == "__main__":
    main()
