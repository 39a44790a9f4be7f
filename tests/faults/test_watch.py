"""The real watcher under load: bursts, branches, storms and kills. It ends with what is on the disk."""

from __future__ import annotations

import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from kebab.app import Kebab
from kebab.domain.reports import CheckStatus
from tests.drivers.conftest import Cli, a_cli
from tests.drivers.watched import Watched, until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("watch")]

FOUND_S = 2.0


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = a_cli(tmp_path)
    assert made("init", ".").code == 0
    return made


def write(cli: Cli, name: str, text: str) -> None:
    file = cli.cwd / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def opened(cli: Cli) -> Kebab:
    data = cli.cwd / ".kebab" / "data"
    return Kebab.open(root=cli.cwd, data_dir=data, overrides={"models.embedding.provider": "none"})


def on_disk(cli: Cli) -> dict[str, str]:
    return {
        path.relative_to(cli.cwd).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(cli.cwd.rglob("*.md"))
        if ".kebab" not in path.parts and ".git" not in path.parts
    }


def stored(kb: Kebab) -> dict[str, str]:
    documents = kb.engines.reading.documents
    return {doc.path: documents.source_text(doc.doc_id) or "" for doc in kb.list_docs()}


def follows(cli: Cli, *, seconds: float = 60.0) -> bool:
    """Whether what is stored, and what is found, comes to be what is on the disk."""
    with opened(cli) as kb:
        wanted = on_disk(cli)
        return until(lambda: stored(kb) == wanted, seconds=seconds) and until(lambda: is_well(kb))


def is_well(kb: Kebab) -> bool:
    """Whether every index holds what the store does, and no run is under way."""
    return all(check.status is CheckStatus.OK for check in kb.doctor().checks if check.name != "lock")


def test_a_burst_of_a_thousand_files_is_found_in_few_batches(cli: Cli) -> None:
    write(cli, "first.md", "# First\n")
    with Watched.start(cli, "--json") as watched:
        assert until(lambda: len(watched.reports()) == 1)
        for number in range(1000):
            write(cli, f"burst/{number % 20}/{number}.md", f"# Note {number}\n\nmango{number}\n")
        assert follows(cli)
        assert watched.stop() == 0
        reports = watched.reports()
        assert len(reports) <= 20
        assert sum(report["run"]["indexed"] for report in reports) <= 1100
        with opened(cli) as kb:
            assert kb.search("mango777").hits[0].doc_path == "burst/17/777.md"


def test_checking_out_branches_leaves_the_documents_of_the_last_one(cli: Cli) -> None:
    def git(*arguments: str) -> None:
        author = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "core.hooksPath=/dev/null"]
        subprocess.run(["git", *author, *arguments], cwd=cli.cwd, check=True, capture_output=True)

    git("init", "-q", "-b", "one")
    for number in range(120):
        write(cli, f"shared/{number}.md", f"# Note {number}\n\non the first branch\n")
    for number in range(40):
        write(cli, f"one/{number}.md", f"# One {number}\n")
    git("add", "-A", "--", "shared", "one")
    git("commit", "-q", "-m", "one")
    git("checkout", "-q", "-b", "two")
    git("rm", "-q", "-r", "one")
    for number in range(120):
        write(cli, f"shared/{number}.md", f"# Note {number}\n\non the second branch, {number}\n")
    for number in range(40):
        write(cli, f"two/{number}.md", f"# Two {number}\n")
    git("add", "-A", "--", "shared", "two")
    git("commit", "-q", "-m", "two")
    with Watched.start(cli) as watched:
        assert watched.ready()
        for branch in ("one", "two", "one", "two", "one"):
            git("checkout", "-q", branch)
            assert follows(cli), branch
        assert watched.stop() == 0


def is_found(kb: Kebab, word: str, path: str) -> bool:
    return [hit.doc_path for hit in kb.search(word, k=1).hits] == [path]


def test_each_save_beside_a_storm_of_saves_is_found_within_two_seconds(cli: Cli) -> None:
    """p95 of twenty saves while another file is saved fifty times a second."""
    for number in range(300):
        write(cli, f"n{number}.md", f"# Note {number}\n\nstill water {number}\n")
    over = threading.Event()

    def storm() -> None:
        count = 0
        while not over.wait(0.02):
            count += 1
            write(cli, "storm.md", f"# Storm\n\n{count}\n")

    stormy = threading.Thread(target=storm)
    waits = []
    with Watched.start(cli) as watched, opened(cli) as kb:
        assert watched.ready()
        stormy.start()
        for number in range(20):
            write(cli, "saved.md", f"# Saved\n\nkiwi{number}x\n")
            began = time.monotonic()
            assert until(partial(is_found, kb, f"kiwi{number}x", "saved.md"))
            waits.append(time.monotonic() - began)
        over.set()
        stormy.join()
        assert follows(cli)
        assert watched.stop() == 0
    assert sorted(waits)[18] <= FOUND_S, waits


def test_killed_in_the_middle_and_started_again_it_ends_with_what_is_on_the_disk(cli: Cli) -> None:
    write(cli, "first.md", "# First\n")
    for round_ in range(4):
        with Watched.start(cli, name=f"watch{round_}") as watched:
            assert watched.ready()
            for number in range(150):
                write(cli, f"r{number % 7}/{number}.md", f"# Note {number}\n\nround {round_}\n")
            time.sleep(0.15 + 0.15 * round_)
            assert watched.stop(signal.SIGKILL) == -signal.SIGKILL
            for number in range(round_ * 10, round_ * 10 + 10):
                (cli.cwd / f"r{number % 7}" / f"{number}.md").unlink()
    with Watched.start(cli, name="last") as watched:
        assert watched.ready()
        assert follows(cli)
        assert watched.stop() == 0
        with opened(cli) as kb:
            assert is_well(kb)
            assert {hit.doc_path for hit in kb.search("round 0", k=200).hits} <= set(on_disk(cli))


def test_an_idle_watcher_takes_next_to_no_processor_time(cli: Cli) -> None:
    for number in range(300):
        write(cli, f"n{number}.md", f"# Note {number}\n")
    with Watched.start(cli) as watched:
        assert watched.ready()
        time.sleep(2)
        before, seconds = _processor_s(watched.process.pid), 8
        time.sleep(seconds)
        used = _processor_s(watched.process.pid) - before
        assert watched.stop() == 0
        assert used / seconds <= 0.005


def _processor_s(pid: int) -> float:
    """What all threads used, to the nanosecond; the usual counter knows hundredths of a second."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
