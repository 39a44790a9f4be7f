"""Searches and questions of the shell that an open process answers: the same bytes, or the command itself."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from kebab.cli import kebab, warm
from tests.drivers.conftest import VAULT, Cli, a_cli
from tests.drivers.doors import LONG_S, inside, opened, sent, shell
from tests.drivers.watched import Watched, until

WORDS = [
    "seat held", "certificate", "renewal", "인증서", "만료", "알림", "backup", "백업 사진", "payment",
    "charge", "twice", "refund", "tide", "recipe", "bread", "김치", "meeting", "incident", "network",
    "homelab", "router", "rust ownership", "소유권", "booking", "customer", "latency",
]  # fmt: skip
QUERIES = [
    " ".join(WORDS[n % len(WORDS)] for n in (i, i * 7 + 3, i * i + 1)[: 1 + i % 3]) for i in range(200)
]
VARIANTS: list[list[str]] = [
    [], ["--json"], ["-q"], ["--explain"], ["--json", "--explain"], ["-k", "3"], ["--mode", "lexical"],
    ["--mode=vector", "--json"], ["--lang", "ko"], ["--path", "work/**"], ["--tag", "nothing-has-this"],
    ["--max-tokens", "60"], ["--snippet-chars", "80"], ["--fusion", "rrf"],
    ["--lines"], ["--per-chunk"], ["--exact"], ["--fresh"],
]  # fmt: skip


@pytest.fixture(scope="module")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A copy of the sample vault with the built-in model, and a process that is open on it."""
    made = a_cli(tmp_path_factory.mktemp("warm"))
    made = Cli(made.cwd, made.home, {"KEBAB_MODELS__EMBEDDING__PROVIDER": "static"})
    shutil.copytree(VAULT, made.cwd, dirs_exist_ok=True)
    assert made("init", ".").code == 0
    with Watched.start(made) as watched:
        assert watched.ready()
        yield made
        assert watched.stop() == 0
    assert list(shell(made).glob("*.sock")) == []


def parts(printed: bytes) -> tuple[bytes, bytes]:
    """What went to stdout and to stderr."""
    streams, at = {1: b"", 2: b""}, 0
    while at < len(printed):
        length = int.from_bytes(printed[at + 1 : at + 5], "big")
        streams[printed[at]] += printed[at + 5 : at + 5 + length]
        at += 5 + length
    return streams[1], streams[2]


def test_two_hundred_searches_have_the_same_bytes_and_status_warm_and_cold(vault: Cli) -> None:
    with inside(vault):
        for number, query in enumerate(QUERIES):
            arguments = ["search", *query.split(), *VARIANTS[number % len(VARIANTS)]]
            found = warm.asked(arguments, patience_s=LONG_S)
            assert found is not None, arguments
            cold = CliRunner().invoke(kebab, arguments)
            status, (out, err) = found[0], parts(found[1])
            assert (status, out, err) == (cold.exit_code, cold.stdout_bytes, cold.stderr_bytes), arguments


@pytest.mark.parametrize(
    "arguments",
    [["search", "seat held", "-k", "2"], ["search", "zzzqqq"], ["search", "인증서", "--json"],
     ["search", "--", "-rust seat"]],
    ids=["more pages", "nothing", "json", "dashes"],
)  # fmt: skip
def test_the_command_prints_the_same_in_the_same_order(vault: Cli, arguments: list[str]) -> None:
    def printed(*extra: str) -> tuple[int, bytes]:
        command = vault.command(arguments[0], *extra, *arguments[1:])
        done = subprocess.run(
            command, cwd=vault.cwd, env=vault.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout

    assert printed() == printed("--no-daemon")


def on_terminal(cli: Cli, *arguments: str, **extra: str) -> bytes:
    import pty

    main, terminal = pty.openpty()
    streams: Any = dict.fromkeys(("stdin", "stdout", "stderr"), terminal)
    process = subprocess.Popen(cli.command(*arguments), cwd=cli.cwd, env=cli.environ | extra, **streams)
    os.close(terminal)
    screen = b""
    try:
        while part := os.read(main, 65536):
            screen += part
    except OSError:
        pass  # Linux ends a terminal whose other side is closed with EIO
    os.close(main)
    process.wait()
    return screen


@pytest.mark.parametrize("extra", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}, {"COLUMNS": "61"}], ids=str)
def test_on_a_terminal_it_is_the_same_to_the_last_colour(vault: Cli, extra: dict[str, str]) -> None:
    cold = on_terminal(vault, "search", "seat held", "--no-daemon", "--explain", **extra)
    assert on_terminal(vault, "search", "seat held", "--explain", **extra) == cold
    assert (b"\x1b[" in cold) == (not extra or "COLUMNS" in extra)


def test_an_answer_is_the_same_but_for_its_name_and_is_stored(vault: Cli) -> None:
    question = ["ask", "How many customers were charged twice?"]
    with inside(vault):
        found = warm.asked(question, patience_s=LONG_S)
        assert found is not None
        cold = CliRunner().invoke(kebab, question)
        out = parts(found[1])[0].decode()
        traces = [re.search(r"ans_[0-9a-f]+", text) for text in (out, cold.stdout)]
        assert all(traces)
        assert re.sub(r"ans_[0-9a-f]+", "", out) == re.sub(r"ans_[0-9a-f]+", "", cold.stdout)
        assert found[0] == cold.exit_code == 0
        assert traces[0] is not None
        assert CliRunner().invoke(kebab, ["ask", "--again", traces[0][0]]).exit_code == 0


def test_what_is_saved_is_found_warm(vault: Cli) -> None:
    note = vault.cwd / "warm-note.md"
    note.write_text("# Warm\n\nquokka\n")

    def paths() -> list[str]:
        found = warm.asked(["search", "quokka", "--mode", "lexical", "--json"], patience_s=LONG_S)
        assert found is not None
        return [hit["doc_path"] for hit in json.loads(parts(found[1])[0])["hits"]]

    with inside(vault):
        assert until(lambda: paths() == ["warm-note.md"], seconds=20)
        note.unlink()
        assert until(lambda: paths() == [], seconds=20)


def test_it_loads_nothing_that_takes_long(vault: Cli) -> None:
    heavy = ("click", "msgspec", "typing", "dataclasses", "pathlib", "kebab.cli.program", "kebab.config")
    code = (
        f"import sys; sys.argv = ['kebab', 'search', 'seat', '-q']\n"
        f"from kebab.cli import main, warm\n"
        f"warm.asked.__kwdefaults__['patience_s'] = {LONG_S}\n"
        f"try: main()\nexcept SystemExit: print([m for m in {heavy!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=vault.cwd, env=vault.environ
    )
    assert done.stderr.splitlines()[-1] == "[]"
    assert "meetings" in done.stdout


def test_it_takes_little_longer_than_the_bare_interpreter(vault: Cli) -> None:
    """60 ms on a machine that starts Python in 20; here against what this machine does just now."""

    def once(*command: str) -> float:
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], capture_output=True, env=vault.environ, cwd=vault.cwd)
        return time.perf_counter() - start

    search = ("-m", "kebab", "search", "seat held")
    warm_s = min(once(*search) for _ in range(12))
    bare_s = min(once("-c", "import re") for _ in range(12))
    cold_s = min(once(*search, "--no-daemon") for _ in range(2))
    assert warm_s < 2 * bare_s + 0.04
    assert warm_s < cold_s / 2


# --- when something differs, the command runs by itself ----------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["ingest"], [], ["--help"], ["search", "a", "--help"], ["search", "a", "--verbose"],
        ["search", "a", "-v"], ["search", "--bulk"], ["search", "a", "--trace"],
        ["search", "a", "--no-daemon"], ["ask", "a", "--stream"], ["search", "a", "-k"],
        ["search", "a", "--unheard-of"], ["-qv", "search", "a"], ["list", "search"], ["--config", "search"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_only_plain_searches_and_questions_are_passed_on(arguments: list[str]) -> None:
    assert warm.command_of(arguments) is None


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["search", "a"], "search"), (["-q", "search", "a"], "search"), (["ask", "a", "--json"], "ask"),
        (["search", "--tag", "--no-daemon"], "search"), (["search", "--", "--no-daemon"], "search"),
        (["--config", "ask", "search", "a"], "search"), (["search", "--tag=x", "ask"], "search"),
    ],
    ids=str,
)  # fmt: skip
def test_the_command_is_the_first_word_that_is_no_value(arguments: list[str], command: str) -> None:
    assert warm.command_of(arguments) == command


def test_options_that_are_passed_on_take_a_value_here_as_in_the_command() -> None:
    import click

    group = click.Context(kebab)
    for name in warm.COMMANDS:
        command = kebab.get_command(group, name)
        assert command is not None
        for option in command.params:
            for spelled in option.opts if isinstance(option, click.Option) else ():
                assert (spelled in warm.FLAGS) <= bool(getattr(option, "is_flag", False)), spelled
                assert (spelled in warm.VALUES) <= (not getattr(option, "is_flag", False)), spelled


def test_every_option_that_is_passed_on_and_printed_differently_is_among_the_two_hundred() -> None:
    """What a command prints past its session would come out of the process that answers."""
    compared = {option.partition("=")[0] for variant in VARIANTS for option in variant}
    assert set(warm.FLAGS) - {"--quiet", "--readonly"} <= compared


def changed_setting(cli: Cli) -> dict[str, str]:
    return {"KEBAB_SEARCH__DEFAULT_K": "3"}


def changed_file(cli: Cli) -> dict[str, str]:
    file = cli.cwd / ".kebab" / "config.toml"
    file.write_text(file.read_text() + "\n[search.weights]\nlexical = 0.6\n")
    return {}


def other_home(cli: Cli) -> dict[str, str]:
    return {"HOME": str(cli.cwd)}


def other_proxy(cli: Cli) -> dict[str, str]:
    return {"https_proxy": "http://127.0.0.1:9"}


def variable_in_setting(cli: Cli) -> dict[str, str]:
    return {"KEBAB_RAG__WEIGHTS": "$HOME/weights.json"}


@pytest.fixture
def open_base(cli: Cli) -> Iterator[Cli]:
    with opened(cli):
        yield cli


@pytest.mark.parametrize(
    "change", [changed_setting, changed_file, other_home, other_proxy, variable_in_setting]
)
def test_where_the_settings_or_the_surroundings_differ_nobody_answers(
    open_base: Cli, change: Callable[[Cli], dict[str, str]]
) -> None:
    with inside(open_base):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is not None
    with inside(open_base, **change(open_base)):
        assert warm.asked(["search", "apple"], patience_s=LONG_S) is None


def test_from_another_project_nobody_answers_and_from_a_folder_of_this_one_somebody_does(
    open_base: Cli, tmp_path: Path
) -> None:
    (open_base.cwd / "sub").mkdir()
    other = tmp_path / "other"
    (other / ".kebab").mkdir(parents=True)
    (other / ".kebab" / "config.toml").write_text(
        f'[storage]\ndata_dir = "{open_base.cwd}/.kebab/data"\n[workspace]\nroot = "."\n'
    )
    answered = {}
    for folder in (open_base.cwd / "sub", other, tmp_path):
        with inside(Cli(folder, open_base.home, open_base.extra)):
            answered[folder.name] = warm.asked(["search", "apple"], patience_s=LONG_S) is not None
    assert answered == {"sub": True, "other": False, tmp_path.name: False}


def test_a_question_that_may_store_nothing_is_not_passed_on(open_base: Cli) -> None:
    with inside(open_base):
        assert warm.asked(["ask", "apple?", "--readonly"], patience_s=LONG_S) is None
        assert warm.asked(["search", "apple", "--readonly"], patience_s=LONG_S) is not None
    with inside(open_base, KEBAB_READONLY="1"):
        assert warm.asked(["ask", "apple?"], patience_s=LONG_S) is None


def test_an_error_is_told_by_the_command_itself(open_base: Cli) -> None:
    with inside(open_base):
        assert warm.asked(["search", "apple", "-k", "0"], patience_s=LONG_S) is None
    result = open_base("search", "apple", "-k", "0")
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: k is 0")


def test_another_version_is_not_answered(open_base: Cli) -> None:
    with inside(open_base):
        message = warm._message(["search", "apple"], None, str(open_base.cwd), os.environ)
        body = json.loads(message[4:])
        assert sent(open_base, json.dumps(body).encode()) == warm.ANSWERED
        assert sent(open_base, json.dumps({**body, "program": ["elsewhere", 1]}).encode()) == warm.REFUSED
