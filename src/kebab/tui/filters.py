"""Choosing filters from lists with counts."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.strip import Strip
from textual.widgets import SelectionList, Static
from textual.widgets.selection_list import Selection

from kebab.domain.controls import harmless_line
from kebab.wire.views import Facets

Chosen = dict[str, tuple[str, ...]]


class Choices(SelectionList[str]):
    """A list in which a box that is not chosen is empty.

    Textual writes an X into every box and tells them apart by colour, which not every terminal shows.
    """

    def render_line(self, y: int) -> Strip:
        line = super().render_line(y)
        index = self.scroll_offset.y + y
        if index >= self.option_count or self.get_option_at_index(index).value in self.selected:
            return line
        left, inner, *rest = line
        return Strip([left, Segment(" " * len(inner.text), inner.style), *rest])


class Filters(ModalScreen[Chosen]):
    """The values of each filter with the number of notes that it keeps; Space chooses, Esc is done."""

    CSS = """
    Filters { align: center middle; }
    Filters Vertical { width: 56; max-width: 96%; height: 90%; border: round $accent; background: $surface; }
    Filters SelectionList { height: 1fr; border: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "done", "Done"),
        Binding("f4", "done", "Done", show=False),
    ]

    def __init__(self, counted: Facets, chosen: Chosen) -> None:
        super().__init__()
        self._counted = counted
        self._chosen = chosen

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("[b]Filters[/b]  Space chooses, Esc is done")
            yield Choices(*self._selections())

    def _selections(self) -> list[Selection[str]]:
        return [
            Selection(
                f"{name}: {harmless_line(each.value)}  ({each.documents})",
                f"{name}:{each.value}",
                each.value in self._chosen.get(name, ()),
            )
            for name, values in self._counted.facets.items()
            for each in values
            if len(values) > 1
        ]

    def action_done(self) -> None:
        chosen: dict[str, list[str]] = {}
        for each in self.query_one(SelectionList).selected:
            name, _, value = each.partition(":")
            chosen.setdefault(name, []).append(value)
        self.dismiss({name: tuple(values) for name, values in chosen.items()})
