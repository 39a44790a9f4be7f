"""``kebab completion``."""

from __future__ import annotations

import click

from kebab.cli.session import Session, command

SHELLS = ("bash", "zsh", "fish")


@command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(session: Session, shell: str) -> None:
    """Print a script that completes commands.

    The script makes a shell complete kebab's commands and options.

    Put this into ~/.bashrc: eval "$(kebab completion bash)"; into ~/.zshrc, the same with zsh; into
    ~/.config/fish/config.fish: kebab completion fish | source.
    """
    from click.shell_completion import ShellComplete, get_completion_class

    from kebab.cli import kebab

    found = get_completion_class(shell)
    assert found is not None
    # Not the class's own source(): bash's starts a shell to look at its version, and kebab's output is data.
    click.echo(ShellComplete.source(found(kebab, {}, "kebab", "_KEBAB_COMPLETE")))
