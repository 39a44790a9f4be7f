"""Who works for a run: nobody else for a little, processes here for much, a cluster where one is named."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from kebab.domain.documents import TrustLevel
from kebab.domain.ingests import IngestItem, Outcome
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.limits import IngestLimits
from kebab.ingest.parse.reading import BARE
from kebab.ingest.prepare import FileTask, Preparing, carrying, prepare
from kebab.ingest.staff import EMBED, PREPARE, Cluster, Embedding, Staff
from kebab.ingest.workers import ProcessWorkers, prepare_all
from kebab.ports import EmbeddingKind, Job, Workers
from tests.fakes import FakeEmbedder
from tests.worker_fakes import FakeWorkers

POLICY = ChunkPolicy()


class Hired:
    """Hires fakes and remembers their jobs."""

    def __init__(self) -> None:
        self.jobs: Mapping[str, Job] = {}

    def __call__(self, jobs: Mapping[str, Job], _: int) -> Workers:
        self.jobs = jobs
        return FakeWorkers(jobs, elsewhere=True)


def task(folder: Path, number: int) -> FileTask:
    file = folder / f"{number}.md"
    file.write_text(f"# Note {number}\n\ntext {number}\n")
    found = file.stat()
    return FileTask(
        "notes", file.name, str(file), found.st_size, found.st_mtime_ns, "note", TrustLevel.PRIMARY
    )


def staff(hire: Hired | None, *, embeds: bool = True) -> Staff:
    return Staff(
        preparing=Preparing(POLICY),
        limits=IngestLimits(workers=1, batch_size=2),
        embedder=FakeEmbedder(),
        cluster=Cluster(hire=hire, reading=BARE, embeds=embeds) if hire else None,
    )


_HIRES = """
import sys
from kebab.adapters.embedders.static import StaticEmbedder
from kebab.ingest.chunk.policy import ChunkPolicy
from kebab.ingest.limits import IngestLimits
from kebab.ingest.prepare import Preparing
from kebab.ingest.staff import Staff

staff = Staff(
    preparing=Preparing(ChunkPolicy()), limits=IngestLimits(), embedder=StaticEmbedder(), embed_apart=True
)
before = "numpy" in sys.modules
staff.hired([], much_to_embed=True)
print(before, "numpy" in sys.modules)
"""


def test_numpy_is_there_before_an_answer_with_vectors_is_unpickled() -> None:
    # In a process of its own: this one has long imported it.
    done = subprocess.run([sys.executable, "-c", _HIRES], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_a_large_run_goes_to_the_cluster_with_its_embedding(tmp_path: Path) -> None:
    hire = Hired()
    workers = staff(hire).hired([task(tmp_path, n) for n in range(200)], much_to_embed=False)
    assert workers is not None
    assert workers.elsewhere
    assert set(hire.jobs) == {PREPARE, EMBED}
    assert staff(hire).embeds(workers)


def test_a_model_that_cannot_travel_stays_here(tmp_path: Path) -> None:
    hire = Hired()
    workers = staff(hire, embeds=False).hired([task(tmp_path, n) for n in range(200)], much_to_embed=False)
    assert workers is not None
    assert set(hire.jobs) == {PREPARE}
    assert not staff(hire, embeds=False).embeds(workers)


def test_a_small_run_stays_here(tmp_path: Path) -> None:
    assert staff(Hired()).hired([task(tmp_path, 1)], much_to_embed=False) is None


def test_without_a_cluster_processes_work(tmp_path: Path) -> None:
    workers = staff(None).hired([task(tmp_path, n) for n in range(200)], much_to_embed=False)
    assert isinstance(workers, ProcessWorkers)
    with workers:
        assert not workers.elsewhere


def test_bytes_travel_to_workers_that_have_no_files(tmp_path: Path) -> None:
    tasks = [task(tmp_path, n) for n in range(5)]
    here = [prepare(one, POLICY) for one in tasks]
    gone = FileTask("notes", "gone.md", str(tmp_path / "gone.md"), 1, 0, "note", TrustLevel.PRIMARY)

    class Unlinking(Preparing):
        """Prepares where the files are not."""

        def __call__(self, batch: object) -> list[object]:  # type: ignore[override]
            for one in tasks:
                Path(one.absolute).unlink(missing_ok=True)
            return list(Preparing(POLICY)(batch))  # type: ignore[arg-type]

    with FakeWorkers({PREPARE: Unlinking(POLICY)}, elsewhere=True) as workers:
        found = [result for batch in prepare_all([*tasks, gone], workers, job=PREPARE) for result in batch]
    assert found[:-1] == here
    assert isinstance(found[-1], IngestItem)
    assert found[-1].outcome is Outcome.SKIPPED


def test_carried_bytes_have_the_size_and_time_that_they_had_when_they_were_read(tmp_path: Path) -> None:
    seen = task(tmp_path, 1)
    Path(seen.absolute).write_text("# Longer than it was\n\nwhen the folder was scanned\n")
    carried = carrying(seen)
    assert isinstance(carried, FileTask)
    assert carried.content is not None
    assert carried.size == len(carried.content) != seen.size


def test_texts_are_embedded_as_documents_whatever_the_batch() -> None:
    model = FakeEmbedder()
    texts = [f"text {n}" for n in range(5)]
    found = Embedding(model, 2)(texts)
    assert (found == model.embed(texts, EmbeddingKind.DOCUMENT)).all()
