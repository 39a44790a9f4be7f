"""A follow-up question made to stand alone, without a model: what it leaves out is taken from the one before.

"When does the night train to Vienna leave?", "what does it cost?" → "what does night train to Vienna cost?".
The rules only carry words over from the earlier question; they add none of their own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kebab.answer.kinds import Kind, kind_of
from kebab.answer.question import Keyword, Question, read_question
from kebab.ports import Analyzer

_OPENING = re.compile(
    r"^(?:(?:and|but|so|ok|okay|then|also)\b[\s,]*"
    r"|(?:그럼|그러면|그렇다면|그리고|그런데|근데|그래서)(?:[\s,]+|$))+",
    re.IGNORECASE,
)
_ABOUT = re.compile(r"^(?:what|how) about\b\s*", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|they|them)\b", re.IGNORECASE)
_POINTS = re.compile(
    r"\b(?:it|its|they|them|their|theirs|he|him|his|she|her|this|these|those|the same)\b"
    r"|\b(?:about|for|to|with|of|in|at|by|does|do|did|is|was|are|were|can|after|before|why|how|when|where|who|use)"
    r" that\b|^that\b|\bthat\W*$|(?<!is )(?<!are )(?<!was )(?<!were )\bthere\b|\bones?\W*$",
    re.IGNORECASE,
)
_POINTS_KO = re.compile(
    r"그것|그건|그게|그걸|그거|그곳|거기|그때|그들|이것|이건|이게|이걸|이거|여기|(?:^|\s)(?:그|이|저)\s(?=[가-힣])"
)
_ALONE_KO = re.compile(
    r"(?:^|\s)(?:그것|그거|이것|이거)(?:은|는|이|가|을|를)?(?=\s)|(?:^|\s)[그이](?:건|게|걸)(?=\s)"
)
_ASKS = re.compile(
    r"\b(?:how|what|why|when|where|which|who|whose|whom|is|are|was|were|do|does|did|can|could|should|will|would"
    r"|has|have|had|may|must)\b|무엇|무슨|뭐|뭔|어떻게|어떤|어느|왜|언제|어디|누구|누가|몇|얼마"
    r"|(?:나요|까요|니까|인가요?|는가|려면|하나|되나)\W*$",
    re.IGNORECASE,
)
_PLACES = "in|on|at|for|from|with|without|under|by|to|as|of|before|after|during"
_PLACED = re.compile(rf"^(?:{_PLACES})\b", re.IGNORECASE)
_PARTICLE = re.compile(r"^([가-힣\w]+?)(으로|로|에서|에게|한테|까지|부터|에)(?:는|도)?$")
_NAME = re.compile(r"^[A-Z][\w.+#-]{1,60}$")
_BARE_HOW = re.compile(r"^how (?:do|can|could|should|would) (?:i|we|you)\b|^how to\b", re.IGNORECASE)
_DONE = re.compile(r"\b(?:do|does|did)\b(?! (?:i|we|you)\b)", re.IGNORECASE)
_VERB_KO = re.compile(r"(?:나요|까요|니까|는가|하나|되나|한가|려면|어요|아요|해요|됩니까|합니까)\W*$")
_TOPIC_KO = re.compile(r"[가-힣](?:은|는|이|가)\s")
_LONGEST = 2000
"""Characters above which a question is left as it is: it says enough, and patterns take their time."""
_END = " ?？.!"
MOST = 8
"""Words carried over at most: the topic, not the whole conversation."""


def stand_alone(
    asked: str, *, earlier: str, topic: Sequence[str] = (), analyzer: Analyzer
) -> tuple[str, tuple[str, ...]]:
    """The question as it can be asked alone, and the words that a pronoun in it stood for.

    ``topic`` are the words for which one stood in the earlier question: "it" means the same through a
    conversation. A question that leans on nothing comes back as it is, with no words.
    """
    if len(asked) + len(earlier) > _LONGEST:
        return asked.strip(), ()
    bare = _ABOUT.sub("", _OPENING.sub("", asked.strip())).strip() or asked.strip()
    question, before = read_question(bare, analyzer), read_question(earlier, analyzer)
    if not _leans(asked.strip(), bare, question):
        return asked.strip(), ()
    if not _ASKS.search(bare):
        return _instead(bare, question, before), ()
    whole = not (question.keywords or _points(bare))  # "why?" asks about all of it
    taken = _taken(question, before.keywords if whole else _topic(before, topic))
    return (_about(bare, question.lang, _span(before, taken)), taken) if taken else (asked.strip(), ())


def _leans(asked: str, bare: str, question: Question) -> bool:
    few = len(question.keywords)
    if _ABOUT.match(_OPENING.sub("", asked)) or _points(bare) or not few:
        return True
    if bare != asked and few <= 2 and not _ASKS.search(bare):
        return True
    if not _ASKS.search(bare):
        ends = asked.endswith(("?", "？"))
        return bool(_PLACED.match(bare)) or (
            ends and len(bare.split()) <= (1 if question.lang == "ko" else 4)
        )
    if few > 1 or kind_of(bare) is Kind.DEFINITION:
        return False
    return not _TOPIC_KO.search(bare) if question.lang == "ko" else bool(_BARE_HOW.match(bare))


def _points(bare: str) -> bool:
    return bool(_POINTS.search(bare) or _POINTS_KO.search(bare))


def _instead(bare: str, question: Question, before: Question) -> str:
    """The earlier question with the fragment in the place of what it replaces, or beside it."""
    if not _taken(question, before.keywords):
        return bare
    text = before.text.rstrip(_END)
    for replaced in (_same_place(bare, text), _same_particle(bare, text), _same_name(question, before)):
        if replaced:
            return f"{replaced}?"
    if question.lang == "ko":
        return f"{' '.join(word.text for word in question.keywords)}, {text}?"
    return f"{text} ({bare.rstrip(_END)})?"


def _same_place(bare: str, before: str) -> str:
    """For "in Korean": the earlier question with it in the place of its own "in …", where it has one."""
    given = _PLACED.match(bare)
    if not given:
        return ""
    own = re.compile(rf"\b{given[0]}\b(?:\s(?!(?:{_PLACES})\b)\S+){{1,4}}", re.IGNORECASE)
    found = own.findall(before)
    return own.sub(lambda _: bare.rstrip(_END), before) if len(found) == 1 else ""


def _same_particle(bare: str, before: str) -> str:
    """For "한국어로는": the earlier question with it in the place of its own word in -로."""
    given = _PARTICLE.search(bare.rstrip(_END))
    if not given:
        return ""
    own = re.compile(rf"[가-힣\w]+{given[2]}(?=\s|$)")
    return own.sub(given[1] + given[2], before) if len(own.findall(before)) == 1 else ""


def _same_name(question: Question, before: Question) -> str:
    """The earlier question with one name in the place of another: "Salzburg" for "Vienna"."""
    names = [word.text for word in before.keywords if _NAME.match(word.text)]
    given = [word.text for word in question.keywords]
    if len(given) != 1 or len(names) != 1 or not _NAME.match(given[0]):
        return ""
    return re.sub(
        rf"\b{re.escape(names[0])}(?![A-Za-z0-9])", lambda _: given[0], before.text.rstrip(_END), count=1
    )


def _topic(before: Question, known: Sequence[str]) -> list[Keyword]:
    """What the earlier question was about: the topic that it had already, else its words without its verb."""
    if kept := [word for word in before.keywords if word.text in known]:
        return kept
    words = list(before.keywords)
    last = before.text.rstrip(_END).lower().split()[-1:]
    verb = _DONE.search(before.text) if before.lang == "en" else _VERB_KO.search(before.text)
    if verb and len(words) > 1 and last and last[0].startswith(words[-1].text.lower()):
        words.pop()
    return words


def _taken(question: Question, topic: Sequence[Keyword]) -> tuple[str, ...]:
    held = {term for word in question.keywords for term in word.terms}
    return tuple(word.text for word in topic if not held.issuperset(word.terms))[:MOST]


def _span(before: Question, taken: Sequence[str]) -> str:
    """The words as the earlier question has them, with the small ones between: "night train to Vienna"."""
    places = [before.text.find(word) for word in taken]
    begin = min(places)
    last = max(zip(places, taken, strict=True))
    span = before.text[begin : last[0] + len(last[1])]
    return span if begin >= 0 and len(span.split()) <= 2 * len(taken) + 1 else " ".join(taken)


def _about(bare: str, lang: str, topic: str) -> str:
    if lang == "ko":
        rest = " ".join(_ALONE_KO.sub(" ", f" {bare}").split())
        return f"{topic}, {rest}"
    if _IT.search(bare):
        return _IT.sub(lambda _: topic, bare, count=1)
    return f"{bare.rstrip(_END)} ({topic})?"
