"""Upkeep on the real engines: models, bundles, resets, as a program that uses kebab sees them."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.assembly.upkeep import build_mover
from kebab.domain.hits import SearchResponse
from kebab.domain.queries import SearchMode
from kebab.domain.reports import CheckStatus
from kebab.errors import (
    ConfigNotFound,
    Corrupt,
    EngineUnavailable,
    InvalidInput,
    KebabError,
    ModelMismatch,
    ModelUnavailable,
    NotIndexed,
)
from kebab.upkeep.bundle import Contents, opened_bundle, write_bundle
from kebab.upkeep.checkup import Checkup
from tests.adapters.test_sqlite_forms import write_first_schema
from tests.adapters.tiny_onnx import make_model
from tests.memory_fakes import run
from tests.samples import sample

pytestmark = pytest.mark.slow


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A project with three notes, ingested; its configuration file."""
    return make_project(tmp_path / "project", notes=3)


def make_project(folder: Path, *, notes: int = 0) -> Path:
    (folder / "notes").mkdir(parents=True)
    for number in range(notes):
        text = f"# Note {number}\n\nrope ship anchor {number}\n"
        (folder / "notes" / f"n{number}.md").write_text(text, encoding="utf-8")
    file = folder / "config.toml"
    file.write_text('# mine\n[workspace]\nroot = "notes"\n\n[storage]\ndata_dir = "data"\n', encoding="utf-8")
    if notes:
        with Kebab.open(file) as kb:
            kb.ingest()
    return file


def data_of(config: Path) -> Path:
    return config.parent / "data"


def onnx(folder: Path, **options: int) -> Path:
    for package in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(package, reason="making and running an ONNX model needs it")
    return make_model(folder, **options)


def test_switching_models_keeps_the_old_vectors_and_says_which_are_missing(
    config: Path, tmp_path: Path
) -> None:
    folder = onnx(tmp_path / "tiny")
    with Kebab.open(config) as kb:
        added = kb.add_model(folder)
        assert (added.model_id, added.dimensions, added.active, added.note) == (
            "tiny",
            16,
            False,
            "registered as tiny",
        )
        before = kb.engines.reading.embeddings.models()
        assert kb.use_model("tiny").active
    assert "# mine\n" in config.read_text(encoding="utf-8")
    with Kebab.open(config) as kb:
        found = kb.search("rope", mode=SearchMode.HYBRID)
        assert [one.code for one in found.degraded] == ["not_embedded"]
        assert "tiny" in found.degraded[0].message
        assert kb.index(embeddings=True).embedded == 3
        found = kb.search("rope", mode=SearchMode.VECTOR)
        assert (found.degraded, found.hits[0].embedding_model) == ((), "tiny")
        assert before.items() <= kb.engines.reading.embeddings.models().items()
        assert [(m.model_id, m.active) for m in kb.models()] == [("tiny", True), ("kebab-static", False)]
        kb.use_model("static")
    with Kebab.open(config) as kb:
        assert kb.index().embedded == 0
        assert kb.search("rope").degraded == ()


def test_another_model_can_be_embedded_before_switching(config: Path, tmp_path: Path) -> None:
    folder = onnx(tmp_path / "tiny")
    with Kebab.open(config) as kb:
        report = kb.index(model=str(folder))
        assert (report.model, report.embedded, report.vector_chunks) == ("tiny", 3, 3)
        assert kb.search("rope").hits[0].embedding_model == "kebab-static"
        kb.use_model(str(folder))
    with Kebab.open(config) as kb:
        assert kb.search("rope").degraded == ()


def test_a_model_whose_files_were_swapped_is_found_out(config: Path, tmp_path: Path) -> None:
    folder = onnx(tmp_path / "tiny")
    with Kebab.open(config) as kb:
        kb.use_model(str(folder))
    with Kebab.open(config) as kb:
        assert kb.index().missing == 0
    make_model(folder, seed=2)
    with Kebab.open(config) as kb:
        report = kb.doctor()
        assert next(c for c in report.checks if c.name == "vectors").status is CheckStatus.WARNING
        assert kb.doctor(repair=True).healthy


def test_a_model_that_cannot_be_loaded_is_not_written_down(config: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    before = config.read_bytes()
    with Kebab.open(config) as kb:
        for attempt in (kb.use_model, lambda name: kb.add_model(Path(name))):
            with pytest.raises(ModelUnavailable):
                attempt(str(tmp_path / "empty"))
    assert config.read_bytes() == before
    assert not (data_of(config) / "models.json").exists()


def test_without_a_file_there_is_nothing_to_switch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with Kebab.open(root=tmp_path, data_dir=tmp_path / "data") as kb, pytest.raises(ConfigNotFound):
        kb.use_model("none")


def without_states(found: SearchResponse) -> SearchResponse:
    """What a search found, without the states of files: those are of the machine that holds the files."""
    hits = tuple(replace(hit, citation=replace(hit.citation, source_state=None)) for hit in found.hits)
    return replace(found, hits=hits)


def test_a_bundle_answers_elsewhere_byte_for_byte_and_its_files_are_not_called_changed(
    config: Path, tmp_path: Path
) -> None:
    other = make_project(tmp_path / "other")
    with Kebab.open(config) as kb:
        kb.ingest_text("harbour rope", title="From a pipe")
        here = kb.search("rope anchor")
        assert kb.export_bundle(tmp_path / "all.kebab").documents == 4
    with Kebab.open(other) as kb:
        report = kb.import_bundle(tmp_path / "all.kebab")
        assert (report.documents, report.models, report.degraded) == (4, ("kebab-static",), ())
        assert without_states(kb.search("rope anchor")) == without_states(here)
        assert not any(hit.citation.stale for hit in kb.search("rope").hits)
        assert all(check.status is CheckStatus.OK for check in kb.doctor().checks)
        assert kb.runs()[0].indexed == 1


def test_where_the_sources_are_too_the_next_run_reads_them_and_embeds_nothing(
    config: Path, tmp_path: Path
) -> None:
    other = make_project(tmp_path / "other")
    for file in (config.parent / "notes").iterdir():
        (other.parent / "notes" / file.name).write_bytes(file.read_bytes())
    with Kebab.open(config) as kb:
        kb.export_bundle(tmp_path / "all.kebab")
    with Kebab.open(other) as kb:
        kb.import_bundle(tmp_path / "all.kebab")
        run = kb.ingest().run
        assert (run.indexed, run.unchanged, run.removed, run.embedded) == (0, 3, 0, 0)


def test_a_bundle_does_not_replace_documents_unless_forced(config: Path, tmp_path: Path) -> None:
    other = make_project(tmp_path / "other", notes=1)
    with Kebab.open(config) as kb:
        kb.export_bundle(tmp_path / "all.kebab")
    with Kebab.open(other) as kb:
        with pytest.raises(InvalidInput, match="holds 1 document already"):
            kb.import_bundle(tmp_path / "all.kebab")
        assert len(kb.list_docs()) == 1
        kb.ingest_text("a note of mine", title="Mine")
        notes = kb.import_bundle(tmp_path / "all.kebab", force=True).degraded
        assert len(kb.list_docs()) == 4
        assert "kept 1 file of the inbox here" in notes[0]
        assert kb.search("mine", mode=SearchMode.LEXICAL).hits[0].source_id == "inbox"
        assert kb.search("anchor 2").hits[0].doc_path == "n2.md"


def test_a_note_that_is_saved_while_a_bundle_is_read_is_found_beside_it(config: Path, tmp_path: Path) -> None:
    with Kebab.open(config) as kb, Kebab.open(config) as other:
        kb.export_bundle(tmp_path / "all.kebab")
        mover, saved = build_mover(kb.engines), list[int]()

        def while_somebody_saves(folder: Path) -> Checkup:
            if not saved:
                saved.append(other.ingest_text("a windlass", title="Meanwhile").run.indexed)
            return mover.beside(folder)

        replace(mover, beside=while_somebody_saves).import_bundle(tmp_path / "all.kebab", force=True)
        assert saved == [1]
    with Kebab.open(config) as kb:
        for mode in SearchMode:
            assert kb.search("windlass", mode=mode).hits[0].source_id == "inbox"
        assert kb.doctor(full=True).healthy


def test_a_note_that_is_saved_while_a_bundle_is_written_is_found_where_that_is_read(
    config: Path, tmp_path: Path
) -> None:
    before, target = tmp_path / "before.sqlite", tmp_path / "all.kebab"
    with Kebab.open(config) as kb:
        kb.export_bundle(target)
        with opened_bundle(target, scratch=tmp_path) as (manifest, _):
            contents = manifest.contents
        kb.engines.reading.database.back_up(before)
        kb.ingest_text("a windlass", title="Meanwhile")

        def copied_before(copy: Path) -> Contents:
            shutil.copy(before, copy)
            return contents

        inbox = kb.engines.layout.inbox
        write_bundle(target, back_up=copied_before, inbox=inbox, kebab_version="0", force=True)
        kb.import_bundle(target, force=True)
    with Kebab.open(config) as kb:
        assert kb.search("windlass").hits[0].source_id == "inbox"
        assert kb.doctor(full=True).healthy


def test_vectors_of_another_model_are_refused_and_with_force_made_anew(config: Path, tmp_path: Path) -> None:
    other = make_project(tmp_path / "other")
    folder = onnx(tmp_path / "tiny")
    with Kebab.open(config) as kb:
        kb.export_bundle(tmp_path / "all.kebab")
    with Kebab.open(other) as kb:
        kb.use_model(str(folder))
    with Kebab.open(other) as kb:
        with pytest.raises(ModelMismatch):
            kb.import_bundle(tmp_path / "all.kebab")
        with pytest.raises(NotIndexed):
            kb.list_docs()
        kb.import_bundle(tmp_path / "all.kebab", force=True)
        assert kb.search("rope", mode=SearchMode.VECTOR).hits[0].embedding_model == "tiny"


@pytest.mark.parametrize(
    ("statement", "error"),
    [
        ("CREATE TRIGGER evil AFTER INSERT ON answers BEGIN DELETE FROM documents; END", Corrupt),
        ("CREATE VIEW evil AS SELECT 1", Corrupt),
        ("PRAGMA user_version = 999", EngineUnavailable),
        ("PRAGMA user_version = 0", NotIndexed),
    ],
)
def test_a_bundle_with_a_strange_store_is_refused_and_what_is_here_stays(
    config: Path, tmp_path: Path, statement: str, error: type[KebabError]
) -> None:
    other = make_project(tmp_path / "other", notes=1)
    with closing(sqlite3.connect(data_of(config) / "kebab.sqlite")) as connection, connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    with Kebab.open(config) as kb:
        stores = kb.engines.reading  # opened before the file becomes strange
        with closing(sqlite3.connect(data_of(config) / "kebab.sqlite")) as connection, connection:
            connection.execute(statement)
        connection.close()
        _bundle_by_hand(stores.database.path, tmp_path / "all.kebab")
    with Kebab.open(other) as kb:
        with pytest.raises(error):
            kb.import_bundle(tmp_path / "all.kebab", force=True)
        assert [doc.path for doc in kb.list_docs()] == ["n0.md"]
        assert kb.search("rope").hits


def test_a_bundle_of_the_first_schema_is_migrated_beside_and_then_opened(tmp_path: Path) -> None:
    other = make_project(tmp_path / "other", notes=1)
    samples = [sample(f"old{n}.md", f"harbour {n}", f"밧줄 {n}", title=f"Old {n}") for n in range(3)]
    whole = [replace(one, chunks=tuple(replace(c, block_ids=()) for c in one.chunks)) for one in samples]
    write_first_schema(tmp_path / "first.sqlite", whole, {})
    _bundle_by_hand(tmp_path / "first.sqlite", tmp_path / "all.kebab", chunks=6)
    with Kebab.open(other) as kb:
        kb.import_bundle(tmp_path / "all.kebab", force=True)
        assert [document.path for document in kb.list_docs()] == ["old0.md", "old1.md", "old2.md"]
        assert kb.search("harbour 2").hits[0].doc_path == "old2.md"
        assert kb.doctor(full=True).healthy


def _bundle_by_hand(store: Path, target: Path, *, chunks: int = 3) -> None:
    from kebab.upkeep.bundle import Contents, write_bundle

    def back_up(copy: Path) -> Contents:
        with closing(sqlite3.connect(store)) as connection, connection:
            connection.execute("VACUUM INTO ?", (str(copy),))
        connection.close()
        return Contents(1, 3, chunks, ())

    write_bundle(target, back_up=back_up, inbox=target.parent / "none", kebab_version="0")


def test_a_bundle_written_during_an_ingest_is_one_moment_of_it(config: Path, tmp_path: Path) -> None:
    notes = config.parent / "notes"
    for number in range(200):
        (notes / f"more{number:03d}.md").write_text(
            f"# More {number}\n\nrope ship {number}\n", encoding="utf-8"
        )
    with Kebab.open(config) as writer, Kebab.open(config) as reader:
        thread = threading.Thread(target=writer.ingest)
        thread.start()
        counts: list[int] = []
        while thread.is_alive():
            counts.append(reader.export_bundle(tmp_path / f"{len(counts)}.kebab").documents)
        thread.join()
    assert counts == sorted(counts)
    other = make_project(tmp_path / "other")
    with Kebab.open(other) as kb:
        at = len(counts) // 2
        assert kb.import_bundle(tmp_path / f"{at}.kebab").documents == counts[at] == len(kb.list_docs())
        assert all(
            check.status is CheckStatus.OK for check in kb.doctor().checks if check.name != "ingest runs"
        )


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} if folder.exists() else set()


@pytest.mark.parametrize(
    ("scope", "left"),
    [
        ("index", {"kebab.sqlite", "inbox", "models.json"}),
        ("vectors", {"kebab.sqlite", "inbox", "models.json", "index"}),
        ("old-vectors", {"kebab.sqlite", "inbox", "models.json", "index"}),
        ("data", {"inbox", "models.json"}),
        ("inbox", {"kebab.sqlite", "models.json", "index"}),
        ("memory", {"kebab.sqlite", "inbox", "models.json", "index"}),
        ("config", {"kebab.sqlite", "inbox", "models.json", "index"}),
        ("all", {"inbox"}),
    ],
)
def test_each_scope_removes_its_own_and_nothing_that_is_not_kebabs(
    config: Path, tmp_path: Path, scope: str, left: set[str]
) -> None:
    data = data_of(config)
    (data / "mine.txt").write_text("not kebab's")
    (data / "memory").mkdir()
    (data / "models.json").write_text("{}")
    with Kebab.open(config) as kb:
        kb.ingest_text("harbour", title="Pipe")
        kb.reset(scope)
    kept = {name for name in names(data) if not name.startswith(("kebab.sqlite-", "writer."))}
    memory = set() if scope in ("memory", "all") else {"memory"}
    assert kept == left | memory | {"mine.txt"}
    assert config.exists() == (scope not in ("config", "all"))
    assert len(names(config.parent / "notes")) == 3


@pytest.mark.parametrize("scope", ["index", "vectors", "old-vectors", "data", "memory", "all"])
def test_texts_of_the_inbox_outlive_every_reset_but_their_own(config: Path, scope: str) -> None:
    settings = config.read_text()
    with Kebab.open(config) as kb:
        for text in ("first harbour", "second harbour"):
            kb.ingest_text(text, title="Pipe")
        kept = (str(data_of(config) / "inbox"),) if scope in ("data", "all") else ()
        assert kb.reset(scope).kept == kept
    config.write_text(settings)
    with Kebab.open(config) as kb:
        kb.ingest()
        found = {hit.snippet.text.split()[0] for hit in kb.search("harbour", mode=SearchMode.LEXICAL).hits}
        assert found == {"first", "second"}
        assert kb.reset("inbox").removed == (str(data_of(config) / "inbox"),)
        assert kb.search("harbour", mode=SearchMode.LEXICAL).hits == ()
        assert kb.doctor().healthy
        assert kb.ingest().run.removed == 0
        assert kb.reset("inbox").removed == ()


def test_after_a_reset_of_the_index_or_the_vectors_everything_comes_back(config: Path) -> None:
    with Kebab.open(config) as kb:
        expected = kb.search("rope anchor")
    for scope, embedded in (("index", 0), ("vectors", 3)):
        with Kebab.open(config) as kb:
            assert kb.reset(scope).removed
            assert kb.search("rope anchor").degraded
            assert kb.index().embedded == embedded
            assert kb.search("rope anchor") == expected
            assert kb.reset("memory").removed == ()


def test_vectors_of_other_models_go_once_those_of_the_configured_one_are_complete(
    config: Path, tmp_path: Path
) -> None:
    with Kebab.open(config) as kb:
        kb.use_model(str(onnx(tmp_path / "tiny")))
    with Kebab.open(config) as kb:
        with pytest.raises(InvalidInput, match="3 texts have no vector of tiny yet"):
            kb.reset("old-vectors")
        assert [model.model_id for model in kb.engines.reading.embeddings.models()] == ["kebab-static"]
        kb.index()
        expected = kb.search("rope anchor")
        removed = kb.reset("old-vectors").removed
        assert removed[0] == "3 cached vectors"
        assert all("kebab-static" in path for path in removed[1:])
        assert [model.model_id for model in kb.engines.reading.embeddings.models()] == ["tiny"]
        assert {name.split("_")[2] for name in names(data_of(config) / "index" / "vectors")} == {"tiny"}
        assert kb.reset("old-vectors").removed == ()
    with Kebab.open(config) as kb:
        assert kb.search("rope anchor") == expected
        assert kb.doctor().healthy


def test_upkeep_of_nothing_makes_nothing(tmp_path: Path) -> None:
    config = make_project(tmp_path / "fresh")
    with Kebab.open(config) as kb:
        assert kb.reset("all").removed == (str(config),)
        for attempt in (kb.index, lambda: kb.export_bundle(tmp_path / "x.kebab")):
            with pytest.raises(NotIndexed):
                attempt()
        report = kb.doctor()
        assert report.healthy
        assert next(check for check in report.checks if check.name == "store").status is CheckStatus.WARNING
        assert kb.schema().capabilities["indexed"] is False
        assert [model.model_id for model in kb.models()] == ["kebab-static"]
    assert not data_of(config).exists()
    assert not (tmp_path / "x.kebab").exists()


@pytest.mark.parametrize(
    ("overrides", "endpoints"),
    [
        ({}, ()),
        ({"models.llm.provider": "ollama"}, ("http://127.0.0.1:11434",)),
        (
            {"models.embedding.provider": "openai", "models.embedding.endpoint": "http://127.0.0.1:9/v1"},
            ("http://127.0.0.1:9/v1",),
        ),
        ({"memory.url": "ws://127.0.0.1:9/rpc"}, ("ws://127.0.0.1:9/rpc",)),
        ({"ingest.on": "ray://127.0.0.1:9"}, ("ray://127.0.0.1:9",)),
        ({"ingest.on": "ray"}, ()),
    ],
)
def test_every_configured_network_address_is_listed(
    tmp_path: Path, overrides: dict[str, object], endpoints: tuple[str, ...]
) -> None:
    with Kebab.open(root=tmp_path, data_dir=tmp_path / "data", overrides=overrides) as kb:
        assert kb.engines.endpoints == endpoints


def test_the_schema_states_versions_capabilities_and_counts(config: Path) -> None:
    with Kebab.open(config) as kb:
        report = kb.schema()
        assert report.stats["documents"] == 3
        assert report.versions["lexical"] == kb.engines.lexical_index.version
        assert report.capabilities["hybrid"]


def test_the_doctor_looks_at_the_execution_memory_where_there_is_one(config: Path) -> None:
    pytest.importorskip("surrealdb", reason="the memory extra is not installed")
    with Kebab.open(config) as kb:
        assert not any(check.name == "execution memory" for check in kb.doctor().checks)
        kb.memory.record(run(1))
        check = kb.doctor().checks[-1]
        assert (check.name, check.detail) == ("execution memory", "1 executions")
    files = [file for file in (data_of(config) / "memory").rglob("*") if file.is_file()]
    assert files
    for file in files:
        file.write_bytes(b"no longer a memory")
    with Kebab.open(config) as kb:
        for repair in (False, True):
            check = kb.doctor(repair=repair).checks[-1]
            assert (check.name, check.status) == ("execution memory", CheckStatus.FAULT)
