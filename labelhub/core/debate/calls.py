"""Make the call of a role: its prompt rendered for one item."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from labelhub.core.debate.outcome import DebateItem, Untrusted
from labelhub.core.errors import LabelhubError
from labelhub.core.llm.parsing.structured import json_as_text
from labelhub.core.llm.types import Call, Reply
from labelhub.core.prompts import AS_JSON, AS_TEXT, FORM, Prompt, fence
from labelhub.core.schema import Schema
from labelhub.core.schema.menu import label_block

#: The same answer to the same question, as far as a model can; the papers use it too.
USUAL_PARAMS: Mapping[str, Any] = {"temperature": 0}


class NoPrompt(LabelhubError):
    """The run has no prompt for a role of the protocol."""

    code = "no_prompt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The :class:`~labelhub.core.debate.outcome.CallMaker` of one item in one run.

    Args:
        item: the text and its context; untrusted, as are all replies of other roles.
        schema: the question; trusted.
        prompts: the prompt of each role.
        salt: unknown to the authors of texts and constant for a run, such as the run's uid.
        guideline: the project's guideline; trusted.
        params: parameters for each role's model, such as ``{"judge": {"temperature": 0}}``.
        json_roles: the roles that answer in JSON if their prompts allow it.
    """

    item: DebateItem
    schema: Schema
    prompts: Mapping[str, Prompt]
    salt: str
    guideline: str = ""
    params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    json_roles: Collection[str] = ()

    def __call__(
        self,
        role: str,
        *,
        step: str = "",
        heard: Mapping[str, Reply] | None = None,
        inputs: Mapping[str, Any] | None = None,
        params: Mapping[str, Any] | None = None,
        sample: int = 1,
        once: bool = False,
    ) -> Call:
        """The call for ``role``; see :class:`~labelhub.core.debate.outcome.CallMaker`.

        Parameters of the run override those of the protocol.

        Raises:
            NoPrompt: the run has no prompt for the role.
            PromptVariables: the prompt's inputs do not match those of the protocol.
        """
        prompt = self.prompts.get(role)
        if prompt is None:
            raise NoPrompt(f"This run has no prompt for the role '{role}'.")
        replies, given = dict(heard or {}), dict(inputs or {})
        variables = self._variables(prompt, replies, given)
        form = {FORM: AS_TEXT} if prompt.fields else {}
        as_json = bool(prompt.fields) and role in self.json_roles
        return Call(
            step=step or role,
            role=role,
            messages=prompt.render(**variables, **form),
            json_messages=prompt.render(**variables, **{FORM: AS_JSON}) if as_json else (),
            fields=prompt.fields,
            prompt_hash=prompt.hash,
            schema=self.schema,
            text=self.item.text,
            options=self.item.options,
            question=self.item.question,
            heard=replies,
            inputs=given,
            params={**USUAL_PARAMS, **(params or {})} | dict(self.params.get(role, {})),
            output=prompt.output,
            sample=sample,
            once=once,
        )

    def _variables(
        self, prompt: Prompt, replies: Mapping[str, Reply], given: Mapping[str, Any]
    ) -> dict[str, Any]:
        own = {name: make(self) for name, make in _INPUTS.items() if name in prompt.inputs}
        heard = {
            name: fence(json_as_text(reply.text), self.salt) for name, reply in replies.items()
        }
        return own | heard | {name: self._delimit(value) for name, value in given.items()}

    def _delimit(self, value: Any) -> Any:
        """``value`` with delimiters around every untrusted text in it; empty texts stay empty."""
        if isinstance(value, Untrusted):
            return fence(str(value), self.salt) if value else ""
        if isinstance(value, Mapping):
            return {name: self._delimit(part) for name, part in value.items()}
        if isinstance(value, list | tuple):
            return [self._delimit(part) for part in value]
        return value


def item_block(item: DebateItem, salt: str) -> str:
    """The item as prompts show it, each part between delimiters."""
    parts = [
        f"What belongs to the text:\n{fence(f'{name}: {value}', salt)}"
        for name, value in item.context
    ]
    parts.append(f"The text:\n{fence(item.text, salt)}")
    if item.question:
        parts.append(f"The question about this text in particular:\n{fence(item.question, salt)}")
    if item.options:
        choices = "\n".join(" ".join(option.split()) for option in item.options)
        parts.append(f"The choices, one on each line:\n{fence(choices, salt)}")
    return "\n\n".join(parts)


_INPUTS: Mapping[str, Any] = {
    "task": lambda caller: caller.schema.task.prompt_task,
    "question": lambda caller: caller.schema.question or caller.schema.task.question,
    "labels": lambda caller: label_block(caller.schema),
    "guideline": lambda caller: caller.guideline.strip(),
    "item": lambda caller: item_block(caller.item, caller.salt),
}
