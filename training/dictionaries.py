"""Makes training records from two bilingual dictionaries.

    python -m training.dictionaries cldr --en FOLDER --ko FOLDER --out cldr.jsonl.xz
    python -m training.dictionaries kedict --file kedict.yml [--avoid FILE.jsonl …] --out kedict.jsonl.xz

For cldr a folder holds annotations.json, territories.json, languages.json and currencies.json of one language
(Unicode CLDR's JSON release). `--avoid` names measurement files whose texts must not be trained on.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, str, str, str]
_NAMES = (("territories", "localeDisplayNames"), ("languages", "localeDisplayNames"))


def _main(folder: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / f"{name}.json").read_text("utf-8"))["main"]
    return next(iter(content.values()))


def cldr(english: Path, korean: Path) -> Iterator[Row]:
    """Yield emoji names with keywords, then names of places, languages and currencies."""
    left, right = (
        json.loads((folder / "annotations.json").read_text("utf-8"))["annotations"]["annotations"]
        for folder in (english, korean)
    )
    for sign, one in left.items():
        other = right.get(sign, {})
        if "tts" in one and "tts" in other:
            keywords = [", ".join(side.get("default", side["tts"])) for side in (one, other)]
            yield one["tts"][0], keywords[0], other["tts"][0], keywords[1]
    for name, group in _NAMES:
        names = [_main(folder, name)[group][name] for folder in (english, korean)]
        yield from (
            ("", names[0][key], "", names[1][key])
            for key in names[0]
            if key in names[1] and "-alt" not in key
        )
    moneys = [_main(folder, "currencies")["numbers"]["currencies"] for folder in (english, korean)]
    for key, money in moneys[0].items():
        if "displayName" in money and "displayName" in moneys[1].get(key, {}):
            yield "", money["displayName"], "", moneys[1][key]["displayName"]


def kedict(path: Path, *, avoid: frozenset[str]) -> Iterator[Row]:
    """Yield Korean words with their English glosses, and the example sentences with their translations."""
    import yaml

    for entry in yaml.load(path.read_text("utf-8"), yaml.CSafeLoader):
        senses = [sense for sense in entry.get("defs") or () if sense and sense.get("def")]
        rows = [(str(entry["word"]), "; ".join(sense["def"] for sense in senses))]
        for sense in senses:
            rows += [(use.get("example"), use.get("translation")) for use in sense.get("examples") or ()]
        for korean, english in rows:
            if korean and english and not {korean.strip(), english.strip()} & avoid:
                yield "", english, "", korean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dictionary", choices=("cldr", "kedict"))
    parser.add_argument("--en", type=Path)
    parser.add_argument("--ko", type=Path)
    parser.add_argument("--file", type=Path)
    parser.add_argument("--avoid", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    lines = (line for path in arguments.avoid for line in path.read_text("utf-8").splitlines())
    avoid = frozenset(json.loads(line)["text"].strip() for line in lines)
    if arguments.dictionary == "cldr":
        rows = list(cldr(arguments.en, arguments.ko))
    else:
        rows = list(kedict(arguments.file, avoid=avoid))
    with lzma.open(arguments.out, "wt", encoding="utf-8") as out:
        out.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    print(f"{arguments.out.name}: {len(rows)} records")


if __name__ == "__main__":
    main()
