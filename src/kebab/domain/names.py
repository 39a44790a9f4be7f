"""What a note is called: the names by which a person may ask for it, and the plain forms of words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from datetime import date
from pathlib import PurePosixPath

from kebab.domain.ids import nfc

_KEPT = re.compile(r"[^\w+#]|_")
_WORD = re.compile(r"[가-힣]+|[^\W_가-힣]+")
_ACCENTS = re.compile("([a-z])[\u0300-\u036f]+")
# What decomposes to a small Latin letter with marks behind it, and the marks.
_ACCENTED = re.compile("[\u00e0-\u024f\u1e00-\u1eff\u0300-\u036f]")
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-._ ]?(0[1-9]|1[0-2])[-._ ]?(0[1-9]|[12]\d|3[01])(?!\d)")
_MONTHS = re.findall(
    r"\w+", "january february march april may june july august september october november december"
)
_MONTH = re.compile(r"((?:19|20)\d\d)[-._ ](0[1-9]|1[0-2])")
_NAMED_MONTH = re.compile(
    rf"((?:19|20)\d\d)[-._ ]?({'|'.join(_MONTHS)})|({'|'.join(_MONTHS)})[-._ ]?((?:19|20)\d\d)"
)
_LETTERS = re.compile(r"[^\W_]+")
# Deeper folders add nothing that somebody would type.
_DEEPEST = 12
# Longer names are nobody's to remember, and a term of an index is short.
_LONGEST = 200
_LONGEST_WORD = 64
# Bytes to bytes: letters to small ones, digits and what lies beyond ASCII as they are, the rest to a space.
_ASCII_WORDS = bytes(
    code if code > 127 else ord(chr(code).lower()) if chr(code).isalnum() else ord(" ") for code in range(256)
)


def folded(text: str) -> str:
    """The text without case, accents on Latin letters and compatibility forms, composed."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFKC", text).casefold()
    if _ACCENTED.search(text):
        text = _ACCENTS.sub(r"\1", unicodedata.normalize("NFD", text))
    return unicodedata.normalize("NFC", text)


def name_key(text: str) -> str:
    """What two spellings of one name share: its letters and digits, and the signs of C++ and C#.

    `React Hooks`, `react-hooks` and `ReactHooks` are one name. Empty where nothing is left of the text, and
    for what is too long to be a name.
    """
    key = _KEPT.sub("", folded(nfc(text)))
    if not key.isascii():
        # A mark of another script may stand between a letter and its accent: only now is that one found.
        key = folded(key)
    return key if len(key) <= _LONGEST else ""


def name_keys(*, path: str, title: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """Every name of a note, as ``name_key`` writes them, each once: title, aliases, file and path.

    A path counts from any of its folders on, with and without the file's extension.
    """
    file = PurePosixPath(path)
    parts = file.parts[-_DEEPEST:]
    tails = ["/".join(parts[at:]) for at in range(len(parts))]
    names = [title, *aliases, *tails, *(tail.removesuffix(file.suffix) for tail in tails), *_dates(file.stem)]
    return tuple(dict.fromkeys(key for name in names if (key := name_key(name))))


def dated(path: str, *, created: str | None, updated: str | None) -> str:
    """The day that a note is of, as YYYY-MM-DD: in its file's name, or when it was created, or changed.

    Empty where nothing is known.
    """
    found = _DATE.search(PurePosixPath(path).stem)
    if found is not None:
        return f"{found[1]}-{found[2]}-{found[3]}"
    return (created or updated or "")[:10]


def _dates(stem: str) -> Iterator[str]:
    """How people write the day or the month that a file is named after, alone or with other words."""
    if (found := _DATE.search(stem)) is not None:
        yield from _day_names(int(found[1]), int(found[2]), int(found[3]))
    elif (found := _MONTH.fullmatch(stem.strip())) is not None:
        yield from _month_names(int(found[1]), int(found[2]))
    elif (found := _NAMED_MONTH.fullmatch(folded(stem.strip()))) is not None:
        yield from _month_names(int(found[1] or found[4]), _MONTHS.index(found[2] or found[3]) + 1)


def _day_names(year: int, month: int, day: int) -> Iterator[str]:
    """Nothing where the calendar has no such day."""
    try:
        found = date(year, month, day)
    except ValueError:
        return
    yield found.isoformat()
    for name in (_MONTHS[month - 1], _MONTHS[month - 1][:3]):
        yield from (f"{name} {day} {year}", f"{day} {name} {year}")
    yield f"{year}년 {month}월 {day}일"


def _month_names(year: int, month: int) -> Iterator[str]:
    for name in (_MONTHS[month - 1], _MONTHS[month - 1][:3]):
        yield from (f"{name} {year}", f"{year} {name}")
    yield from (f"{year}-{month:02}", f"{year}년 {month}월")


def plain_words(text: str) -> list[str]:
    """The distinct words of a text as they are written, folded, in order of their first place.

    A Korean word is a row of letters (jamo), so that a mistyped letter is one difference and not a syllable.
    """
    words = " ".join(_parted(text))
    return _lettered(words.split() if words.isascii() else _WORD.findall(folded(nfc(words)))).split()


def indexed_words(text: str) -> str:
    """The same words joined by spaces, in any order: in a fifth less time, for every chunk comes by here."""
    words = _parted(text)
    if text.isascii():
        return _lettered(words)
    plain = [word for word in words if word.isascii()]
    others = " ".join([word for word in words if not word.isascii()])
    return _lettered(plain + _WORD.findall(folded(nfc(others))))


def _parted(text: str) -> dict[str, None]:
    """What stands between signs in ASCII, each once, in order, with Latin letters in lower case."""
    # By its bytes, in a fraction of the time that a regular expression takes.
    parted = text.encode("utf-8", "surrogatepass").translate(_ASCII_WORDS)
    return dict.fromkeys(parted.decode("utf-8", "surrogatepass").split())


def _lettered(words: Iterable[str]) -> str:
    """The distinct ones of these words, joined by spaces, the Korean ones as rows of letters."""
    distinct = dict.fromkeys(words)
    if max(map(len, distinct), default=0) > _LONGEST_WORD:
        distinct = dict.fromkeys(word[:_LONGEST_WORD] for word in distinct)
    # All at once: words of other scripts stay as they are.
    return unicodedata.normalize("NFD", " ".join(distinct))


def latin_words(text: str) -> list[str]:
    """Those of its plain words that have another form as a term: no Korean ones, which phrases hold to."""
    return [word for word in plain_words(text) if not "\u1100" <= word[0] <= "\u11ff"]


def glued_word(text: str) -> str | None:
    """A text that is a single word of Korean and another script, folded: react와, 3월, b형처럼; else None."""
    word = single_word(text)
    return word if word and len({"가" <= letter <= "힣" for letter in word}) == 2 else None


def single_word(text: str) -> str | None:
    """A text that is one word of two letters or more, folded; else None."""
    word = folded(nfc(text.strip()))
    return word if len(word) > 1 and _LETTERS.fullmatch(word) else None


def stands_in(word: str, text: str) -> bool:
    """Whether a folded word begins somewhere in a text; what is attached to its end does not matter."""
    return any(run.startswith(word) for run in _LETTERS.findall(folded(nfc(text))))


def letters(word: str) -> str:
    """A word by its letters: of a Korean one its jamo, of any other the word itself."""
    return word if word.isascii() else unicodedata.normalize("NFD", word)


def written(word: str) -> str:
    """A word of ``plain_words`` as people write it."""
    return nfc(word)


def tag_key(tag: str) -> str:
    """A tag without its sign and without case."""
    return nfc(tag).lstrip("#").rstrip("/").casefold()


def is_tagged(tag: str, wanted: Iterable[str]) -> bool:
    """Whether a tag is one of those wanted, by ``tag_key``, or stands below one: project/active, project."""
    own = tag_key(tag)
    return any(own == key or own.startswith(f"{key}/") for key in wanted if key)


def name_text(*, path: str, title: str, aliases: Iterable[str]) -> str:
    """What a note is called, as a text: title, aliases and the name of its file."""
    return "\n".join(dict.fromkeys([title, *aliases, _stem(path)]))


def _stem(path: str) -> str:
    """The name of a file without its extension, as ``PurePosixPath`` gives it in ten times as long."""
    name = path.rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and stem and ending else name


def about_text(*, path: str, tags: Iterable[str], summary: str) -> str:
    """What is said of a note as a whole: its folders, tags and summary."""
    return "\n".join([*path.split("/")[:-1], *tags, summary])
