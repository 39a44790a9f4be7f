"""Chromium for tests and screenshots: Debian's package, driven by Playwright, asking nothing of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

ARGUMENTS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
MISSING = "there is no chromium; install it with: apt-get install chromium"


def chromium() -> str | None:
    """Where the browser lies; None where there is none."""
    return shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium(), args=list(ARGUMENTS))
        try:
            yield made
        finally:
            made.close()
