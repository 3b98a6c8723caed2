"""An endpoint's log-probabilities as the chat-completions API has them: by its rules, no kinder.

``top_logprobs`` without ``logprobs`` is refused; ``logprobs`` alone comes with ``top_logprobs: []``
for each token.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.llm.tiny_endpoint import Answer, chat_completion, error

#: A token and what else could have stood there, with probabilities; a bare text was certain.
Piece = str | tuple[str, Mapping[str, float]]
_WORD = re.compile(r"\s?\S+|\s")


def answer_in_tokens(body: Mapping[str, Any], pieces: Sequence[Piece]) -> Answer:
    """The answer that ``pieces`` spell to a request, with as many alternatives as it asks for."""
    if "top_logprobs" in body and not body.get("logprobs"):
        return 400, error("'top_logprobs' requires 'logprobs' to be true"), {}
    text = "".join(piece if isinstance(piece, str) else piece[0] for piece in pieces)
    if not body.get("logprobs"):
        return 200, chat_completion(text), {}
    most = body.get("top_logprobs", 0)
    tokens = [token for piece in pieces for token in _tokens(piece, most)]
    return 200, chat_completion(text, logprobs={"content": tokens, "refusal": None}), {}


def _tokens(piece: Piece, most: int) -> list[dict[str, Any]]:
    if isinstance(piece, str):
        return [_token(word, {word: 1.0}, most) for word in _WORD.findall(piece)]
    return [_token(*piece, most)]


def _token(word: str, shares: Mapping[str, float], most: int) -> dict[str, Any]:
    rows = sorted(shares.items(), key=lambda pair: -pair[1])
    choices = [{"token": token, "logprob": math.log(share)} for token, share in rows]
    return {"token": word, "logprob": math.log(shares[word]), "top_logprobs": choices[:most]}
