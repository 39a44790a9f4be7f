"""The names of definitions in a syntax tree, by one rule: what encloses a thing comes before it.

A type that a function is declared for counts as enclosing it: Go's receiver, Rust's ``impl``, C++'s
``Type::``, Kotlin's ``Type.``. Parameters of types are left out.
"""

from __future__ import annotations

import re
from typing import Any

from kebab.adapters.code_grammars import node_types

Node = Any

_MAX_NAME = 120
_SEPARATORS = re.compile(r"::|\.|\\")
_MEMBER = re.compile(r"[\w$#]+(?:\.[\w$#]+)*")
# Say where a thing is kept, not what it is called.
_NOT_NAMES = frozenset({"module", "exports", "this", "prototype", "window", "self", "globalThis", ""})
_DECLARED = node_types(
    "identifier field_identifier qualified_identifier destructor_name operator_name operator_cast "
    "template_function type_identifier"
)
_UNNAMED = {"companion_object": "Companion", "secondary_constructor": "constructor"}
_FUNCTIONS = node_types(
    "arrow_function function_expression generator_function function class object"
)  # values that make a variable a definition
_BODIES = node_types(
    "body block compound_statement function_body constructor_body statement_block body_statement "
    "arrow_expression_clause enumerator_list field_declaration_list try_statement"
)


def names(node: Node) -> tuple[str, ...]:
    """The name of a definition, with the type it is declared for; empty where it has none."""
    match node.type:
        case "function_definition" | "declaration" | "field_declaration":
            return _split(_text(node.child_by_field_name("name"))) or _declared(node)
        case "impl_item":
            return _split(_text(node.child_by_field_name("type")))
        case "method_declaration" if (receiver := node.child_by_field_name("receiver")) is not None:
            return _last(_types(receiver)) + _split(_text(node.child_by_field_name("name")))
        case "assignment_expression":
            return _assigned(node)
        case "variable_declarator" | "field_definition" | "public_field_definition" | "pair":
            return _valued(node)
        case "indexer_declaration":
            return ("this[]",)
        case "operator_declaration" | "conversion_operator_declaration":
            sign = node.child_by_field_name("operator") or node.child_by_field_name("type")
            return (f"operator {_text(sign)}".strip()[:_MAX_NAME],)
        case "create_index":
            return _split(_text(_first(node, "identifier")))
        case kind if kind.startswith(("create_", "alter_")):
            return _split(_text(_first(node, "object_reference") or _first(node, "identifier")))
        case kind:
            return _plain(node) or ((_UNNAMED[kind],) if kind in _UNNAMED else ())


def has_body(node: Node) -> bool:
    """Whether a definition says more than that something exists."""
    if node.child_by_field_name("body") is not None or node.child_by_field_name("value") is not None:
        return True
    return any(child.type in _BODIES for child in node.named_children)


def _plain(node: Node) -> tuple[str, ...]:
    named = node.child_by_field_name("name")
    if named is not None:
        return _split(_text(named))
    # Kotlin's grammar names no fields.
    own = _first(node, "simple_identifier") or _first(node, "type_identifier")
    receiver = _first(node, "receiver_type")
    return (_last(_split(_text(receiver))) if receiver is not None else ()) + _split(_text(own))


def _declared(node: Node) -> tuple[str, ...]:
    """What a declarator of C or C++ names, where it declares a function."""
    at, function = node.child_by_field_name("declarator"), False
    while at is not None and at.type not in _DECLARED:
        function = function or at.type == "function_declarator"
        at = at.child_by_field_name("declarator") or (at.named_children[-1] if at.named_children else None)
    if at is None or not (function or at.type == "operator_cast"):
        return ()
    return _split(_text(at))


def _assigned(node: Node) -> tuple[str, ...]:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if right is None or right.type not in _FUNCTIONS or not _MEMBER.fullmatch(written := _text(left)):
        return ()
    return tuple(name[:_MAX_NAME] for name in written.split(".") if name not in _NOT_NAMES)


def _valued(node: Node) -> tuple[str, ...]:
    value = node.child_by_field_name("value")
    if value is None or value.type not in _FUNCTIONS:
        return ()
    fields = ("name", "property", "key")
    named = next((found for field in fields if (found := node.child_by_field_name(field)) is not None), None)
    return _split(_text(named).strip("'\"")) if named is not None else ()


def _types(node: Node) -> tuple[str, ...]:
    """The name of the first type below a node."""
    pending = [node]
    for _ in range(50):
        if not pending:
            break
        at = pending.pop()
        if at.type == "type_identifier":
            return (_text(at),)
        pending.extend(reversed(at.named_children))
    return ()


def _first(node: Node, kind: str) -> Node | None:
    return next((child for child in node.named_children if child.type == kind), None)


def _last(parts: tuple[str, ...]) -> tuple[str, ...]:
    return parts[-1:]


def _text(node: Node | None) -> str:
    if node is None:
        return ""
    return bytes(node.text[: 8 * _MAX_NAME]).decode("utf-8", "replace")


def _split(written: str) -> tuple[str, ...]:
    """``a::B<T>::c`` is ("a", "B", "c"); an operator stays whole, whatever signs it is made of."""
    head, operator, tail = written.partition("operator")
    if operator and not re.match(r"\w", tail) and not re.search(r"\w$", head):
        return (*_split(head), " ".join((operator + tail).split())[:_MAX_NAME])
    parts = _SEPARATORS.split(_without_parameters(written))
    return tuple(name for part in parts if (name := " ".join(part.split()).strip("`&*? ")[:_MAX_NAME]))


def _without_parameters(written: str) -> str:
    kept, depth = [], 0
    for sign in written:
        if sign == "<":
            depth += 1
        elif sign == ">":
            depth = max(0, depth - 1)
        elif not depth:
            kept.append(sign)
    return "".join(kept)
