"""The command line as a click program: every command, imported when it runs."""

from __future__ import annotations

import click

from kebab.cli import COMMANDS
from kebab.cli.lazy import LazyGroup
from kebab.cli.session import common_options


@click.group(
    cls=LazyGroup,
    sections=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="kebab", message="kebab %(version)s")
@common_options
def kebab() -> None:
    """A local-first knowledge base: finds the right lines by words and by meaning, and says why."""
