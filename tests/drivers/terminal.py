"""The command on a terminal, with somebody who answers its questions."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Sequence

from tests.drivers.conftest import Cli


def answering(cli: Cli, *arguments: str, answers: Sequence[str], timeout_s: float = 60) -> tuple[int, str]:
    """Run with stdin, stdout and stderr on one terminal; type the answers. Returns exit code and screen."""
    main, terminal = pty.openpty()
    process = subprocess.Popen(
        cli.command(*arguments),
        cwd=cli.cwd,
        env=cli.environ | {"COLUMNS": "200", "NO_COLOR": "1"},
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
    )
    os.close(terminal)
    os.write(main, "".join(f"{answer}\n" for answer in answers).encode())
    screen, deadline = b"", time.monotonic() + timeout_s
    try:
        while select.select([main], [], [], max(0.0, deadline - time.monotonic()))[0]:
            screen += os.read(main, 65536)
    except OSError:
        pass  # Linux ends a terminal whose other side is closed with EIO
    os.close(main)
    return process.wait(timeout=timeout_s), screen.decode()
