"""What a project's file may set before its owner trusts it, and the record of that trust.

A project's file comes with the project, so a stranger may have written it. Without trust it shapes search and
chunking and names folders inside the project; the marks in ``sections`` say which key may do what. Everything
else is a request. The user's consent to a request is kept in the user's own configuration folder, by project,
key and fingerprint of the value: a changed value is asked for again, a request that was dropped is not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import msgspec

from kebab.config.locate import PROJECT_FOLDER, is_project_file, trusted_file
from kebab.config.paths import absolute, is_expanded
from kebab.config.read import read_file
from kebab.config.sections import File, Section, Source, Untrusted
from kebab.domain.values import dataclass
from kebab.errors import ConfigInvalid, StorageError


@dataclass(frozen=True, slots=True)
class Request:
    """A key that counts only with trust."""

    key: str
    value: Any
    leads_to: str = ""
    """The real folder that a path names; empty for what is no path."""

    @property
    def fingerprint(self) -> str:
        """Of the value and of where it leads: a link that is turned elsewhere is another request."""
        import hashlib
        import json

        text = json.dumps([self.value, self.leads_to], sort_keys=True, default=str)
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def project_of(file: Path) -> Path:
    """The folder that a project's file speaks for, links resolved."""
    return Path(os.path.realpath(file.parent.parent))


def requests(file: Path, stated: Mapping[str, Any]) -> tuple[Request, ...]:
    """What a project's file asks for beyond what any file may set, in the file's order."""
    return tuple(_Reader(file).section(File, stated, ""))


def require(file: Path, stated: Mapping[str, Any], *, environ: Mapping[str, str]) -> None:
    """Raise ConfigInvalid, naming the keys, where the file asks for what its owner did not consent to."""
    asked = requests(file, stated)
    refused = consents(environ).missing(project_of(file), asked) if asked else []
    if refused:
        keys = [request.key for request in refused]
        raise ConfigInvalid(
            f"{file} is not trusted to set {', '.join(keys)}",
            hint=f"if you know who wrote it, look at what it asks for with: kebab trust {project_of(file)}",
            details={"file": str(file), "keys": keys},
        )


@dataclass(frozen=True, slots=True)
class _Reader:
    file: Path

    def section(
        self, owner: type[msgspec.Struct], values: Mapping[str, Any], prefix: str
    ) -> Iterator[Request]:
        fields = {field.name: field for field in msgspec.structs.fields(owner)}
        for name, value in values.items():
            key, field = f"{prefix}{name}", fields.get(name)
            if field is None:
                continue  # checking the types refuses it: a slip of the keys is no matter of trust
            if _is_section(field.type) and isinstance(value, dict):
                yield from self.section(field.type, value, f"{key}.")
            elif name == "sources" and isinstance(value, list):
                yield from self._sources(value)
            else:
                yield from self._key(key, field, value)

    def _sources(self, sources: Sequence[Any]) -> Iterator[Request]:
        for number, source in enumerate(sources):
            key = f"sources[{number}]"
            yield from (
                self.section(Source, source, f"{key}.")
                if isinstance(source, dict)
                else [Request(key, source)]
            )

    def _key(self, key: str, field: msgspec.structs.FieldInfo, value: Any) -> Iterator[Request]:
        mark = _mark(field.type)
        if mark is Untrusted.SETS:
            return
        if mark is None:
            if value != field.default:
                yield Request(key, value)
            return
        # The project's real folder, but no link below it: a .kebab that is a link leads elsewhere.
        project = project_of(self.file)
        folder = project / PROJECT_FOLDER if mark is Untrusted.NAMES_IN_KEBAB else project
        leads_to = os.path.realpath(absolute(value, self.file.parent)) if isinstance(value, str) else ""
        if not leads_to or is_expanded(value) or not Path(leads_to).is_relative_to(folder):
            yield Request(key, value, leads_to)


def _mark(kind: Any) -> Untrusted | None:
    marks = get_args(kind)[1:] if get_origin(kind) is Annotated else ()
    return next((mark for mark in marks if isinstance(mark, Untrusted)), None)


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


# --- the record ------------------------------------------------------------------------------------

Record = dict[str, dict[str, str]]
"""Fingerprints by key, by project."""


@dataclass(frozen=True, slots=True)
class Consents:
    """The user's consents, in one file that only the user can read."""

    file: Path

    def projects(self) -> Record:
        """Every project with a consent. Raises ConfigInvalid for a file that kebab did not write."""
        try:
            return msgspec.json.decode(self.file.read_bytes(), type=Record)
        except FileNotFoundError:
            return {}
        except msgspec.DecodeError as error:
            raise ConfigInvalid(
                f"{self.file} is damaged: {error}", hint="remove it, then trust your projects again"
            ) from error
        except OSError as error:
            raise StorageError(f"{self.file} cannot be read: {error.strerror}") from error

    def missing(self, project: Path, asked: Sequence[Request]) -> list[Request]:
        """Those of the requests that nobody has consented to."""
        given = self.projects().get(str(project), {})
        return [request for request in asked if given.get(request.key) != request.fingerprint]

    def record(self, project: Path, asked: Sequence[Request]) -> None:
        """Consent to exactly these requests, in place of what was consented to before."""
        own = {str(project): {request.key: request.fingerprint for request in asked}}
        self._write(self.projects() | own)

    def revoke(self, project: Path) -> bool:
        """Take the consent back; False where there was none."""
        projects = self.projects()
        if projects.pop(str(project), None) is None:
            return False
        self._write(projects)
        return True

    def _write(self, projects: Record) -> None:
        import json
        import tempfile

        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            # mkstemp makes a file that only its owner can read, which the rename keeps.
            handle, draft = tempfile.mkstemp(dir=self.file.parent, prefix=f".{self.file.name}.")
            with os.fdopen(handle, "w", encoding="utf-8") as out:
                json.dump(projects, out, indent=2, sort_keys=True)
            os.replace(draft, self.file)
        except OSError as error:
            raise StorageError(f"{self.file} cannot be written: {error.strerror}") from error


def consents(environ: Mapping[str, str] | None = None) -> Consents:
    """The consents of this user."""
    return Consents(trusted_file(os.environ if environ is None else environ))


def asked_by(file: Path) -> tuple[Request, ...]:
    """What a file on disk asks for; a file that is no project's is the user's own and asks for nothing."""
    return requests(file, read_file(file)) if is_project_file(file) else ()


def consent(file: Path) -> None:
    """Trust a project's file as it is now; nothing is recorded of a file that asks for nothing."""
    if asked := asked_by(file):
        consents().record(project_of(file), asked)


@contextmanager
def kept(file: Path) -> Iterator[None]:
    """Trust in a project's file outlives an edit that kebab makes on the user's order.

    Nothing is recorded for a file that was not trusted before the edit.
    """
    trusted = not consents().missing(project_of(file), asked_by(file))
    yield
    if trusted:
        consent(file)
