"""The shipped static model: promises of the port, bilingual sense, and speed."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import time
import unicodedata
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.adapters.embedders.static import SHIPPED, StaticEmbedder
from kebab.adapters.embedders.subwords import Subwords, best_cut, runs, with_beginnings, words
from kebab.errors import ModelUnavailable
from kebab.ports import EmbeddingKind

PAIRS = [
    ("데이터베이스 연결이 끊어지면 다시 시도합니다.", "If the database connection is lost, try again."),
    ("환율은 매일 아침에 갱신된다.", "Exchange rates are updated every morning."),
    ("이 함수는 정렬된 목록을 반환합니다.", "This function returns a sorted list."),
    ("컨테이너 이미지를 레지스트리에 올리는 방법", "How to push a container image to a registry"),
    ("고양이가 물을 마신다", "The cat drinks water"),
]
PIECES = [
    "a",
    "ab",
    "abc",
    "bcd",
    "rust",
    "c",
    "데이터",
    "데이터베이스",
    "베이스",
    "에서",
    "éa",
    "b",
    "bc",
    "cd",
    "er",
]
SCORES = [-5.0, -4.0, -9.0, -6.0, -3.0, -7.0, -2.0, -3.0, -2.0, -1.0, -4.0, -5.0, -5.5, -6.0, -2.0]
ANY_TEXT = st.one_of(
    st.text(),
    st.text(
        alphabet="abcdeAR _-./#'“”…·=\u0338\u0301\u212a\u037e\u3000데이터베스에서\u1103\u1166éÉ漢①\n",
        max_size=60,
    ),
)
TEXTS = ["", "!!!", "a", "한글", "Mixed 한글 text, HybridRetriever и кириллица", "long " * 3000]


@pytest.fixture(scope="module")
def model() -> StaticEmbedder:
    return StaticEmbedder()


@pytest.mark.parametrize("kind", list(EmbeddingKind))
def test_every_text_gets_a_vector_of_length_one(model: StaticEmbedder, kind: EmbeddingKind) -> None:
    vectors = model.embed(TEXTS, kind)

    assert vectors.shape == (len(TEXTS), model.dimensions)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-6)


def test_texts_without_known_tokens_share_one_fixed_vector(model: StaticEmbedder) -> None:
    empty, punctuation, word = model.embed(["", "?! …", "database"], EmbeddingKind.DOCUMENT)

    assert np.array_equal(empty, punctuation)
    assert not np.array_equal(empty, word)


def test_no_texts_give_no_rows(model: StaticEmbedder) -> None:
    assert model.embed([], EmbeddingKind.QUERY).shape == (0, model.dimensions)


def test_a_vector_does_not_depend_on_the_batch_to_the_bit(model: StaticEmbedder) -> None:
    texts = [text for pair in PAIRS for text in pair] + TEXTS
    together = model.embed(texts, EmbeddingKind.DOCUMENT)
    backwards = model.embed(texts[::-1], EmbeddingKind.DOCUMENT)[::-1]
    alone = np.concatenate([model.embed([text], EmbeddingKind.DOCUMENT) for text in texts])

    assert np.array_equal(together, backwards)
    assert np.array_equal(together, alone)


def test_another_process_gives_the_same_bits(model: StaticEmbedder) -> None:
    code = (
        "import sys; from kebab.adapters.embedders.static import StaticEmbedder as E;"
        "from kebab.ports import EmbeddingKind as K;"
        "sys.stdout.buffer.write(E().embed(['정렬된 목록 sorted list'], K.DOCUMENT).tobytes())"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert other == model.embed(["정렬된 목록 sorted list"], EmbeddingKind.DOCUMENT).tobytes()


def test_decomposed_hangul_is_the_same_text(model: StaticEmbedder) -> None:
    texts = [unicodedata.normalize(form, "데이터베이스") for form in ("NFC", "NFD")]
    composed, decomposed = model.embed(texts, EmbeddingKind.QUERY)

    assert np.array_equal(composed, decomposed)


def test_upper_case_is_the_same_text(model: StaticEmbedder) -> None:
    upper, lower = model.embed(["DATABASE INDEX", "database index"], EmbeddingKind.QUERY)

    assert np.array_equal(upper, lower)


@pytest.mark.parametrize("direction", [1, -1])
def test_a_sentence_is_nearest_to_its_translation(model: StaticEmbedder, direction: int) -> None:
    asked, targets = zip(*(pair[::direction] for pair in PAIRS), strict=True)
    cosines = model.embed(asked, EmbeddingKind.QUERY) @ model.embed(targets, EmbeddingKind.DOCUMENT).T

    assert cosines.argmax(axis=1).tolist() == list(range(len(PAIRS)))


def test_a_particle_hides_no_word(model: StaticEmbedder) -> None:
    asked = model.embed(["데이터베이스"], EmbeddingKind.QUERY)
    inflected, other = model.embed(["데이터베이스에서는", "목요일에서는"], EmbeddingKind.DOCUMENT)

    assert float(asked[0] @ inflected) > 0.7
    assert float(asked[0] @ other) < 0.3


def test_question_words_weigh_little_in_a_query(model: StaticEmbedder) -> None:
    bare, asked = model.embed(["garbage collection", "what is the garbage collection?"], EmbeddingKind.QUERY)

    assert float(bare @ asked) > 0.8


def test_an_identifier_is_cut_at_its_capitals_but_a_gene_name_is_not() -> None:
    assert runs("HybridRetriever") == ["hybrid", "retriever"]
    assert runs("find_similar") == ["find", "similar"]
    assert runs("siRNA") == ["sirna"]
    assert runs("HTTP를") == ["http", "를"]


def test_the_likeliest_cut_wins_and_unknown_characters_are_left_out() -> None:
    pieces = {"데이터": 0, "데이터베이스": 1, "베이스": 2, "에서": 3}

    assert best_cut("데이터베이스에서", pieces, pieces, [-2.0, -3.0, -2.0, -1.0]) == [1, 3]
    assert best_cut("데이터쀍에서", pieces, pieces, [-2.0, -3.0, -2.0, -1.0]) == [0, 3]


@given(st.text(alphabet="abcderust데이터베스에서é", max_size=60))
def test_tables_with_beginnings_give_the_same_cut(run: str) -> None:
    first = dict(zip(PIECES[:11], range(11), strict=True))
    inside = dict(zip(PIECES[11:], range(11, 15), strict=True))
    closed = best_cut(run, with_beginnings(first), with_beginnings(inside), SCORES, closed=True)

    assert closed == best_cut(run, first, inside, SCORES)


@given(ANY_TEXT)
def test_a_text_has_the_pieces_of_its_words_in_order(text: str) -> None:
    subwords = Subwords(PIECES, SCORES, continuing=11)
    parts = [runs(word) for word in words(text)]

    assert subwords.numbers(text) == [
        number for part in parts for run in part for number in subwords.numbers(run)
    ]


@given(ANY_TEXT)
def test_words_are_found_the_same_by_their_bytes(text: str) -> None:
    """Every character is a piece here, so that the pieces spell the words out."""
    pieces = sorted({char for word in words(text) for run in runs(word) for char in run})
    subwords = Subwords([*pieces, *pieces], [-1.0] * 2 * len(pieces), continuing=len(pieces))
    spelled = "".join(pieces[number % len(pieces)] for number in subwords.numbers(text))

    assert spelled == "".join(run for word in words(text) for run in runs(word))


def test_a_full_memory_changes_nothing() -> None:
    text = "rust abcd ABC 데이터베이스에서 “abc”…bcd rust"
    whole = Subwords(PIECES, SCORES, continuing=11).numbers(text)

    assert Subwords(PIECES, SCORES, continuing=11, memory=2).numbers(text) == whole


def test_a_missing_model_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"model\.json|cannot be read"):
        StaticEmbedder(tmp_path).embed(["a"], EmbeddingKind.QUERY)


def test_the_shipped_files_stay_under_32_megabytes() -> None:
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) <= 32_000_000


def test_the_model_is_ready_within_50_ms_of_processor_time() -> None:
    code = (
        "import json, time, numpy; from kebab.adapters.embedders.static import StaticEmbedder as E;"
        "from kebab.ports import EmbeddingKind as K; t = time.process_time();"
        "E().embed(['hello 안녕하세요'], K.QUERY); print(json.dumps(time.process_time() - t))"
    )
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, check=True) for _ in range(3)]

    assert min(json.loads(run.stdout) for run in runs) < 0.05


def test_two_thousand_chunks_a_second_on_one_core(model: StaticEmbedder) -> None:
    text = " ".join(f"{left} {right}" for left, right in PAIRS)
    chunks = [f"{number} " + " ".join([text] * 5) for number in range(300)]
    model.embed(chunks, EmbeddingKind.DOCUMENT)
    began = time.process_time()
    model.embed(chunks, EmbeddingKind.DOCUMENT)

    assert len(chunks) / (time.process_time() - began) > 2000


def test_it_travels_to_another_process_without_its_table() -> None:
    embedder = StaticEmbedder()
    here = embedder.embed(["소유권 rules"], EmbeddingKind.DOCUMENT)
    packed = pickle.dumps(embedder)
    assert len(packed) < 1000
    there: StaticEmbedder = pickle.loads(packed)
    assert np.array_equal(there.embed(["소유권 rules"], EmbeddingKind.DOCUMENT), here)
