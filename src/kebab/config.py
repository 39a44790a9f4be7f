"""Settings: defaults < file < ``KEBAB_SECTION__KEY`` < flags, read once into one frozen value.

Unknown keys, wrong types and impossible combinations are errors that name the key. Relative paths are
relative to the file that states them. Configuration and data never share a folder.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchMode
from kebab.errors import ConfigInvalid, ConfigNotFound

Positive = Annotated[int, Meta(ge=1)]
NonNegative = Annotated[int, Meta(ge=0)]
# Names of engines, checked when the file is read: a search must not be the first to learn of a wrong one.
LexicalEngine = Annotated[str, Meta(pattern="^(tantivy|fts5)$")]
FusionName = Annotated[str, Meta(pattern="^(rrf|weighted_rrf|convex|adaptive)$")]
EmbeddingProvider = Annotated[str, Meta(pattern="^(static|fastembed|onnx|ollama|openai|none)$")]
RerankerProvider = Annotated[str, Meta(pattern="^(none|fastembed)$")]
LlmProvider = Annotated[str, Meta(pattern="^(extractive|ollama|openai)$")]
SourceId = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._-]{1,64}$")]

DEFAULT_EXCLUDE = (
    ".*", "node_modules/", "target/", "__pycache__/", "venv/", "env/", "dist/", "build/", "vendor/",
)  # fmt: skip


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file; an unknown key in it is an error."""


class Workspace(Section, frozen=True):
    root: str = "~/KnowledgeBase"
    """The folder with your documents."""
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    """What the walk leaves out, in gitignore syntax; .gitignore and .kebabignore files hold as well."""


class Source(Section, frozen=True):
    id: SourceId
    """Letters, digits, dot, dash and underscore."""
    root: str
    """The folder of this source."""
    exclude: tuple[str, ...] = DEFAULT_EXCLUDE
    """What the walk leaves out, in gitignore syntax."""
    trust_level: TrustLevel = TrustLevel.PRIMARY
    """primary, secondary or generated; front matter may say otherwise."""
    source_type: str = "note"
    """A word of your own to filter by, such as note, paper or reference."""


class Storage(Section, frozen=True):
    data_dir: str = ""
    """Empty means ``$XDG_DATA_HOME/kebab``, on every system."""


class Ingest(Section, frozen=True):
    workers: NonNegative = 0
    """Processes that read files, and embed where the model is light; 0 means one a core."""
    max_file_mb: Positive = 50
    """Larger files are skipped, and reported as skipped."""
    follow_symlinks: bool = False
    """Loops are detected."""


class Chunking(Section, frozen=True):
    target_tokens: Annotated[int, Meta(ge=16)] = 500
    """Paragraphs gather until a chunk has about this size."""
    overlap_tokens: NonNegative = 80
    """What a chunk repeats of the one before it, in whole blocks."""
    max_tokens: Annotated[int, Meta(ge=16)] = 1000
    """No chunk is ever larger."""

    def __post_init__(self) -> None:
        if self.overlap_tokens >= self.target_tokens:
            raise ValueError("overlap_tokens must be smaller than target_tokens")
        if self.max_tokens < self.target_tokens:
            raise ValueError("max_tokens must not be smaller than target_tokens")


class EmbeddingModel(Section, frozen=True):
    provider: EmbeddingProvider = "static"
    """static (built in), fastembed, onnx, ollama, openai, none."""
    model: str = ""
    """The model's name at its provider; the built-in one needs none."""
    batch_size: Positive = 64
    """Texts embedded at once."""
    threads: NonNegative = 0
    """0 lets the engine choose."""
    endpoint: str = ""
    """Address of a server, for ollama and openai."""
    path: str = ""
    """Folder of a local ONNX model."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key; the key itself never stands in a file."""


class LlmModel(Section, frozen=True):
    provider: LlmProvider = "extractive"
    """extractive (built in, no model), ollama, openai."""
    model: str = ""
    """The model's name at its provider."""
    endpoint: str = ""
    """Address of the server."""
    temperature: Annotated[float, Meta(ge=0)] = 0.0
    """0 gives the same answer each time, as far as the model can."""
    seed: int = 0
    """For models that take one."""
    timeout_s: Annotated[float, Meta(gt=0)] = 120.0
    """Seconds without an answer before giving up."""
    context_tokens: Positive = 8192
    """How much the model can read."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key."""


class RerankerModel(Section, frozen=True):
    provider: RerankerProvider = "none"
    """none, or fastembed: a model that reads query and text together puts the first hits in order."""
    model: str = ""
    """A cross-encoder that fastembed lists; empty means one that reads English and Korean."""
    path: str = ""
    """Folder of a local model."""
    threads: NonNegative = 0
    """0 lets the engine choose."""
    top: Annotated[int, Meta(ge=1, le=1000)] = 20
    """How many of the first hits are put in order, however many are shown."""


class Models(Section, frozen=True):
    embedding: EmbeddingModel = EmbeddingModel()
    reranker: RerankerModel = RerankerModel()
    llm: LlmModel = LlmModel()


class Weights(Section, frozen=True):
    lexical: Annotated[float, Meta(ge=0)] = 0.7
    """What words count in weighted fusion."""
    vector: Annotated[float, Meta(ge=0)] = 0.3
    """What meaning counts in weighted fusion."""

    def __post_init__(self) -> None:
        if not self.lexical + self.vector:
            raise ValueError("lexical and vector must not both be 0")


class Adaptive(Section, frozen=True):
    """What adaptive fusion does with the evidence of a query; learned by ``kebab eval tune``."""

    held: Annotated[float, Meta(ge=0, le=1)] = 0.3
    """Weight of meaning when the best hits by words hold enough of the query."""
    unheld: Annotated[float, Meta(ge=0, le=1)] = 0.9
    """Weight of meaning when they hold nothing of it, or when the languages do not meet."""
    enough: Annotated[float, Meta(gt=0, le=1)] = 0.4
    """The share of the query, by rarity of its words, that is enough."""
    bridge: Annotated[float, Meta(ge=0, le=1)] = 0.9
    """How much of the words' part the nearest text in another language earns."""


class Search(Section, frozen=True):
    lexical_engine: LexicalEngine = "tantivy"
    """tantivy or fts5."""
    default_mode: SearchMode = SearchMode.HYBRID
    """lexical, vector or hybrid."""
    default_k: Annotated[int, Meta(ge=1, le=1000)] = 10
    """How many hits without -k."""
    hybrid_fusion: FusionName = "adaptive"
    """How the legs are joined: rrf, weighted_rrf, convex or adaptive."""
    rrf_k: Positive = 60
    """The constant of reciprocal rank fusion."""
    weights: Weights = Weights()
    adaptive: Adaptive = Adaptive()
    candidates: Annotated[int, Meta(ge=10, le=10_000)] = 100
    """How deep each leg looks; never less than twice the hits asked for."""
    snippet_chars: Annotated[int, Meta(ge=40, le=10_000)] = 220
    """Length of a snippet."""
    stale_threshold_days: NonNegative = 30
    """Hits indexed longer ago are marked stale; 0 never marks one for its age."""


class Gate(Section, frozen=True):
    """When a question may be answered; fitted by ``python -m benchmarks.answers --fit``."""

    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.4
    """Questions whose evidence is less likely than this to hold an answer are refused; 0 never refuses."""
    bias: float = -6.55
    """The constant of the fitted function; below it, what each feature counts (docs/asking.md)."""
    coverage: float = 3.43
    """How much of the question's words the best chunk holds."""
    specific: float = 1.73
    """The same for the question's rarest words."""
    closeness: float = 2.79
    """How close together they stand."""
    lexical: float = 3.47
    """How far the best hit by words stands out."""
    semantic: float = 3.92
    """How far the best hit by meaning stands out."""
    foreign_bias: float = -1.86
    """The constant for evidence in another language than the question, which is judged by meaning alone."""
    foreign_semantic: float = 11.1
    """How far the best hit by meaning stands out, for such evidence."""


class Rag(Section, frozen=True):
    gate: Gate = Gate()
    max_context_tokens: Annotated[int, Meta(ge=256)] = 8000
    """How much evidence an answer may rest on."""


class Memory(Section, frozen=True):
    url: str = ""
    """Empty means a folder beside the other data."""
    namespace: str = "kebab"
    """SurrealDB's namespace."""
    database: str = "memory"
    """SurrealDB's database."""
    search: Literal["derived", "native"] = "derived"
    """derived: indexes of words and vectors beside the store. native: the engine's own, which are slower."""


class Serve(Section, frozen=True):
    host: str = "127.0.0.1"
    """Anything but this computer needs a token."""
    port: Annotated[int, Meta(ge=1, le=65535)] = 7777
    """Where the HTTP interface listens."""


class File(Section, frozen=True):
    """The file as written."""

    workspace: Workspace = Workspace()
    sources: tuple[Source, ...] = ()
    storage: Storage = Storage()
    ingest: Ingest = Ingest()
    chunking: Chunking = Chunking()
    models: Models = Models()
    search: Search = Search()
    rag: Rag = Rag()
    memory: Memory = Memory()
    serve: Serve = Serve()


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """The file with every path made absolute: what the application is built from."""

    file: Path | None
    data_dir: Path
    sources: tuple[Source, ...]
    ingest: Ingest
    chunking: Chunking
    models: Models
    search: Search
    rag: Rag
    memory: Memory
    serve: Serve


def load(
    explicit: Path | None = None,
    *,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
) -> Settings:
    """Read the settings once.

    ``overrides`` are flags by dotted key, such as ``{"search.default_k": 5}``. Raises ConfigNotFound when an
    explicit file is absent, ConfigInvalid for anything the file, the environment or a flag gets wrong.
    """
    environ = os.environ if environ is None else environ
    path = _locate(explicit, environ=environ, cwd=cwd or Path.cwd())
    values = _read(path) if path else {}
    variables = _from_environment(environ)
    for key, value in variables.items():
        _set(values, key.split("."), value)
    for key, value in (overrides or {}).items():
        _set(values, key.split("."), value)
    base = path.parent if path else (cwd or Path.cwd())
    return _settled(_checked(values, path, variables), path, base=base, environ=environ)


def default_file(environ: Mapping[str, str] | None = None) -> Path:
    """Where ``kebab init`` writes and every command looks: XDG on every system."""
    environ = os.environ if environ is None else environ
    return _xdg(environ, "XDG_CONFIG_HOME", "~/.config") / "kebab" / "config.toml"


def _locate(explicit: Path | None, *, environ: Mapping[str, str], cwd: Path) -> Path | None:
    if explicit is not None:
        path = Path(os.path.abspath(explicit.expanduser()))
        if not path.is_file():
            raise ConfigNotFound(
                f"there is no configuration file at {path}", hint="create one with: kebab init DIR"
            )
        return path
    for candidate in (cwd / ".kebab" / "config.toml", default_file(environ)):
        if candidate.is_file():
            return candidate
    return None


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigInvalid(f"{path} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    """``KEBAB_SEARCH__DEFAULT_K=5`` → ``{"search.default_k": 5}``; a list is separated by commas."""
    found: dict[str, object] = {}
    for name, raw in sorted(environ.items()):
        if name.startswith("KEBAB_") and "__" in name:
            found[name.removeprefix("KEBAB_").lower().replace("__", ".")] = raw
    return found


def _set(values: dict[str, Any], keys: list[str], value: object) -> None:
    for key in keys[:-1]:
        values = values.setdefault(key, {})
        if not isinstance(values, dict):
            raise ConfigInvalid(f"{'.'.join(keys)}: {key} is not a section")
    values[keys[-1]] = value


def _checked(values: dict[str, Any], path: Path | None, variables: Collection[str]) -> File:
    workspace = values.get("workspace")
    if "sources" in values and isinstance(workspace, dict) and "root" in workspace:
        raise ConfigInvalid(
            "workspace.root and [[sources]] are both set", hint="keep one of them: sources replace the root"
        )
    try:
        return msgspec.convert(_typed(values), File, strict=True)
    except msgspec.ValidationError as error:
        key = _key_of(error)
        raise ConfigInvalid(f"{key}: {_message_of(error)}", hint=_origin(key, path, variables)) from error


def _origin(key: str, path: Path | None, variables: Collection[str]) -> str:
    """Where a wrong value was set. A key of a whole section stands for those inside it."""
    for set_there in variables:
        if f"{set_there}.".startswith(f"{key}."):
            return f"the value comes from the environment: KEBAB_{set_there.replace('.', '__').upper()}"
    return f"the value stands in {path}" if path else "see: kebab init for an annotated file"


def _typed(values: dict[str, Any]) -> dict[str, Any]:
    """Give strings from the environment the type that their key asks for."""
    return {key: _typed_section(File, key, value) for key, value in values.items()}


def _typed_section(owner: type, key: str, value: object) -> object:
    field = next((f for f in msgspec.structs.fields(owner) if f.name == key), None)
    if field is None:
        return value
    if isinstance(value, dict) and isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
        return {k: _typed_section(field.type, k, v) for k, v in value.items()}
    if isinstance(value, str) and field.type is not str:
        if getattr(field.type, "__origin__", None) is tuple:
            return [part.strip() for part in value.split(",") if part.strip()]
        try:
            return msgspec.convert(value, field.type, strict=False)
        except msgspec.ValidationError:
            return value  # reported with its key by the strict pass
    return value


def _key_of(error: msgspec.ValidationError) -> str:
    if unknown := re.search(r"unknown field `([^`]+)`", str(error)):
        parent = re.search(r"at `\$\.?([^`]*)`", str(error))
        prefix = f"{parent[1]}." if parent and parent[1] else ""
        return f"{prefix}{unknown[1]}"
    match = re.search(r"at `\$\.?([^`]*)`", str(error))
    return match[1] if match and match[1] else "configuration"


def _message_of(error: msgspec.ValidationError) -> str:
    if "unknown field" in str(error):
        return "there is no such setting"
    if names := re.search(r"matching regex '\^\(([a-z0-9_|]+)\)\$'", str(error)):
        return f"it must be one of {', '.join(names[1].split('|'))}"
    return re.sub(r" - at `[^`]*`", "", str(error))


def _settled(file: File, path: Path | None, *, base: Path, environ: Mapping[str, str]) -> Settings:
    data_dir = (
        _absolute(file.storage.data_dir, base)
        if file.storage.data_dir
        else _xdg(environ, "XDG_DATA_HOME", "~/.local/share") / "kebab"
    )
    sources = file.sources or (
        Source(id="default", root=file.workspace.root, exclude=file.workspace.exclude),
    )
    ids = [source.id for source in sources]
    if len(set(ids)) < len(ids):
        raise ConfigInvalid(f"sources.id: two sources are called {max(ids, key=ids.count)!r}")
    rooted = tuple(msgspec.structs.replace(s, root=str(_absolute(s.root, base))) for s in sources)
    embedding, reranker = file.models.embedding, file.models.reranker
    if embedding.path:
        embedding = msgspec.structs.replace(embedding, path=str(_absolute(embedding.path, base)))
    if reranker.path:
        reranker = msgspec.structs.replace(reranker, path=str(_absolute(reranker.path, base)))
    return Settings(
        file=path,
        data_dir=data_dir,
        sources=rooted,
        ingest=file.ingest,
        chunking=file.chunking,
        models=msgspec.structs.replace(file.models, embedding=embedding, reranker=reranker),
        search=file.search,
        rag=file.rag,
        memory=file.memory,
        serve=file.serve,
    )


def _absolute(path: str, base: Path) -> Path:
    expanded = Path(os.path.expandvars(path)).expanduser()
    return Path(os.path.normpath(base / expanded))


def _xdg(environ: Mapping[str, str], name: str, fallback: str) -> Path:
    value = environ.get(name, "")
    return Path(value) if value.startswith("/") else Path(fallback).expanduser()
