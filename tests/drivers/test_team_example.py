"""The container files of examples/team say what the product does. They cannot be built here: no engine."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import yaml
from click.testing import CliRunner

from kebab.cli.program import kebab
from kebab.config.check import typed
from tests.object_store import BUCKET

PROJECT = Path(__file__).parents[2]
TEAM = PROJECT / "examples" / "team"
CONTAINERFILE = (TEAM / "Containerfile").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((TEAM / "compose.yaml").read_text(encoding="utf-8"))


def command_of(target: str) -> list[str]:
    """The command that an image starts."""
    stage = CONTAINERFILE.split(f"AS {target}\n", 1)[1].split("\nFROM ", 1)[0]
    found = re.search(r"^CMD \[(.*)\]$", stage, re.MULTILINE)
    assert found is not None
    return [word.strip().strip('"') for word in found[1].split(",")]


def test_every_service_is_built_from_a_target_that_is_there() -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\w+)$", CONTAINERFILE, re.MULTILINE))
    for service in COMPOSE["services"].values():
        build = service["build"]
        assert build["target"] in targets
        assert (TEAM / build["context"]).resolve() == PROJECT
        assert PROJECT / build["dockerfile"] == TEAM / "Containerfile"


def test_what_is_copied_into_the_image_exists() -> None:
    for line in re.findall(r"^COPY (.*)$", CONTAINERFILE, re.MULTILINE):
        *sources, _ = shlex.split(line)
        assert all((PROJECT / source).exists() for source in sources), line


def test_the_replica_is_started_with_options_that_the_command_has() -> None:
    program, *arguments = command_of("replica")
    assert program == "kebab"
    options = [word for word in arguments if word.startswith("--")]
    help_text = CliRunner().invoke(kebab, [arguments[0], "--help"]).output
    assert all(option in help_text for option in options)


def test_every_setting_in_the_environment_is_one() -> None:
    stated = re.findall(r"(KEBAB_\w+)=(\S+)", CONTAINERFILE)
    stated += [
        (name, str(value))
        for service in COMPOSE["services"].values()
        for name, value in service["environment"].items()
        if name.startswith("KEBAB_")
    ]
    assert len(stated) >= 4
    for name, value in stated:
        assert typed(name.removeprefix("KEBAB_").lower().replace("__", "."), value) is not None


def test_no_secret_stands_in_the_files_and_nothing_is_open_to_others() -> None:
    for service in COMPOSE["services"].values():
        assert all(port.startswith("127.0.0.1:") for port in service["ports"])
        secrets = [value for name, value in service["environment"].items() if "SECRET" in name]
        assert all(value.startswith("${") and ":?" in value for value in secrets)
    assert CONTAINERFILE.count("USER kebab") == 2


def test_the_store_makes_the_bucket_that_the_replica_reads() -> None:
    url = COMPOSE["services"]["replica"]["environment"]["KEBAB_INDEX__URL"]
    assert url.startswith(f"s3://{BUCKET}/")
    assert f"-bucket={BUCKET}" in command_of("store")
    assert "-master.telemetry=false" in command_of("store")
