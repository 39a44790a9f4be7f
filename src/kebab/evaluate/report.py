"""Reports people read: one run or a comparison, as Markdown (with its plots in a file beside) or as HTML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import quote

from kebab.disk.named_files import check_target, named_file
from kebab.domain.controls import harmless
from kebab.domain.evaluations import METRICS, EvalComparison, EvalReport, QueryChange, QueryScore
from kebab.domain.plurals import count_of
from kebab.errors import InvalidInput
from kebab.evaluate.plots import Bar, bars, skyline, text_bar

# Queries and file names come from anyone, and viewers of Markdown let HTML through.
_ACTIVE = re.compile(r"[\\`*\[\]<>|&]")
SHOWN = 20
"""How many of the lost or changed queries a report lists."""

STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1f2328}"
    "table{border-collapse:collapse;margin:1rem 0}td,th{border:1px solid #d0d7de;padding:.25rem .6rem;"
    "text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}svg{max-width:100%;height:auto}"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A heading, column names and rows; numbers are already text."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A report before it has a format: title, a line of facts, plots as SVG, tables."""

    title: str
    facts: str
    plots: tuple[str, ...]
    tables: tuple[Table, ...]


def page_of_run(report: EvalReport) -> Page:
    chart = bars([Bar(name, report.metrics[name]) for name in METRICS], title="Means over all queries")
    per_query = skyline(
        [_column(score) for score in report.scores], title=f"{METRICS[0]} of each query, best first"
    )
    return Page(
        title=f"{report.name}: {report.mode.value} search",
        facts=_facts(report),
        plots=(chart, per_query),
        tables=tuple(
            table
            for table in (_metrics(report), _groups(report), _refusal(report), _lost(report))
            if table.rows
        ),
    )


def page_of_comparison(comparison: EvalComparison) -> Page:
    before, after = comparison.before, comparison.after
    changed = [
        Bar(c.query_id, c.after - c.before, f"{c.query_id}: {c.before:.3f} → {c.after:.3f} {c.text}")
        for c in (*comparison.better, *comparison.worse)
    ]
    title = f"{comparison.metric}: {len(comparison.better)} better, {len(comparison.worse)} worse"
    return Page(
        title=f"{after.name}: {label(before)} → {label(after)}",
        facts=f"{title}, {comparison.unchanged} unchanged. Intervals: 95 %, paired bootstrap over queries.",
        plots=(skyline(changed, title=f"{title} (change of each query)"),),
        tables=(
            _differences(comparison),
            _changes("Better", comparison.better),
            _changes("Worse", comparison.worse),
        ),
    )


def markdown(page: Page, *, image: str | None = None) -> str:
    """The page as GitHub Markdown; ``image`` names the file that holds the plots, if one is written."""
    title = _plain(page.title)
    lines = [f"# {title}", "", _plain(page.facts), ""]
    if image:
        lines += [f"![{title}]({quote(image)})", ""]
    for table in page.tables:
        lines += [f"## {_plain(table.title)}", "", _row(table.columns), _row(("---",) * len(table.columns))]
        lines += [_row(row) for row in table.rows] + [""]
    return "\n".join(lines)


def html(page: Page) -> str:
    """The page as one self-contained file: no script, no link to anything outside it."""
    tables = "".join(_html_table(table) for table in page.tables)
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{escape(page.title)}</title>'
        f"<style>{STYLE}</style></head><body><h1>{escape(page.title)}</h1><p>{escape(page.facts)}</p>"
        + "".join(f"<p>{plot}</p>" for plot in page.plots)
        + tables
        + "</body></html>\n"
    )


def check(file: Path, *, force: bool = False) -> None:
    """Raises InvalidInput where ``write`` would refuse to write the report."""
    if file.suffix not in (".md", ".html"):
        raise InvalidInput(f"a report is a .md or .html file, not {file.name!r}")
    for path in (file, file.with_suffix(".svg")) if file.suffix == ".md" else (file,):
        check_target(path, force=force)


def write(page: Page, file: Path, *, force: bool = False) -> list[Path]:
    """Write the page as the file's ending asks (.md or .html); returns every file written.

    Markdown viewers drop inline SVG, so a Markdown report has its plots in an .svg file beside it. Raises
    InvalidInput where one of them exists and not ``force``, and StorageError.
    """
    check(file, force=force)
    written = {file: html(page)}
    if file.suffix == ".md":
        image = file.with_suffix(".svg")
        written = {file: markdown(page, image=image.name), image: _stacked(page.plots)}
    for path, text in written.items():
        with named_file(path, force=force) as out:
            out.write(harmless(text).encode())
    return list(written)


def label(report: EvalReport) -> str:
    return report.mode.value if report.fusion is None else f"{report.mode.value} ({report.fusion})"


def _facts(report: EvalReport) -> str:
    facts = [f"{len(report.scores)} queries", count_of(report.documents, "document"), f"run {report.run_id}"]
    facts += [f"fusion {report.fusion}"] if report.fusion else []
    facts += [f"model {report.embedding_model}"] if report.embedding_model else []
    facts += [f"{step} {seconds:.1f} s" for step, seconds in report.seconds.items()]
    facts += [f"DEGRADED: {message}" for message in report.degraded]
    return " · ".join([*facts, report.index_version])


def _column(score: QueryScore) -> Bar:
    value = score.metrics[METRICS[0]]
    return Bar(score.query_id, value, f"{score.query_id}: {value:.3f} {score.text}")


def _metrics(report: EvalReport) -> Table:
    rows = [(name, f"{report.metrics[name]:.4f}", text_bar(report.metrics[name])) for name in METRICS]
    rows += [(name, f"{report.metrics[name]:.1f}", "") for name in ("p50_ms", "p95_ms")]
    return Table("Metrics", ("metric", "value", ""), tuple(rows))


def _groups(report: EvalReport) -> Table:
    names = ("nDCG@10", "MRR@10", "hit@1", "hit@3", "hit@10")
    rows = tuple(
        (group, str(int(values["queries"])), *(f"{values[name]:.3f}" for name in names))
        for group, values in report.groups.items()
    )
    return Table("Groups", ("group", "queries", *names), rows)


def _refusal(report: EvalReport) -> Table:
    score = report.refusal
    if score is None:
        return Table("Refusals", (), ())
    rows = (
        ("precision", "–" if score.precision is None else f"{score.precision:.3f}"),
        ("recall", "–" if score.recall is None else f"{score.recall:.3f}"),
        ("wrong", ", ".join(score.wrong) or "none"),
    )
    return Table("Refusals", ("", "value"), rows)


def _lost(report: EvalReport) -> Table:
    lost = sorted(report.scores, key=lambda s: (not s.faults, s.metrics[METRICS[0]], s.query_id))
    rows = tuple(
        (
            score.query_id,
            score.text,
            str(score.first_rank or "–"),
            f"{score.metrics[METRICS[0]]:.3f}",
            "; ".join(score.faults) or (score.found[0] if score.found else "nothing found"),
        )
        for score in lost[:SHOWN]
        if score.faults or score.metrics[METRICS[0]] < 1
    )
    return Table(
        "Weakest queries", ("id", "query", "first rank", METRICS[0], "fault, or what came first"), rows
    )


def _differences(comparison: EvalComparison) -> Table:
    rows = tuple(
        (
            d.metric,
            f"{d.before:.4f}",
            f"{d.after:.4f}",
            f"{d.difference:+.4f}",
            f"[{d.low:+.4f}, {d.high:+.4f}]",
            "yes" if d.beyond_noise else "no",
        )
        for d in comparison.differences
    )
    return Table("Difference", ("metric", "before", "after", "change", "95 % interval", "beyond noise"), rows)


def _changes(title: str, changes: Sequence[QueryChange]) -> Table:
    rows = tuple((c.query_id, c.text, f"{c.before:.3f}", f"{c.after:.3f}") for c in changes[:SHOWN])
    return Table(f"{title} ({len(changes)})", ("id", "query", "before", "after"), rows)


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_plain, cells)) + " |"


def _plain(text: str) -> str:
    """A text on one line in Markdown, where it can be no tag, link, image or column."""
    return _ACTIVE.sub(r"\\\g<0>", " ".join(harmless(text).split()))


def _html_table(table: Table) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in table.columns)
    body = "".join(
        "<tr>" + "".join(f"<td{_numeric(cell)}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in table.rows
    )
    return f"<h2>{escape(table.title)}</h2><table><tr>{head}</tr>{body}</table>"


def _numeric(cell: str) -> str:
    return ' class="n"' if cell.lstrip("+-–").replace(".", "", 1).isdigit() else ""


def _stacked(plots: Sequence[str]) -> str:
    """Several plots under each other as one SVG file."""
    placed, y = [], 0
    for plot in plots:
        height = int(plot.split('viewBox="0 0 ', 1)[1].split('"', 1)[0].split()[1])
        placed.append(plot.replace("<svg ", f'<svg y="{y}" ', 1))
        y += height + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 {y}" width="720">'
        + "".join(placed)
        + "</svg>\n"
    )
