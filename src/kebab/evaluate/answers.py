"""How good answers are: questions with the fact that an answer must hold, or none where it must refuse.

```yaml
folder: vault                       # default: the file's name
root: ../notes                      # the folder asked about; default: the knowledge base
questions:
  - question: How long are idempotency keys kept?
    gold: 24 hours|a day            # a pattern; without one there is no answer, and asking must refuse
    path: work/payments.md          # or a list: where it stands
    type: numeric                   # reported apart
```
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from kebab.domain.answers import Answer
from kebab.domain.evaluations import AnswerRow, AnswersReport, AnswerVerdict, Share
from kebab.domain.ids import nfc
from kebab.errors import InvalidInput

_HANGUL = re.compile("[\uac00-\ud7a3]")


class AskedQuestion(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question as the file states it."""

    question: str
    gold: str | None = None
    path: str | tuple[str, ...] = ()
    type: str = ""
    lang: str = ""

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path,) if isinstance(self.path, str) else self.path

    @property
    def language(self) -> str:
        return self.lang or ("ko" if _HANGUL.search(self.question) else "en")


class QuestionFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    questions: tuple[AskedQuestion, ...]
    folder: str = ""
    root: str = ""
    about: str = ""


def read_questions(path: Path) -> QuestionFile:
    """A question file, its folder named and its root absolute. Raises InvalidInput, naming what is wrong."""
    import yaml

    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        found = msgspec.convert({"questions": raw} if isinstance(raw, list) else raw, QuestionFile)
        for each in found.questions:
            re.compile(each.gold or "")
    except OSError as error:
        raise InvalidInput(f"the question file {path} cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError, msgspec.ValidationError, re.error) as error:
        raise InvalidInput(
            f"{path}: {error}", hint="see docs/quality.md for the form of a question file"
        ) from error
    root = str((path.parent / found.root).resolve()) if found.root else ""
    return msgspec.structs.replace(found, folder=found.folder or path.stem, root=root)


def verdict(asked: AskedQuestion, answer: Answer, *, folder: str) -> AnswerVerdict:
    """How one answer fared; the fact counts wherever it stands in the quoted text or in the shown one."""
    refused = not answer.grounded
    lines = [_said(claim.text, [quote.text for quote in claim.quotes]) for claim in answer.claims]
    gold = re.compile(asked.gold) if asked.gold else None
    holds = [bool(gold and gold.search(line)) for line in lines] if not refused else []
    cited = {quote.citation.path for quote in answer.citations}
    return AnswerVerdict(
        question=asked.question,
        folder=folder,
        type=asked.type,
        lang=asked.language,
        answerable=gold is not None,
        refused=refused,
        fact=any(holds),
        first=holds[:1] == [True],
        cited=bool(cited & set(asked.paths)) if asked.paths and not refused else None,
        lines=len(holds),
        confidence=answer.gate.confidence if answer.gate else 0.0,
        text=answer.text,
    )


def _said(text: str, quotes: Iterable[str]) -> str:
    return nfc(" ".join(" ".join((text, *quotes)).split()))


def report(verdicts: Sequence[AnswerVerdict]) -> AnswersReport:
    """The table: all questions, then by folder, by type and by language."""
    rows = [_row("all", verdicts)]
    keys: tuple[tuple[str, Callable[[AnswerVerdict], str]], ...] = (
        ("folder", lambda one: one.folder),
        ("type", lambda one: one.type),
        ("lang", lambda one: one.lang),
    )
    for name, key in keys:
        values = sorted({key(one) for one in verdicts} - {""})
        rows += [_row(f"{name} {value}", [one for one in verdicts if key(one) == value]) for value in values]
    return AnswersReport(tuple(rows), tuple(verdicts))


def _row(name: str, verdicts: Sequence[AnswerVerdict]) -> AnswerRow:
    answerable = [one for one in verdicts if one.answerable]
    refused = [one for one in verdicts if one.refused]
    due = [one for one in verdicts if not one.answerable]
    right = sum(not one.answerable for one in refused)
    answered = [one for one in answerable if not one.refused]
    return AnswerRow(
        name=name,
        questions=len(verdicts),
        fact=Share(sum(one.fact for one in answerable), len(answerable)),
        first=Share(sum(one.first for one in answerable), len(answerable)),
        precision=Share(right, len(refused)),
        recall=Share(right, len(due)),
        lines=sum(one.lines for one in answered) / len(answered) if answered else 0.0,
    )
