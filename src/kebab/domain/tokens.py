"""The one token estimator: chunking, budgets and packing all count with it."""

from __future__ import annotations

# Tokens of a subword model per character, measured on English and Korean prose:
# docs/decisions/0006-token-estimate.md.
ASCII_TOKENS_PER_CHAR = 0.24
WIDE_TOKENS_PER_CHAR = 0.7


def estimate_tokens(text: str) -> int:
    """How many tokens a language model would read, rounded up; 0 only for the empty text.

    Costs two length look-ups whatever the script: a character outside ASCII takes two or three bytes, so
    half of the surplus bytes counts the wide characters closely enough for Hangul and kana.
    """
    surplus = 0 if text.isascii() else len(text.encode("utf-8", "surrogatepass")) - len(text)
    return estimate_from_lengths(len(text), surplus)


def estimate_from_lengths(chars: int, surplus_bytes: int) -> int:
    """The same for a text of so many characters that takes so many bytes more than that."""
    if not chars:
        return 0
    wide = surplus_bytes / 2
    return max(1, round((chars - wide) * ASCII_TOKENS_PER_CHAR + wide * WIDE_TOKENS_PER_CHAR + 0.5))
