"""The prompt as data: versioned templates, and evidence fenced so that it stays evidence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from string import Template

from kebab.answer.pack import label
from kebab.answer.question import Question
from kebab.domain.answers import Evidence
from kebab.domain.ids import digest
from kebab.domain.tokens import estimate_tokens
from kebab.domain.values import dataclass
from kebab.ports import Prompt

PROMPT_VERSION = "answer-v1"
_LANGUAGES = {"ko": "Korean (한국어)", "en": "English"}
_MARKER = re.compile(r"\[#(\d)")
_UNPRINTABLE = re.compile("[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f]")
# The control tokens of chat formats. A server that parses special tokens in a message would obey them.
_CONTROL = re.compile(r"<\|(?=\w)|(?<=\w)\|>|\[(?=/?INST\])|<(?=/?s>|/?start_of_turn|/?end_of_turn|<SYS>)")


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """One version of the templates. ``version`` names the files and is stored with every answer."""

    version: str
    system: Template
    user: Template
    structured: bool = False
    """Whether the rules ask for JSON, where the server offers it."""

    def fill(self, question: Question, evidence: Sequence[Evidence]) -> Prompt:
        """The prompt for a question. Equal input gives an equal prompt."""
        fence = f"=== data {digest('fence', question.text, [item.text for item in evidence])[:12]}"
        language = _LANGUAGES.get(question.lang, "the language of the question")
        blocks = [_fenced(item, fence) for item in evidence]
        return Prompt(
            system=self.system.substitute(fence=fence, language=language).strip(),
            user=self.user.substitute(
                question=inert(question.text), evidence="\n\n".join(blocks), language=language
            ).strip(),
        )

    def overhead(self, question: Question) -> int:
        """Tokens of everything but the evidence."""
        empty = self.fill(question, ())
        return estimate_tokens(empty.system) + estimate_tokens(empty.user)


@lru_cache(maxsize=4)
def load_template(version: str = PROMPT_VERSION, *, structured: bool = False) -> PromptTemplate:
    """The rules of a version; with ``structured`` also what JSON they are to be followed in."""
    if structured:
        system = read_template(f"{version}.system.txt") + read_template(f"{version}.json.txt")
        return PromptTemplate(f"{version}+json", Template(system), _user(version), structured=True)
    return PromptTemplate(version, Template(read_template(f"{version}.system.txt")), _user(version))


def _user(version: str) -> Template:
    return Template(read_template(f"{version}.user.txt"))


def read_template(name: str) -> str:
    return (files("kebab.answer") / "templates" / name).read_text(encoding="utf-8")


def inert(text: str) -> str:
    """The text with what a model, a marker reader or a terminal could take for structure made harmless.

    ``[#3]`` becomes ``[no. 3]``, control tokens of chat formats are broken by a space, control characters are
    removed; anything else is unchanged. The fence needs no escaping: its number depends on the texts, so none
    of them can contain it.
    """
    text = _MARKER.sub(r"[no. \1", printable(text))
    return _CONTROL.sub(lambda match: f"{match[0][0]} {match[0][1:]}", text)


def printable(text: str) -> str:
    """The text without control characters other than tabs and line breaks."""
    return _UNPRINTABLE.sub("", text)


def _fenced(item: Evidence, fence: str) -> str:
    return f"{inert_label(item)}\n{fence} begins\n{inert(item.text)}\n{fence} ends"


def inert_label(item: Evidence) -> str:
    """The label with its own marker kept; path and heading come from documents and are data too."""
    marker, _, rest = label(item).partition(" ")
    return f"{marker} {inert(' '.join(rest.split()))}"
