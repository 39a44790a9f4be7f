"""``kebab eval``: golden queries, standard collections, comparison and tuning."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kebab.cli.session import FORCE, Session, command, group
from kebab.domain.queries import SearchMode
from kebab.errors import InvalidInput

if TYPE_CHECKING:
    from kebab.domain.evaluations import AnswerRow, EvalReport
    from kebab.evaluate.laboratory import Task

FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
MODES = click.Choice([mode.value for mode in SearchMode])

evaluation = group("eval", help="Measure search with golden queries and standard test collections.")


@command("run", parent=evaluation)
@click.option("--collection", type=FOLDER, help="Folder with corpus.jsonl, queries.jsonl and qrels.tsv.")
@click.option("--golden", type=FILE, help="YAML file of queries and what they should find.")
@click.option("--root", type=FOLDER, help="Folder the golden file is about; default: the knowledge base.")
@click.option("--queries", default="queries.jsonl", show_default=True, help="The collection's query file.")
@click.option("--mode", "modes", type=MODES, multiple=True, default=("hybrid",), help="May be repeated.")
@click.option("--fusion", help="Fusion policy of hybrid search; default: the configured one.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write a .md or .html report."
)
@FORCE
@click.option(
    "--floor",
    "floors",
    multiple=True,
    metavar="METRIC=VALUE",
    help="Exit with status 1 if a value is below this.",
)
def run(
    session: Session,
    collection: Path | None,
    golden: Path | None,
    root: Path | None,
    queries: str,
    modes: tuple[str, ...],
    fusion: str | None,
    report: Path | None,
    force: bool,
    floors: tuple[str, ...],
) -> int:
    """Score queries by nDCG, recall, hits and latency.

    A collection is ingested into a temporary place first. One report for each --mode.
    """
    from kebab import wire
    from kebab.cli.eval_view import shown_report
    from kebab.cli.progress import reporting
    from kebab.evaluate import report as reports

    wanted = _floors(floors)
    if report is not None:
        # Before the work: measuring takes minutes.
        for target in _report_files(report, modes):
            reports.check(target, force=force)
    kebab = session.kebab()
    found: list[EvalReport] = []
    task = _task(collection, golden, root, queries)
    session.say(f"measuring on {(collection or golden or Path()).name} …")
    wanted_modes = [SearchMode(mode) for mode in modes]
    with reporting(session, lines=False) as progress:
        for each in kebab.laboratory.run(task, modes=wanted_modes, fusion=fusion, progress=progress):
            kebab.keep_evaluation(each)
            found.append(each)
    for each in found:
        session.warn(each.degraded)
        session.put(wire.eval_report(each), lambda each=each: shown_report(each, session.screen))  # type: ignore[misc]
    if report is not None:
        _write_reports(session, found, report, force=force)
    return 1 if _below(found, wanted) else 0


@command("compare", parent=evaluation)
@click.argument("before")
@click.argument("after")
@click.option(
    "--collection", type=FOLDER, help="Run both on this collection; BEFORE and AFTER are modes then."
)
@click.option("--golden", type=FILE, help="Run both on this golden file.")
@click.option("--root", type=FOLDER, help="Folder the golden file is about.")
@click.option("--metric", default="nDCG@10", show_default=True, help="The metric to compare.")
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), help="Write a .md or .html report."
)
@FORCE
def compare(
    session: Session,
    before: str,
    after: str,
    collection: Path | None,
    golden: Path | None,
    root: Path | None,
    metric: str,
    report: Path | None,
    force: bool,
) -> int:
    """Show which queries got better or worse.

    BEFORE and AFTER are kept runs (by id), files written with --json, or, with --collection or --golden,
    modes such as lexical, hybrid or hybrid:rrf.
    """
    from kebab import wire
    from kebab.cli.eval_view import shown_comparison
    from kebab.evaluate import report as reports
    from kebab.evaluate.compare import compare as compare_runs

    if report is not None:
        reports.check(report, force=force)
    if collection or golden:
        pair = _run_both(session, _task(collection, golden, root), (before, after))
    else:
        pair = (_kept(session, before), _kept(session, after))
    comparison = compare_runs(*pair, metric=metric)
    session.put(wire.eval_comparison(comparison), lambda: shown_comparison(comparison, session.screen))
    if report is not None:
        reports.write(reports.page_of_comparison(comparison), report, force=force)
    return 0


@command("tune", parent=evaluation)
@click.option("--collection", "collections", type=FOLDER, multiple=True, help="May be repeated.")
@click.option("--golden", "goldens", type=FILE, multiple=True, help="May be repeated.")
@click.option("--root", type=FOLDER, help="Folder the golden files are about.")
@click.option(
    "--questions",
    "questions",
    type=FILE,
    multiple=True,
    help="Fit answers to these instead; may be repeated.",
)
@click.option(
    "--write",
    "target",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the weights of answers go.",
)
@FORCE
@click.option(
    "--train", type=click.FloatRange(0.1, 0.9), default=0.5, show_default=True, help="Share to learn on."
)
def tune(
    session: Session,
    collections: tuple[Path, ...],
    goldens: tuple[Path, ...],
    root: Path | None,
    questions: tuple[Path, ...],
    target: Path | None,
    force: bool,
    train: float,
) -> int:
    """Learn the fusion of hybrid search from judged queries.

    Learns on one part of the queries and reports on the rest; prints the settings to use, if they are better
    than the present ones on queries that they were not learned from.
    """
    from kebab import wire
    from kebab.cli.eval_view import shown_tuning
    from kebab.cli.progress import reporting
    from kebab.evaluate.laboratory import Task

    if questions:
        return _tune_answers(session, questions, root, target, force=force)
    tasks = [Task(collection=folder) for folder in collections]
    tasks += [Task(golden=file, root=root) for file in goldens]
    if not tasks:
        raise InvalidInput("there is nothing to tune on", hint="give a --collection or a --golden file")
    with reporting(session, lines=False) as progress:
        tuned = session.kebab().laboratory.tune(tasks, train_share=train, progress=progress)
    session.put(wire.eval_tuning(tuned), lambda: shown_tuning(tuned, session.screen))
    return 0


@command("answers", parent=evaluation)
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--root", type=FOLDER, help="Folder the questions are about; default: what each file names.")
@click.option(
    "--floor", "floors", multiple=True, metavar="COLUMN=VALUE", help="Exit with status 1 below this value."
)
def answers(session: Session, files: tuple[Path, ...], root: Path | None, floors: tuple[str, ...]) -> int:
    """Ask questions with known answers and score what comes back.

    FILES are YAML: questions, each with the pattern its answer must hold, or none where asking must refuse.
    Prints the table for all questions, by folder, by type and by language, with 95 % intervals.
    """
    from kebab import wire
    from kebab.cli.eval_view import shown_answers
    from kebab.cli.progress import reporting

    wanted = _floors(floors)
    with reporting(session, lines=False) as progress:
        found = session.kebab().laboratory.ask(files, root=root, progress=progress)
    session.put(wire.eval_answers(found), lambda: shown_answers(found, session.screen))
    return 1 if _answers_below(found.rows[0], wanted) else 0


@command("names", parent=evaluation)
@click.argument("folders", nargs=-1, type=FOLDER)
@click.option("--mode", type=MODES, default="hybrid", show_default=True)
@click.option("--notes", type=click.IntRange(1), default=120, show_default=True, help="Notes to ask for.")
@click.option("--seed", type=int, default=0, show_default=True, help="Draws the notes and the typos.")
@click.option("--missed", is_flag=True, help="Also list the queries whose note did not come first.")
def names(session: Session, folders: tuple[Path, ...], mode: str, notes: int, seed: int, missed: bool) -> int:
    """Look for notes by what they are called, and say how often they come first.

    Queries are made of titles, file names, paths, mistyped titles and rare words of the notes in FOLDERS, or
    of the knowledge base. Each folder is ingested into a temporary place first.
    """
    from kebab import wire
    from kebab.cli.eval_view import shown_names
    from kebab.cli.progress import reporting

    laboratory = session.kebab().laboratory
    for folder in folders or (None,):
        with reporting(session, lines=False) as progress:
            report = laboratory.names(
                folder, mode=SearchMode(mode), notes=notes, seed=seed, progress=progress
            )
        session.put(
            wire.eval_names(report),
            lambda report=report: shown_names(report, session.screen, missed=missed),  # type: ignore[misc]
        )
    return 0


@command("import", parent=evaluation)
@click.argument("collection", type=FOLDER)
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
def import_collection(session: Session, collection: Path, folder: Path) -> int:
    """Turn a collection into a folder of notes.

    Writes FOLDER/documents, one Markdown file each, and FOLDER/golden.yaml with the judged queries.
    """
    from kebab import wire
    from kebab.evaluate import collections

    if folder.exists() and any(folder.iterdir()):
        raise InvalidInput(f"{folder} is not empty", hint="choose a folder that does not exist yet")
    read = collections.read(collection)
    keys = collections.write_documents(read, folder / "documents")
    golden = folder / "golden.yaml"
    collections.write_golden(read, keys, golden)
    done = wire.EvalImport(
        name=read.name,
        documents=len(read.documents),
        queries=len(read.queries.queries),
        folder=str(folder / "documents"),
        golden=str(golden),
    )
    session.put(
        done, lambda: f"{done.documents} documents in {done.folder}, {done.queries} queries in {golden}"
    )
    return 0


@command("list", parent=evaluation)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
def list_runs(session: Session, limit: int) -> int:
    """List the kept runs, newest first."""
    from kebab import wire
    from kebab.cli.eval_view import shown_runs

    runs = session.kebab().evaluations.recent(limit)
    session.put(wire.eval_list(runs), lambda: shown_runs(runs, session.screen))
    if not runs:
        session.say("no run is kept yet")
    return 0 if runs else 1


def _tune_answers(
    session: Session, questions: tuple[Path, ...], root: Path | None, target: Path | None, *, force: bool
) -> int:
    from kebab import wire
    from kebab.answer.weights import load_weights, to_json
    from kebab.cli.eval_view import shown_answer_tuning
    from kebab.disk.named_files import check_target, named_file
    from kebab.evaluate.own_weights import own_weights

    if target is None:
        raise InvalidInput("the weights of answers need a file to go to", hint="name one with --write")
    check_target(target, force=force)
    kebab = session.kebab()
    examples = kebab.laboratory.examples(questions, root=root)
    found = own_weights(examples, shipped=load_weights(), threshold=kebab.settings.rag.gate.threshold)
    session.put(wire.eval_answer_tuning(found, target), lambda: shown_answer_tuning(found))
    if not found.better:
        session.say("nothing was written: your own weights are not better; more questions may help")
        return 1
    with named_file(target, force=force) as out:
        out.write(to_json(found.weights))
    session.say(f'wrote {target}; use it with: [rag] weights = "{target}"')
    return 0


def _answers_below(row: AnswerRow, floors: dict[str, float]) -> bool:
    values = {"fact": row.fact.value, "first": row.first.value}
    values |= {"precision": row.precision.value, "recall": row.recall.value, "f1": row.f1}
    if unknown := floors.keys() - values.keys():
        raise InvalidInput(f"there is no column {min(unknown)!r}", hint=f"one of {', '.join(values)}")
    below = [name for name, floor in floors.items() if (values[name] or 0.0) < floor]
    for name in below:
        click.echo(f"below the floor: {name} {values[name] or 0.0:.4f}", err=True)
    return bool(below)


def _task(
    collection: Path | None, golden: Path | None, root: Path | None, queries: str = "queries.jsonl"
) -> Task:
    from kebab.evaluate.laboratory import Task

    if (collection is None) == (golden is None):
        raise InvalidInput("give either --collection or --golden", hint="see: kebab eval run --help")
    return Task(collection=collection, golden=golden, root=root, queries_file=queries)


def _run_both(session: Session, task: Task, wanted: tuple[str, str]) -> tuple[EvalReport, EvalReport]:
    laboratory = session.kebab().laboratory
    reports: list[EvalReport] = []
    for each in wanted:
        mode, _, fusion = each.partition(":")
        if mode not in list(SearchMode):
            raise InvalidInput(f"there is no mode {mode!r}", hint=f"one of {', '.join(SearchMode)}")
        reports += laboratory.run(task, modes=[SearchMode(mode)], fusion=fusion or None)
    return reports[0], reports[1]


def _kept(session: Session, reference: str) -> EvalReport:
    from kebab.evaluate.archive import read_file

    path = Path(reference)
    return read_file(path) if path.is_file() else session.kebab().evaluations.find(reference)


def _write_reports(session: Session, found: Sequence[EvalReport], file: Path, *, force: bool) -> None:
    from kebab.evaluate import report as reports

    for each, target in zip(found, _report_files(file, [each.mode for each in found]), strict=True):
        for path in reports.write(reports.page_of_run(each), target, force=force):
            session.say(f"wrote {path}")


def _report_files(file: Path, modes: Sequence[str]) -> list[Path]:
    """One file for one mode; with several, the mode stands in each name."""
    return [file] if len(modes) == 1 else [file.with_stem(f"{file.stem}-{mode}") for mode in modes]


def _floors(given: Sequence[str]) -> dict[str, float]:
    floors: dict[str, float] = {}
    for each in given:
        name, _, value = each.partition("=")
        try:
            floors[name] = float(value)
        except ValueError:
            raise InvalidInput(f"{each!r} is not a floor", hint="write it as nDCG@10=0.7") from None
    return floors


def _below(found: Sequence[EvalReport], floors: dict[str, float]) -> bool:
    from kebab.domain.evaluations import METRICS

    if unknown := floors.keys() - set(METRICS):
        raise InvalidInput(f"there is no metric {min(unknown)!r}", hint=f"one of {', '.join(METRICS)}")
    below = [(r, name) for r in found for name, floor in floors.items() if r.metrics[name] < floor]
    for report, name in below:
        click.echo(f"below the floor: {name} {report.metrics[name]:.4f} ({report.mode.value})", err=True)
    return bool(below)
