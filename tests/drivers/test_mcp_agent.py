"""A scripted agent looks ten things up in the sample vault, through the tools alone.

It knows nothing of the vault: it searches with the words of the task, reads around the best hits, follows
what a miss suggests, and gives the first line that holds what the task asks for.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from mcp.client.client import Client

from kebab.app import Kebab
from kebab.mcp.run import Options, build_server
from tests.drivers.mcp_talk import opened, structured, told, with_client

VAULT = Path(__file__).parents[2] / "examples" / "vault"


@dataclass(frozen=True, slots=True)
class Task:
    """``words`` is what an agent would type, ``wanted`` the form of the answer, ``fact`` the answer."""

    words: str
    wanted: str
    fact: str
    path: str


TASKS = (
    Task("half marathon race day", r"\d{1,2} \w+ 2026", "26 April 2026", "health/running-plan.md"),
    Task("PgBouncer pool size per worker", r"pool size \d+", "pool size 4", "work/incidents"),
    Task("restore photos 사진 되살려 걸렸고", r"\d+시간 \d+분", "3시간 40분", "homelab/백업.md"),
    Task("oven temperature sourdough pot", r"\d{3} °C", "250 °C", "recipes/sourdough.md"),
    Task("power bank hand luggage", r"[\d,]+ mAh", "10,000 mAh", "travel/packing-list.md"),
    Task("NAS raidz1 쓸 수 있는 용량", r"\d+ TB다", "21 TB다", "homelab/백업.md"),
    Task("travel insurance claim 보험 청구 년 안에", r"\d년 안에", "3년 안에", "travel/여행자-보험.md"),
    Task("next restore practice 다음 연습", r"2026년 \d+월 \d+일", "2026년 2월 28일", "homelab/백업.md"),
    Task("half marathon goal time", r"\d:\d\d:\d\d", "1:55:00", "health/running-plan.md"),
    Task("bread flour weight sourdough", r"\d+ g", "450 g", "recipes/sourdough.md"),
)


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kebab]:
    folder = tmp_path_factory.mktemp("vault")
    shutil.copytree(VAULT, folder / "notes")
    with opened(folder) as kebab:
        kebab.ingest()
        yield kebab


@dataclass(frozen=True, slots=True)
class Found:
    fact: str
    citation: str


async def looked_up(client: Client, task: Task) -> Found | None:
    """Search, read around each hit in turn, and stop at the first text of the wanted form."""
    page = structured(await client.call_tool("search", {"query": task.words, "k": 5}))
    for hit in page["hits"]:
        uri = hit["citation"]["uri"]
        read = told(await client.call_tool("fetch", {"reference": uri, "context": 3}))
        for line in read.split("\n")[1:]:
            number, _, text = line.partition("| ")
            if match := re.search(task.wanted, text):
                return Found(match[0], f"{uri.partition('#')[0]}#L{number}")
    return None


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.words)
def test_the_agent_finds_the_fact_and_cites_the_line_that_holds_it(vault: Kebab, task: Task) -> None:
    async def talk(client: Client) -> tuple[Found | None, str]:
        found = await looked_up(client, task)
        assert found is not None
        return found, told(await client.call_tool("fetch", {"reference": found.citation}))

    found, cited = with_client(build_server(vault, Options()), talk)
    assert found is not None
    assert found.fact == task.fact
    assert found.citation.startswith(task.path)
    assert task.fact in cited
