"""Looking at what is stored, from the shell."""

from __future__ import annotations

import re

from tests.drivers.conftest import VAULT, Cli


def test_documents_are_listed_in_order_and_tab_separated_when_piped(library: Cli) -> None:
    rows = [line.split("\t") for line in library("list", "docs").out.splitlines()]
    assert len(rows) == len(list(VAULT.rglob("*.md"))) + len(list(VAULT.rglob("*.txt")))
    assert [row[3] for row in rows] == sorted(row[3] for row in rows)
    assert all(len(row[0]) == 32 for row in rows)


def test_documents_can_be_filtered(library: Cli) -> None:
    documents = library("list", "docs", "--tag", "postmortem", "--json").json["documents"]
    assert len(documents) == 3
    assert {document["schema_version"] for document in documents} == {"doc_summary.v1"}
    assert library("list", "docs", "--tag", "nothing-has-it").code == 1


def test_runs_and_their_items_are_kept(library: Cli) -> None:
    (run,) = library("list", "runs", "--json").json["runs"]
    assert (run["status"], run["failed"]) == ("completed", 0)
    items = library("list", "items", run["run_id"], "--json").json["items"]
    assert {"README.md"} <= {item["path"] for item in items}
    assert library("list", "items", "nope", "--json").error["code"] == "invalid_input"


def test_a_document_is_found_by_path_by_its_end_and_by_the_beginning_of_its_id(library: Cli) -> None:
    whole = library("inspect", "doc", "home/전세-계약.md", "--json").json
    assert library("inspect", "doc", "전세-계약.md", "--json").json == whole
    assert library("inspect", "doc", whole["document"]["doc_id"][:16], "--json").json == whole
    assert whole["document"]["tags"] == ["집", "계약", "전세"]
    assert "전세 계약 › 갱신" in library("inspect", "doc", "home/전세-계약.md").out


def test_a_chunk_is_inspected_and_fetched_verbatim(library: Cli) -> None:
    hit = library("search", "갱신요구권", "-k", "1", "--json").json["hits"][0]
    chunk = library("inspect", "chunk", hit["chunk_id"], "--json").json
    lines = (VAULT / hit["doc_path"]).read_text(encoding="utf-8").splitlines()
    span = chunk["source_spans"][0]
    assert chunk["text"].strip() == "\n".join(lines[span["start"] - 1 : span["end"]]).strip()
    assert library("fetch", "chunk", hit["chunk_id"]).out.strip() == chunk["text"].strip()


def test_a_citation_resolves_to_the_lines_of_the_file(library: Cli) -> None:
    hit = library("search", "seat hold ttl", "-k", "1", "--json").json["hits"][0]
    start, end = hit["citation"]["start"], hit["citation"]["end"]
    lines = (VAULT / hit["doc_path"]).read_text(encoding="utf-8").splitlines()
    expected = "\n".join(lines[start - 1 : end])
    assert library("fetch", "span", hit["citation"]["uri"]).out.rstrip("\n") == expected.rstrip("\n")
    by_numbers = library("fetch", "span", hit["doc_path"], str(start), str(end))
    assert by_numbers.out.rstrip("\n") == expected.rstrip("\n")


def test_a_whole_document_is_fetched_and_a_budget_cuts_it(library: Cli) -> None:
    text = (VAULT / "recipes" / "sourdough.md").read_text(encoding="utf-8")
    assert library("fetch", "doc", "recipes/sourdough.md", "--json").json["text"].strip() == text.strip()
    cut = library("fetch", "doc", "recipes/sourdough.md", "--max-tokens", "50", "--json").json
    assert cut["truncated"] is True
    assert text.startswith(cut["text"].rstrip("\n"))


def test_a_chunk_with_its_neighbours_is_the_file_line_for_line(library: Cli) -> None:
    chunks = library("inspect", "doc", "work/architecture/booking-service.md", "--json").json["chunks"]
    before, chunk, after = chunks[1:4]
    lines = (VAULT / "work/architecture/booking-service.md").read_text(encoding="utf-8").splitlines()
    start, end = before["source_spans"][0]["start"], after["source_spans"][-1]["end"]
    fetched = library("fetch", "chunk", chunk["chunk_id"], "--context", "1").out
    assert fetched.rstrip("\n").split("\n") == lines[start - 1 : end]


def test_unknown_things_are_named(library: Cli) -> None:
    assert library("inspect", "doc", "nope.md", "--json").error["code"] == "doc_not_found"
    assert library("fetch", "chunk", "f" * 32, "--json").error["code"] == "chunk_not_found"
    assert library("fetch", "span", "home/전세-계약.md").code == 2


def test_ids_as_a_terminal_shows_them_are_taken_everywhere(library: Cli) -> None:
    whole = library("inspect", "doc", "home/전세-계약.md", "--json").json
    document, chunk = whole["document"]["doc_id"], whole["chunks"][0]["chunk_id"]
    assert library("inspect", "chunk", chunk[:12], "--json").json["chunk_id"] == chunk
    assert library("fetch", "chunk", chunk[:12]).out == library("fetch", "chunk", chunk).out
    assert library("why", chunk[:12], "전세", "--json").json["chunks"][0]["chunk_id"] == chunk
    (hit, *_) = library("search", "전세", "--doc-id", document[:12], "--json").json["hits"]
    assert hit["doc_id"] == document
    assert "give more of the id" in library("inspect", "chunk", chunk[:1]).err
    assert library("inspect", "chunk", "nothing", "--json").error["code"] == "chunk_not_found"


def test_a_path_that_two_sources_have_names_both_and_their_ids_are_taken(cli: Cli) -> None:
    for source in ("first", "second"):
        (cli.cwd / source).mkdir()
        (cli.cwd / source / "note.md").write_text(f"# Note\n\nferry of the {source}\n", encoding="utf-8")
    config = "".join(f'[[sources]]\nid = "{one}"\nroot = "{one}"\n' for one in ("first", "second"))
    (cli.cwd / "two.toml").write_text(f'{config}[storage]\ndata_dir = "data"\n', encoding="utf-8")
    assert cli("ingest", "--config", "two.toml").code == 0
    message = cli("fetch", "doc", "note.md", "--config", "two.toml", "--json").error["message"]
    found = re.findall(r"note\.md of (\w+) \((\w+)\)", message)
    assert [source for source, _ in found] == ["first", "second"]
    for source, doc_id in found:
        assert f"ferry of the {source}" in cli("fetch", "doc", doc_id, "--config", "two.toml").out
    heads = [
        line for line in cli("search", "ferry", "--config", "two.toml").out.split("\n") if ". 0." in line
    ]
    assert sorted(line.split()[-1] for line in heads) == ["first", "second"]


def test_links_and_related_notes_are_shown_and_piped_line_by_line(library: Cli) -> None:
    found = library("links", "travel/제주-봄-여행.md")
    assert found.code == 0
    assert found.out.splitlines() == [
        "out\tL46\ttravel/packing-list.md",
        "out\tL46\ttravel/여행자-보험.md",
    ]
    assert "2 out, 0 back, 0 broken" in found.err
    back = library("links", "packing-list", "--json").json
    assert back["schema_version"] == "links.v1"
    assert [link["citation"]["uri"] for link in back["back"]] == ["travel/제주-봄-여행.md#L46"]
    assert library("links", "recipes/sourdough.md").code == 1
    assert library("links", "nobody", "--json").error["code"] == "doc_not_found"
    near = library("related", "packing-list", "-k", "3", "--json").json
    assert near["schema_version"] == "related.v1"
    assert [reason["kind"] for reason in near["related"][0]["reasons"]] == ["linked_from"]
    first = library("related", "packing-list").out.splitlines()[0].split("\t")
    assert first[1:] == ["travel/제주-봄-여행.md", "제주 봄 여행 2026", "it links to travel/packing-list.md"]


def test_a_knowledge_base_of_one_note_is_told_of_in_the_singular(cli: Cli) -> None:
    (cli.cwd / "cat.md").write_text("# Cat\n\nMiso eats at 7:30.\n", encoding="utf-8")
    assert cli("init", ".").code == 0
    told = [cli("ingest", "--quiet").out, cli("list", "docs").err, cli("doctor").out]
    told += [cli("why", "cat.md", "Miso").out, cli("export", "one.kebab").out, cli("index", "--rebuild").out]
    assert not re.findall(r"\b1 (?:chunk|document|vector|piece)s\b", "\n".join(told))
    assert "1 chunk," in told[0]
    (cli.cwd / "cat.md").unlink()
    assert "1 of 1 document of source 'default' is gone from" in cli("ingest").err


def test_a_note_that_nothing_is_near_to_is_said_to_be_so(cli: Cli) -> None:
    (cli.cwd / "cat.md").write_text("# Cat\n\nMiso\n", encoding="utf-8")
    assert cli("init", ".").code == 0
    assert cli("ingest").code == 0
    found = cli("related", "cat.md")
    assert (found.code, found.out) == (1, "")
    assert "nothing is near cat.md" in found.err


def test_what_is_no_date_is_said_in_the_words_that_were_typed(library: Cli) -> None:
    assert library("search", "x", "--after", "tomorrow").err.startswith("error: 'tomorrow' is not a date\n")


def test_who_is_to_confirm_without_a_terminal_is_told_what(cli: Cli) -> None:
    assert "gone does not exist. Create it?" in cli("init", "gone").err


def test_a_file_whose_name_looks_escaped_is_cited_as_it_is_called(cli: Cli) -> None:
    (cli.cwd / "a%20b.md").write_text("# Ferry\n\nIt leaves from pier 4.\n", encoding="utf-8")
    cli("init", ".")
    cli("ingest")
    for name in ("a%20b.md", "a%2520b.md"):
        assert cli("fetch", "span", f"{name}#L3", "--quiet").out == "It leaves from pier 4.\n"
    (cli.cwd / "a b.md").write_text("# Tram\n\nIt leaves from the square.\n", encoding="utf-8")
    cli("ingest")
    assert cli("fetch", "span", "a%20b.md#L3", "--quiet").out == "It leaves from the square.\n"
