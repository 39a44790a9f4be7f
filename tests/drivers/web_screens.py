"""Screenshots of every page, light and dark, desktop and phone: ``make screenshots``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page

from tests.drivers.web_browser import browser
from tests.drivers.web_server import a_kebab, served

SIZES = {"desktop": (1380, 880), "phone": (390, 844)}
PAGES = {
    "start": "/",
    "search": "/?q=how+long+is+a+seat+held",
    "korean": "/?q=%EC%9D%B8%EC%A6%9D%EC%84%9C+%EB%A7%8C%EB%A3%8C",
    "doc": "/doc?ref=work/meetings/2025-03-18-payments-review.md&lines=20-26&q=seat",
    "ask": "/ask?q=How+many+customers+were+charged+twice%3F",
    "refusal": "/ask?q=Who+won+the+world+cup+in+1998%3F",
    "sources": "/sources",
    "health": "/health",
    "evaluations": "/evaluations",
    "memory": "/memory?id=run-06",
    "settings": "/settings",
}


def shoot(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as place,
        a_kebab(Path(place)) as kebab,
        served(kebab) as site,
        browser() as chromium,
    ):
        for size, (width, height) in SIZES.items():
            for theme in ("light", "dark"):
                page = chromium.new_page(
                    viewport={"width": width, "height": height}, color_scheme=theme, device_scale_factor=1
                )
                for name in names:
                    _one(page, site.url + PAGES[name], name)
                    page.screenshot(path=folder / f"{name}-{size}-{theme}.png")
                page.close()


def _one(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.wait_for_load_state("networkidle")
    if name == "search":
        page.keyboard.press("Escape")
        page.keyboard.press("e")
    page.wait_for_timeout(250)


if __name__ == "__main__":
    shoot(Path(sys.argv[1]), sys.argv[2:] or list(PAGES))
