"""The rungs in their order, each only where the one before found nothing at all."""

import re
from collections.abc import Sequence

from labelhub.core.llm.parsing.cleaning import one_line_end, readable
from labelhub.core.llm.parsing.decision import Decision, last_decision
from labelhub.core.llm.parsing.lenient import read_lenient
from labelhub.core.llm.parsing.structured import MISSING, embedded_answer, read_json, whole_answer
from labelhub.core.schema import Schema, Value, ValueNotOffered
from labelhub.core.schema.content import NoAnswer, read_content

#: An answer given only after the question was put once more; whoever asks again sets it.
AFTER_REASK = 5
#: No answer could be read.
UNPARSED = 6

_REFUSAL = re.compile(
    r"\W*(?:i['’]?m sorry|i am sorry|sorry,|i apologi[sz]e|i can['’]?t (?:help|assist|comply)"
    r"|i cannot (?:help|assist|comply)|i won['’]?t )",
    re.IGNORECASE,
)


def climb(
    said: str, schema: Schema, options: Sequence[str] = (), *, cut_off: bool = False
) -> tuple[Value, int]:
    """The value in ``said`` and the rung it was read on, 1 to 4.

    Args:
        said: the answer without its thinking.
        schema: the question.
        options: the item's own choices (``per_item``).
        cut_off: the answer ended at its cap on tokens, so its last line may be unfinished.

    Raises:
        ValueNotOffered: the answer names what is not offered; ``data["off_menu"]`` has it.
        NoAnswer: there is none, or none that is certain.
    """
    text = prepared(said, schema)
    raw = whole_answer(text, schema)
    if raw is not MISSING:
        return read_json(raw, schema, options), 1
    decision = last_decision(text, schema)
    embedded = embedded_answer(text, schema, after=decision.at if decision else -1)
    if embedded is not MISSING:
        return read_json(embedded, schema, options), 2
    if decision is not None:
        return _stated(decision, text, schema, options, cut_off=cut_off)
    if cut_off or is_refusal(text):
        raise NoAnswer("The answer has no 'Final Decision:' line.")
    return read_lenient(text, schema, options), 4


def prepared(said: str, schema: Schema) -> str:
    """The text as it is read; free text keeps all but the kind of its line ends."""
    return one_line_end(said) if schema.task.written else readable(said)


def is_refusal(text: str) -> bool:
    """Whether ``text`` begins as refusals do."""
    return _REFUSAL.match(text) is not None


def _stated(
    decision: Decision, text: str, schema: Schema, options: Sequence[str], *, cut_off: bool
) -> tuple[Value, int]:
    if cut_off and not decision.complete:
        raise NoAnswer("The answer was cut off in its last line.")
    if decision.retracted:
        raise NoAnswer("What the answer decides, it asks or takes back.")
    try:
        return read_content(decision.content, schema, options), 3
    except ValueNotOffered as problem:
        # A sentence may give its reason after the name; a decision line may not.
        if not decision.prose or cut_off:
            raise
        strange = problem
    try:
        return read_lenient(text[decision.at :].lstrip(".!?; "), schema, options), 4
    except NoAnswer:
        raise strange from None
