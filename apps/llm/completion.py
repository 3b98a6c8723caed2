"""The request of one call of a debate, adapted until it is completed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from apps.llm import error_messages
from apps.llm.capabilities import (
    REASON_LENGTH,
    Capability,
    learn_from,
    less_structured,
    names_form,
    refuses_all_forms,
)
from apps.llm.failures import Failure, Verdict
from apps.llm.http_line import HttpLine
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience, RetriedRequest
from apps.llm.thinking import is_only_thinking, more_room, thinking_tokens_of
from apps.llm.wire import add_usage, build_request, effective_params, output_cap, read_completion
from labelhub.core.llm.prices import estimate_usage
from labelhub.core.llm.types import Attempt, Call, Completion, Usage

_ABOUT_THE_CAP = re.compile(r"max_(?:completion_)?tokens|(?:completion|output) tokens")
#: With so many blanks at its end, an answer would never complete its form.
_BLANKS = 20
_CONTEXT = re.compile(r"context (?:length|window|size)\D{1,20}(\d[\d,]{2,11})", re.IGNORECASE)
_NUMBER = re.compile(r"\d[\d,]*")
#: The less demanding form first.
_FORMS = (
    ModelSpec.Structured.NONE, ModelSpec.Structured.JSON_OBJECT, ModelSpec.Structured.JSON_SCHEMA,
)  # fmt: skip


class CallRecord:
    """Receives the events of a call. This one ignores them.

    ``tried`` are earlier failed attempts at the same call.
    """

    tried: Sequence[Attempt] = ()

    async def allow(self, cap: int) -> None:
        """Called before each request, whose answer has ``cap`` tokens at most; may raise."""

    def spend(self, useless: Usage) -> None:
        """Called for a useless answer that cost tokens."""

    def fail(self, attempt: Attempt, unread: Usage) -> None:
        """Called after a failed attempt, which another may follow; ``unread``: tokens of an answer
        that never arrived, for which a provider may charge."""


class ChatRequest(RetriedRequest[Completion]):
    """The state of one call until its completion. Use once.

    The next request leaves out a refused parameter. After an answer that was cut off, another
    request asks once for free text instead of a form (models can fill a form with blanks forever),
    or has a larger cap if thinking left no room for words. The cost of useless
    answers is part of the completion's usage, or of ``data['usage']`` of the error.
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
        """The maximum tokens of the next answer, by what is known about the model now."""
        longest = output_cap(self._spec, self._call)
        if self._spec.context_tokens:
            left = self._spec.context_tokens - self._tokens_in
            longest = min(longest, max(self._asked, left))
        return longest if self._most is None else min(longest, self._most)

    async def _send(self) -> tuple[Completion | Failure, float]:
        while True:
            self._cap = self._longest()
            # Before the lock: calls that wait for it may hold the budget that this call waits for.
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
            # Another call may have learnt meanwhile that the model needs a simpler form.
            if found is not None and demands_less(found.value, self._spec.structured):
                self._line.learn_soon(self._spec, found)
            return answer, seconds

    def _learn_room(self, answer: Completion) -> None:
        self._line.thinking.heed(self._spec, answer)
        found = more_room(self._spec, answer, self._cap)
        found = found or self._line.thinking.less_room(self._spec)
        if self._most and not self._spec.context_tokens:
            # This cap was accepted, and twice as much was not.
            fitted = answer.usage.tokens_in + self._cap
            self._line.learn_soon(self._spec, Capability("context_tokens", fitted))
        if found is not None:
            self._line.learn_soon(self._spec, found)

    def _accept_answer(self, answer: Completion) -> Completion | None:
        if self._cut_off(answer):
            self._waste(answer.usage)
            return None
        wordless = answer.finish_reason == "length" and is_only_thinking(answer)
        if wordless and self._line.thinking.without_a_word(self._spec):
            self._waste(answer.usage)
            error = error_messages.only_thinks(self._spec, self._cap)
            self._breaker.refused(error)
            raise error
        self._spent = add_usage(self._spent, answer.usage)
        return replace(
            answer,
            usage=self._spent,
            attempts=tuple(self._attempts),
            seconds=round(sum(attempt.seconds for attempt in self._attempts), 4),
        )

    def _cut_off(self, answer: Completion) -> bool:
        """Whether to ask again, with room for an answer."""
        if answer.finish_reason != "length":
            return False
        formed = "response_format" in self._request
        if is_only_thinking(answer):
            # Without a sign of thinking, the model may be unable to complete the form.
            self._plain = self._plain or (formed and not thinking_tokens_of(answer))
            return self._longest() > self._cap
        # For more words the caller must allow more tokens; blanks never end.
        again = formed and not self._plain and not answer.text[-_BLANKS:].strip()
        self._plain = self._plain or again
        return again

    def _count_waste(self, failure: Failure) -> None:
        """Count the estimated tokens of an unreadable answer. An answer that never arrived is not
        counted, but the provider may charge for it."""
        if failure.paid and not failure.unread:
            self._waste(Usage(self._tokens_in, min(failure.length // 3, self._cap), estimated=True))
        unread = Usage(self._tokens_in, self._cap) if failure.unread else Usage()
        self._record.fail(self._attempts[-1], unread)

    def _waste(self, usage: Usage) -> None:
        self._spent = add_usage(self._spent, usage)
        self._record.spend(usage)

    async def _back_off(self, failure: Failure) -> None:
        """Not after a refusal that names the form of the answer: a simpler one is asked for,
        each at most once a call."""
        simpler = ("form", self._trial.structured)
        if self._trial.structured and names_form(failure) and simpler not in self._adapted:
            self._adapted.add(simpler)
            return
        await super()._back_off(failure)

    async def _adapt_request(self, verdict: Verdict, failure: Failure) -> Completion | bool:
        if verdict is Verdict.FILTERED:
            return self._filtered(failure)
        if verdict in (Verdict.REJECTED, Verdict.KEY) and await self._adapt(failure):
            return True
        return await self._ask_for_less(verdict, failure)

    def _filtered(self, failure: Failure) -> Completion:
        """A refusal by the provider's filter is a result, as a filtered answer is."""
        self._breaker.answered()
        refused = Completion(
            text="",
            finish_reason="content_filter",
            usage=Usage(self._tokens_in, estimated=True),
            refusal=failure.message or "The provider's content filter refused the request.",
            effective_params=effective_params(self._request),
        )
        return self._accept_answer(refused) or refused

    async def _adapt(self, failure: Failure) -> bool:
        """Learn from a refused parameter, each at most once a call; True to ask again."""
        capability = learn_from(failure, self._request)
        if capability is None:
            return False
        # A form of answers is given up in two steps.
        value = capability.value if capability.field == "structured" else None
        if (capability.field, value) in self._adapted:
            return False
        self._adapted.add((capability.field, value))
        if capability.field == "structured" and not self._trial.teaches(failure, self._request):
            self._trial.structured = capability.value
            return self._build() != self._request
        # The endpoint refuses all concurrent calls: the first one learns for the others.
        if self._build() == self._request:
            await self._line.learn(self._spec, capability)
        return self._build() != self._request

    async def _ask_for_less(self, verdict: Verdict, failure: Failure) -> bool:
        """Reduce the room for thinking if the endpoint refuses it; True to ask again.

        A cap that it never accepts is learnt. If input and answer together are too long, this
        call asks for less, and the context size is learnt for the others.
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
        numbers = [_parse_count(digits) for digits in _NUMBER.findall(failure.message)]
        less = max([number for number in numbers if asked < number < self._cap], default=less)
        await self._line.learn(
            self._spec, Capability("output_limit", less, failure.message[:REASON_LENGTH])
        )
        return True

    async def _learn_context(self, failure: Failure) -> bool:
        """Learn the context size that the refusal names; whether the cap is lower now."""
        named = _CONTEXT.search(failure.message)
        size, known = _parse_count(named[1]) if named else 0, self._spec.context_tokens
        if size <= self._asked or (known and known <= size):
            return False
        words = failure.message[:REASON_LENGTH]
        await self._line.learn(self._spec, Capability("context_tokens", size, words))
        return self._longest() < self._cap

    async def _learn_limit(self, verdict: Verdict, failure: Failure) -> None:
        """Learn the endpoint's limit if it refuses even the room for words, so that later calls
        do not exceed it."""
        numbers = [_parse_count(digits) for digits in _NUMBER.findall(failure.message)]
        less = max([number for number in numbers if number < self._cap], default=0)
        if _refuses_the_cap(verdict, failure) and less:
            words = failure.message[:REASON_LENGTH]
            await self._line.learn(self._spec, Capability("output_limit", less, words))


def _refuses_the_cap(verdict: Verdict, failure: Failure) -> bool:
    refusal = f"{failure.param} {failure.message}"
    return verdict is Verdict.REJECTED and bool(_ABOUT_THE_CAP.search(refusal))


def _parse_count(text: str) -> int:
    return int(text.replace(",", ""))


def demands_less(form: str, other: str) -> bool:
    """Whether ``form`` is a simpler form than ``other``."""
    return _FORMS.index(ModelSpec.Structured(form)) < _FORMS.index(ModelSpec.Structured(other))


class FormTrial:
    """Chooses a simpler form of answer for one call if the usual one is refused.

    HTTP 500 may be about the form: llama.cpp sends it for a schema that it cannot use, and any
    server for an error of its own. So a simpler form is tried if the refusal names the form, or
    comes twice in a row. If the model answers in that form, it is learnt, unless the refusal did
    not name the form and the model has used it before. A refusal because of one item's own options
    teaches nothing about other items.

    Args:
        call: the call.
        kept: the forms that the model has answered in; added to.
    """

    def __init__(self, call: Call, kept: set[str]) -> None:
        #: The form to ask for instead of the usual one; None: the usual one.
        self.structured: str | None = None
        self._kept = kept
        self._own = call.schema.offered(call.options) != call.schema.offered(())
        self._in_a_row = 0
        self._refusal = ""
        self._unnamed: str | None = None

    def teaches(self, failure: Failure, request: Mapping[str, Any]) -> bool:
        """Whether the form was refused for every call, and not the schema of this one."""
        own = self._own and request["response_format"].get("type") == "json_schema"
        return not own or refuses_all_forms(failure)

    def heed(self, answer: Completion | Failure, request: Mapping[str, Any]) -> Capability | None:
        """Note the answer to ``request``; the capability that it shows, if any."""
        form = request.get("response_format", {}).get("type", "")
        if isinstance(answer, Completion):
            self._kept.add(form)
            refusal, self._refusal, self._in_a_row = self._refusal, "", 0
            if not (refusal and self.structured) or self._unnamed in self._kept:
                return None
            return Capability("structured", self.structured, refusal)
        if answer.status != 500:
            return None
        if not form:
            self.structured, self._refusal, self._in_a_row = None, "", 0
            return None
        self._in_a_row += 1
        named = names_form(answer)
        if (named or form not in self._kept) and self.teaches(answer, request):
            self._refusal = self._refusal or answer.message or "HTTP 500"
            # Another call may still get an answer in this form.
            self._unnamed = None if named else form
        if self.structured or self._in_a_row > 1 or named:
            self.structured = less_structured(request)
        return None
