from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kebab.memory.redact import MARK, redact_text, redacted
from tests.memory_fakes import run
from tests.unit.memory.conftest import Bench

SECRETS = [
    "AKIA" + "ABCDEFGHIJKLMNOP",
    "ghp_" + "a1B2" * 9,
    "github_pat_" + "A1" * 20,
    "glpat-" + "abcdEFGH1234" * 2,
    "sk-ant-" + "api03-" + "x1Y2" * 8,
    "sk-" + "a1B2c3D4" * 5,
    "xoxb-" + "1234567890-abcdef",
    "hf_" + "aB3" * 12,
    "npm_" + "a1B2" * 9,
    "AIza" + "B" * 35,
    "eyJ" + "a" * 20 + ".eyJ" + "b" * 30 + "." + "c" * 20,
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEabc+/=\n-----END RSA PRIVATE KEY-----",
]


@pytest.mark.parametrize("secret", SECRETS, ids=lambda secret: secret[:8])
def test_a_marked_secret_is_taken_out_wherever_it_stands(secret: str) -> None:
    text, count = redact_text(f"it failed with {secret}, then again")

    assert (text, count) == (f"it failed with {MARK}, then again", 1)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("export DB_PASSWORD=hunter2hunter2 now", f"export DB_PASSWORD={MARK} now"),
        ('{"api_key": "abc123def456"}', f'{{"api_key": "{MARK}"}}'),
        ("Authorization: Bearer abc.def.ghi1", f"Authorization: Bearer {MARK}"),
        ("postgres://ann:s3cret@db.local/x", f"postgres://ann:{MARK}@db.local/x"),
        ("비밀번호: 가나다라마바사", f"비밀번호: {MARK}"),
    ],
)
def test_an_assigned_secret_is_taken_out_and_its_name_stays(text: str, kept: str) -> None:
    assert redact_text(text) == (kept, 1)


@pytest.mark.parametrize(
    "text",
    [
        "the token count was 900",
        "reset the password field of the form",
        "https://example.org/path?page=2",
        "commit 3957c6220f1a and sha256 aa11bb22",
        "tokens: 12",
        "skip the secret garden",
        "비밀번호 화면을 고치기",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact_text(text) == (text, 0)


@given(st.text(max_size=200))
def test_taking_out_twice_takes_out_nothing_more(text: str) -> None:
    once, _ = redact_text(text)

    assert redact_text(once)[0] == once


def test_every_text_of_a_run_and_its_metadata_are_looked_at_and_counted() -> None:
    secret = SECRETS[0]
    dirty = run(
        1,
        task_description=f"use {secret}",
        approach=f"with {secret}",
        result=secret,
        lesson=f"hide {secret}",
        error=secret,
        metadata={"api_key": "x", "note": f"see {secret}", "n": 3},
    )
    clean, count = redacted(dirty)

    assert count == 7
    assert secret not in repr(clean)
    assert clean.metadata == {"api_key": MARK, "note": f"see {MARK}", "n": 3}
    assert clean.embedding is None


def test_recording_takes_secrets_out_by_default(bench: Bench) -> None:
    saved = bench.memory.record(run(1, error=f"denied for {SECRETS[1]}"))

    assert saved.error == f"denied for {MARK}"
    assert bench.store.load(["run-00001"])["run-00001"].error == f"denied for {MARK}"
