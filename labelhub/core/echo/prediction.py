"""A model's prediction of one feature of one message: the call, and the reading of its reply.

The prompt holds the most similar messages with authors' answers and an instruction found by search;
messages, context and free answers are text of strangers and delimited. The result is one of the
feature's values, a few words, or the reason why the reply is unusable; nothing is guessed
(paper 004, sections 3.1 and 3.4). Pure: a call out, a reply in.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from labelhub.core.echo.examples import Example
from labelhub.core.errors import InvalidInput
from labelhub.core.leaks import Leaks, no_leaks
from labelhub.core.llm.parsing import strip_thinking
from labelhub.core.llm.types import Call, Reply, Status
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import Schema, fold, parse_schema
from labelhub.core.schema.menu import label_block
from labelhub.core.similarity import words

LEAST_INSTRUCTION, MOST_INSTRUCTION = 20, 400
#: The most characters of a message that an instruction may repeat in one piece.
LONGEST_QUOTE = 30
#: Characters of a reply that are read.
_READ = 12_000
_HEAD = re.compile(
    r"[ \t#*_>\-\d.)]*instruction(?:[ \t]*\d+)?[*_ \t]*[:：][ \t*_]*(?P<rest>.*)", re.IGNORECASE
)
_FORM = re.compile(r"[<>{}\[\]\\`|‹›«»]|~~~|\*\*|__|^\s*[#>-]|&#?\w{1,10};|-{3}|={3}")
_ADDRESS = re.compile(
    r"\w+:/|\bwww\.|\S@\S|\b[a-z0-9-]{2,}\.(?:com|net|org|io|info|biz|co)\b", re.IGNORECASE
)
_ROLE = re.compile(
    r"\b(?:system|assistant|user|developer|human|ai)\s*[:：]|\bfinal (?:decision|answer)\b"
)
_OFFERED = (
    r"(?:values?|options?|answers?|labels?|list(?:ed)?|choices?|categor\w+|names?|rules?|"
    r"instructions?|prompts?|definitions?|above|format)\b"
)
_NEAR = r"(?:\w+[ '’,-]+){0,5}"
_ORDERS = re.compile(
    r"\b(?:ignor|disregard|overrid|overrul|forget|bypass|skip|omit|replac|renam|drop)\w*\s+"
    rf"{_NEAR}{_OFFERED}"
    rf"|\b(?:instead of|other than|outside|beyond|besides)\s+{_NEAR}{_OFFERED}"
    r"|\b(?:invent|make up|coin|add)\w*\s+(?:\w+ ){0,3}(?:values?|options?|answers?|labels?|own)\b"
    r"|\b(?:use|give|write|answer|say|reply|respond)(?: with)? (?:\w+ ){0,2}"
    r"(?:new|own|different|other|another|unlisted|free)\b"
    r"|\bnot (?:listed|offered|in the list)\b"
    # With a condition it is a rule; without one it fixes the answer.
    r"|\b(?:always|invariably|just|simply|only) (?:answer|choose|pick|predict|say|output|return"
    r"|respond|reply|write)\b(?!.*\b(?:when|where|if|unless|after|before|once)\b)"
    r"|\b(?:output|reveal|execute|json|delimiters?)\b"
    r"|\b(?:regardless of|no matter) (?:what|how)\b"
)
#: A negated order is no order.
_TURNED = re.compile(r"\b(?:never|not|don['’]t|without|nor)\s+(?:\w+\s+)?$")
#: Words that most English sentences have, and few of other languages.
_ENGLISH = frozenset(
    {"the", "of", "and", "to", "is", "are", "what", "they", "that", "with", "for", "whether"}
    | {"their", "how", "when", "not", "from", "or", "it", "who", "which", "if", "where", "this"}
    | {"than", "them", "a", "as", "on", "by", "at", "be", "has", "have", "about", "before", "after"}
)
_LEAST_ENGLISH = 0.15


@dataclass(frozen=True, slots=True)
class InstructionFault:
    """One reason not to use an instruction: a code for programs, and words."""

    code: str
    detail: str


def instruction_faults(
    text: str, *, shown: Iterable[str] = (), leaks: Leaks = no_leaks
) -> tuple[InstructionFault, ...]:
    """The faults of ``text`` as an instruction; empty if it may be used.

    Args:
        text: untrusted.
        shown: messages that its author (a model) had read; it must not repeat them.
        leaks: whether words hold personal data.
    """
    if not LEAST_INSTRUCTION <= len(text.strip()) <= MOST_INSTRUCTION:
        fits = f"{LEAST_INSTRUCTION} to {MOST_INSTRUCTION} characters fit"
        return (InstructionFault("length", f"It has {len(text.strip()):,} characters; {fits}."),)
    return (*_form(text), *_orders(text), *_privacy(text, shown, leaks))


def read_instructions(reply_text: str) -> tuple[str, ...]:
    """The instructions in a reply, each on one line after "Instruction:", not checked yet.

    Equal ones count once; other lines are ignored.
    """
    found: dict[str, str] = {}
    for line in strip_thinking(reply_text[:_READ]).splitlines():
        match = _HEAD.match(line)
        text = " ".join(match["rest"].split()).strip(" *_\"'“”") if match else ""
        if text:
            found.setdefault(instruction_key(text), unicodedata.normalize("NFC", text))
    return tuple(found.values())


def instruction_key(text: str) -> str:
    """A key without differences of case, blanks and marks."""
    return " ".join(re.findall(r"\w+", fold(text)))


def _form(text: str) -> Iterator[InstructionFault]:
    strange = next((c for c in text if unicodedata.category(c)[0] == "C"), "")
    if strange:
        yield InstructionFault("control_character", f"It holds U+{ord(strange):04X}.")
    if _FORM.search(text):
        yield InstructionFault("markup", "It holds markup, a delimiter or a placeholder.")
    if _ADDRESS.search(text):
        yield InstructionFault("address", "It holds a link or an address.")
    # Orders are found in English only.
    letters = [char for char in text if char.isalpha()]
    latin = all(unicodedata.normalize("NFKD", char)[0].isascii() for char in letters)
    tokens = re.findall(r"\w+", fold(text))
    common = sum(word in _ENGLISH for word in tokens)
    if not (latin and bool(tokens) and common >= _LEAST_ENGLISH * len(tokens)):
        yield InstructionFault("language", "It is not written in English.")


def _orders(text: str) -> Iterator[InstructionFault]:
    folded = fold(text).replace("’", "'")
    if found := _ROLE.search(folded):
        yield InstructionFault("role", f'"{found[0]}": it takes a part in the conversation.')
    for order in _ORDERS.finditer(folded):
        if not _TURNED.search(folded[: order.start()]):
            yield InstructionFault("order", f'"{order[0]}": it is about more than where to look.')
            return


def _privacy(text: str, shown: Iterable[str], leaks: Leaks) -> Iterator[InstructionFault]:
    if leaks(text):
        yield InstructionFault("personal_data", "It holds something like personal data.")
    plain, size = _fold_blanks(text), LONGEST_QUOTE + 1
    pieces = {plain[start : start + size] for start in range(len(plain) - size + 1)}
    for message in shown:
        written = _fold_blanks(message)
        if any(written[start : start + size] in pieces for start in range(len(written) - size + 1)):
            yield InstructionFault("quote", f"It repeats over {LONGEST_QUOTE} characters of one.")
            return


def _fold_blanks(text: str) -> str:
    return " ".join(fold(text).split())


ROLE = "predict"
#: The most words and characters of a prediction of an open feature.
MOST_WORDS, MOST_CHARACTERS = 4, 60
#: The probability that all values share: endpoints report only some alternatives of a token.
KEPT_OPEN = 0.01

_QUESTION = "{name}: {definition} What is most probable?"
#: ``top_logprobs`` makes endpoints report alternatives to the chosen token.
_PARAMS: Mapping[str, Any] = {"temperature": 0, "logprobs": True, "top_logprobs": 5}


@dataclass(frozen=True, slots=True)
class FeatureTask:
    """A feature as its models see it.

    Args:
        key: its name for programs.
        name: its name for people.
        definition: for people and models.
        values: all its values, including bands of a number; empty for an open feature.
        meanings: value → its meaning.
        signs: words for models that match text; passed on unchanged.
    """

    key: str
    name: str
    definition: str
    values: tuple[str, ...] = ()
    meanings: Mapping[str, str] = field(default_factory=dict, hash=False)
    signs: Mapping[str, Any] = field(default_factory=dict, hash=False, compare=False)


@dataclass(frozen=True, slots=True)
class MessageContext:
    """A message in the form for models.

    Args:
        text: already redacted.
        context: the messages before, (role, text), already redacted and cut.
        conversation: an id of the conversation; "" if unknown.
        author: an id of the author; "" if unknown.
    """

    text: str
    context: tuple[tuple[str, str], ...] = ()
    conversation: str = ""
    author: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictPlan:
    """How a site's features are predicted.

    Args:
        prompt: of the role "predict".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        leaks: whether words hold personal data.
    """

    prompt: Prompt
    salt: str
    leaks: Leaks = no_leaks


@dataclass(frozen=True, slots=True)
class ReadPrediction:
    """The prediction in a reply.

    Args:
        value: one of the feature's values, or a few words; "" if it is unusable.
        unusable: the reason as a code: the status of the call ("failed", "unparsed" …),
            "not_offered", "too_long" or "not_fit_to_show"; "" with a value.
        probabilities: of every value, summing to 1, none of them 0; None if the endpoint reports
            none. They are the model's own and not calibrated.
    """

    value: str
    unusable: str = ""
    probabilities: Mapping[str, float] | None = None


def predict_call(
    task: FeatureTask,
    moment: MessageContext,
    plan: PredictPlan,
    *,
    instruction: str = "",
    examples: Sequence[Example] = (),
    step: str = "",
) -> Call:
    """The call that predicts the feature's value for a message.

    Args:
        instruction: found by search; "" for none.
        examples: the best first, as :class:`~labelhub.core.echo.examples.ExampleIndex` gives
            them, and shown last; examples of values that the feature no longer has are left out.
        step: the call's name; "predict/<key>" if empty.

    Raises:
        InvalidInput: the instruction has a fault, or the values are no labels.
    """
    if instruction and (faults := instruction_faults(instruction)):
        raise InvalidInput.at("instruction", faults[0].detail)
    schema = value_schema(task)
    known = [example for example in examples if not task.values or example.value in task.values]
    answers = [{"text": example.text, "answer": example.value} for example in known]
    free = {} if task.values else {"most_words": MOST_WORDS}
    return Call(
        step=step or f"{ROLE}/{task.key}",
        role=ROLE,
        messages=plan.prompt.render(
            instruction=instruction,
            examples=[
                _example_block(example, task, moment, plan.salt) for example in reversed(known)
            ],
            item=_item_block(moment, plan.salt),
            task=schema.task.prompt_task,
            question=schema.question,
            labels=label_block(schema),
        ),
        prompt_hash=plan.prompt.hash,
        schema=schema,
        text=moment.text,
        inputs={**free, **task.signs, "answers": answers},
        params=dict(_PARAMS),
        output=plan.prompt.output,
    )


def read_prediction(task: FeatureTask, reply: Reply, leaks: Leaks = no_leaks) -> ReadPrediction:
    """The prediction in a reply to :func:`predict_call`; never raises.

    ``leaks``: whether words hold personal data; checked for free words only.
    """
    value = reply.value
    if not reply.ok or not isinstance(value, str):
        return ReadPrediction("", str(Status.UNPARSED if reply.ok else reply.status))
    if task.values:
        if value not in task.values:
            return ReadPrediction("", "not_offered")
        return ReadPrediction(
            value, probabilities=normalise_shares(task.values, reply.probabilities)
        )
    if len(value.split()) > MOST_WORDS or len(value) > MOST_CHARACTERS:
        return ReadPrediction("", "too_long")
    if not value.strip() or any(unicodedata.category(char)[0] == "C" for char in value):
        return ReadPrediction("", "not_fit_to_show")
    return ReadPrediction("", "not_fit_to_show") if leaks(value) else ReadPrediction(value)


def same_answer(task: FeatureTask, answer: str, other: str) -> bool:
    """Whether two answers are the same value, or the same words for an open feature."""
    return answer == other if task.values else words(answer) == words(other)


def value_schema(task: FeatureTask) -> Schema:
    """The schema for a feature's question: one of its values, or free text."""
    meanings = tuple(task.meanings.get(value, "") for value in task.values)
    return _schema(task.name, task.definition, task.values, meanings)


@lru_cache(maxsize=1024)
def _schema(
    name: str, definition: str, values: tuple[str, ...], meanings: tuple[str, ...]
) -> Schema:
    question = _QUESTION.format(name=name, definition=definition)
    if not values:
        return parse_schema({"task": "text", "question": question})
    pairs = zip(values, meanings, strict=True)
    labels = [{"name": value, "description": meaning} for value, meaning in pairs]
    return parse_schema({"task": "single", "question": question, "labels": labels})


def _example_block(
    example: Example, task: FeatureTask, moment: MessageContext, salt: str
) -> dict[str, str]:
    """An example as prompts show it; free answers are words of strangers and delimited."""
    answer = example.value if task.values else fence(example.value, salt)
    return {
        "whose": _example_source(example, moment),
        "text": fence(example.text, salt),
        "answer": answer,
    }


def _example_source(example: Example, moment: MessageContext) -> str:
    if moment.conversation and example.conversation == moment.conversation:
        return "of the same author in the same conversation"
    if moment.author and example.author == moment.author:
        return "of the same author in another conversation"
    return "of another author" if moment.author and example.author else "from elsewhere"


def _item_block(moment: MessageContext, salt: str) -> str:
    """The message as prompts show it, after the messages before it."""
    before = "\n".join(f"{role}: {text}" for role, text in moment.context)
    parts = [f"What was said before:\n{fence(before, salt)}"] if before else []
    return "\n\n".join([*parts, f"The message:\n{fence(moment.text, salt)}"])


def normalise_shares(values: Sequence[str], likely: Mapping[str, float]) -> dict[str, float] | None:
    """A model's probabilities of the ``values``, summing to 1 and none of them 0; None without any.

    Args:
        values: all values of the feature.
        likely: the ``probabilities`` of a reply.
    """
    shares = {value: likely.get(value, 0.0) for value in values}
    total = sum(shares.values())
    if not total:
        return None
    open_ = KEPT_OPEN / len(shares)
    return {value: (1 - KEPT_OPEN) * share / total + open_ for value, share in shares.items()}
