"""Chat mode: what an author writes is answered by the site's chat model, piece by piece."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, groupby
from typing import Any, Protocol, TypeAlias

from django.conf import settings

from apps.authors.database import in_database
from apps.authors.models import Message as Row
from apps.authors.models import Site
from apps.authors.services.questions import PATIENCE
from apps.authors.translations import LANGUAGES, NO_HELP
from apps.authors.translations import spoken as spoken_in
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience
from apps.llm.services import ensure_builtin
from apps.llm.shared_gateway import shared_gateway
from labelhub.core.errors import InvalidInput
from labelhub.core.interview.language import detect_language
from labelhub.core.llm.prices import cost_nanousd
from labelhub.core.llm.types import Message, Usage
from labelhub.core.prompts import Prompt, PromptLibrary
from labelhub.core.safety import shows_danger

#: Messages of a conversation that the model reads, and their characters; the last is always whole.
READ, READ_CHARACTERS = 20, 24_000

Said: TypeAlias = tuple[str, str]


class Talking(Protocol):
    """Whoever answers in pieces: a gateway, or what a test wants."""

    def stream(
        self,
        spec: ModelSpec,
        messages: Sequence[Message],
        *,
        params: Mapping[str, Any] | None = None,
        tell: Callable[[Usage], None],
    ) -> AsyncGenerator[str, None]:
        """The answer of ``spec`` to ``messages``; ``tell`` is told once what it cost."""
        ...


OpenTalking: TypeAlias = Callable[[ModelSpec, Patience], AbstractAsyncContextManager[Talking]]


@dataclass(slots=True)
class Spoken:
    """What has been said of a reply, and what it has cost, also where it failed or was cut off."""

    text: str = ""
    cost_nanousd: int = 0


async def stream_reply(
    site: Site,
    history: Sequence[Said],
    spoken: Spoken | None = None,
    open_talking: OpenTalking = shared_gateway,
) -> AsyncGenerator[str, None]:
    """The reply to the last message of ``history``, in pieces; closing it stops the model.

    Args:
        site: whose chat model answers; the offline model where there is none.
        history: (``author`` or ``assistant``, text), oldest first, the last one the author's.
        spoken: is kept up to date, for whoever stores the reply.

    Raises:
        InvalidInput: there is nothing to reply to.
        ModelError: or one of its kinds; what was said before stays said.
    """
    spoken = Spoken() if spoken is None else spoken
    messages = chat_messages(site, history)
    spec = await in_database(_chat_model, site)
    if spec.offline and (words := await asyncio.to_thread(_reply_in_danger, history[-1][1])):
        spoken.text = words
        yield words
        return

    def count(usage: Usage) -> None:
        spoken.cost_nanousd += cost_nanousd(usage, **spec.prices) or 0

    params = {"instructions": site.chat_instructions}
    async with open_talking(spec, PATIENCE) as talking:
        stream = talking.stream(spec, messages, params=params, tell=count)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                spoken.text += piece
                yield piece


def _reply_in_danger(text: str) -> str:
    """What is said to somebody in danger; "" to anybody else."""
    if not shows_danger(text):
        return ""
    return spoken_in(NO_HELP, detect_language(text, list(LANGUAGES), "en"))


def chat_messages(site: Site, history: Sequence[Said]) -> tuple[Message, ...]:
    """What the chat model reads: our rules with the site's instructions, then the conversation.

    Raises:
        InvalidInput: the last message is empty, or not the author's.
    """
    turns = list(_turns(_recent(history)))
    if not turns or turns[-1].role != "user" or not history[-1][1].strip():
        raise InvalidInput.at("history", "it must end with a message of the author.")
    instructions = site.chat_instructions.strip()
    system, last = _prompt().render(
        site=site.chat_title or site.name, instructions=instructions, message=turns[-1].content
    )
    return (system, *turns[:-1], last)


def _recent(history: Sequence[Said]) -> list[Said]:
    """The last messages that fit, oldest first."""
    kept: list[Said] = []
    room = READ_CHARACTERS
    for role, text in reversed(history[-READ:]):
        room -= len(text)
        if kept and room < 0:
            break
        kept.append((role, text))
    return kept[::-1]


def _turns(said: Sequence[Said]) -> Iterator[Message]:
    """As turns of a user and an assistant, the user's first: some endpoints refuse others."""
    written = [(role, text) for role, text in said if text.strip()]
    begun = dropwhile(lambda each: each[0] != Row.Role.AUTHOR, written)
    for is_author, run in groupby(begun, key=lambda each: each[0] == Row.Role.AUTHOR):
        text = "\n\n".join(text for _, text in run)
        yield Message("user" if is_author else "assistant", text)


def _chat_model(site: Site) -> ModelSpec:
    """The site's chat model with its provider, which the event loop must not look up."""
    if site.chat_model_id is None:
        return ensure_builtin()
    models = ModelSpec.objects.select_related("provider")
    return models.filter(pk=site.chat_model_id).first() or ensure_builtin()


@lru_cache(maxsize=1)
def _prompt() -> Prompt:
    return PromptLibrary(settings.PROMPTS_DIR).get("interview", "chat")
