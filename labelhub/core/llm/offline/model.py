"""The offline model: deterministic text matching behind the port of a language model.

It is NOT a language model. It makes the product usable without one: in the demo, in tests, on a
machine without network. It matches words of the labels, their descriptions and a general lexicon.
"""

from dataclasses import replace

from labelhub.core.llm.offline.answers import written
from labelhub.core.llm.offline.decide import decided
from labelhub.core.llm.offline.examples import example_answer
from labelhub.core.llm.offline.instruct import instructions
from labelhub.core.llm.offline.judgement import judged
from labelhub.core.llm.offline.look import look_at
from labelhub.core.llm.offline.offer import offer
from labelhub.core.llm.offline.question import few_words, wording
from labelhub.core.llm.offline.spaces import decided_in_space
from labelhub.core.llm.offline.speech import plea, ranking, reason, review, ruling, second_thoughts
from labelhub.core.llm.types import AnswerField, Call, Completion, Output, Usage

_CHARS_PER_TOKEN = 4


class OfflineModel:
    """A :class:`~labelhub.core.llm.types.ChatModel` that needs no network and always answers.

    The same call always gets the same answer. Token counts are estimated from characters.
    """

    name = "offline"

    async def complete(self, call: Call) -> Completion:
        """Play ``call.role`` on ``call.text``; never raises for any text or valid schema."""
        answer = _answer(call)
        asked = sum(len(message.content) for message in call.messages) or len(call.text)
        return Completion(
            text=answer,
            usage=Usage(_tokens(asked), _tokens(len(answer)), estimated=True),
            model_answered=self.name,
        )


def _answer(call: Call) -> str:
    """The answer in the form that the call's prompt asks for."""
    if call.output == Output.QUESTION:
        return wording(call)
    if call.output == Output.OFFER:
        return offer(call)
    if call.output == Output.INSTRUCTIONS:
        return instructions(call)
    # A reporter speaks of an example instead of the item's text. No answer may hold a NUL, so none
    # is quoted.
    text = str(call.inputs.get("example", call.text)).replace("\0", " ")
    if "verdicts" in call.inputs:
        return judged(replace(call, text=text))
    return _answer_about(text, call)


def _answer_about(text: str, call: Call) -> str:
    look = look_at(replace(call, text=text))
    match call.output:
        case Output.RANKING:
            return ranking(look)
        case Output.ARGUMENT if "example" in call.inputs:
            return reason(look, call)
        case Output.ARGUMENT:
            return plea(look, call) if "claim" in call.inputs else review(look)
    if "most_words" in call.inputs:
        said = example_answer(call, look.book) or few_words(
            look, call.inputs.get("cues", ()), call.inputs["most_words"]
        )
        return written((), said)
    verdict = decided_in_space(look, call) or decided(look)
    reasons = (*ruling(look, call), *second_thoughts(look), *verdict.lines)
    label_alone = call.fields == (AnswerField.LABEL,)
    return written(() if label_alone else reasons, verdict.decided)


def _tokens(chars: int) -> int:
    return -(-chars // _CHARS_PER_TOKEN)
