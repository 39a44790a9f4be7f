"""A few numbers that tell near-copies of a text apart from other texts, whatever file they were read from.

Of all stretches of so many letters the ones with the smallest hashes are kept (Broder 1997, bottom-k): texts
that share most of their stretches share most of these. Only letters and digits count, and no targets of
links, so that a page, its PDF and its source give nearly the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from kebab.domain.progress import Cancelled
from kebab.domain.sketches import NUMBERS
from kebab.domain.turns import Turns
from kebab.ports import DocumentStore

if TYPE_CHECKING:
    from numpy.typing import NDArray

_STRETCH = 24
_LONGEST = 1_000_000
"""Bytes of a text that are looked at: books that begin alike for so long are copies."""
# Targets of links, tags, and signs beyond ASCII that are no letters: bullets come from fonts of signs, too.
_SILENT = re.compile(
    r"\]\([^()\s]*\)|<[^<>\n]{1,300}>|https?://[^\s)>\]]+"
    "|[\u0080-\u00bf\u2000-\u2bff\u2e00-\u2e7f\u3000-\u303f\ue000-\uf8ff\ufe00-\ufe6f\uff00-\uff0f]+"
)
_OTHER = bytes(code for code in range(128) if not chr(code).isalnum())
_ENOUGH = 8 * NUMBERS
"""Of the smallest, so that enough distinct ones are among them; repeated lines give the same ones."""
_AT_ONCE = 200
_PRIME = 0x100000001B3


def sketch(text: str) -> bytes:
    """The smallest distinct hashes, at most NUMBERS, as 32-bit numbers in order; the same on every machine.

    Empty for a text without letters and digits.
    """
    import numpy as np

    letters = _SILENT.sub(" ", text[:_LONGEST]).lower().encode("utf-8", "ignore").translate(None, _OTHER)
    if not letters:
        return b""
    hashes = _hashes(np.frombuffer(letters.ljust(_STRETCH), np.uint8).astype(np.uint64))
    # Sorted, and each once.
    smallest = np.unique(np.partition(hashes, _ENOUGH)[:_ENOUGH] if len(hashes) > _ENOUGH else hashes)
    return smallest[:NUMBERS].astype("<u4").tobytes()


def sketch_the_rest(store: DocumentStore, turns: Turns, cancelled: Cancelled) -> None:
    """Make the sketches that are missing, of texts that were stored before there were any."""
    while not cancelled():
        with turns.turn():
            some = store.unsketched(limit=_AT_ONCE)
            if not some:
                return
            store.put_sketches({doc_id: sketch(store.source_text(doc_id) or "") for doc_id in some})


def _hashes(codes: NDArray[Any]) -> NDArray[Any]:
    """A hash of every stretch, made in five passes: of 1, 2, 4, 8, 16 and 16 + 8 bytes."""
    import numpy as np

    found = {1: codes}
    for size in (1, 2, 4, 8):
        before = found[size]
        found[2 * size] = before[:-size] * _power(size) + before[size:]
    whole = found[16][: len(codes) - _STRETCH + 1] * _power(8) + found[8][16 : len(codes) - 7]
    # The upper bits of a product depend on every byte; another product makes the smallest ones a fair sample.
    mixed: NDArray[Any] = (whole ^ (whole >> np.uint64(29))) * np.uint64(0x9E3779B97F4A7C15)
    return mixed >> np.uint64(32)


def _power(size: int) -> Any:
    import numpy as np

    return np.uint64(pow(_PRIME, size, 1 << 64))
