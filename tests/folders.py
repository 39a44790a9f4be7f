"""Folders that an engine has used a moment ago."""

from __future__ import annotations

import shutil
import time
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder in which threads of a closed engine may still tidy up, for two seconds at most."""
    deadline = time.monotonic() + 2
    while folder.exists():
        try:
            shutil.rmtree(folder)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
