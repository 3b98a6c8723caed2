"""Rendering of prompts: the messages that a model would get about one item."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from apps.debates.models import Debate
from apps.debates.services.driving.results import ClaimedDebate, reply_of
from apps.debates.services.prompts.library import protocol_of
from apps.debates.services.role_assignment import prompt_library
from apps.debates.services.run_spec import salt_of
from apps.projects.models import Item, Project
from apps.projects.selectors import current_guideline, current_schema
from labelhub.core.debate import ProtocolInfo, check_task
from labelhub.core.debate.calls import Caller
from labelhub.core.debate.outcome import DebateItem, DebateSpec, Precedent
from labelhub.core.errors import Conflict
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Call, Output, Reply
from labelhub.core.prompts import Prompt
from labelhub.core.schema import Schema, Value, value_words

MADE_UP = "[made up for this page]"
#: The most calls of a prompt that are shown: the first, and one with earlier replies.
MOST_SHOWN = 3
_FENCED = re.compile(r'(<text id="(?P<id>[0-9a-f]{8})">\n.*?\n</text id="(?P=id)">)', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Piece:
    """Part of a message; ``untrusted``: between delimiters; ``sample``: invented text."""

    text: str
    untrusted: bool = False
    sample: bool = False


@dataclass(frozen=True, slots=True)
class RenderedCall:
    """One call: its step, its messages in pieces by role, their approximate number of tokens, and
    whether they request JSON."""

    step: str
    messages: tuple[tuple[str, tuple[Piece, ...]], ...]
    tokens: int
    in_json: bool = False

    @property
    def sample(self) -> bool:
        """Whether anything in it is invented."""
        return any(piece.sample for _, pieces in self.messages for piece in pieces)


@dataclass(frozen=True, slots=True)
class Rendering:
    """A prompt rendered for an item, with earlier replies of ``debate`` or invented ones."""

    item: Item
    calls: tuple[RenderedCall, ...]
    debate: Debate | None = None

    @property
    def sample(self) -> bool:
        """Whether anything in it is invented."""
        return any(call.sample for call in self.calls)

    @property
    def in_json(self) -> bool:
        """Whether it requests JSON, which not all models support."""
        return any(call.in_json for call in self.calls)

    @property
    def text(self) -> str:
        """The messages of the first call."""
        return "\n".join(
            piece.text for _, pieces in self.calls[0].messages for piece in pieces
        )  # fmt: skip


def render_prompt(
    project: Project, prompt: Prompt, item: Item, debate: Debate | None = None
) -> Rendering:
    """Render ``prompt`` for ``item`` with the present labels and guideline.

    Raises:
        InvalidInput: the prompt's protocol cannot answer the project's question.
        PromptError: it cannot be rendered.
        Conflict: the debate never uses the prompt.
    """
    info, settings = protocol_of(prompt.name)
    if debate is not None:
        settings = info.read_settings(debate.run.protocol_settings)
    schema, guideline = current_schema(project).parsed, current_guideline(project)
    check_task(info, settings, schema.task)
    parts = {part.role: part.prompt for part in info.parts(settings)}
    shown = replace(
        ClaimedDebate(pk=0, replicate=1, item=item).debate_item,
        precedents=_precedents(schema, item),
    )
    caller = Caller(
        item=shown,
        schema=schema,
        prompts={
            role: prompt if name == prompt.name else prompt_library().get(*name.split("/"))
            for role, name in parts.items()
        },
        salt=salt_of(project),
        guideline=guideline.text if guideline else "",
        json_roles=_json_roles(debate) if debate else parts,
    )
    replies = {turn.step: reply_of(turn) for turn in debate.turns.all()} if debate else {}
    spec = DebateSpec(schema, caller, settings)
    asked = [
        call for call in _first_calls(info, shown, spec, replies) if parts[call.role] == prompt.name
    ][:MOST_SHOWN]
    if not asked:
        raise Conflict(
            "The debate about '%(external_id)s' never comes to this prompt.",
            external_id=str(item.external_id),
        )
    return Rendering(item, tuple(_render_call(call) for call in asked), debate)


def _json_roles(debate: Debate) -> list[str]:
    """The roles with JSON output, which is the default of models."""
    roles = debate.run.roles.select_related("model__provider")
    return [role.role for role in roles if role.model.answers_in_json]


def _first_calls(
    info: ProtocolInfo, item: DebateItem, spec: DebateSpec, replies: Mapping[str, Reply]
) -> Iterator[Call]:
    """The first call of each prompt among the calls that are made in parallel."""
    answers = spec.schema.task.values(spec.schema, item.options) or [""]
    debate = info.start(item, spec)
    try:
        calls = next(debate)
        while True:
            yield from {call.prompt_hash: call for call in reversed(calls)}.values()
            calls = debate.send(
                [
                    replies.get(call.step) or _invented_reply(call, answers, position)
                    for position, call in enumerate(calls)
                ]
            )
    except StopIteration:
        return


def _invented_reply(call: Call, answers: list[Value], position: int) -> Reply:
    """A reply that differs from the others, so that a discussion continues."""
    value, words = answers[position % len(answers)], f"{MADE_UP} What the {call.role} would say"
    if call.output == Output.ARGUMENT:
        return Reply(text=f"{words}.", rung=3)
    decision = f"{words}, with reasons.\nFinal Decision: {value_words(value)}"
    return Reply(text=decision, value=value, ranking=tuple(answers[:2]), rung=3)


def _precedents(schema: Schema, item: Item) -> tuple[Precedent, ...]:
    names = schema.offered(tuple(item.options))[:2]
    return tuple(
        Precedent(f"sample-{name}", str(name), f"{MADE_UP} A verified text.") for name in names
    )


def _render_call(call: Call) -> RenderedCall:
    messages = call.json_messages or call.messages
    return RenderedCall(
        step=call.step,
        messages=tuple((message.role, tuple(_pieces(message.content))) for message in messages),
        tokens=estimate_usage(messages, "").tokens_in,
        in_json=bool(call.json_messages),
    )


def _pieces(text: str) -> Iterator[Piece]:
    """The pieces of a message, without the line ends around delimited blocks."""
    end = 0
    for match in _FENCED.finditer(text):
        yield from _plain(text[end : match.start()], after=end > 0, before=True)
        yield Piece(match[1], untrusted=True, sample=MADE_UP in match[1])
        end = match.end()
    yield from _plain(text[end:], after=end > 0, before=False)


def _plain(text: str, *, after: bool, before: bool) -> Iterator[Piece]:
    text = text.removeprefix("\n") if after else text
    text = text.removesuffix("\n") if before else text
    if text:
        yield Piece(text)
