"""The call that asks a language model to predict one feature of one message.

The prompt holds the most similar messages with authors' answers; messages, context and free answers
are text of strangers and delimited (paper 004, sections 3.1 and 3.4).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labelhub.core.echo.examples import Example
from labelhub.core.llm.types import Call
from labelhub.core.prompts import Prompt, fence
from labelhub.core.schema import Schema
from labelhub.core.schema.menu import label_block

ROLE = "predict"
#: The probability that all values share: endpoints report only some alternatives of a token.
KEPT_OPEN = 0.01
#: ``top_logprobs`` makes endpoints report alternatives to the chosen token.
_PARAMS: Mapping[str, Any] = {"temperature": 0, "logprobs": True, "top_logprobs": 5}


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


def predict_call(
    key: str,
    schema: Schema,
    moment: MessageContext,
    prompt: Prompt,
    salt: str,
    *,
    signs: Mapping[str, Any] | None = None,
    examples: Sequence[Example] = (),
) -> Call:
    """The call that predicts a feature's value for a message.

    Args:
        key: of the feature.
        schema: of its question: one of its values, or free text.
        moment: the message.
        prompt: of the role "predict".
        salt: unknown to authors and constant for a site; makes delimiters that cannot be forged.
        signs: words for models that match text; passed on unchanged.
        examples: the best first, as :class:`~labelhub.core.echo.examples.ExampleIndex` gives
            them, and shown last; examples of values that the feature no longer has are left out.
    """
    values = schema.names
    known = [example for example in examples if not values or example.value in values]
    before = "\n".join(f"{role}: {text}" for role, text in moment.context)
    earlier = f"What was said before:\n{fence(before, salt)}\n\n" if before else ""
    answers = [{"text": example.text, "answer": example.value} for example in known]
    return Call(
        step=f"{ROLE}/{key}",
        role=ROLE,
        messages=prompt.render(
            examples=[
                {
                    "whose": _example_source(example, moment),
                    "text": fence(example.text, salt),
                    # Free answers are words of strangers.
                    "answer": example.value if values else fence(example.value, salt),
                }
                for example in reversed(known)
            ],
            item=f"{earlier}The message:\n{fence(moment.text, salt)}",
            task=schema.task.prompt_task,
            question=schema.question,
            labels=label_block(schema),
        ),
        prompt_hash=prompt.hash,
        schema=schema,
        text=moment.text,
        inputs={**(signs or {}), "answers": answers},
        params=dict(_PARAMS),
        output=prompt.output,
    )


def _example_source(example: Example, moment: MessageContext) -> str:
    if moment.conversation and example.conversation == moment.conversation:
        return "of the same author in the same conversation"
    if moment.author and example.author == moment.author:
        return "of the same author in another conversation"
    return "of another author" if moment.author and example.author else "from elsewhere"


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
