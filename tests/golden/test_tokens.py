"""The token estimate against counts of a real tokenizer, recorded by ``benchmarks.tokens --write``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.tokens import prose
from kebab.domain.ids import content_hash
from kebab.domain.tokens import estimate_tokens

ROOT = Path(__file__).parents[2]
BOOK = ROOT / ".." / "shared" / "data" / "rust-book"
RECORDED = json.loads((Path(__file__).parent / "tokens" / "rust-book.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not BOOK.is_dir(), reason="needs ../shared/data/rust-book beside the project")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_estimate_of_prose_is_within_fifteen_percent_of_a_real_tokenizer(lang: str) -> None:
    estimated = real = close = 0
    for page in RECORDED[lang]:
        text = prose((BOOK / lang / page["path"]).read_text(encoding="utf-8"))
        assert content_hash(text.encode())[:16] == page["prose"], f"{page['path']} is another edition"
        estimated += estimate_tokens(text)
        real += page["tokens"]
        close += abs(estimate_tokens(text) / page["tokens"] - 1) <= 0.15
    assert abs(estimated / real - 1) <= 0.05
    assert close >= 0.9 * len(RECORDED[lang])
