"""Notes in the bundles of their applications: Bear's, Joplin's, text bundles."""

from __future__ import annotations

import tarfile
from io import BytesIO
from pathlib import Path

from kebab.domain.documents import TrustLevel
from kebab.domain.ids import DocId
from kebab.domain.links import Link, LinkKind, Names, NoteNames
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.formats import FORMATS
from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.reading import Reading, ReadLimits
from kebab.ingest.prepare import FileTask, Prepared, prepare
from tests.document_fakes import FakeDocumentEngines
from tests.document_files import SAID, bear_note, jex_file, joplin_record, zipped

READING = Reading(FakeDocumentEngines())


def read(ending: str, content: bytes | str, *, stem: str = "a file", reading: Reading = READING) -> Parsed:
    found = parsed(ending, content, stem=stem, reading=reading)
    assert isinstance(found, Parsed), found
    return found


def parsed(
    ending: str, content: bytes | str, *, stem: str = "a file", reading: Reading = READING
) -> Parsed | Unreadable:
    data = content.encode() if isinstance(content, str) else content
    return FORMATS[ending].parse(data, Defaults(stem, extension=ending, reading=reading))


def test_a_note_of_bear_has_its_title_days_tags_and_links() -> None:
    text = "# Dry ropes\n\nSee [[Wet ropes]]. #sea/ropes #two words#\n"
    note = read(
        ".bearnote",
        zipped(
            bear_note(
                text, creationDate="2024-05-01T01:02:03Z", modificationDate="2024-06-01T01:02:03Z", trashed=0
            )
        ),
    )
    assert note.title == "Dry ropes"
    assert (note.metadata.created_at, note.metadata.updated_at) == (
        "2024-05-01T01:02:03Z",
        "2024-06-01T01:02:03Z",
    )
    assert {"sea/ropes", "two words"} <= set(note.metadata.tags)
    assert [(link.kind, link.target, link.line) for link in note.links] == [
        (LinkKind.WIKILINK, "Wet ropes", 3)
    ]


def test_a_note_of_bear_without_a_heading_is_called_as_its_bundle() -> None:
    assert read(".textpack", zipped(bear_note("words", folder="Dry ropes.textbundle"))).title == "Dry ropes"
    assert read(".textpack", zipped({"text.txt": "words"}), stem="Dry ropes").title == "Dry ropes"


def test_a_backup_of_bear_keeps_its_notes_apart_and_leaves_the_bin_out() -> None:
    backup = read(
        ".bear2bk",
        zipped(
            {
                **bear_note("words one", folder="One.textbundle"),
                **bear_note("# Two\n\nwords two", folder="x"),
                **bear_note("thrown away", folder="y", trashed=1),
            }
        ),
    )
    assert backup.lines.text == "# One\n\nwords one\n\n# Two\n\nwords two"
    assert [getattr(block.place, "part", 0) for block in backup.blocks] == [1, 1, 2, 2]


def test_a_backup_of_bear_links_its_notes_and_counts_what_is_encrypted() -> None:
    backup = read(
        ".bear2bk",
        zipped(
            {
                **bear_note("# \n\n[[Two]], [[Two/Knots]], [[Else]]", folder="One.textbundle"),
                **bear_note("# Two\n\n## Knots\n\nwords #two words#", folder="x"),
                **bear_note("", folder="y", encrypted=1),
            }
        ),
    )
    assert backup.lines.text.startswith("# One\n")
    assert [link.target for link in backup.links] == ["#Two", "#Knots", "Else"]
    assert backup.warnings == ("1 note is encrypted, and left out",)
    assert backup.metadata.tags == ("two words",)


def test_an_encrypted_note_of_bear_alone_is_not_read() -> None:
    assert parsed(".bearnote", zipped(bear_note("", encrypted=1))) == Unreadable(
        "1 note is encrypted, and left out"
    )


def test_the_text_of_an_unpacked_text_bundle_is_called_as_the_bundle(tmp_path: Path) -> None:
    file = tmp_path / "text.md"
    file.write_text("no heading")
    task = FileTask("notes", "b/Dry ropes.textbundle/text.md", str(file), 10, 0, "note", TrustLevel.PRIMARY)
    done = prepare(task, ChunkPolicy(500, 80, 1000))
    assert isinstance(done, Prepared)
    assert done.document.title == "Dry ropes"


def test_an_export_of_joplin_names_notebooks_and_tags_and_links_its_notes() -> None:
    export = read(
        ".jex",
        jex_file(
            joplin_record("Dry ropes", f"# Inner\n\nSee [that]({':/' + 'b' * 32}).", name="a", parent="d"),
            joplin_record("젖은 밧줄", "![a knot](:/" + "f" * 32 + ")", name="b", parent="c"),
            joplin_record("Harbour", "", name="c", kind=2),
            joplin_record("Store", "", name="d", parent="c", kind=2),
            joplin_record("sea", "", name="e", kind=5),
            joplin_record("", "", name="1", kind=6, more=f"note_id: {'a' * 32}\ntag_id: {'e' * 32}\n"),
        ),
    )
    assert export.lines.text == (
        "# Dry ropes\n\nNotebook: Harbour / Store\nCreated: 2024-05-01\nTags: sea\n\n## Inner\n\n"
        "See [that](#%EC%A0%96%EC%9D%80%20%EB%B0%A7%EC%A4%84).\n\n"
        "# 젖은 밧줄\n\nNotebook: Harbour\nCreated: 2024-05-01\n\na knot"
    )
    assert export.metadata.tags == ("sea",)
    assert [link.anchor for link in export.links] == ["젖은 밧줄"]
    assert export.title == "a file"


def test_an_encrypted_note_of_joplin_is_counted_and_a_page_of_html_is_read_as_one() -> None:
    export = read(
        ".jex",
        jex_file(
            joplin_record("Secret", "JED01xyz", name="a", more="encryption_applied: 1\n"),
            joplin_record("Page", f"<p>{SAID}</p>", name="b", more="markup_language: 2\n"),
        ),
    )
    assert export.warnings == ("1 note is encrypted, and left out",)
    assert export.lines.text.endswith(f"\n\n{SAID}")


def test_a_raw_note_of_joplin_hides_what_stands_behind_it() -> None:
    text = joplin_record("Dry ropes", f"{SAID}\n\nkey: value", name="a")
    note = read(".md", text, stem="a" * 32)
    assert note.title == "Dry ropes"
    assert note.metadata.created_at == "2024-05-01T01:02:03.000Z"
    assert note.lines.text == text
    assert [note.lines.slice(block.start, block.end) for block in note.blocks] == [
        "Dry ropes",
        SAID,
        "key: value",
    ]


def test_raw_records_of_joplin_that_are_no_notes_are_left_out_with_the_reason() -> None:
    for kind, name in ((2, "notebook"), (5, "tag"), (4, "attachment"), (99, "record of another kind")):
        assert parsed(".md", joplin_record("x", "", name="a", kind=kind), stem="a" * 32) == Unreadable(
            f"not a note: Joplin's {name}"
        )
    locked = joplin_record("x", "JED", name="a", more="encryption_applied: 1\n")
    assert "encrypted" in str(parsed(".md", locked, stem="a" * 32))


def test_a_note_that_only_looks_like_a_record_is_read_whole() -> None:
    ending = f"\n\nid: {'a' * 32}\ntype_: 1"
    assert len(read(".md", f"words{ending}", stem="ropes").blocks) == 2
    assert len(read(".md", "words\n\nid: x", stem="a" * 32).blocks) == 2
    alone = read(".md", ending.strip(), stem="a" * 32)
    assert (alone.title, alone.blocks) == ("a" * 32, ())


def test_a_link_of_joplin_names_the_file_of_its_note() -> None:
    here = NoteNames(DocId("1"), "notes", f"x/{'a' * 32}.md", "Dry ropes")
    there = NoteNames(DocId("2"), "notes", f"x/{'b' * 32}.md", "Wet ropes")
    link = Link(LinkKind.MARKDOWN, f":/{'b' * 32}", 1)
    assert Names([here, there]).meant(link, within=here) == there


def test_a_tar_that_lies_about_its_sizes_is_refused() -> None:
    huge = tarfile.TarInfo("a.md")
    huge.size = 1 << 40
    found = parsed(".jex", huge.tobuf(format=tarfile.GNU_FORMAT) + b"\0" * 1024)
    assert isinstance(found, Unreadable)
    small = Reading(FakeDocumentEngines(), ReadLimits(expanded_bytes=100))
    assert "max_expanded_mb" in str(
        parsed(".jex", jex_file(joplin_record("x", SAID * 9, name="a")), reading=small)
    )


def test_links_and_folders_in_a_tar_are_passed_over() -> None:
    held = BytesIO()
    with tarfile.open(fileobj=held, mode="w") as archive:
        for name, kind in (
            ("../../a.md", tarfile.SYMTYPE),
            ("b.md", tarfile.LNKTYPE),
            ("c.md", tarfile.DIRTYPE),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
        record = joplin_record("Dry ropes", SAID, name="a").encode()
        member = tarfile.TarInfo("/../../etc/d.md")
        member.size = len(record)
        archive.addfile(member, BytesIO(record))
    assert read(".jex", held.getvalue()).title == "Dry ropes"


def test_only_so_many_notes_are_read() -> None:
    few = Reading(FakeDocumentEngines(), ReadLimits(pages=1))
    two = jex_file(joplin_record("One", "x", name="a"), joplin_record("Two", "y", name="b"))
    assert read(".jex", two, reading=few).warnings == (
        "only the first 1 of 2 notes are read (ingest.max_pages)",
    )
    bears = zipped({**bear_note("a", folder="a"), **bear_note("b", folder="b")})
    assert "max_pages" in read(".bear2bk", bears, reading=few).warnings[0]
