"""Definitions of source code by tree-sitter.

The walk enters only what may hold definitions, never the body of a function that has a usual size, so that a
large file costs its parse and little more. It stops at a fixed depth: what lies deeper belongs to what
encloses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kebab.adapters import code_grammars
from kebab.adapters.code_grammars import LEADING, Grammar, node_types
from kebab.adapters.code_names import has_body, names
from kebab.ports import Definition, Outline

Node = Any

_MAX_DEPTH = 40
_MAX_NAMES = 12
# Each level inside a macro is parsed once more.
_MACRO_LEVELS = 4
_MACRO_DEPTH = _MAX_DEPTH - _MAX_DEPTH // _MACRO_LEVELS
# A longer function is taken apart where it defines others, such as a module made of one closure.
_LONG_BYTES = 6000
_MAX_IMPORTS = 200
# What is no code in a grammar's language costs it the square of the length: a beginning is tried first.
_SAMPLE = 32 << 10
# A declaration without a body is a unit only where it is documented: thousands of bare prototypes are not.
_ALWAYS = node_types(
    "type_spec type_alias type_alias_declaration delegate_declaration struct_item union_item "
    "macro_definition preproc_function_def concept_definition create_index create_schema create_sequence "
    "create_role create_database create_extension create_policy create_trigger create_table create_view "
    "create_type create_function create_procedure create_materialized_view alter_table "
    "assignment_expression method singleton_method"
)
_GROUPS = node_types(
    "impl_item mod_item namespace_definition namespace_declaration internal_module module companion_object"
)
_SOLID = node_types("struct_specifier union_specifier enum_specifier class_specifier")


@dataclass(frozen=True, slots=True)
class TreeSitterCodeReader:
    """Reads the grammars of ``code_grammars``; the library is loaded when the first file is read."""

    def outline(self, text: str, *, grammar: str) -> Outline:
        from tree_sitter_language_pack import get_parser

        named: Any = grammar
        parser = get_parser(named)

        def parse(source: bytes) -> Node:
            return parser.parse(source).root_node

        known, source = code_grammars.grammar(grammar), text.encode("utf-8", "replace")
        if len(source) > 2 * _SAMPLE:
            begun = _Walk(known, parse).outline(parse(source[:_SAMPLE]))
            # The cut alone leaves something unclear, but not a text without a single definition.
            if begun.unclear_line and not begun.definitions:
                return begun
        return _Walk(known, parse).outline(parse(source))


@dataclass(frozen=True, slots=True)
class _Lead:
    """Comments and decorators without a blank line between them."""

    start: int
    end: int


@dataclass(slots=True)
class _Walk:
    grammar: Grammar
    parse: Callable[[bytes], Node]
    imports: list[str] = field(default_factory=list)

    def outline(self, root: Node) -> Outline:
        found = tuple(self._scope(root, (), 0))
        return Outline(found, tuple(self.imports[:_MAX_IMPORTS]), _unclear(root))

    def _scope(self, node: Node, path: tuple[str, ...], depth: int) -> Iterator[Definition]:
        """The definitions among the children of a node."""
        if depth > _MAX_DEPTH:
            return
        lead: _Lead | None = None
        code = -1  # the last line that holds something other than a comment
        for child in node.named_children:
            start, end = _first_line(child), _last_line(child)
            if child.type in LEADING:
                if start > code:
                    joins = lead is not None and lead.end + 1 >= start
                    lead = _Lead(lead.start if lead and joins else start, end)
                continue
            # A blank line may stand between, but not after the head of the file, which is about all of it.
            gap = 2 if code >= 0 else 1
            near = lead if lead is not None and lead.end + gap >= start else None
            yield from self._visit(child, near.start if near else start, end, path, depth, bool(near))
            lead, code = _trailing_comment(child), end

    def _visit(
        self, node: Node, start: int, end: int, path: tuple[str, ...], depth: int, documented: bool
    ) -> Iterator[Definition]:
        kind, known = node.type, self.grammar
        if kind in known.imports:
            listed = [child for child in node.named_children if child.type in known.imports]
            self.imports.extend(map(_on_one_line, listed or [node]))
        elif kind in known.wrappers:
            inner = [child for child in node.named_children if self._may_define(child)]
            if len(inner) == 1:
                yield from self._visit(inner[0], start, end, path, depth, documented)
            elif inner:
                yield from self._scope(node, path, depth + 1)
        elif kind in known.holders:
            yield from self._holder(node, start, end, path, depth)
        elif kind in known.leaves:
            yield from self._leaf(node, start, end, path, depth, documented)
        elif kind in known.scopes:
            yield from self._scope(node, path, depth + 1)
        elif kind == "macro_invocation":
            yield from self._expanded(node, path, depth)

    def _expanded(self, node: Node, path: tuple[str, ...], depth: int) -> Iterator[Definition]:
        """What stands inside a macro of Rust, ``cfg_net! { … }``, where it reads as code.

        To the grammar it is a heap of tokens, so it is parsed for itself.
        """
        held = next((child for child in node.named_children if child.type == "token_tree"), None)
        if held is None or not held.text.startswith(b"{") or depth > _MACRO_DEPTH:
            return
        inside = self.parse(bytes(held.text[1:-1]))
        if inside.has_error:
            return
        row = int(held.start_point[0])
        for name, start, end, groups in self._scope(inside, path, depth + _MAX_DEPTH // _MACRO_LEVELS):
            yield Definition(name, start + row, end + row, groups)

    def _may_define(self, node: Node) -> bool:
        known, kind = self.grammar, node.type
        return kind in known.wrappers or kind in known.holders or kind in known.leaves or kind in known.scopes

    def _holder(
        self, node: Node, start: int, end: int, path: tuple[str, ...], depth: int
    ) -> Iterator[Definition]:
        if node.type in _SOLID and not has_body(node):
            return  # a type that is only mentioned
        own = names(node) or _typedef_name(node)
        inside = path + own
        if own and len(inside) <= _MAX_NAMES:
            yield Definition(inside, start, end, node.type in _GROUPS)
        elif own:
            return
        yield from self._members(node, inside, depth)

    def _members(self, node: Node, path: tuple[str, ...], depth: int) -> Iterator[Definition]:
        for child in node.named_children:
            if child.type in self.grammar.scopes:
                yield from self._scope(child, path, depth + 1)

    def _leaf(
        self, node: Node, start: int, end: int, path: tuple[str, ...], depth: int, documented: bool
    ) -> Iterator[Definition]:
        own = names(node)
        inside = path + own
        if own and len(inside) <= _MAX_NAMES and (documented or node.type in _ALWAYS or has_body(node)):
            yield Definition(inside, start, end)
            yield from self._inside(node, inside, depth)
        elif not own:
            for child in node.named_children:
                if child.type in self.grammar.scopes or child.type in self.grammar.holders:
                    yield from self._visit(
                        child, _first_line(child), _last_line(child), path, depth + 1, False
                    )

    def _inside(self, node: Node, path: tuple[str, ...], depth: int) -> Iterator[Definition]:
        """What an object of functions holds, and what a long function defines."""
        value = node.child_by_field_name("value") or node.child_by_field_name("right")
        if value is not None and value.type == "object":
            yield from self._scope(value, path, depth + 1)
        elif node.end_byte - node.start_byte > _LONG_BYTES:
            yield from self._members(value if value is not None else node, path, depth)


def _on_one_line(node: Node) -> str:
    written = bytes(node.text[:500]).decode("utf-8", "replace")
    return " ".join(written.split("/*")[0].split())


def _typedef_name(node: Node) -> tuple[str, ...]:
    """``typedef struct { … } Name;`` names a type that has no other name."""
    parent = node.parent
    if parent is None or parent.type != "type_definition":
        return ()
    declared = parent.child_by_field_name("declarator")
    if declared is None or declared.type != "type_identifier":
        return ()
    return (bytes(declared.text[:120]).decode("utf-8", "replace"),)


def _first_line(node: Node) -> int:
    return int(node.start_point[0]) + 1


def _last_line(node: Node) -> int:
    """A node that takes the end of its line with it ends on that line."""
    row, column = node.end_point
    return int(row) + int(column > 0 or row == node.start_point[0])


def _trailing_comment(node: Node) -> _Lead | None:
    """A comment that the grammar counts to the import before it, as Kotlin's does with all below it."""
    if node.type != "import_list":
        return None
    at = node
    while at.named_children and at.type not in LEADING:
        at = at.named_children[-1]
    return _Lead(_first_line(at), _last_line(at)) if at.type in LEADING else None


def _unclear(root: Node) -> int | None:
    """The first line that holds an error, found by going down where there is one."""
    if not root.has_error:
        return None
    at = root
    for _ in range(10_000):
        inside = next((child for child in at.children if child.has_error or child.is_missing), None)
        if inside is None or at.type == "ERROR":
            break
        at = inside
    return _first_line(at)
