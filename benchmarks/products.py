"""What a person could install instead, on the same folder of notes, in turns: qmd, recoll and ripgrep.

    python -m benchmarks.products [--editions 2] [--rounds 3] [--peers FOLDER]

``make bench-peers`` installs qmd with a Node of its own below FOLDER; recoll and ripgrep come from Debian
(recollcmd, python3-recoll, ripgrep). What is not there is left out. All find by words; kebab also embeds
everything and finds by meaning. "warm" is the library of each in an open process, ten results a query.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import footprint, searching
from benchmarks.corpus import PROJECT, notes_of
from kebab import Kebab
from kebab.domain.queries import SearchMode

QUERIES = 200
COLD = 5
_RECOLL_WARM = """
import json, re, sys, time
from recoll import recoll
asked = json.loads(sys.stdin.readline())
base = recoll.connect(confdir=sys.argv[1])
def once(text):
    began = time.perf_counter()
    query = base.query()
    query.execute(" OR ".join(f'"{word}"' for word in re.findall(r"\\w+", text)))
    for place, found in zip(range(10), query):
        query.makedocabstract(found)
    return 1000 * (time.perf_counter() - began)
for text in asked[::2]: once(text)
print(json.dumps([once(text) for text in asked[1::2]]))
"""
_QMD_WARM = """
import { createStore } from 'ENTRY';
import { readFileSync } from 'node:fs';
const store = await createStore({ dbPath: process.argv[2] });
const asked = JSON.parse(readFileSync(0, 'utf8'));
const once = async (text) => {
  const began = performance.now();
  await store.searchLex(text, { limit: 10 });
  return performance.now() - began;
};
for (const text of asked.filter((_, place) => place % 2 == 0)) await once(text);
const found = [];
for (const text of asked.filter((_, place) => place % 2 == 1)) found.push(await once(text));
console.log(JSON.stringify(found));
await store.close();
"""


@dataclass(frozen=True)
class Product:
    """A product on a folder of notes: its commands, where its data lie, and how it searches when open."""

    name: str
    index: list[str]
    again: list[str]
    ask: Callable[[str], list[str]]
    data: Path
    environ: dict[str, str] = field(default_factory=dict)
    warm: Callable[[list[str]], list[float]] | None = None

    def run(self, command: Sequence[str]) -> footprint.Footprint:
        return footprint.run(command, os.environ | self.environ)

    def cold(self, text: str) -> float:
        began = time.perf_counter()
        subprocess.run(self.ask(text), env=os.environ | self.environ, capture_output=True, check=False)
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--editions", type=int, default=2, help="2 are some 53 MB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data")
    parser.add_argument("--peers", type=Path, default=PROJECT / ".venv" / "peers")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kebab-products-") as place:
        work = Path(place)
        corpus = notes_of(options.data, work)
        for number in range(options.editions):
            corpus.write(number, work / "notes")
        _print_all(options, work, corpus.queries(QUERIES))


def _print_all(options: argparse.Namespace, work: Path, queries: list[str]) -> None:
    notes = work / "notes"
    text = footprint.disk_mb(notes)
    print(
        f"{sum(1 for _ in notes.rglob('*.md')):,} notes, {text:.1f} MB; {options.rounds} rounds in turns,"
        f" median and range. Load average at the start: {os.getloadavg()[0]:.1f}.\n"
    )
    print(
        "| product | index s | memory MB | disk | unchanged s | 10 edited s | cold ms | warm p50 ms | p95 |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    found: dict[str, list[dict[str, float]]] = {}
    for number in range(options.rounds):
        for product in _products(work, work / str(number), options.peers):
            found.setdefault(product.name, []).append(_round(product, notes, queries))
    for name, rounds in found.items():
        print(f"| {name} | " + " | ".join(_cells(rounds, text)) + " |", flush=True)


def _round(product: Product, notes: Path, queries: list[str]) -> dict[str, float]:
    product.data.mkdir(parents=True, exist_ok=True)
    measured: dict[str, float] = {}
    if product.index:
        first = product.run(product.index)
        measured |= {
            "index": first.seconds,
            "memory": first.together,
            "disk": footprint.disk_mb(product.data),
        }
        measured["unchanged"] = product.run(product.again).seconds
        _edit(sorted(notes.rglob("*.md"))[::200][:10])
        measured["edited"] = product.run(product.again).seconds
    measured["cold"] = 1000 * statistics.median(product.cold(text) for text in queries[:COLD])
    if product.warm is not None:
        spent = product.warm(queries)
        measured |= {"p50": float(np.percentile(spent, 50)), "p95": float(np.percentile(spent, 95))}
    shutil.rmtree(product.data, ignore_errors=True)
    return measured


def _edit(notes: Sequence[Path]) -> None:
    for note in notes:
        with note.open("a", encoding="utf-8") as file:
            file.write(f"\nOne more line about the harbour at {time.time_ns()}.\n")


def _cells(rounds: Sequence[dict[str, float]], text: float) -> Iterator[str]:
    digits = {"index": 1, "memory": 0, "disk": 0, "unchanged": 2, "edited": 2, "cold": 0, "p50": 1, "p95": 1}
    for key, places in digits.items():
        values = [one[key] for one in rounds if key in one]
        if not values:
            yield ""
        elif key == "disk":
            yield f"{statistics.median(values) / text:.2f} ×"
        else:
            spread = f" ({min(values):.{places}f}–{max(values):.{places}f})"
            yield f"{statistics.median(values):.{places}f}{spread}"


# --- the products --------------------------------------------------------------------------------------


def _products(work: Path, place: Path, peers: Path) -> Iterator[Product]:
    notes = work / "notes"
    yield from _kebab(notes, place / "kebab")
    node, qmd = peers / "node" / "bin" / "node", peers / "qmd" / "node_modules" / "@tobilu" / "qmd"
    if node.exists() and qmd.exists():
        yield _qmd(notes, place / "qmd", node, qmd)
    if shutil.which("recollindex"):
        yield _recoll(notes, place / "recoll")
    if shutil.which("rg"):
        yield Product(
            "ripgrep, any word", [], [], lambda text: ["rg", "-il", "|".join(text.split()), str(notes)], place
        )


def _kebab(notes: Path, place: Path) -> Iterator[Product]:
    command = str(Path(sys.executable).with_name("kebab"))
    base = place / "base"
    environ = {"KEBAB_STORAGE__DATA_DIR": str(base / "data"), "KEBAB_WORKSPACE__ROOT": str(notes)}
    ingest = [command, "ingest", "--quiet"]

    def warm(queries: list[str]) -> list[float]:
        (base / "notes").symlink_to(notes)
        with searching.opened(base) as kb:
            for text in queries[::2]:
                _words(kb, text)
            return [_words(kb, text) for text in queries[1::2]]

    yield Product(
        "kebab, words and meaning; warm and cold: words",
        ingest,
        ingest,
        lambda text: [command, "search", text, "--mode", "lexical", "--no-daemon"],
        base,
        {**environ, "HOME": str(place)},
        warm,
    )


def _qmd(notes: Path, place: Path, node: Path, qmd: Path) -> Product:
    command = [str(node), str(qmd / "dist" / "cli" / "qmd.js")]
    environ = {"XDG_CACHE_HOME": str(place / "cache"), "XDG_CONFIG_HOME": str(place / "config")}

    def warm(queries: list[str]) -> list[float]:
        script = place / "warm.mjs"
        script.write_text(_QMD_WARM.replace("ENTRY", str(qmd / "dist" / "index.js")), encoding="utf-8")
        database = str(place / "cache" / "qmd" / "index.sqlite")
        return _asked([str(node), str(script), database], queries)

    return Product(
        "qmd, words alone",
        [*command, "collection", "add", str(notes), "--name", "notes"],
        [*command, "update"],
        lambda text: [*command, "search", text, "-n", "10"],
        place,
        {**environ, "HOME": str(place)},
        warm,
    )


def _recoll(notes: Path, place: Path) -> Product:
    place.mkdir(parents=True, exist_ok=True)
    (place / "recoll.conf").write_text(f"topdirs = {notes}\n", encoding="utf-8")
    index = ["recollindex", "-c", str(place)]
    warm = None
    if not subprocess.run(
        ["/usr/bin/python3", "-c", "from recoll import recoll"], capture_output=True, check=False
    ).returncode:
        warm = lambda queries: _asked(["/usr/bin/python3", "-c", _RECOLL_WARM, str(place)], queries)  # noqa: E731
    return Product(
        "recoll, words alone",
        index,
        index,
        lambda text: ["recollq", "-c", str(place), "-o", "-n", "10", text],
        place,
        {},
        warm,
    )


def _asked(command: Sequence[str], queries: list[str]) -> list[float]:
    done = subprocess.run(command, input=json.dumps(queries), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command[0]} failed: {done.stderr[-300:]}")
    found: list[float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _words(kb: Kebab, text: str) -> float:
    began = time.perf_counter()
    kb.search(text, k=10, mode=SearchMode.LEXICAL)
    return 1000 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
