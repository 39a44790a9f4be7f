"""The screen: search as you type, the note beside it, why, ask, and the editor at the line."""

from __future__ import annotations

import os
import subprocess
from contextlib import closing
from typing import Any, ClassVar, cast

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.events import Key, Resize
from textual.timer import Timer
from textual.widgets import Footer, Input, OptionList, Static
from textual.widgets.option_list import Option

from kebab.app import Kebab
from kebab.domain.controls import harmless, harmless_line
from kebab.domain.hits import SearchHit, SearchResponse
from kebab.domain.plurals import count_of
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import KebabError
from kebab.tui import lines
from kebab.tui.editor import editor_command, file_of
from kebab.tui.filters import Chosen, Filters
from kebab.tui.help import Help
from kebab.wire.views import facets

WAIT_S = 0.08
"""How long typing must pause before it is searched."""
K = 30
NARROW = 100
"""Below so many columns the note stands under the results and not beside them."""
MODES = {None: "both", SearchMode.LEXICAL: "words", SearchMode.VECTOR: "meaning"}


class KebabTui(App[None]):
    """One screen over one open knowledge base."""

    TITLE = "kebab"
    ENABLE_COMMAND_PALETTE = False
    CSS = """
    #query { height: 3; }
    #told { height: 1; padding: 0 1; color: $text-muted; }
    #panes { layout: horizontal; height: 1fr; }
    #panes.narrow { layout: vertical; }
    #results { width: 1fr; height: 1fr; border: none; padding: 0; text-wrap: nowrap;
               text-overflow: ellipsis; }
    #side { width: 1fr; height: 1fr; border-left: tall $surface-lighten-2; padding: 0 1; }
    #panes.narrow #side { border-left: none; border-top: tall $surface-lighten-2; width: 100%; }
    #panes.narrow #results { width: 100%; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f1", "help", "Help"),
        Binding("f2", "explain", "Why"),
        Binding("f3", "ask", "Ask"),
        Binding("f4", "filters", "Filters"),
        Binding("f5", "mode", "Mode"),
        Binding("escape", "query", "Query", show=False),
        Binding("pagedown", "scroll(1)", show=False, priority=True),
        Binding("pageup", "scroll(-1)", show=False, priority=True),
        Binding("ctrl+q", "quit", "Quit"),
    ]

    def __init__(self, kebab: Kebab) -> None:
        super().__init__()
        self.kebab = kebab
        self.asking = False
        self.mode_now: SearchMode | None = None
        self.chosen: Chosen = {}
        self.response: SearchResponse | None = None
        self.hits: dict[str, SearchHit] = {}
        self.explaining = False
        self._turn = 0
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Input(placeholder="search your notes, 한국어 or English", id="query")
        yield Static(id="told")
        with Container(id="panes"):
            yield OptionList(id="results")
            with VerticalScroll(id="side", can_focus=False):
                yield Static(id="note")
        yield Footer(compact=True)

    def on_mount(self) -> None:
        self.query_one("#query").focus()
        self._fit(self.size.width)

    def on_resize(self, event: Resize) -> None:
        self._fit(event.size.width)

    def _fit(self, width: int) -> None:
        self.query_one("#panes").set_class(width < NARROW, "narrow")

    # --- typing --------------------------------------------------------------------------------------

    def on_input_changed(self, event: Input.Changed) -> None:
        if not self.asking:
            self._later()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if self.asking and event.value.strip():
            self._begin_answer(event.value)
        elif self.hits:
            self.query_one("#results").focus()

    def _later(self) -> None:
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(WAIT_S, self._search)

    def _search(self) -> None:
        self._turn += 1
        text = self.query_one("#query", Input).value.strip()
        if text:
            self._find(text, self._turn)
        else:
            self._show(None)

    @work(thread=True, group="search")
    def _find(self, text: str, turn: int) -> None:
        filters = SearchFilters(**cast("Any", self.chosen))
        try:
            found = self.kebab.search(
                text, mode=self.mode_now, k=K, filters=filters, explain=True, groups=True
            )
        except KebabError as error:
            self.call_from_thread(self._told_error, error, turn)
            return
        self.call_from_thread(self._found, found, turn)

    def _found(self, found: SearchResponse, turn: int) -> None:
        if turn == self._turn:  # a later one was typed in the meantime
            self._show(found)

    def _told_error(self, error: KebabError, turn: int) -> None:
        if turn == self._turn:
            self._tell(Text(error.message, style="red"))

    # --- results -------------------------------------------------------------------------------------

    def _show(self, found: SearchResponse | None) -> None:
        self.response = found
        options = self.query_one("#results", OptionList)
        options.clear_options()
        groups = lines.grouped(found) if found else []
        self.hits = {hit.chunk_id: hit for hits, _ in groups for hit in hits}
        for hits, others in groups:
            options.add_option(Option(lines.group_title(hits[0], others), disabled=True))
            options.add_options([Option(lines.hit_lines(hit), id=hit.chunk_id) for hit in hits])
        if groups:
            options.highlighted = 1
        else:
            self.query_one("#note", Static).update("")
        self._tell(self._summary(found, len(groups)))

    def _summary(self, found: SearchResponse | None, notes: int) -> Text:
        parts = [MODES[self.mode_now]]
        parts += [f"{name}:{value}" for name, values in self.chosen.items() for value in values]
        if found is not None:
            parts.insert(
                0,
                f"{count_of(len(self.hits), 'hit')} in {count_of(notes, 'note')}"
                if found.hits
                else "nothing found",
            )
            parts += ["nothing fits well"] if found.weak and found.hits else []
            parts += [harmless_line(f"{each.word} → {each.instead}") for each in found.corrections]
            parts += [harmless_line(note.message) for note in found.degraded]
        return Text(" · ".join(parts), no_wrap=True, overflow="ellipsis")

    def _tell(self, text: Text) -> None:
        self.query_one("#told", Static).update(text)

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        if event.option_id in self.hits:
            self._preview()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.action_open()

    @property
    def current(self) -> SearchHit | None:
        options = self.query_one("#results", OptionList)
        if options.highlighted is None or not options.option_count:
            return None
        return self.hits.get(options.get_option_at_index(options.highlighted).id or "")

    def _preview(self) -> None:
        hit = self.current
        if hit is None or self.response is None:
            return
        if self.explaining:
            self._side(lines.explanation(hit, self.response), 0)
        else:
            self._read(hit)

    @work(thread=True, exclusive=True, group="read")
    def _read(self, hit: SearchHit) -> None:
        try:
            text = self.kebab.fetch_doc(hit.doc_id).text
            span = self.kebab.inspect_chunk(hit.chunk_id).stored.chunk.spans
        except KebabError as error:
            self.call_from_thread(self._side, Text(error.message, style="red"), 0)
            return
        start, end = (span[0].start, span[-1].end) if span else (1, 1)
        terms = [hit.snippet.text[first:last] for first, last in hit.snippet.marks]
        shown, at = lines.note(text, start=start, end=end, terms=terms)
        self.call_from_thread(self._show_note, hit, shown, at)

    def _show_note(self, hit: SearchHit, shown: Text, at: int) -> None:
        if self.current is hit:
            self._side(shown, at)

    def _side(self, shown: Text, line: int) -> None:
        self.query_one("#note", Static).update(shown)
        side = self.query_one("#side", VerticalScroll)
        self.call_after_refresh(side.scroll_to, y=max(0, self._wrapped(shown, line) - 2), animate=False)

    def _wrapped(self, shown: Text, line: int) -> int:
        """The row at which a line begins, where long ones before it take several rows."""
        width = max(10, self.query_one("#note").size.width)
        return sum(max(1, -(-part.cell_len // width)) for part in shown.split("\n")[:line])

    # --- what keys do --------------------------------------------------------------------------------

    def on_key(self, event: Key) -> None:
        """Letters in the results; arrows from the query into them."""
        in_query = self.focused is self.query_one("#query")
        options = self.query_one("#results", OptionList)
        if in_query and event.key == "down" and self.hits:
            options.focus()
        elif in_query or self.focused is not options:
            return
        else:
            actions = {
                "j": options.action_cursor_down,
                "k": options.action_cursor_up,
                "o": self.action_open,
                "e": self.action_explain,
                "slash": self.action_query,
            }
            if event.key not in actions:
                return
            actions[event.key]()
        event.prevent_default()
        event.stop()

    def action_scroll(self, pages: int) -> None:
        side = self.query_one("#side", VerticalScroll)
        side.scroll_relative(y=pages * max(1, side.size.height - 2), animate=False)

    def action_help(self) -> None:
        self.push_screen(Help())

    def action_query(self) -> None:
        self.query_one("#query").focus()

    def action_explain(self) -> None:
        self.explaining = not self.explaining
        self._preview()

    def action_mode(self) -> None:
        order = list(MODES)
        self.mode_now = order[(order.index(self.mode_now) + 1) % len(order)]
        self._search()

    def action_filters(self) -> None:
        try:
            counted = facets(self.kebab.list_docs())
        except KebabError as error:
            self.notify(error.message, severity="error")
            return
        self.push_screen(Filters(counted, self.chosen), self._filtered)

    def _filtered(self, chosen: Chosen | None) -> None:
        self.chosen = chosen or {}
        self._search()

    def action_open(self) -> None:
        """The file in the user's editor at the line; the screen is as it was afterwards."""
        hit = self.current
        if hit is None:
            return
        file = file_of(self.kebab.settings.sources, hit.source_id, hit.doc_path)
        if file is None:
            self.notify("this note has no file to open", severity="warning")
            return
        line = hit.line if hit.citation.kind in ("line", "code") else None
        self._edit(editor_command(os.environ, file, line))

    def _edit(self, command: list[str]) -> None:
        try:
            with self.suspend():
                subprocess.run(command, check=False)
        except OSError as error:
            self.notify(f"{command[0]}: {error.strerror}", severity="error")
        self.refresh(layout=True)

    # --- asking --------------------------------------------------------------------------------------

    def action_ask(self) -> None:
        self.asking = not self.asking
        query = self.query_one("#query", Input)
        query.placeholder = "ask your notes a question, then Enter" if self.asking else "search your notes"
        self._tell(Text("ask: Enter asks, F3 searches" if self.asking else MODES[self.mode_now]))
        query.focus()

    def _begin_answer(self, question: str) -> None:
        self._turn += 1
        self._tell(Text("reading …"))
        self._side(Text(""), 0)
        self._answer(question, self._turn)

    @work(thread=True, exclusive=True, group="answer")
    def _answer(self, question: str, turn: int) -> None:
        written = ""
        try:
            with closing(cast("Any", self.kebab.ask_stream(question))) as events:
                for event in events:
                    if turn != self._turn:
                        return
                    written += event.delta or ""
                    done = event.answer
                    shown = lines.answer(done) if done else Text(harmless(written))
                    told = "answered" if done and done.grounded else "no answer" if done else "writing …"
                    self.call_from_thread(self._answered, shown, told)
        except KebabError as error:
            self.call_from_thread(self._answered, Text(error.message, style="red"), "failed")

    def _answered(self, shown: Text, told: str) -> None:
        self._tell(Text(told))
        self._side(shown, 0)
