"""``kebab models``: which embedding models there are, and which one answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kebab.cli.session import Session, command, group
from kebab.cli.tables import table
from kebab.domain.reports import ModelStatus

if TYPE_CHECKING:
    from kebab.cli.screen import Screen

models = group("models", help="List, switch and register embedding models.")


@command("list", parent=models)
@click.option("--all", "everything", is_flag=True, help="Include the models that fastembed can download.")
def list_models(session: Session, everything: bool) -> None:
    """List the embedding models kebab knows of; the active one is marked."""
    from kebab import wire

    known = session.kebab().models(everything=everything)
    session.put(wire.model_list(known), lambda: _models(known, session.screen))


@command("use", parent=models)
@click.argument("model")
def use_model(session: Session, model: str) -> None:
    """Switch to another model and write it into the configuration.

    MODEL is static, none, a registered name, the folder of an ONNX model, or fastembed:NAME, ollama:NAME,
    openai:NAME. Vectors of the old model are kept, for switching back.
    """
    used = session.kebab().use_model(model)
    _changed(session, used)
    if used.provider != "none":
        session.say("embed your documents with this model: kebab index --embeddings")


@command("add", parent=models)
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--name", metavar="ID", help="Name of the model; the name of the folder by default.")
def add_model(session: Session, folder: Path, name: str | None) -> None:
    """Register a local ONNX model by its folder."""
    _changed(session, session.kebab().add_model(folder, name=name))
    session.say(f"switch to it with: kebab models use {name or folder.name}")


def _changed(session: Session, model: ModelStatus) -> None:
    from kebab import wire

    session.put(wire.model_list([model]), lambda: _models([model], session.screen))


def _models(known: list[ModelStatus], screen: Screen) -> str:
    rows = [
        ["*" if m.active else "", m.model_id, m.provider, str(m.dimensions or "?"), str(m.vectors), m.note]
        for m in known
    ]
    header = ("", "model", "provider", "dims", "vectors", "note")
    return table(rows, header=header, screen=screen, grow=[5]) if rows else ""
