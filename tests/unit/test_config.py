"""Settings: where they come from, which wins, and what is refused."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kebab import config
from kebab.cli.template import documented, template
from kebab.config.sections import File, Search, Source
from kebab.domain.documents import TrustLevel
from kebab.domain.queries import SearchMode
from kebab.errors import ConfigInvalid, ConfigNotFound
from kebab.search.learned import policies


def written(folder: Path, text: str) -> Path:
    path = folder / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def load(
    file: Path | None = None, *, environ: dict[str, str] | None = None, cwd: Path, **overrides: object
) -> config.Settings:
    flags = {key.replace("__", "."): value for key, value in overrides.items()}
    return config.load(file, overrides=flags, environ=environ or {}, cwd=cwd)


def test_without_a_file_the_defaults_of_the_specification_hold(tmp_path: Path) -> None:
    settings = load(cwd=tmp_path, environ={"XDG_CONFIG_HOME": str(tmp_path)})
    assert settings.file is None
    assert (settings.chunking.target_tokens, settings.chunking.overlap_tokens) == (500, 80)
    assert settings.chunking.max_tokens == 1000
    assert (settings.search.default_mode, settings.search.default_k) == (SearchMode.HYBRID, 10)
    assert (settings.search.rrf_k, settings.search.candidates, settings.search.snippet_chars) == (
        60,
        100,
        220,
    )
    assert settings.search.stale_threshold_days == 30
    assert (settings.models.llm.provider, settings.models.llm.temperature) == ("extractive", 0)
    assert settings.ingest.max_file_mb == 50
    assert settings.serve.host == "127.0.0.1"


def test_flags_win_over_the_environment_which_wins_over_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "[search]\ndefault_k = 3\nrrf_k = 30\ncandidates = 150\n")
    environ = {"KEBAB_SEARCH__DEFAULT_K": "4", "KEBAB_SEARCH__RRF_K": "40"}
    settings = load(file, environ=environ, cwd=tmp_path, search__default_k=5)
    assert settings.search.default_k == 5
    assert settings.search.rrf_k == 40
    assert settings.search.candidates == 150


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[search]\ndefault_kk = 3\n", "search.default_kk"),
        ("colour = 1\n", "colour"),
        ('[search]\ndefault_k = "many"\n', "search.default_k"),
        ("[search]\ndefault_k = 0\n", "search.default_k"),
        ('[search]\ndefault_mode = "psychic"\n', "search.default_mode"),
        ("[chunking]\ntarget_tokens = 100\noverlap_tokens = 100\n", "overlap_tokens"),
        ("[chunking]\ntarget_tokens = 500\nmax_tokens = 400\n", "max_tokens"),
        ('[[sources]]\nid = "a b"\nroot = "x"\n', "sources"),
        ('workspace = 3\n[[sources]]\nid = "a"\nroot = "x"\n', "workspace"),
        ('[search]\nhybrid_fusion = "magic"\n', "search.hybrid_fusion: it must be one of rrf, weighted_rrf"),
        ('[search]\nlexical_engine = "magic"\n', "search.lexical_engine"),
        ('[models.embedding]\nprovider = "magic"\n', "models.embedding.provider"),
        ('[models.reranker]\nprovider = "magic"\n', "models.reranker.provider"),
        ('[models.llm]\nprovider = "magic"\n', "models.llm.provider: it must be one of extractive, ollama"),
        ("[search.weights]\nlexical = 0\nvector = 0\n", "search.weights"),
        ("[search.weights]\nlexical = nan\n", "search.weights.lexical"),
        ("[models.llm]\ntimeout_s = inf\n", "models.llm.timeout_s"),
        ("[search]\ncandidates = 99\n", "search.candidates"),
        ('[workspace]\nroot = "a\\u0000b"\n', "null character"),
        ('[workspace]\nroot = "~nobody.here/notes"\n', "there is no home folder ~nobody.here"),
        ("[search]\ndefalt_k = 3\n", "did you mean search.default_k?"),
        ("[serach]\ndefault_k = 3\n", "did you mean search?"),
        ('[[sources]]\nid = "a"\nrot = "x"\n', "did you mean sources[0].root?"),
        ('[sources]\nid = "a"\nroot = "x"\n', "each below a line [[sources]]"),
        ('[[sources]]\nid = "메모"\nroot = "x"\n', "it must be up to 64 Latin letters, digits"),
        ('[ingest]\non = "ray:8265"\n', "it must be ray, an address such as ray://HOST:10001, or empty"),
    ],
)
def test_a_wrong_value_is_an_error_that_names_its_key(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(written(tmp_path, text), cwd=tmp_path)
    assert key in caught.value.message


def scalars(section: type[msgspec.Struct], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Every key with its default, but those of the sections inside."""
    for field in msgspec.structs.fields(section):
        if isinstance(field.default, msgspec.Struct):
            yield from scalars(type(field.default), f"{prefix}{field.name}.")
        elif field.name != "sources":
            yield f"{prefix}{field.name}", field.default


@pytest.mark.parametrize(("key", "default"), list(scalars(File)))
def test_the_file_is_held_to_the_type_of_every_key(tmp_path: Path, key: str, default: object) -> None:
    section, _, name = key.rpartition(".")
    wrong = "7" if isinstance(default, (str, tuple)) else f'"{default}"'
    file = written(tmp_path, f"[{section}]\n{name} = {wrong}\n")
    with pytest.raises(ConfigInvalid) as caught:
        load(file, cwd=tmp_path)
    assert caught.value.message.startswith(f"{key}: ")


@pytest.mark.parametrize("data_dir", ["notes", "notes/../notes/", ".", "link"])
def test_the_data_folder_is_no_source_and_holds_none(tmp_path: Path, data_dir: str) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "link").symlink_to("notes")
    text = f'[workspace]\nroot = "notes"\n[storage]\ndata_dir = "{data_dir}"\n'
    with pytest.raises(ConfigInvalid, match=r"^storage\.data_dir: .* 'default'"):
        load(written(tmp_path, text), cwd=tmp_path)


def test_a_source_may_hold_the_data_folder(tmp_path: Path) -> None:
    text = '[workspace]\nroot = "."\n[storage]\ndata_dir = "data"\n'
    assert load(written(tmp_path, text), cwd=tmp_path).data_dir == tmp_path / "data"


def test_a_relative_address_of_the_memory_is_relative_to_the_file(tmp_path: Path) -> None:
    for url, meant in (
        ("surrealkv://runs", f"surrealkv://{tmp_path}/runs"),
        ("surrealkv:///var/runs", "surrealkv:///var/runs"),
        ("wss://host/rpc", "wss://host/rpc"),
    ):
        file = written(tmp_path, f'[memory]\nurl = "{url}"\n')
        assert load(file, cwd=Path("/")).memory.url == meant


def test_a_root_of_the_environment_or_a_flag_replaces_the_sources_of_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, '[[sources]]\nid = "a"\nroot = "x"\n')
    by_flag = load(file, cwd=tmp_path, workspace__root="/notes")
    by_variable = load(file, cwd=tmp_path, environ={"KEBAB_WORKSPACE__ROOT": "/notes"})
    for settings in (by_flag, by_variable):
        assert [(source.id, source.root) for source in settings.sources] == [("default", "/notes")]


def test_the_defaults_take_nothing_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEBAB_SEARCH__DEFAULT_K", "3")
    settings = config.defaults(root=tmp_path / "notes", data_dir=tmp_path / "data")
    assert (settings.search.default_k, settings.data_dir) == (10, tmp_path / "data")


def test_a_file_that_is_no_toml_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    file = written(tmp_path, "[search\n")
    with pytest.raises(ConfigInvalid, match="is not valid TOML"):
        load(file, cwd=tmp_path)


def test_a_file_that_begins_with_the_mark_of_windows_editors_is_read(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[search]\ndefault_k = 3\n", encoding="utf-8-sig")
    assert load(tmp_path / "config.toml", cwd=tmp_path).search.default_k == 3


def test_a_file_in_another_encoding_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[search]\n", encoding="utf-16")
    with pytest.raises(ConfigInvalid, match="is not UTF-8"):
        load(tmp_path / "config.toml", cwd=tmp_path)


def test_an_explicit_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigNotFound) as caught:
        load(tmp_path / "nowhere.toml", cwd=tmp_path)
    assert caught.value.code == "config_not_found"


def test_a_wrong_environment_variable_names_the_key_it_sets(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(cwd=tmp_path, environ={"KEBAB_SEARCH__DEFAULT_K": "many", "XDG_CONFIG_HOME": str(tmp_path)})
    assert "search.default_k" in caught.value.message


@pytest.mark.parametrize("name", ["SEARCH__DEFAULT_K", "SEARCH__DEFAULT_KK", "CHUNKING__OVERLAP_TOKENS"])
def test_a_value_of_the_environment_is_not_blamed_on_the_file(tmp_path: Path, name: str) -> None:
    file = written(tmp_path, "[search]\nrrf_k = 30\n")
    with pytest.raises(ConfigInvalid) as caught:
        load(file, cwd=tmp_path, environ={f"KEBAB_{name}": "5000"})
    assert caught.value.hint == f"the value comes from the environment: KEBAB_{name}"
    with pytest.raises(ConfigInvalid) as caught:
        load(
            written(tmp_path, "[search]\nrrf_k = 0\n"), cwd=tmp_path, environ={"KEBAB_SEARCH__DEFAULT_K": "5"}
        )
    assert caught.value.hint == f"the value stands in {file}"


def test_a_value_given_with_the_command_is_not_blamed_on_the_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(written(tmp_path, "[search]\nrrf_k = 30\n"), cwd=tmp_path, search__default_k=0)
    assert caught.value.hint == "the value was given with the command"


def test_every_fusion_policy_can_be_configured() -> None:
    (field,) = [one for one in msgspec.structs.fields(Search) if one.name == "hybrid_fusion"]
    (meta,) = [mark for mark in field.type.__metadata__ if isinstance(mark, msgspec.Meta)]
    assert meta.pattern == f"^({'|'.join(policies(k=60, lexical=1, vector=1))})$"


def test_the_environment_can_set_lists_numbers_and_switches(tmp_path: Path) -> None:
    environ = {
        "XDG_CONFIG_HOME": str(tmp_path),
        "KEBAB_WORKSPACE__EXCLUDE": "*.tmp, drafts/",
        "KEBAB_INGEST__FOLLOW_SYMLINKS": "true",
        "KEBAB_SEARCH__WEIGHTS__LEXICAL": "0.5",
        "KEBAB_READONLY": "1",
    }
    settings = load(cwd=tmp_path, environ=environ)
    assert settings.sources[0].exclude == ("*.tmp", "drafts/")
    assert settings.ingest.follow_symlinks is True
    assert settings.search.weights.lexical == 0.5


def test_the_project_file_is_found_before_the_users_own(tmp_path: Path) -> None:
    (tmp_path / "project" / ".kebab").mkdir(parents=True)
    (tmp_path / "home" / "kebab").mkdir(parents=True)
    written(tmp_path / "project" / ".kebab", "[search]\ndefault_k = 7\n")
    written(tmp_path / "home" / "kebab", "[search]\ndefault_k = 8\n")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "home")}
    assert load(cwd=tmp_path / "project", environ=environ).search.default_k == 7
    assert load(cwd=tmp_path, environ=environ).search.default_k == 8


def test_the_project_file_is_found_from_a_folder_below(tmp_path: Path) -> None:
    (tmp_path / "project" / ".kebab").mkdir(parents=True)
    below = tmp_path / "project" / "notes" / "2026"
    below.mkdir(parents=True)
    file = written(tmp_path / "project" / ".kebab", "[search]\ndefault_k = 7\n")
    assert load(cwd=below, environ={}).file == file


@pytest.mark.skipif(not hasattr(os, "chown") or os.geteuid() != 0, reason="only root gives files away")
def test_a_strangers_file_above_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shared" / ".kebab").mkdir(parents=True)
    below = tmp_path / "shared" / "mine"
    below.mkdir()
    os.chown(written(tmp_path / "shared" / ".kebab", "[search]\ndefault_k = 7\n"), 12345, -1)
    assert load(cwd=below, environ={}).search.default_k == 10


def test_relative_paths_are_relative_to_the_file_that_states_them(tmp_path: Path) -> None:
    folder = tmp_path / "settings"
    folder.mkdir()
    text = '[workspace]\nroot = "../notes"\n[storage]\ndata_dir = "data"\n'
    settings = load(written(folder, text), cwd=Path("/"))
    assert settings.sources[0].root == str(tmp_path / "notes")
    assert settings.data_dir == folder / "data"


def test_the_files_that_settings_name_are_relative_to_the_file_too(tmp_path: Path) -> None:
    file = written(tmp_path, '[rag]\nweights = "w.json"\n[ingest]\nocr_data = "tess"\n')
    settings = load(file, cwd=Path("/"))
    assert settings.rag.weights == str(tmp_path / "w.json")
    assert settings.ingest.ocr_data == str(tmp_path / "tess")


def test_data_goes_to_the_xdg_data_folder_on_every_system(tmp_path: Path) -> None:
    environ = {"XDG_DATA_HOME": str(tmp_path / "share"), "XDG_CONFIG_HOME": str(tmp_path / "etc")}
    assert load(cwd=tmp_path, environ=environ).data_dir == tmp_path / "share" / "kebab"
    assert config.default_file(environ) == tmp_path / "etc" / "kebab" / "config.toml"


def test_several_sources_keep_their_own_settings(tmp_path: Path) -> None:
    text = """
        [[sources]]
        id = "mine"
        root = "mine"
        [[sources]]
        id = "papers"
        root = "papers"
        trust_level = "secondary"
        source_type = "paper"
    """
    mine, papers = load(written(tmp_path, text), cwd=tmp_path).sources
    assert (mine.id, mine.trust_level, mine.source_type) == ("mine", TrustLevel.PRIMARY, "note")
    assert (papers.id, papers.trust_level, papers.source_type) == ("papers", TrustLevel.SECONDARY, "paper")


def test_two_sources_of_one_name_are_refused(tmp_path: Path) -> None:
    text = '[[sources]]\nid = "a"\nroot = "x"\n[[sources]]\nid = "a"\nroot = "y"\n'
    with pytest.raises(ConfigInvalid, match="two sources are called 'a'"):
        load(written(tmp_path, text), cwd=tmp_path)


def test_no_source_takes_the_name_of_the_inbox(tmp_path: Path) -> None:
    text = '[[sources]]\nid = "inbox"\nroot = "x"\n'
    with pytest.raises(ConfigInvalid, match=r"sources\.id: 'inbox' is taken"):
        load(written(tmp_path, text), cwd=tmp_path)


def test_a_root_beside_sources_is_refused(tmp_path: Path) -> None:
    text = '[workspace]\nroot = "x"\n[[sources]]\nid = "a"\nroot = "y"\n'
    with pytest.raises(ConfigInvalid, match="both set"):
        load(written(tmp_path, text), cwd=tmp_path)


# --- the annotated template --------------------------------------------------------------------------


def test_the_template_as_written_equals_the_defaults(tmp_path: Path) -> None:
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "none"), "XDG_DATA_HOME": str(tmp_path)}
    fresh = load(written(tmp_path, template()), environ=environ, cwd=tmp_path)
    bare = load(environ=environ, cwd=tmp_path)
    assert msgspec.structs.replace(fresh, file=None) == bare


def test_every_key_of_the_template_taken_in_gives_the_defaults(tmp_path: Path) -> None:
    lines = template().splitlines()
    start, end = lines.index("# [[sources]]"), lines.index("[storage]")
    kept = lines[: start - 1] + lines[end:]
    text = "\n".join(
        line.removeprefix("# ") if " = " in line and line[:3] != "## " else line for line in kept
    )
    head = text.index("[workspace]")
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "none"), "XDG_DATA_HOME": str(tmp_path)}
    full = load(written(tmp_path, text[head:]), environ=environ, cwd=tmp_path)
    assert msgspec.structs.replace(full, file=None) == load(environ=environ, cwd=tmp_path)
    assert "\ndefault_k = 10\n" in text


def test_the_template_shows_every_key_there_is() -> None:
    text = template()

    def keys(section: type[msgspec.Struct]) -> list[str]:
        found = []
        for field in msgspec.structs.fields(section):
            if isinstance(field.default, msgspec.Struct):
                found += keys(type(field.default))
            else:
                found.append(field.name)
        return found

    for field in msgspec.structs.fields(File):
        if field.name != "sources":
            for key in keys(type(field.default)):
                assert f"\n# {key} = " in text, key


def test_every_key_says_what_it_is_for() -> None:
    def undocumented(section: type[msgspec.Struct]) -> list[str]:
        notes, found = documented(section), []
        for field in msgspec.structs.fields(section):
            if isinstance(field.default, msgspec.Struct):
                found += undocumented(type(field.default))
            elif field.name not in notes:
                found.append(f"{section.__name__}.{field.name}")
        return found

    sections: list[Any] = [type(f.default) for f in msgspec.structs.fields(File) if f.name != "sources"]
    assert [key for section in [*sections, Source] for key in undocumented(section)] == []


def test_the_example_source_in_the_template_is_valid(tmp_path: Path) -> None:
    lines = template().splitlines()
    start, end = lines.index("# [[sources]]"), lines.index("[storage]")
    text = "\n".join(line.removeprefix("# ") for line in lines[start:end] if not line.startswith("## "))
    assert load(written(tmp_path, text), cwd=tmp_path).sources[0].id == "work"


@pytest.mark.parametrize("name", ['a "b" \\ 노트', "flag \U0001f3f4\U000e0067\U000e007f", "bell \x07"])
def test_a_root_of_unusual_characters_survives_the_template(tmp_path: Path, name: str) -> None:
    root = str(tmp_path / name)
    settings = load(written(tmp_path, template(root=root)), cwd=tmp_path)
    assert settings.sources[0].root == root
