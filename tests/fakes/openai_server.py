"""An OpenAI-compatible endpoint of our own for tests: it answers our prompts, and fails on order.

In a test (fixture ``model_server`` of tests/fakes/fixtures.py, or by hand)::

    with FakeServer(Options(faults={"unavailable": 0.1})) as server:
        server.base_url            # http://127.0.0.1:PORT/v1
        server.script("Final Decision: Price", {"fault": "rate_limit", "retry_after": 1})
        server.stats["outcomes"]   # {"ok": 3, "unavailable": 1}

Whether a request fails is a hash of (body, how often this body came before): reruns and
resumed runs see the same faults. A scripted entry goes before chance.
"""

import asyncio
import hashlib
import json
import re
import threading
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeAlias

from aiohttp import web

_PIECE = re.compile(r"\s*\S{1,12}\s*")
Handler: TypeAlias = Callable[["FakeServer", web.Request, dict[str, Any]], Awaitable[web.Response]]
Entry: TypeAlias = str | dict[str, Any]
#: The status and the JSON body of the answer to a request.
Say: TypeAlias = Callable[[dict[str, Any]], tuple[int, Any]]


@dataclass(slots=True)
class Options:
    """How the server behaves; ``faults`` maps the names in ``FAULTS`` to shares of requests.

    ``thinks`` tokens come before each answer, hidden and counted; ``shows_thought`` in a field of
    that name instead, or in ``tags``. A cap above ``longest`` is refused. ``one_at_a_time`` seconds
    go to each request while the others wait in a queue, as on a small server at home; a request
    that nobody waits for any more is worked on all the same.
    """

    latency: float = 0.0
    slow: float = 0.5
    retry_after: float = 1.0
    one_at_a_time: float = 0.0
    key: str = ""
    models: tuple[str, ...] = ()
    lists_models: bool = True
    thinks: int = 0
    shows_thought: str = ""
    longest: int = 0
    faults: dict[str, float] = field(default_factory=dict)


_MENU = re.compile(r"no others exist:\n+(.*?)(?:\n\n|\Z)", re.DOTALL)
_CHOICES = re.compile(r"(?ims)^(?:choices|options)\b[^\n]*:\n+(.*?)(?:\n\n|\Z)")
_NAME = re.compile(r"^- (?:[\d.]+: )?(?P<name>.+)$", re.MULTILINE)
_TEXT = re.compile(r'<text id="(\w+)">\n(.*?)\n</text id="\1">', re.DOTALL)
_WORD = re.compile(r"\w{4,}")


def decide(messages: list[dict[str, str]]) -> str:
    """An answer to one of our prompts, found by matching words; the same for the same prompt."""
    system = "\n\n".join(message["content"] for message in messages if message["role"] != "user")
    user = "\n\n".join(message["content"] for message in messages if message["role"] == "user")
    menu = _MENU.search(system) or _MENU.search(user) or _CHOICES.search(user)
    fenced = _TEXT.search(user)
    text = fenced[2] if fenced else user
    if menu is None:
        return f"Final Decision: {text.split('.')[0][:80]}"
    scores = _scores(menu[1], text)
    if "several aspects" in system or "aspects that can be present" in system + user:
        present = [name for name, hits in scores.items() if hits]
    else:
        present = [max(scores, key=lambda name: len(scores[name]))]
    lines = [f'- {name}: "{scores[name][0]}"' for name in present if scores[name]]
    return "\n".join([*lines, f"Final Decision: {', '.join(present) or 'none'}"])


def _scores(menu: str, text: str) -> dict[str, list[str]]:
    """For each name on the menu the words of the text that its entry shares."""
    starts = list(_NAME.finditer(menu))
    ends = [match.start() for match in starts[1:]] + [len(menu)]
    words = {word.casefold()[:5]: word for word in _WORD.findall(text)}
    scores: dict[str, list[str]] = {}
    for match, end in zip(starts, ends, strict=True):
        stems = {word.casefold()[:5] for word in _WORD.findall(menu[match.start() : end])}
        scores[match["name"].strip()] = [words[stem] for stem in words if stem in stems]
    return scores


def completion(model: str, text: str | None, **changes: Any) -> dict[str, Any]:
    """The JSON of one chat completion; ``finish_reason``, ``usage``, ``message`` may be changed."""
    message = {"role": "assistant", "content": text, "refusal": None} | changes.pop("message", {})
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "finish_reason": changes.pop("finish_reason", "stop")}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    } | changes


def _cap_of(body: dict[str, Any]) -> int:
    return int(body.get("max_tokens") or body.get("max_completion_tokens") or 0)


def _cap_too_large(longest: int, body: dict[str, Any]) -> web.Response:
    name = "max_tokens" if "max_tokens" in body else "max_completion_tokens"
    words = f"{name} is too large: {_cap_of(body)}. This model supports at most {longest} "
    return _error(400, f"{words}completion tokens.", code="invalid_value", param=name)


def _thought(text: str, body: dict[str, Any], options: Options) -> tuple[str, web.Response]:
    """``text`` after as much thinking as the options say, as far as the cap allows."""
    room = _cap_of(body) or options.thinks + 20
    tokens = min(options.thinks, room)
    cut_off = bool(tokens) and tokens + 20 > room
    message: dict[str, Any] = {}
    text = "" if cut_off else text
    usage: dict[str, Any] = {"prompt_tokens": 100, "completion_tokens": tokens + (not cut_off) * 20}
    if options.shows_thought == "tags":
        text = f"<think>{'so. ' * (tokens * 3 // 4)}" + ("" if cut_off else f"</think>{text}")
    elif options.shows_thought:
        message[options.shows_thought] = "so. " * (tokens * 3 // 4)
    else:
        usage["completion_tokens_details"] = {"reasoning_tokens": tokens}
    finish = "length" if cut_off else "stop"
    answer = completion(body["model"], text, message=message, usage=usage, finish_reason=finish)
    return "cut_off" if cut_off else "ok", web.json_response(answer)


def _error(status: int, message: str, **more: Any) -> web.Response:
    headers = more.pop("headers", None)
    return web.json_response(
        {"error": {"message": message, **more}}, status=status, headers=headers
    )


def _answering(**changes: Any) -> Handler:
    """A fault that is an odd answer: ``text`` and the changes of :func:`completion`."""

    async def handle(_: "FakeServer", __: web.Request, body: dict[str, Any]) -> web.Response:
        kept = dict(changes)
        text = kept.pop("text", decide(body["messages"]))
        return web.json_response(completion(body["model"], text, **kept))

    return handle


def _refusing(status: int, message: str, **more: Any) -> Handler:
    async def handle(_: "FakeServer", __: web.Request, ___: dict[str, Any]) -> web.Response:
        return _error(status, message, **more)

    return handle


def _limiting(header: str, scale: float) -> Handler:
    async def handle(server: "FakeServer", _: web.Request, body: dict[str, Any]) -> web.Response:
        seconds = body["_entry"].get("retry_after", server.options.retry_after)
        return _error(429, "Slow down.", headers={header: f"{seconds * scale:g}"})

    return handle


def _saying(text: str, content_type: str) -> Handler:
    async def handle(_: "FakeServer", __: web.Request, ___: dict[str, Any]) -> web.Response:
        return web.Response(text=text, content_type=content_type)

    return handle


async def _slow(server: "FakeServer", _: web.Request, body: dict[str, Any]) -> web.Response:
    await asyncio.sleep(server.options.slow)
    return web.json_response(completion(body["model"], decide(body["messages"])))


async def _hang(server: "FakeServer", _: web.Request, __: dict[str, Any]) -> web.Response:
    await server.stopping()
    return _error(503, "stopped")


async def _reset(_: "FakeServer", request: web.Request, __: dict[str, Any]) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _redirect(_: "FakeServer", __: web.Request, ___: dict[str, Any]) -> web.Response:
    return web.Response(status=307, headers={"Location": "http://169.254.169.254/latest/"})


FAULTS: dict[str, Handler] = {
    "rate_limit": _limiting("Retry-After", 1),
    "rate_limit_ms": _limiting("retry-after-ms", 1000),
    "rate_limit_bare": _refusing(429, "Slow down."),
    "insufficient_quota": _refusing(429, "You exceeded your quota.", code="insufficient_quota"),
    "unavailable": _refusing(503, "Overloaded."),
    "malformed": _saying('{"choices": [{"message": {"conte', "application/json"),
    "html": _saying("<html>Welcome</html>", "text/html"),
    "no_choices": _answering(choices=[]),
    "truncated": _answering(text="- The words that", finish_reason="length"),
    "empty": _answering(text=""),
    "only_thought": _answering(text="", finish_reason="length"),
    "off_menu": _answering(text="Final Decision: Parking by the moon"),
    "refusal": _answering(text=None, message={"refusal": "I will not read this."}),
    "reasoning": _answering(message={"reasoning_content": "Let me see."}),
    "slow": _slow,
    "hang": _hang,
    "reset": _reset,
    "redirect": _redirect,
    "wrong_key": _refusing(401, "Incorrect API key provided.", code="invalid_api_key"),
    "unknown_model": _refusing(404, "The model does not exist.", code="model_not_found"),
    "too_long": _refusing(
        400, "This model's maximum context length is 10 tokens.", code="context_length_exceeded"
    ),
    "no_temperature": _refusing(
        400,
        "Unsupported value: 'temperature' does not support 0 with this model.",
        code="unsupported_value",
        param="temperature",
    ),
    "no_max_tokens": _refusing(
        400,
        "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
        code="unsupported_parameter",
        param="max_tokens",
    ),
    "no_system": _refusing(400, "System role not supported"),
}

#: Refusals that stop as soon as the client has adapted, as a real endpoint's would.
_WHILE: dict[str, Callable[[dict[str, Any]], bool]] = {
    "no_temperature": lambda body: "temperature" in body,
    "no_max_tokens": lambda body: "max_tokens" in body,
    "no_system": lambda body: any(message["role"] == "system" for message in body["messages"]),
}


class FakeServer:
    """The server on a free loopback port, in a thread of its own; a context manager."""

    def __init__(self, options: Options | None = None) -> None:
        self._initial = options or Options()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True)
        self._started = threading.Event()
        self._lock = threading.Lock()
        self.port = 0
        self.reset()

    def reset(self) -> None:
        """Forget what was counted and scripted; behave as at the start."""
        self.options = replace(self._initial, faults=dict(self._initial.faults))
        self.outcomes: Counter[str] = Counter()
        self.requests: deque[dict[str, Any]] = deque(maxlen=5000)
        self._arrivals: Counter[str] = Counter()
        self._script: deque[Entry] = deque()
        self._open = self._most_open = 0
        self._say: Say | None = None

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    @property
    def base_url(self) -> str:
        """What a provider's ``base_url`` is set to."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def stats(self) -> dict[str, Any]:
        """Requests by outcome, and the most that were open at once."""
        return {
            "requests": sum(self.outcomes.values()),
            "outcomes": dict(self.outcomes),
            "most_open": self._most_open,
        }

    def script(self, *entries: Entry) -> None:
        """Answer the next requests with these: a text, or ``{"fault": name, ...}``, or changes to
        the completion such as ``{"text": "...", "finish_reason": "length"}``."""
        with self._lock:
            self._script.extend(entries)

    def answer_with(self, say: Say) -> None:
        """Answer every request from now on as ``say`` does, without chance or script."""
        self._say = say

    async def stopping(self) -> None:
        """Return when the server is about to stop."""
        await self._stop.wait()

    async def serve(self) -> None:
        """Serve until stopped."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._slot = asyncio.Lock()
        app = web.Application(client_max_size=64 * 1024 * 1024)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        # No wait for requests that hang on purpose: they end with the server.
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=1024)
        await site.start()
        self.port = runner.addresses[0][1]
        self._started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        body = json.loads(raw)
        self.requests.append(body)
        self._open += 1
        self._most_open = max(self._most_open, self._open)
        try:
            outcome, answer = await self._answer(request, raw, body)
        finally:
            self._open -= 1
        self.outcomes[outcome] += 1
        return await streamed(request, body, answer)

    async def _answer(
        self, request: web.Request, raw: bytes, body: dict[str, Any]
    ) -> tuple[str, web.Response]:
        if refused := self._refused(request, body):
            return refused
        if self._say is not None:
            status, answer = self._say(body)
            return str(status), web.json_response(answer, status=status)
        chance = self._chance(raw)
        await asyncio.sleep(self.options.latency)
        if self.options.one_at_a_time:
            # A task of its own: it goes on when the client has hung up.
            await asyncio.shield(asyncio.create_task(self._work()))
        with self._lock:
            entry = self._script.popleft() if self._script else None
        if isinstance(entry, str):
            entry = {"text": entry}
        if entry is not None and "fault" not in entry:
            entry = {"text": decide(body["messages"])} | entry
            return "scripted", web.json_response(completion(body["model"], **entry))
        fault = entry["fault"] if entry else self._fault(chance, body)
        if not fault:
            if self.options.longest and _cap_of(body) > self.options.longest:
                return "cap_too_large", _cap_too_large(self.options.longest, body)
            text = decide(body["messages"])
            return _thought(text, body, self.options)
        return fault, await FAULTS[fault](self, request, body | {"_entry": entry or {}})

    async def _work(self) -> None:
        async with self._slot:
            await asyncio.sleep(self.options.one_at_a_time)

    def _refused(
        self, request: web.Request, body: dict[str, Any]
    ) -> tuple[str, web.Response] | None:
        known, key = self.options.models, self.options.key
        if key and request.headers.get("Authorization") != f"Bearer {key}":
            return "wrong_key", _error(401, "Incorrect API key provided.")
        if known and body["model"] not in known:
            return "unknown_model", _error(404, "No such model.", code="model_not_found")
        return None

    def _chance(self, raw: bytes) -> float:
        """A number in [0, 1) that is the same for the n-th arrival of the same body."""
        digest = hashlib.sha256(raw).hexdigest()
        self._arrivals[digest] += 1
        drawn = hashlib.sha256(f"{digest}:{self._arrivals[digest]}".encode())
        return int.from_bytes(drawn.digest()[:8]) / 2**64

    def _fault(self, chance: float, body: dict[str, Any]) -> str:
        for name, share in self.options.faults.items():
            if chance < share:
                return name if _WHILE.get(name, lambda _: True)(body) else ""
            chance -= share
        return ""

    async def _models(self, request: web.Request) -> web.Response:
        if refused := self._refused(request, {"model": next(iter(self.options.models), "")}):
            return refused[1]
        if not self.options.lists_models:
            return _error(404, "No such page.")
        names = self.options.models or ("fake-model",)
        return web.json_response({"object": "list", "data": [{"id": name} for name in names]})


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
