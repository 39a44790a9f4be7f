"""Makes training records from scientific articles in JATS XML that are CC BY or CC0.

    python -m training.jats_pairs --xml FOLDER … --out papers.jsonl.xz --citations cited.jsonl.xz
        [--avoid corpus.jsonl …] [--trials FILE.csv]

Papers: a title finds its abstract and its plain-language digest, a one-sentence summary or the heading of a
result finds the abstract, a heading finds its section. Citations: a sentence that cites a work finds that
work's title, and its abstract where the work is among the articles. `--avoid` names measurement files:
articles and cited works with a title of theirs are left out. `--trials` names the prompts of Evidence
Inference, whose questions ("X affects Y compared with Z") find the trial's abstract.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import random
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

Element = ElementTree.Element
Row = tuple[str, str, str, str]
T = TypeVar("T")

_FREE = re.compile(r"creativecommons\.org/(licenses/by/|publicdomain/zero/)")
_BOUND = re.compile(r"creativecommons\.org/licenses/by-")
_LINK = "{http://www.w3.org/1999/xlink}href"
_SKIPPED = {
    "table-wrap",
    "fig",
    "fig-group",
    "disp-formula",
    "inline-formula",
    "tex-math",
    "supplementary-material",
}
_DIGESTS = {"executive-summary", "plain-language-summary"}
_SUMMARIES = {"teaser", "toc"}
_MARK = re.compile(r"\x00(.*?)\x00")
_EMPTY = re.compile(r"\(\s*(?:e\.g\.|see|reviewed in|and|;|,|\s)*\s*\)|\[[\s,;–-]*\]")
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_SECTIONS, _FINDINGS, _CITATIONS, _LONGEST = 3, 3, 6, 800


@dataclass(frozen=True, slots=True)
class Article:
    """What is used of one article; `citations` are (sentence, cited title, cited DOI)."""

    doi: str
    number: str
    title: str
    abstract: str
    rows: list[Row] = field(default_factory=list)
    citations: list[tuple[str, str, str]] = field(default_factory=list)


def key(title: str) -> str:
    """Return a title as it is compared: lower-case letters and digits."""
    return re.sub(r"[^a-z0-9]+", "", title.lower())


def text(element: Element | None, *, marks: bool = False) -> str:
    """Return running text without figures, tables and citations; `marks` keeps citations as NUL id NUL."""
    if element is None:
        return ""
    found = "".join(_parts(element, marks=marks))
    return " ".join(_EMPTY.sub(" ", found).replace(" .", ".").replace(" ,", ",").split())


def _parts(element: Element, *, marks: bool) -> Iterator[str]:
    if element.tag == "xref" and element.get("ref-type") == "bibr":
        yield f"\x00{element.get('rid', '')}\x00" if marks else ""
    elif element.tag not in _SKIPPED:
        yield element.text or ""
        for child in element:
            yield from _parts(child, marks=marks)
            yield child.tail or ""
        yield " " if element.tag in ("p", "title", "sec") else ""


def is_free(article: Element) -> bool:
    """Say whether the licence is CC BY or CC0 and no narrower one is named."""
    licences = list(article.iter("license"))
    links = (part.get(_LINK, "") for licence in licences for part in licence.iter())
    named = " ".join([*links, *(words for licence in licences for words in licence.itertext())])
    return bool(_FREE.search(named)) and not _BOUND.search(named)


def cut(body: str) -> str:
    """Return the first sentences, about `_LONGEST` characters."""
    if len(body) <= _LONGEST:
        return body
    return body[: body.rfind(". ", 0, _LONGEST) + 1 or _LONGEST]


def sections(body: Element) -> Iterator[tuple[str, str]]:
    """Yield headings of three words or more with the text right under them."""
    for section in body.iter("sec"):
        heading = text(section.find("title"))
        under = " ".join(text(part) for part in section.findall("p"))
        if len(heading.split()) >= 3 and len(under) >= 200:
            yield heading, cut(under)


def citations(article: Element, body: Element) -> Iterator[tuple[str, str, str]]:
    """Yield sentences that cite one or two works, with each work's title and DOI."""
    works = {}
    for ref in article.iter("ref"):
        doi = next((text(item) for item in ref.iter("pub-id") if item.get("pub-id-type") == "doi"), "")
        works[ref.get("id", "")] = (text(next(ref.iter("article-title"), None)), doi.lower())
    for paragraph in body.iter("p"):
        for sentence in _SENTENCE_END.split(text(paragraph, marks=True)):
            cited = set(_MARK.findall(sentence))
            plain = " ".join(_EMPTY.sub(" ", _MARK.sub("", sentence)).replace(" .", ".").split())
            if 1 <= len(cited) <= 2 and 50 <= len(plain) <= 400:
                for name in sorted(cited):
                    title, doi = works.get(name, ("", ""))
                    if len(title.split()) >= 4:
                        yield plain, title, doi


def read(path: Path, *, avoid: frozenset[str]) -> Article | None:
    """Return what is used of an article; None where it is not free, has no abstract, or must be avoided."""
    try:
        article = ElementTree.parse(path).getroot()
    except ElementTree.ParseError:
        return None
    front, body = article.find("front"), article.find("body")
    if front is None or not is_free(front):
        return None
    title = text(front.find(".//title-group/article-title"))
    abstracts = {item.get("abstract-type", ""): text(item) for item in front.iter("abstract")}
    abstract = abstracts.get("", "")
    if len(abstract) < 200 or key(title) in avoid:
        return None
    ids = {item.get("pub-id-type"): text(item) for item in front.iter("article-id")}
    made = Article(ids.get("doi", "").lower(), path.stem.removeprefix("PMC"), title, abstract)
    made.rows.append((title, abstract, "", ""))
    made.rows.extend((title, abstracts[kind], "", "") for kind in _DIGESTS & abstracts.keys())
    made.rows.extend((abstracts[kind], abstract, "", "") for kind in _SUMMARIES & abstracts.keys())
    if body is not None:
        _read_body(made, article, body, avoid=avoid)
    return made


def _read_body(made: Article, article: Element, body: Element, *, avoid: frozenset[str]) -> None:
    chance = random.Random(made.title)
    found = list(sections(body))
    made.rows.extend((heading, under, "", "") for heading, under in some(found, _SECTIONS, chance))
    findings = [heading for heading, _ in found if len(heading.split()) >= 6]
    made.rows.extend((heading, made.abstract, "", "") for heading in some(findings, _FINDINGS, chance))
    cited = [item for item in citations(article, body) if key(item[1]) not in avoid]
    made.citations.extend(item for item in cited if "elife." in item[2])
    made.citations.extend(some([item for item in cited if "elife." not in item[2]], _CITATIONS, chance))


def some(items: list[T], most: int, chance: random.Random) -> list[T]:
    """Return at most so many of the items."""
    return items if len(items) <= most else chance.sample(items, most)


def cited_rows(articles: Iterable[Article]) -> list[Row]:
    """Return citing sentences with the cited work, those of one work together."""
    articles = list(articles)
    known = {article.doi: article for article in articles if article.doi}
    rows = set()
    for article in articles:
        for sentence, title, doi in article.citations:
            abstract = known[doi].abstract if doi in known else ""
            rows.add((sentence, f"{title}. {abstract}".strip(), "", ""))
    return sorted(rows, key=lambda row: (row[1], row[0]))


def trial_rows(prompts: Path, articles: Iterable[Article]) -> Iterator[Row]:
    """Yield the questions of Evidence Inference, each with the abstract of its trial."""
    abstracts = {article.number: article.abstract for article in articles}
    with prompts.open(encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            if row["PMCID"] in abstracts:
                asked = f"{row['Intervention']} affects {row['Outcome']} compared with {row['Comparator']}"
                yield " ".join(asked.split()), abstracts[row["PMCID"]], "", ""


def write(path: Path, rows: list[Row]) -> None:
    """Write one record a line."""
    with lzma.open(path, "wt", encoding="utf-8", preset=9) as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{path.name}: {len(rows)} records")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--xml", type=Path, nargs="+", required=True)
    parser.add_argument("--avoid", type=Path, nargs="*", default=[])
    parser.add_argument("--trials", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--citations", type=Path, required=True)
    arguments = parser.parse_args()
    lines = (line for path in arguments.avoid for line in path.read_text("utf-8").splitlines())
    avoid = frozenset(key(json.loads(line)["title"]) for line in lines)
    paths = sorted(
        path for folder in arguments.xml for path in folder.iterdir() if path.suffix in (".xml", ".nxml")
    )
    with Pool() as pool:
        articles = [made for made in pool.imap(partial(read, avoid=avoid), paths, chunksize=32) if made]
    rows = [row for article in articles for row in article.rows]
    if arguments.trials:
        rows += trial_rows(arguments.trials, articles)
    print(f"{len(articles)} of {len(paths)} articles")
    write(arguments.out, rows)
    write(arguments.citations, cited_rows(articles))


if __name__ == "__main__":
    main()
