"""Tar archives from strangers: plain files read one by one within limits, nothing written."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from io import BytesIO

from kebab.ingest.parse.archive import TOO_LARGE, Refused
from kebab.ingest.parse.reading import ReadLimits


def tar_files(content: bytes, limits: ReadLimits, *, ending: str) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of the files whose names end so, in order; links, devices and folders are passed over.

    A name is only a name: nothing is written there. Raises Refused for what is no archive or breaks off, and
    for one that holds more than the limits allow. A tar is not compressed, but a sparse file in it may say
    that it is a terabyte of nothing.
    """
    left = min(limits.expanded_bytes, max(len(content), 1))
    try:
        with tarfile.open(fileobj=BytesIO(content), mode="r:") as archive:
            for member in archive:
                if not member.isfile() or not member.name.endswith(ending):
                    continue
                if member.size > left:
                    raise Refused(TOO_LARGE)
                left -= member.size
                file = archive.extractfile(member)
                yield member.name, file.read() if file else b""
    except (tarfile.TarError, OSError, EOFError, ValueError, OverflowError) as error:
        if isinstance(error, Refused):
            raise
        raise Refused("damaged: not a tar archive as it should be") from error
