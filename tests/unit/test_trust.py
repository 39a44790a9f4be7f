"""What a project's file may set before its owner trusts it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kebab import config
from kebab.cli.template import template, toml
from kebab.config import trust
from kebab.config.locate import trusted_file
from kebab.config.sections import File, Section, Source
from kebab.errors import ConfigInvalid

FREE = {
    "workspace.exclude",
    "sources[0].id", "sources[0].exclude", "sources[0].trust_level", "sources[0].source_type",
    "ingest.code", "chunking.target_tokens", "chunking.overlap_tokens", "chunking.max_tokens",
    "search.lexical_engine", "search.vector_engine", "search.default_mode", "search.default_k",
    "search.hybrid_fusion",
    "search.rrf_k", "search.candidates", "search.snippet_chars", "search.stale_threshold_days",
    "search.refresh",
    "search.weights.lexical", "search.weights.vector",
    "search.adaptive.held", "search.adaptive.unheld", "search.adaptive.enough", "search.adaptive.bridge",
    "search.learned.name", "search.learned.coverage", "search.learned.nearness", "search.learned.whole",
}  # fmt: skip
"""Written out a second time on purpose: whoever frees a setting for strangers says so here too."""


def leaves(section: type[msgspec.Struct], prefix: str = "") -> Iterator[str]:
    for field in msgspec.structs.fields(section):
        if field.name == "sources":
            yield from leaves(Source, "sources[0].")
        elif isinstance(field.type, type) and issubclass(field.type, Section):
            yield from leaves(field.type, f"{prefix}{field.name}.")
        else:
            yield f"{prefix}{field.name}"


def stating(key: str, value: Any) -> dict[str, Any]:
    """The values of a file that states one key."""
    if key.startswith("sources[0]."):
        return {"sources": [{key.partition(".")[2]: value}]}
    for name in reversed(key.split(".")):
        value = {name: value}
    return value  # type: ignore[no-any-return]


def project(folder: Path, text: str = "") -> Path:
    """A project with this file, whose path is returned."""
    file = folder / "clone" / ".kebab" / "config.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def environ(folder: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(folder / "etc"), "XDG_DATA_HOME": str(folder / "share")}


def load(file: Path) -> config.Settings:
    """As a command does that runs in a folder of the project."""
    return config.load(environ=environ(file.parents[2]), cwd=file.parents[1])


def consent(file: Path) -> None:
    consents = trust.Consents(trusted_file(environ(file.parents[2])))
    consents.record(trust.project_of(file), trust.asked_by(file))


def refused(file: Path) -> list[str]:
    """The keys that an error names; empty where the file is obeyed."""
    try:
        load(file)
    except ConfigInvalid as error:
        keys = error.details["keys"]
        assert isinstance(keys, list)
        complete = all(key in error.message for key in keys) and "kebab trust" in str(error.hint)
        return keys if complete else [f"not named: {error.message}"]
    return []


# --- which keys ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", list(leaves(File)))
def test_every_key_needs_trust_but_those_that_are_freed_by_name(key: str, tmp_path: Path) -> None:
    asked = [request.key for request in trust.requests(project(tmp_path), stating(key, "/elsewhere"))]
    assert asked == ([] if key in FREE else [key])


def test_a_key_at_its_default_asks_for_nothing(tmp_path: Path) -> None:
    text = '[models.embedding]\nprovider = "static"\nmodel = ""\n[serve]\nhost = "127.0.0.1"\n'
    assert refused(project(tmp_path, text)) == []


def test_what_shapes_search_and_chunking_is_obeyed_without_trust(tmp_path: Path) -> None:
    text = "[search]\ndefault_k = 7\n[chunking]\ntarget_tokens = 300\n"
    settings = load(project(tmp_path, text))
    assert (settings.search.default_k, settings.chunking.target_tokens) == (7, 300)


def test_all_refused_keys_are_named(tmp_path: Path) -> None:
    text = """
        [[sources]]
        id = "own"
        root = "../docs"
        [[sources]]
        id = "home"
        root = "~"
        [models.embedding]
        provider = "openai"
        endpoint = "http://198.51.100.7/v1"
        api_key_env = "AWS_SECRET_ACCESS_KEY"
        [ingest]
        follow_symlinks = true
    """
    assert refused(project(tmp_path, text)) == [
        "sources[1].root",
        "models.embedding.provider",
        "models.embedding.endpoint",
        "models.embedding.api_key_env",
        "ingest.follow_symlinks",
    ]


# --- which folders ---------------------------------------------------------------------------------


def test_a_slip_of_the_keys_is_no_matter_of_trust(tmp_path: Path) -> None:
    file = project(tmp_path, "[search]\ndefault_kk = 3\n")
    with pytest.raises(ConfigInvalid, match=r"search\.default_kk: there is no such setting"):
        load(file)


def test_a_project_without_folders_of_its_own_means_its_own(tmp_path: Path) -> None:
    file = project(tmp_path)
    settings = load(file)
    assert settings.sources[0].root == str(file.parents[1])
    assert settings.data_dir == file.parent / "data"
    named = config.load(file, environ=environ(tmp_path))
    assert (named.sources, named.data_dir) == (settings.sources, settings.data_dir)


@pytest.mark.parametrize("root", ["..", "../docs", "../docs/../notes", "."])
def test_a_source_inside_the_project_needs_no_trust(tmp_path: Path, root: str) -> None:
    assert refused(project(tmp_path, f'[workspace]\nroot = "{root}"\n')) == []


@pytest.mark.parametrize(
    "root", ["~", "./~", "~root", "$HOME", "${HOME}/x", "../..", "/", "../out", "../out/deep"]
)
def test_a_source_outside_the_project_is_refused_however_it_is_named(tmp_path: Path, root: str) -> None:
    file = project(tmp_path, f'[workspace]\nroot = "{root}"\n')
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (file.parents[1] / "out").symlink_to(tmp_path / "secret")
    assert refused(file) == ["workspace.root"]


@pytest.mark.parametrize("data_dir", ["~/.ssh", "/var/lib", "../src", "../.git", "link", "../../x"])
def test_a_data_folder_outside_the_projects_own_is_refused(tmp_path: Path, data_dir: str) -> None:
    file = project(tmp_path, f'[storage]\ndata_dir = "{data_dir}"\n')
    (file.parent / "link").symlink_to(tmp_path)
    assert refused(file) == ["storage.data_dir"]


def test_the_usual_data_folder_is_refused_where_it_is_a_link(tmp_path: Path) -> None:
    file = project(tmp_path)
    (file.parent / "data").symlink_to(tmp_path)
    assert refused(file) == ["storage.data_dir"]


def test_a_project_whose_kebab_folder_is_a_link_writes_nothing_there(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.toml").write_text("", encoding="utf-8")
    (tmp_path / "clone").mkdir()
    (tmp_path / "clone" / ".kebab").symlink_to(tmp_path / "elsewhere")
    assert refused(tmp_path / "clone" / ".kebab" / "config.toml") == ["storage.data_dir"]


PIECES = st.sampled_from(["..", ".", "a", "out", "in", "~", "$HOME", "", "노트", ".kebab", "/"])


@settings(max_examples=300)
@given(pieces=st.lists(PIECES, max_size=6))
def test_no_path_that_counts_without_trust_leads_out(
    pieces: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    base = tmp_path_factory.getbasetemp() / "paths"
    if not base.exists():
        project(base)
        (base / "clone" / "a").mkdir()
        (base / "clone" / "out").symlink_to(base)
        (base / "clone" / "in").symlink_to(base / "clone" / "a")
    file = base / "clone" / ".kebab" / "config.toml"
    file.write_text(f"[workspace]\nroot = {toml('/'.join(pieces))}\n", encoding="utf-8")
    try:
        root = load(file).sources[0].root
    except ConfigInvalid:
        return
    assert Path(os.path.realpath(root)).is_relative_to(os.path.realpath(base / "clone"))


# --- consent ---------------------------------------------------------------------------------------

ASKING = '[models.embedding]\nprovider = "ollama"\nendpoint = "http://10.0.0.1"\n[search]\ndefault_k = 7\n'


def test_with_consent_the_file_is_obeyed(tmp_path: Path) -> None:
    file = project(tmp_path, ASKING)
    consent(file)
    assert load(file).models.embedding.endpoint == "http://10.0.0.1"


def test_consent_is_asked_for_again_only_when_a_restricted_key_changes(tmp_path: Path) -> None:
    file = project(tmp_path, ASKING)
    consent(file)
    project(tmp_path, ASKING.replace("default_k = 7", "default_k = 9") + "# a comment\n")
    assert refused(file) == []
    project(tmp_path, ASKING.replace('endpoint = "http://10.0.0.1"\n', ""))
    assert refused(file) == []
    project(tmp_path, ASKING.replace("10.0.0.1", "10.0.0.2"))
    assert refused(file) == ["models.embedding.endpoint"]
    project(tmp_path, ASKING + '[memory]\nurl = "wss://10.0.0.1"\n')
    assert refused(file) == ["memory.url"]


def test_a_link_that_is_turned_elsewhere_is_asked_for_again(tmp_path: Path) -> None:
    file = project(tmp_path, '[workspace]\nroot = "../out"\n')
    link = file.parents[1] / "out"
    (tmp_path / "notes").mkdir()
    link.symlink_to(tmp_path / "notes")
    consent(file)
    assert refused(file) == []
    link.unlink()
    link.symlink_to(tmp_path)
    assert refused(file) == ["workspace.root"]


def test_consent_to_one_project_says_nothing_of_another(tmp_path: Path) -> None:
    consent(project(tmp_path, ASKING))
    other = tmp_path / "clone" / "inner" / ".kebab" / "config.toml"
    other.parent.mkdir(parents=True)
    other.write_text(ASKING, encoding="utf-8")
    with pytest.raises(ConfigInvalid):
        config.load(environ=environ(tmp_path), cwd=other.parents[1])


def test_a_named_file_is_the_users_own_word(tmp_path: Path) -> None:
    file = project(tmp_path, ASKING)
    assert config.load(file, environ=environ(tmp_path)).models.embedding.provider == "ollama"


def test_the_environment_and_flags_are_the_users_own_word(tmp_path: Path) -> None:
    file = project(tmp_path)
    variables = {"KEBAB_MODELS__EMBEDDING__PROVIDER": "ollama", **environ(tmp_path)}
    flags = {"storage.data_dir": str(tmp_path / "elsewhere")}
    loaded = config.load(environ=variables, overrides=flags, cwd=file.parents[1])
    assert loaded.models.embedding.provider == "ollama"
    assert loaded.data_dir == tmp_path / "elsewhere"


def test_consents_are_the_users_alone_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        consent(project(tmp_path, ASKING))
    finally:
        os.umask(before)
    file = trusted_file(environ(tmp_path))
    assert file.stat().st_mode & 0o777 == 0o600
    assert "10.0.0.1" not in file.read_text(encoding="utf-8")


def test_a_damaged_record_of_consents_is_no_consent(tmp_path: Path) -> None:
    file = project(tmp_path, ASKING)
    consent(file)
    trusted_file(environ(tmp_path)).write_text('{"/": [1]}', encoding="utf-8")
    with pytest.raises(ConfigInvalid, match="is damaged"):
        load(file)


def test_revoked_consent_is_gone(tmp_path: Path) -> None:
    file = project(tmp_path, ASKING)
    consent(file)
    consents = trust.Consents(trusted_file(environ(tmp_path)))
    assert consents.revoke(trust.project_of(file))
    assert not consents.revoke(trust.project_of(file))
    assert refused(file) == ["models.embedding.provider", "models.embedding.endpoint"]


def test_what_init_writes_asks_for_nothing(tmp_path: Path) -> None:
    assert refused(project(tmp_path, template(root="..", data_dir="data"))) == []
