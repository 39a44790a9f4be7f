"""ZIP archives and XML from strangers: read within limits, nothing written, nothing fetched."""

from __future__ import annotations

import posixpath
import struct
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from zipfile import BadZipFile, LargeZipFile, ZipFile

from kebab.ingest.parse.parsed import Defaults, Parsed, Unreadable
from kebab.ingest.parse.reading import FREE_BYTES, ReadLimits

_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_ENCRYPTED = 0x1
_LINKED = "r:"
# ValueError and struct.error: a header that says it lies before the file's beginning, or is cut.
_UNPACKING = (
    BadZipFile,
    zlib.error,
    struct.error,
    OSError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    ValueError,
)
TOO_LARGE = "it would unpack to more than ingest.max_expanded_mb or ingest.max_expansion allow"


class Refused(ValueError):
    """Why a file is not read, for people."""


class Archive:
    """The files inside a file. ``read`` counts what is unpacked and raises Refused above the limits."""

    def __init__(self, content: bytes, limits: ReadLimits) -> None:
        """Raises Refused for what is no archive, is encrypted, or says that it is too large."""
        if content.startswith(_OLD_OFFICE):
            raise Refused(
                "encrypted with a password, or in the format of Office 97; save it anew without one"
            )
        try:
            self._zip = ZipFile(BytesIO(content))
        except (LargeZipFile, *_UNPACKING) as error:
            raise Refused("damaged: not a ZIP archive as it should be") from error
        self.limits = limits
        self.names = frozenset(self._zip.namelist())
        self._left = max(FREE_BYTES, min(limits.expanded_bytes, limits.expansion * len(content)))
        self._left = min(self._left, limits.expanded_bytes)
        if any(entry.flag_bits & _ENCRYPTED for entry in self._zip.infolist()):
            raise Refused("encrypted: it opens with a password only; save a copy without one")

    def read(self, name: str) -> bytes:
        """The bytes of a file inside; Refused where it is not there, damaged, or too large."""
        try:
            with self._zip.open(name) as file:
                # What the archive says of sizes may be a lie.
                content = file.read(self._left + 1)
        except KeyError as error:
            raise Refused(f"damaged: {name} is missing in it") from error
        except _UNPACKING as error:
            raise Refused(f"damaged: {name} in it cannot be unpacked") from error
        self._left -= len(content)
        if self._left < 0:
            raise Refused(TOO_LARGE)
        return content

    def measure(self) -> None:
        """Raises Refused where what is inside says that it is too large; for engines that unpack alone."""
        if sum(entry.file_size for entry in self._zip.infolist()) > self._left:
            raise Refused(TOO_LARGE)

    def xml(self, name: str) -> Element:
        """A file inside as a tree of local names; Refused as for ``read`` and for what is no XML."""
        return read_xml(self.read(name), self.limits)

    def links(self, name: str) -> dict[str, tuple[str, str]]:
        """What a part of an Office file refers to inside the archive: id → (kind, name)."""
        folder, file = posixpath.split(name)
        listed = posixpath.join(folder, "_rels", f"{file}.rels")
        if listed not in self.names:
            return {}
        found = {}
        for link in self.xml(listed).iter("Relationship"):
            target = link.get("Target", "")
            inside = target.lstrip("/") if target.startswith("/") else posixpath.join(folder, target)
            if link.get("TargetMode") != "External":
                kind = link.get("Type", "").rpartition("/")[2]
                found[link.get("Id", "")] = (kind, posixpath.normpath(inside))
        return found


def read_xml(content: bytes, limits: ReadLimits) -> Element:
    """A tree whose tags and attributes have no namespace, except for ``r:…``, which names links.

    Raises Refused for what is no XML, for entities that it declares, and above the depth of ``nesting``.
    """
    builder = TreeBuilder()
    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > limits.nesting:
            raise Refused(f"its XML is nested deeper than {limits.nesting} levels (ingest.max_nesting)")
        builder.start(_local(tag), {_attribute(name): value for name, value in attributes.items()})

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(_local(tag))

    def entity(*_: object) -> None:
        raise Refused("its XML declares entities, which could expand without end")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler = builder.data
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(content, True)
        return builder.close()
    except expat.ExpatError as error:
        raise Refused(f"damaged: its XML breaks off or is no XML ({error})") from error
    except (LookupError, AssertionError) as error:
        raise Refused("damaged: its XML is in an unknown encoding, or empty") from error


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _attribute(name: str) -> str:
    space, _, local = name.rpartition("}")
    return _LINKED + local if space.endswith("/relationships") else local


@dataclass(frozen=True, slots=True)
class Archived:
    """A parser of bytes, made of one that reads an archive."""

    parse: Callable[[Archive, Defaults], Parsed | Unreadable]

    def __call__(self, content: bytes, defaults: Defaults) -> Parsed | Unreadable:
        try:
            return self.parse(Archive(content, defaults.reading.limits), defaults)
        except Refused as error:
            return Unreadable(str(error))
