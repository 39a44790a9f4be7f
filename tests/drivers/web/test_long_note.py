"""A note that holds more of the best hits than a page has."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from kebab import Kebab
from tests.drivers.web_browser import MISSING, browser, chromium
from tests.drivers.web_server import served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(chromium() is None, reason=MISSING),
]


def test_one_long_note_does_not_keep_the_others_from_the_page(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    sections = [
        f"## Rope {number}\n\n{'Splice a rope before the rope frays. ' * 40}\n" for number in range(30)
    ]
    (notes / "ropes.md").write_text("# Ropes\n\n" + "\n".join(sections), encoding="utf-8")
    (notes / "diary.md").write_text("# Diary\n\nBought a rope and tea.\n", encoding="utf-8")
    with Kebab.open(root=notes, data_dir=tmp_path / "data") as kebab:
        kebab.ingest()
        with served(kebab) as site, browser() as chrome:
            page = chrome.new_page(base_url=site.url)
            page.goto("/?q=rope")
            expect(page.locator("article.group")).to_have_count(2)
            expect(page.locator("article.group", has_text="Ropes").locator(".hit")).to_have_count(3)
            expect(page.locator("article.group", has_text="Ropes")).to_contain_text("more in this note")
            page.keyboard.press("Escape")
            for _ in range(3):
                page.keyboard.press("j")
            expect(page.locator(".hit.on")).to_contain_text("tea")
