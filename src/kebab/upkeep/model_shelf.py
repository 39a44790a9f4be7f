"""Embedding models: what there is, switching, registering."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import msgspec

from kebab import config
from kebab.config import Settings, trust
from kebab.config.sections import EmbeddingModel
from kebab.domain.layout import DataLayout
from kebab.domain.reports import ModelStatus
from kebab.errors import ConfigNotFound, EngineError
from kebab.ports import Embedder, ModelKey, StoreAccess
from kebab.upkeep.model_names import Choice, Registry, choose, listed


class EmbeddingModels(Protocol):
    """The embedding models that can be built."""

    @property
    def embedder(self) -> Embedder | None:
        """The configured model, None where words alone are configured. Raises ModelUnavailable, Timeout."""
        ...

    @property
    def embedder_or_none(self) -> Embedder | None:
        """The same, and None too where the model cannot be loaded."""
        ...

    def build_embedder(self, model: EmbeddingModel) -> Embedder | None: ...

    def fastembed_models(self) -> list[tuple[str, int]]:
        """What could be downloaded, with dimensions; raises ModelUnavailable without the package."""
        ...


@dataclass(frozen=True, slots=True)
class ModelShelf:
    """Embedding models by name: lists, builds, registers and switches them."""

    settings: Settings
    layout: DataLayout
    available: EmbeddingModels
    access: StoreAccess

    def models(self, *, everything: bool = False) -> list[ModelStatus]:
        cached = self._cached_vectors()
        active = self.settings.models.embedding
        choices = [Choice(active.provider, active.model, active.path), Choice("static")]
        choices += [Choice("onnx", path=str(folder)) for folder in self._registry.folders().values()]
        statuses = [self._status(choice, cached) for choice in dict.fromkeys(choices)]
        if everything:
            statuses += self._downloadable()
        embedder = self.available.embedder_or_none
        return listed(statuses, cached=cached, active=_key(embedder))

    def use_model(self, name: str) -> ModelStatus:
        from kebab.upkeep.edit_config import edited, write_whole

        file = self.settings.file
        self.access.forbid_readonly("models use")
        if file is None:
            raise ConfigNotFound("there is no configuration file to change", hint="kebab init writes one")
        choice = self.choice(name)
        # Loaded before it is written down: a name that cannot be used must not break every later search.
        _key(self.build(choice))
        with trust.kept(file):
            write_whole(file, edited(file.read_text(encoding="utf-8-sig"), "models.embedding", choice.keys))
        status = self._status(choice, self._cached_vectors())
        told = config.load(file).models.embedding.provider
        note = f"the environment still says {told}" if told != choice.provider else status.note
        return replace(status, active=told == choice.provider, note=note)

    def add_model(self, folder: Path, *, name: str | None) -> ModelStatus:
        self.access.forbid_readonly("models add")
        absolute = folder.expanduser().absolute()
        choice = Choice("onnx", path=str(absolute))
        _key(self.build(choice))
        self._registry.add(name or absolute.name, absolute)
        return self._status(choice, self._cached_vectors())

    @property
    def _registry(self) -> Registry:
        return Registry(self.layout.registered_models)

    def choice(self, name: str) -> Choice:
        built_in = self.available.build_embedder(EmbeddingModel())
        return choose(
            name, registered=self._registry.folders(), built_in=built_in.model_id if built_in else "static"
        )

    def build(self, choice: Choice) -> Embedder | None:
        """The model, with what the configuration says of all models, such as threads."""
        configured = msgspec.structs.replace(self.settings.models.embedding, **choice.keys)
        return self.available.build_embedder(configured)

    def _cached_vectors(self) -> dict[ModelKey, int]:
        stores = self.access.reading_or_none
        return stores.embeddings.models() if stores else {}

    def _status(self, choice: Choice, cached: dict[ModelKey, int]) -> ModelStatus:
        configured = self.settings.models.embedding
        active = choice.keys == Choice(configured.provider, configured.model, configured.path).keys
        named = next((n for n, f in self._registry.folders().items() if str(f) == choice.path), "")
        try:
            embedder = self.build(choice)
            key = _key(embedder)
        except EngineError as error:
            name = choice.model or named or choice.path
            return ModelStatus(choice.provider, name, None, active, 0, f"cannot be used: {error.message}")
        if key is None:
            return ModelStatus(choice.provider, "none", None, active, 0, "search goes by words alone")
        note = f"registered as {named}" if named else "built in" if choice.provider == "static" else ""
        return ModelStatus(choice.provider, key.model_id, key.dimensions, active, cached.get(key, 0), note)

    def _downloadable(self) -> list[ModelStatus]:
        return [
            ModelStatus("fastembed", name, dimensions, False, 0, "downloaded at first use")
            for name, dimensions in self.available.fastembed_models()
        ]


def _key(embedder: Embedder | None) -> ModelKey | None:
    return ModelKey.of(embedder) if embedder else None
