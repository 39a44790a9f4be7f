"""Vectors of records as bytes: float32, little-endian on every machine."""

from __future__ import annotations

from array import array
from sys import byteorder


def pack(embedding: tuple[float, ...]) -> bytes:
    values = array("f", embedding)
    if byteorder == "big":
        values.byteswap()
    return values.tobytes()


def unpack(content: bytes) -> tuple[float, ...]:
    values = array("f")
    values.frombytes(content)
    if byteorder == "big":
        values.byteswap()
    return tuple(values)
