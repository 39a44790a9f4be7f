"""Finding: search, ask, why."""

from __future__ import annotations

from contextlib import closing
from typing import Any, cast

from kebab.domain.answers import Answer
from kebab.errors import KebabError
from kebab.mcp import text
from kebab.mcp.misses import emptied
from kebab.mcp.tool import FILTERS, Call, Tool
from kebab.wire import answers, briefs, search
from kebab.wire.requests.connections import BriefRequest
from kebab.wire.requests.search import AskRequest, SearchRequest, WhyRequest
from kebab.wire.shape import Shape

MAX_TOKENS = 3000
"""What a page of hits costs at most, where the caller does not say."""

_FILTERS = {
    "path": "globs; ** crosses folders",
    "lang": "such as en, ko",
    "ingested_after": "ISO 8601",
}
_MORE = (
    "media", "source_type", "trust_min", "doc_id", "repo", "code_lang", "symbol", "ingested_after",
)  # fmt: skip


def _brief(call: Call, asked: BriefRequest) -> Shape:
    return briefs.brief(
        call.kebab.brief(asked.task, max_tokens=asked.max_tokens, filters=asked.filters, scope=asked.scope)
    )


def _search(call: Call, asked: SearchRequest) -> Shape:
    given = asked.arguments
    given["max_tokens"] = asked.max_tokens or MAX_TOKENS
    found = call.kebab.search(**given)
    shaped = search.search_response(found, explain=asked.explain)
    return shaped if found.hits or asked.cursor else emptied(call.kebab, asked, shaped)


def _ask(call: Call, asked: AskRequest) -> Shape:
    """Reads the answer as it is written, so that it can be stopped and watched."""
    answer: Answer | None = None
    with closing(cast("Any", call.kebab.ask_stream(**asked.arguments))) as events:
        for count, event in enumerate(events, start=1):
            call.report(count, None, "writing" if event.delta else "reading what was found")
            answer = event.answer or answer
            if call.cancelled():
                break
    if answer is None:
        raise KebabError("the answer was cancelled")
    return answers.answer(answer)


def _why(call: Call, asked: WhyRequest) -> Shape:
    return search.why(call.kebab.why(**asked.arguments))


SEARCH_TOOLS = (
    Tool(
        name="brief",
        description=(
            "Call this once before you start a task, with the task in a sentence: the lines of documents "
            "that matter (cited), what worked before and what to avoid (run ids), within max_tokens."
        ),
        request=BriefRequest,
        response=briefs.Brief,
        run=_brief,
        text=text.brief,
        shown=("task", "max_tokens", "scope"),
    ),
    Tool(
        name="search",
        description=(
            "Find lines in the user's notes and documents, by words and meaning. Use this first, for any "
            "fact that may be written down. Returns snippets with citations (path#L12-L34): cite them as "
            "they are, read around them with fetch. No hits is a result: try other words, fewer filters, or "
            'the note\'s language. "quoted words" must occur, -word must not.'
        ),
        request=SearchRequest,
        response=search.SearchResponse,
        run=_search,
        text=text.search,
        shown=("query", "k", "mode", *FILTERS, *_MORE, "exact", "min_score", "cursor", "max_tokens"),
        notes=_FILTERS,
    ),
    Tool(
        name="ask",
        description=(
            "Answer a question with sentences from the documents, each cited. Use it after search, for one "
            "question with a short answer. A refusal (grounded false) is a result: report it, do not fill "
            "in. Takes the filters of search."
        ),
        request=AskRequest,
        response=answers.Answer,
        run=_ask,
        text=text.ask,
        shown=("question", *FILTERS, "continue_from"),
    ),
    Tool(
        name="why",
        description=(
            "Explain why a document (path or id) was or was not found by a query: its place by words and by "
            "meaning, or the filter that removed it. Use it when a search misses what should be there."
        ),
        request=WhyRequest,
        response=search.Why,
        run=_why,
        text=text.why,
        shown=("reference", "query", *FILTERS, "mode", "k"),
    ),
)
