"""Qdrant's REST interface: one request at a time, at any node that answers.

Through httpx and not through Qdrant's own client, whose import takes longer than a whole search.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kebab.adapters.later import later
from kebab.domain.turns import Waiting, unheard
from kebab.errors import EngineUnavailable, InvalidInput

Body = Mapping[str, Any]

_PORT = 6333
_READ_S = 15.0
PATIENCE_S = 60.0
"""How long a node may be away, or a leader be missing, before a request is given up."""
_PAUSE_S = 0.3
_TOLD_AFTER_S = 3.0
_PAGE = 1000


@dataclass(frozen=True, slots=True)
class Address:
    """``qdrant://HOST:PORT[,HOST:PORT…]/NAME[?replicas=N&shards=N]``; ``qdrants://`` means TLS."""

    nodes: tuple[str, ...]
    name: str
    tls: bool
    replicas: int
    shards: int

    @classmethod
    def of(cls, uri: str) -> Address:
        """Raises InvalidInput for what is no such address."""
        parts = urlsplit(uri)
        nodes = tuple(_node(place, uri) for place in parts.netloc.split(",") if place)
        name = parts.path.strip("/")
        stated = parse_qs(parts.query)
        if not nodes or not name or not name.replace("-", "").replace("_", "").isalnum():
            raise _wrong(uri)
        most = min(len(nodes), 2)
        try:
            counts = [
                int(stated.get(key, [str(own)])[0])
                for key, own in (("replicas", most), ("shards", len(nodes)))
            ]
        except ValueError:
            raise _wrong(uri) from None
        if min(counts) < 1 or set(stated) - {"replicas", "shards"}:
            raise _wrong(uri)
        return cls(nodes, name, parts.scheme == "qdrants", *counts)

    @property
    def uri(self) -> str:
        return f"{'qdrants' if self.tls else 'qdrant'}://{','.join(self.nodes)}/{self.name}"


def _node(place: str, uri: str) -> str:
    if "@" in place:
        raise InvalidInput(
            "the address of a Qdrant cluster holds no credentials", hint="export KEBAB_QDRANT_API_KEY=…"
        )
    parts = urlsplit(f"//{place}")
    try:
        port = parts.port or _PORT
    except ValueError:
        raise _wrong(uri) from None
    if not parts.hostname:
        raise _wrong(uri)
    return f"{parts.hostname}:{port}"


def _wrong(uri: str) -> InvalidInput:
    return InvalidInput(
        f"{uri} is no address of a Qdrant cluster",
        hint="use qdrant://HOST:PORT/NAME, several nodes with commas between them, ?replicas=N&shards=N",
    )


class Missing(Exception):
    """There is no such collection."""


class Server:
    """A cluster by its nodes. A node that does not answer is passed over for the next one.

    Every request may be sent twice: all of them leave the same when repeated.
    """

    def __init__(
        self,
        address: Address,
        *,
        api_key: str | None = None,
        patience_s: float = PATIENCE_S,
        waiting: Waiting = unheard,
    ) -> None:
        """``waiting`` hears, once for each request, of one that takes long."""
        self.address = address
        self._waiting = waiting
        self._patience_s = patience_s
        self._key = api_key
        self._first = 0

    @cached_property
    def _client(self) -> Any:
        try:
            import httpx
        except ImportError as error:
            raise EngineUnavailable(
                "the package httpx is not installed", hint="pip install 'kebab[qdrant]'"
            ) from error
        headers = {"api-key": self._key} if self._key else {}
        timeout = httpx.Timeout(_READ_S, connect=2.0)
        client = httpx.Client(headers=headers, timeout=timeout, trust_env=False)
        weakref.finalize(self, client.close)
        return client

    def ask(self, method: str, path: str, body: Body | None = None) -> Any:
        """The ``result`` of a request. Raises EngineUnavailable, and Missing for an unknown collection."""
        with self._heard():
            return self._asked(method, path, body)

    @contextmanager
    def _heard(self) -> Iterator[None]:
        """Say so where the block takes long: a node may keep a request for many seconds, then refuse it."""
        if self._waiting is unheard:
            yield
            return
        message = f"waiting for {self.address.uri}, up to {self._patience_s:.0f} s"
        with later(_TOLD_AFTER_S, lambda: self._waiting(message)):
            yield

    def _asked(self, method: str, path: str, body: Body | None) -> Any:
        deadline = time.monotonic() + self._patience_s
        while True:
            said: list[str] = []
            for turn in range(len(self.address.nodes)):
                number = (self._first + turn) % len(self.address.nodes)
                status, found = self._sent(method, self.address.nodes[number], path, body)
                if status == 200:
                    self._first = number
                    return found
                if status == 404:
                    raise Missing(str(found))
                said.append(str(found))
                if 400 <= status < 500 and status not in (408, 409, 429):
                    raise self._failed(said)
            if time.monotonic() > deadline:
                raise self._failed(said)
            time.sleep(_PAUSE_S)

    def _sent(self, method: str, node: str, path: str, body: Body | None) -> tuple[int, Any]:
        """Status and result, or status and what the server said; 0 where nobody answered."""
        import httpx

        scheme = "https" if self.address.tls else "http"
        try:
            reply = self._client.request(method, f"{scheme}://{node}{path}", json=body)
            if reply.status_code == 200:
                return 200, reply.json().get("result")
            return reply.status_code, f"{node} said {reply.status_code}: {reply.text[:300]}"
        except (httpx.HTTPError, ValueError) as error:
            return 0, f"{node}: {error or type(error).__name__}"

    def _failed(self, said: Sequence[str]) -> EngineUnavailable:
        return EngineUnavailable(
            f"{self.address.uri} cannot be used: {'; '.join(said)}",
            hint="is Qdrant running there? It takes writes only while more than half of its nodes are up",
        )

    # --- collections and points --------------------------------------------------------------------

    def has(self, collection: str) -> bool:
        return bool(self.ask("GET", f"/collections/{collection}/exists")["exists"])

    def create(self, collection: str, body: Body, *, indexed: Mapping[str, Any]) -> None:
        """A collection with its payload indexes; one that exists is left as it is."""
        placed = {"shard_number": self.address.shards, "replication_factor": self.address.replicas}
        if not self.has(collection):
            try:
                self.ask("PUT", f"/collections/{collection}", {**placed, **body, "on_disk_payload": True})
            except EngineUnavailable:
                if not self.has(collection):  # somebody else was faster
                    raise
        held = self.ask("GET", f"/collections/{collection}")["payload_schema"]
        for field, schema in indexed.items():
            if field in held:
                continue
            told = {"field_name": field, "field_schema": schema}
            self.ask("PUT", f"/collections/{collection}/index?wait=true", told)

    def put(self, collection: str, points: Sequence[Body], *, only_new: bool = False) -> None:
        """Store these points; ``only_new`` leaves those as they are whose ids exist."""
        body: dict[str, Any] = {"points": list(points)}
        if only_new:
            body["update_filter"] = {"must": [{"key": "nobody_has_this", "match": {"value": True}}]}
        self.ask("PUT", f"/collections/{collection}/points?wait=true&ordering=medium", body)

    def set(self, collection: str, payload: Body, where: Body) -> None:
        body = {"payload": dict(payload), "filter": where}
        self.ask("POST", f"/collections/{collection}/points/payload?wait=true&ordering=medium", body)

    def delete(self, collection: str, where: Body) -> None:
        self.ask(
            "POST", f"/collections/{collection}/points/delete?wait=true&ordering=medium", {"filter": where}
        )

    def count(self, collection: str, where: Body) -> int:
        body = {"filter": where, "exact": True}
        return int(self.ask("POST", f"/collections/{collection}/points/count", body)["count"])

    def counts(self, collection: str, where: Body) -> list[int]:
        """What each node that answers counts: a node that was away may lag behind the others."""
        told = (
            self._sent(
                "POST",
                node,
                f"/collections/{collection}/points/count",
                {"filter": where, "exact": True},
            )
            for node in self.address.nodes
        )
        return [int(found["count"]) for status, found in told if status == 200]

    def scroll(
        self, collection: str, where: Body, fields: Sequence[str] | None = None, *, vectors: bool = False
    ) -> Iterator[Any]:
        """Every point that meets the filter, with these fields of its payload or with all, by id."""
        page: Any = None
        while True:
            body = {"filter": where, "limit": _PAGE, "with_vector": vectors, "offset": page}
            body["with_payload"] = True if fields is None else list(fields)
            found = self.ask("POST", f"/collections/{collection}/points/scroll", body)
            yield from found["points"]
            page = found["next_page_offset"]
            if page is None:
                return

    def query(self, collection: str, body: Body) -> list[Any]:
        found = self.ask("POST", f"/collections/{collection}/points/query", body)
        return list(found["points"])

    @contextmanager
    def or_nothing(self) -> Iterator[None]:
        """Pass over what is not there yet."""
        try:
            yield
        except Missing:
            return
