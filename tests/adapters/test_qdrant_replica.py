"""A knowledge base published to a real Qdrant server and searched there, beside the embedded one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kebab.adapters.qdrant_published.server import Address, Server
from kebab.domain.queries import SearchFilters, SearchMode
from kebab.errors import EngineUnavailable, InvalidInput, NotIndexed
from tests.adapters.test_replica import ENGLISH, KOREAN, VAULT, Desk
from tests.qdrant_server import NEEDED, Node, address, program, running_qdrant

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("qdrant")]

QUERIES = (*ENGLISH, *KOREAN)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Node]]:
    if program() is None:
        pytest.skip(NEEDED)
    with running_qdrant(tmp_path_factory.mktemp("qdrant")) as running:
        yield running


@pytest.fixture(scope="module")
def vault(nodes: list[Node], tmp_path_factory: pytest.TempPathFactory) -> tuple[Desk, str]:
    desk, uri = Desk(tmp_path_factory.mktemp("desk"), "ann", VAULT), address(nodes, "vault")
    desk.ingest()
    assert desk.publish(uri) > 0
    return desk, uri


@pytest.mark.parametrize("mode", list(SearchMode))
def test_the_same_chunks_are_found_with_the_same_text_and_citations(
    vault: tuple[Desk, str], mode: SearchMode
) -> None:
    desk, uri = vault
    same_first = shared = all_hits = 0
    with desk.open() as here, desk.open(uri, follow_s=3600) as there:
        for text in QUERIES:
            one, other = here.search(text, mode=mode), there.search(text, mode=mode)
            assert other.degraded == one.degraded
            assert len(other.hits) == len(one.hits)
            ours, theirs = ({hit.chunk_id: hit for hit in found.hits} for found in (one, other))
            for chunk_id in ours.keys() & theirs.keys():
                a, b = ours[chunk_id], theirs[chunk_id]
                assert (a.snippet, a.citation, a.heading_path) == (b.snippet, b.citation, b.heading_path)
            same_first += list(ours)[:1] == list(theirs)[:1]
            shared += len(ours.keys() & theirs.keys())
            all_hits += len(ours)
    # Scores are not the same to the last bit, so near ties may change places: see docs/decisions.
    assert same_first >= 0.85 * len(QUERIES)
    assert shared >= 0.97 * all_hits


@pytest.mark.parametrize("text", ['"sourdough starter"', "notes -draft", "gard*", '"백업"'])
def test_phrases_exclusions_and_prefixes_hold(vault: tuple[Desk, str], text: str) -> None:
    desk, uri = vault
    with desk.open() as here, desk.open(uri, follow_s=3600) as there:
        found = [
            {hit.chunk_id for hit in kebab.search(text, mode=SearchMode.LEXICAL, k=50).hits}
            for kebab in (here, there)
        ]
    assert found[0] == found[1]


def test_filters_hold(vault: tuple[Desk, str]) -> None:
    desk, uri = vault
    korean = SearchFilters(lang=("ko",))
    with desk.open() as here, desk.open(uri, follow_s=3600) as there:
        found = [
            {hit.doc_path for hit in kebab.search("notes 메모", filters=korean, k=50).hits}
            for kebab in (here, there)
        ]
    assert found[0] == found[1] != set()


def test_a_replica_follows_what_is_published(nodes: list[Node], tmp_path: Path) -> None:
    uri = address(nodes, "follow")
    ann, bob = Desk(tmp_path, "ann"), Desk(tmp_path, "bob")
    ann.write("a.md", "# Harbour\n\nThe quokka sleeps.\n")
    bob.write("b.md", "# Market\n\nThe zebra trades.\n")
    for desk in (ann, bob):
        desk.ingest()
        desk.publish(uri)
    assert found(ann, uri, "quokka") == ["a.md"]
    assert found(ann, uri, "zebra") == ["b.md"]
    ann.write("a.md", "# Harbour\n\nThe wombat sleeps.\n")
    ann.ingest()
    assert ann.publish(uri) == 1
    assert found(ann, uri, "quokka") == []
    assert found(ann, uri, "wombat") == ["a.md"]
    assert found(bob, uri, "wombat") == ["a.md"]


def found(desk: Desk, uri: str, text: str) -> list[str]:
    """The notes that hold a word, in the newest release."""
    with desk.open(uri, follow_s=3600) as kebab:
        return [hit.doc_path for hit in kebab.search(text, mode=SearchMode.LEXICAL).hits]


def test_where_nothing_is_published_that_is_told(nodes: list[Node], tmp_path: Path) -> None:
    desk = Desk(tmp_path, "ann")
    with pytest.raises(NotIndexed), desk.open(address(nodes, "nothing"), follow_s=3600) as kebab:
        kebab.search("anything")


@pytest.mark.parametrize(
    "uri",
    ["qdrant://", "qdrant://host", "qdrant://host/a.b", "qdrant://h:x/n", "qdrant://h/n?replicas=no"],
)
def test_what_is_no_address_is_refused(uri: str) -> None:
    with pytest.raises(InvalidInput, match="no address"):
        Address.of(uri)


def test_an_address_with_credentials_is_refused() -> None:
    with pytest.raises(InvalidInput, match="credentials"):
        Address.of("qdrant://user:secret@host/name")


def test_an_address_says_how_many_copies_there_are() -> None:
    two = Address.of("qdrants://a,b:7000/team?shards=4")
    assert two == Address(("a:6333", "b:7000"), "team", tls=True, replicas=2, shards=4)
    assert two.uri == "qdrants://a:6333,b:7000/team"


def test_a_server_that_is_away_is_named() -> None:
    server = Server(Address.of("qdrant://127.0.0.1:9/x"), patience_s=0)
    with pytest.raises(EngineUnavailable, match=r"qdrant://127\.0\.0\.1:9/x cannot be used"):
        server.has("anything")
