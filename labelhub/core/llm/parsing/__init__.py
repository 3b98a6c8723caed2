"""From what a model wrote to a label, by a short strict ladder; what is not certain is not a label.

Rungs, kept with every reply:

1. the whole text is JSON that answers the question;
2. so is a JSON object (or a fenced list) within the text, with no decision line after it;
3. the last ``Final Decision: …`` line; where there is none, the last ``The label is X`` sentence or
   ``The present aspects are: …`` line; where there is none either, the last line of hashtags.

Names count letter for letter (case, width and decoration aside), also by the number the prompt
shows: ``Dovish``, ``0``, ``0: Dovish``. A name that is not offered makes the reply ``unparsed``,
with a note that says which. Nothing is ever matched by likeness.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from labelhub.core.llm.parsing.decision import last_decision
from labelhub.core.llm.parsing.evidence import read_evidence
from labelhub.core.llm.parsing.names import NoAnswer, read_content
from labelhub.core.llm.parsing.structured import MISSING, embedded_answer, read_json, whole_answer
from labelhub.core.llm.types import Call, Completion, Reply, Status
from labelhub.core.schema import Schema, Value, ValueNotOffered

_THOUGHT = re.compile(r"<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|reasoning)>.*\Z", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"\A.*</(?:think|thinking|reasoning)>", re.DOTALL | re.IGNORECASE)
_REFUSAL = re.compile(
    r"\W*(?:i'?m sorry|i am sorry|sorry,|i apologi[sz]e|i can'?t (?:help|assist|comply)"
    r"|i cannot (?:help|assist|comply)|i won'?t )",
    re.IGNORECASE,
)


def read_completion(call: Call, completion: Completion) -> Reply:
    """What ``completion`` says to ``call``; evidence is checked against the call's text."""
    return read_answer(
        completion.text,
        call.schema,
        call.options,
        completion.finish_reason,
        completion.refusal,
        source=call.text,
    )


def read_answer(
    text: str,
    schema: Schema,
    options: Sequence[str] = (),
    finish_reason: str = "stop",
    refusal: str = "",
    *,
    source: str = "",
) -> Reply:
    """The reply in ``text``. Never raises; a value that is not offered is never returned.

    Args:
        text: what the model wrote; thinking in tags is cut off before anything is read.
        schema: the question.
        options: the item's own choices (``per_item``).
        finish_reason: as the provider says; ``length`` makes an unfinished answer ``truncated``,
            ``content_filter`` any answer ``refused``.
        refusal: the provider's refusal field.
        source: the item's text; a quotation that does not occur in it is dropped.
    """
    said = without_thinking(text)
    if refusal or finish_reason == "content_filter":
        note = refusal or "The provider's content filter stopped the answer."
        return Reply(said, status=Status.REFUSED, note=note)
    reply = _climb(said, schema, options, cut_off=finish_reason == "length")
    return replace(reply, evidence=read_evidence(said, schema.offered(options), source))


def without_thinking(text: str) -> str:
    """``text`` without what stands in think tags, also where one of the two tags is missing."""
    text = _THOUGHT.sub("", text)
    text = _THOUGHT_END.sub("", text)
    return _OPEN_THOUGHT.sub("", text).strip("\r\n \t") + ("\n" if text.endswith("\n") else "")


def _climb(said: str, schema: Schema, options: Sequence[str], *, cut_off: bool) -> Reply:
    try:
        value, rung = _read(said, schema, options, cut_off=cut_off)
    except (NoAnswer, ValueNotOffered) as problem:
        return Reply(said, status=_status(said, problem, cut_off=cut_off), note=str(problem))
    return Reply(said, value=value, rung=rung)


def _read(said: str, schema: Schema, options: Sequence[str], *, cut_off: bool) -> tuple[Value, int]:
    raw = whole_answer(said, schema)
    if raw is not MISSING:
        return read_json(raw, schema, options), 1
    decision = last_decision(said, schema)
    embedded = embedded_answer(said, schema, after=decision.at if decision else -1)
    if embedded is not MISSING:
        return read_json(embedded, schema, options), 2
    if decision is None:
        raise NoAnswer("The answer has no 'Final Decision:' line.")
    if cut_off and not decision.complete:
        raise NoAnswer("The answer was cut off in its last line.")
    return read_content(decision.content, schema, options), 3


def _status(said: str, problem: Exception, *, cut_off: bool) -> Status:
    if not isinstance(problem, NoAnswer):
        return Status.UNPARSED
    if cut_off:
        return Status.TRUNCATED
    return Status.REFUSED if _REFUSAL.match(said) else Status.UNPARSED
