"""What ``--verbose`` tells of the settings that a command runs with."""

from __future__ import annotations

from kebab.config import Settings
from kebab.errors import redacted


def details(settings: Settings) -> list[str]:
    """One line for each thing that decides what a command finds. No credentials, no keys."""
    embedding, llm = settings.models.embedding, settings.models.llm
    speech, vision = settings.models.speech, settings.models.vision
    return [
        f"configuration: {settings.file or 'no file; using the defaults'}",
        f"data: {settings.data_dir}",
        *(f"source {source.id}: {source.root}" for source in settings.sources),
        f"embedding model: {_model(embedding.provider, embedding.model, embedding.path, embedding.endpoint)}",
        f"language model: {_model(llm.provider, llm.model, llm.endpoint)}",
        f"speech: {_model(speech.provider, speech.model, speech.path, speech.endpoint)}",
        f"captions: {_model(vision.provider, vision.model, vision.endpoint)}",
        f"memory: {redacted(settings.memory.url) or settings.data_dir / 'memory'}",
    ]


def _model(*parts: str) -> str:
    return redacted(" ".join(part for part in parts if part))
