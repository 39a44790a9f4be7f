"""What surrounds the data, examined."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kebab.domain.reports import CheckStatus
from kebab.upkeep.examine_place import examine_sources


def test_each_root_that_is_not_there_is_named(tmp_path: Path) -> None:
    away = tmp_path / "away"
    assert examine_sources({"notes": tmp_path}).status is CheckStatus.OK
    found = examine_sources({"notes": tmp_path, "papers": away})
    assert (found.status, found.detail) == (
        CheckStatus.WARNING,
        f"not there, or not readable: papers ({away})",
    )


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is locked for root")
def test_a_root_that_cannot_be_read_is_not_called_readable(tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0)
    try:
        assert examine_sources({"notes": locked}).status is CheckStatus.WARNING
    finally:
        locked.chmod(0o700)
