"""What may be contacted over the network."""

from __future__ import annotations

from kebab.config import Settings
from kebab.errors import redacted

OLLAMA = "http://127.0.0.1:11434"
"""Where Ollama listens when the settings name no endpoint."""


def endpoints(settings: Settings) -> tuple[str, ...]:
    """Every network address that these settings may contact, sorted; none of them shows its credentials."""
    models = settings.models
    asked = (models.embedding, models.llm, models.speech, models.vision)
    found = {_endpoint(model.provider, model.endpoint) for model in asked}
    local = (models.embedding, models.reranker)
    if any(model.provider == "fastembed" and not model.path for model in local):
        found.add("https://huggingface.co (fastembed, to download the model once)")
    url = settings.memory.url
    found.add(url if url.startswith(("ws:", "wss:", "http:", "https:")) else "")
    index = settings.index.url
    found.add(index if "://" in index and not index.startswith("file:") else "")
    found.add(settings.ingest.on if "://" in settings.ingest.on else "")
    return tuple(sorted(redacted(address) for address in found - {""}))


def _endpoint(provider: str, endpoint: str) -> str:
    return (endpoint or {"ollama": OLLAMA}.get(provider, "")) if provider in ("ollama", "openai") else ""
