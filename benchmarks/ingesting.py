"""Ingest on real Markdown by stage, and an unchanged tree again."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from kebab.app import Kebab

ARCHIVES = ("notes-en-nikita.tar.gz", "notes-ko-johngrib.tar.gz")
UNCHANGED_FILES = 10_000
ROUNDS = 3


@dataclass(frozen=True)
class Measurement:
    """A line of the report: what, the figure with its unit, and the target of the specification."""

    what: str
    value: str
    target: str = ""


def unpacked_notes(data: Path, vault: Path, folder: Path) -> Path:
    """Real notes in both languages; the sample vault many times over where they are absent."""
    folder.mkdir(parents=True)
    archives = [data / name for name in ARCHIVES if (data / name).is_file()]
    for archive in archives:
        with tarfile.open(archive) as packed:
            packed.extractall(folder / archive.name.split(".")[0], filter="data")
    if not archives:
        for copy in range(300):
            for note in vault.rglob("*.md"):
                target = folder / str(copy) / note.relative_to(vault)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(f"{note.read_text('utf-8')}\n\ncopy {copy}\n", encoding="utf-8")
    return folder


@dataclass(frozen=True)
class _Round:
    """One ingest without embedding, one with, and the bare model on the same chunks, in seconds."""

    alone: float
    alone_ms: Mapping[str, int]
    embedding: float
    embedding_ms: Mapping[str, int]
    bare: float
    chunks: int

    @property
    def share(self) -> float:
        """Of the slower of the two alone, what both together reach."""
        return max(self.alone, self.bare) / self.embedding


def stages(root: Path, work: Path) -> Iterator[Measurement]:
    """Throughput of an ingest without and with the default model; medians, as a shared machine wavers."""
    files = [path for path in root.rglob("*.md") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 1e6
    rounds = [_round(root, work / str(number)) for number in range(ROUNDS)]
    middle = sorted(rounds, key=lambda one: one.alone)[ROUNDS // 2]
    yield Measurement(
        f"ingest without embedding: {len(files)} files, {size:.1f} MB",
        f"{size / middle.alone:.2f} MB/s ({_each(size / one.alone for one in rounds)})",
        "≥ 8 MB/s",
    )
    yield from _by_stage(middle.alone_ms, size)
    middle = sorted(rounds, key=lambda one: one.embedding)[ROUNDS // 2]
    yield Measurement(
        "ingest with the default model",
        f"{size / middle.embedding:.2f} MB/s, {middle.chunks / middle.embedding:.0f} chunks a second",
        "≥ 4 MB/s",
    )
    yield from _by_stage(middle.embedding_ms, size)
    yield Measurement("· the bare model on the same chunks", f"{middle.chunks / middle.bare:.0f} a second")
    share = statistics.median(one.share for one in rounds)
    yield Measurement(
        "· share of the slower of both alone",
        f"{share:.0%} ({_each(100 * one.share for one in rounds)} %)",
        "≥ 90 %",
    )


def _each(values: Iterable[float]) -> str:
    return ", ".join(f"{value:.3g}" for value in values)


def _by_stage(stage_ms: Mapping[str, int], size: float) -> Iterator[Measurement]:
    for stage, milliseconds in stage_ms.items():
        rate = f" ({size / milliseconds * 1000:.1f} MB/s)" if milliseconds else ""
        yield Measurement(f"· {stage}", f"{milliseconds / 1000:.2f} s{rate}")


def _round(root: Path, work: Path) -> _Round:
    alone, alone_ms, _ = _ingest(root, work / "alone", {"models.embedding.provider": "none"})
    embedding, embedding_ms, chunks = _ingest(root, work / "embedding", {})
    return _Round(alone, alone_ms, embedding, embedding_ms, _bare_model(work / "embedding"), chunks)


def _ingest(root: Path, work: Path, overrides: dict[str, object]) -> tuple[float, Mapping[str, int], int]:
    with Kebab.open(root=root, data_dir=work, overrides=overrides) as kebab:
        started = time.perf_counter()
        report = kebab.ingest()
        return time.perf_counter() - started, report.stage_ms, report.run.embedded


def _bare_model(work: Path) -> float:
    from kebab.domain.chunks import embedding_input
    from kebab.ports import EmbeddingKind

    with Kebab.open(data_dir=work, readonly=True) as kebab:
        texts = [
            embedding_input(title=one.title, heading_path=one.chunk.heading_path, text=one.chunk.text)
            for one in kebab.engines.reading.documents.stored_chunks()
        ]
        embedder = kebab.engines.build_embedder(kebab.settings.models.embedding)
        if embedder is None:
            raise SystemExit("the default model is switched off")
        started = time.perf_counter()
        for start in range(0, len(texts), 64):
            embedder.embed(texts[start : start + 64], EmbeddingKind.DOCUMENT)
        return time.perf_counter() - started


def many_files(folder: Path, texts: Iterator[str]) -> Path:
    """Ten thousand small notes, one chunk each."""
    for number in range(UNCHANGED_FILES):
        target = folder / f"{number // 200:03d}" / f"{number:05d}.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(f"# Note {number}\n\n{next(texts)}\n", encoding="utf-8")
    return folder


def unchanged(root: Path, work: Path) -> Iterator[Measurement]:
    """A second run over an unchanged tree, in this process and from the shell."""
    with Kebab.open(root=root, data_dir=work) as kebab:
        kebab.ingest()
        times = []
        for _ in range(3):
            started = time.perf_counter()
            report = kebab.ingest()
            times.append(time.perf_counter() - started)
    found = report.run.unchanged
    yield Measurement(f"second run, {found} unchanged files, in process", f"{min(times):.2f} s", "≤ 0.5 s")
    shell = [_shell(work, root, "ingest", "--quiet") for _ in range(3)]
    yield Measurement("second run from the shell (kebab ingest)", f"{min(shell):.2f} s", "≤ 0.5 s")


def _shell(work: Path, root: Path, *arguments: str) -> float:
    command = Path(sys.executable).with_name("kebab")
    environment = {
        "KEBAB_STORAGE__DATA_DIR": str(work),
        "KEBAB_WORKSPACE__ROOT": str(root),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": str(work),
    }
    started = time.perf_counter()
    done = subprocess.run([str(command), *arguments], env=environment, capture_output=True, check=False)
    spent = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise SystemExit(f"kebab {' '.join(arguments)} failed: {done.stderr.decode()[:300]}")
    return spent
