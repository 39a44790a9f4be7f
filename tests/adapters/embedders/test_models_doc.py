"""docs/models.md: every example it shows is loaded, every name and prefix it states is the real one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kebab import Kebab, config
from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder
from kebab.adapters.embedders.prefixes import prefixes_of
from kebab.assembly.engines import Engines
from kebab.assembly.network import OLLAMA
from kebab.ports import EmbeddingKind
from kebab.upkeep.model_names import choose
from tests.adapters.embedders.small_model import write_small_model

TEXT = (Path(__file__).parents[3] / "docs" / "models.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, flags=re.DOTALL)
PROVIDERS = {"static", "fastembed", "onnx", "ollama", "openai", "none"}


def loaded(example: str, folder: Path) -> config.Settings:
    file = folder / "config.toml"
    file.write_text(example, encoding="utf-8")
    return config.load(file, environ={})


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_example_builds_the_model_it_names(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDING_API_KEY", "sk-anything")
    settings = loaded(example, tmp_path)
    model = settings.models.embedding
    embedder = Engines(settings).build_embedder(model)
    if model.provider == "none":
        assert embedder is None
    else:
        assert embedder is not None
        assert embedder.model_id == (model.model or Path(model.path).name or "kebab-static")


def test_every_provider_has_an_example_and_a_row(tmp_path: Path) -> None:
    shown = {loaded(example, tmp_path).models.embedding.provider for example in EXAMPLES}
    rows = set(re.findall(r"^\| `(\w+)` \| [^|]+ \| [^|]+ \| [^|]+ \|$", TEXT, flags=re.MULTILINE))
    assert shown == PROVIDERS == rows


def test_a_path_is_relative_to_the_file_and_ollama_has_the_address_it_says(tmp_path: Path) -> None:
    paths = {loaded(example, tmp_path).models.embedding.path for example in EXAMPLES} - {""}
    assert paths == {str(tmp_path / "models" / name) for name in ("multilingual-e5-small", "bge-m3")}
    assert f"Without `endpoint` it is `{OLLAMA}`" in TEXT


def test_the_example_of_kebab_json_is_understood(tmp_path: Path) -> None:
    example = re.search(r"```json\n(.*?)```", TEXT, flags=re.DOTALL)
    assert example is not None
    folder = write_small_model(tmp_path / "small", positions=512, settings=json.loads(example[1]))
    plain = write_small_model(tmp_path / "plain", positions=512)
    embedder, bare = OnnxFolderEmbedder(folder, threads=1), OnnxFolderEmbedder(plain, threads=1)
    assert embedder.model_id == "my-company/notes-embedder"
    for kind, prefix in ((EmbeddingKind.QUERY, "query: "), (EmbeddingKind.DOCUMENT, "passage: ")):
        assert (embedder.embed(["좌석"], kind) == bare.embed([f"{prefix}좌석"], kind)).all()


def test_the_prefixes_it_states_are_those_that_are_read() -> None:
    section = TEXT.split("## Prefixes")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`.*`) \| (`.*?`) \|(?: (`.*?`) \||\s*\|)$", section, flags=re.MULTILINE)
    assert len(rows) == 5
    for names, query, document in rows:
        for name in re.findall(r"`([^`]+)`", names):
            found = prefixes_of(name.replace("…", "-large-"))
            assert (found.query, found.document) == (query.strip("`").replace("⏎", "\n"), document.strip("`"))


def test_the_names_that_commands_show_are_names_of_models() -> None:
    names = re.findall(r"kebab (?:models use|index --model) (\S+)", TEXT)
    assert len(names) == 3
    for name in names:
        assert choose(name, registered={}, built_in="kebab-static").provider in PROVIDERS


def test_switching_goes_as_it_says(tmp_path: Path) -> None:
    """Embed beforehand, switch, find; go back, and the old vectors are still there."""
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "seat.md").write_text("# Seats\n\nA seat is held for 7 minutes.\n", encoding="utf-8")
    folder = write_small_model(tmp_path / "small-model", positions=512)
    file = tmp_path / "config.toml"
    file.write_text('[workspace]\nroot = "notes"\n[storage]\ndata_dir = "data"\n', encoding="utf-8")

    def opened() -> Kebab:
        return Kebab(config.load(file, environ={}))

    def answered(kebab: Kebab) -> tuple[str | None, bool]:
        found = kebab.search("seat")
        return found.hits[0].embedding_model, bool(found.degraded)

    with opened() as kebab:
        kebab.ingest()
        built_in, _ = answered(kebab)
        kebab.add_model(folder)
        kebab.index(model="small-model")
        assert answered(kebab) == (built_in, False)
        kebab.use_model("small-model")
    with opened() as kebab:
        assert answered(kebab) == ("small-model", False)
        kebab.use_model("static")
    with opened() as kebab:
        assert answered(kebab) == (built_in, False)
        assert kebab.index(embeddings=True).embedded == 0
