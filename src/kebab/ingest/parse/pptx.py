"""PPTX: the words of each slide, its tables and the speaker's notes; a slide is a place."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from kebab.domain.documents import BlockKind, Media
from kebab.domain.places import Slide
from kebab.ingest.chunk import by_place
from kebab.ingest.parse.archive import Archive, Archived, Refused
from kebab.ingest.parse.compose import Composer
from kebab.ingest.parse.office import about
from kebab.ingest.parse.parsed import Defaults, Format, Parsed, Unreadable

VERSION = "pptx-v2"

_MAIN = "ppt/presentation.xml"
_TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})


def parse_pptx(archive: Archive, defaults: Defaults) -> Parsed | Unreadable:
    composer = Composer()
    limit = defaults.reading.limits.pages
    slides = list(_slides(archive))
    for number, name in enumerate(slides[:limit], 1):
        _read_slide(archive, name, composer, Slide(number))
    found = about(archive, defaults)
    warnings = [f"only the first {limit} of {len(slides)} slides are read (ingest.max_pages)"]
    return composer.parsed(
        found.title, defaults, metadata=found.metadata, warnings=warnings if len(slides) > limit else ()
    )


FORMAT = Format(Media.SLIDES, VERSION, Archived(parse_pptx), by_place.CHUNKER, isolated=True)


def _slides(archive: Archive) -> Iterator[str]:
    """The slides in the order in which they are shown."""
    main = next((name for kind, name in archive.links("").values() if kind == "officeDocument"), _MAIN)
    links = archive.links(main)
    for entry in archive.xml(main).iter("sldId"):
        kind, name = links.get(entry.get("r:id", ""), ("", ""))
        if kind == "slide" and name in archive.names:
            yield name


def _read_slide(archive: Archive, name: str, composer: Composer, place: Slide) -> None:
    composer.close_sections()
    try:
        root = archive.xml(name)
    except Refused as error:
        if "damaged" not in str(error):
            raise
        return
    shapes = list(_shapes(root))
    for shape in [one for one in shapes if _kind(one) in _TITLES]:
        composer.heading(2, " ".join(_paragraphs(shape)), place)
    for shape in shapes:
        if shape.tag == "tbl":
            rows = [[" ".join(_paragraphs(cell)) for cell in row.iter("tc")] for row in shape.iter("tr")]
            composer.table(rows, place)
        elif _kind(shape) not in _TITLES | _FURNITURE:
            composer.block(BlockKind.PARAGRAPH, "\n".join(_listed(shape)), place)
    for kind, linked in archive.links(name).values():
        if kind in ("diagramData", "notesSlide") and linked in archive.names:
            _read_beside(archive, linked, composer, place, notes=kind == "notesSlide")


def _read_beside(archive: Archive, name: str, composer: Composer, place: Slide, *, notes: bool) -> None:
    root = archive.xml(name)
    if not notes:
        composer.block(BlockKind.LIST, "\n".join(f"- {text}" for text in _paragraphs(root)), place)
        return
    said = [text for shape in _shapes(root) if _kind(shape) == "body" for text in _paragraphs(shape)]
    if said:
        composer.block(BlockKind.PARAGRAPH, "Notes: " + "\n".join(said), place)


def _shapes(root: Element) -> Iterator[Element]:
    """Shapes with words, and tables, in the order of the file; those of groups too."""
    pending = [root]
    while pending:
        found = pending.pop()
        if found.tag == "tbl" or (found.tag == "sp" and found.find("txBody") is not None):
            yield found
        elif found.tag != "Fallback":
            pending.extend(reversed(found))


def _kind(shape: Element) -> str:
    """What the layout calls the shape; empty for one that it does not know."""
    placeholder = shape.find("nvSpPr/nvPr/ph")
    return placeholder.get("type", "body") if placeholder is not None else ""


def _listed(shape: Element) -> Iterator[str]:
    """The paragraphs of a shape; where there are several levels, as a list."""
    found = [(_level(paragraph), _words(paragraph)) for paragraph in shape.iter("p")]
    found = [(level, words) for level, words in found if words]
    bulleted = len(found) > 1 and (_kind(shape) in ("body", "obj") or any(level for level, _ in found))
    for level, words in found:
        yield f"{'  ' * level}- {words}" if bulleted else words


def _level(paragraph: Element) -> int:
    properties = paragraph.find("pPr")
    value = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(value), 8) if value.isdecimal() and len(value) < 3 else 0


def _paragraphs(root: Element) -> Iterator[str]:
    return (words for paragraph in root.iter("p") if (words := _words(paragraph)))


def _words(paragraph: Element) -> str:
    parts = (
        (found.text or "") if found.tag == "t" else " "
        for found in paragraph.iter()
        if found.tag in ("t", "br")
    )
    return " ".join("".join(parts).split())
