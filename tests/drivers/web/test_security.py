"""What a hostile page, caller or note can do with the server: nothing."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from kebab import Kebab
from kebab.web.app import API, Access, create_app
from kebab.web.operations import OPERATIONS
from kebab.web.serve import PatientProtocol
from kebab.web.token import ensure_token
from tests.drivers.web_server import Served, served, serving

BASE = "http://127.0.0.1:7777"
TRAVERSAL = (
    "../../../../etc/passwd", "/etc/passwd", "..%2f..%2fetc%2fpasswd", "file:///etc/passwd",
    "notes\\..\\..\\etc\\passwd", "\x00/etc/passwd", "~/.ssh/id_rsa", "....//etc/passwd",
)  # fmt: skip


@pytest.fixture(scope="module")
def client(vault: Kebab) -> Iterator[TestClient]:
    with TestClient(create_app(vault), base_url=BASE) as made:
        yield made


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.5", "localhost.evil:7777", "", "[::2]"]
)
def test_a_request_under_another_name_is_refused(client: TestClient, host: str) -> None:
    response = client.get(f"{API}/search", params={"query": "seat"}, headers={"host": host})
    assert (response.status_code, response.json()["code"]) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["localhost:7777", "127.0.0.1:1", "[::1]:7777", "LOCALHOST"])
def test_the_names_of_this_computer_are_right(client: TestClient, host: str) -> None:
    assert client.get(f"{API}/status", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:7777", "http://127.0.0.1:8888", ""]
)
def test_a_page_of_another_origin_is_refused(client: TestClient, origin: str) -> None:
    for method in ("GET", "POST"):
        response = client.request(
            method, f"{API}/search", json={"query": "seat"} if method == "POST" else None,
            params={"query": "seat"} if method == "GET" else None, headers={"origin": origin},
        )  # fmt: skip
        assert (response.status_code, response.json()["code"]) == (403, "wrong_origin")


def test_a_page_of_another_site_that_sends_no_origin_is_refused(client: TestClient) -> None:
    headers = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert client.get(f"{API}/search", params={"query": "x"}, headers=headers).status_code == 403


def test_our_own_page_may_ask(client: TestClient) -> None:
    headers = {"origin": BASE, "sec-fetch-site": "same-origin"}
    assert client.get(f"{API}/search", params={"query": "x"}, headers=headers).status_code == 200


def test_every_operation_needs_the_token_where_there_is_one(vault: Kebab) -> None:
    app = create_app(vault, access=Access(token="a-long-secret-token"))
    client = TestClient(app, base_url=BASE)
    paths = [(method, each.path) for each in OPERATIONS for method in each.methods]
    paths += [("POST", "/ask"), ("POST", "/ingest"), ("GET", "/ingest"), ("GET", "/openapi.json")]
    for wrong in ({}, {"authorization": "Bearer wrong"}, {"authorization": "Basic a-long-secret-token"}):
        for method, path in paths:
            response = client.request(method, API + path, headers=wrong)
            assert response.status_code == 401, (method, path, wrong)
    good = {"authorization": "Bearer a-long-secret-token"}
    assert client.get(f"{API}/status", headers=good).status_code == 200
    assert client.get("/").status_code == 200, "the page itself holds no data and asks for the token"


def test_a_server_on_every_address_takes_numeric_hosts_and_no_foreign_names(vault: Kebab) -> None:
    app = create_app(vault, access=Access(token="t" * 20, any_address=True))
    client = TestClient(app, base_url=BASE)
    headers = {"authorization": f"Bearer {'t' * 20}"}
    assert client.get(f"{API}/status", headers={**headers, "host": "192.168.1.5:7777"}).status_code == 200
    assert client.get(f"{API}/status", headers={**headers, "host": "evil.example"}).status_code == 421


def test_the_token_is_private_made_once_and_replaced_on_request(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    token, made = ensure_token(folder)
    assert made
    assert len(token) >= 32
    assert stat.S_IMODE((folder / "serve.token").stat().st_mode) == 0o600
    assert ensure_token(folder) == (token, False)
    other, made = ensure_token(folder, renew=True)
    assert made
    assert other != token


def test_a_link_in_place_of_the_token_file_is_not_followed(tmp_path: Path) -> None:
    from kebab.errors import StorageError

    secret = tmp_path / "secret"
    secret.write_text("somebody else's secret", encoding="utf-8")
    (tmp_path / "serve.token").symlink_to(secret)
    with pytest.raises(StorageError):
        ensure_token(tmp_path)


@pytest.mark.parametrize("path", TRAVERSAL)
def test_no_parameter_that_names_something_leads_out_of_the_knowledge_base(
    client: TestClient, path: str
) -> None:
    parameters = {
        "reference",
        "chunk_id",
        "uri",
        "run_id",
        "id",
        "before",
        "after",
        "path",
        "source",
        "agent",
    }
    for operation in OPERATIONS:
        if operation.takes is None or "GET" not in operation.methods:
            continue
        for name in parameters & set(operation.takes.__struct_fields__):
            needed = {"query": "seat", "text": "seat", "task": "seat", "start": "1", "end": "2"}
            given = {key: value for key, value in needed.items() if key in operation.takes.__struct_fields__}
            response = client.get(API + operation.path, params={**given, name: path})
            assert response.status_code < 500, (operation.path, name)
            assert "root:x:0:0" not in response.text


@pytest.mark.parametrize(
    "path", ["../app.py", "..%2Fapp.py", "%2e%2e/app.py", "/etc/passwd", "index.html/../../app.py", "x\x00"]
)
def test_no_name_of_a_static_file_leads_out_of_its_folder(site: Served, path: str) -> None:
    import http.client

    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=10)
    connection.putrequest("GET", f"/static/{path}".replace("\x00", "%00"), skip_accept_encoding=True)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    assert response.status == 404
    assert b"Starlette" not in body
    connection.close()


def test_scripts_and_remote_images_of_a_note_are_shown_and_not_obeyed(client: TestClient) -> None:
    html = client.get(f"{API}/view", params={"reference": "hostile.md"}).json()["html"]
    tags = set(re.findall(r"<([a-zA-Z][a-zA-Z0-9]*)", html))
    assert not tags & {"script", "img", "iframe", "object", "embed", "style", "link", "svg", "form", "base"}
    assert not re.search(r"<[^>]*\son\w+\s*=", html)
    assert not re.search(r'(href|src)="\s*(javascript|data|vbscript):', html, re.IGNORECASE)
    assert "&lt;script&gt;" in html
    links = re.findall(r'href="([^"]*)"', html)
    assert all(link.startswith(("/doc?", "https://example.com/", "mailto:", "#")) for link in links), links


def test_the_policy_forbids_scripts_and_requests_from_elsewhere_everywhere(client: TestClient) -> None:
    for path in ("/", "/static/missing.js", f"{API}/status", f"{API}/nothing"):
        headers = client.get(path).headers
        policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == "'self'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


def test_escapes_in_file_names_do_not_reach_the_terminal_of_a_caller(client: TestClient) -> None:
    response = client.get(f"{API}/documents", params={"path": "danger*"})
    (document,) = response.json()["documents"]
    assert document["doc_path"] == "danger\x1b[31mred.md"
    assert b"\x1b" not in response.content


def test_a_query_of_ten_megabytes_is_refused(site: Served) -> None:
    body = json.dumps({"query": "a " * 5_000_000}).encode()
    for head in (f"Content-Length: {len(body)}\r\n", "Transfer-Encoding: chunked\r\n"):
        assert _status_of(site, head, body) == 413


def test_an_address_of_a_megabyte_is_refused(site: Served) -> None:
    with socket.create_connection(("127.0.0.1", site.port), timeout=10) as connection:
        connection.sendall(b"GET /api/v1/search?query=" + b"a" * 1_000_000)
        assert b" 400 " in connection.recv(1000)


def test_a_caller_who_sends_the_head_slowly_is_hung_up_on(vault: Kebab) -> None:
    class Impatient(PatientProtocol):
        head_seconds = 0.3

    with (
        serving(create_app(vault), protocol=Impatient) as port,
        socket.create_connection(("127.0.0.1", port), timeout=10) as connection,
    ):
        connection.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ")
        begun = time.monotonic()
        assert connection.recv(100) == b""
        assert time.monotonic() - begun < 5


def test_a_caller_who_sends_the_body_slowly_is_refused(vault: Kebab) -> None:
    with served(vault, access=Access(body_seconds=0.3)) as impatient:
        assert _status_of(impatient, "Content-Length: 100\r\n", b'{"query":') == 413


def test_slow_callers_do_not_keep_others_waiting(site: Served) -> None:
    slow = [socket.create_connection(("127.0.0.1", site.port), timeout=10) for _ in range(50)]
    try:
        for connection in slow:
            connection.sendall(
                b"POST /api/v1/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\n{"
            )
        assert _status_of(site, "Content-Length: 16\r\n", b'{"query":"seat"}') == 200
    finally:
        for connection in slow:
            connection.close()


def _status_of(site: Served, head: str, body: bytes) -> int:
    request = f"POST {API}/search HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{head}\r\n"
    with socket.create_connection(("127.0.0.1", site.port), timeout=20) as connection:
        connection.sendall(request.encode())
        if "chunked" in head:
            body = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(body)
        return int(connection.recv(1000).split(b" ")[1])
