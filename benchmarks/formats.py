"""Real files by format: how many are read, how fast, and what becomes of the rest.

``python -m benchmarks.formats FOLDER…`` ingests the files below the folders, one extension at a time, each
into a knowledge base of its own, and prints a row of Markdown for each. Nothing is written beside the files.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path

from kebab.app import Kebab
from kebab.domain.ingests import IngestReport, Outcome
from kebab.ingest.parse.formats import FORMATS, extension

HEAD = "| format | files | MB | indexed | chunks | skipped | failed | s | files/s | MB/s |"


def by_extension(folders: Sequence[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = defaultdict(list)
    for folder in folders:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and extension(file.name) in FORMATS:
                found[extension(file.name)].append(file)
    return dict(sorted(found.items()))


def ingest(files: Sequence[Path]) -> tuple[IngestReport, float]:
    """The report of a run over copies of these files, and its seconds; no vectors are made."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place, "files")
        root.mkdir()
        for number, file in enumerate(files):
            (root / f"{number:05}-{file.name[-80:]}").write_bytes(file.read_bytes())
        settings = {"models.embedding.provider": "none"}
        with Kebab.open(root=root, data_dir=Path(place, "data"), overrides=settings) as kb:
            begun = time.perf_counter()
            report = kb.ingest()
            return report, time.perf_counter() - begun


def row(ending: str, files: Sequence[Path], report: IngestReport, seconds: float) -> str:
    run, size = report.run, sum(file.stat().st_size for file in files) / 1e6
    cells = [ending, len(files), f"{size:.1f}", run.indexed, run.chunks, run.skipped, run.failed]
    cells += [f"{seconds:.1f}", f"{len(files) / seconds:.0f}", f"{size / seconds:.1f}"]
    return "| " + " | ".join(map(str, cells)) + " |"


def reasons(report: IngestReport) -> Iterator[str]:
    bad = (Outcome.SKIPPED, Outcome.FAILED)
    counted = Counter(item.reason or "" for item in report.items if item.outcome in bad)
    return (f"    {count} × {reason}" for reason, count in counted.most_common())


def main() -> None:
    print(HEAD + "\n|---|" + "---:|" * 9)
    for ending, files in by_extension([Path(name) for name in sys.argv[1:]]).items():
        report, seconds = ingest(files)
        print(row(ending, files, report, seconds), flush=True)
        for line in reasons(report):
            print(line, file=sys.stderr)


if __name__ == "__main__":
    main()
