"""The offline model: deterministic text matching behind the port of a language model.

It is NOT a language model. It makes the product usable without one: in the demo, in tests, on a
machine without network. It matches words of the labels, their descriptions and a general lexicon.
"""

from dataclasses import replace

from labelhub.core.llm.offline.answers import written
from labelhub.core.llm.offline.look import Look, Verdict, look_at
from labelhub.core.llm.offline.one import decide_one
from labelhub.core.llm.offline.phrase import decide_phrase
from labelhub.core.llm.offline.scale import decide_point
from labelhub.core.llm.offline.several import decide_several
from labelhub.core.llm.types import Call, Completion, Usage
from labelhub.core.schema import Task

_CHARS_PER_TOKEN = 4


class OfflineModel:
    """A :class:`~labelhub.core.llm.types.ChatModel` that needs no network and always answers.

    The same call always gets the same answer. Token counts are estimated from characters.
    """

    name = "offline"

    async def complete(self, call: Call) -> Completion:
        """Play ``call.role`` on ``call.text``; never raises for any text or valid schema."""
        # No answer may hold a NUL, so none is quoted.
        verdict = _decided(look_at(replace(call, text=call.text.replace("\0", " "))))
        answer = written(verdict.lines, verdict.decided)
        asked = sum(len(message.content) for message in call.messages) or len(call.text)
        return Completion(
            text=answer,
            usage=Usage(_tokens(asked), _tokens(len(answer)), estimated=True),
            model_answered=self.name,
        )


def _decided(look: Look) -> Verdict:
    match look.schema.task:
        case Task.MULTI:
            return decide_several(look)
        case Task.ORDINAL:
            return decide_point(look)
        case Task.TEXT:
            return decide_phrase(look)
        case Task.SINGLE | Task.PER_ITEM:
            return decide_one(look)


def _tokens(chars: int) -> int:
    return -(-chars // _CHARS_PER_TOKEN)
