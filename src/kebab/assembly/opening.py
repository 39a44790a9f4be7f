"""Which engines a knowledge base is opened with: the whole of it, or what is inside walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kebab.assembly.engines import Engines
from kebab.domain.turns import Waiting

if TYPE_CHECKING:
    from kebab.assembly.publications import Published
    from kebab.config import Settings
    from kebab.domain.walls import Walls


def build_engines(
    settings: Settings,
    *,
    readonly: bool,
    waiting: Waiting,
    walls: Walls | None = None,
    published: Published | None = None,
) -> Engines:
    """The engines, inside walls where there are some. Raises InvalidInput for a wall that fits nothing.

    ``published`` is the release that the data folder holds, where it is a replica's.
    """
    if not walls:
        return Engines(settings, readonly=readonly, waiting=waiting, published=published)
    from kebab.assembly.walled import build_walled

    return build_walled(settings, readonly=readonly, waiting=waiting, walls=walls, published=published)
