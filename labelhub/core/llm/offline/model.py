"""The offline model matches words, in place of a language model, without a network."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

from labelhub.core.llm.offline import matcher
from labelhub.core.llm.offline.matcher import lexicon
from labelhub.core.llm.parsing import read_answer
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import AnswerField, Call, Completion, Output
from labelhub.core.safety import DANGER, ORDINARY, kind_chances
from labelhub.core.schema import LabelDef, LabelType

#: Role → the support that an answer needs, and the greatest effect of mood.
_PARTS: Mapping[str, tuple[float, float]] = {
    "extractor": (0.3, 0.1), "critic": (0.6, 0.1), "judge": (0.45, 0.1),
    "drafter": (0.3, 0.25), "reviewer": (0.55, 0.1), "refiner": (0.45, 0.1),
    "prediction": (0.45, 0.0), "predict": (0.45, 0.0), "relevance": (0.5, 0.0),
}  # fmt: skip
_ANNOTATOR, _STRICT = (0.45, 0.2), ("critic", "reviewer")  # the strict follow nobody
#: From this similarity on another message counts like this one.
_ALIKE = 0.5
#: The least chance of a kind other than "ordinary", and the chance of danger from which a message
#: is not "ordinary": a question to somebody in danger does more harm than a missing one.
_CERTAIN, _DOUBTFUL = 0.5, 0.2
_UNDER_AGE = re.compile(r"\bi(?:['’]?m| am) (?:only )?(?:1[0-7]|[6-9])\b", re.IGNORECASE)


class OfflineModel:
    """A :class:`~labelhub.core.llm.types.ChatModel` that always gives the same answer to a call."""

    name = "offline"

    async def complete(self, call: Call) -> Completion:
        """Play ``call.role`` on ``call.text``; never raises for any text or valid schema."""
        answer = _answer(call)
        usage = estimate_usage(call.messages, answer)
        return Completion(answer, usage=usage, model_answered=self.name)


@dataclass(frozen=True, slots=True)
class View:
    """A role's view of a text: the score of each answer and the words that support it."""

    call: Call
    task: LabelType
    reading: matcher.Reading
    supports: Mapping[str, matcher.Support]
    scores: Mapping[str, float]
    rest: tuple[str, ...]

    @property
    def ranked(self) -> list[str]:
        """All answers, the best first."""
        return sorted(self.scores, key=lambda name: -self.scores[name])

    @property
    def decided(self) -> list[str]:
        """The answer; of a set all present names."""
        if not self.task.several:
            return self.ranked[:1]
        bar, named = (
            _part(self.call.role)[0],
            [name for name in self.scores if name not in self.rest],
        )
        return [name for name in named if self.scores[name] >= bar] or [*self.rest]

    def says(self, name: str, stand: str = "") -> str:
        """An answer with the words of the text that support it, as a line of evidence."""
        if self.task.written:
            return f'answer: {stand}"{name}"'
        quoted = "; ".join(f'"{q}"' for q in self.reading.quotes(self.supports.get(name, {})))
        return f"{_line(name)}: {stand}{quoted or 'no words of its own'}"


def _answer(call: Call) -> str:
    """The answer in the form that the call's prompt asks for."""
    match call.output:
        case Output.QUESTION:
            return _word_question(call.inputs)
        case Output.OFFER:
            title, most = _line(call.inputs["title"]), call.inputs["most_characters"]
            whole = f"{title}. {_line(call.inputs['sentence'])}"
            return f"Offer: {whole if len(whole) <= most else title[:most]}"
    # A reporter speaks of an example instead of the item's text. No answer may hold a NUL.
    call = replace(call, text=str(call.inputs.get("example", call.text)).replace("\0", " "))
    if "verdicts" in call.inputs:
        return _write_answer((), _judge_message(call))
    view = _look_at(call)
    if "most_words" in call.inputs:
        return _write_answer((), view.decided[0].split()[: call.inputs["most_words"]], " ")
    match call.output:
        case Output.RANKING:
            places = zip(("First", "Second"), view.ranked, strict=False)
            return "\n".join(f"{place} choice: {_line(name)}" for place, name in places)
        case Output.ARGUMENT:
            return _write_argument(view)
    return _write_answer(
        () if call.fields == (AnswerField.LABEL,) else _reasons(view), view.decided
    )


def _look_at(call: Call, labels: tuple[LabelDef, ...] = ()) -> View:
    """Weigh the text of a call for its role; ``labels`` replace those of the schema."""
    task = call.schema.of_item(call.options).task
    if task.item_options:
        # Not parsed: options may have characters that names of labels may not.
        labels = tuple(LabelDef(name=option) for option in dict.fromkeys(call.options))
    signs: Mapping[str, Iterable[str]] = call.inputs.get("signs") or {}
    labels = tuple(
        replace(label, include=", ".join((label.include, *signs[label.name])))
        if label.name in signs
        else label
        for label in labels or call.schema.labels
    )
    question = " ".join((call.question or call.schema.question, *call.inputs.get("cues", ())))
    reading, profile = matcher.read(call.text), matcher.profile_of(labels, call.question)
    supports = matcher.weigh_labels(labels, reading, call.question)
    weights = [matcher.strength(support) for support in supports]
    if task.ordered:
        weights, supports = matcher.place_on_scale(labels, reading, question)
    elif not task.several:
        for place, other in profile.opposites.items():
            weights[place] -= matcher.strength(supports[other]) / 2
        for place in profile.rest:
            weights[place] += _part(call.role)[0]
    names, heard = [label.name for label in labels], _heard_support(call)
    found = dict(zip(names, weights, strict=True)) or matcher.phrase_worths(reading, question)
    answers = {**found, **heard} if task.written else found
    scores = {
        name: found.get(name, 0.0) + heard.get(name, 0.0) + _mood(call, name) for name in answers
    }
    rest = tuple(names[place] for place in sorted(profile.rest))
    return View(call, task, reading, dict(zip(names, supports, strict=True)), scores, rest)


def _mood(call: Call, name: str) -> float:
    """A small bonus or malus, always the same for the same answer, role, sample and text."""
    most = _part(call.role)[1]
    if not most:
        return 0.0
    drawn = sha256(f"{name} {call.role} {call.sample} {call.text}".encode("utf-8", "replace"))
    return most * (int.from_bytes(drawn.digest()[:4]) / 2**31 - 1)


@lru_cache(maxsize=256)
def _part(role: str) -> tuple[float, float]:
    return _PARTS.get(re.sub("^(?:first|then)_|/.*", "", role), _ANNOTATOR)


def _heard_support(call: Call) -> dict[str, float]:
    """Answer → the support in what the role heard, negative against it."""
    heard: defaultdict[str, float] = defaultdict(float)
    for names, weight in _voices(call):
        for name in {*names, *call.schema.offered(call.options)}:
            heard[name] += weight if name in names else -weight / 2
    return heard


def _voices(call: Call) -> Iterator[tuple[frozenset[str], float]]:
    """The answers that the role heard, each with its weight; 0 for an unreadable one."""
    inputs, offered = call.inputs, call.schema.offered(call.options)
    rounds = inputs.get("history") or ()
    voices = [*(rounds[-1]["said"] if rounds else ()), *(inputs.get("opinions") or ())]
    for voice in voices:
        reply = read_answer(str(voice["text"]), call.schema, call.options)
        yield call.schema.names_in(reply.value), 0.2 * (1 + len(rounds)) / len(voices) * reply.ok
    for role, reply in call.heard.items():
        wanted = frozenset(n for n in offered if f"needed - {_line(n)}:" in reply.text)
        counts = 0.2 if role == "reviewer" else 0.0 if call.role.endswith(_STRICT) else 0.1
        yield call.schema.names_in(reply.value) | wanted, counts * reply.ok
    for side in inputs.get("arguments") or ():
        yield _names_in(side["claim"], call), 0.2 * ('"' in str(side["text"]))
    for known in (*(inputs.get("answers") or ()), *(inputs.get("precedents") or ())):
        alike = matcher.dice_similarity(call.text, str(known["text"]))
        answer = known.get("answer", known.get("label"))
        yield _names_in(answer, call), 2 * alike * (alike >= _ALIKE)


def _names_in(claim: object, call: Call) -> frozenset[str]:
    """The answers in a claim: labels by name, scale points also by number."""
    reply = read_answer(f"Final Decision: {_line(claim)}", call.schema, call.options)
    return call.schema.names_in(reply.value)


def _reasons(view: View) -> Iterator[str]:
    """The lines before the decision."""
    names, extractor = view.decided, view.call.heard.get("extractor")
    critical = view.call.role.endswith("critic")
    yield from (f"- {view.says(name, 'agree - it says ' if critical else '')}" for name in names)
    if critical and extractor:
        against = sorted(view.call.schema.names_in(extractor.value) - {*names})
        yield from (f"- {view.says(name, 'disagree - this is too weak: ')}" for name in against)


def _write_argument(view: View) -> str:
    """A sentence for a claim; of a reviewer the weak and the needed answers."""
    if claim := str(view.call.inputs.get("claim", "")):
        name = next(iter(_names_in(claim, view.call)), claim)
        return f"The answer is {view.says(name, 'that is what this means: ')}."
    draft, wanted = view.call.heard.get("drafter"), view.decided
    weak = sorted(view.call.schema.names_in(draft.value) - {*wanted}) if draft else []
    lines = [f"weak - {view.says(name)}" for name in weak]
    lines += [f"needed - {view.says(name)}" for name in wanted]
    return "\n".join(lines) or "The draft can stand: nothing in the text speaks against it."


def _judge_message(call: Call) -> list[str]:
    """The kind of a message and the features to ask about; unsure rather than wrong."""
    called, chances = call.inputs["verdicts"], dict(kind_chances(call.text))
    ordinary = chances.pop(ORDINARY)
    kind = max(chances, key=lambda name: chances[name])
    if _UNDER_AGE.search(call.text):
        return [called["sensitive"]]
    if chances[kind] >= _CERTAIN:
        return [called[kind]]
    if chances[kind] >= ordinary or chances[DANGER] >= _DOUBTFUL:
        return [called["unsure"]]
    labels = tuple(label for label in call.schema.labels if label.name not in called.values())
    about = _look_at(call, labels or (LabelDef("none"),))
    return [called[ORDINARY], *(name for name in about.decided if name not in about.rest)]


def _word_question(inputs: Mapping[str, Any]) -> str:
    """A question to an author: the template's words, or one about the feature's name."""
    makeshift = {"question": f"What was your {inputs['name'].lower()} when you wrote this?"}
    template: Mapping[str, Any] = inputs.get("template") or makeshift
    options = [f"- {_line(words)}" for words in template.get("options") or ()]
    lines = ["Options:", *options] if options else []
    return "\n".join([f"Question: {_line(template['question'])}", *lines])


def _line(words: object) -> str:
    """``words`` on one line."""
    return " ".join(str(words).split())


def _write_answer(lines: Iterable[str], names: Iterable[str], between: str = ", ") -> str:
    """The whole answer, with the decision on the last line."""
    return "\n".join([*lines, f"Final Decision: {_line(between.join(names)) or 'none'}"])


_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile(r"[^\W\d_]+")
#: Characters of a text that are read, and the fewest words of a wish.
_READ, _WISH = 2000, 4


def chat_reply(history: Sequence[tuple[str, str]], instructions: str) -> str:
    """The next reply in a conversation; a few sentences that repeat no words of the author.

    Args:
        history: (role, text), oldest first; all roles but ``assistant`` are the author's.
        instructions: of the site; they decide the language if the author's words do not.
    """
    texts = [text[:_READ] for role, text in history if role != "assistant"] or [""]
    replies = [text.strip() for role, text in history if role == "assistant"]
    written, says = " ".join(texts), lexicon()["chat"][_language(texts, instructions)]
    first = not any(reply.endswith(tuple(says["questions"])) for reply in replies)
    parts: list[str] = [says["what_i_am"]] if first else []
    asks = "?" in texts[-1].replace("？", "?")
    if asks or not first:
        parts.append(says["cannot" if asks else "noted"])
    wish, price, *others = says["questions"]
    open_ = others if re.search(r"\d", written) else [price, *others]
    open_ = open_ if len(written.split()) >= _WISH or _KANA.search(written) else [wish, *open_]
    asked = "\n".join(replies)
    parts.append(next((question for question in open_ if question not in asked), others[-1]))
    return " ".join(parts)


def _language(texts: Sequence[str], instructions: str) -> str:
    """The language of the last text, of all texts, or of the instructions: the first known one."""
    chat: dict[str, dict[str, str]] = lexicon()["chat"]
    marks = {language: says["marks"].split() for language, says in chat.items()}
    for text, least in ((texts[-1], 2), (" ".join(texts), 1), (instructions, 2)):
        if _KANA.search(text):
            return "ja"
        words = _WORD.findall(text.casefold())
        hits = {language: sum(word in known for word in words) for language, known in marks.items()}
        best = max(hits, key=lambda language: hits[language])
        if hits[best] >= least:
            return best
    return "en"
