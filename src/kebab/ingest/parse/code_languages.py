"""Which programming language a file is written in, by its extension."""

from __future__ import annotations

import re
from typing import NamedTuple


class Language(NamedTuple):
    name: str
    """As ``code_lang`` says it and the filter takes it."""
    grammar: str | None = None
    """What the reader calls its grammar; None for a language that is read by paragraphs."""


_BY_GRAMMAR = {
    "python": (".py", ".pyi", ".pyw"),
    "javascript": (".js", ".mjs", ".cjs", ".jsx"),
    "typescript": (".ts", ".mts", ".cts"),
    "go": (".go",),
    "rust": (".rs",),
    "java": (".java",),
    "kotlin": (".kt", ".kts"),
    "c": (".c", ".h"),
    "cpp": (".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".inl"),
    "csharp": (".cs",),
    "ruby": (".rb", ".rake", ".gemspec"),
    "sql": (".sql",),
}
_BY_PARAGRAPHS = {
    "assembly": (".asm", ".s"),
    "clojure": (".clj", ".cljs", ".cljc"),
    "cmake": (".cmake",),
    "css": (".css", ".scss", ".sass", ".less"),
    "cuda": (".cu", ".cuh"),
    "dart": (".dart",),
    "elixir": (".ex", ".exs"),
    "elm": (".elm",),
    "emacs-lisp": (".el",),
    "erlang": (".erl", ".hrl"),
    "fortran": (".f", ".f90", ".f95", ".f03"),
    "fsharp": (".fs", ".fsx"),
    "gradle": (".gradle",),
    "graphql": (".graphql", ".gql"),
    "groovy": (".groovy",),
    "haskell": (".hs", ".lhs"),
    "julia": (".jl",),
    "lisp": (".lisp", ".lsp"),
    "lua": (".lua",),
    "makefile": (".mk",),
    "nix": (".nix",),
    "nim": (".nim",),
    "objective-c": (".m", ".mm"),
    "ocaml": (".ml", ".mli"),
    "pascal": (".pas",),
    "perl": (".pl", ".pm"),
    "php": (".php",),
    "powershell": (".ps1", ".psm1"),
    "protobuf": (".proto",),
    "r": (".r",),
    "scala": (".scala", ".sc"),
    "scheme": (".scm", ".rkt"),
    "solidity": (".sol",),
    "svelte": (".svelte",),
    "swift": (".swift",),
    "tcl": (".tcl",),
    "terraform": (".tf",),
    "verilog": (".v", ".sv"),
    "vhdl": (".vhd", ".vhdl"),
    "vim": (".vim",),
    "visual-basic": (".vb", ".bas"),
    "vue": (".vue",),
    "zig": (".zig",),
}

LANGUAGES: dict[str, Language] = {
    **{ending: Language(name) for name, endings in _BY_PARAGRAPHS.items() for ending in endings},
    **{ending: Language(name, name) for name, endings in _BY_GRAMMAR.items() for ending in endings},
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".bats"), Language("shell", "bash")),
    ".tsx": Language("typescript", "tsx"),
}
"""Lower-case extension → language."""

# What stands in a header of C++ and cannot stand in one of C.
_ONLY_CPP = re.compile(
    r"^[ \t]*(?:class[ \t]+\w|namespace\b|template[ \t]*<|using[ \t]|public:)", re.MULTILINE
)
_SAMPLE = 100_000


def language_of(ending: str, text: str) -> Language:
    """The language of a file with this extension; raises KeyError where none is known."""
    if ending == ".h" and _ONLY_CPP.search(text, 0, _SAMPLE):
        return LANGUAGES[".hpp"]
    return LANGUAGES[ending]
