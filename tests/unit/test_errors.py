"""What an error may say: no password of an address reaches a screen, a log or a bug report."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kebab.errors import EngineUnavailable, redacted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("wss://root:hunter2@db.example/rpc", "wss://***@db.example/rpc"),
        ("at http://u:p%40ss@h:8000/v1 it failed", "at http://***@h:8000/v1 it failed"),
        ("https://token@host", "https://***@host"),
        ("http://u:a/b@h/x", "http://***@h/x"),
        ("http://u:a@b@h/x", "http://***@h/x"),
        ("http://h/v1?key=hunter2&x=1 failed", "http://h/v1?*** failed"),
        ("http://u:" + "x" * 5000 + "@h", "http://***@h"),
        ("a ws://a:b@c and ws://d:e@f", "a ws://***@c and ws://***@f"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("write to a@b.example", "write to a@b.example"),
        ("surrealkv:///data/runs", "surrealkv:///data/runs"),
    ],
)
def test_credentials_are_hidden_and_nothing_else(text: str, shown: str) -> None:
    assert redacted(text) == shown


# Digits and then a slash are a port, by every reading of an address.
SECRETS = (
    st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1)
    .filter(lambda text: not re.match(r"\d+/", text))
    .map(lambda text: f"{text}SECRET")
)


@given(secret=SECRETS)
@example(secret="/a?b@SECRET")
def test_no_password_survives_in_any_part_of_an_error(secret: str) -> None:
    address = f"https://user:{secret}@host/v1"
    error = EngineUnavailable(f"{address} is down", hint=f"check {address}", details={"url": address})
    assert "SECRET" not in f"{error} {error.message} {error.hint} {error.details}"
