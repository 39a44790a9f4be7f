"""The models that the settings name; ``downloads`` is where fastembed keeps what it fetched."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.choice import chosen
from kebab.assembly.network import OLLAMA
from kebab.config.sections import EmbeddingModel, LlmModel, RerankerModel
from kebab.errors import ConfigInvalid, ModelUnavailable

if TYPE_CHECKING:
    from kebab.ports import Embedder, LanguageModel, Reranker


def build_embedder(model: EmbeddingModel, *, downloads: Path) -> Embedder | None:
    """The embedder, or None where the settings ask for words alone."""
    builders: dict[str, Callable[[EmbeddingModel], Embedder | None]] = {
        "static": _static,
        "fastembed": partial(_fastembed, downloads=downloads),
        "onnx": _onnx,
        "ollama": _ollama,
        "openai": _openai,
        "none": lambda _: None,
    }
    return chosen(builders, model.provider, key="models.embedding.provider")(model)


def build_reranker(model: RerankerModel, *, downloads: Path) -> Reranker | None:
    """The reranker, or None where the order of the search stands."""
    builders: dict[str, Callable[[RerankerModel], Reranker | None]] = {
        "none": lambda _: None,
        "fastembed": partial(_fastembed_reranker, downloads=downloads),
    }
    return chosen(builders, model.provider, key="models.reranker.provider")(model)


def build_language_model(model: LlmModel) -> LanguageModel | None:
    """The language model, or None where answers are extracted without one."""
    builders: dict[str, Callable[[LlmModel], LanguageModel | None]] = {
        "extractive": lambda _: None,
        "ollama": _ollama_llm,
        "openai": _openai_llm,
    }
    return chosen(builders, model.provider, key="models.llm.provider")(model)


def _static(_: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.static import StaticEmbedder

    return StaticEmbedder()


def _fastembed(model: EmbeddingModel, *, downloads: Path) -> Embedder:
    from kebab.adapters.embedders.fastembed import FastembedEmbedder

    return FastembedEmbedder(
        model.model,
        cache_dir=downloads,
        threads=model.threads or None,
        folder=Path(model.path) if model.path else None,
    )


def _onnx(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.onnx_folder import OnnxFolderEmbedder

    if not model.path:
        raise ConfigInvalid("models.embedding.path is empty", hint="the folder of an ONNX model")
    return OnnxFolderEmbedder(Path(model.path), threads=model.threads or None)


def _ollama(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.remote import ollama_embedder

    return ollama_embedder(model.model, endpoint=model.endpoint or OLLAMA)


def _openai(model: EmbeddingModel) -> Embedder:
    from kebab.adapters.embedders.remote import openai_embedder

    if not model.endpoint:
        raise ConfigInvalid("models.embedding.endpoint is empty", hint="such as http://127.0.0.1:8080/v1")
    return openai_embedder(model.model, endpoint=model.endpoint, api_key=secret(model.api_key_env))


def _fastembed_reranker(model: RerankerModel, *, downloads: Path) -> Reranker:
    from kebab.adapters.rerankers.fastembed import FastembedReranker

    return FastembedReranker(
        model.model,
        cache_dir=downloads,
        threads=model.threads or None,
        folder=Path(model.path) if model.path else None,
    )


def _ollama_llm(model: LlmModel) -> LanguageModel:
    from kebab.adapters.llms.ollama import OllamaLanguageModel

    return OllamaLanguageModel(
        model.model,
        endpoint=model.endpoint or OLLAMA,
        temperature=model.temperature,
        seed=model.seed,
        timeout_s=model.timeout_s,
        context_tokens=model.context_tokens,
    )


def _openai_llm(model: LlmModel) -> LanguageModel:
    from kebab.adapters.llms.openai_compatible import OpenAiLanguageModel

    return OpenAiLanguageModel(
        model.model,
        endpoint=model.endpoint,
        api_key=secret(model.api_key_env),
        temperature=model.temperature,
        seed=model.seed,
        timeout_s=model.timeout_s,
        context_tokens=model.context_tokens,
    )


def secret(variable: str) -> str | None:
    """A key from the environment; None when no variable is named. Raises when the named one is empty."""
    if not variable:
        return None
    value = os.environ.get(variable, "")
    if not value:
        raise ModelUnavailable(f"the environment variable {variable} is empty", hint=f"export {variable}=…")
    return value
