"""The tables of the file: every key that can be set, its type, its default, and what it is for.

The string below a key is its documentation; ``kebab init`` writes it into the annotated file.

A type written ``Free[…]``, ``InProject[…]`` or ``InKebab[…]`` says what a project's file may set before its
owner trusts it (see ``trust``). A key without such a mark needs trust, so that a new one does by default.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchMode
from kebab.validation import RULE

T = TypeVar("T")


class Untrusted(Enum):
    """What the file of a project that nobody trusts yet may do with a key."""

    SETS = auto()
    NAMES_IN_PROJECT = auto()
    """Only a folder inside the project."""
    NAMES_IN_KEBAB = auto()
    """Only a folder inside the project's ``.kebab``, where kebab may write."""


Free = Annotated[T, Untrusted.SETS]
InProject = Annotated[T, Untrusted.NAMES_IN_PROJECT]
InKebab = Annotated[T, Untrusted.NAMES_IN_KEBAB]

Positive = Annotated[int, Meta(ge=1, le=100_000_000)]
NonNegative = Annotated[int, Meta(ge=0, le=100_000_000)]
# Names of engines, checked when the file is read: a search must not be the first to learn of a wrong one.
LexicalEngine = Annotated[str, Meta(pattern="^(tantivy|fts5|lance)$")]
VectorEngine = Annotated[str, Meta(pattern="^(auto|int8|lance)$")]
FusionName = Annotated[str, Meta(pattern="^(rrf|weighted_rrf|convex|adaptive|learned)$")]
EmbeddingProvider = Annotated[str, Meta(pattern="^(static|fastembed|onnx|ollama|openai|none)$")]
RerankerProvider = Annotated[str, Meta(pattern="^(none|fastembed)$")]
OcrEngine = Annotated[str, Meta(pattern="^(tesseract|rapidocr)$")]
SpeechProvider = Annotated[str, Meta(pattern="^(none|whisper|openai)$")]
VisionProvider = Annotated[str, Meta(pattern="^(none|openai)$")]
LlmProvider = Annotated[str, Meta(pattern="^(extractive|ollama|openai)$")]
SourceId = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9._-]{1,64}$",
        extra={RULE: "up to 64 Latin letters, digits, dots, dashes and underscores"},
    ),
]
RayAddress = Annotated[
    str,
    Meta(
        pattern=r"^(ray|ray://[A-Za-z0-9._\[\]:-]{1,255})?$",
        extra={RULE: "ray, an address such as ray://HOST:10001, or empty"},
    ),
]
OcrLanguages = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z_]{2,20}(\+[A-Za-z_]{2,20}){0,9}$",
        extra={RULE: "up to ten names of Tesseract's languages joined by +, such as kor+eng"},
    ),
]
LanguageCode = Annotated[
    str, Meta(pattern="^([a-z]{2,3})?$", extra={RULE: "the code of a language, such as ko, or empty"})
]

DEFAULT_EXCLUDE = (
    ".*", "node_modules/", "target/", "__pycache__/", "venv/", "env/", "dist/", "build/", "vendor/",
)  # fmt: skip


class Section(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A table of the file; an unknown key in it is an error."""


class Workspace(Section, frozen=True):
    root: InProject[str] = "~/KnowledgeBase"
    """The folder with your documents; a project's file that names none means the project's folder."""
    exclude: Free[tuple[str, ...]] = DEFAULT_EXCLUDE
    """What the walk leaves out, in gitignore syntax; .gitignore and .kebabignore files hold as well."""


class Source(Section, frozen=True):
    id: Free[SourceId]
    """Letters, digits, dot, dash and underscore; inbox is taken by what belongs to no source."""
    root: InProject[str]
    """The folder of this source."""
    exclude: Free[tuple[str, ...]] = DEFAULT_EXCLUDE
    """What the walk leaves out, in gitignore syntax."""
    trust_level: Free[TrustLevel] = TrustLevel.PRIMARY
    """primary, secondary or generated; front matter may say otherwise."""
    source_type: Free[str] = "note"
    """A word of your own to filter by, such as note, paper or reference."""


class Storage(Section, frozen=True):
    data_dir: InKebab[str] = ""
    """Empty means ``data`` beside a project's file, and ``$XDG_DATA_HOME/kebab`` elsewhere."""
    lock_timeout_s: Annotated[float, Meta(ge=0, le=86_400)] = 30.0
    """How long a command that writes waits for another one to let it in."""


class Ingest(Section, frozen=True):
    on: RayAddress = ""
    """Where large runs read and embed: here if empty, on a Ray cluster by ray://HOST:PORT, on a Ray that is
    started here by ray. Needs: pip install 'kebab[ray]'."""
    workers: NonNegative = 0
    """Processes that read files, and embed where the model is light; 0 means one a core."""
    max_file_mb: Positive = 50
    """Larger files are skipped, and reported as skipped."""
    follow_symlinks: bool = False
    """Loops are detected."""
    file_timeout_s: Positive = 120
    """A process that reads one file for longer is stopped, and the file is reported as failed."""
    code: Free[bool] = True
    """Read source code too, where the extra for it is installed: pip install 'kebab[code]'."""
    worker_memory_mb: NonNegative = 2048
    """Memory of a process that reads files; a file that needs more is reported as failed. 0 sets no limit."""
    max_pages: Positive = 5000
    """Pages, slides, chapters or messages of one file; what lies behind is left out, with a warning."""
    max_nesting: Annotated[int, Meta(ge=10, le=2000)] = 200
    """Levels of XML, JSON and of messages inside messages; a file that goes deeper is skipped."""
    max_expanded_mb: Positive = 256
    """What the archive inside a document (DOCX, EPUB, HWPX) may hold unpacked; larger ones are skipped."""
    max_expansion: Positive = 200
    """How many times larger than the file that may be, once it is above 16 MB."""
    ocr: bool = False
    """Read the text in images and scanned pages. Slow: about a second a page."""
    ocr_engine: OcrEngine = "tesseract"
    """tesseract, or rapidocr, which reads no Hangul and needs no data: pip install rapidocr onnxruntime."""
    ocr_languages: OcrLanguages = "kor+eng"
    """Languages of Tesseract, joined by +; fewer are faster."""
    ocr_data: str = ""
    """The folder with the data of these languages; empty means where the system keeps it."""


class Chunking(Section, frozen=True):
    target_tokens: Free[Annotated[int, Meta(ge=16, le=1_000_000)]] = 500
    """Paragraphs gather until a chunk has about this size."""
    overlap_tokens: Free[NonNegative] = 80
    """What a chunk repeats of the one before it, in whole blocks."""
    max_tokens: Free[Annotated[int, Meta(ge=16, le=1_000_000)]] = 1000
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
    seed: Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)] = 0
    """For models that take one."""
    timeout_s: Annotated[float, Meta(gt=0)] = 120.0
    """Seconds without an answer before giving up."""
    context_tokens: Positive = 8192
    """How much the model can read."""
    structured: bool = True
    """Ask for answers as JSON of a given form; a server that refuses is asked for plain text."""
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


class SpeechModel(Section, frozen=True):
    provider: SpeechProvider = "none"
    """none, whisper (a folder on this computer), or openai (a server, which recordings are sent to)."""
    model: str = ""
    """The model's name at the server."""
    endpoint: str = ""
    """Address of the server, such as http://127.0.0.1:8080/v1."""
    path: str = ""
    """Folder of a Whisper model in ONNX, for whisper."""
    language: LanguageCode = ""
    """What is spoken, such as ko or en; empty lets the model find out."""
    threads: NonNegative = 0
    """0 lets the engine choose."""
    timeout_s: Annotated[float, Meta(gt=0)] = 100.0
    """Seconds without an answer before giving up; ingest.file_timeout_s ends it too."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key."""


class VisionModel(Section, frozen=True):
    provider: VisionProvider = "none"
    """none, or openai: a server, which images are sent to, describes them in a few sentences."""
    model: str = ""
    """The model's name at the server; it must be one that sees."""
    endpoint: str = ""
    """Address of the server, such as http://127.0.0.1:8080/v1."""
    prompt: str = "Describe this image in two or three sentences. Copy the words that stand in it."
    """What the model is asked; say here in which language it is to answer."""
    timeout_s: Annotated[float, Meta(gt=0)] = 100.0
    """Seconds without an answer before giving up; ingest.file_timeout_s ends it too."""
    api_key_env: str = ""
    """Name of the environment variable that holds the key."""


class Models(Section, frozen=True):
    embedding: EmbeddingModel = EmbeddingModel()
    reranker: RerankerModel = RerankerModel()
    llm: LlmModel = LlmModel()
    speech: SpeechModel = SpeechModel()
    vision: VisionModel = VisionModel()


class Weights(Section, frozen=True):
    lexical: Free[Annotated[float, Meta(ge=0)]] = 0.7
    """What words count in weighted fusion."""
    vector: Free[Annotated[float, Meta(ge=0)]] = 0.3
    """What meaning counts in weighted fusion."""

    def __post_init__(self) -> None:
        if not self.lexical + self.vector:
            raise ValueError("lexical and vector must not both be 0")


class Adaptive(Section, frozen=True):
    """What adaptive fusion does with the evidence of a query; learned by ``kebab eval tune``."""

    held: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.3
    """Weight of meaning when the best hits by words hold enough of the query."""
    unheld: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.9
    """Weight of meaning when they hold nothing of it, or when the languages do not meet."""
    enough: Free[Annotated[float, Meta(gt=0, le=1)]] = 0.4
    """The share of the query, by rarity of its words, that is enough."""
    bridge: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.9
    """How much of the words' part the nearest text in another language earns."""


class Learned(Section, frozen=True):
    """What learned fusion adds to adaptive fusion; learned by ``kebab eval tune``."""

    name: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.15
    """What a chunk earns whose title and headings hold the whole query."""
    coverage: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.0
    """What a chunk earns that holds the whole query."""
    nearness: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.15
    """What a chunk earns in which the words of the query stand beside each other."""
    whole: Free[Annotated[float, Meta(ge=0, le=1)]] = 0.1
    """Weight of meaning, at most, where the best hits by words hold all of several words."""


class Search(Section, frozen=True):
    lexical_engine: Free[LexicalEngine] = "tantivy"
    """tantivy, fts5 or lance (its full-text index, in the extra lance; slower to follow changes)."""
    vector_engine: Free[VectorEngine] = "auto"
    """int8, lance (its approximate index, in the extra lance), or auto: int8 for the built-in model, for up
    to 200,000 vectors of another one, and where lance is not installed."""
    default_mode: Free[SearchMode] = SearchMode.HYBRID
    """lexical, vector or hybrid."""
    default_k: Free[Annotated[int, Meta(ge=1, le=1000)]] = 10
    """How many hits without -k."""
    hybrid_fusion: Free[FusionName] = "learned"
    """How the legs are joined: rrf, weighted_rrf, convex, adaptive or learned."""
    rrf_k: Free[Positive] = 60
    """The constant of reciprocal rank fusion."""
    weights: Weights = Weights()
    adaptive: Adaptive = Adaptive()
    learned: Learned = Learned()
    candidates: Free[Annotated[int, Meta(ge=100, le=10_000)]] = 100
    """How deep each leg looks; never less than twice the hits asked for."""
    snippet_chars: Free[Annotated[int, Meta(ge=40, le=10_000)]] = 220
    """Length of a snippet."""
    stale_threshold_days: Free[NonNegative] = 30
    """Hits indexed longer ago are marked old; 0 marks none."""
    refresh: Free[bool] = False
    """Look at the files before each search, and read what changed if that takes less than a second."""


class Gate(Section, frozen=True):
    """When a question may be answered; see docs/asking.md."""

    threshold: Annotated[float, Meta(ge=0, le=1)] = 0.35
    """Questions whose evidence is less likely than this to hold an answer are refused; 0 never refuses."""
    keyword_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.05
    """The same for a few words that are no question."""


class Rag(Section, frozen=True):
    gate: Gate = Gate()
    weights: str = ""
    """A file that kebab eval tune wrote; empty means the weights that ship."""
    max_context_tokens: Annotated[int, Meta(ge=256, le=10_000_000)] = 8000
    """How much evidence an answer may rest on."""
    max_answer_tokens: Annotated[int, Meta(ge=16, le=1_000_000)] = 1024
    """How long a model's answer may be; one that is cut there says so."""
    max_seconds: Annotated[float, Meta(gt=0, le=86_400)] = 300.0
    """How long a model may take in all; what had arrived by then is kept, and says so."""


class Memory(Section, frozen=True):
    url: str = ""
    """Empty means a folder beside the other data; surrealkv://FOLDER another one, wss://… a server."""
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


class Index(Section, frozen=True):
    """Search what was published elsewhere, instead of what is stored here; see docs/team.md."""

    url: str = ""
    """Where kebab publish wrote it: a folder, s3://BUCKET/FOLDER, gs://…, az://… or qdrant://…."""
    cache_dir: str = ""
    """Where this computer keeps what it read of it; empty means $XDG_CACHE_HOME/kebab."""
    cache_mb: Positive = 20_000
    """What published knowledge bases may take there together; those not read for an hour make room."""
    follow_s: Annotated[float, Meta(ge=0, le=86_400)] = 10.0
    """How often an open process asks whether something new was published."""


class Screen(Section, frozen=True):
    links: str = "file"
    """Where a hit leads when it is clicked: file, vscode, cursor, zed, obsidian, none, or an address of your
    own with {path} and {line}, such as idea://open?file={path}&line={line}."""


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
    index: Index = Index()
    screen: Screen = Screen()
