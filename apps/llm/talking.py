"""What comes in of one streamed answer: events out of bytes, text out of events."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from apps.llm.failures import Cause, Failure, read_told
from apps.llm.wire import (
    ErrorTold,
    Malformed,
    read_completion,
    read_delta,
    read_usage,
    written_in,
)
from labelhub.core.llm.types import Usage

if TYPE_CHECKING:
    from apps.llm.connecting import Incoming

#: Seconds for a whole answer, so that none drips on for ever.
LONGEST = 300.0
#: Seconds for what follows the last text: how much was used, and the end.
AFTERWARDS = 1.0
#: Bytes of one event.
LONGEST_EVENT = 1024 * 1024
DONE = "[DONE]"

_LINE_END = re.compile(rb"\r\n|\n|\r")
_TAGS = tuple(
    f"{opens}{name}{closes}"
    for name in ("think", "thinking", "thought", "reasoning")
    for opens, closes in ("<>", "[]")
)
_THOUGHT_ENDS = re.compile(r"[<\[]/(?:think|thinking|thought|reasoning)[>\]]", re.IGNORECASE)
_LONGEST_TAG = len("</reasoning>")


class Events:
    """Server-sent events out of bytes that come in parts: the JSON of each, or :data:`DONE`.

    A line that is JSON by itself is an event, since some endpoints leave the blank lines out.
    """

    def __init__(self) -> None:
        self._line = bytearray()
        self._data: list[str] = []
        self._after_return = False

    def feed(self, part: bytes) -> Iterator[Any]:
        """The events that ``part`` completes.

        Raises:
            Malformed: one is too long, or no JSON.
        """
        if self._after_return and part.startswith(b"\n"):
            part = part[1:]
        self._after_return = part.endswith(b"\r")
        *lines, rest = _LINE_END.split(part)
        for line in lines:
            yield from self._read(bytes(self._line + line))
            self._line.clear()
        self._line += rest
        if len(self._line) + sum(map(len, self._data)) > LONGEST_EVENT:
            raise Malformed("a part of the answer is too long")

    def _read(self, line: bytes) -> Iterator[Any]:
        name, _, value = line.removeprefix(b"\xef\xbb\xbf").partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" ").decode("utf-8", "replace"))
        last = not line
        if not self._data or not (last or len(self._data) == 1):
            return
        said = "\n".join(self._data).strip()
        try:
            event = DONE if said == DONE else json.loads(said) if said else None
        except (ValueError, RecursionError):
            if last:
                raise Malformed("a part of the answer is not JSON") from None
            return
        self._data.clear()
        if event is not None:
            yield event


class Aloud:
    """What is said of what is written: without the thoughts in think tags at its beginning."""

    def __init__(self) -> None:
        self._held = ""
        self._thinking = self._speaking = False

    def hear(self, text: str) -> str:
        """What can be said now that ``text`` is written."""
        if self._speaking:
            return text
        self._held += text
        if not self._thinking:
            begun = self._held.lstrip().casefold()
            self._thinking = begun.startswith(_TAGS)
            if not self._thinking:
                return "" if any(tag.startswith(begun) for tag in _TAGS) else self._speak()
        return self._after_thought()

    def rest(self) -> str:
        """What was held back and has turned out to be no thought."""
        return "" if self._thinking or self._speaking else self._speak()

    def _after_thought(self) -> str:
        ended = _THOUGHT_ENDS.search(self._held)
        if ended is None:
            self._held = self._held[-_LONGEST_TAG:]
            return ""
        if after := self._held[ended.end() :].lstrip():
            self._held = after
            return self._speak()
        return ""

    def _speak(self) -> str:
        self._speaking = True
        said, self._held = self._held, ""
        return said


class Talk:
    """One answer while it comes in.

    Args:
        incoming: its head has come.
        request: what it answers.
        redacted: takes secrets out of what an endpoint says.
        quiet: seconds to wait for each event.
    """

    def __init__(
        self,
        incoming: "Incoming",
        request: Mapping[str, Any],
        redacted: Callable[[str], str],
        quiet: float,
    ) -> None:
        self._parts = incoming.parts()
        self._request, self._redacted, self._quiet = request, redacted, quiet
        self._until = asyncio.get_running_loop().time() + max(LONGEST, quiet)
        self._events = Events()
        self._waiting: Iterator[Any] = iter(())  # read one by one: a fault comes after its turn
        self._body: bytearray | None = None
        self._heard = self._ended = False
        self._written: list[str] = []
        self._aloud = Aloud()
        self._raw_usage: Any = None
        self._finish_reason = ""

    @property
    def finished(self) -> bool:
        """Whether all text has come; its end may be missing."""
        return self._finish_reason not in ("", "content_filter")

    @property
    def cut_off(self) -> bool:
        """Whether it ended for want of room."""
        return self._finish_reason == "length"

    @property
    def written(self) -> str:
        """All of it so far, thoughts too."""
        return "".join(self._written)

    def usage(self) -> Usage:
        """The tokens so far, as told or else estimated."""
        return read_usage(self._raw_usage, self._request, self.written)

    async def more(self) -> str | Failure:
        """The next text, empty at the end, or why there is no more.

        Raises:
            TimeoutError: nothing came in time; or what ``Incoming.parts`` raises.
        """
        try:
            async with asyncio.timeout_at(self._deadline()) as silence:
                return await self._next(silence)
        except ErrorTold as told:
            length = len(self.written) + told.length
            return read_told(told.error, {}, self._redacted, length=length)
        except Malformed as error:
            length = len(self.written) + written_in(self._body or b"")
            return Failure(Cause.MALFORMED, 200, self._redacted(str(error)), length=length)

    async def close(self) -> None:
        """Read no more of it."""
        await self._parts.aclose()

    def _deadline(self) -> float:
        seconds = AFTERWARDS if self._finish_reason else self._quiet
        return min(asyncio.get_running_loop().time() + seconds, self._until)

    async def _next(self, silence: asyncio.Timeout) -> str | Failure:
        while True:
            for event in self._waiting:
                if found := self._take(event):
                    return found
                # Events without text are signs of life; comments, which keep a line open, are none.
                silence.reschedule(self._deadline())
            if self._ended:
                return self._last()
            if (part := await anext(self._parts, None)) is not None:
                self._receive(part)
            else:
                self._ended = True
                self._close()

    def _receive(self, part: bytes) -> None:
        if not self._heard and part.strip():
            self._heard = True
            if part.lstrip().startswith(b"{"):
                self._body = bytearray()  # an endpoint that does not stream
        if self._body is not None:
            self._body += part
        else:
            self._waiting = self._events.feed(part)

    def _take(self, event: Any) -> str:
        if event == DONE:
            self._finish_reason = self._finish_reason or "stop"
            return ""
        delta = read_delta(event)
        self._raw_usage = delta.raw_usage or self._raw_usage
        if self._finish_reason:
            return ""
        self._finish_reason = delta.finish_reason
        self._written.append(delta.reasoning + delta.text)
        return self._aloud.hear(delta.text)

    def _close(self) -> None:
        """The body is complete."""
        if self._body is None:
            self._waiting = self._events.feed(b"\n\n")
            return
        whole = read_completion(bytes(self._body), self._request)
        usage = json.loads(self._body).get("usage")
        delta = {"content": whole.text, "reasoning_content": whole.reasoning}
        choice = {"delta": delta, "finish_reason": whole.finish_reason}
        self._waiting = iter([{"choices": [choice], "usage": usage}])

    def _last(self) -> str | Failure:
        if self._finish_reason == "content_filter":
            return Failure(Cause.ANSWERED, 200, "The filter stopped it.", "content_filter")
        if self._finish_reason:
            return self._aloud.rest()
        if self._written:
            return Failure(Cause.BROKEN_OFF)
        return Failure(Cause.MALFORMED, 200, "the answer is no stream of events")
