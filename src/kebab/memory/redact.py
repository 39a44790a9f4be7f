"""Secrets do not belong in the memory: keys, tokens and passwords are taken out of texts as they are written.

The patterns are those of issuers that mark their secrets, and of assignments to a name that says what it is.
Each is linear in the length of the text.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from kebab.domain.executions import Execution

MARK = "[redacted]"

_WHOLE = (
    r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s]{0,8192}(?:-----END [A-Z ]{0,40}KEY-----)?",
    r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA)[A-Z0-9]{16}\b",  # AWS
    r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",  # GitHub
    r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b",
    r"\bglpat-[A-Za-z0-9_-]{20,64}\b",  # GitLab
    r"\bsk-(?:ant-|proj-|svcacct-|or-)?[A-Za-z0-9_-]{20,200}\b",  # model vendors
    r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}\b",  # Slack
    r"\bhf_[A-Za-z0-9]{30,50}\b",  # Hugging Face
    r"\bnpm_[A-Za-z0-9]{36}\b",
    r"\bpypi-[A-Za-z0-9_-]{50,250}\b",
    r"\bAIza[A-Za-z0-9_-]{35}\b",  # Google
    r"\bya29\.[A-Za-z0-9_-]{20,300}",
    r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,120}\b",  # Stripe
    r"\bSG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}\b",  # SendGrid
    r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",  # JSON web token
)
_NAMES = (
    r"(?:[A-Za-z0-9]{1,40}[_-]){0,4}(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|auth[_-]?token"
    r"|access[_-]?token|refresh[_-]?token|client[_-]?secret|private[_-]?key|token|비밀번호|암호)"
)
_SECRET_NAME = re.compile(_NAMES, re.IGNORECASE)
_SECRETS = re.compile("|".join(f"(?:{pattern})" for pattern in _WHOLE))
_ASSIGNED = re.compile(
    rf"(?<![A-Za-z0-9_-])({_NAMES}[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?)(?!\[redacted\])([^\s\"',;]{{6,500}})",
    re.IGNORECASE,
)
_BEARER = re.compile(
    r"(\bauthorization[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?:bearer|basic|token)\s{1,3})([^\s\"',;]{6,2000})", re.I
)
_IN_URL = re.compile(r"(\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@]{0,100}:)([^\s/@]{1,200})(@)", re.IGNORECASE)

_TEXTS = ("task_description", "approach", "result", "lesson", "error")


def redact_text(text: str) -> tuple[str, int]:
    """The text without secrets, and how many there were."""
    found = 0
    for pattern, kept in (
        (_SECRETS, MARK),
        (_BEARER, rf"\1{MARK}"),
        (_IN_URL, rf"\1{MARK}\3"),
        (_ASSIGNED, rf"\1{MARK}"),
    ):
        text, count = pattern.subn(kept, text)
        found += count
    return text, found


def redacted(execution: Execution) -> tuple[Execution, int]:
    """The execution without secrets in its texts and metadata, and how many there were.

    A vector that was made of a text with a secret goes, too.
    """
    changed: dict[str, Any] = {}
    total = 0
    for name in _TEXTS:
        if value := getattr(execution, name):
            text, count = redact_text(value)
            if count:
                changed[name] = text
                total += count
    metadata = {name: _clean(name, value) for name, value in execution.metadata.items()}
    if hidden := sum(metadata[name] != value for name, value in execution.metadata.items()):
        changed["metadata"] = metadata
        total += hidden
    if "task_description" in changed:
        changed |= {"embedding": None, "embedding_model": None}
    return (replace(execution, **changed) if changed else execution), total


def _clean(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if _SECRET_NAME.fullmatch(name) and value:
        return MARK
    return redact_text(value)[0]
