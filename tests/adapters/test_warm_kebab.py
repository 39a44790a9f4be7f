"""One open Kebab: what is costly is made once, and made again only where it was missing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab import Kebab
from kebab.errors import Closed, ModelUnavailable
from kebab.ports import ModelKey, VectorIndex

NOTES = {"sea.md": "The tide rises twice a day.", "bread.md": "Sourdough rises for twelve hours."}


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Kebab]:
    for name, text in NOTES.items():
        (tmp_path / "notes").mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text("", encoding="utf-8")
    with Kebab.open(config, root=tmp_path / "notes", data_dir=tmp_path / "data") as opened:
        opened.ingest()
        yield opened


def test_searches_and_questions_share_one_retriever_and_its_open_indexes(base: Kebab) -> None:
    opened: list[ModelKey] = []
    real = base.engines.vector_index

    def counted(model: ModelKey) -> VectorIndex:
        opened.append(model)
        return real(model)

    base.engines.vector_index = counted  # type: ignore[method-assign]
    for _ in range(3):
        assert base.search("tide").hits[0].doc_path == "sea.md"
    base.ask("When does the tide rise?")
    assert len(opened) == 1


def test_without_its_model_a_search_tries_again_and_finds_the_model_that_came_back(base: Kebab) -> None:
    class Gone:
        def __getattr__(self, name: str) -> object:
            raise ModelUnavailable("the model server is gone")

    model = base.engines.embedder
    base.engines.embedder = Gone()  # type: ignore[assignment]
    assert [one.code for one in base.search("tide").degraded] == ["model_unavailable"]
    base.engines.embedder = model
    assert base.search("tide").degraded == ()


_FORKS = """
import os, sys
from pathlib import Path
from kebab import Kebab

folder = Path(sys.argv[1])
with Kebab.open(folder / "config.toml", root=folder / "notes", data_dir=folder / "data") as kb:
    found = [hit.doc_path for hit in kb.search("tide").hits]
    child = os.fork()
    if not child:
        with Kebab.open(folder / "config.toml", root=folder / "notes", data_dir=folder / "data") as own:
            os._exit(0 if [hit.doc_path for hit in own.search("tide").hits] == found else 1)
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_process_searches_with_threads_of_its_own(base: Kebab, tmp_path: Path) -> None:
    script = [sys.executable, "-W", "ignore", "-c", _FORKS, str(tmp_path)]
    # In a process of its own: a search that waits for threads which are not there never ends.
    assert subprocess.run(script, timeout=60, check=False).returncode == 0


def test_a_closed_kebab_says_so(base: Kebab) -> None:
    base.close()
    for use in (
        lambda: base.search("tide"),
        lambda: base.ask("tide?"),
        lambda: base.ingest(),
        lambda: base.list_docs(),
        lambda: base.memory,
    ):
        with pytest.raises(Closed):
            use()
    base.close()


def test_closing_lets_running_searches_end(base: Kebab) -> None:
    stop, failures, done = threading.Event(), [], []

    def search() -> None:
        while not stop.is_set():
            try:
                done.append(len(base.search("tide").hits))
            except Closed:
                return
            except Exception as error:  # noqa: BLE001 - whatever it is, it must not be there
                failures.append(error)

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    while len(done) < 20:
        stop.wait(0.01)
    base.close()
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    assert set(done) == {2}
