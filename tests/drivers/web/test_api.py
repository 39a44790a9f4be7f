"""The HTTP interface, in process: what it answers, and that it answers as the command line does."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from kebab import Kebab, wire
from kebab.domain.answers import AnswerEvent, AnswerEventKind
from kebab.web.app import API, create_app
from kebab.web.operations import OPERATIONS
from tests.drivers.web_server import a_kebab

BASE = "http://127.0.0.1:7777"


@pytest.fixture(scope="module")
def client(vault: Kebab) -> Iterator[TestClient]:
    with TestClient(create_app(vault), base_url=BASE) as made:
        yield made


@pytest.fixture
def writable(tmp_path: Path) -> Iterator[TestClient]:
    """A server over a knowledge base of its own, for tests that write."""
    with a_kebab(tmp_path) as kebab, TestClient(create_app(kebab), base_url=BASE) as made:
        yield made


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    response = client.get(API + path, params=parameters)
    assert response.status_code == 200, response.text
    return response.json()


def sent(lines: Iterator[str]) -> list[tuple[str, Any]]:
    """Server-sent events as (name, object)."""
    found, name = [], ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            found.append((name, json.loads(line.removeprefix("data: "))))
    return found


def test_a_search_answers_with_the_same_bytes_as_the_command_line(client: TestClient, vault: Kebab) -> None:
    asked: dict[str, Any] = {"query": "좌석 hold", "k": 5, "explain": True}
    by_address = client.get(f"{API}/search", params={**asked, "explain": "true"})
    by_body = client.post(f"{API}/search", json=asked)
    expected = wire.encode(wire.search_response(vault.search("좌석 hold", k=5, explain=True), explain=True))
    assert by_address.content == by_body.content == expected


def test_filters_may_be_repeated_in_an_address(client: TestClient) -> None:
    one = get(client, "/documents", lang="ko")["documents"]
    both = get(client, "/documents", lang=["ko", "en"])["documents"]
    assert {each["lang"] for each in one} == {"ko"}
    assert len(both) > len(one)


def test_facets_count_the_documents_of_each_value(client: TestClient) -> None:
    counted = get(client, "/facets")
    for value in counted["facets"]["lang"]:
        assert len(get(client, "/documents", lang=value["value"])["documents"]) == value["documents"]
    for value in counted["facets"]["tag"][:5]:
        assert len(get(client, "/documents", tag=value["value"])["documents"]) == value["documents"]


def test_a_hit_is_found_again_by_every_way_of_reading(client: TestClient) -> None:
    hit = get(client, "/search", query="seat hold", k=1)["hits"][0]
    chunk = get(client, "/fetch/chunk", chunk_id=hit["chunk_id"])
    assert get(client, "/fetch/citation", uri=hit["citation"]["uri"])["text"] == chunk["text"]
    span = {"reference": hit["doc_id"], "start": hit["citation"]["start"], "end": hit["citation"]["end"]}
    assert get(client, "/fetch/span", **span)["text"] == chunk["text"]
    assert chunk["text"] in get(client, "/fetch/doc", reference=hit["doc_path"])["text"]
    assert get(client, "/document", reference=hit["doc_id"])["document"]["doc_path"] == hit["doc_path"]
    assert get(client, "/chunk", chunk_id=hit["chunk_id"])["text"] == chunk["text"]


def test_the_blocks_of_a_view_show_the_lines_that_they_name(client: TestClient) -> None:
    view = get(client, "/view", reference="README.md")
    lines = get(client, "/fetch/doc", reference="README.md")["text"].split("\n")
    assert [heading["text"] for heading in view["outline"]] == ["Vault map", "Folders", "Rules I keep"]
    for heading in view["outline"]:
        assert lines[heading["line"] - 1].lstrip("# ") == heading["text"]
        assert f'id="{heading["anchor"]}" data-lines="{heading["line"]}-' in view["html"]


def test_the_text_of_a_file_without_lines_is_shown_where_it_is_cited(client: TestClient) -> None:
    hit = get(client, "/search", query="albatross plankton", k=1)["hits"][0]
    assert (hit["doc_path"], hit["citation"]["kind"]) == ("talk.vtt", "time")
    cited = get(client, "/fetch/citation", uri=hit["citation"]["uri"])
    html = get(client, "/view", reference=hit["doc_id"])["html"]
    shown = html.split(f'data-lines="{cited["line_end"]}-')[1].split("</span>")[0]
    assert "albatross" in shown


def test_an_answer_that_did_not_change_is_not_sent_again(client: TestClient) -> None:
    first = client.get(f"{API}/search", params={"query": "seat"})
    again = client.get(
        f"{API}/search", params={"query": "seat"}, headers={"if-none-match": first.headers["etag"]}
    )
    assert (again.status_code, again.content) == (304, b"")
    other = client.get(
        f"{API}/search", params={"query": "hold"}, headers={"if-none-match": first.headers["etag"]}
    )
    assert other.status_code == 200


def test_the_tag_of_an_answer_moves_with_the_revision(writable: TestClient) -> None:
    first = writable.get(f"{API}/documents").headers["etag"]
    stored = writable.post(f"{API}/ingest/text", json={"title": "New", "text": "A new note on zebras."})
    assert stored.json()["run"]["indexed"] == 1
    second = writable.get(f"{API}/documents").headers["etag"]
    assert int(second.strip('"').split(".")[0]) > int(first.strip('"').split(".")[0])
    assert get(writable, "/search", query="zebras")["hits"]


def test_an_answer_is_streamed_and_ends_with_one_final_event(client: TestClient) -> None:
    question = {"question": "How many days in the office?"}
    with client.stream(
        "POST", f"{API}/ask", json=question, headers={"accept": "text/event-stream"}
    ) as response:
        found = sent(response.iter_lines())
    kinds = [event["kind"] for _, event in found]
    assert kinds[0] == "retrieval_done"
    assert kinds[-1] == "final"
    assert kinds.count("final") == 1
    whole = client.post(f"{API}/ask", json=question).json()
    assert whole["answer"] == found[-1][1]["answer"]["answer"]


def test_closing_the_connection_stops_the_writer_of_an_answer() -> None:
    closed = threading.Event()

    class Slow:
        """Stands in for a Kebab whose model writes for ever."""

        def ask_stream(self, **_: Any) -> Iterator[AnswerEvent]:
            try:
                while True:
                    yield AnswerEvent(kind=AnswerEventKind.TOKEN, delta="word ")
            finally:
                closed.set()

    from tests.drivers.web_server import serving

    with serving(create_app(Slow())) as port:  # type: ignore[arg-type]
        import http.client

        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        headers = {"accept": "text/event-stream", "content-type": "application/json"}
        connection.request("POST", f"{API}/ask", body=b'{"question": "x"}', headers=headers)
        assert connection.getresponse().read(100)
        connection.close()
        assert closed.wait(10)


def test_an_ingest_tells_its_progress_and_ends_with_its_report(writable: TestClient) -> None:
    with writable.stream(
        "POST", f"{API}/ingest", json={"force": True}, headers={"accept": "text/event-stream"}
    ) as response:
        found = sent(response.iter_lines())
    assert found[-1][0] == "ingest_report"
    assert found[-1][1]["run"]["indexed"] == 37
    kinds = [event["kind"] for name, event in found if name == "ingest_progress"]
    assert kinds.count("completed") == 1
    runs = get(writable, "/runs")["runs"]
    items = get(writable, "/runs/items", run_id=runs[0]["run_id"])["items"]
    assert len(items) == 37


def test_files_outside_the_sources_cannot_be_ingested_over_http(client: TestClient) -> None:
    for path in ("/etc/passwd", "../../../../etc/passwd", "notes/../../x"):
        response = client.post(f"{API}/ingest", json={"paths": [path], "dry_run": True})
        assert response.status_code == 400, path
        assert "does not lie in a source" in response.json()["message"]


def test_what_was_recorded_over_http_is_found_judged_and_forgotten(writable: TestClient) -> None:
    run = {
        "agent_id": "tester",
        "task_id": "t",
        "task_type": "fix",
        "task_description": "paint the boathouse",
        "success": True,
        "quality_score": 1.0,
        "latency_ms": 10,
        "cost_cents": 0,
        "provider": "local",
        "started_at": "2026-05-01T09:00:00Z",
    }
    saved = writable.post(f"{API}/memory/record", json=run).json()
    hits = get(writable, "/memory/search", text="paint the boathouse")["hits"]
    assert hits[0]["execution"]["id"] == saved["id"]
    judged = writable.post(f"{API}/memory/feedback", json={"id": saved["id"], "success": False, "note": "no"})
    assert judged.json()["success"] is False
    assert writable.post(f"{API}/memory/delete", json={"ids": [saved["id"]]}).json()["executions"] == 1
    assert writable.get(f"{API}/memory/execution", params={"id": saved["id"]}).status_code == 404


def test_the_workshop_can_be_read(client: TestClient) -> None:
    assert get(client, "/status")["stats"]["documents"] == 37
    assert get(client, "/sources")["sources"][0]["documents"] == 37
    assert get(client, "/doctor")["ok"]
    assert len(get(client, "/evaluations")["runs"]) == 2
    ids = [run["run_id"] for run in get(client, "/evaluations")["runs"]]
    assert get(client, "/evaluations/compare", before=ids[1], after=ids[0])["better"]
    assert get(client, "/memory/stats")["executions"] == 24
    assert get(client, "/memory/agents")["agents"]
    assert get(client, "/memory/causes", id="run-03")["causes"]
    assert get(client, "/memory/curve", agent="coder")["days"]


def test_each_setting_says_where_it_came_from(client: TestClient, vault: Kebab) -> None:
    settings = {each["key"]: each for each in get(client, "/settings")["settings"]}
    assert settings["storage.data_dir"]["origin"] == "file"
    assert settings["storage.data_dir"]["place"] == str(vault.settings.file)
    assert settings["search.default_k"]["origin"] == "default"


def test_a_read_only_server_refuses_every_operation_that_writes(vault: Kebab) -> None:
    client = TestClient(create_app(vault, readonly=True), base_url=BASE)
    bodies = {"/ingest/text": {"title": "a", "text": "b"}, "/memory/update": {"id": "run-01", "changes": {}}}
    bodies |= {
        "/memory/record": {"task_description": "x", "success": True},
        "/memory/feedback": {"id": "run-01", "note": "x"},
    }
    bodies |= {"/memory/delete": {"ids": ["run-01"]}, "/doctor/repair": {}, "/ingest": {}, "/ingest/stop": {}}
    writing = {each.path for each in OPERATIONS if "GET" not in each.methods} | {"/ingest", "/ingest/stop"}
    assert writing == set(bodies)
    for path in writing:
        response = client.post(API + path, json=bodies[path])
        assert (response.status_code, response.json()["code"]) == (403, "readonly"), path


def test_errors_have_the_shape_of_the_wire_and_a_fitting_status(client: TestClient) -> None:
    cases = {
        "/search": (400, "invalid_input"),
        "/search?query=a&k=0": (400, "invalid_input"),
        "/search?query=a&nonsense=1": (400, "invalid_input"),
        "/search?query=a&cursor=zzz": (400, "invalid_input"),
        "/document?reference=missing.md": (404, "doc_not_found"),
        "/chunk?chunk_id=missing": (404, "chunk_not_found"),
        "/memory/execution?id=missing": (404, "record_not_found"),
        "/nothing": (404, "http_404"),
    }
    for path, expected in cases.items():
        response = client.get(API + path)
        assert (response.status_code, response.json()["code"]) == expected, path
        assert response.json()["schema_version"] == "error.v1"


def test_the_server_answers_before_there_is_a_knowledge_base(tmp_path: Path) -> None:
    with Kebab.open(root=tmp_path, data_dir=tmp_path / "data") as empty:
        client = TestClient(create_app(empty), base_url=BASE)
        assert client.get(f"{API}/status").status_code == 200
        response = client.get(f"{API}/search", params={"query": "x"})
        assert (response.status_code, response.json()["code"]) == (409, "not_indexed")
