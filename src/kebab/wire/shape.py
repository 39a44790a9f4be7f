"""What every wire object is: a frozen struct whose first key, ``schema_version``, names its schema."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from kebab.domain.controls import harmless_json

S = TypeVar("S", bound=msgspec.Struct)


class Shape(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an object that has no schema of its own."""


def of(source: object, shape: type[S], **replaced: Any) -> S:
    """The shape of a domain value: each key is the attribute of that name, or stands in ``replaced``.

    Keys the value does not have keep their default; a key without one raises, so that a shape cannot
    silently lose what it promises.
    """
    values = {key: value for key, value in replaced.items() if value is not msgspec.UNSET}
    # Not msgspec.structs.fields: it evaluates the annotations anew each time, half a millisecond for a hit.
    for name in shape.__struct_fields__:
        if name not in replaced and hasattr(source, name):
            values[name] = getattr(source, name)
    config = shape.__struct_config__
    if config.tag_field:
        values[config.tag_field] = config.tag
    return msgspec.convert(values, shape, from_attributes=True)


def encode(shape: object) -> bytes:
    """One line of JSON. Equal values give equal bytes: declared key order, sorted maps, shortest floats.

    Characters that a terminal would obey are escaped.
    """
    return harmless_json(msgspec.json.encode(shape, order="deterministic"))
