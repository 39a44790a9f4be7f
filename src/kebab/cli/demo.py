"""``kebab demo``: what kebab does, on a bundled vault, in a temporary place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

import kebab
from kebab import config
from kebab.cli import answers, render
from kebab.cli.ingest import summary
from kebab.cli.session import Session, command
from kebab.errors import StorageError

STEPS = (
    ("Search in English, by words and by meaning.", "how long is a seat held before it expires"),
    (
        "The same vault in Korean: particles and endings do not hide a word.",
        "전세 계약은 언제까지 갱신을 알려야 하나",
    ),
)
EXPLAINED = "why were customers charged twice"
QUESTIONS = (
    (
        "Ask a question: every sentence of the answer cites its lines.",
        "How many customers were charged twice?",
    ),
    ("A question that the notes do not answer is refused.", "What is the capital of Mongolia?"),
)
MISSED = ("recipes/김치찌개.md", "how to rotate an expired certificate")


@command("demo")
def demo(session: Session) -> None:
    """Show what kebab does, on a bundled sample vault.

    Runs in a temporary folder that is removed at the end. Does not read or change your files or settings.
    """
    from kebab.disk.scratch import scratch_folder

    with scratch_folder(Path(tempfile.gettempdir()), "demo") as folder:
        _Tour(session, root=sample_vault(), data_dir=folder / "data").run()


def sample_vault() -> Path:
    """The bundled notes: inside an installed package, or beside the sources in a checkout."""
    package = Path(kebab.__file__).parent
    for candidate in (package / "_examples" / "vault", package.parents[1] / "examples" / "vault"):
        if candidate.is_dir():
            return candidate
    raise StorageError("the sample vault is not where it was installed", hint="install kebab again")


class _Tour:
    """The steps of the demonstration, told on stderr and shown on stdout."""

    def __init__(self, session: Session, *, root: Path, data_dir: Path) -> None:
        from kebab.app import Kebab

        self.session = session
        self.screen = session.screen
        # Whatever the user has set: a tour shows the product, and must not call the user's model.
        self.kebab = Kebab(config.defaults(root=root, data_dir=data_dir))
        self.number = 0

    def run(self) -> None:
        try:
            self.ingest()
            for told, query in STEPS:
                self.search(told, query)
            self.search(
                "Why is a hit where it is? Each leg shows its rank and what it gave.", EXPLAINED, explain=True
            )
            self.why(*MISSED)
            for told, question in QUESTIONS:
                self.ask(told, question)
        finally:
            self.kebab.close()
        self.session.say(
            "\nYour own notes: kebab init ~/notes && cd ~/notes && kebab ingest && kebab search …"
        )

    def ingest(self) -> None:
        self.tell("Ingest a vault of notes, English and Korean mixed.", "kebab ingest")
        report = self.kebab.ingest()
        self.show(summary(report, screen=self.screen, dry_run=False, files=False))

    def search(self, told: str, query: str, *, explain: bool = False) -> None:
        self.tell(told, f'kebab search "{query}" -k 2' + (" --explain" if explain else ""))
        response = self.kebab.search(query, k=2, explain=explain)
        self.session.warn(map(render.degradation, response.degraded))
        self.show(
            render.search_results(response, screen=self.screen, explain=explain, locate=lambda hit: None)
        )

    def why(self, document: str, query: str) -> None:
        self.tell("And why is a document not there?", f'kebab why {document} "{query}"')
        report = self.kebab.why(document, query)
        self.show(render.why(report, screen=self.screen, limit=1))

    def ask(self, told: str, question: str) -> None:
        self.tell(told, f'kebab ask "{question}"')
        found = self.kebab.ask(question)
        self.show(answers.answer(found, screen=self.screen, locate=lambda citation: None))

    def tell(self, told: str, typed: str) -> None:
        self.number += 1
        self.session.say(f"\n{self.screen.bold(f'{self.number}. {told}')}\n{self.screen.dim('$ ' + typed)}")

    def show(self, text: str) -> None:
        click.echo(text, color=None if self.screen.color else False)
