"""From front-matter values to metadata: the keys kebab knows, and the rest kept as they are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from kebab.domain.documents import Metadata, TrustLevel
from kebab.ingest.parse.parsed import Defaults

# The first of several spellings that is present counts; `tag`, `date` and `updated` are what blogs write.
_SPELLINGS = {
    "title": ("title",),
    "lang": ("lang", "language"),
    "tags": ("tags", "tag", "categories", "category"),
    "aliases": ("aliases", "alias"),
    "created_at": ("created_at", "created", "date"),
    "updated_at": ("updated_at", "updated"),
    "source_type": ("source_type",),
    "trust_level": ("trust_level",),
}
# A space or the start of a line before it, a letter behind it, as note applications have it. The sign comes
# first: only from a character that is given does the engine leap to the next place that may match.
_INLINE_TAG = re.compile(r"#(?<!\S#)([^\W\d_][\w/-]{0,99})(?![\w#(])")
# A place where one may stand once the code is gone; most texts have none.
_MAYBE_TAG = re.compile(r"#(?<![^\s`~]#)[^\W\d_]")
_COLOUR = re.compile("[0-9a-fA-F]{3}|[0-9a-fA-F]{6}")
_TAGS_LINE = re.compile(r"^[-* \t]{0,8}tags::[ \t]*([^\n]{1,500})", re.MULTILINE)
# A fence may stand in a list or in a quote.
_CODE = re.compile(r"^[ \t>]{0,40}(```|~~~).*?^[ \t>]{0,40}\1|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_TAGGED_CHARS = 1_000_000
_MOST_TAGS = 100
_KNOWN = frozenset(spelling for spellings in _SPELLINGS.values() for spelling in spellings)


def text_value(values: Mapping[str, object], key: str) -> str | None:
    """The value of a known key as one line of text; None when it is absent, empty or no scalar."""
    for spelling in _SPELLINGS[key]:
        value = values.get(spelling)
        if value is not None and not isinstance(value, (dict, list)):
            return " ".join(_written(value).split()) or None
    return None


def _written(value: object) -> str:
    """A scalar, or what stands in a list, as it is written."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def read_metadata(
    values: Mapping[str, object], defaults: Defaults, *, inline: Iterable[str] = ()
) -> tuple[Metadata, tuple[str, ...]]:
    """The metadata, and a warning for each value that could not be used; ``inline`` tags come last."""
    warnings: list[str] = []
    tags = (tag.lstrip("#") for tag in (*_list(values, "tags"), *inline))
    return Metadata(
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        aliases=tuple(dict.fromkeys(_list(values, "aliases"))),
        source_type=text_value(values, "source_type") or defaults.source_type,
        trust_level=_trust(values, defaults, warnings),
        created_at=_moment(values, "created_at"),
        updated_at=_moment(values, "updated_at"),
        user={key: value for key, value in values.items() if key not in _KNOWN},
    ), tuple(warnings)


def inline_tags(body: str) -> tuple[str, ...]:
    """The ``#tags`` of a text and those of its ``tags::`` lines, each once, a bounded number of them.

    What stands in code is no tag, nor are numbers of issues, colours and the targets of links.
    """
    if "tags::" not in body and not _MAYBE_TAG.search(body):
        return ()
    prose = _CODE.sub(" ", body[:_TAGGED_CHARS])
    found = [tag.rstrip("/-") for tag in _INLINE_TAG.findall(prose) if not _COLOUR.fullmatch(tag)]
    for line in _TAGS_LINE.findall(prose) if "tags::" in prose else ():
        found += [tag.strip("[]# ") for tag in line.split(",")]
    return tuple(dict.fromkeys(filter(None, found)))[:_MOST_TAGS]


def _list(values: Mapping[str, object], key: str) -> Iterator[str]:
    """A list, or one text: split at commas, and for tags at spaces too."""
    for spelling in _SPELLINGS[key]:
        value = values.get(spelling)
        if isinstance(value, str):
            parts = value.replace(",", " ").split() if key == "tags" else value.split(",")
            yield from (part.strip() for part in parts if part.strip())
        elif isinstance(value, list):
            yield from (_written(part).strip() for part in value if part is not None and str(part).strip())
        elif value is not None and not isinstance(value, dict):
            yield _written(value)


def _trust(values: Mapping[str, object], defaults: Defaults, warnings: list[str]) -> TrustLevel:
    value = text_value(values, "trust_level")
    if value is None:
        return defaults.trust_level
    try:
        return TrustLevel(value.lower())
    except ValueError:
        known = ", ".join(TrustLevel)
        warnings.append(f"trust_level {value!r} is not one of {known}; {defaults.trust_level} is used")
        return defaults.trust_level


def _moment(values: Mapping[str, object], key: str) -> str | None:
    """ISO 8601 where the value can be read as a moment, and as written where not."""
    value = text_value(values, key)
    if value is None:
        return None
    for form in (None, "%Y-%m-%d %H:%M:%S %z", "%Y/%m/%d"):
        try:
            moment = datetime.fromisoformat(value) if form is None else datetime.strptime(value, form)
        except ValueError:
            continue
        return moment.isoformat() if len(value) > 10 else moment.date().isoformat()
    return value
