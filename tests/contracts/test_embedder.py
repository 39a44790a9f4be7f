"""What every Embedder promises."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from kebab.adapters.embedders.fastembed import FastembedEmbedder
from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder
from kebab.adapters.embedders.remote import ollama_embedder, openai_embedder
from kebab.adapters.embedders.static import StaticEmbedder
from kebab.ports import Embedder, EmbeddingKind
from tests.adapters.embedders.servers import MODEL, EmbeddingServer, serving
from tests.adapters.embedders.small_model import write_small_model
from tests.fakes import FakeEmbedder

TEXTS = [
    "How long is a seat held before the payment expires?",
    "전세 계약 갱신은 언제까지 알려야 하나",
    "idempotency-key",
    "좌석 hold 만료 timeout: 7 minutes",
    "김",
    "a",
    "refund " * 40,
    "12 + 30 = 42 !?",
]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a builder may put files, and what ends with the tests."""

    folder: Path
    stack: ExitStack

    def served(self) -> EmbeddingServer:
        return self.stack.enter_context(serving(EmbeddingServer(dimensions=24)))


def fastembed(place: Place) -> Embedder:
    name = "kebab-tests/small-e5"
    if not any(known["model"] == name for known in TextEmbedding.list_supported_models()):
        TextEmbedding.add_custom_model(
            model=name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=name),
            dim=16,
            model_file="model.onnx",
        )
    folder = write_small_model(place.folder / "fastembed", positions=512)
    return FastembedEmbedder(name, cache_dir=place.folder / "cache", threads=1, folder=folder)


def onnx_folder(place: Place) -> Embedder:
    folder = place.folder / "multilingual-e5-tiny"
    if not folder.exists():
        write_small_model(folder, positions=512)
    return OnnxFolderEmbedder(folder, threads=1)


BUILDERS: dict[str, Callable[[Place], Embedder]] = {
    "fake": lambda _: FakeEmbedder(),
    "static": lambda _: StaticEmbedder(),
    "onnx": onnx_folder,
    "fastembed": fastembed,
    "ollama": lambda place: ollama_embedder(MODEL, endpoint=place.served().address),
    "openai": lambda place: openai_embedder(MODEL, endpoint=place.served().openai),
}


@pytest.fixture(scope="module", params=list(BUILDERS))
def build(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Embedder]]:
    """Builds the same embedder anew each time."""
    with ExitStack() as stack:
        place = Place(tmp_path_factory.mktemp("models"), stack)
        yield lambda: BUILDERS[request.param](place)


@pytest.fixture(scope="module")
def embedder(build: Callable[[], Embedder]) -> Embedder:
    return build()


@pytest.fixture(params=list(EmbeddingKind))
def kind(request: pytest.FixtureRequest) -> EmbeddingKind:
    return EmbeddingKind(request.param)


def test_a_text_gives_one_float32_row_of_the_promised_dimensions(
    embedder: Embedder, kind: EmbeddingKind
) -> None:
    vectors = embedder.embed(TEXTS, kind)
    assert vectors.shape == (len(TEXTS), embedder.dimensions)
    assert vectors.dtype == np.float32


def test_every_vector_has_length_1(embedder: Embedder, kind: EmbeddingKind) -> None:
    lengths = np.linalg.norm(embedder.embed([*TEXTS, ""], kind).astype(np.float64), axis=1)
    np.testing.assert_allclose(lengths, 1.0, atol=1e-6)


def test_rows_stand_in_the_order_of_the_texts(embedder: Embedder, kind: EmbeddingKind) -> None:
    forward, backward = embedder.embed(TEXTS, kind), embedder.embed(TEXTS[::-1], kind)
    assert (forward == backward[::-1]).all()
    assert len({row.tobytes() for row in forward}) == len(TEXTS)


def test_what_stands_beside_a_text_does_not_change_a_bit_of_its_vector(
    embedder: Embedder, kind: EmbeddingKind
) -> None:
    together = embedder.embed([*TEXTS, "", *TEXTS], kind)
    alone = np.concatenate([embedder.embed([text], kind) for text in [*TEXTS, "", *TEXTS]])
    assert together.tobytes() == alone.tobytes()


def test_the_same_text_gives_the_same_bits_after_loading_anew(
    build: Callable[[], Embedder], embedder: Embedder, kind: EmbeddingKind
) -> None:
    assert build().embed(TEXTS, kind).tobytes() == embedder.embed(TEXTS, kind).tobytes()


def test_the_names_of_the_model_do_not_change_when_it_is_loaded_anew(
    build: Callable[[], Embedder], embedder: Embedder
) -> None:
    again = build()
    assert embedder.model_id
    assert embedder.version
    assert (again.model_id, again.version) == (embedder.model_id, embedder.version)
    assert again.dimensions == embedder.dimensions > 0


def test_no_texts_give_no_rows_of_the_promised_dimensions(embedder: Embedder, kind: EmbeddingKind) -> None:
    assert embedder.embed([], kind).shape == (0, embedder.dimensions)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "🦀", "\u200b", "日本語", "ﬁ", "x" * 20_000])
def test_any_text_has_a_vector(embedder: Embedder, kind: EmbeddingKind, text: str) -> None:
    vector = embedder.embed([text], kind)
    assert np.isfinite(vector).all()
    assert float(np.linalg.norm(vector)) == pytest.approx(1.0, abs=1e-5)


def test_both_languages_are_read_and_told_apart(embedder: Embedder, kind: EmbeddingKind) -> None:
    english, other, korean, different = embedder.embed(
        ["ferry seat", "bread oven", "여객선 좌석", "전세 계약"], kind
    )
    assert (english != other).any()
    assert (korean != different).any()
    assert (english != korean).any()


class TestE5:
    """Models of the e5 family read another prefix before a query than before a document."""

    @pytest.fixture(params=["onnx", "fastembed"])
    def embedder(self, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Embedder]:
        with ExitStack() as stack:
            yield BUILDERS[request.param](Place(tmp_path, stack))

    def test_a_query_is_not_embedded_as_a_document(self, embedder: Embedder) -> None:
        query, document = (
            embedder.embed(TEXTS, kind) for kind in (EmbeddingKind.QUERY, EmbeddingKind.DOCUMENT)
        )
        assert (query != document).any(axis=1).all()

    @pytest.mark.parametrize(
        ("kind", "prefix"), [(EmbeddingKind.QUERY, "query: "), (EmbeddingKind.DOCUMENT, "passage: ")]
    )
    def test_the_model_reads_the_prefix_of_the_kind(
        self, embedder: Embedder, tmp_path: Path, kind: EmbeddingKind, prefix: str
    ) -> None:
        # The same weights under a name that belongs to no family.
        plain = OnnxFolderEmbedder(write_small_model(tmp_path / "plain", positions=512), threads=1)
        expected = plain.embed([prefix + text for text in TEXTS], kind)
        np.testing.assert_allclose(embedder.embed(TEXTS, kind), expected, atol=1e-6)
