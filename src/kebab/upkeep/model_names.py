"""Embedding models by name: which there are, which one a word means, and how one is registered."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab.disk.private import make_folder, open_private, replacing
from kebab.domain.reports import ModelStatus
from kebab.errors import Corrupt, InvalidInput, StorageError
from kebab.ports import ModelKey

BUILT_IN = "static"
NONE = "none"
ONNX = "onnx"
REMOTE = ("fastembed", "ollama", "openai")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Choice:
    """A model as the configuration names it."""

    provider: str
    model: str = ""
    path: str = ""

    @property
    def keys(self) -> dict[str, str]:
        """What to write into ``[models.embedding]``; an empty value takes the key away."""
        return {"provider": self.provider, "model": self.model, "path": self.path}


@dataclass(frozen=True, slots=True)
class Registry:
    """The folders that ``models add`` registered, by name, in a small file."""

    file: Path

    def folders(self) -> dict[str, Path]:
        """By name, sorted. Raises Corrupt for a file that cannot be understood."""
        try:
            with os.fdopen(open_private(self.file), "rb") as file:
                found = json.loads(file.read())
            return {str(name): Path(found[name]) for name in sorted(found)}
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise StorageError(f"{self.file} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise Corrupt(
                f"{self.file} cannot be understood: {error}", hint="remove it and register the models again"
            ) from error

    def add(self, name: str, folder: Path) -> None:
        """Register a folder, in place of an earlier one of that name."""
        if not _NAME.fullmatch(name) or name in (BUILT_IN, NONE):
            raise InvalidInput(f"{name!r} cannot be a model's name", hint="letters, digits, dot and dash")
        known = {**self.folders(), name: folder}
        try:
            make_folder(self.file.parent)
            text = json.dumps({key: str(path) for key, path in known.items()}, ensure_ascii=False, indent=1)
            with replacing(self.file) as draft:
                draft.write(text.encode())
        except OSError as error:
            raise StorageError(f"{self.file} cannot be written: {error.strerror}") from error


def choose(name: str, *, registered: Mapping[str, Path], built_in: str) -> Choice:
    """What a name means: ``static``, ``none``, a registered name, a folder, or ``provider:model``.

    A bare ``owner/model`` is one of fastembed's. Raises InvalidInput for anything else, naming what there is.
    """
    if name in (BUILT_IN, built_in):
        return Choice(BUILT_IN)
    if name == NONE:
        return Choice(NONE)
    if name in registered:
        return Choice(ONNX, path=str(registered[name]))
    provider, colon, model = name.partition(":")
    if colon and provider in REMOTE and model:
        return Choice(provider, model=model)
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        return Choice(ONNX, path=str(folder.absolute()))
    if re.match(r"\A\w[\w.-]*+/\w[\w.-]*+\Z", name):
        return Choice("fastembed", model=name)
    known = ", ".join([BUILT_IN, NONE, *registered, *(f"{provider}:MODEL" for provider in REMOTE)])
    raise InvalidInput(f"there is no model {name!r}", hint=f"one of {known}, or the folder of an ONNX model")


def listed(
    statuses: Iterable[ModelStatus], *, cached: Mapping[ModelKey, int], active: ModelKey | None
) -> list[ModelStatus]:
    """The statuses, each once, and models that are known only by the vectors kept of them."""
    found = list({(status.provider, status.model_id): status for status in statuses}.values())
    names = {status.model_id for status in found}
    for key, count in cached.items():
        current = key == active
        if not current and (key.model_id not in names or (active and key.model_id == active.model_id)):
            note = f"vectors of version {key.version} are kept"
            found.append(ModelStatus("?", key.model_id, key.dimensions, False, count, note))
    return found
