"""A small chart of how the time of a search grows, in text that Markdown shows as it is."""

from __future__ import annotations

from collections.abc import Mapping

WIDTH = 40


def chart(medians: Mapping[int, float]) -> str:
    """A bar for each size, as long as its time."""
    longest = max(medians.values())
    bars = [
        f"{size:>10,} chunks  {'█' * max(1, round(WIDTH * value / longest)):<{WIDTH}}  {value:.1f} ms"
        for size, value in sorted(medians.items())
    ]
    return "\n".join(["```text", *bars, "```"])
