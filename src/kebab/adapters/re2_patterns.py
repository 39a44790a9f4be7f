"""Regular expressions by RE2: the time grows with the text, whatever the pattern."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from kebab.errors import InvalidInput

if TYPE_CHECKING:
    import re2

_MOST_SPANS = 50
"""Of one text; more are not marked."""
_LONGEST = 1000


class Re2PatternMatcher:
    """PatternMatcher. The engine is imported when the first pattern is looked for."""

    def holds(self, pattern: str, texts: Sequence[str]) -> list[bool]:
        compiled = _compiled(pattern)
        return [compiled.search(text) is not None for text in texts]

    def spans(self, pattern: str, text: str) -> list[tuple[int, int]]:
        matches = (match.span() for match in _compiled(pattern).finditer(text))
        return list(islice(((start, end) for start, end in matches if end > start), _MOST_SPANS))


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> re2.Regexp:
    """The pattern, whatever the case, with ^ and $ at the ends of lines."""
    import re2

    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    with _readable_errors(pattern):
        return re2.compile(_lined(pattern), options)


def _lined(pattern: str) -> str:
    """The pattern with ^ and $ at the ends of lines. Raises InvalidInput for one that is too long."""
    if len(pattern) > _LONGEST:
        raise InvalidInput(f"the pattern is {len(pattern)} characters long", hint=f"at most {_LONGEST}")
    return f"(?m:{_WORD.sub(_worldwide, pattern)})"


# An escaped character, or a set up to its closing bracket: what \w means depends on where it stands.
_WORD = re.compile(r"\\.|\[\^?\]?(?:[^\]\\]|\\.)*+", re.DOTALL)


def _worldwide(found: re.Match[str]) -> str:
    r"""\w as letters of every script: RE2's own are those of English alone."""
    if found[0].startswith("["):
        return _ESCAPED.sub(lambda sign: _LETTERS if sign[0] == r"\w" else sign[0], found[0])
    return {r"\w": f"[{_LETTERS}]", r"\W": f"[^{_LETTERS}]"}.get(found[0], found[0])


_ESCAPED = re.compile(r"\\.", re.DOTALL)
_LETTERS = r"\pL\pM\pN_"


@contextmanager
def _readable_errors(pattern: str) -> Iterator[None]:
    import re2

    try:
        yield
    except (re2.error, UnicodeEncodeError) as error:
        raise InvalidInput(
            f"/{pattern}/ is no pattern that can be looked for: {_reason(error)}",
            hint="RE2 syntax, which has no lookaround and no backreferences; quotes look for a text as it is",
        ) from error


def _reason(error: Exception) -> str:
    said = error.args[0]
    text = said.decode(errors="replace") if isinstance(said, bytes) else str(said)
    return text.partition(": ")[0] or "it cannot be read"
