"""Does a sentence say that the answer is not there? Then the answer is a refusal, whatever it cites."""

from __future__ import annotations

import re
from functools import lru_cache

from kebab.answer.words import read_lines

REFUSALS = {
    "ko": "지식 베이스에서 이 질문의 답을 찾지 못했습니다.",
    "en": "The knowledge base holds no answer to this question.",
}
"""What kebab itself says when there is no answer."""
_DEFINED = re.compile(r"^(\w+) = (.*)$")


def declines(sentence: str) -> bool:
    """True for "The evidence does not say…", "I could not find…", "근거에 없습니다", "알 수 없습니다"."""
    plain = sentence.replace("’", "'").strip().strip('*_"“”')
    return any(pattern.search(plain) for pattern in _patterns())


@lru_cache(maxsize=1)
def _patterns() -> tuple[re.Pattern[str], ...]:
    names: dict[str, str] = {}
    patterns: list[re.Pattern[str]] = []
    for line in read_lines("declines.txt"):
        if defined := _DEFINED.match(line):
            names[defined[1]] = defined[2]
            continue
        for name, meaning in names.items():
            line = line.replace(f"{{{name}}}", meaning)
        patterns.append(re.compile(line, re.IGNORECASE))
    return tuple(patterns)
