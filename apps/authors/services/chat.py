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
from apps.authors.translations import CRISIS_REPLY, LANGUAGES, translated
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

ChatTurn: TypeAlias = tuple[str, str]


#: Messages that are kept in memory.
REMEMBERED = 40


@dataclass(frozen=True, slots=True)
class ChatLine:
    """One message; ``role`` is that of a :class:`Message`."""

    mid: str
    conversation: str
    role: str
    text: str

    @property
    def by_author(self) -> bool:
        """Whether a reply may follow it."""
        return self.role == Row.Role.AUTHOR


class ChatHistory:
    """The lines of a chat, oldest first, and the author's messages that wait for a reply."""

    def __init__(self) -> None:
        self._lines: list[ChatLine] = []
        #: Ids of messages to reply to, in their order; the first is being replied to.
        self.queue: list[str] = []

    def add(self, line: ChatLine) -> None:
        """Something was said; the oldest of too many lines goes."""
        self._lines = [*self._lines, line][-REMEMBERED:]

    def answer(self, to: str, reply: ChatLine) -> None:
        """Put a reply directly after what it replies to, whatever was said since."""
        if self.waits(to):
            place = self._place(to) + 1
            self._lines = [*self._lines[:place], reply, *self._lines[place:]][-REMEMBERED:]

    def find(self, mid: str) -> ChatLine | None:
        """The line of that id, if it is remembered."""
        return next((line for line in self._lines if line.mid == mid), None)

    def waits(self, mid: str) -> bool:
        """Whether this is a message of the author that no reply follows."""
        line = self.find(mid)
        if line is None or not line.by_author:
            return False
        following = self._lines[self._place(mid) + 1 :][:1]
        return all(line.by_author for line in following)

    def until(self, mid: str) -> list[tuple[str, str]]:
        """(role, text) of what the model reads to reply to that message: it comes last. Nothing
        where it is not remembered."""
        read = self._lines[: self._place(mid) + 1]
        return [(line.role, line.text) for line in read[-READ:]]

    def _place(self, mid: str) -> int:
        return next((index for index, line in enumerate(self._lines) if line.mid == mid), -1)


class StreamingModels(Protocol):
    """A model that streams its answer: the gateway, or a fake in tests."""

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


OpenStreamingModels: TypeAlias = Callable[
    [ModelSpec, Patience], AbstractAsyncContextManager[StreamingModels]
]


@dataclass(slots=True)
class ReplyProgress:
    """What has been said of a reply, and what it has cost, also where it failed or was cut off."""

    text: str = ""
    cost_nanousd: int = 0


async def stream_reply(
    site: Site,
    history: Sequence[ChatTurn],
    progress: ReplyProgress | None = None,
    open_talking: OpenStreamingModels = shared_gateway,
) -> AsyncGenerator[str, None]:
    """The reply to the last message of ``history``, in pieces; closing it stops the model.

    Args:
        site: whose chat model answers; the offline model where there is none.
        history: (``author`` or ``assistant``, text), oldest first, the last one the author's.
        progress: updated while the reply streams; the caller stores it.

    Raises:
        InvalidInput: there is nothing to reply to.
        ModelError: or one of its kinds; what was said before stays said.
    """
    progress = ReplyProgress() if progress is None else progress
    messages = chat_messages(site, history)
    spec = await in_database(_chat_model, site)
    text = history[-1][1]
    if spec.offline and await asyncio.to_thread(shows_danger, text):
        language = await asyncio.to_thread(detect_language, text, list(LANGUAGES), "en")
        progress.text = translated(CRISIS_REPLY, language)
        yield progress.text
        return

    def count(usage: Usage) -> None:
        progress.cost_nanousd += cost_nanousd(usage, **spec.prices) or 0

    params = {"instructions": site.chat_instructions}
    async with open_talking(spec, PATIENCE) as talking:
        stream = talking.stream(spec, messages, params=params, tell=count)
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                progress.text += piece
                yield piece


def chat_messages(site: Site, history: Sequence[ChatTurn]) -> tuple[Message, ...]:
    """What the chat model reads: our rules with the site's instructions, then the conversation.

    Raises:
        InvalidInput: the last message is empty, or not the author's.
    """
    kept: list[ChatTurn] = []
    room = READ_CHARACTERS
    for role, text in reversed(history[-READ:]):
        room -= len(text)
        if kept and room < 0:
            break
        kept.append((role, text))
    turns = list(_chat_turns(kept[::-1]))
    if not turns or turns[-1].role != "user" or not history[-1][1].strip():
        raise InvalidInput.at("history", "must end with a message of the author.")
    instructions = site.chat_instructions.strip()
    system, last = _chat_prompt().render(
        site=site.chat_title or site.name, instructions=instructions, message=turns[-1].content
    )
    return (system, *turns[:-1], last)


def _chat_turns(history: Sequence[ChatTurn]) -> Iterator[Message]:
    """As turns of a user and an assistant, the user's first: some endpoints refuse others."""
    written = [(role, text) for role, text in history if text.strip()]
    begun = dropwhile(lambda line: line[0] != Row.Role.AUTHOR, written)
    for is_author, run in groupby(begun, key=lambda line: line[0] == Row.Role.AUTHOR):
        text = "\n\n".join(text for _, text in run)
        yield Message("user" if is_author else "assistant", text)


def _chat_model(site: Site) -> ModelSpec:
    """The site's chat model with its provider, which the event loop must not look up."""
    if site.chat_model_id is None:
        return ensure_builtin()
    models = ModelSpec.objects.select_related("provider")
    return models.filter(pk=site.chat_model_id).first() or ensure_builtin()


@lru_cache(maxsize=1)
def _chat_prompt() -> Prompt:
    return PromptLibrary(settings.PROMPTS_DIR).get("interview", "chat")
