"""The application object: what it loads, and when."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOMS = ("ingest", "search", "answer", "memory", "evaluate", "upkeep", "adapters")


def test_opening_a_knowledge_base_loads_no_room_and_no_engine(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("", encoding="utf-8")
    code = (
        "import sys; from pathlib import Path; from kebab import Kebab\n"
        "Kebab.open(Path(sys.argv[1])).close()\n"
        "print(*(name for name in sys.modules if name.startswith('kebab.')))"
    )
    command = [sys.executable, "-c", code, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {name.removeprefix("kebab.").removeprefix("assembly.") for name in done.stdout.split()}
    assert not loaded & set(ROOMS)
