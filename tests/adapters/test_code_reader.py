"""Source code by tree-sitter: the units of every language, and files that nobody should have to read."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from kebab.adapters.code_grammars import GRAMMARS
from kebab.assembly.documents import InstalledEngines
from kebab.domain.chunks import embedding_input
from kebab.domain.citations import CitationKind
from kebab.domain.documents import TrustLevel
from kebab.domain.places import CodeUnit
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.parse.code import FORMAT as CODE
from kebab.ingest.parse.code_languages import LANGUAGES
from kebab.ingest.parse.parsed import Defaults, Parsed
from kebab.ingest.parse.reading import Reading
from kebab.ingest.prepare import FileTask, Prepared, prepare
from kebab.search.read import Reader
from tests.code_samples import SAMPLES, Sample
from tests.fakes import FakeDocumentStore, FakeEmbeddingStore
from tests.store_fakes import FakeSourceFiles

READING = Reading(InstalledEngines())
ENDINGS = {sample.ending for sample in SAMPLES}


def parsed(text: str | bytes, ending: str, name: str = "ship") -> Parsed:
    content = text.encode() if isinstance(text, str) else text
    found = CODE.parse(content, Defaults(name, extension=ending, reading=READING, path=f"src/{name}{ending}"))
    assert isinstance(found, Parsed), found
    return found


def units(found: Parsed) -> list[tuple[str, int, int]]:
    return [(b.place.symbol, b.start, b.end) for b in found.blocks if isinstance(b.place, CodeUnit)]


def prepared(folder: Path, name: str, text: str, policy: ChunkPolicy = ChunkPolicy()) -> Prepared:
    file = folder / name
    file.write_text(text)
    task = FileTask("repo", name, str(file), file.stat().st_size, 0, "note", TrustLevel.PRIMARY)
    found = prepare(task, policy, reading=READING)
    assert isinstance(found, Prepared), found
    return found


def reader_of(one: Prepared) -> Reader:
    store = FakeDocumentStore()
    store.put(one.document, one.chunks, one.state)
    return Reader(store, FakeEmbeddingStore(store), FakeSourceFiles())


def covers(found: Parsed) -> bool:
    held = [line for block in found.blocks for line in range(block.start, block.end + 1)]
    written = {n for n in range(1, len(found.lines) + 1) if not found.lines.is_blank(n)}
    return held == sorted(set(held)) and written <= set(held)


def test_every_grammar_has_a_sample() -> None:
    assert {LANGUAGES[sample.ending].grammar for sample in SAMPLES} == GRAMMARS


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
def test_functions_classes_and_methods_are_units_with_their_comments(sample: Sample) -> None:
    found = parsed(sample.text, sample.ending)
    assert units(found) == list(sample.units)
    assert (found.metadata.code_lang, found.title) == (sample.code_lang, f"src/ship{sample.ending}")
    assert covers(found)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
def test_what_is_cited_is_what_is_fetched(sample: Sample, tmp_path: Path) -> None:
    one = prepared(tmp_path, f"ship{sample.ending}", sample.text)
    reader, lines = reader_of(one), sample.text.split("\n")
    for chunk in one.chunks:
        cited = reader.inspect_chunk(chunk.chunk_id).citation
        fetched = reader.fetch_citation(cited.uri)
        assert fetched.text == chunk.text == "\n".join(lines[cited.start - 1 : cited.end])
        assert fetched.citation == cited
        assert cited.kind is (CitationKind.CODE if chunk.place else CitationKind.LINE)
    for symbol, start, end in sample.units:
        fetched = reader.fetch_citation(f"ship{sample.ending}#symbol={symbol}")
        assert "\n".join(lines[start - 1 : end]) in fetched.text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
def test_equal_functions_of_one_file_have_ids_of_their_own(sample: Sample, tmp_path: Path) -> None:
    text = sample.text + "\n" + sample.text
    one = prepared(tmp_path, f"ship{sample.ending}", text)
    assert len({chunk.chunk_id for chunk in one.chunks}) == len(one.chunks) > len(sample.units)


def keys(one: Prepared) -> set[str]:
    """What a model reads of each chunk."""
    title = one.document.title
    return {embedding_input(title=title, heading_path=c.heading_path, text=c.text) for c in one.chunks}


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
def test_editing_one_function_changes_what_is_embedded_of_that_one_alone(
    sample: Sample, tmp_path: Path
) -> None:
    lines = sample.text.split("\n")
    _, at, _ = sample.units[-1]
    sign = {".py": "#", ".rb": "#", ".sh": "#", ".sql": "--"}.get(sample.ending, "//")
    edited = "\n".join([*lines[: at - 1], lines[at - 1] + f" {sign} edited", *lines[at:]])
    before = keys(prepared(tmp_path, f"ship{sample.ending}", sample.text))
    after = keys(prepared(tmp_path, f"ship{sample.ending}", edited))
    assert len(after - before) == 1


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
def test_tabs_and_windows_line_ends_change_no_line_number(sample: Sample) -> None:
    tabbed = sample.text.replace("    ", "\t") if sample.ending != ".py" else sample.text
    assert units(parsed(tabbed.replace("\n", "\r\n"), sample.ending)) == list(sample.units)


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_names_in_korean_are_symbols(ending: str) -> None:
    wrote = {
        ".py": "def 밧줄_말리기(줄):\n    return 줄\n",
        ".go": "package p\n\nfunc 밧줄_말리기() {\n}\n",
        ".rs": "fn 밧줄_말리기() {\n}\n",
        ".rb": "def 밧줄_말리기\nend\n",
        ".sh": "밧줄_말리기() {\n  echo 1\n}\n",
        ".sql": "CREATE TABLE 밧줄_말리기 (id int);\n",
        ".kt": "fun 밧줄_말리기() {\n}\n",
        ".c": "int 밧줄_말리기(void) {\n}\n",
        ".cpp": "int 밧줄_말리기() {\n}\n",
        ".java": "class 밧줄_말리기 {\n}\n",
        ".cs": "class 밧줄_말리기 {\n}\n",
    }.get(ending, "function 밧줄_말리기() {\n}\n")
    found = parsed(wrote, ending)
    assert covers(found)
    if ending not in {".sh", ".sql", ".kt"}:  # whose grammars know only Latin names
        assert [symbol for symbol, _, _ in units(found)] == ["밧줄_말리기"]


SLOW = [pytest.param(sign, marks=pytest.mark.slow) for sign in ("class A {", "#if A", "$(")]


@pytest.mark.parametrize("ending", sorted(ENDINGS))
@pytest.mark.parametrize("sign", ["(", "[{", *SLOW])
def test_ten_thousand_levels_end_in_a_covered_file(ending: str, sign: str) -> None:
    sample = next(sample for sample in SAMPLES if sample.ending == ending)
    found = parsed(sample.text + f"{sign}\n" * 10_000 + sample.text, ending)
    assert covers(found)


def test_nested_classes_have_symbols_of_a_dozen_names_at_most() -> None:
    text = "".join(" " * depth + f"class A{depth}:\n" for depth in range(150)) + " " * 150 + "x = 1\n"
    for found in (parsed(text, ".py"), parsed("class A {\n" * 3000 + "}\n" * 3000, ".java")):
        assert covers(found)
        assert max(symbol.count(".") for symbol, _, _ in units(found)) == 11


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_empty_files_and_bad_bytes_are_read_as_far_as_they_go(ending: str) -> None:
    assert parsed("", ending).blocks == parsed("\n\n", ending).blocks == ()
    sample = next(sample for sample in SAMPLES if sample.ending == ending)
    found = parsed(sample.text.encode().replace("밧".encode(), b"\xff", 1) + b"# \xff", ending)
    assert "not valid" in found.warnings[0]
    korean = parsed(sample.text.encode("cp949"), ending)
    assert units(korean) == list(sample.units)


def test_broken_code_keeps_the_units_that_can_be_made_out_and_says_where_it_breaks() -> None:
    found = parsed(
        "def whole():\n    return 1\n\n\ndef broken(:\n    retur\n\n\ndef also():\n    pass\n", ".py"
    )
    assert {"whole", "also"} <= {symbol for symbol, _, _ in units(found)}
    assert found.warnings == ("the syntax is not understood at line 5: units near it may be missing",)
    assert covers(found)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.ending)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=10)
@given(data=st.data())
def test_no_line_is_lost_or_held_twice_whatever_is_cut_out_or_put_in(
    sample: Sample, data: st.DataObject
) -> None:
    at, end = sorted(data.draw(st.integers(0, len(sample.text))) for _ in range(2))
    text = sample.text[:at] + data.draw(st.text(max_size=20)) + sample.text[end:]
    found = CODE.parse(text.encode(), Defaults("ship", extension=sample.ending, reading=READING))
    assert not isinstance(found, Parsed) or covers(found)


def test_a_function_longer_than_a_chunk_is_cut_and_every_part_names_it(tmp_path: Path) -> None:
    body = "".join(f"    step_{n} = compute_the_next_step_of_the_voyage({n})\n" for n in range(120))
    one = prepared(tmp_path, "ship.py", f"def voyage():\n{body}\n\ndef home():\n    pass\n")
    symbols = [chunk.place.symbol for chunk in one.chunks if isinstance(chunk.place, CodeUnit)]
    assert symbols == ["voyage"] * (len(symbols) - 1) + ["home"]
    assert len(symbols) > 3
    assert max(chunk.token_estimate for chunk in one.chunks) <= ChunkPolicy().max_tokens


def test_a_long_function_is_taken_apart_where_it_defines_others() -> None:
    inner = "  function step() {\n    return 1;\n  }\n"
    filler = "".join(f"  var variable_number_{n} = 'some text to make it long';\n" for n in range(150))
    text = f"(function (root) {{\n{inner}{filler}}})(this);\n\nfunction long() {{\n{inner}{filler}}}\n"
    found = parsed(text, ".js")
    assert [symbol for symbol, _, _ in units(found)] == ["step", "long", "long.step", "long"]


@pytest.mark.parametrize(
    ("ending", "opened", "member"),
    [
        (".rs", "impl Ship {", "    fn speed{n}(&self) -> u8 {{\n        {n}\n    }}"),
        (".java", "class Ship {", "    int speed{n}() {{\n        return {n};\n    }}"),
        (".cpp", "class Ship {", "  int speed{n}() {{\n    return {n};\n  }}"),
        (".py", "class Ship:", "    def speed{n}(self):\n        return {n}"),
        (".ts", "class Ship {", "  speed{n}() {{\n    return {n};\n  }}"),
    ],
)
def test_a_class_longer_than_the_first_look_at_a_file_has_all_its_methods(
    ending: str, opened: str, member: str
) -> None:
    closing = "" if ending == ".py" else "}\n"
    text = f"{opened}\n" + "".join(member.format(n=n) + "\n\n" for n in range(3000)) + closing
    assert len(text) > 100_000
    found = [symbol for symbol, _, _ in units(parsed(text, ending))]
    assert found[-3000:] == [f"Ship.speed{n}" for n in range(3000)]
    assert found[:-3000] in ([], ["Ship"])


def test_imports_are_kept_with_the_document() -> None:
    sample = next(sample for sample in SAMPLES if sample.ending == ".py")
    assert parsed(sample.text, ".py").metadata.user == {"imports": ["import os", "from a import b"]}


@example("def a(): pass\n")
@given(st.text(max_size=200))
@settings(max_examples=30)
def test_any_text_is_covered_in_an_unknown_language(text: str) -> None:
    found = CODE.parse(text.encode("utf-8", "replace"), Defaults("a", extension=".lua", reading=READING))
    assert not isinstance(found, Parsed) or covers(found)
