"""Streamed answers, for people who wait; runs do not use them.

A stream uses the line of its provider like any other call. It is retried like any other call before
its first text, but not after it, as the reader has seen some text.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from apps.llm import error_messages
from apps.llm.call_metrics import count_usage
from apps.llm.capabilities import learn_from
from apps.llm.failures import FILTER_CODES, Cause, Failure, Verdict, read_error
from apps.llm.http_line import HttpLine
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience, RetriedRequest
from apps.llm.thinking import more_room
from apps.llm.traffic import Passage
from apps.llm.wire import (
    ErrorAnswer,
    Malformed,
    add_usage,
    build_chat,
    longest_output,
    read_delta,
    read_usage,
    written_in,
)
from labelhub.core.llm.buckets import UsedUp
from labelhub.core.llm.errors import ModelError, ModelUnreachable, RequestRejected
from labelhub.core.llm.offline.model import chat_reply
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Completion, Message, Usage
from labelhub.core.phrases import Phrase

if TYPE_CHECKING:
    from apps.llm.client import EventStream

R = TypeVar("R")

#: Seconds for a whole answer.
LONGEST = 300.0
#: Seconds for the events after the last text: the usage and the end.
AFTERWARDS = 1.0

#: Maximum characters of an answer.
MOST = 16_000
#: Seconds to wait for the next event, unless the provider's ``read_timeout`` is shorter.
QUIET = 30.0
#: The additional fields of a request for a stream.
STREAMED: Mapping[str, Any] = {"stream": True, "stream_options": {"include_usage": True}}

#: The code of an answer that was cut off before its first word.
_THOUGHT_ONLY = "thought only"
_PIECE = re.compile(r"\s*\S{1,12}\s*")
_TAGS = tuple(
    f"{opens}{name}{closes}"
    for name in ("think", "thinking", "thought", "reasoning")
    for opens, closes in ("<>", "[]")
)
_THOUGHT_ENDS = re.compile(r"[<\[]/(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_LONGEST_TAG = len("</reasoning>")

#: Called once with the usage of a stream, also after an error.
Tell: TypeAlias = Callable[[Usage], None]


def ignore_usage(_: Usage) -> None:
    """Ignore the usage."""


class ThoughtFilter:
    """Removes the thoughts in think tags at the beginning of a streamed text."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = self._speaking = False

    def feed(self, text: str) -> str:
        """The text that can be shown after ``text`` was received."""
        if self._speaking:
            return text
        self._held += text
        if not self._thinking:
            begun = self._held.lstrip().casefold()
            self._thinking = begun.startswith(_TAGS)
            if not self._thinking:
                return "" if any(tag.startswith(begun) for tag in _TAGS) else self._release()
        return self._after_thought()

    def rest(self) -> str:
        """The text that was held back and turned out not to be a thought."""
        return "" if self._thinking or self._speaking else self._release()

    def _after_thought(self) -> str:
        ended = _THOUGHT_ENDS.search(self._held)
        if ended is None:
            self._held = self._held[-_LONGEST_TAG:]
            return ""
        if after := self._held[ended.end() :].lstrip():
            self._held = after
            return self._release()
        return ""

    def _release(self) -> str:
        self._speaking = True
        text, self._held = self._held, ""
        return text


class StreamedAnswer:
    """One answer while it is received.

    Args:
        stream: the response after its headers.
        request: the request.
        redacted: removes secrets from messages of an endpoint.
        quiet: seconds to wait for each event.
    """

    def __init__(
        self,
        stream: "EventStream",
        request: Mapping[str, Any],
        redacted: Callable[[str], str],
        quiet: float,
    ) -> None:
        self._stream, self._events = stream, stream.events()
        self._request, self._redacted, self._quiet = request, redacted, quiet
        self._until = asyncio.get_running_loop().time() + max(LONGEST, quiet)
        self._written: list[str] = []
        self._filter = ThoughtFilter()
        self._raw_usage: Any = None
        self._finish_reason = ""
        self._begun = False

    @property
    def finished(self) -> bool:
        """Whether all text has arrived; the end event may be missing."""
        return self._finish_reason not in ("", "content_filter")

    @property
    def cut_off(self) -> bool:
        """Whether it reached its cap."""
        return self._finish_reason == "length"

    @property
    def written(self) -> str:
        """The whole answer so far, with its thoughts."""
        return "".join(self._written)

    def usage(self) -> Usage:
        """The tokens so far, as the endpoint counts them or estimated."""
        return read_usage(self._raw_usage, self._request, self.written)

    async def more(self) -> str | Failure:
        """The next text, empty at the end, or a failure.

        Raises:
            TimeoutError: nothing arrived in time.
            NoAnswer: the connection broke off.
        """
        length = len(self.written)
        try:
            async with asyncio.timeout_at(self._deadline()) as silence:
                async for event in self._events:
                    if text := self._take(event):
                        return text
                    # Events without text extend the deadline; comments, which only keep the
                    # connection open, do not.
                    silence.reschedule(self._deadline())
            return self._last()
        except ErrorAnswer as error:
            return read_error(error.error, {}, self._redacted, length=length + error.length)
        except Malformed as error:
            return Failure(Cause.MALFORMED, 200, self._redacted(str(error)), length=length)
        except (ValueError, RecursionError) as error:
            length += written_in(getattr(error, "doc", "").encode())
            return Failure(Cause.MALFORMED, 200, "a part of the answer is not JSON", length=length)

    async def close(self) -> None:
        """Stop reading."""
        await self._events.aclose()
        await self._stream.close()

    def _deadline(self) -> float:
        seconds = AFTERWARDS if self._finish_reason else self._quiet
        return min(asyncio.get_running_loop().time() + seconds, self._until)

    def _take(self, event: Any) -> str:
        delta = read_delta(event)
        self._begun = self._begun or bool({"choices", "usage"} & set(event))
        self._raw_usage = delta.raw_usage or self._raw_usage
        if self._finish_reason:
            return ""
        self._finish_reason = delta.finish_reason
        self._written.append(delta.reasoning + delta.text)
        return self._filter.feed(delta.text)

    def _last(self) -> str | Failure:
        if self._finish_reason == "content_filter":
            return Failure(Cause.ANSWERED, 200, "The filter stopped it.", "content_filter")
        if self._finish_reason:
            return self._filter.rest()
        length = int(self._begun)
        if self._written:
            return Failure(Cause.BROKEN_OFF, length=length)
        return Failure(Cause.MALFORMED, 200, "the answer is not an event stream", length=length)


@dataclass(frozen=True, slots=True)
class Opened:
    """A stream after its first text, its slot, and what to close at its end."""

    first: str
    answer: StreamedAnswer
    passage: Passage
    stack: AsyncExitStack


class StreamRequest(RetriedRequest[Opened]):
    """The request for one stream. Use once."""

    def __init__(
        self,
        spec: ModelSpec,
        messages: Sequence[Message],
        line: HttpLine,
        patience: Patience,
        *,
        params: Mapping[str, Any],
        tell: Tell = ignore_usage,
    ) -> None:
        super().__init__(spec, line.breaker, patience)
        self._messages, self._params, self._line, self._tell = messages, params, line, tell
        self._request: dict[str, Any] = {}
        self._adapted: set[str] = set()
        self._cap = 0
        self._tokens_in = estimate_usage(messages, "").tokens_in
        self._quiet = min(QUIET, spec.provider.read_timeout)

    async def deltas(self) -> AsyncGenerator[str, None]:
        """The text piece by piece, at most :data:`MOST` characters; closing it disconnects.

        Raises:
            ModelError: or a subclass, possibly after some text.
        """
        try:
            opened = await self.run()
            async with opened.stack:
                try:
                    text, left = opened.first, MOST
                    while text:
                        yield text[:left]
                        left -= len(text)
                        text = await self._more(opened.answer) if left > 0 else ""
                finally:
                    used = opened.answer.usage()
                    opened.passage.used = used.tokens_in + used.tokens_out
                    self._spent = add_usage(self._spent, used)
        finally:
            count_usage(self._spec, self._spent)
            self._tell(self._spent)

    def _count_usage(self) -> None:
        """Not before the stream's end."""

    async def _more(self, answer: StreamedAnswer) -> str:
        found = await self._line.exchange(answer.more)
        if not isinstance(found, Failure):
            return found
        if answer.finished:
            return ""
        raise self._broken_off(found)

    def _broken_off(self, failure: Failure) -> ModelError:
        if failure.cause is Cause.TIMED_OUT:
            return self._silent()
        if failure.code.lower() in FILTER_CODES:
            return self._filtered()
        why, place = failure.message or failure.note, error_messages.place_of(self._spec.provider)
        words = Phrase("The answer of %(place)s broke off: %(reason)s", place=place, reason=why)
        return ModelError(words)

    def _build(self) -> dict[str, Any]:
        request = build_chat(self._spec, self._messages, self._params)
        left_out = self._line.unstreamed
        return request | {name: v for name, v in STREAMED.items() if name not in left_out}

    def _longest(self) -> int:
        return longest_output(self._spec, self._params)

    async def _send(self) -> tuple[Opened | Failure, float]:
        self._request = self._build()
        self._cap = self._longest()
        tokens = self._tokens_in + self._cap
        async with AsyncExitStack() as stack:
            try:
                passage = await stack.enter_async_context(self._line.traffic.passage(tokens))
            except UsedUp as error:
                raise error_messages.limit_used_up(self._spec.provider, error) from None
            self._breaker.check()  # the breaker may have opened while this stream waited
            started = time.perf_counter()
            answer = await self._first_of(stack)
            seconds = time.perf_counter() - started
            if isinstance(answer, Failure):
                passage.heed(answer, seconds)
                self._line.traffic.follow(answer.headers)
                return answer, seconds
            return Opened(*answer, passage, stack.pop_all()), seconds

    async def _first_of(self, stack: AsyncExitStack) -> tuple[str, StreamedAnswer] | Failure:
        try:
            return await self._line.exchange(lambda: self._begin(stack))
        except asyncio.CancelledError:
            self._count_request()
            raise

    async def _begin(self, stack: AsyncExitStack) -> tuple[str, StreamedAnswer] | Failure:
        async with asyncio.timeout(self._quiet):
            stream = await self._line.stream(self._request)
        if isinstance(stream, Failure):
            return stream
        answer = StreamedAnswer(stream, self._request, self._line.redacted, self._quiet)
        stack.push_async_callback(answer.close)
        first = await answer.more()
        if isinstance(first, Failure):
            return first
        if not first:
            return self._handle_empty(answer)
        return first, answer

    def _handle_empty(self, answer: StreamedAnswer) -> Failure:
        if not answer.cut_off:
            return Failure(Cause.MALFORMED, 200, "the answer holds no text", length=1)
        usage = answer.usage()
        self._spent = add_usage(self._spent, usage)
        thoughts = Completion("", finish_reason="length", usage=usage, reasoning=answer.written)
        if found := more_room(self._spec, thoughts, self._cap):
            self._line.learn_soon(self._spec, found)
        message = error_messages.spent_on_thinking(self._spec, self._cap)
        return Failure(Cause.ANSWERED, 200, message, code=_THOUGHT_ONLY)

    def _count_waste(self, failure: Failure) -> None:
        if failure.paid:
            self._count_request()

    def _count_request(self) -> None:
        """Count its input, which the model may have read; it stops when we disconnect."""
        self._spent = add_usage(self._spent, Usage(self._tokens_in, estimated=True))

    async def _handle_failure(self, failure: Failure) -> Opened | None:
        if failure.cause is Cause.TIMED_OUT:
            # Not retried, as the reader has waited long enough.
            self._count_waste(failure)
            error = self._silent()
            raise self._breaker.given_up(error, error, at_once=False)
        if failure.code == _THOUGHT_ONLY:
            self._breaker.answered()
            if self._longest() <= self._cap:
                raise ModelError(failure.message)
            return None
        return await super()._handle_failure(failure)

    async def _adapt_request(self, verdict: Verdict, failure: Failure) -> Opened | bool:
        if verdict is Verdict.FILTERED:
            raise self._filtered()
        if verdict not in (Verdict.REJECTED, Verdict.KEY):
            return False
        return self._stream_less(failure) or await self._adapt(failure)

    def _stream_less(self, failure: Failure) -> bool:
        """Leave out the fields of a stream that the endpoint refuses; True to ask again."""
        if failure.status not in (400, 422):
            return False
        about = failure.param or failure.message
        refused = {name for name in STREAMED if re.search(rf"\b{name}\b", about)}
        # Endpoints refuse ``stream_options`` without ``stream``.
        refused |= set(STREAMED) if "stream" in refused else set()
        self._line.unstreamed |= refused
        return self._build() != self._request

    async def _adapt(self, failure: Failure) -> bool:
        """Learn from a refused parameter, each at most once a stream; True to ask again."""
        capability = learn_from(failure, self._request)
        if capability is None or capability.field in self._adapted:
            return False
        self._adapted.add(capability.field)
        if self._build() == self._request:
            await self._line.learn(self._spec, capability)
        return self._build() != self._request

    def _silent(self) -> ModelUnreachable:
        place = error_messages.place_of(self._spec.provider)
        return ModelUnreachable(
            "No answer in time from %(place)s: LabelHub waits at most %(quiet)s s for the next "
            "text, %(longest)s s in total. Fix the endpoint, or choose a faster model.",
            place=place,
            quiet=self._quiet,
            longest=LONGEST,
        )

    def _filtered(self) -> RequestRejected:
        place = error_messages.place_of(self._spec.provider)
        return RequestRejected("The content filter of %(place)s stopped the answer.", place=place)


async def offline_deltas(
    messages: Sequence[Message], params: Mapping[str, Any], tell: Tell = ignore_usage
) -> AsyncGenerator[str, None]:
    """The text matcher's answer, in pieces like a stream.

    ``params["instructions"]`` are the site's own, without our rules in the system message.
    """
    turns = [(message.role, message.content) for message in messages if message.role != "system"]
    reply = chat_reply(turns, str(params.get("instructions") or ""))
    tell(estimate_usage(messages, reply))
    for piece in _PIECE.findall(reply):
        yield piece
        await asyncio.sleep(0)
