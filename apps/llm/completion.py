"""One call of a debate on its way to a completion: what is asked, and how it is adapted."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.llm import error_messages
from apps.llm.capabilities import (
    SAID_LENGTH,
    Capability,
    learnt_from,
    less_structured,
    refuses_all_forms,
    speaks_of_form,
)
from apps.llm.failures import Failure, Verdict
from apps.llm.http_line import HttpLine
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience, RetriedRequest
from apps.llm.thinking import more_room, thought, thought_only
from apps.llm.wire import add_usage, build_request, effective_params, output_cap, read_completion
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Attempt, Call, Completion, Usage

_ABOUT_THE_CAP = re.compile(r"max_(?:completion_)?tokens|(?:completion|output) tokens")
#: So many blanks at its end, and a form is being filled without end.
_BLANKS = 20
_CONTEXT = re.compile(r"context (?:length|window|size)\D{1,20}(\d[\d,]{2,11})", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*")
#: The less demanding form first.
_FORMS = (
    ModelSpec.Structured.NONE, ModelSpec.Structured.JSON_OBJECT, ModelSpec.Structured.JSON_SCHEMA,
)  # fmt: skip


class CallRecord:
    """What is kept of a call while it is asked. This one keeps nothing.

    ``tried`` are the failed attempts at the same call that came before.
    """

    tried: Sequence[Attempt] = ()

    async def allow(self, cap: int) -> None:
        """Called before each request: its answer may have ``cap`` tokens. Raises to have it not
        sent."""

    def spend(self, useless: Usage) -> None:
        """An answer came that was of no use, and has its price."""

    def fail(self, attempt: Attempt, unread: Usage) -> None:
        """An attempt failed, and another may follow; a provider may charge for ``unread``, an
        answer of which nothing came."""


class ChatRequest(RetriedRequest[Completion]):
    """The state of one call while it is being asked. Use once.

    It is asked with a parameter less when the endpoint refuses one, and again when its answer was
    cut off, but never unchanged: once as free text where a form was asked for (models can fill one
    with blanks without end), with a larger cap where thinking left no room for words, up to the
    most that the model may write. What answers of no use cost is part of the completion's usage, or
    of ``data['usage']`` of the error.
    """

    def __init__(
        self,
        spec: ModelSpec,
        call: Call,
        line: HttpLine,
        patience: Patience,
        *,
        record: CallRecord,
    ) -> None:
        super().__init__(spec, line.breaker, patience, tried=record.tried)
        self._call, self._line, self._record = call, line, record
        self._request: dict[str, Any] = {}
        self._adapted: set[tuple[str, Any]] = set()
        self._plain = False
        self._trial = FormTrial(call, line.forms_kept(spec))
        self._cap = 0
        self._most: int | None = None
        #: Without room for thinking.
        self._asked = output_cap(spec, call, thinking=False)
        self._tokens_in = estimate_usage(call.messages, "").tokens_in

    def _build(self) -> dict[str, Any]:
        return build_request(
            self._spec,
            self._call,
            max_tokens=self._longest(),
            plain=self._plain,
            structured=self._trial.structured,
        )

    def _longest(self) -> int:
        """The most tokens of the next answer; what was learnt of the model counts at once."""
        longest = output_cap(self._spec, self._call)
        if self._spec.context_tokens:
            left = self._spec.context_tokens - self._tokens_in
            longest = min(longest, max(self._asked, left))
        return longest if self._most is None else min(longest, self._most)

    async def _send(self) -> tuple[Completion | Failure, float]:
        while True:
            self._cap = self._longest()
            # Not while others wait behind us: they may hold the budget that this waits for.
            await self._record.allow(self._cap)
            async with self._line.thinking.first(self._spec):
                if self._longest() > self._cap:
                    continue
                self._request = self._build()
                answer, seconds = await self._line.send(
                    "/chat/completions", self._request, read_completion, self._tokens_in + self._cap
                )
                if not isinstance(answer, Failure):
                    self._learn_room(answer)
            found = self._trial.heed(answer, self._request)
            # Another call may have learnt meanwhile that the model takes even less.
            if found is not None and demands_less(found.value, self._spec.structured):
                self._line.learn_soon(self._spec, found)
            return answer, seconds

    def _learn_room(self, answer: Completion) -> None:
        self._line.thinking.heed(self._spec, answer)
        found = more_room(self._spec, answer, self._cap)
        found = found or self._line.thinking.less_room(self._spec)
        if self._most and not self._spec.context_tokens:
            # So much fitted, and twice as much did not.
            fitted = answer.usage.tokens_in + self._cap
            self._line.learn_soon(self._spec, Capability("context_tokens", fitted))
        if found is not None:
            self._line.learn_soon(self._spec, found)

    def _finished(self, answer: Completion) -> Completion | None:
        if self._cut_off(answer):
            self._waste(answer.usage)
            return None
        if _wordless(answer) and self._line.thinking.without_a_word(self._spec):
            self._waste(answer.usage)
            error = error_messages.only_thinks(self._spec, self._cap)
            self._breaker.refused(error)
            raise error
        return replace(
            answer,
            usage=add_usage(self._spent, answer.usage),
            attempts=tuple(self._attempts),
            seconds=round(sum(attempt.seconds for attempt in self._attempts), 4),
        )

    def _cut_off(self, answer: Completion) -> bool:
        """Whether to ask again, in a way that leaves room for an answer."""
        if answer.finish_reason != "length":
            return False
        formed = "response_format" in self._request
        if thought_only(answer):
            # Where nothing shows that it thought, the form itself may be what it cannot end.
            self._plain = self._plain or (formed and not thought(answer))
            return self._longest() > self._cap
        # Words that were cut off need room, which whoever asked gives them; blanks have no end.
        again = formed and not self._plain and not answer.text[-_BLANKS:].strip()
        self._plain = self._plain or again
        return again

    def _useless(self, failure: Failure) -> None:
        """An answer that nobody can read was written all the same: its tokens are guessed. One that
        never came is counted nowhere, but may be charged for."""
        if failure.paid and not failure.unread:
            self._waste(Usage(self._tokens_in, min(failure.length // 3, self._cap), estimated=True))
        unread = Usage(self._tokens_in, self._cap) if failure.unread else Usage()
        self._record.fail(self._attempts[-1], unread)

    def _waste(self, usage: Usage) -> None:
        self._spent = add_usage(self._spent, usage)
        self._record.spend(usage)

    async def _otherwise(self, verdict: Verdict, failure: Failure) -> Completion | bool:
        if verdict is Verdict.FILTERED:
            return self._filtered(failure)
        if verdict in (Verdict.REJECTED, Verdict.KEY) and await self._adapt(failure):
            return True
        return await self._ask_for_less(verdict, failure)

    def _filtered(self, failure: Failure) -> Completion:
        """A text that the provider's filter refuses to read is data, as a filtered answer is."""
        self._breaker.answered()
        refused = Completion(
            text="",
            finish_reason="content_filter",
            usage=Usage(self._tokens_in, estimated=True),
            refusal=failure.message or "The provider's content filter refused the request.",
            effective_params=effective_params(self._request),
        )
        return self._finished(refused) or refused

    async def _adapt(self, failure: Failure) -> bool:
        """Learn from a refused parameter, each at most once a call; True to ask again."""
        capability = learnt_from(failure, self._request)
        if capability is None or _step(capability) in self._adapted:
            return False
        self._adapted.add(_step(capability))
        if capability.field == "structured" and not self._trial.teaches(failure, self._request):
            self._trial.lower(capability.value)
            return self._build() != self._request
        # Calls in flight together are all refused: the first one learns for the others.
        if self._build() == self._request:
            await self._line.learn(self._spec, capability)
        return self._build() != self._request

    async def _ask_for_less(self, verdict: Verdict, failure: Failure) -> bool:
        """Take back some of the room for thinking where the endpoint refuses it; True to ask again.

        A cap that it never takes is learnt. Where text and answer together are too long, this call
        asks for less; what that tells of the context is learnt, or each call would be refused.
        """
        asked = self._asked
        if self._cap <= asked:
            await self._learn_limit(verdict, failure)
            return False
        less = max(asked, self._cap // 2)
        if verdict is Verdict.TOO_LONG:
            if not await self._learn_context(failure):
                self._most = less
            return True
        if not _refuses_the_cap(verdict, failure):
            return False
        if self._longest() < self._cap:
            return True  # another call has learnt it meanwhile
        numbers = [_read_number(digits) for digits in _NUMBER.findall(failure.message)]
        less = max([number for number in numbers if asked < number < self._cap], default=less)
        await self._line.learn(
            self._spec, Capability("output_limit", less, failure.message[:SAID_LENGTH])
        )
        return True

    async def _learn_context(self, failure: Failure) -> bool:
        """Learn the context where the refusal names it; whether less is asked for because of it."""
        named = _CONTEXT.search(failure.message)
        size, known = _read_number(named[1]) if named else 0, self._spec.context_tokens
        if size <= self._asked or (known and known <= size):
            return False
        words = failure.message[:SAID_LENGTH]
        await self._line.learn(self._spec, Capability("context_tokens", size, words))
        return self._longest() < self._cap

    async def _learn_limit(self, verdict: Verdict, failure: Failure) -> None:
        """Learn the most that the endpoint takes, where it takes not even the words asked for:
        whoever would ask for more then does not."""
        numbers = [_read_number(digits) for digits in _NUMBER.findall(failure.message)]
        less = max([number for number in numbers if number < self._cap], default=0)
        if _refuses_the_cap(verdict, failure) and less:
            words = failure.message[:SAID_LENGTH]
            await self._line.learn(self._spec, Capability("output_limit", less, words))


def _refuses_the_cap(verdict: Verdict, failure: Failure) -> bool:
    refusal = f"{failure.param} {failure.message}"
    return verdict is Verdict.REJECTED and bool(_ABOUT_THE_CAP.search(refusal))


def _read_number(text: str) -> int:
    return int(text.replace(",", ""))


def _wordless(answer: Completion) -> bool:
    return answer.finish_reason == "length" and thought_only(answer)


def _step(capability: Capability) -> tuple[str, Any]:
    """What may be learnt once a call; a form of answers is given up in two steps."""
    return capability.field, capability.value if capability.field == "structured" else None


def demands_less(form: str, other: str) -> bool:
    """Whether more models can keep to ``form`` than to ``other``."""
    return _FORMS.index(ModelSpec.Structured(form)) < _FORMS.index(ModelSpec.Structured(other))


class FormTrial:
    """The form to ask one call for, where the one that the model is known to take is refused.

    HTTP 500 may be about the form: llama.cpp answers so to a schema that it cannot take, and any
    server to a fault of its own. So a less demanding form is tried where the refusal names the
    form, or comes twice in a row. If that one is answered, the model has shown which form it takes,
    unless the refusal did not name a form that it has kept to before. What an item's own options
    are refused for, the others are not.

    Args:
        call: what is asked.
        kept: the forms that the model has kept to; added to.
    """

    def __init__(self, call: Call, kept: set[str]) -> None:
        #: The form to ask for in place of the usual one; None for that.
        self.structured: str | None = None
        self._kept = kept
        self._own = call.schema.offered(call.options) != call.schema.offered(())
        self._in_a_row = 0
        self._said = ""
        self._unnamed: str | None = None

    def teaches(self, failure: Failure, request: Mapping[str, Any]) -> bool:
        """Whether what was refused is the form, for every call, and not the schema of this one."""
        own = self._own and request["response_format"].get("type") == "json_schema"
        return not own or refuses_all_forms(failure)

    def lower(self, structured: str) -> None:
        """Ask this call for a less demanding form."""
        self.structured = structured

    def heed(self, answer: Completion | Failure, request: Mapping[str, Any]) -> Capability | None:
        """Take note of the answer to ``request``; what it teaches about the model, if anything."""
        form = request.get("response_format", {}).get("type", "")
        if isinstance(answer, Completion):
            self._kept.add(form)
            words, self._said, self._in_a_row = self._said, "", 0
            if not (words and self.structured) or self._unnamed in self._kept:
                return None
            return Capability("structured", self.structured, words)
        if answer.status != 500:
            return None
        if not form:
            self.structured, self._said, self._in_a_row = None, "", 0
            return None
        self._in_a_row += 1
        named = speaks_of_form(answer)
        if (named or form not in self._kept) and self.teaches(answer, request):
            self._said = self._said or answer.message or "HTTP 500"
            # Another call may yet be answered in it.
            self._unnamed = None if named else form
        if self.structured or self._in_a_row > 1 or named:
            self.structured = less_structured(request)
        return None
