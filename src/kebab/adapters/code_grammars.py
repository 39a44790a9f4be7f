"""What the nodes of each grammar mean: which ones are definitions, and where to look for more of them.

The names are those of the grammars in tree-sitter-language-pack 0.13. Every grammar is described by the same
five words, so that one walk reads all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Grammar:
    holders: frozenset[str]
    """Definitions whose members are definitions of their own: classes, modules, namespaces."""
    leaves: frozenset[str]
    """Definitions that are read as one: functions, methods."""
    wrappers: frozenset[str]
    """Stand around one definition and belong to it: decorators, ``export``, ``template``."""
    scopes: frozenset[str]
    """Hold definitions and have no name: bodies, ``#ifdef``, code that the grammar does not understand."""
    imports: frozenset[str]


def node_types(names: str) -> frozenset[str]:
    return frozenset(names.split())


LEADING = node_types(
    "comment line_comment block_comment multiline_comment attribute_item inner_attribute_item decorator "
    "annotation marginalia"
)
"""What belongs to the definition below it."""

_JAVASCRIPT = {
    "holders": "class_declaration",
    "leaves": "function_declaration generator_function_declaration method_definition assignment_expression "
    "variable_declarator field_definition pair",
    "wrappers": "export_statement lexical_declaration variable_declaration expression_statement",
    "scopes": "class_body object statement_block call_expression arguments parenthesized_expression "
    "function_expression arrow_function",
    "imports": "import_statement",
}
_TYPESCRIPT = {
    "holders": f"{_JAVASCRIPT['holders']} abstract_class_declaration interface_declaration internal_module "
    "module enum_declaration",
    "leaves": f"{_JAVASCRIPT['leaves']} function_signature abstract_method_signature method_signature "
    "public_field_definition type_alias_declaration",
    "wrappers": f"{_JAVASCRIPT['wrappers']} ambient_declaration",
    "scopes": f"{_JAVASCRIPT['scopes']} interface_body object_type",
    "imports": _JAVASCRIPT["imports"],
}
_C = {
    "holders": "struct_specifier union_specifier enum_specifier",
    "leaves": "function_definition declaration preproc_function_def",
    "wrappers": "type_definition",
    "scopes": "preproc_if preproc_ifdef preproc_else preproc_elif compound_statement",
    "imports": "preproc_include",
}

_TABLES: dict[str, dict[str, str]] = {
    "python": {
        "holders": "class_definition",
        "leaves": "function_definition",
        "wrappers": "decorated_definition",
        "scopes": "block if_statement elif_clause else_clause try_statement except_clause finally_clause "
        "with_statement",
        "imports": "import_statement import_from_statement future_import_statement",
    },
    "javascript": _JAVASCRIPT,
    "typescript": _TYPESCRIPT,
    "tsx": _TYPESCRIPT,
    "go": {
        "holders": "",
        "leaves": "function_declaration method_declaration type_spec type_alias",
        "wrappers": "type_declaration",
        "scopes": "",
        "imports": "import_declaration",
    },
    "rust": {
        "holders": "impl_item trait_item mod_item",
        "leaves": "function_item function_signature_item struct_item enum_item union_item macro_definition",
        "wrappers": "",
        "scopes": "declaration_list foreign_mod_item block",
        "imports": "use_declaration extern_crate_declaration",
    },
    "java": {
        "holders": "class_declaration interface_declaration enum_declaration record_declaration "
        "annotation_type_declaration",
        "leaves": "method_declaration constructor_declaration compact_constructor_declaration",
        "wrappers": "",
        "scopes": "class_body interface_body enum_body enum_body_declarations annotation_type_body",
        "imports": "import_declaration",
    },
    "kotlin": {
        "holders": "class_declaration object_declaration companion_object",
        "leaves": "function_declaration secondary_constructor",
        "wrappers": "",
        "scopes": "class_body enum_class_body",
        "imports": "import_list import_header",
    },
    "c": _C,
    "cpp": {
        "holders": f"{_C['holders']} class_specifier namespace_definition",
        "leaves": f"{_C['leaves']} field_declaration concept_definition",
        "wrappers": f"{_C['wrappers']} template_declaration",
        "scopes": f"{_C['scopes']} declaration_list field_declaration_list linkage_specification",
        "imports": _C["imports"],
    },
    "csharp": {
        "holders": "namespace_declaration class_declaration struct_declaration interface_declaration "
        "record_declaration enum_declaration",
        "leaves": "method_declaration constructor_declaration destructor_declaration operator_declaration "
        "conversion_operator_declaration indexer_declaration property_declaration delegate_declaration",
        "wrappers": "",
        "scopes": "declaration_list preproc_if preproc_else preproc_elif",
        "imports": "using_directive",
    },
    "ruby": {
        "holders": "module class",
        "leaves": "method singleton_method",
        "wrappers": "",
        "scopes": "body_statement singleton_class begin if unless then else",
        "imports": "",
    },
    "bash": {
        "holders": "",
        "leaves": "function_definition",
        "wrappers": "",
        "scopes": "if_statement else_clause elif_clause",
        "imports": "",
    },
    "sql": {
        "holders": "",
        "leaves": "create_table create_view create_materialized_view create_function create_procedure "
        "create_index create_trigger create_type create_schema create_sequence create_role create_database "
        "create_extension create_policy alter_table",
        "wrappers": "statement",
        "scopes": "transaction block",
        "imports": "",
    },
}

GRAMMARS = frozenset(_TABLES)


@cache
def grammar(name: str) -> Grammar:
    """The description of a grammar. Raises KeyError for one that is not in GRAMMARS."""
    table = {word: node_types(types) for word, types in _TABLES[name].items()}
    # Definitions inside what could not be understood are still definitions.
    table["scopes"] |= {"ERROR"}
    return Grammar(**table)
