"""From a task to the call that is sent: the prompt rendered, untrusted text between delimiters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apps.agreement.predictivity.reading import conversation_of
from apps.debates.services.casting import prompt_library
from apps.debates.services.scripts import salt_of
from apps.llm.models import ModelSpec, PromptVersion
from apps.projects.models import Item, Project
from labelhub.core.agreement.predictivity import PredictionTask
from labelhub.core.debate.calls import QUESTIONS, USUAL_PARAMS, item_block, label_block
from labelhub.core.debate.outcome import DebateItem
from labelhub.core.llm.identity import call_key
from labelhub.core.llm.types import Call
from labelhub.core.prompts import Prompt, fence, parse_prompt
from labelhub.core.schema import Schema, Task

ROLE = "predictor"
OWN_QUESTION = "It stands with the text."


@dataclass(frozen=True, slots=True)
class Form:
    """What all calls of a study share. ``salt`` is secret to those who write texts."""

    schema: Schema
    prompt: Prompt
    salt: str


def present_prompt() -> Prompt:
    """The prompt as its file says it now."""
    return prompt_library().get("predictivity", ROLE)


def form_of(project: Project, schema: Schema, version: PromptVersion | None = None) -> Form:
    """The form of a project's calls; with a stored version of the prompt where one is given."""
    prompt = parse_prompt(version.name, version.body) if version else present_prompt()
    return Form(schema, prompt, salt_of(project))


def items_of(tasks: Iterable[PredictionTask]) -> dict[int, Item]:
    """The items that the tasks are about and show, those that are still there."""
    wanted = {task.item for task in tasks} | {each.item for task in tasks for each in task.shown}
    return Item.objects.in_bulk(wanted)


def call_of(task: PredictionTask, items: Mapping[int, Item], form: Form) -> Call:
    """The call that asks for the task's prediction; nothing in it says who gave the labels."""
    item = items[task.item]
    options = task.options if form.schema.task is Task.PER_ITEM else ()
    messages = form.prompt.render(
        task=str(form.schema.task),
        question=_question(form.schema),
        labels=label_block(form.schema),
        examples=[_example(items[each.item], each.label, form) for each in task.shown],
        same_conversation=bool(conversation_of(item.meta)),
        item=item_block(_asked(item, options), form.salt),
    )
    return Call(
        step=ROLE,
        role=ROLE,
        messages=messages,
        prompt_hash=form.prompt.hash,
        schema=form.schema,
        text=item.text,
        options=options,
        question=item.question,
        params=USUAL_PARAMS,
        output=form.prompt.output,
    )


def asked_hash(call: Call, model: ModelSpec) -> str:
    """The same for calls that are sent the same."""
    endpoint, about = model.identity
    return call_key(call, endpoint=endpoint, model=about, replicate=1)


def _question(schema: Schema) -> str:
    if schema.task is Task.PER_ITEM:
        return schema.question or OWN_QUESTION
    return schema.question or QUESTIONS[schema.task]


def _asked(item: Item, options: tuple[str, ...]) -> DebateItem:
    return DebateItem(
        key=item.external_id,
        text=item.text,
        context=tuple((each["role"], each["text"]) for each in item.context),
        question=item.question,
        options=options,
    )


def _example(item: Item, label: str, form: Form) -> dict[str, str]:
    return {
        "text": fence(item.text, form.salt),
        "question": fence(item.question, form.salt) if item.question else "",
        "answer": fence(label, form.salt),
    }
