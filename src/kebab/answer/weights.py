"""The fitted weights of gate and selection: the file that ships, or one that ``kebab eval tune`` wrote."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files
from pathlib import Path

import msgspec

from kebab.answer.gate import GateWeights
from kebab.answer.measured import FEATURES
from kebab.domain.answers import GATE_FEATURES
from kebab.errors import InvalidInput


class Fitted(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What training writes; see training/answers/README.md."""

    about: str
    selection: dict[str, float]
    gate: dict[str, float]
    bias: float
    means: dict[str, float]

    @property
    def gate_weights(self) -> GateWeights:
        return GateWeights(self.bias, self.gate, self.means)


@lru_cache(maxsize=4)
def load_weights(path: Path | None = None) -> Fitted:
    """The weights of a file, or those that ship. Raises InvalidInput, naming what is missing."""
    name = str(path or "weights.json")
    try:
        body = path.read_bytes() if path else (files("kebab.answer") / "weights.json").read_bytes()
    except OSError as error:
        raise InvalidInput(
            f"{name} holds no weights: {error.strerror}", hint="set rag.weights to what kebab eval tune wrote"
        ) from error
    try:
        found = msgspec.json.decode(body, type=Fitted)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidInput(
            f"{name} holds no weights: {error}", hint="kebab eval tune writes such a file"
        ) from error
    missing = [x for x in FEATURES if x not in found.selection] + [
        x for x in GATE_FEATURES if x not in found.gate
    ]
    if missing:
        raise InvalidInput(f"{name} lacks {', '.join(missing)}", hint="run kebab eval tune again")
    return found


def fitted(
    *, selection: dict[str, float], bias: float, gate: dict[str, float], means: dict[str, float]
) -> Fitted:
    """Weights that a fit has found."""
    return Fitted("fitted by kebab eval tune", selection, gate, bias, means)


def to_json(weights: Fitted) -> bytes:
    """What ``load_weights`` reads."""
    return msgspec.json.format(msgspec.json.encode(weights), indent=1) + b"\n"
