"""What the readers of session logs share: a turn that is being gathered, and the execution it becomes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from kebab.domain.executions import Execution
from kebab.domain.ids import digest

LONGEST = 4000
"""Characters kept of a text that may be of any length."""


@dataclass(slots=True)
class Turn:
    """One request and all that was done about it."""

    source: str
    session: str
    key: str
    text: str
    started: datetime
    ended: datetime
    agent: str
    provider: str
    parent: str | None = None
    role: str | None = None
    answer: str = ""
    failure: str | None = None
    tokens: Counter[str] = field(default_factory=Counter)
    documents: dict[str, None] = field(default_factory=dict)
    tools: Counter[str] = field(default_factory=Counter)
    metadata: dict[str, str] = field(default_factory=dict)
    project: str = ""

    @property
    def id(self) -> str:
        """The same turn read again is the same execution."""
        return digest(self.source, self.session, self.key)

    @property
    def answered(self) -> bool:
        """Whether anything was said or done about it."""
        return bool(self.tools or self.answer or self.failure)

    def execution(self) -> Execution:
        tools = ", ".join(f"{name} ×{count}" for name, count in self.tools.most_common(8))
        scope = {"session": self.session, "project": self.project}
        return Execution(
            id=self.id,
            agent_id=self.agent,
            agent_role=self.role,
            task_id=self.session,
            task_type="session",
            task_description=self.text[:LONGEST],
            approach=f"tools: {tools}" if tools else None,
            result=self.answer[:LONGEST] or None,
            success=self.failure is None,
            error=self.failure[:LONGEST] if self.failure else None,
            quality_score=float(self.failure is None),
            latency_ms=max(0, round((self.ended - self.started) / timedelta(milliseconds=1))),
            tokens={name: count for name, count in self.tokens.items() if count},
            provider=self.provider,
            scope={name: value for name, value in scope.items() if value},
            tags=(self.source,),
            metadata={name: value for name, value in self.metadata.items() if value},
            started_at=self.started,
            finished_at=max(self.started, self.ended),
            documents_used=tuple(self.documents),
            parent=self.parent if self.parent != self.id else None,
        )


def objects(lines: Iterable[bytes]) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Each line's number and object; None for a line that is none."""
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        yield number, value if isinstance(value, dict) else None


def text_of(content: object) -> str:
    """The text of a message, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def when(value: object) -> datetime | None:
    """A time as logs write it; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
