"""Systems without the modules and calls of POSIX: kebab is at least imported there, and shows its help.

This stands in for Windows, on which the suite does not run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).parents[2]

WITHOUT = """
import os, sys
# These support Windows by asking for its name, which this system does not have.
import mcp.server.stdio, textual.app, uvicorn, watchfiles

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in {"fcntl", "pwd", "grp", "resource", "termios", "tty", "pty", "syslog", "crypt"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Missing())
# The standard library may need these on this system: it is imported first.
import asyncio, concurrent.futures, multiprocessing, pathlib, shutil, socket, subprocess, tempfile
for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "register_at_fork", "fork", "getuid", "geteuid",
             "pread", "pwrite", "preadv", "fchmod", "chown", "mkfifo", "sysconf", "sched_getaffinity"):
    vars(os).pop(name, None)
import signal
for name in ("SIGKILL", "SIGSTOP", "SIGUSR1", "SIGHUP", "SIGPIPE"):
    vars(signal).pop(name, None)
"""

IMPORT_ALL = """
import importlib, pkgutil
import kebab
names = [found.name for found in pkgutil.walk_packages(kebab.__path__, "kebab.")]
for name in names:
    if not name.endswith("__main__"):
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as missing:
            if missing.name not in {"cv2", "rapidocr"}:  # an engine that no extra installs
                raise
print(len(names))
"""

HELP = """
from kebab.cli import main
sys.argv = ["kebab", "ingest", "--help"]
main()
"""


def run(script: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + script], cwd=PROJECT, capture_output=True, text=True, timeout=120
    )


def test_every_module_is_imported_without_posix() -> None:
    done = run(IMPORT_ALL)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100


def test_help_is_shown_without_posix() -> None:
    done = run(HELP)
    assert done.returncode == 0, done.stderr
    assert "Usage: kebab ingest" in done.stdout
