"""Which terms should a text become? nDCG@10 and speed of analyzers on one BM25 engine, as Markdown tables.

    python benchmarks/analysis.py --data ../shared/data

The engine is the product's (tantivy, k1 1.2, b 0.75, whitespace tokenizer), the analyzer alone changes.
Needs `ir_measures`; `python-mecab-ko` and `kiwipiepy` are peers, and are left out where not installed.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import random
import re
import statistics
import tarfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
import Stemmer
import tantivy

from kebab.search.analyze import Analyzer

Terms = Callable[[str], list[str]]
Asked = Callable[[str], list[str] | dict[str, float]]

CHOSEN = "**kebab**"
WORD = re.compile(r"\w+")
RUN = re.compile(r"[가-힣]+|[^\W가-힣]+")
HANGUL = re.compile(r"[가-힣]+")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.MULTILINE)
# Particles, longest first: the naive stripper that a list of endings can be.
PARTICLE = re.compile(
    r"(?<=[가-힣])(?:에서는|에게서|으로서|으로써|이라고|에서|에게|으로|까지|부터|처럼|보다|이나|라는|라고"
    r"|은|는|이|가|을|를|의|에|도|만|로|와|과|나)$"
)
# The 33 words of Lucene's English list.
STOP_WORD = re.compile(
    "a|an|and|are|as|at|be|but|by|for|if|in|into|is|it|no|not|of|on|or|such|that|the|their|then|there"
    "|these|they|this|to|was|will|with"
)


@dataclass(frozen=True, slots=True)
class Collection:
    """Texts with queries and judgements; `titles` stand apart so that their use can be measured."""

    name: str
    titles: dict[str, str]
    texts: dict[str, str]
    queries: dict[str, str]
    qrels: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Variant:
    """A way to make terms of a text (`index`) and of a query (`query`, the same unless told).

    A query may also say what each term counts.
    """

    name: str
    index: Terms
    query: Asked | None = None
    titles: int = 1


def read_beir(folder: Path) -> Collection:
    """A BEIR folder; graded judgements where there are any."""
    corpus = [json.loads(line) for line in (folder / "corpus.jsonl").open(encoding="utf-8")]
    queries = [json.loads(line) for line in (folder / "queries.jsonl").open(encoding="utf-8")]
    graded = folder / "qrels_graded.tsv"
    lines = (graded if graded.exists() else folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]
    return Collection(
        folder.name,
        {doc["id"]: doc["title"] for doc in corpus},
        {doc["id"]: doc["text"] for doc in corpus},
        {query["id"]: query["text"] for query in queries},
        tuple((q, d, int(score)) for q, d, score in (line.split("\t") for line in lines)),
    )


def read_book(folder: Path) -> Collection:
    """Pages without their headings; each Korean heading must find the pages it was taken from."""
    pages = {page.name: page.read_text(encoding="utf-8") for page in sorted(folder.glob("*.md"))}
    pages.pop("SUMMARY.md")
    found: dict[str, set[str]] = {}
    for name, page in pages.items():
        for heading in HEADING.findall(page):
            if len("".join(HANGUL.findall(heading))) > 1:
                found.setdefault(heading, set()).add(name)
    queries = {f"q{number}": heading for number, heading in enumerate(sorted(found))}
    qrels = tuple((q, page, 1) for q, heading in queries.items() for page in sorted(found[heading]))
    texts = {name: HEADING.sub("", page) for name, page in pages.items()}
    return Collection("rust-book/ko", dict.fromkeys(texts, ""), texts, queries, qrels)


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


@functools.lru_cache(maxsize=8)
def stemmer(language: str) -> Callable[[list[str]], list[str]]:
    stem: Callable[[list[str]], list[str]] = Stemmer.Stemmer(language).stemWords
    return stem


def stemmed(text: str, *, language: str = "english") -> list[str]:
    return stemmer(language)(words(text))


def unstopped(text: str) -> list[str]:
    return stemmer("english")([word for word in words(text) if not STOP_WORD.fullmatch(word)])


def stripped(text: str) -> list[str]:
    return [PARTICLE.sub("", word) for word in stemmed(text)]


def grams(text: str, *, sizes: tuple[int, ...]) -> list[str]:
    """Character n-grams of Hangul runs (a run shorter than every n stays whole), stems of other words."""
    terms: list[str] = []
    for run in RUN.findall(text.lower()):
        if not HANGUL.match(run):
            terms.extend(stemmer("english")([run]))
        elif len(run) < min(sizes):
            terms.append(run)
        else:
            terms.extend(run[i : i + n] for n in sizes for i in range(len(run) - n + 1))
    return terms


def joined(*parts: Terms) -> Terms:
    return lambda text: [term for part in parts for term in part(text)]


def hangul_of(part: Terms) -> Terms:
    """Only the terms with Hangul: what is added to another analysis without doubling its Latin words."""
    return lambda text: [term for term in part(text) if HANGUL.search(term)]


def mecab(*, content: bool) -> Terms:
    from mecab import MeCab

    tagger = MeCab()

    def terms(text: str) -> list[str]:
        found = [(form.lower(), tag) for form, tag in tagger.pos(text) if WORD.search(form)]
        kept = [form for form, tag in found if not content or tag[0] not in "JEX"]
        return stemmer("english")([word for form in kept for word in WORD.findall(form)])

    return terms


def kiwi(*, content: bool) -> Terms:
    from kiwipiepy import Kiwi

    tagger: Any = Kiwi()

    def terms(text: str) -> list[str]:
        found = [(token.form.lower(), token.tag) for token in tagger.tokenize(text)]
        kept = [form for form, tag in found if not content or tag[0] not in "JEX"]
        return stemmer("english")([word for form in kept for word in WORD.findall(form)])

    return terms


def queries_stripped(analyzer: Analyzer) -> Terms:
    return lambda text: analyzer.query_terms(" ".join(PARTICLE.sub("", word) for word in WORD.findall(text)))


def kebab(name: str, *, titles: int = 1) -> Variant:
    """The product's analyzer, with an empty memory: speeds are those of a first run."""
    analyzer = Analyzer()
    return Variant(name, analyzer.terms, analyzer.query_weights, titles)


def korean_variants() -> list[Variant]:
    bigrams = functools.partial(grams, sizes=(2,))
    both = functools.partial(grams, sizes=(1, 2))
    analyzer = Analyzer()
    variants = [
        Variant("words, stemmed", stemmed),
        Variant("words, particles stripped by list", stripped),
        Variant("bigrams", bigrams),
        Variant("bigrams + trigrams", functools.partial(grams, sizes=(2, 3))),
        Variant("unigrams + bigrams", both),
        Variant("unigrams + bigrams, query bigrams", both, bigrams),
        Variant("words + bigrams", joined(hangul_of(words), bigrams)),
        Variant("words stripped + bigrams", joined(hangul_of(stripped), bigrams)),
        Variant("kebab, query particles stripped", analyzer.terms, queries_stripped(analyzer)),
        Variant("kebab, query pairs count alike", analyzer.terms, analyzer.query_terms),
        Variant("kebab, all terms in the query", Analyzer().terms),
        kebab(CHOSEN),
    ]
    for module, tagger in (("mecab", mecab), ("kiwipiepy", kiwi)):
        if importlib.util.find_spec(module):
            morphemes, content = tagger(content=False), tagger(content=True)
            variants += [
                Variant(f"{module} morphemes", morphemes),
                Variant(f"{module}, no particles and endings", content),
                Variant(f"{module}, no particles and endings + bigrams", joined(hangul_of(content), bigrams)),
            ]
    return variants


def english_variants() -> list[Variant]:
    return [
        Variant("words", words),
        Variant("Porter stems", functools.partial(stemmed, language="porter")),
        Variant("Snowball English stems", stemmed),
        Variant("Snowball English stems, no stop words", unstopped),
        Variant("Snowball English stems, no stop words in the query", stemmed, unstopped),
        kebab(CHOSEN),
        kebab("kebab, without the title", titles=0),
        kebab("kebab, title twice", titles=2),
        kebab("kebab, title three times", titles=3),
    ]


def build(documents: Iterable[tuple[str, str]]) -> tuple[tantivy.Index, tantivy.Schema]:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw")
    builder.add_text_field("text", tokenizer_name="whitespace", index_option="freq")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(heap_size=100_000_000, num_threads=1)
    for name, terms in documents:
        writer.add_document(tantivy.Document(id=name, text=terms))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    return index, schema


@dataclass(frozen=True, slots=True)
class Measured:
    """nDCG@10 of each query, megabytes of UTF-8 analysed in a CPU-second, and the number of terms made."""

    scores: dict[str, float]
    rate: float
    terms: int


def measure(variant: Variant, collection: Collection) -> Measured:
    texts = [
        (name, "\n".join([*[collection.titles[name]] * variant.titles, text]))
        for name, text in collection.texts.items()
    ]
    variant.index(texts[0][1][:100])  # loads what is lazy
    start = time.process_time()
    analysed = [(name, variant.index(text)) for name, text in texts]
    seconds = time.process_time() - start
    index, schema = build((name, " ".join(terms)) for name, terms in analysed)
    run = [hit for item in collection.queries.items() for hit in search(index, schema, variant, *item)]
    qrels = [ir_measures.Qrel(*judgement) for judgement in collection.qrels]
    found = ir_measures.iter_calc([ir_measures.nDCG @ 10], qrels, run)
    size = sum(len(text.encode()) for _, text in texts)
    return Measured(
        {metric.query_id: metric.value for metric in found},
        size / 1e6 / seconds,
        sum(len(terms) for _, terms in analysed),
    )


def difference(one: Measured, other: Measured) -> str:
    """The 95 % interval of the mean difference, by paired bootstrap over the queries."""
    gaps = [score - other.scores[query] for query, score in one.scores.items()]
    draw = random.Random(0)
    means = sorted(statistics.fmean(draw.choices(gaps, k=len(gaps))) for _ in range(2000))
    return f"{means[50]:+.3f} … {means[1949]:+.3f}"


def search(
    index: tantivy.Index, schema: tantivy.Schema, variant: Variant, query_id: str, text: str
) -> list[ir_measures.ScoredDoc]:
    searcher = index.searcher()
    asked = (variant.query or variant.index)(text)
    weights = asked if isinstance(asked, dict) else dict.fromkeys(asked, 1.0)
    clauses = [
        (
            tantivy.Occur.Should,
            tantivy.Query.boost_query(tantivy.Query.term_query(schema, "text", term), weight),
        )
        for term, weight in weights.items()
    ]
    hits = searcher.search(tantivy.Query.boolean_query(clauses), 10).hits
    return [ir_measures.ScoredDoc(query_id, searcher.doc(place)["id"][0], score) for score, place in hits]


def print_table(variants: list[Variant], collections: list[Collection]) -> None:
    chosen = next(variant for variant in variants if variant.name == CHOSEN)
    yardsticks = [measure(chosen, collection) for collection in collections]
    print("| analysis | " + " | ".join(f"{c.name} | less kebab | MB/s | k terms" for c in collections) + " |")
    print("|---|" + "---|" * 4 * len(collections))
    for variant in variants:
        cells = []
        for collection, yardstick in zip(collections, yardsticks, strict=True):
            found = yardstick if variant is chosen else measure(variant, collection)
            apart = "" if variant is chosen else difference(found, yardstick)
            score = statistics.fmean(found.scores.values())
            cells.append(f"{score:.4f} | {apart} | {found.rate:.1f} | {found.terms / 1000:.0f}")
        print(f"| {variant.name} | " + " | ".join(cells) + " |", flush=True)


def print_speed(sources: dict[str, list[str]]) -> None:
    """Best of three runs, each with an analyzer that has seen nothing yet."""
    print("| text | MB | MB/s |\n|---|---|---|")
    for name, texts in sources.items():
        size = sum(len(text.encode()) for text in texts) / 1e6
        seconds = min(timed(Analyzer(), texts) for _ in range(3))
        print(f"| {name} | {size:.1f} | {size / seconds:.1f} |")


def timed(analyzer: Analyzer, texts: list[str]) -> float:
    analyzer.index_text("loads the stemmer")
    start = time.process_time()
    for text in texts:
        analyzer.index_text(text)
    return time.process_time() - start


def markdown_in(archive: Path) -> list[str]:
    with tarfile.open(archive) as tar:
        files = [tar.extractfile(member) for member in tar if member.isfile() and member.name.endswith(".md")]
        return [file.read().decode("utf-8", "replace") for file in files if file]


def speed_sources(data: Path) -> dict[str, list[str]]:
    books = {f"rust-book/{lang}": sorted((data / "rust-book" / lang).glob("*.md")) for lang in ("en", "ko")}
    return {
        **{name: [page.read_text(encoding="utf-8") for page in pages] for name, pages in books.items()},
        **{name: markdown_in(data / f"{name}.tar.gz") for name in ("notes-en-nikita", "notes-ko-johngrib")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of collections")
    parser.add_argument("--only", choices=("korean", "english", "speed"), help="one table")
    arguments = parser.parse_args()
    data = arguments.data
    if arguments.only in (None, "korean"):
        print_table(korean_variants(), [read_beir(data / "autorag-ko"), read_book(data / "rust-book" / "ko")])
        print()
    if arguments.only in (None, "english"):
        print_table(english_variants(), [read_beir(data / "scifact"), read_beir(data / "cranfield")])
        print()
    if arguments.only in (None, "speed"):
        print_speed(speed_sources(data))


if __name__ == "__main__":
    main()
