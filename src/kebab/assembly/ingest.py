"""The ingest room joined to the engines."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kebab.assembly.cluster import build_cluster
from kebab.assembly.documents import InstalledEngines, OcrChoice, find_language_data
from kebab.assembly.formats import unread_formats
from kebab.assembly.media import CaptionChoice, SpeechChoice, why_no_captions, why_no_speech
from kebab.domain.documents import Media
from kebab.domain.turns import ALONE, Turns
from kebab.errors import ModelUnavailable, Timeout
from kebab.ingest.allocator import few_arenas
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.limits import IngestLimits
from kebab.ingest.parse.reading import Reading, ReadLimits
from kebab.ingest.pipeline import IngestPipeline
from kebab.ingest.scan import SourceFolder
from kebab.ports import Embedder, ModelKey, VectorIndex

if TYPE_CHECKING:
    from kebab.assembly.engines import Engines, Stores
    from kebab.config import Settings


def build_pipeline(
    settings: Settings, engines: Engines, stores: Stores, turns: Turns = ALONE
) -> IngestPipeline:
    """The pipeline that writes into ``stores``; without a usable model its report says so."""
    few_arenas()
    embedder, vectors, notes = _embedding(engines)
    installed = _installed(settings, engines.layout.recognised)
    reading = Reading(installed, _read_limits(settings), _choices(settings))
    return IngestPipeline(
        sources=source_folders(settings),
        inbox=engines.layout.inbox,
        policy=_policy(settings),
        limits=_limits(settings),
        reading=reading,
        store=stores.documents,
        embeddings=stores.embeddings,
        ledger=stores.ledger,
        lexical=engines.lexical_index,
        unread=unread_formats(settings),
        make_analyzer=engines.make_analyzer,
        embedder=embedder,
        embed_apart=engines.embeds_apart,
        vectors=vectors,
        notes=notes,
        cluster=build_cluster(settings, installed=installed, reading=reading, embedder=embedder),
        turns=turns,
        admits=engines.walls.admits if engines.walls and engines.walls.documents else None,
    )


def source_folders(settings: Settings) -> tuple[SourceFolder, ...]:
    return tuple(
        SourceFolder(s.id, Path(s.root), s.exclude, s.trust_level, s.source_type) for s in settings.sources
    )


def _policy(settings: Settings) -> ChunkPolicy:
    sizes = settings.chunking
    return ChunkPolicy(sizes.target_tokens, sizes.overlap_tokens, sizes.max_tokens)


def _limits(settings: Settings) -> IngestLimits:
    return IngestLimits(
        max_file_bytes=settings.ingest.max_file_mb << 20,
        follow_symlinks=settings.ingest.follow_symlinks,
        workers=settings.ingest.workers,
        batch_size=settings.models.embedding.batch_size,
        file_seconds=settings.ingest.file_timeout_s,
        worker_bytes=settings.ingest.worker_memory_mb << 20,
    )


def _read_limits(settings: Settings) -> ReadLimits:
    return ReadLimits(
        pages=settings.ingest.max_pages,
        nesting=settings.ingest.max_nesting,
        expanded_bytes=settings.ingest.max_expanded_mb << 20,
        expansion=settings.ingest.max_expansion,
        ocr_seconds=settings.ingest.file_timeout_s / 2,
    )


def _installed(settings: Settings, cache: Path) -> InstalledEngines:
    """What reads files; what the settings ask for and cannot be had here is left out."""
    speech, vision, seconds = settings.models.speech, settings.models.vision, settings.ingest.file_timeout_s
    return InstalledEngines(
        _images(settings, cache),
        None if why_no_captions(vision) else CaptionChoice(vision, cache, seconds),
        None if why_no_speech(speech) else SpeechChoice(speech, cache, seconds),
    )


def _choices(settings: Settings) -> tuple[tuple[Media, str], ...]:
    ingest, speech, vision = settings.ingest, settings.models.speech, settings.models.vision
    found = []
    if ingest.ocr:
        engine = ingest.ocr_engine if ingest.ocr_engine != "tesseract" else ingest.ocr_languages
        found += [(media, f"ocr {engine}") for media in (Media.IMAGE, Media.PDF)]
    if vision.provider != "none":
        found.append((Media.IMAGE, f"captions {vision.model} {vision.prompt}"))
    if speech.provider != "none":
        model = f"{speech.provider} {speech.model} {Path(speech.path).name} {speech.language}"
        found.append((Media.AUDIO, model))
    return tuple(found)


def _images(settings: Settings, cache: Path) -> OcrChoice | None:
    ingest = settings.ingest
    if not ingest.ocr or ingest.ocr_engine == "rapidocr":
        return OcrChoice("", "", cache, ingest.ocr_engine) if ingest.ocr else None
    data = find_language_data(ingest.ocr_languages, ingest.ocr_data)
    return OcrChoice(ingest.ocr_languages, data, cache) if data else None


def _embedding(engines: Engines) -> tuple[Embedder | None, VectorIndex | None, tuple[str, ...]]:
    """The model and its index; without a usable model, what the report is to say about it."""
    try:
        embedder = engines.embedder
        vectors = engines.vector_index(ModelKey.of(embedder)) if embedder else None
    except (ModelUnavailable, Timeout) as error:
        return None, None, (f"not embedded: {error.message}",)
    return embedder, vectors, ()
