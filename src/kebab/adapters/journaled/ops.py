"""What a line of the journal says, as JSON: a record was put, records were removed, two runs were linked."""

from __future__ import annotations

from copy import copy
from typing import Any

import msgspec

from kebab.adapters.packed import pack, unpack
from kebab.domain.executions import Execution, TaskRecord
from kebab.domain.learning import RetiredDay
from kebab.ports import MemoryKind


class Put(msgspec.Struct, frozen=True, tag="put", tag_field="op"):
    """``body`` is the record without its embedding, ``vector`` the embedding packed in single precision."""

    kind: MemoryKind
    body: msgspec.Raw
    vector: bytes | None = None
    model: str | None = None


class Remove(msgspec.Struct, frozen=True, tag="remove", tag_field="op"):
    """``days`` are added to the retired days in the same step."""

    kind: MemoryKind
    ids: list[str]
    days: list[RetiredDay] = []


class Link(msgspec.Struct, frozen=True, tag="link", tag_field="op"):
    cause: str
    effect: str


Op = Put | Remove | Link

_decoder: msgspec.json.Decoder[Op] = msgspec.json.Decoder(Put | Remove | Link)
_bodies: dict[MemoryKind, msgspec.json.Decoder[Any]] = {}


def encoded(op: Op) -> bytes:
    return msgspec.json.encode(op)


def decoded(payload: bytes) -> Op:
    return _decoder.decode(payload)


def put(record: Execution | TaskRecord) -> Put:
    """The line that records this."""
    kind = MemoryKind.EXECUTIONS if isinstance(record, Execution) else MemoryKind.TASKS
    bare = copy(record)
    for name in ("embedding", "embedding_model"):
        object.__setattr__(bare, name, None)
    vector = None if record.embedding is None else pack(record.embedding)
    return Put(kind, msgspec.Raw(msgspec.json.encode(bare)), vector, record.embedding_model)


def record_of(kind: MemoryKind, body: bytes, vector: bytes | None, model: str | None) -> Any:
    """The record again, equal to what was put."""
    if kind not in _bodies:
        _bodies[kind] = msgspec.json.Decoder(Execution if kind is MemoryKind.EXECUTIONS else TaskRecord)
    record = _bodies[kind].decode(body)
    if vector is not None:
        # Set, not replaced: all fields would be checked a second time, which takes longer than the rest.
        object.__setattr__(record, "embedding", unpack(vector))
        object.__setattr__(record, "embedding_model", model)
    return record
