"""Editing the configuration: the wanted keys change, everything else stays to the byte."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from kebab.errors import ConfigInvalid
from kebab.upkeep.edit_config import edited, write_whole

SECTION = "models.embedding"
ANNOTATED = """\
# my settings
[workspace]
root = ".." # above

[models.embedding]
## Which one.
# provider = "static"
## Its name.
# model = ""
threads = 2   # two

[models.llm]
model = "kept"
"""


def test_a_key_is_set_below_its_comment_and_nothing_else_changes() -> None:
    text = edited(ANNOTATED, SECTION, {"provider": "onnx", "model": "", "path": '/m/é "x"'})
    added = [line for line in text.splitlines() if line not in ANNOTATED.splitlines()]
    assert added == ['path = "/m/é \\"x\\""', 'provider = "onnx"']
    assert [line for line in text.splitlines() if line not in added] == ANNOTATED.splitlines()
    assert text.index('# provider = "static"') < text.index('provider = "onnx"') < text.index("## Its name.")
    assert tomllib.loads(text)["models"]["embedding"] == {
        "provider": "onnx",
        "path": '/m/é "x"',
        "threads": 2,
    }


def test_editing_twice_replaces_and_an_empty_value_takes_the_key_away() -> None:
    once = edited(ANNOTATED, SECTION, {"provider": "onnx", "model": "", "path": "/m"})
    twice = edited(once, SECTION, {"provider": "static", "model": "", "path": ""})
    assert tomllib.loads(twice)["models"]["embedding"] == {"provider": "static", "threads": 2}
    assert twice.count("\nprovider =") == 1


def test_a_section_that_is_not_there_is_added_at_the_end() -> None:
    text = edited("[search]\ndefault_k = 3\n", SECTION, {"provider": "none", "model": "", "path": ""})
    assert text == '[search]\ndefault_k = 3\n\n[models.embedding]\nprovider = "none"\n'
    assert edited("", SECTION, {"provider": "none"}) == '[models.embedding]\nprovider = "none"\n'


@pytest.mark.parametrize(
    "text",
    [
        'models = { embedding = { provider = "static" } }\n',
        '[models]\nembedding.provider = "static"\n',
        '[models.embedding]\nprovider = """\nstatic"""\n',
        '["models"."embedding"]\nprovider = "static"\n',
    ],
)
def test_what_cannot_be_edited_line_by_line_is_refused_and_says_what_to_write(text: str) -> None:
    with pytest.raises(ConfigInvalid) as raised:
        edited(text, SECTION, {"provider": "none"})
    assert 'provider = "none"' in (raised.value.hint or "")


def test_a_file_is_replaced_whole_with_its_permissions(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("old")
    file.chmod(0o600)
    write_whole(file, "new")
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o600)
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]


def test_a_link_to_the_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    real, link = tmp_path / "dotfiles" / "kebab.toml", tmp_path / "config.toml"
    real.write_text("old")
    link.symlink_to(real)
    write_whole(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
