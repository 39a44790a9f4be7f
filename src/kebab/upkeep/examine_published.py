"""The check of what was published elsewhere and is read here."""

from __future__ import annotations

from kebab.domain.plurals import count_of
from kebab.domain.publications import Release
from kebab.domain.reports import Check, CheckStatus
from kebab.errors import EngineError
from kebab.ports import Publication

NAME = "published"


def examine_published(publication: Publication, here: Release) -> Check:
    """Which release is read, of whom, and whether it is the newest. An address that is away is a warning."""
    told = f"release {here.number} of {publication.uri}: {_parts(here)}"
    try:
        newest = publication.newest()
    except EngineError as error:
        return Check(NAME, CheckStatus.WARNING, f"{told}; {error.message}", error.hint)
    if newest is None or newest.number != here.number:
        there = "nothing" if newest is None else f"release {newest.number}"
        return Check(NAME, CheckStatus.WARNING, f"{told}; {there} is there now", "open it again")
    return Check(NAME, CheckStatus.OK, f"{told}; the newest")


def _parts(release: Release) -> str:
    found = [
        f"{part.publisher} ({count_of(part.contents.documents, 'document')}, {part.contents.published_at})"
        for part in release.parts
    ]
    return ", ".join(found) or "nobody's"
