"""``kebab publish``, and every command that reads what was published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from kebab import Kebab
from tests.drivers.conftest import Cli, a_cli
from tests.drivers.mcp_talk import call
from tests.drivers.web_server import served
from tests.object_store import BUCKET, NEEDED, environment, running_store, weed


def a_project(cli: Cli) -> Cli:
    (cli.cwd / "rope.md").write_text("# Rope\n\nHang a wet rope to dry. 밧줄은 말린다.\n", encoding="utf-8")
    for arguments in (("init", "."), ("ingest",)):
        assert cli(*arguments).code == 0
    return cli


def a_publication(notes: Cli, place: Path) -> str:
    result = notes("publish", str(place))
    assert result.code == 0, result.err
    assert "1 document, 1 chunk · default: 1 sent, 0 removed" in result.out
    return str(place)


@pytest.fixture
def notes(cli: Cli) -> Cli:
    """A project of one note, ingested."""
    return a_project(cli)


@dataclass(frozen=True, slots=True)
class Shelf:
    """A project of one note, and where it is published. Only for tests that read."""

    notes: Cli
    target: str


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Shelf:
    folder = tmp_path_factory.mktemp("shelf")
    notes = a_project(a_cli(folder / "project"))
    return Shelf(notes, a_publication(notes, folder / "published"))


@pytest.mark.parametrize(
    "command",
    [
        ("search", "wet rope", "--json"),
        ("search", "밧줄", "--explain", "--json"),
        ("why", "rope.md", "rope", "--json"),
        ("list", "docs", "--json"),
        ("inspect", "doc", "rope.md", "--json"),
        ("fetch", "doc", "rope.md"),
        ("fetch", "span", "rope.md", "1", "3"),
        ("links", "rope.md", "--json"),
    ],
)
def test_a_command_prints_the_same_of_what_was_published(shelf: Shelf, command: tuple[str, ...]) -> None:
    own, published = shelf.notes(*command), shelf.notes(*command, "--index", shelf.target)
    assert (published.code, published.out) == (own.code, own.out)
    assert own.out


def test_a_question_is_answered_alike(shelf: Shelf) -> None:
    own, published = (
        shelf.notes("ask", "what to do with a wet rope?"),
        shelf.notes("ask", "what to do with a wet rope?", "--index", shelf.target),
    )
    assert (published.code, published.out.splitlines()[0]) == (own.code, own.out.splitlines()[0])


def test_readers_elsewhere_need_nothing_but_the_address(shelf: Shelf, tmp_path: Path) -> None:
    other = a_cli(tmp_path / "other")
    found = other("search", "wet rope", "--index", shelf.target, "--json")
    assert found.code == 0, found.err
    assert found.json["hits"][0]["doc_path"] == "rope.md"
    by_variable = other("search", "wet rope", "--json", KEBAB_INDEX__URL=shelf.target)
    assert by_variable.out == found.out


def test_releases_are_listed_taken_back_removed_and_collected(notes: Cli, tmp_path: Path) -> None:
    target = a_publication(notes, tmp_path / "published")
    (notes.cwd / "rope.md").write_text("# Rope\n\nBurn it.\n", encoding="utf-8")
    notes("ingest")
    second = notes("publish", target, "--json").lines[-1]
    assert (second["schema_version"], second["changed"]) == ("publish_report.v1", 1)
    listed = notes("publish", target, "--list", "--json").json["releases"]
    assert len(listed) == 2
    assert listed[0]["parts"][0]["sources"] == ["default"]
    back = notes("publish", target, "--rollback", str(listed[1]["number"]))
    assert back.code == 0, back.err
    assert "dry" in notes("search", "rope", "--index", target).out
    done = notes("publish", target, "--collect", "--keep-hours", "0", "--json").json
    assert done["collected_releases"] == 2
    gone = notes("publish", target, "--remove", "default", "--json").json
    assert (gone["documents"], gone["publishers"]) == (0, [])
    assert notes("search", "rope", "--index", target).code == 1
    wrong = notes("publish", target, "--remove", "nobody", "--json")
    assert (wrong.code, wrong.error["code"]) == (2, "invalid_input")


def test_publishing_tells_how_far_it_is_and_ends_with_the_report(notes: Cli, tmp_path: Path) -> None:
    *events, report = notes("publish", str(tmp_path / "there"), "--json").lines
    assert {event["schema_version"] for event in events} == {"ingest_progress.v1"}
    assert (report["schema_version"], report["release"]) == ("publish_report.v1", 1)
    kinds = [event["kind"] for event in events]
    assert (kinds[0], kinds[-1], set(kinds[1:-1])) == ("started", "completed", {"progress"})
    sent = [(event["done"], event["total"]) for event in events if event["phase"] == "publish"]
    assert sent[-1] == (1, 1)
    failed = notes("publish", "/proc/none", "--json")
    assert failed.code == 2
    assert failed.lines[-1]["kind"] == "failed"


def test_nobody_replaces_by_accident_what_somebody_else_published_under_the_same_name(
    notes: Cli, tmp_path: Path
) -> None:
    target = a_publication(notes, tmp_path / "published")
    other = a_cli(tmp_path / "other")
    (other.cwd / "sail.md").write_text("# Sail\n\nFold it wet.\n", encoding="utf-8")
    for arguments in (("init", "."), ("ingest",)):
        assert other(*arguments).code == 0
    refused = other("publish", target, "--json")
    assert (refused.code, refused.error["code"]) == (2, "mass_delete")
    assert "'default' has 1 document at" in refused.error["message"]
    assert notes("search", "wet rope", "--index", target).code == 0
    # What was published from here may lose as much as it likes.
    (notes.cwd / "rope.md").unlink()
    (notes.cwd / "net.md").write_text("# Net\n\nMend it dry.\n", encoding="utf-8")
    assert notes("ingest", "--allow-mass-delete").code == 0
    assert notes("publish", target).code == 0
    # The same notes, ingested anew elsewhere, are the same documents.
    anew = a_cli(tmp_path / "anew")
    (anew.cwd / "net.md").write_text("# Net\n\nMend it dry.\n", encoding="utf-8")
    for arguments in (("init", "."), ("ingest",), ("publish", target)):
        assert anew(*arguments).code == 0
    assert "1 sent, 1 removed" in other("publish", target, "--all").out


@pytest.mark.parametrize("command", [("publish", ""), ("search", "rope", "--index", "")])
def test_an_empty_address_is_not_the_working_folder(notes: Cli, command: tuple[str, ...]) -> None:
    result = notes(*command)
    assert (result.code, "the address of the publication is empty" in result.err) == (2, True)


@pytest.mark.parametrize("address", ["rope.md", "rope.md/kb"])
def test_a_file_is_no_place_to_publish_to(notes: Cli, address: str) -> None:
    for command in (("publish", address), ("search", "rope", "--index", address)):
        assert "rope.md is a file\nhint: a publication is a folder" in notes(*command).err


def test_what_is_published_cannot_be_written(shelf: Shelf) -> None:
    refused = shelf.notes("ingest", "--json", KEBAB_INDEX__URL=shelf.target)
    assert (refused.code, refused.error["code"]) == (2, "readonly")
    assert "--index" in refused.error["hint"]


def test_the_doctor_says_what_is_read_and_whether_it_is_the_newest(shelf: Shelf) -> None:
    report = shelf.notes("doctor", "--index", shelf.target, "--json").json
    (check,) = [check for check in report["checks"] if check["name"] == "published"]
    assert (check["status"], "the newest" in check["detail"]) == ("ok", True)


def test_a_strange_address_and_options_that_exclude_each_other_are_refused(notes: Cli) -> None:
    for arguments in (
        ("ftp://host/x",),
        ("x", "--list", "--collect"),
        ("s3://key:hunter2@bucket/x",),
        ("x", "--as", "../up"),
    ):
        result = notes("publish", *arguments)
        assert (result.code, "hunter2" in result.err + result.out) == (2, False), arguments
    assert notes("publish", "nowhere", "--list").code == 1


def test_a_project_nobody_trusts_may_not_name_an_address(cli: Cli, tmp_path: Path) -> None:
    (cli.cwd / ".kebab").mkdir()
    (cli.cwd / ".kebab" / "config.toml").write_text(
        f'[index]\nurl = "{tmp_path}/published"\n', encoding="utf-8"
    )
    result = cli("search", "x", "--json")
    assert (result.code, result.error["code"]) == (2, "config_invalid")
    assert "index.url" in result.error["message"]


def test_an_object_store_is_used_by_the_commands_and_its_secret_never_printed(
    notes: Cli, tmp_path: Path
) -> None:
    if weed() is None:
        pytest.skip(NEEDED)
    store = tmp_path / "store"
    store.mkdir()
    with running_store(store) as port:
        keys = environment(port)
        uri = f"s3://{BUCKET}/kb"
        results = [
            notes("publish", uri, "-v", **keys),
            notes("search", "wet rope", "--index", uri, "-v", **keys),
            notes("doctor", "--index", uri, **keys),
            notes("publish", uri, **{**keys, "AWS_SECRET_ACCESS_KEY": "hunter2"}),
        ]
    assert [result.code for result in results] == [0, 0, 0, 2]
    assert "access denied" in results[3].err
    said = "".join(result.out + result.err for result in results)
    assert keys["AWS_SECRET_ACCESS_KEY"] not in said
    assert "hunter2" not in said


def test_agents_and_pages_are_served_what_was_published(shelf: Shelf, tmp_path: Path) -> None:
    overrides = {
        "index.url": shelf.target,
        "index.cache_dir": str(tmp_path / "cache"),
        "models.embedding.provider": "none",
    }
    with Kebab.open(root=tmp_path / "none", data_dir=tmp_path / "home", overrides=overrides) as replica:
        answer = call(replica, "search", {"query": "wet rope"})
        assert answer.structured_content is not None
        assert [hit["doc_path"] for hit in answer.structured_content["hits"]] == ["rope.md"]
        with served(replica) as site:
            found = httpx.get(f"{site.url}/api/v1/search", params={"query": "wet rope"})
            assert [hit["doc_path"] for hit in json.loads(found.text)["hits"]] == ["rope.md"]
