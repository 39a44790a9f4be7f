"""What search and ask say of a file that is no longer what was indexed."""

from __future__ import annotations

import pytest

from tests.drivers.conftest import Cli

QUESTION = "How long is a seat held?"


@pytest.fixture
def noted(cli: Cli) -> Cli:
    cli("init", ".", "--yes")
    (cli.cwd / "seats.md").write_text("# Seats\n\nA seat is held for seven minutes, then it is sold again.\n")
    cli("ingest")
    return cli


def states(cli: Cli) -> set[tuple[bool, str | None]]:
    """What every citation of a search and of an answer says."""
    hits = cli("search", "seat", "--json").json["hits"]
    answer = cli("ask", QUESTION, "--json").json
    citations = [hit["citation"] for hit in hits] + [quote["citation"] for quote in answer["citations"]]
    assert answer["grounded"]
    assert all((hit["stale"], hit["source_state"]) for hit in hits)
    return {(citation["stale"], citation["source_state"]) for citation in citations}


def test_search_and_ask_tell_current_changed_and_gone_files_apart(noted: Cli) -> None:
    note = noted.cwd / "seats.md"
    assert states(noted) == {(False, "current")}
    note.write_text("# Other\n\nNothing of seats any more.\n")
    assert states(noted) == {(True, "changed")}
    note.unlink()
    assert states(noted) == {(True, "gone")}


def test_people_read_what_became_of_a_file(noted: Cli) -> None:
    (noted.cwd / "seats.md").unlink()

    for arguments in (["search", "seat"], ["ask", QUESTION], ["inspect", "doc", "seats.md"]):
        assert "the file is gone" in noted(*arguments).out, arguments
