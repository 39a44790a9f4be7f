"""HWP 5 and HWPX through unhwp."""

from __future__ import annotations

import json

import unhwp

from kebab.ports import HwpText, Unopened


class UnhwpReader:
    def read(self, content: bytes) -> HwpText | Unopened:
        try:
            with unhwp.parse_bytes(content) as found:
                about = _about(found.json)
                return HwpText(
                    markdown=found.markdown,
                    title=about.get("title") or "",
                    author=about.get("author") or "",
                    created=about.get("created") or "",
                )
        except unhwp.UnhwpError as error:
            return Unopened(_reason(str(error)))


def _about(written: str) -> dict[str, str]:
    try:
        metadata = json.loads(written)["metadata"]
    except (ValueError, KeyError, TypeError):
        return {}
    return {key: value for key, value in metadata.items() if isinstance(value, str)}


def _reason(error: str) -> str:
    if "crypt" in error.lower() or "password" in error.lower():
        return "encrypted: it opens with a password only; save a copy without one"
    return "damaged, or no document of Hangul"
