"""A Kebab that stays open while another process wipes, replaces or rebuilds the knowledge base."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.assembly.search import build_searcher
from kebab.domain.queries import SearchMode, SearchQuery
from kebab.errors import NotIndexed
from tests.faults.conftest import Base, make_base

pytestmark = pytest.mark.slow

PROJECT = Path(__file__).parents[2]
SCRIPT = """
import sys
from pathlib import Path
from kebab.app import Kebab
data, *steps = sys.argv[1:]
for step in steps:
    task, _, value = step.partition("=")
    with Kebab.open(root=Path(value or "."), data_dir=Path(data)) as kb:
        if task == "reset":
            kb.reset("data")
        elif task == "ingest":
            kb.ingest()
        else:
            kb.import_bundle(Path(value), force=True)
"""

USES: dict[str, Callable[[Kebab], object]] = {
    "search": lambda kb: kb.search("rope").hits,
    "lexical": lambda kb: kb.search("rope", mode=SearchMode.LEXICAL).hits,
    "vector": lambda kb: kb.search("rope", mode=SearchMode.VECTOR).hits,
    "ask": lambda kb: kb.ask("which ship has a rope?"),
    "list": lambda kb: kb.list_docs(),
    "fetch": lambda kb: kb.fetch_doc("n0.md"),
    "runs": lambda kb: kb.runs(),
    "why": lambda kb: kb.why("n0.md", "rope"),
}


def elsewhere(data: Path, *steps: str) -> None:
    """Let another process do these things to the knowledge base."""
    subprocess.run([sys.executable, "-c", SCRIPT, str(data), *steps], cwd=PROJECT, check=True, timeout=120)


def paths_of(kb: Kebab, mode: SearchMode) -> set[str]:
    return {hit.doc_path for hit in kb.search("rope", mode=mode, k=50).hits}


def test_every_use_notices_that_the_store_is_gone(base: Base) -> None:
    with base.open() as kb:
        for use in USES.values():
            use(kb)
        elsewhere(base.data, "reset")
        for name, use in USES.items():
            with pytest.raises(NotIndexed):
                pytest.fail(f"{name} answered {use(kb)}")


def test_an_ingest_after_a_reset_elsewhere_is_seen_by_everybody(base: Base) -> None:
    with base.open() as kb:
        assert kb.ingest().run.unchanged == 12, "it has the store open for writing"
        elsewhere(base.data, "reset")
        assert kb.ingest().run.indexed == 12
        assert len(paths_of(kb, SearchMode.LEXICAL)) == 12
    with base.open() as fresh:
        assert len(fresh.list_docs()) == 12
        assert fresh.doctor().healthy


@pytest.mark.parametrize("mode", list(SearchMode))
def test_what_another_process_stored_anew_is_found_and_the_old_is_not(
    base: Base, tmp_path: Path, mode: SearchMode
) -> None:
    """As many documents as before: positions and versions of the indexes come out the same."""
    other = make_base(tmp_path / "other", notes=0)
    for number in range(12):
        other.write(f"o{number}.md", f"# Other {number}\n\nA rope of yacht{number} is wet.\n")
    with base.open() as kb:
        held = build_searcher(kb.engines).retriever
        assert held.search(SearchQuery("rope", mode=mode)).hits
        assert paths_of(kb, mode) == {f"n{number}.md" for number in range(12)}
        elsewhere(base.data, "reset", f"ingest={other.root}")
        new = {f"o{number}.md" for number in range(12)}
        assert paths_of(kb, mode) == new
        assert {hit.doc_path for hit in held.search(SearchQuery("rope", mode=mode, k=50)).hits} == new


def test_an_imported_bundle_is_seen_by_an_open_reader(base: Base, tmp_path: Path) -> None:
    other = make_base(tmp_path / "other", notes=0)
    other.write("only.md", "# Only\n\nA rope of gold.\n")
    bundle = tmp_path / "other.kebab"
    with other.open() as kb:
        kb.ingest()
        kb.export_bundle(bundle)
    with base.open() as kb:
        assert len(paths_of(kb, SearchMode.HYBRID)) == 12
        elsewhere(base.data, f"import={bundle}")
        assert paths_of(kb, SearchMode.HYBRID) == {"only.md"}


def test_each_thread_notices_for_itself(base: Base) -> None:
    answers: list[object] = []
    searched, wiped = threading.Barrier(5), threading.Barrier(5)

    def use(kb: Kebab) -> None:
        kb.list_docs()
        searched.wait(60)
        wiped.wait(60)
        try:
            answers.append(kb.list_docs())
        except NotIndexed as error:
            answers.append(type(error))

    with base.open() as kb:
        threads = [threading.Thread(target=use, args=(kb,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        searched.wait(60)
        elsewhere(base.data, "reset")
        wiped.wait(60)
        for thread in threads:
            thread.join()
    assert answers == [NotIndexed] * 4
