"""Everyday sentences of one language that say the same, and everyday questions with what they are about.

One function a source or a small family of sources; `everyday.py` is the command that writes the records.
"""

from __future__ import annotations

import csv
import html
import io
import json
import random
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from training.records import Row

_SEED = 7
_TAG = re.compile(r"<[^>]+>")
_LONGEST_QUESTION = 1500
_INTENT = 6
"""How many utterances of one intent make a text."""
_GROUP = 10
"""How many ways of saying a thing stand together in ParaKQC."""
_LONG_ANSWER = 14
"""Characters from which on an answer of the chatbot says what its question was about."""


def korean_paraphrases(trees: Path) -> Iterator[Row]:
    """Yield Korean sentences, each with another way to say it.

    warnikchow/paraKQC, cynthia/stylekqc and warnikchow/sae4k, CC BY-SA 4.0; songys/Question_pair and
    songys/Chatbot_data, MIT.
    """
    chance = random.Random(_SEED)
    asked = [cells[2] for cells in _table(trees / "paraKQC/data/paraKQC_v1.txt") if len(cells) == 3]
    groups = [asked[start : start + _GROUP] for start in range(0, len(asked), _GROUP)]
    for pairs in (
        _ring(groups, chance),
        ((cells[1], cells[2]) for cells in _table(trees / "stylekqc/sts/dev.tsv") if cells[0] == "1"),
        ((cells[0], cells[1]) for cells in _table(trees / "sae4k/data/sae4k_v1.txt") if len(cells) >= 2),
        _question_pairs(trees / "Question_pair/kor_pair_train.csv"),
        _chatbot(trees / "Chatbot_data/ChatbotData.csv", chance),
    ):
        yield from (("", "", one, other) for one, other in pairs)


def _question_pairs(path: Path) -> Iterator[tuple[str, str]]:
    for row in _rows(path.read_text("utf-8-sig")):
        if row["is_duplicate"] == "0":  # which means: the same question
            yield row["question1"], row["question2"]


def _chatbot(path: Path, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield everyday questions with long answers, and questions that have the same answer."""
    asked: dict[str, list[str]] = defaultdict(list)
    for row in _rows(path.read_text("utf-8-sig")):
        asked[row["A"]].append(row["Q"])
        if row["label"] == "0" and len(row["A"]) > _LONG_ANSWER:
            yield row["Q"], row["A"]
    yield from _ring((group for group in asked.values() if 2 <= len(group) <= 6), chance)


def english_paraphrases(trees: Path) -> Iterator[Row]:
    """Yield English sentences with another way to say it, intents with utterances, and synonyms.

    StyleKQC's English translation in warnikchow/kosp2e, CC BY-SA 4.0; clinc/oos-eval, CC BY 3.0;
    PolyAI-LDN/task-specific-datasets (banking), CC BY 4.0; PPDB synonyms (CC BY 3.0) of
    nmrksic/counter-fitting, Apache-2.0.
    """
    chance = random.Random(_SEED)
    sheet = (trees / "kosp2e/split/stylekqc_train.xlsx").read_bytes()
    yield from ((one, other, "", "") for one, other in _ring(_translated(sheet), chance))
    for intent, utterances in _intents(trees):
        chance.shuffle(utterances)
        for start in range(0, len(utterances), _INTENT):
            said = (utterance.rstrip(".?! ") for utterance in utterances[start : start + _INTENT])
            yield intent, ". ".join(said) + ".", "", ""
    synonyms = trees / "counter-fitting/linguistic_constraints/ppdb_synonyms.txt"
    for line in synonyms.read_text("utf-8").splitlines():
        words = line.split()
        if len(words) == 2:
            yield words[0], words[1], "", ""


def _translated(sheet: bytes) -> Iterable[list[str]]:
    """Return the groups of a sheet whose second column is GROUP_NUMBER and whose third is a sentence."""
    from python_calamine import CalamineWorkbook

    groups: dict[str, list[str]] = defaultdict(list)
    for cells in CalamineWorkbook.from_filelike(io.BytesIO(sheet)).get_sheet_by_index(0).to_python():
        group, _, number = str(cells[1]).partition("_")
        if number:
            groups[group].append(str(cells[2]))
    return groups.values()


def _intents(trees: Path) -> Iterator[tuple[str, list[str]]]:
    said: dict[str, list[str]] = defaultdict(list)
    spoken = json.loads((trees / "oos-eval/data/data_full.json").read_text("utf-8"))
    for part in ("train", "val", "test"):
        for utterance, intent in spoken[part]:
            said[intent.replace("_", " ")].append(utterance)
    banking = trees / "task-specific-datasets/banking_data/train.csv"
    for row in _rows(banking.read_text("utf-8-sig")):
        said["bank " + row["category"].replace("_", " ")].append(row["text"])
    yield from said.items()


def questions(trees: Path) -> Iterator[Row]:
    """Yield questions of Stack Exchange's Cooking and Travel, title and text, CC BY-SA 3.0.

    From Anurags2111/Kaggle-Transfer-Learning-on-Stack-Exchange-Tags (cooking) and
    mike-camp/stack-exchange-data-analysis (travel); both took them from Stack Exchange's data dump.
    """
    packed = trees / "Kaggle-Transfer-Learning-on-Stack-Exchange-Tags/data/cooking.csv.zip"
    with zipfile.ZipFile(packed) as archive:
        cooking = archive.read("cooking.csv").decode("utf-8-sig")
    travel = (trees / "stack-exchange-data-analysis/data/travel.csv").read_text("utf-8-sig")
    for text in (cooking, travel):
        for row in _rows(text):
            yield row["title"], html.unescape(_TAG.sub(" ", row["content"]))[:_LONGEST_QUESTION], "", ""


def _ring(groups: Iterable[Sequence[str]], chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield each sentence of a group with one other of it."""
    for group in groups:
        ring = list(dict.fromkeys(group))
        if len(ring) > 1:
            chance.shuffle(ring)
            yield from zip(ring, [*ring[1:], ring[0]], strict=True)


def _table(path: Path) -> Iterator[list[str]]:
    for line in path.read_text("utf-8-sig").splitlines():
        yield line.split("\t")


def _rows(text: str) -> Iterator[dict[str, str]]:
    return iter(csv.DictReader(io.StringIO(text)))
