"""``kebab publish``: the knowledge base where others can search it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import click

from kebab.cli.session import Session, command, publication_address
from kebab.cli.tables import size_of
from kebab.domain.plurals import count_of
from kebab.domain.publications import PublishReport, Release
from kebab.errors import InvalidInput


@command("publish")
@click.argument("uri")
@click.option(
    "--as", "name", metavar="NAME", help="Publish under this name; the first source's id by default."
)
@click.option("--all", "everything", is_flag=True, help="Send every document again, not only what changed.")
@click.option("--remove", metavar="NAME", help="Take out what was published under this name.")
@click.option("--rollback", type=click.IntRange(min=1), metavar="N", help="Show release N to readers again.")
@click.option("--collect", is_flag=True, help="Delete what no release of the last hours needs any more.")
@click.option(
    "--keep-hours",
    type=click.FloatRange(min=0),
    default=1.0,
    help="With --collect: how many hours; 1 by default.",
)
@click.option("--list", "listing", is_flag=True, help="List the releases, newest first.")
def publish(
    session: Session,
    uri: str,
    name: str | None,
    everything: bool,
    remove: str | None,
    rollback: int | None,
    collect: bool,
    keep_hours: float,
    listing: bool,
) -> int:
    """Publish the knowledge base for others to search.

    URI is a folder, s3://BUCKET/FOLDER, gs://BUCKET/FOLDER, az://CONTAINER/FOLDER or qdrant://HOST/NAME.
    Credentials come from the environment, such as AWS_ACCESS_KEY_ID. Sends what changed since the last time;
    readers, with --index URI, see what was there before or all of it. Several people may publish at one
    address, each under a name.
    """
    from kebab.cli.progress import reporting

    if sum(map(bool, (remove, rollback, collect, listing))) > 1 or (
        everything and (remove or rollback or collect)
    ):
        raise InvalidInput(
            "these options do not go together", hint="give one of --remove, --rollback, --collect, --list"
        )
    place = publication_address(uri)
    if listing:
        return _list(session, place)
    kebab = session.kebab()
    if remove:
        report = kebab.remove_published(place, remove)
    elif rollback:
        report = kebab.roll_back_published(place, rollback)
    elif collect:
        report = kebab.collect_published(place, older_than=timedelta(hours=keep_hours))
    else:
        with reporting(session) as progress:
            report = kebab.publish(place, name=name, everything=everything, progress=progress)
    _put(session, report)
    return 0


def _put(session: Session, report: PublishReport) -> None:
    from kebab import wire

    session.put(lambda: wire.publish_report(report), lambda: _summary(report))
    session.warn(report.degraded)


def _summary(report: PublishReport) -> str:
    held = f"{count_of(report.documents, 'document')}, {count_of(report.chunks, 'chunk')}"
    done = f"release {report.release} at {report.uri}: {held}"
    if report.publisher is not None:
        done += f" · {report.publisher}: {report.changed} sent, {report.removed} removed"
    if report.collected is not None:
        freed = size_of(report.collected.byte_len)
        done += f" · deleted {count_of(report.collected.releases, 'old release')}, {freed}"
    return f"{done} · {report.duration_ms / 1000:.1f} s"


def _list(session: Session, uri: str) -> int:
    from kebab import wire

    releases = session.kebab().published(uri)
    session.put(lambda: wire.publication_list(uri, releases), lambda: _listed(uri, releases))
    return 0 if releases else 1


def _listed(uri: str, releases: Sequence[Release]) -> str:
    if not releases:
        return f"nothing is published at {uri}"
    return "\n".join(line for release in releases for line in _lines(release))


def _lines(release: Release) -> list[str]:
    parts = [
        f"  {part.publisher}: {count_of(part.contents.documents, 'document')}, "
        f"{count_of(part.contents.chunks, 'chunk')} "
        f"of {', '.join(part.contents.sources)} · {part.contents.published_at}"
        for part in release.parts
    ]
    return [f"release {release.number}", *(parts or ["  empty"])]
