"""A process that exports or imports a knowledge base and stops itself when the copy of the store is written.

``python -m tests.faults.move_victim export|import ROOT DATA BUNDLE``
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from kebab.app import Kebab


def stop_at_the_copy(event: str, arguments: tuple[object, ...]) -> None:
    """An import sets the copy's time when it is whole; an export then reads it."""
    named = str(arguments[0]) if arguments else ""
    reading = event == "open" and arguments[1] in ("r", "rb")
    copy = "/.kebab-" in named and named.endswith("/kebab.sqlite")
    if copy and (event == "os.utime" or reading):
        os.kill(os.getpid(), signal.SIGSTOP)


if __name__ == "__main__":
    task, root, data, bundle = sys.argv[1:]
    sys.addaudithook(stop_at_the_copy)
    with Kebab.open(root=Path(root), data_dir=Path(data)) as kb:
        kb.export_bundle(Path(bundle)) if task == "export" else kb.import_bundle(Path(bundle), force=True)
