"""What is known of a command before it is imported."""

from __future__ import annotations


class Entry:
    """A command that is not imported yet: ``target`` is ``module:attribute``."""

    # No dataclass: importing that module would take half as long as a search that a server answers.
    __slots__ = ("help", "name", "target")

    def __init__(self, name: str, target: str, help: str) -> None:
        self.name = name
        self.target = target
        self.help = help
