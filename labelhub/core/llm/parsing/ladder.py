"""The rungs of the ladder in order; each is tried only if the one before found nothing."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from labelhub.core.llm.parsing.decision import (
    StatedDecision,
    clean_reply,
    last_decision,
    normalise_line_ends,
)
from labelhub.core.llm.parsing.structured import MISSING, embedded_answer, read_json, whole_answer
from labelhub.core.schema import Schema, Value, ValueNotOffered, fold
from labelhub.core.schema.content import NoAnswer, match_name, offered, read_content
from labelhub.core.schema.menu import Menu, is_number, menu_of

#: A longer last sentence is no plain statement.
_LONGEST = 600
_NAME = "\ue000"

_DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|none|nothing|nobody|non|without|rather|instead|cannot|cant"
    r"|unlikely|hardly|barely|scarcely|if|unless|whether|when|though|although|but|however|while"
    r"|could|might|may|maybe|perhaps|possibly|probably|likely|apparently|seems?|appears?|either|or"
    r"|otherwise|versus|vs|than|would be|would have|disagree\w*|reject\w*|wrong|incorrect|false"
    r"|mistaken|doubt\w*|unsure|uncertain|unclear|ambiguous|debatable|except|excluding|excluded"
    r"|far from|only|partly|partially|somewhat|almost|nearly|borderline|sort of|kind of|leaning"
    r"|suppos\w+|assum\w+|imagin\w+|hypothe\w+|pretend\w*|example|instance|tempt\w*|try|tried"
    r"|annotators?|critic|extractor|prosecut\w+|defen[cs]e|advocates?|readers?|others?|someone"
    r"|people|many|some|claim\w*|says|said|saying|argu\w+|suggest\w*|propos\w+|according|alleg\w+"
    r"|previous\w*|earlier|initial\w*|at first|used to|once|until|instruct\w*|asked|told)\b"
    r"|n't\b|\?"
)
_NOUN = (
    r"(?:label|answer|decision|verdict|conclusion|judge?ment|classification|category|class|choice"
    r"|option|rating|annotation|sentiment|stance|tone|polarity)"
)
_OBJECT = (
    r"(?:text|review|sentence|statement|passage|tweet|post|comment|message|document|item|article)"
)
_THIS = rf"(?:it|this|(?:the|this) {_OBJECT})"
_SURE = r"(?:(?:clearly|plainly|definitely|certainly|indeed|simply|therefore|thus|best) )*"
_GOOD = (
    r"(?:(?:final|correct|best|right|overall|appropriate|chosen"
    r"|most (?:accurate|appropriate|fitting|suitable)) )*"
)
_LEAD = (
    r"(?:so|thus|therefore|hence|overall|finally|ultimately|consequently|accordingly|altogether"
    r"|in (?:conclusion|summary|short|sum|the end)|to conclude|on balance|all in all)"
)
_GROUND = (
    rf"(?:(?:since|because|given|based on|considering|having|after)\b[^{_NAME}]*?, "
    rf"|[^{_NAME}]*?, ?(?:so|thus|therefore|hence),? )"
)
_OPINION = r"(?:i (?:think|believe|conclude|find|judge|hold|would say)(?: that)? )"
_TAKE = (
    r"(?:choose|chose|pick|picked|select|selected|assign|assigned|go with|went with|settle on"
    r"|settled on|decide on|decide for|decided on|opt for|opted for|vote for|answer"
    rf"|(?:label|classify|rate|annotate|categori[sz]e|code) {_THIS}(?: as)?)"
)
_BEFORE = (
    rf"(?:(?:the|my|our|its) {_GOOD}{_NOUN}(?: of| for| here)?(?: (?:the|this) {_OBJECT})?"
    rf" (?:is|should be|must be|will be|remains):? {_SURE}"
    rf"|(?:the |my )?{_GOOD}{_NOUN} ?[:=–—] ?"
    rf"|{_THIS} is {_SURE}(?:(?:described|classified|labelled|labeled|rated|coded|read) as )?"
    rf"|i (?:would |will |therefore |thus |hence |must )*{_TAKE} )"
    r"(?:an? |the (?:label|category|class|answer|option) |the )?"
)
_AFTER = (
    r"(?: (?:label|category|class|stance|tone|here|overall|in tone))?"
    r"(?:,? (?:because|since|as|given)\b.*)? ?[.!]?"
)
_VERB = (
    rf"(?: (?:label|category|class))? (?:it is|applies|fits(?: best)?|is (?:correct|right)"
    rf"|is (?:the|my) {_GOOD}{_NOUN})(?: (?:here|(?:the|this) {_OBJECT}(?: best)?))?"
)
_DECIDES = re.compile(
    rf"(?:{_GROUND})?(?:{_LEAD}[,:]? )?(?:"
    rf"{_OPINION}?{_BEFORE}{_NAME}{_AFTER}"
    rf"|{_OPINION}?{_NAME}{_VERB}{_AFTER})"
    rf"|(?:{_GROUND})?{_LEAD}[,:]? {_NAME} ?[.!]?"
)
_LISTED = rf"{_NAME}(?:(?:, and |, | and | & ){_NAME})*"
_LISTS = re.compile(
    rf"(?:{_LEAD}[,:]? )?(?:"
    rf"(?:(?:both|the aspects?) )?{_LISTED} (?:is|are) (?:both |clearly |all )?"
    rf"(?:present|mentioned)(?: in (?:the|this) {_OBJECT})?"
    rf"|(?:the|this) {_OBJECT} (?:clearly )?mentions {_LISTED}"
    rf"|the (?:present )?(?:aspects|labels)(?: (?:present|mentioned))?"
    rf"(?: in (?:the|this) {_OBJECT})?(?: that i (?:find|see))?(?: are|:) {_LISTED}) ?[.!]?"
)
# A number before the stop numbers a list; a colon before a blank line introduces the next lines.
_STOP = re.compile(r"(?<![\d])[.!?。！？][*_`)]*\s|(?<![:,\s])[ \t]*\n[ \t]*\n")
# Only marks that open and close around the name: a lone mark ends a quotation.
_WRAPPED = re.compile(
    rf"[\"“„]({_NAME})[\"“”]|«({_NAME})»|['‘]({_NAME})'|\(({_NAME})\)|\[({_NAME})\]"
)
_SHORT = {"i'd ": "i would ", "i'll ": "i will ", "it's ": "it is "}
_QUOTE = re.compile(rf"[\"“”«»„]|{_NAME}'|'{_NAME}|(?m:^\s*>)")
_BULLET = re.compile(r"^[ \t]*(?:[*•+-]|\d+[.)])[ \t]+", re.MULTILINE)
_EMPHASIS = re.compile(r"[*_`#]+")
_JOINT = re.compile(r"(?<=\w)[\s‐_-]+(?=\w)")


@dataclass(frozen=True, slots=True)
class _Sentence:
    """The last sentence, folded, each name as one character; ``answers``: after a question."""

    words: str
    names: tuple[str, ...]
    answers: bool


def read_lenient(text: str, schema: Schema, options: Sequence[str] = ()) -> Value:
    """The value that the last sentence of ``text`` decides for.

    Raises:
        NoAnswer: it decides for none or not plainly.
    """
    if not schema.task.written:
        menu = menu_of(schema, options)
        sentence = _last_sentence(text, schema.offered(options), menu)
        if sentence is not None:
            several = schema.task.several
            found = _listed_names(sentence) if several else _decided_name(sentence, menu)
            if found is not None:
                return offered(found, schema, options)
    raise NoAnswer("The answer has no 'Final Decision:' line.")


def _decided_name(sentence: _Sentence, menu: Menu) -> str | None:
    """The name that the sentence is or decides for."""
    if len(set(sentence.names)) != 1:
        return None
    name = sentence.names[0]
    if not sentence.answers and match_name(sentence.words.replace(_NAME, name), menu) == name:
        return name
    plain = _DECIDES.fullmatch(sentence.words) and not _DOUBT.search(sentence.words)
    return name if plain else None


def _listed_names(sentence: _Sentence) -> list[str] | None:
    """The names that the sentence lists as present."""
    joined = any(" and " in fold(name) or "&" in name for name in sentence.names)
    if joined or not _LISTS.fullmatch(sentence.words):
        return None
    return None if _DOUBT.search(sentence.words) else list(sentence.names)


def _last_sentence(text: str, offered_names: Sequence[str], menu: Menu) -> _Sentence | None:
    """The last sentence; None if it is too long, quoted, or holds an ambiguous name."""
    tail = unicodedata.normalize("NFKC", text.rstrip()[-2 * _LONGEST :].replace(_NAME, ""))
    tail = _BULLET.sub("- ", tail.casefold().replace("’", "'"))
    spelled = [match[0] for match in _name_pattern(tuple(offered_names)).finditer(tail)]
    masked = _EMPHASIS.sub("", _name_pattern(tuple(offered_names)).sub(_NAME, tail)).strip()
    start = max((stop.end() for stop in _STOP.finditer(masked)), default=0)
    words = _WRAPPED.sub(_NAME, masked[start:])
    for short, full in _SHORT.items():
        words = words.replace(short, full)
    names = [menu.find(form) for form in spelled[len(spelled) - words.count(_NAME) :]]
    # Ambiguous: a name that looks like a number, or is another name with a full stop.
    known = tuple(
        name
        for name in names
        if name
        and not is_number(name)
        and not (name.endswith(".") and menu.find(name.removesuffix(".")))
    )
    cut = start == 0 and len(text.rstrip()) > 2 * _LONGEST
    if cut or len(words) > _LONGEST or _QUOTE.search(words) or len(known) < len(names):
        return None
    before = masked[:start].rstrip()
    return _Sentence(" ".join(words.split()), known, answers=before.endswith(("?", "？")))


@lru_cache(maxsize=64)
def _name_pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the names as whole words, the longest first; blanks and hyphens match each other."""
    folded = sorted({fold(name) for name in names if name.strip()}, key=len, reverse=True)
    spelled = (r"[\s‐_-]+".join(map(re.escape, _JOINT.split(name))) for name in folded)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(spelled) or '(?!)'})(?![\w-]|'\w)")


#: An answer to the question asked again; the caller that asks again sets this rung.
AFTER_REASK = 5
#: The reply has no readable answer.
UNPARSED = 6

_REFUSAL = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry,|i apologi[sz]e|i can['’]?t (?:help|assist|comply)"
    r"|i cannot (?:help|assist|comply)|i won['’]?t )",
    re.IGNORECASE,
)


def read_value(
    answer: str, schema: Schema, options: Sequence[str] = (), *, cut_off: bool = False
) -> tuple[Value, int]:
    """The value in ``answer`` and its rung, 1 to 4.

    Args:
        answer: what the model wrote, without its thinking.
        schema: the question.
        options: the item's own choices (``per_item``).
        cut_off: the answer reached its token limit, so its last line may be unfinished.

    Raises:
        ValueNotOffered: the answer names something else; ``data["off_menu"]`` holds it.
        NoAnswer: there is no certain answer.
    """
    text = prepare_text(answer, schema)
    raw = whole_answer(text, schema)
    if raw is not MISSING:
        return read_json(raw, schema, options), 1
    decision = last_decision(text, schema)
    embedded = embedded_answer(text, schema, after=decision.start if decision else -1)
    if embedded is not MISSING:
        return read_json(embedded, schema, options), 2
    if decision is not None:
        return _read_stated(decision, text, schema, options, cut_off=cut_off)
    if cut_off or is_refusal(text):
        raise NoAnswer("The answer has no 'Final Decision:' line.")
    return read_lenient(text, schema, options), 4


def prepare_text(answer: str, schema: Schema) -> str:
    """The text to read; only the line ends of a free-text answer change."""
    return normalise_line_ends(answer) if schema.task.written else clean_reply(answer)


def is_refusal(text: str) -> bool:
    """Whether ``text`` begins like a refusal."""
    return _REFUSAL.match(text) is not None


def _read_stated(
    decision: StatedDecision, text: str, schema: Schema, options: Sequence[str], *, cut_off: bool
) -> tuple[Value, int]:
    if cut_off and not decision.complete:
        raise NoAnswer("The answer was cut off in its last line.")
    if decision.retracted:
        raise NoAnswer("The answer questions its decision or takes it back.")
    try:
        return read_content(decision.content, schema, options), 3
    except ValueNotOffered as problem:
        # A sentence may give a reason after the name; a decision line may not.
        if not decision.prose or cut_off:
            raise
        strange = problem
    try:
        return read_lenient(text[decision.start :].lstrip(".!?; "), schema, options), 4
    except NoAnswer:
        raise strange from None
