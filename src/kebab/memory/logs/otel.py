"""OpenTelemetry spans of generative models, as OTLP JSON or as one span a line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kebab.domain.executions import Execution
from kebab.domain.ids import digest
from kebab.errors import InvalidInput
from kebab.memory.logs.turns import LONGEST, mapping, objects, text_of, when

SOURCE = "otel"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEPT = ("gen_ai.request.model", "gen_ai.response.model", "gen_ai.tool.name", "server.address")
_DESCRIBED = (
    "gen_ai.input.messages",
    "gen_ai.prompt",
    "input.value",
    "gen_ai.tool.description",
    "gen_ai.agent.description",
)


def read(lines: Iterable[bytes]) -> Iterator[tuple[int, Execution | None]]:
    """Spans that speak of a model, an agent or a tool; others only hand their place down."""
    content = b"".join(lines)
    try:
        whole = [(1, value) for value in [json.loads(content)]]
    except (ValueError, RecursionError):
        whole = list(objects(content.splitlines()))
    spans: list[tuple[int, dict[str, Any]]] = []
    for number, value in whole:
        if not isinstance(value, dict | list):
            yield number, None
        else:
            spans += [(number, span) for span in _spans(value)]
    known = {span["key"]: span for _, span in spans}
    for number, span in spans:
        if _speaks(span):
            try:
                yield number, _execution(span, known)
            except InvalidInput:
                yield number, None


def _spans(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _spans(item)
    elif isinstance(value, dict) and "resourceSpans" in value:
        for group in value["resourceSpans"] if isinstance(value["resourceSpans"], list) else []:
            shared = _attributes(mapping(mapping(group).get("resource")).get("attributes"))
            for scope in mapping(group).get("scopeSpans") or []:
                for span in mapping(scope).get("spans") or []:
                    yield _span(mapping(span), shared)
    elif isinstance(value, dict):
        yield _span(value, _attributes(mapping(value.get("resource")).get("attributes")))


def _span(span: Mapping[str, Any], shared: dict[str, Any]) -> dict[str, Any]:
    """Both forms of a span as one: OTLP, and what the console exporter writes."""
    context = mapping(span.get("context"))
    status = mapping(span.get("status"))
    return {
        "key": str(span.get("spanId") or context.get("span_id") or ""),
        "trace": str(span.get("traceId") or context.get("trace_id") or ""),
        "parent": str(span.get("parentSpanId") or span.get("parent_id") or ""),
        "name": str(span.get("name") or "span"),
        "start": _time(span.get("startTimeUnixNano") or span.get("start_time")),
        "end": _time(span.get("endTimeUnixNano") or span.get("end_time")),
        "failed": status.get("code") in (2, "STATUS_CODE_ERROR") or status.get("status_code") == "ERROR",
        "message": str(status.get("message") or status.get("description") or ""),
        "attributes": {**shared, **_attributes(span.get("attributes"))},
    }


def _attributes(given: Any) -> dict[str, Any]:
    if isinstance(given, dict):
        return dict(given)
    found = {}
    for item in given if isinstance(given, list) else []:
        value = mapping(mapping(item).get("value"))
        plain = next(iter(value.values()), None)
        found[str(mapping(item).get("key"))] = int(value["intValue"]) if "intValue" in value else plain
    return found


def _speaks(span: Mapping[str, Any]) -> bool:
    return bool(span["key"]) and any(name.startswith("gen_ai.") for name in span["attributes"])


def _execution(span: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> Execution:
    given, start = span["attributes"], span["start"]
    if start is None:
        raise InvalidInput("a span has no start")
    end = max(start, span["end"] or start)
    failed = span["failed"] or "error.type" in given
    scope = {"session": given.get("gen_ai.conversation.id"), "project": given.get("service.name")}
    return Execution(
        id=_id(span),
        agent_id=str(given.get("gen_ai.agent.name") or given.get("service.name") or "unknown"),
        task_id=span["trace"] or span["key"],
        task_type=str(given.get("gen_ai.operation.name") or "span"),
        task_description=(_described(given) or span["name"])[:LONGEST],
        result=_messages(given.get("gen_ai.output.messages") or given.get("gen_ai.completion"))[:LONGEST]
        or None,
        success=not failed,
        error=(span["message"] or str(given.get("error.type") or "failed"))[:LONGEST] if failed else None,
        quality_score=float(not failed),
        latency_ms=round((end - start) / timedelta(milliseconds=1)),
        tokens=_tokens(given),
        provider=str(given.get("gen_ai.provider.name") or given.get("gen_ai.system") or "unknown"),
        scope={name: str(value) for name, value in scope.items() if value},
        tags=(SOURCE,),
        metadata={name: str(given[name]) for name in _KEPT if given.get(name)},
        started_at=start,
        finished_at=end,
        parent=_ancestor(span, known),
    )


def _id(span: Mapping[str, Any]) -> str:
    return digest(SOURCE, span["trace"], span["key"])


def _ancestor(span: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The nearest span above that is an execution itself."""
    seen = {span["key"]}
    above = known.get(span["parent"])
    while above is not None and above["key"] not in seen:
        if _speaks(above):
            return _id(above)
        seen.add(above["key"])
        above = known.get(above["parent"])
    return None


def _tokens(given: Mapping[str, Any]) -> dict[str, int]:
    counts = {name: given.get(f"gen_ai.usage.{name}_tokens") for name in ("input", "output")}
    return {name: count for name, count in counts.items() if isinstance(count, int) and count >= 0}


def _described(given: Mapping[str, Any]) -> str:
    return next((text for name in _DESCRIBED if (text := _messages(given.get(name)))), "")


def _messages(value: Any) -> str:
    """The last text of a list of messages, which is told as JSON; a plain text is taken as it is."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return str(value).strip()
    if isinstance(value, str):
        return value.strip()
    for message in reversed(value if isinstance(value, list) else []):
        parts = [
            part.get("content") for part in mapping(message).get("parts") or [] if isinstance(part, dict)
        ]
        told = "\n".join(part for part in parts if isinstance(part, str))
        if text := told.strip() or text_of(mapping(message).get("content")).strip():
            return text
    return ""


def _time(value: Any) -> datetime | None:
    if isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
        try:
            return _EPOCH + timedelta(microseconds=int(value) / 1000)
        except OverflowError:
            return None
    return when(value)
