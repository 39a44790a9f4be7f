"""``kebab formats``: what can be read, and what installs the rest."""

from __future__ import annotations

import sys
from pathlib import Path

from kebab.assembly.formats import known_formats
from kebab.ingest.parse.formats import FORMATS, modules
from tests.drivers.conftest import Cli


def test_formats_are_shown_with_their_engines(cli: Cli) -> None:
    shown = cli("formats")
    assert shown.code == 0
    assert "PDF" in shown.out
    assert "pypdfium2" in shown.out
    listed = cli("formats", "--json").json
    assert listed["schema_version"] == "format_list.v1"
    assert {
        "name": "HWP 5",
        "extensions": [".hwp"],
        "engine": "unhwp",
        "installed": True,
    }.items() <= next(one for one in listed["formats"] if one["name"] == "HWP 5").items()


def test_every_extension_of_the_table_is_shown_once() -> None:
    shown = [ending for one in known_formats() for ending in one.extensions]
    assert sorted(shown) == sorted(modules())
    assert set(shown) == set(FORMATS)


def test_what_is_missing_names_the_command_that_installs_it(cli: Cli, tmp_path: Path) -> None:
    script = (
        "import sys; sys.modules['pypdfium2'] = None\n"
        "from importlib.machinery import PathFinder\n"
        "from kebab.assembly.formats import known_formats\n"
        "print([one.install for one in known_formats() if one.name == 'PDF'])"
    )
    import subprocess

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[\"pip install 'kebab[documents]'\"]", done.stderr
