"""A chat completion as a stream of events, for a request that asks for one."""

import json
import re
from typing import Any

from aiohttp import web

_PIECE = re.compile(r"\s*\S{1,12}\s*")


async def streamed(
    request: web.Request, body: dict[str, Any], answer: web.Response
) -> web.StreamResponse:
    """``answer`` as the events that ``body`` asks for; as it is where it asks for none."""
    if not body.get("stream") or answer.status != 200 or answer.content_type != "application/json":
        return answer
    whole = json.loads(answer.body or b"")  # type: ignore[arg-type]  # bytes, as json_response made
    if not whole.get("choices"):
        return answer
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    for event in _events(whole, body):
        await response.write(f"data: {json.dumps(event)}\n\n".encode())
    await response.write(b"data: [DONE]\n\n")
    return response


def _events(whole: dict[str, Any], body: dict[str, Any]) -> list[dict[str, Any]]:
    choice = whole["choices"][0]
    pieces = _PIECE.findall(choice["message"]["content"] or "")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    deltas += [{"content": piece} for piece in pieces]
    events = [_event(whole, delta, None) for delta in deltas]
    events.append(_event(whole, {}, choice["finish_reason"]))
    if body.get("stream_options", {}).get("include_usage") and whole["usage"]:
        events.append({"model": whole["model"], "choices": [], "usage": whole["usage"]})
    return events


def _event(whole: dict[str, Any], delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"object": "chat.completion.chunk", "model": whole["model"], "choices": [choice]}
