from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from kebab.domain.ids import nfc

MARKS = st.text(st.characters(categories=["Mn", "Mc"]) | st.sampled_from("ae가—\u0f73\u0344"), max_size=80)


@given(st.text() | MARKS | st.tuples(MARKS, MARKS).map(lambda both: both[0] * 20 + both[1]))
def test_a_text_is_composed_as_unicode_says_however_many_marks_it_has(text: str) -> None:
    assert nfc(text) == unicodedata.normalize("NFC", text)
