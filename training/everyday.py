"""Makes training records of everyday words and sentences, English and Korean.

    python -m training.everyday --trees FOLDER --out FOLDER [--avoid FILE.jsonl ...] [NAME ...]

FOLDER of `--trees` holds the sources, each under the name of its repository: training/README.md lists them,
the model card the snapshots that version 3 was made from. `--avoid` names measurement files whose texts must
not be trained on. Without a NAME all sources are made. Those of one language each are in `paraphrases.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from training.paraphrases import english_paraphrases, korean_paraphrases, questions
from training.records import Row, measured, write

Texts = dict[str, str]

_HANGUL = re.compile(r"[가-힣]")
_HANJA = re.compile(r"[一-鿿]")
_PARTS_OF_SPEECH = (("n", "noun"), ("v", "verb"), ("a", "adj"), ("r", "adv"))
_WIKTIONARY_LINE = re.compile(r"(.+?) \{[^}]*\}(?: \((.*?)\))? ?(?:\[[^\]]*\] )?:: (.+)$")
_ASIDE = re.compile(r"/[^/]*/|\([^()]*\)|\[[^\]]*\]|\{[^}]*\}")
_MARKUP = re.compile(r"%(\d\$)?[-,.\d]*[sdf]|\\[nu\"'@]\w{0,4}|<[^>]+>|\{[^}]*\}")
_APPS = (
    "android_packages_apps_Contacts",
    "android_packages_apps_DeskClock",
    "android_packages_apps_Dialer",
    "android_packages_apps_Messaging",
    "android_packages_apps_Settings",
    "apps-android-wikipedia",
)


def wiktionary(trees: Path) -> Iterator[Row]:
    """Korean translations in English Wiktionary: open-dsl-dict/wiktionary-dict, CC BY-SA 3.0."""
    path = trees / "wiktionary-dict/src/en-ko-enwiktionary.txt"
    for line in path.read_text("utf-8").splitlines():
        if found := _WIKTIONARY_LINE.match(line):
            word, gloss, translation = found.groups()
            korean = [part.strip() for part in re.split(r"[,;]", _ASIDE.sub("", translation))]
            korean = [part for part in korean if _HANGUL.search(part) and not _HANJA.search(part)]
            if korean:
                yield word, f"{word}. {gloss}" if gloss else word, korean[0], ", ".join(korean)


def wordnet_korean(trees: Path) -> Iterator[Row]:
    """Korean words of WordNet 3.0's meanings: omwn/omw-data.

    Wiktionary's words are under CC BY-SA 3.0, CLDR's under Unicode's licence, WordNet under its own.
    """
    meanings = dict(_meanings(trees / "wordnet-3.0/dict"))
    korean: dict[str, list[str]] = {}
    for part in ("wikt", "cldr"):
        for line in (trees / f"omw-data/wns/{part}/wn-{part}-kor.tab").read_text("utf-8").splitlines():
            cells = line.split("\t")
            if len(cells) >= 3 and _HANGUL.search(cells[2]) and not _HANJA.search(cells[2]):
                korean.setdefault(cells[0].replace("-s", "-a"), []).append(cells[2])
    for meaning, said in korean.items():
        if meaning in meanings:
            words, gloss = meanings[meaning]
            unique = list(dict.fromkeys(said))
            yield ", ".join(words), f"{', '.join(words)}. {gloss}", unique[0], ", ".join(unique)


def _meanings(folder: Path) -> Iterator[tuple[str, tuple[list[str], str]]]:
    """Yield each meaning of WordNet's files with its words and the first part of its gloss."""
    for letter, name in _PARTS_OF_SPEECH:
        for line in (folder / f"data.{name}").read_text("utf-8").splitlines():
            if not line.startswith(" "):
                cells, _, gloss = line.partition(" | ")
                parts = cells.split()
                words = parts[4 : 4 + 2 * int(parts[3], 16) : 2]
                named = [word.replace("_", " ").split("(")[0] for word in words]
                yield f"{parts[0]}-{letter}", (named, gloss.strip().split(";")[0])


def shopify(trees: Path) -> Iterator[Row]:
    """Kinds of goods and what is said of them: Shopify/product-taxonomy, MIT."""
    folder = trees / "product-taxonomy/data/localizations"
    english, korean = (_taxonomy(folder / "categories", language) for language in ("en", "ko"))
    for key in english:
        if key in korean:
            left, right = _path(english, key), _path(korean, key)
            yield left[-1], " > ".join(left[:-4:-1]), right[-1], " > ".join(right[:-4:-1])
    english, korean = (_taxonomy(folder / "attributes", language) for language in ("en", "ko"))
    for key in english:
        if key in korean:
            one, other = english[key], korean[key]
            texts = [side.get("description") or side["name"] for side in (one, other)]
            yield one["name"], texts[0], other["name"], texts[1]


def _taxonomy(folder: Path, language: str) -> dict[str, Any]:
    import yaml

    content: Any = yaml.load((folder / f"{language}.yml").read_text("utf-8"), yaml.CSafeLoader)
    entries: dict[str, Any] = next(iter(content.values()))[folder.name]
    return entries


def _path(categories: dict[str, Any], key: str) -> list[str]:
    """Return the names from the widest category down to this one."""
    parts = key.split("-")
    keys = ("-".join(parts[:length]) for length in range(1, len(parts) + 1))
    return [str(categories[one]["name"]) for one in keys if one in categories]


def places(trees: Path) -> Iterator[Row]:
    """What a map shows, with other words for it: openstreetmap/id-tagging-schema, ISC."""
    folder = trees / "id-tagging-schema/dist/translations"
    english, korean = (_presets(folder / f"{language}.json") for language in ("en", "ko"))
    for group, entries in english.items():
        for key, entry in entries.items():
            other = korean.get(group, {}).get(key)
            if other:
                yield from _place(entry, other)


def _presets(path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    presets: dict[str, dict[str, dict[str, Any]]] = next(iter(json.loads(path.read_text("utf-8")).values()))[
        "presets"
    ]
    return presets


def _place(english: dict[str, Any], korean: dict[str, Any]) -> Iterator[Row]:
    if "name" in english and "name" in korean:
        left, right = (f"{side['name']}, {_terms(side)}".strip(", ") for side in (english, korean))
        yield english["name"], left, korean["name"], right
    if "label" in english and "label" in korean:
        yield "", english["label"], "", korean["label"]
        for key, option in (english.get("options") or {}).items():
            said = _option((korean.get("options") or {}).get(key))
            if _HANGUL.search(said):
                yield "", f"{english['label']} {_option(option)}", "", f"{korean['label']} {said}"


def _terms(entry: dict[str, Any]) -> str:
    terms = entry.get("terms") or ""
    return terms if isinstance(terms, str) else ", ".join(terms)


def _option(option: object) -> str:
    if isinstance(option, dict):
        return f"{option.get('title', '')} {option.get('description', '')}"
    return option if isinstance(option, str) else ""


def android(trees: Path) -> Iterator[Row]:
    """What a telephone's screens say: five apps of LineageOS and Wikipedia for Android, Apache-2.0."""
    for app in _APPS:
        for korean in sorted((trees / app).rglob("values-ko/*.xml")):
            english = korean.parent.parent / "values" / korean.name
            if english.is_file():
                yield from _screens(_strings(english), _strings(korean))


def _screens(english: Texts, korean: Texts) -> Iterator[Row]:
    for key, text in english.items():
        left, right = _plain(text), _plain(korean.get(key, ""))
        if _HANGUL.search(right) and re.search("[a-z]", left) and len(left) > 2:
            yield "", left, "", right


def _strings(path: Path) -> Texts:
    """Return the texts of a resource file by name; those of plurals and lists by name and place."""
    found: Texts = {}
    for element in ET.parse(path).getroot():
        name = element.get("name", "")
        if element.tag == "string":
            found[name] = "".join(element.itertext())
        elif element.tag in ("plurals", "string-array"):
            for place, item in enumerate(element):
                found[f"{name}/{item.get('quantity', place)}"] = "".join(item.itertext())
    return found


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(" ", text).replace("\\", "").strip('" ').split())


SOURCES: dict[str, Callable[[Path], Iterator[Row]]] = {
    "enwikt": wiktionary,
    "wnko": wordnet_korean,
    "shopify": shopify,
    "osm": places,
    "android": android,
    "kopara": korean_paraphrases,
    "enpara": english_paraphrases,
    "cooking": questions,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(SOURCES))
    parser.add_argument("--trees", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--avoid", type=Path, nargs="*", default=[])
    options = parser.parse_args(arguments)
    avoid = measured(options.avoid)
    for name in options.names or SOURCES:
        count = write(options.out / f"{name}.jsonl.xz", SOURCES[name](options.trees), avoid=avoid)
        print(f"{name}: {count} records")


if __name__ == "__main__":
    main()
