"""How evaluation looks on a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kebab.cli.screen import Screen, clip
from kebab.cli.tables import pairs, table
from kebab.domain.evaluations import (
    METRICS,
    AnswersReport,
    AnswerVerdict,
    EvalComparison,
    EvalReport,
    NameQuery,
    NamesReport,
    QueryChange,
    RefusalScore,
    Share,
    TunedPolicy,
    TuneReport,
)
from kebab.domain.plurals import count_of

if TYPE_CHECKING:
    from kebab.evaluate.own_weights import OwnWeights

SHOWN = 10


def shown_report(report: EvalReport, screen: Screen) -> str:
    """Metrics with bars, groups, refusals, and the weakest queries."""
    fusion = f", {report.fusion}" if report.fusion else ""
    head = screen.bold(f"{report.name} · {report.mode.value}{fusion}")
    size = f"{_queries(len(report.scores))} · {count_of(report.documents, 'document')} · run {report.run_id}"
    rows = [(name, f"{report.metrics[name]:.4f}  {screen.bar(report.metrics[name])}") for name in METRICS]
    rows.append(("latency", f"p50 {report.metrics['p50_ms']:.1f} ms · p95 {report.metrics['p95_ms']:.1f} ms"))
    rows += [(step, f"{seconds:.1f} s") for step, seconds in report.seconds.items()]
    rows += _refusal(report.refusal)
    parts = [
        head,
        screen.dim(size),
        pairs(rows, screen=screen),
        _groups(report, screen),
        _weakest(report, screen),
    ]
    return "\n".join(part for part in parts if part) + "\n"


def shown_answers(report: AnswersReport, screen: Screen) -> str:
    """The table of answers, with 95 % intervals, and every question that went wrong."""
    header = ("", "questions", "holds the fact", "first line", "refusal P", "R", "F1", "lines")
    rows = [
        (
            row.name,
            str(row.questions),
            _share(row.fact),
            _share(row.first),
            _share(row.precision),
            _share(row.recall),
            "" if row.f1 is None else f"{row.f1:.2f}",
            f"{row.lines:.1f}",
        )
        for row in report.rows
    ]
    wrong = [f"  {_fault(one)}: {one.question}" for one in report.verdicts if _fault(one)]
    return "\n".join([table(rows, header=header, screen=screen, grow=0), *wrong]) + "\n"


def _share(share: Share) -> str:
    if share.value is None:
        return ""
    low, high = share.interval
    return f"{share.value:.2f} [{low:.2f}, {high:.2f}]"


def _fault(one: AnswerVerdict) -> str:
    if one.answerable == one.refused:
        return "wrongly refused" if one.refused else "should refuse"
    return "" if one.refused or one.fact else "lacks the fact"


def shown_comparison(comparison: EvalComparison, screen: Screen) -> str:
    """The difference of each metric, then wins and losses."""
    header = ("metric", "before", "after", "change", "95 % interval", "")
    rows = [
        (
            d.metric,
            f"{d.before:.4f}",
            f"{d.after:.4f}",
            f"{d.difference:+.4f}",
            f"[{d.low:+.4f}, {d.high:+.4f}]",
            "beyond noise" if d.beyond_noise else "",
        )
        for d in comparison.differences
    ]
    lines = [table(rows, header=header, screen=screen, grow=0)]
    lines += _changes("better", comparison.better, screen) + _changes("worse", comparison.worse, screen)
    return "\n".join([*lines, f"unchanged: {comparison.unchanged}"])


def shown_names(report: NamesReport, screen: Screen, *, missed: bool) -> str:
    """A row for each kind of query, and with ``missed`` those whose note did not come first."""
    rows = [
        (
            row.kind,
            str(row.queries),
            f"{row.hit_1:.2f}",
            f"{row.hit_3:.2f}",
            f"{row.hit_10:.2f}",
            f"{row.distinct:.1f}",
        )
        for row in report.rows
    ]
    header = ("query is", "queries", "hit@1", "hit@3", "hit@10", "documents a page")
    lines = [
        f"{report.name}: {count_of(report.documents, 'document')}",
        table(rows, header=header, screen=screen, grow=0),
    ]
    return "\n".join([*lines, *(_missed(report, screen) if missed else [])])


def _queries(count: int) -> str:
    return count_of(count, "query", "queries")


def _missed(report: NamesReport, screen: Screen) -> list[str]:
    return [
        clip(f"  {one.kind}: {one.text} — {_where(one)}", screen.columns)
        for one in report.queries
        if one.place != 1
    ]


def _where(query: NameQuery) -> str:
    place = f"place {query.place}" if query.place else "not on the page"
    return f"{place}; first is {query.found[0]}" if query.found else "nothing found"


def shown_tuning(report: TuneReport, screen: Screen) -> str:
    """Legs, the present policy, the best ones, and the settings that select the winner."""
    rows: list[tuple[str, TunedPolicy]] = [("leg", leg) for leg in report.legs]
    rows += [("now", report.current)]
    rows += [("best" if policy is report.best else "", policy) for policy in report.tried[:SHOWN]]
    cells = [(mark, policy.policy, f"{policy.train:.4f}", f"{policy.test:.4f}") for mark, policy in rows]
    header = ("", "policy", f"{report.metric} train", "test")
    gain = report.gain
    verdict = "beyond noise" if gain.beyond_noise else "within noise"
    judged = f"{_queries(report.train_queries)} to learn, {report.test_queries} to judge"
    interval = f"{gain.difference:+.4f} [{gain.low:+.4f}, {gain.high:+.4f}], {verdict}"
    lines = [
        f"{', '.join(report.names)}: {judged}",
        table(cells, header=header, screen=screen, grow=1),
        f"gain over the present policy on unseen queries: {interval}",
        *_recommended(report),
    ]
    return "\n".join(lines)


def _recommended(report: TuneReport) -> list[str]:
    if not report.settings:
        return ["keep the present settings: nothing that was learned is better on unseen queries"]
    return [f"set {key} = {value!r}" for key, value in report.settings.items()]


def shown_runs(runs: Sequence[EvalReport], screen: Screen) -> str:
    header = ("run", "when", "name", "mode", "nDCG@10", "hit@3")
    rows = [
        (
            run.run_id,
            run.created_at[:19],
            run.name,
            run.mode.value,
            f"{run.metrics['nDCG@10']:.4f}",
            f"{run.metrics['hit@3']:.4f}",
        )
        for run in runs
    ]
    return table(rows, header=header, screen=screen, grow=2)


def _refusal(score: RefusalScore | None) -> list[tuple[str, str]]:
    if score is None:
        return []
    both = [("precision", score.precision), ("recall", score.recall)]
    return [(f"refusal {name}", "–" if value is None else f"{value:.4f}") for name, value in both]


def _groups(report: EvalReport, screen: Screen) -> str:
    names = ("nDCG@10", "hit@1", "hit@3", "hit@10")
    rows = [
        (group, str(int(values["queries"])), *(f"{values[name]:.3f}" for name in names))
        for group, values in report.groups.items()
    ]
    return table(rows, header=("group", "queries", *names), screen=screen, grow=0) if rows else ""


def _weakest(report: EvalReport, screen: Screen) -> str:
    weak = [score for score in report.scores if score.faults or not score.metrics["hit@10"]]
    lines = [
        clip(
            f"  {score.query_id}: {score.text} — {'; '.join(score.faults) or 'not in the first ten'}",
            screen.columns,
        )
        for score in weak[:SHOWN]
    ]
    more = [f"  … and {len(weak) - SHOWN} more"] if len(weak) > SHOWN else []
    return "\n".join([screen.dim("missed:"), *lines, *more]) if weak else ""


def _changes(word: str, changes: Sequence[QueryChange], screen: Screen) -> list[str]:
    lines = [f"{word}: {len(changes)}"]
    for change in changes[:SHOWN]:
        line = f"  {change.before:.3f} → {change.after:.3f}  {change.query_id}: {change.text}"
        lines.append(clip(line, screen.columns))
    return lines


def shown_answer_tuning(found: OwnWeights) -> str:
    """What weights of one's own are worth beside those that ship."""
    before, after = found.before, found.after
    return (
        "on questions that a fit did not see, with the weights that ship and with your own:\n"
        f"    answered or refused as it should be  {before.sorted:.2f} → {after.sorted:.2f}\n"
        f"    fact in the first passage            {before.first:.2f} → {after.first:.2f}"
    )
