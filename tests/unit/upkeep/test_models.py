"""What a model's name means, and the registry of local folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from kebab.domain.reports import ModelStatus
from kebab.errors import Corrupt, InvalidInput
from kebab.ports import ModelKey
from kebab.upkeep.model_names import Choice, Registry, choose, listed


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("static", Choice("static")),
        ("kebab-static", Choice("static")),
        ("none", Choice("none")),
        ("mine", Choice("onnx", path="/models/mine")),
        ("ollama:nomic:latest", Choice("ollama", model="nomic:latest")),
        ("openai:text-embedding-3", Choice("openai", model="text-embedding-3")),
        ("fastembed:BAAI/bge-small", Choice("fastembed", model="BAAI/bge-small")),
        ("intfloat/multilingual-e5-small", Choice("fastembed", model="intfloat/multilingual-e5-small")),
    ],
)
def test_a_name_means_one_model(name: str, choice: Choice) -> None:
    registered = {"mine": Path("/models/mine")}
    assert choose(name, registered=registered, built_in="kebab-static") == choice


def test_a_folder_is_a_model_of_its_own(tmp_path: Path) -> None:
    choice = choose(str(tmp_path), registered={}, built_in="kebab-static")
    assert choice == Choice("onnx", path=str(tmp_path))


@pytest.mark.parametrize("name", ["nothing", "", "ollama:", "what:ever", "../x"])
def test_an_unknown_name_is_refused_and_what_there_is_named(name: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        choose(name, registered={"mine": Path("/m")}, built_in="kebab-static")
    assert "static, none, mine" in (raised.value.hint or "")


def test_the_registry_remembers_folders_by_name(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "data" / "models.json")
    assert registry.folders() == {}
    registry.add("b", Path("/models/b"))
    registry.add("a", Path("/models/a"))
    registry.add("b", Path("/models/새"))
    assert list(registry.folders().items()) == [("a", Path("/models/a")), ("b", Path("/models/새"))]


@pytest.mark.parametrize("name", ["static", "none", "a b", "a/b", "", "ollama:x"])
def test_a_name_that_would_be_ambiguous_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        Registry(tmp_path / "models.json").add(name, tmp_path)


def test_a_registry_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    file = tmp_path / "models.json"
    file.write_text("[1")
    with pytest.raises(Corrupt):
        Registry(file).folders()


def test_models_known_by_their_vectors_alone_are_listed_too() -> None:
    here = ModelStatus("static", "kebab-static", 8, True, 5, "")
    active, older, other = (
        ModelKey("kebab-static", "2", 8),
        ModelKey("kebab-static", "1", 8),
        ModelKey("e5", "1", 4),
    )
    found = listed([here, here], cached={active: 5, older: 3, other: 2}, active=active)
    assert [(status.model_id, status.vectors) for status in found] == [
        ("kebab-static", 5),
        ("kebab-static", 3),
        ("e5", 2),
    ]
