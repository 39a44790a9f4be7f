"""The other process of the soak: edits notes, ingests, wipes, imports, switches the model; says what it did.

Prints one JSON object a step: when it began and ended (the machine's monotonic clock) and which edition of
each note the knowledge base holds from then on; null while it holds none.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from kebab import Kebab
from kebab.errors import Locked

NOTES = 6
MODELS = ("none", "static")


def note(number: int, edition: int) -> str:
    return f"# Note {number}\n\nThe keyword{number} stands at edition {edition}. It is about ropes.\n"


class Writer:
    def __init__(self, config: Path, root: Path) -> None:
        self.config, self.root = config, root
        self.editions = dict.fromkeys(range(NOTES), 0)
        self.bundle = config.with_name("soak.kebab")
        self.bundled: dict[int, int] = {}

    def step(self, name: str, work: Callable[[Kebab], object], *, holds: bool = True) -> None:
        began = time.monotonic()
        while True:
            with suppress(Locked), Kebab.open(self.config) as kb:
                work(kb)
                break
            time.sleep(0.02)
        state = {str(number): edition for number, edition in self.editions.items()} if holds else None
        done = {"step": name, "began": began, "ended": time.monotonic(), "state": state}
        sys.stdout.write(f"{json.dumps(done)}\n")

    def edit(self, number: int) -> None:
        self.editions[number] += 1
        draft = self.root / f".note{number}.tmp"
        draft.write_text(note(number, self.editions[number]), encoding="utf-8")
        draft.replace(self.root / f"note{number}.md")

    def ingest(self, number: int | None = None) -> None:
        if number is not None:
            self.edit(number)
        self.step("ingest", lambda kb: kb.ingest())

    def export(self) -> None:
        self.bundled = dict(self.editions)
        self.step("export", lambda kb: kb.export_bundle(self.bundle, force=True))

    def bring_back(self) -> None:
        """Import the bundle, and go on from what it held."""
        newest, self.editions = self.editions, self.bundled
        self.step("import", lambda kb: kb.import_bundle(self.bundle, force=True))
        self.editions = newest
        self.ingest()

    def wipe(self) -> None:
        self.step("reset", lambda kb: kb.reset("data"), holds=False)
        self.ingest()

    def switch(self) -> None:
        """To another model, with an edit made under it, and back."""
        for model in MODELS:
            self.step(f"use {model}", _using(model))
            self.ingest(0)


def _using(model: str) -> Callable[[Kebab], object]:
    return lambda kb: kb.use_model(model)


def main() -> None:
    config, root, count = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    writer, chance = Writer(config, root), random.Random(7)
    writer.ingest()
    special = {count // 5: writer.export, 2 * count // 5: writer.wipe, 3 * count // 5: writer.bring_back}
    special[4 * count // 5] = writer.switch
    for number in range(count):
        special.get(number, lambda: None)()
        writer.ingest(chance.randrange(NOTES))


if __name__ == "__main__":
    main()
