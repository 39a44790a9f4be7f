"""``kebab watch``: a process that stays."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.drivers.conftest import Cli
from tests.drivers.watched import Watched, until


@pytest.fixture
def notes(cli: Cli) -> Cli:
    assert cli("init", ".").code == 0
    for number in range(4):
        (cli.cwd / f"n{number}.md").write_text(f"# Note {number}\n\nstill water\n")
    return cli


def found(cli: Cli, word: str) -> list[str]:
    return [hit["doc_path"] for hit in cli("search", word, "--json").json["hits"]]


@pytest.mark.parametrize("how", [(), ("--poll",)], ids=["told", "polling"])
def test_what_is_saved_changed_and_deleted_while_it_runs_is_followed(
    notes: Cli, how: tuple[str, ...]
) -> None:
    with Watched.start(notes, *how) as watched:
        assert watched.ready()
        (notes.cwd / "new.md").write_text("mango\n")
        assert until(lambda: found(notes, "mango") == ["new.md"], seconds=20)
        (notes.cwd / "new.md").write_text("papaya\n")
        (notes.cwd / "n0.md").unlink()
        assert until(lambda: found(notes, "papaya") == ["new.md"], seconds=20)
        assert until(lambda: "n0.md" not in found(notes, "water"), seconds=20)
        assert watched.stop() == 0


def test_it_says_where_it_watches_and_what_each_batch_did(notes: Cli) -> None:
    with Watched.start(notes) as watched:
        assert watched.ready()
        (notes.cwd / "new.md").write_text("mango\n")
        assert until(lambda: "1 indexed" in watched.out.read_text())
        assert watched.stop(signal.SIGINT) == 0
        assert str(notes.cwd / ".kebab" / "data") in watched.err.read_text()
        assert "4 indexed" in watched.out.read_text()


def test_with_json_each_batch_is_one_report(notes: Cli) -> None:
    with Watched.start(notes, "--json") as watched:
        assert until(lambda: len(watched.reports()) == 1)
        (notes.cwd / "new.md").write_text("mango\n")
        assert until(lambda: len(watched.reports()) == 2)
        assert watched.stop() == 0
        first, second = watched.reports()
        assert (first["schema_version"], first["run"]["indexed"]) == ("ingest_report.v1", 4)
        assert [item["path"] for item in second["items"]] == ["new.md"]


def test_a_read_only_kebab_does_not_watch(notes: Cli) -> None:
    result = notes("watch", "--readonly", "--json")
    assert (result.code, result.error["code"]) == (2, "readonly")


def test_kebabs_own_data_in_the_watched_folder_keep_nobody_busy(notes: Cli) -> None:
    """The data folder lies inside the project: what a run writes there must not cause the next one."""
    with Watched.start(notes, "--json") as watched:
        assert until(lambda: len(watched.reports()) == 1)
        (notes.cwd / "new.md").write_text("mango\n")
        assert until(lambda: len(watched.reports()) == 2)
        assert not until(lambda: len(watched.reports()) > 2, seconds=2)
        assert watched.stop() == 0
        assert Path(notes.cwd / ".kebab" / "data" / "kebab.sqlite").exists()


def test_a_fresh_search_finds_what_was_just_saved(notes: Cli) -> None:
    assert notes("ingest").code == 0
    (notes.cwd / "new.md").write_text("mango\n")
    assert notes("search", "mango").code == 1
    assert "new.md" in notes("search", "mango", "--fresh").out


def test_a_project_that_is_moved_away_is_not_made_again_and_goes_on_when_it_is_back(
    notes: Cli, tmp_path: Path
) -> None:
    away = tmp_path / "away"
    with Watched.start(notes) as watched:
        assert watched.ready()
        notes.cwd.rename(away)
        assert until(lambda: "which kebab's data were in, does not exist any more" in watched.err.read_text())
        assert not notes.cwd.exists()
        away.rename(notes.cwd)
        (notes.cwd / "new.md").write_text("mango\n")
        assert until(lambda: found(notes, "mango") == ["new.md"], seconds=20)
        assert len(found(notes, "water")) == 4
        assert watched.stop() == 0
