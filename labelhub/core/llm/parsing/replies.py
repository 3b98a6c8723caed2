"""From a completion to the reply that a protocol hears."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from labelhub.core.llm.parsing.cleaning import without_thinking
from labelhub.core.llm.parsing.evidence import read_evidence
from labelhub.core.llm.parsing.ladder import climb, is_refusal
from labelhub.core.llm.parsing.likelihood import label_probabilities, presence_probabilities
from labelhub.core.llm.parsing.ranking import read_ranks
from labelhub.core.llm.types import Call, Completion, Output, Reply, Status
from labelhub.core.schema import Schema, ValueNotOffered
from labelhub.core.schema.content import NoAnswer
from labelhub.core.schema.menu import answer_ids

_DECLINED = re.compile(
    r"\W*(?:(?:i['’]?m|i am) sorry|sorry|i apologi[sz]e)[^.!?\n]{0,80}"
    r"\b(?:can['’]?t|cannot|unable|not able|won['’]?t)\b"
    r"|\W*i (?:can['’]?t|cannot|won['’]?t) (?:help|assist|comply|argue|write|provide)\b",
    re.IGNORECASE,
)


def read_completion(call: Call, completion: Completion) -> Reply:
    """What ``completion`` says to ``call``, read as the call's ``output`` says.

    Evidence is checked against the call's text. ``probabilities`` are those of the labels by name,
    or of each one's being in a set, where the completion has log-probabilities.
    """
    if call.output in _WORDED:
        return read_question(completion.text, completion.finish_reason, completion.refusal)
    read = _READERS.get(call.output, read_answer)
    reply = read(
        completion.text,
        call.schema,
        call.options,
        completion.finish_reason,
        completion.refusal,
        source=call.text,
    )
    if reply.value is None or not completion.logprobs:
        return reply
    return replace(reply, probabilities=_probabilities(call, completion, reply))


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
    said, refused = _heard(text, finish_reason, refusal)
    if refused is not None:
        return refused
    cut_off = finish_reason == "length"
    try:
        value, rung = climb(said, schema, options, cut_off=cut_off)
    except (NoAnswer, ValueNotOffered) as problem:
        reply = _unread(said, problem, cut_off=cut_off)
    else:
        reply = Reply(said, value=value, rung=rung, cut_off=cut_off)
    return replace(reply, evidence=read_evidence(said, schema.offered(options), source))


def read_ranking(
    text: str,
    schema: Schema,
    options: Sequence[str] = (),
    finish_reason: str = "stop",
    refusal: str = "",
    *,
    source: str = "",
) -> Reply:
    """The ranking in ``text``: ``value`` is the best answer, ``ranking`` all that were read.

    Never raises. A first choice that is not offered makes it ``unparsed``; a later one is left out.
    Arguments are those of :func:`read_answer`.
    """
    said, refused = _heard(text, finish_reason, refusal)
    if refused is not None:
        return refused
    cut_off = finish_reason == "length"
    try:
        ranking, rung = read_ranks(said, schema, options, cut_off=cut_off)
    except (NoAnswer, ValueNotOffered) as problem:
        reply = _unread(said, problem, cut_off=cut_off)
    else:
        reply = Reply(said, value=ranking[0], rung=rung, ranking=ranking, cut_off=cut_off)
    return replace(reply, evidence=read_evidence(said, schema.offered(options), source))


def read_argument(
    text: str,
    schema: Schema,
    options: Sequence[str] = (),
    finish_reason: str = "stop",
    refusal: str = "",
    *,
    source: str = "",
) -> Reply:
    """The argument in ``text``: any words at all are one, also unfinished ones; it has no value.

    Never raises. Arguments are those of :func:`read_answer`.
    """
    said, refused = _heard(text, finish_reason, refusal)
    if refused is not None:
        return refused
    cut_off = finish_reason == "length"
    if not said.strip():
        return _unread(said, NoAnswer("The answer is empty."), cut_off=cut_off)
    if _DECLINED.match(said):
        return Reply(said, status=Status.REFUSED, note="The model declined to argue.")
    evidence = read_evidence(said, schema.offered(options), source)
    return Reply(said, evidence=evidence, cut_off=cut_off)


def read_question(text: str, finish_reason: str = "stop", refusal: str = "") -> Reply:
    """The wording of a question, an offer or instructions, as it stands; who asked checks it.

    Never raises. It has no value and no evidence. Arguments are those of :func:`read_answer`.
    """
    said, refused = _heard(text, finish_reason, refusal)
    if refused is not None:
        return refused
    cut_off = finish_reason == "length"
    if not said.strip():
        return _unread(said, NoAnswer("The answer is empty."), cut_off=cut_off)
    if _DECLINED.match(said):
        return Reply(said, status=Status.REFUSED, note="The model declined to word it.")
    return Reply(said, cut_off=cut_off)


def _heard(text: str, finish_reason: str, refusal: str) -> tuple[str, Reply | None]:
    """The text without its thinking, and the reply where the provider says that it was refused."""
    said = without_thinking(text)
    if not refusal and finish_reason != "content_filter":
        return said, None
    note = refusal or "The provider's content filter stopped the answer."
    return said, Reply(said, status=Status.REFUSED, note=note)


def _unread(said: str, problem: Exception, *, cut_off: bool) -> Reply:
    status, off_menu = Status.UNPARSED, ""
    if isinstance(problem, ValueNotOffered):
        off_menu = str(problem.data.get("off_menu", ""))
    elif cut_off:
        status = Status.TRUNCATED
    elif is_refusal(said):
        status = Status.REFUSED
    return Reply(said, status=status, note=str(problem), off_menu=off_menu, cut_off=cut_off)


def _probabilities(call: Call, completion: Completion, reply: Reply) -> dict[str, float]:
    if call.schema.task.written:
        return {}
    if isinstance(reply.value, list):
        names = call.schema.offered(call.options)
        return presence_probabilities(completion.logprobs, names, reply.value)
    points = {label.point: label.name for label in call.schema.labels}
    return label_probabilities(
        completion.text,
        completion.logprobs,
        call.schema.offered(call.options),
        ids=answer_ids(call.schema),
        decided=points[reply.value] if isinstance(reply.value, int | float) else str(reply.value),
    )


#: What is worded freely.
_WORDED = frozenset({Output.QUESTION, Output.OFFER, Output.INSTRUCTIONS})
_READERS: Mapping[str, Callable[..., Reply]] = {
    Output.DECISION: read_answer,
    Output.RANKING: read_ranking,
    Output.ARGUMENT: read_argument,
}
