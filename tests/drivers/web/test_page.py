"""The web page in a real browser: typed into, read, asked, and never leaving the machine."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Error, Page, Route, expect

from kebab import Kebab
from kebab.web.app import Access
from kebab.web.page import PATHS
from tests.drivers.web_browser import MISSING, browser, chromium
from tests.drivers.web_server import Served, served

AXE = Path(__file__).parents[3] / ".venv" / "axe" / "package" / "axe.min.js"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(chromium() is None, reason=MISSING),
]


@pytest.fixture(scope="module")
def opened() -> Iterator[Browser]:
    with browser() as made:
        yield made


@pytest.fixture
def page(opened: Browser, site: Served) -> Iterator[Page]:
    """A page that fails its test where it logs an error or asks anything of another host."""
    yield from _watched(opened, site, {"width": 1280, "height": 800})


@pytest.fixture
def phone(opened: Browser, site: Served) -> Iterator[Page]:
    yield from _watched(opened, site, {"width": 390, "height": 800})


def _watched(opened: Browser, site: Served, size: Any) -> Iterator[Page]:
    context = opened.new_context(
        viewport=size, base_url=site.url, locale="en-US", timezone_id="America/Los_Angeles"
    )
    made = context.new_page()
    made.set_default_timeout(8_000)
    faults: list[str] = []
    made.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    made.on("pageerror", lambda error: faults.append(str(error)))
    made.on("request", lambda asked: faults.append(asked.url) if not asked.url.startswith(site.url) else None)
    yield made
    context.close()
    assert faults == []


def searched(page: Page, query: str) -> None:
    page.goto("/")
    page.locator("#query").press_sequentially(query, delay=15)
    expect(page.locator(f'.results[data-query="{query}"]')).to_be_visible()


def test_results_appear_while_typing_grouped_by_note_with_marked_words(page: Page) -> None:
    searched(page, "seat hold")
    titles = page.locator(".group h2").all_inner_texts()
    assert len(titles) == len(set(titles)) > 1
    assert page.locator(".group").first.locator("mark").count() > 0
    assert page.locator(".hit .legs svg").first.get_attribute("aria-label")
    expect(page.locator(".group .pill").first).to_be_visible()
    assert "q=seat+hold" in page.url


def test_a_reply_that_comes_late_does_not_replace_a_later_one(page: Page) -> None:
    held: list[Route] = []

    def slow(route: Route) -> None:
        if "query=seat" in route.request.url:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/search?*", slow)
    page.goto("/")
    page.locator("#query").fill("seat")
    page.wait_for_timeout(200)
    page.locator("#query").fill("인증서")
    expect(page.locator('.results[data-query="인증서"]')).to_be_visible()
    shown = page.locator(".group .path").all_inner_texts()
    assert held
    for route in held:
        with contextlib.suppress(Error):  # a request that the page gave up cannot be answered any more
            route.continue_()
    page.wait_for_timeout(300)
    assert page.locator(".group .path").all_inner_texts() == shown


def test_a_syllable_that_is_being_composed_is_searched_when_it_is_one(page: Page) -> None:
    asked: list[str] = []
    page.on(
        "request",
        lambda request: asked.append(request.url) if "/api/v1/search?" in request.url else None,
    )
    page.goto("/")
    page.locator("#query").focus()
    session = page.context.new_cdp_session(page)
    for text in ("ㅈ", "조", "좌"):
        session.send("Input.imeSetComposition", {"text": text, "selectionStart": 1, "selectionEnd": 1})
        page.wait_for_timeout(120)
    from urllib.parse import parse_qs, urlparse

    def queries() -> list[str]:
        return [parse_qs(urlparse(url).query)["query"][0] for url in asked]

    for _ in range(50):  # five seconds, for a machine that does much else
        if "좌" in queries():
            break
        page.wait_for_timeout(100)
    assert "좌" in queries(), "what is composed is searched before it is confirmed"
    assert not any(re.search("[ㄱ-ㆎ]", query) for query in queries()), "a lone letter is not"
    session.send("Input.insertText", {"text": "좌"})
    page.keyboard.insert_text("석")
    expect(page.locator('.results[data-query="좌석"]')).to_be_visible()
    assert page.locator("#query").input_value() == "좌석"
    assert page.url.split("?")[0].endswith("/"), "the page stays where it is"


def test_enter_that_ends_a_syllable_opens_nothing(page: Page) -> None:
    searched(page, "seat")
    page.locator("#query").focus()
    page.evaluate(
        "document.querySelector('#query').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true}))"
    )
    page.wait_for_timeout(150)
    assert "/doc" not in page.url


def test_chips_filter_and_their_counts_are_right(page: Page, vault: Kebab) -> None:
    searched(page, "팀")
    chip = page.locator('.chip[data-facet="lang"][data-value="ko"]')
    assert chip.locator(".number").inner_text() == str(sum(each.lang == "ko" for each in vault.list_docs()))
    chip.click()
    expect(chip).to_have_attribute("aria-pressed", "true")
    page.wait_for_function("new URLSearchParams(location.search).get('lang') === 'ko'")
    expect(page.locator(".hit").first).to_be_visible()
    langs = {each.path: each.lang for each in vault.list_docs()}
    page.wait_for_timeout(300)
    assert {langs[path] for path in page.locator(".group .path").all_inner_texts()} == {"ko"}
    page.reload()
    expect(page.locator('.chip[data-value="ko"]')).to_have_attribute("aria-pressed", "true")


def test_the_keyboard_leads_from_the_query_to_the_cited_lines_and_back(page: Page) -> None:
    searched(page, "how long is a seat held")
    page.keyboard.press("Escape")
    assert page.locator("#query").input_value() == "how long is a seat held"
    page.keyboard.press("j")
    page.keyboard.press("k")
    expect(page.locator(".hit.on")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".doc .cited").first).to_be_in_viewport()
    assert "how long a seat is held" in page.locator(".doc .cited").first.inner_text()
    assert "7 minutes" in " ".join(page.locator(".doc .cited").all_inner_texts())
    page.keyboard.press("Escape")
    expect(page.locator(".results .hit").first).to_be_visible()
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "query"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.locator("dialog")).to_contain_text("next and previous hit")
    page.keyboard.press("Escape")
    expect(page.locator("dialog")).to_have_count(0)


def test_a_hit_says_why_it_is_there_and_a_missing_note_why_it_is_not(page: Page) -> None:
    searched(page, "seat hold")
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator(".hit.on .explain")).to_contain_text("words")
    expect(page.locator(".hit.on .explain")).to_contain_text("meaning")
    page.locator(".whynot input").fill("README.md")
    page.locator(".whynot button").click()
    expect(page.locator(".whynot .explain")).to_contain_text("not shown")


def test_a_recording_opens_at_the_words_that_were_found(page: Page) -> None:
    searched(page, "albatross plankton")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    expect(page.locator(".doc .cited").last).to_contain_text("albatross")


def test_a_typo_is_corrected_said_so_and_searched_as_typed_on_request(page: Page) -> None:
    searched(page, "seet hold")
    expect(page.locator(".bar")).to_contain_text("searched for seat instead of seet")
    page.locator(".bar button", has_text="as typed").click()
    expect(page.locator(".bar")).not_to_contain_text("instead of")


def test_a_search_that_nothing_fits_says_so(page: Page) -> None:
    searched(page, "qwzxqwzx")
    expect(page.locator(".bar")).to_contain_text("nothing fits well")
    searched(page, "seat hold")
    expect(page.locator(".bar")).not_to_contain_text("nothing fits well")


def test_copies_of_a_note_are_shown_once_and_named(page: Page) -> None:
    searched(page, "kestrel meadow voles")
    expect(page.locator(".group h2", has_text="Kestrel")).to_have_count(1)
    expect(page.locator(".group").first).to_contain_text("the same text: kestrel")


def test_searches_are_remembered_and_saved_in_this_browser_alone(page: Page) -> None:
    searched(page, "seat hold")
    page.locator("#save").click()
    page.locator(".brand").click()
    expect(page.locator(".start")).to_contain_text("Saved")
    page.locator(".start a", has_text="seat hold").first.click()
    expect(page.locator('.results[data-query="seat hold"]')).to_be_visible()


def test_a_note_shows_the_day_it_is_of_and_not_when_its_file_was_written(page: Page) -> None:
    page.goto("/doc?ref=work/meetings/2025-03-18-payments-review.md")
    expect(page.locator(".facts time")).to_have_text("Mar 18, 2025")


def test_a_note_shows_its_outline_and_follows_wiki_links(page: Page) -> None:
    page.goto("/doc?ref=hostile.md")
    page.locator(".prose a.wiki").click()
    expect(page.locator(".doc h1").first).to_have_text("Vault map")
    expect(page.locator(".outline")).to_contain_text("Rules I keep")


def test_a_hostile_note_runs_nothing_and_loads_nothing(page: Page) -> None:
    page.goto("/doc?ref=hostile.md")
    expect(page.locator(".prose")).to_contain_text("<script>")
    page.wait_for_timeout(200)
    assert page.evaluate("window.hacked") is None
    assert page.locator(".prose img, .prose script").count() == 0


def test_an_answer_is_written_and_its_citations_lead_to_the_lines(page: Page) -> None:
    page.goto("/ask")
    page.locator("#question").fill("How many customers were charged twice?")
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_contain_text("41 customers")
    page.locator(".marker").first.click()
    expect(page.locator(".quote.on")).to_have_count(1)
    page.locator(".quote.on a").click()
    expect(page.locator(".doc .cited").first).to_be_in_viewport()
    assert "41 customers" in " ".join(page.locator(".doc .cited").all_inner_texts())


def test_a_question_without_an_answer_is_refused_with_the_nearest_notes(page: Page) -> None:
    page.goto("/ask?q=Who+won+the+world+cup+in+1998%3F")
    expect(page.locator(".refusal")).to_be_visible()
    expect(page.locator(".quote").first).to_be_visible()


def test_dark_is_kept_and_is_dark(page: Page) -> None:
    page.goto("/")
    page.locator("#theme").click()
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    assert sum(map(int, re.findall(r"\d+", background)[:3])) < 120


@pytest.mark.parametrize("path", [*PATHS, "/?q=seat"])
def test_nothing_is_wider_than_a_phone(phone: Page, path: str) -> None:
    phone.goto(path if path != "/doc" else "/doc?ref=README.md")
    phone.wait_for_load_state("networkidle")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_settings_keep_to_their_columns(phone: Page) -> None:
    phone.goto("/settings")
    phone.locator("td").first.wait_for()
    assert (
        phone.evaluate("[...document.querySelectorAll('td')].filter(e => e.scrollWidth > e.clientWidth)")
        == []
    )


def test_on_a_phone_the_name_of_the_page_shown_is_in_sight(phone: Page) -> None:
    for path in ("/settings", "/"):
        phone.goto(path)
        here = phone.locator(".top nav [aria-current]").bounding_box()
        assert here is not None
        assert here["x"] >= 0
        assert here["x"] + here["width"] <= 390


def test_an_address_that_shows_nothing_leads_back_to_the_search(opened: Browser, site: Served) -> None:
    page = opened.new_page(base_url=site.url)
    assert getattr(page.goto("/nosuch"), "status", None) == 404
    page.get_by_role("link", name="Search your notes").click()
    expect(page.locator("#query")).to_be_visible()
    page.close()


def test_the_workshop_shows_sources_health_runs_memory_and_settings(page: Page) -> None:
    page.goto("/sources")
    expect(page.locator(".shop")).to_contain_text("completed")
    expect(page.locator(".shop")).to_contain_text("hostile.md")
    page.goto("/health")
    expect(page.locator(".shop")).to_contain_text("words index")
    page.goto("/evaluations")
    expect(page.locator("#compared")).to_contain_text("12 queries better")
    assert page.locator("svg.chart").count() >= 3
    page.goto("/memory")
    expect(page.locator("#curve svg.chart")).to_be_visible()
    page.locator("#recall").fill("seat hold timeout")
    page.keyboard.press("Enter")
    expect(page.locator("tr.pick").first).to_contain_text("seat hold")
    page.goto("/memory?id=run-06")
    expect(page.locator(".chart .node")).to_have_count(4)
    page.goto("/settings")
    expect(page.locator(".shop")).to_contain_text("default_k")
    page.locator("#only").check()
    expect(page.locator(".shop")).not_to_contain_text("default_k")


def test_an_ingest_and_a_repair_are_started_from_the_page_and_reported(page: Page) -> None:
    page.goto("/sources")
    page.locator("button", has_text="Ingest now").click()
    expect(page.locator(".notice")).to_contain_text("unchanged")
    page.goto("/health")
    page.locator("button", has_text="Repair").click()
    expect(page.locator(".shop")).to_contain_text("Everything is well")


def test_a_server_with_a_token_is_entered_with_it_and_only_with_it(opened: Browser, vault: Kebab) -> None:
    with served(vault, access=Access(token="t" * 24)) as locked:
        page = opened.new_page(base_url=locked.url)
        page.goto("/?q=seat")
        page.locator("dialog input").fill("wrong")
        page.keyboard.press("Enter")
        page.locator("dialog input").fill("t" * 24)
        page.keyboard.press("Enter")
        expect(page.locator(".hit").first).to_be_visible()
        page.close()
        other = opened.new_page(base_url=locked.url)
        other.goto(f"/#token={'t' * 24}")
        expect(other.locator(".start")).to_be_visible()
        assert "token" not in other.url
        other.close()


def test_a_late_refusal_of_an_old_token_asks_for_none_again(opened: Browser, vault: Kebab) -> None:
    with served(vault, access=Access(token="t" * 24)) as locked:
        page = opened.new_page(base_url=locked.url)
        held: list[Route] = []

        def hold(route: Route) -> None:
            late = route.request.headers.get("authorization", "").endswith("wrong")
            held.append(route) if late else route.continue_()

        page.route("**/api/v1/facets*", hold)
        page.goto("/?q=seat")
        for entered in ("wrong", "t" * 24):
            page.locator("dialog input").fill(entered)
            page.keyboard.press("Enter")
        expect(page.locator(".hit").first).to_be_visible()
        with page.expect_response(lambda reply: "/facets" in reply.url and reply.ok):
            held[0].continue_()
        expect(page.locator("dialog")).to_have_count(0)
        page.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious(page: Page, theme: str) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not there; `make test` fetches it with npm")
    source = AXE.read_text(encoding="utf-8")
    page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
    # What depends on colours is looked at twice, everything else once.
    rules = ", runOnly: ['color-contrast']" if theme == "dark" else ""
    found = []
    for path in [*PATHS, "/?q=seat", "/ask?q=How+many+customers+were+charged+twice%3F", "/memory?id=run-06"]:
        page.goto(
            path if path != "/doc" else "/doc?ref=work/meetings/2025-03-18-payments-review.md&lines=20-26"
        )
        page.wait_for_load_state("networkidle")
        page.evaluate(source)
        report = page.evaluate(f"axe.run({{resultTypes: ['violations']{rules}}})")
        found += [
            (path, each["id"], each["nodes"][0]["html"][:160])
            for each in report["violations"]
            if each["impact"] in ("serious", "critical")
        ]
    assert found == []


def test_the_page_is_small_and_names_no_other_host() -> None:
    held = {each.name: each.read_bytes() for each in (files("kebab.web") / "static").iterdir()}
    assert sum(map(len, held.values())) < 300_000
    for name, content in held.items():
        hosts = set(re.findall(rb"https?://([^/\"' ]+)", content))
        assert hosts <= {b"www.w3.org"}, name
