"""Records made of everyday sources: each source in the form in which it is published, a few lines of it."""

from __future__ import annotations

import json
import lzma
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.document_files import xlsx_file
from training.everyday import android, main, places, shopify, wiktionary, wordnet_korean
from training.paraphrases import english_paraphrases, korean_paraphrases, questions
from training.records import Record, read, write
from training.thin import thin


def laid(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files into a folder and return it."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def test_a_dictionary_gives_the_word_with_its_meaning_and_its_translations_without_asides(
    tmp_path: Path,
) -> None:
    lines = "deposit {n} (money paid in advance) :: 보증금 /bojeunggeum/, 예금 (bank)\nalas {interj} :: ah\n"
    trees = laid(tmp_path, {"wiktionary-dict/src/en-ko-enwiktionary.txt": lines})
    assert list(wiktionary(trees)) == [
        ("deposit", "deposit. money paid in advance", "보증금", "보증금, 예금")
    ]


def test_a_word_of_wordnet_gets_the_korean_words_of_its_meaning(tmp_path: Path) -> None:
    noun = "  1 licence\n00001740 03 n 02 rent 0 house_rent 0 000 | what is paid; monthly\n"
    trees = laid(
        tmp_path,
        {f"wordnet-3.0/dict/data.{name}": "" for name in ("verb", "adj", "adv")}
        | {
            "wordnet-3.0/dict/data.noun": noun,
            "omw-data/wns/wikt/wn-wikt-kor.tab": "# head\n00001740-n\tkor:lemma\t월세\n",
            "omw-data/wns/cldr/wn-cldr-kor.tab": "00001740-n\tkor:lemma\t월세\n00009999-n\tkor:lemma\t없음\n",
        },
    )
    assert list(wordnet_korean(trees)) == [
        ("rent, house rent", "rent, house rent. what is paid", "월세", "월세")
    ]


def test_a_kind_of_goods_stands_with_the_kinds_it_belongs_to(tmp_path: Path) -> None:
    def categories(language: str, outer: str, inner: str) -> str:
        return f"{language}:\n  categories:\n    ho:\n      name: {outer}\n    ho-1:\n      name: {inner}\n"

    def attributes(language: str, name: str) -> str:
        return f"{language}:\n  attributes:\n    color:\n      name: {name}\n"

    folder = "product-taxonomy/data/localizations"
    trees = laid(
        tmp_path,
        {
            f"{folder}/categories/en.yml": categories("en", "Home", "Kettles"),
            f"{folder}/categories/ko.yml": categories("ko", "가정", "주전자"),
            f"{folder}/attributes/en.yml": attributes("en", "Color"),
            f"{folder}/attributes/ko.yml": attributes("ko", "색상"),
        },
    )
    assert list(shopify(trees)) == [
        ("Home", "Home", "가정", "가정"),
        ("Kettles", "Kettles > Home", "주전자", "주전자 > 가정"),
        ("Color", "Color", "색상", "색상"),
    ]


def test_a_place_of_a_map_comes_with_other_words_and_a_question_with_its_answers(tmp_path: Path) -> None:
    def presets(language: str, name: str, terms: object, label: str, option: object) -> str:
        entries = {
            "presets": {"shop": {"name": name, "terms": terms}},
            "fields": {"dogs": {"label": label, "options": {"yes": option}}},
        }
        return json.dumps({language: {"presets": entries}})

    trees = laid(
        tmp_path,
        {
            "id-tagging-schema/dist/translations/en.json": presets("en", "Bakery", ["bread"], "Dogs", "Yes"),
            "id-tagging-schema/dist/translations/ko.json": presets(
                "ko", "빵집", "제과점", "개", {"title": "허용", "description": "가능"}
            ),
        },
    )
    assert list(places(trees)) == [
        ("Bakery", "Bakery, bread", "빵집", "빵집, 제과점"),
        ("", "Dogs", "", "개"),
        ("", "Dogs Yes", "", "개 허용 가능"),
    ]


def test_what_a_screen_says_is_paired_by_its_name_without_placeholders(tmp_path: Path) -> None:
    english = (
        '<resources><string name="a">Call <xliff>%1$s</xliff></string><string name="b">Only here</string>'
    )
    korean = '<resources><string name="a">%1$s에게 전화</string>'
    plural = '<plurals name="p"><item quantity="other">{}</item></plurals></resources>'
    folder = "android_packages_apps_Contacts/res"
    trees = laid(
        tmp_path,
        {
            f"{folder}/values/strings.xml": english + plural.format("many calls"),
            f"{folder}/values-ko/strings.xml": korean + plural.format("여러 통화"),
            f"{folder}/values-ko/alone.xml": "<resources/>",
        },
    )
    assert list(android(trees)) == [("", "Call", "", "에게 전화"), ("", "many calls", "", "여러 통화")]


KOREAN = {
    "paraKQC/data/paraKQC_v1.txt": "".join(f"0\t0\t질문 {number}\n" for number in range(10)),
    "stylekqc/sts/dev.tsv": "label\tone\tother\n1\t문 열어\t문 좀 열어줘\n0\t문 열어\t불 켜\n",
    "sae4k/data/sae4k_v1.txt": "우산 챙기라고 했어\t우산 챙기기\n",
    "Question_pair/kor_pair_train.csv": "question1,question2,is_duplicate\n뭐해,뭐 하니,0\n뭐해,어디야,1\n",
    "Chatbot_data/ChatbotData.csv": "Q,A,label\n배고파,뭐 좀 챙겨드세요.,0\n출출해,뭐 좀 챙겨드세요.,0\n"
    "감기 걸렸어,따뜻한 물을 많이 마시고 푹 쉬세요.,0\n",
}


def test_korean_sentences_stand_with_another_way_to_say_the_same(tmp_path: Path) -> None:
    rows = list(korean_paraphrases(laid(tmp_path, KOREAN)))
    pairs = {(one, other) for _, _, one, other in rows}
    assert len(rows) == 10 + 1 + 1 + 1 + 1 + 2
    assert {one for one, _ in pairs if one.startswith("질문")} == {f"질문 {number}" for number in range(10)}
    assert ("문 열어", "문 좀 열어줘") in pairs
    assert ("뭐해", "뭐 하니") in pairs
    assert ("문 열어", "불 켜") not in pairs
    assert ("뭐해", "어디야") not in pairs
    assert ("감기 걸렸어", "따뜻한 물을 많이 마시고 푹 쉬세요.") in pairs
    assert ("배고파", "출출해") in pairs


def test_english_sentences_intents_and_synonyms_are_paired(tmp_path: Path) -> None:
    sheet = xlsx_file(
        {
            "all": [
                ["", "id", "translation"],
                [0, "0_0", "Open it"],
                [1, "0_1", "Please open it"],
                [2, "1_0", "x"],
            ]
        }
    )
    spoken = {"train": [["where is my card", "card_arrival"]], "val": [], "test": []}
    trees = laid(
        tmp_path,
        {
            "kosp2e/split/stylekqc_train.xlsx": sheet,
            "oos-eval/data/data_full.json": json.dumps(spoken),
            "task-specific-datasets/banking_data/train.csv": "text,category\nTop up failed?,top_up\n",
            "counter-fitting/linguistic_constraints/ppdb_synonyms.txt": "jail prison\n",
        },
    )
    rows = [(title, body) for title, body, _, _ in english_paraphrases(trees)]
    assert set(rows[:2]) == {("Open it", "Please open it"), ("Please open it", "Open it")}
    assert rows[2:] == [
        ("card arrival", "where is my card."),
        ("bank top up", "Top up failed."),
        ("jail", "prison"),
    ]


def test_questions_keep_their_text_without_tags(tmp_path: Path) -> None:
    content = 'title,content\n"How to rest dough?","<p>Is it &amp; was it?</p>"\n'
    packed = tmp_path / "Kaggle-Transfer-Learning-on-Stack-Exchange-Tags/data/cooking.csv.zip"
    laid(
        tmp_path, {"stack-exchange-data-analysis/data/travel.csv": "title,content\nVisa?,<p>For a week</p>\n"}
    )
    packed.parent.mkdir(parents=True)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("cooking.csv", content)
    rows = [(title, body.strip()) for title, body, _, _ in questions(tmp_path)]
    assert rows == [("How to rest dough?", "Is it & was it?"), ("Visa?", "For a week")]


def test_the_command_leaves_out_what_is_measured_on(tmp_path: Path) -> None:
    trees = laid(tmp_path / "trees", KOREAN)
    avoided = laid(tmp_path, {"queries.jsonl": json.dumps({"id": 1, "text": "뭐 하니"}) + "\n"})
    main(["kopara", "--trees", str(trees), "--out", str(tmp_path), "--avoid", str(avoided / "queries.jsonl")])
    said = {text for record in read(tmp_path / "kopara.jsonl.xz") for text in record}
    assert "문 열어" in said
    assert "뭐해" not in said


def test_records_are_written_once_in_single_spaces_and_not_when_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.xz"
    rows = [("A", " b \n c", "", ""), ("A", "b c", "", ""), ("", " ", "", ""), ("", "d", "", "가")]
    assert write(path, rows) == 2
    assert list(read(path)) == [Record("A", "b c", "", ""), Record("", "d", "", "가")]


def test_long_sources_are_thinned_and_short_ones_kept(tmp_path: Path) -> None:
    for name in ("sql", "nikita"):
        with lzma.open(tmp_path / f"{name}.jsonl.xz", "wt", encoding="utf-8") as out:
            out.writelines(json.dumps([str(number), "text", "", ""]) + "\n" for number in range(11))
    assert thin(tmp_path, tmp_path / "thin") == {"nikita": 11, "sql": 3}
    assert [record.title_en for record in read(tmp_path / "thin/sql.jsonl.xz")] == ["0", "5", "10"]
