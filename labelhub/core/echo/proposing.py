"""Having instructions proposed: what a model is shown, and what of its words can be used."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any

from labelhub.core.echo.examples import MOST_TEXT_TOKENS, Example, shortened
from labelhub.core.echo.instructions import (
    MOST_CHARACTERS,
    instruction_faults,
    instruction_key,
    read_instructions,
)
from labelhub.core.echo.predicting import FeatureTask, label_block, same_answer, value_schema
from labelhub.core.echo.search_plan import AT_ONCE, SearchPlan
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import fence

ROLE = "instruct"
#: Labelled messages that one list is asked for with.
SHOWN_AT_ONCE = 12
#: So that lists differ.
_USUAL_PARAMS = {"temperature": 1}


def instruct_calls(task: FeatureTask, plan: SearchPlan, shown: Sequence[Example]) -> list[Call]:
    """Calls that ask for ``plan.candidates`` instructions in all; steps "instruct/<n>".

    ``shown``: what authors answered, one or more; each call shows others, where there are enough.
    """
    numbers = range(ceil(plan.candidates / AT_ONCE))
    return [_instruct_call(task, plan, shown, number) for number in numbers]


def usable(
    replies: Iterable[Reply], plan: SearchPlan, shown: Sequence[Example]
) -> tuple[list[str], list[dict[str, Any]]]:
    """Instructions without faults, each once and none that is in use; and why others were refused.

    At most ``plan.candidates``. The words of those refused are not told: they may be why.
    """
    known = {instruction_key(plan.present)}
    texts = [each.text for each in shown]
    found: list[str] = []
    refused: list[dict[str, Any]] = []
    for text in (text for reply in replies if reply.ok for text in read_instructions(reply.text)):
        faults = instruction_faults(text, shown=texts, leaks=plan.predicting.leaks)
        if faults:
            refused.append({"source": "refused", "faults": [each.code for each in faults]})
        elif (key := instruction_key(text)) not in known:
            known.add(key)
            found.append(text)
    return found[: plan.candidates], refused


def _instruct_call(
    task: FeatureTask, plan: SearchPlan, shown: Sequence[Example], number: int
) -> Call:
    schema, salt = value_schema(task), plan.predicting.salt
    begin = number * SHOWN_AT_ONCE % len(shown)
    # In a ring, so that each list is asked for with as many messages.
    part = [*shown[begin:], *shown[:begin]][:SHOWN_AT_ONCE]
    count = min(AT_ONCE, plan.candidates - number * AT_ONCE)
    return Call(
        step=f"{ROLE}/{number + 1}",
        role=ROLE,
        messages=plan.instruct.render(
            question=schema.question,
            labels=label_block(schema),
            present=fence(plan.present, salt) if plan.present else "",
            examples=[_told(each, task, salt) for each in part],
            count=count,
            characters=MOST_CHARACTERS,
        ),
        prompt_hash=plan.instruct.hash,
        schema=schema,
        text=part[0].text,
        inputs={"count": count, "first": number * AT_ONCE},
        params={**_USUAL_PARAMS, **plan.params},
        output=plan.instruct.output,
    )


def _told(label: Example, task: FeatureTask, salt: str) -> dict[str, str]:
    """A labelled message as the prompt shows it; free answers are strangers' words."""
    wrong = label.predicted and not same_answer(task, label.predicted, label.value)
    answer, guessed = (
        said if said in task.values or not said else fence(said, salt)
        for said in (label.value, label.predicted if wrong else "")
    )
    text = fence(shortened(label.text, MOST_TEXT_TOKENS), salt)
    return {"text": text, "answer": answer, "guessed": guessed}
