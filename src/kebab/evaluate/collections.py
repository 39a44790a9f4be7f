"""Standard test collections in BEIR form: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv``.

A collection becomes a folder of Markdown files, so that it takes the same way as a user's own notes: scan,
parse, chunk, store, both indexes. File names are numbers; ids may hold any characters and stay in the map.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from kebab.domain.evaluations import EvalQuery, QuerySet
from kebab.domain.ids import nfc
from kebab.errors import InvalidInput

FILES_PER_FOLDER = 1000


class _Record(msgspec.Struct, frozen=True):
    """A line of ``corpus.jsonl`` or ``queries.jsonl``; other BEIR tools write ``_id``."""

    text: str
    title: str = ""
    id: str = ""
    beir_id: str = msgspec.field(default="", name="_id")

    @property
    def key(self) -> str:
        return self.id or self.beir_id


@dataclass(frozen=True, slots=True)
class CollectionDocument:
    key: str
    title: str
    text: str

    @property
    def markdown(self) -> str:
        """The title as a heading, unless the text begins with it, then the text as it is."""
        heading = f"# {' '.join(self.title.split())}"
        if not self.title.strip() or self.text.lstrip().startswith(heading):
            return self.text
        return f"{heading}\n\n{self.text}"


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents in the corpus's order, and judged queries whose targets are document keys."""

    name: str
    documents: tuple[CollectionDocument, ...]
    queries: QuerySet


def read(folder: Path, *, queries: str = "queries.jsonl", judgements: str = "qrels.tsv") -> Collection:
    """Read a collection. Queries without a positive judgement are left out, as trec_eval does.

    Raises InvalidInput for a missing file, a line that does not parse, a repeated id, or a judgement of a
    document or query that does not exist; each with file and line.
    """
    documents = tuple(CollectionDocument(r.key, r.title, r.text) for r in _records(folder / "corpus.jsonl"))
    keys = {document.key for document in documents}
    texts = {record.key: record.text for record in _records(folder / queries)}
    judged = _judgements(folder / judgements, documents=keys)
    asked = tuple(EvalQuery(key, nfc(text), judged[key]) for key, text in texts.items() if key in judged)
    if not asked:
        raise InvalidInput(f"no query of {folder / queries} has a relevant document in {judgements}")
    return Collection(folder.resolve().name, documents, QuerySet(folder.resolve().name, asked))


def write_documents(collection: Collection, folder: Path) -> dict[str, str]:
    """Write each document as one Markdown file; returns path (relative, POSIX) → document key."""
    keys: dict[str, str] = {}
    for number, document in enumerate(collection.documents):
        path = f"{number // FILES_PER_FOLDER:03d}/{number:07d}.md"
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(document.markdown, encoding="utf-8", errors="surrogatepass", newline="\n")
        keys[path] = document.key
    return keys


def write_golden(collection: Collection, keys: Mapping[str, str], file: Path) -> None:
    """Write the collection's queries as a golden file over the folder that ``write_documents`` made.

    Grades are lost: a golden file says what should be found, not how much.
    """
    import yaml

    paths = {key: path for path, key in keys.items()}
    entries = [
        {
            "id": query.query_id,
            "query": query.text,
            "expect": {"paths": [paths[key] for key in query.targets]},
        }
        for query in collection.queries.queries
    ]
    text = yaml.safe_dump({"about": collection.name, "queries": entries}, allow_unicode=True, sort_keys=False)
    file.write_text(text, encoding="utf-8")


def _records(path: Path) -> Iterator[_Record]:
    seen: set[str] = set()
    decoder = msgspec.json.Decoder(_Record)
    for number, line in _lines(path):
        try:
            record = decoder.decode(line)
        except (msgspec.DecodeError, UnicodeError) as error:
            raise InvalidInput(f"{path}:{number}: {error}") from error
        if not record.key:
            raise InvalidInput(f"{path}:{number}: the record has no id")
        if record.key in seen:
            raise InvalidInput(f"{path}:{number}: the id {record.key!r} stands twice")
        seen.add(record.key)
        yield record


def _judgements(path: Path, *, documents: set[str]) -> dict[str, dict[str, int]]:
    judged: dict[str, dict[str, int]] = {}
    for number, line in _lines(path):
        query, document, grade = _judgement(line, at=f"{path}:{number}", header=number == 1)
        if grade <= 0:
            continue
        if document not in documents:
            raise InvalidInput(f"{path}:{number}: there is no document {document!r} in the corpus")
        judged.setdefault(query, {})[document] = grade
    return judged


def _judgement(line: str, *, at: str, header: bool) -> tuple[str, str, int]:
    fields = line.rstrip("\r\n").split("\t")
    # trec_eval's own form has a fourth column, the iteration, after the query.
    if len(fields) == 4:
        del fields[1]
    if len(fields) == 3:
        try:
            return fields[0], fields[1], int(fields[2])
        except ValueError:
            if header:
                return "", "", 0
    raise InvalidInput(
        f"{at}: expected query, document and a whole number, separated by tabs: {line.strip()!r}"
    )


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            yield from ((number, line) for number, line in enumerate(file, start=1) if line.strip())
    except OSError as error:
        raise InvalidInput(
            f"{path} cannot be read: {error.strerror}",
            hint="a collection is a folder with corpus.jsonl, queries.jsonl and qrels.tsv",
        ) from error
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8: {error}") from error
