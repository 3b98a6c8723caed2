"""The JSON of answers, good ones and the seven bad ones."""

import base64
import json
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

from tests.fakes.endpoint.draw import Draw
from tests.fakes.endpoint.options import Options
from tests.fakes.endpoint.wire import answer, answer_json


def usage(options: Options, prompt: int, completion: int) -> dict[str, int]:
    """Token numbers for so many characters."""
    tokens_in = options.tokens_in or max(1, prompt // 4)
    tokens_out = options.tokens_out or max(1, completion // 4)
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }


def completion(
    model: str, texts: Sequence[str], counts: dict[str, int] | None, reason: str = "stop"
) -> dict[str, Any]:
    """A chat completion with one choice for each text."""
    whole: dict[str, Any] = {
        "id": "chatcmpl-fast",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {
                "index": index,
                "message": {"role": "assistant", "content": text, "refusal": None},
                "finish_reason": reason,
            }
            for index, text in enumerate(texts)
        ],
    }
    return whole | ({"usage": counts} if counts else {})


def with_logprobs(
    whole: dict[str, Any], others: Sequence[str], draw: Draw, most: int
) -> dict[str, Any]:
    """The completion with log probabilities: what is said is sure, but for the decision's words.
    Each token has ``most`` alternatives, as the API has it."""
    for choice in whole["choices"]:
        before, mark, decided = choice["message"]["content"].rpartition("Final Decision:")
        sure = [_token(word, 0.999, "") for word in _pieces(before + mark)]
        share = 0.5 + draw(f"sure{choice['index']}") / 2
        other = next((name for name in others if name != decided.strip()), "")
        open_ = [_token(word, share, f" {other}") for word in _pieces(decided)]
        tokens = [{**token, "top_logprobs": token["top_logprobs"][:most]} for token in sure + open_]
        choice["logprobs"] = {"content": tokens, "refusal": None}
    return whole


def embeddings(model: str, texts: Sequence[str], options: Options, *, packed: bool) -> Any:
    """Vectors that are alike where words are shared."""
    rows = [_vector(text, options.dimensions) for text in texts]
    counts = usage(options, sum(map(len, texts)), 0)
    return {
        "object": "list",
        "model": model,
        "data": [
            {"object": "embedding", "index": index, "embedding": _packed(row) if packed else row}
            for index, row in enumerate(rows)
        ],
        "usage": {key: counts[key] for key in ("prompt_tokens", "total_tokens")},
    }


Malformed = Callable[[str, str, dict[str, int]], bytes]


def _saying(text: Callable[[str], str], reason: str = "stop") -> Malformed:
    """An answer of the right form with the wrong words."""
    return lambda model, good, counts: answer_json(
        200, completion(model, [text(good)], counts, reason)
    )


#: A proxy's page: no model wrote it, and nobody pays for it.
NOT_WRITTEN = "html"
#: Called with the model, the good answer and the usage.
MALFORMED: dict[str, Malformed] = {
    "not_json": lambda *_: answer(200, b'{"choices": [{"message": {"conte'),
    "no_choices": lambda model, _, counts: answer_json(200, completion(model, [], counts)),
    "empty": _saying(lambda _: ""),
    "off_menu": _saying(lambda _: "It is about parking.\nFinal Decision: Parking by the moon"),
    "cut_off": _saying(lambda good: good[: good.rfind("Final Decision") + 3], "length"),
    "prose": _saying(lambda _: "That depends on how it is looked at, and there is much to say."),
    NOT_WRITTEN: lambda *_: answer(
        200, b"<html><body>Welcome to the gateway</body></html>", content_type="text/html"
    ),
}


def malformed(name: str, model: str, good: str, counts: dict[str, int]) -> bytes:
    """The whole answer of that shape."""
    return MALFORMED[name](model, good, counts)


def good_answer(whole: dict[str, Any]) -> bytes:
    """The whole answer that holds a completion."""
    return answer(200, json.dumps(whole).encode())


def _pieces(text: str) -> list[str]:
    return [f" {word}" for word in text.split()]


def _token(word: str, share: float, other: str) -> dict[str, Any]:
    top = [{"token": word, "logprob": math.log(share), "bytes": list(word.encode())}]
    if other and share < 1:
        rest = {"token": other, "logprob": math.log(1 - share), "bytes": list(other.encode())}
        top.append(rest)
    return top[0] | {"top_logprobs": top}


def _vector(text: str, dimensions: int) -> list[float]:
    draw = Draw("embedding", "", 0)
    found = [0.0] * dimensions
    for word in text.casefold().split():
        number = draw.of_text(word.strip(".,;:!?\"'"))
        found[int(number * dimensions)] += 1.0 if int(number * 2**20) % 2 else -1.0
    length = math.sqrt(sum(number * number for number in found)) or 1.0
    return [number / length for number in found]


def _packed(row: Sequence[float]) -> str:
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()
