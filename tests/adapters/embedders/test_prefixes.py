"""What each family of models wants to read before a text, and the shape every vector is brought to."""

from __future__ import annotations

import numpy as np
import pytest

from kebab.adapters.embedders.prefixes import prefixes_of
from kebab.adapters.embedders.unit import unit_rows
from kebab.errors import ModelMismatch, ModelUnavailable
from kebab.ports import EmbeddingKind


@pytest.mark.parametrize(
    "model",
    ["intfloat/multilingual-e5-small", "Xenova/multilingual-E5-large", "intfloat/e5-base-v2", "my_e5_model"],
)
def test_e5_models_are_known_by_their_name(model: str) -> None:
    prefixes = prefixes_of(model)
    assert prefixes.apply("좌석", EmbeddingKind.QUERY) == "query: 좌석"
    assert prefixes.apply("좌석", EmbeddingKind.DOCUMENT) == "passage: 좌석"


@pytest.mark.parametrize(
    "model", ["intfloat/multilingual-e5-large-instruct", "intfloat/e5-mistral-7b-instruct"]
)
def test_e5_models_trained_on_instructions_want_them_before_queries_alone(model: str) -> None:
    prefixes = prefixes_of(model)
    assert prefixes.query.startswith("Instruct: ")
    assert prefixes.query.endswith("\nQuery: ")
    assert prefixes.document == ""


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("nomic-embed-text", "search_query: ", "search_document: "),
        ("Snowflake/snowflake-arctic-embed-l-v2.0", "query: ", ""),
        ("BAAI/bge-small-en-v1.5", "Represent this sentence for searching relevant passages: ", ""),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: ", ""),
        ("BAAI/bge-m3", "", ""),
        ("base512-code5", "", ""),
        ("sentence-transformers/all-MiniLM-L6-v2", "", ""),
    ],
)
def test_other_families_have_their_own_prefixes_or_none(model: str, query: str, document: str) -> None:
    assert (prefixes_of(model).query, prefixes_of(model).document) == (query, document)


def test_rows_are_brought_to_length_1_and_zeros_to_one_fixed_direction() -> None:
    rows = unit_rows([[3.0, 4.0], [0.0, 0.0]], dimensions=2, model="m")
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.5**0.5, 0.5**0.5]], atol=1e-7)
    assert rows.dtype == np.float32


def test_no_rows_keep_the_dimensions() -> None:
    assert unit_rows([], dimensions=7, model="m").shape == (0, 7)


def test_rows_of_another_length_are_refused() -> None:
    with pytest.raises(ModelMismatch, match=r"m returned vectors of \[2, 3\] dimensions instead of 2"):
        unit_rows([[1.0, 0.0], [1.0, 0.0, 0.0]], dimensions=2, model="m")


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_vector_that_is_no_number_is_refused_and_not_made_into_one(number: float) -> None:
    with pytest.raises(ModelUnavailable, match="not finite"):
        unit_rows([[1.0, number]], dimensions=2, model="m")
