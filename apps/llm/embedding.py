"""Embeddings of texts."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from apps.llm.extras import check_extra_body
from apps.llm.failures import Failure
from apps.llm.http_line import HttpLine
from apps.llm.models import ModelSpec
from apps.llm.retry import Patience, RetriedRequest
from apps.llm.wire import Malformed, add_usage, clean, read_json, token_count
from labelhub.core.llm.errors import ModelError
from labelhub.core.llm.prices import estimate_tokens
from labelhub.core.llm.types import Usage

#: Texts in one request; most endpoints take at least as many.
BATCH = 128


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector for each text, all of one length, and their tokens."""

    vectors: list[list[float]]
    usage: Usage


class EmbeddingRequest(RetriedRequest[Embedded]):
    """The request for one batch. Use once."""

    def __init__(
        self, spec: ModelSpec, texts: Sequence[str], line: HttpLine, patience: Patience
    ) -> None:
        super().__init__(spec, line.breaker, patience)
        self._line = line
        self._request = build_embedding(spec, texts)
        self._tokens = sum(estimate_tokens(text) for text in self._request["input"])

    async def _send(self) -> tuple[Embedded | Failure, float]:
        return await self._line.send("/embeddings", self._request, read_embeddings, self._tokens)

    def _accept_answer(self, answer: Embedded) -> Embedded:
        self._spent = add_usage(self._spent, answer.usage)
        return replace(answer, usage=self._spent)

    def _count_waste(self, failure: Failure) -> None:
        """Texts cost tokens even if the answer cannot be read."""
        if failure.paid:
            self._spent = add_usage(self._spent, Usage(self._tokens, estimated=True))


def build_embedding(spec: ModelSpec, texts: Sequence[str]) -> dict[str, Any]:
    """The JSON body of the request for the vectors of ``texts``."""
    # Endpoints refuse an empty text, so send a blank.
    sendable = [clean(text) or " " for text in texts]
    return {
        "model": spec.name,
        "input": sendable,
        "encoding_format": "float",
        **check_extra_body(spec.extra_body),
    }


def read_embeddings(body: bytes, request: Mapping[str, Any]) -> Embedded:
    """Read the answer to ``request``.

    Raises:
        Malformed: it does not hold one vector of finite numbers for each text, all of one length.
    """
    data = read_json(body)
    try:
        rows = sorted(data["data"], key=lambda row: row["index"])
        vectors = [[_finite_number(raw) for raw in row["embedding"]] for row in rows]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise Malformed("the answer is not a list of embeddings") from None
    texts = request["input"]
    if [row["index"] for row in rows] != list(range(len(texts))):
        raise Malformed(f"the answer does not have one embedding for each of {len(texts)} texts")
    if not vectors[0] or len({len(vector) for vector in vectors}) > 1:
        raise Malformed("the embeddings are not all of one length")
    counted = token_count(data.get("usage"), "prompt_tokens")
    if counted is None:
        guessed = sum(estimate_tokens(text) for text in texts)
        return Embedded(vectors, Usage(guessed, estimated=True))
    return Embedded(vectors, Usage(counted))


def join_batches(parts: Sequence[Embedded]) -> Embedded:
    """Several batches as one, in their order.

    Raises:
        ModelError: their vectors differ in length.
    """
    vectors = [vector for part in parts for vector in part.vectors]
    if len({len(vector) for vector in vectors}) > 1:
        raise ModelError("The embeddings of one batch are longer than those of another.")
    tokens = sum(part.usage.tokens_in for part in parts)
    return Embedded(vectors, Usage(tokens, estimated=any(part.usage.estimated for part in parts)))


def _finite_number(raw: Any) -> float:
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not math.isfinite(raw):
        raise ValueError("not a finite number")
    return float(raw)
