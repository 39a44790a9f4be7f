"""Which note a link means."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.ids import DocId
from kebab.domain.links import Link, LinkKind, Names, NoteNames, is_external, name_key


def note(path: str, *aliases: str, title: str = "", source: str = "default") -> NoteNames:
    return NoteNames(DocId(f"{source}:{path}"), source, path, title or path, aliases)


VAULT = (
    note("index.md", title="Home"),
    note("setup.md", title="Setting it up"),
    note("work/setup.md"),
    note("work/deep/er/plan.md", "the plan", title="Master plan"),
    note("work/deep/plan.md"),
    note("work/README.md"),
    note("a b/My Note.md"),
    note("여행/제주.md", "봄 여행"),
    note("work/v1.2 notes.md"),
    note("paper.pdf", title="A paper"),
    note("elsewhere.md", source="other"),
)
NAMES = Names(VAULT)


def meant(target: str, *, kind: LinkKind = LinkKind.WIKILINK, within: str = "work/today.md") -> str | None:
    found = NAMES.meant(Link(kind, target, 1), within=note(within))
    return found.path if found else None


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("work/setup", "work/setup.md"),
        ("setup", "work/setup.md"),  # below the folder of the note first
        ("/setup", "setup.md"),
        ("plan", "work/deep/plan.md"),  # the shortest path
        ("er/plan", "work/deep/er/plan.md"),
        ("../setup", "setup.md"),
        ("./deep/plan.md", "work/deep/plan.md"),
        ("THE PLAN", "work/deep/er/plan.md"),  # an alias
        ("master plan", "work/deep/er/plan.md"),  # a title
        ("my-note", "a b/My Note.md"),  # gaps are mixed up
        ("My Note#Heading|seen as", "a b/My Note.md"),
        ("v1.2 notes", "work/v1.2 notes.md"),
        ("제주", "여행/제주.md"),
        (unicodedata.normalize("NFD", "봄 여행"), "여행/제주.md"),
        ("paper.pdf", "paper.pdf"),
        ("work/", "work/README.md"),
        ("#here", "work/today.md"),
        ("elsewhere", "elsewhere.md"),
        ("nothing", None),
        ("work/nothing", None),
        ("nowhere/setup", None),
    ],
)
def test_a_wikilink_means_the_nearest_note_of_that_name(target: str, path: str | None) -> None:
    written = unicodedata.normalize("NFC", target.partition("|")[0])
    assert meant(written) == path


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("setup.md", "work/setup.md"),
        ("../setup.md#top", "setup.md"),
        ("deep/plan.md?plain=1", "work/deep/plan.md"),
        ("deep/plan.html", "work/deep/plan.md"),
        ("/a%20b/My%20Note.md", "a b/My Note.md"),
        ("../%EC%97%AC%ED%96%89/%EC%A0%9C%EC%A3%BC.md", "여행/제주.md"),
        ("../a b/my note.md", "a b/My Note.md"),
        ("../work", "work/README.md"),
        ("..", None),
        ("../../outside.md", None),
        ("../elsewhere.md", None),  # a path does not lead into another source
    ],
)
def test_a_markdown_link_counts_from_the_notes_folder(target: str, path: str | None) -> None:
    assert meant(target, kind=LinkKind.MARKDOWN) == path


def test_the_spelling_as_written_beats_other_case() -> None:
    names = Names([note("a/note.md"), note("longer/Note.md")])
    link = Link(LinkKind.WIKILINK, "Note", 1)
    found = names.meant(link, within=note("x.md"))
    assert found is not None
    assert found.path == "longer/Note.md"


def test_addresses_are_external_and_names_with_a_colon_behind_a_space_are_not() -> None:
    assert all(map(is_external, ("https://a.b", "mailto:a@b", "//host/x", "obsidian://open?file=x")))
    assert not any(map(is_external, ("a.md", "2025: a year", "C:", "메모: 하나", "#x", "a/b:c.md")))


_WORD = st.sampled_from(["a", "B", "index", "여행", "my note", "My-Note", "x.y", "README", "c_d"])
_FOLDERS = st.lists(_WORD, max_size=3)
_NOTES = st.builds(
    lambda folders, name, ending, title, aliases: note(
        "/".join([*folders, name + ending]), *aliases, title=title
    ),
    _FOLDERS,
    _WORD,
    st.sampled_from([".md", ".txt", ""]),
    _WORD,
    st.lists(_WORD | st.just("one/two"), max_size=2),
)
_TARGETS = st.builds(
    lambda start, parts, end: start + "/".join(parts) + end,
    st.sampled_from(["", "./", "../", "/", "../../"]),
    st.lists(_WORD | st.just(".."), min_size=1, max_size=3),
    st.sampled_from(["", ".md", ".html", "/", "#x"]),
)


@given(
    notes=st.lists(_NOTES, min_size=1, max_size=12, unique_by=lambda n: n.doc_id),
    target=_TARGETS,
    kind=st.sampled_from(LinkKind),
)
def test_whatever_a_link_means_is_found_back_by_the_links_key(
    notes: list[NoteNames], target: str, kind: LinkKind
) -> None:
    """Backlinks are looked up by key alone: a link whose key is not one of its note's would be lost."""
    link = Link(kind, target, 1)
    found = Names(notes).meant(link, within=notes[0])
    if found is not None and link.path:
        assert link.key(notes[0].path) in found.keys


@given(notes=st.lists(_NOTES, min_size=1, max_size=12, unique_by=lambda n: n.doc_id), data=st.data())
def test_a_whole_path_from_the_root_means_that_note(notes: list[NoteNames], data: st.DataObject) -> None:
    wanted = data.draw(st.sampled_from(notes))
    found = Names(notes).meant(Link(LinkKind.WIKILINK, f"/{wanted.path}", 1), within=notes[0])
    assert found is not None
    assert found.path == wanted.path


@given(notes=st.lists(_NOTES, min_size=1, max_size=12, unique_by=lambda n: n.doc_id), target=_TARGETS)
def test_what_a_link_means_does_not_depend_on_the_order_of_the_notes(
    notes: list[NoteNames], target: str
) -> None:
    link, within = Link(LinkKind.WIKILINK, target, 1), note("a/today.md")
    one = Names(notes).meant(link, within=within)
    other = Names(reversed(notes)).meant(link, within=within)
    assert (one and one.path) == (other and other.path)


def test_a_key_is_the_last_part_without_case_and_gaps() -> None:
    assert name_key("Work/My  Note_one.MD") == "my-note-one.md"
    assert name_key("folder/") == "folder"
