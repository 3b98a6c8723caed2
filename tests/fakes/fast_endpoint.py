"""An OpenAI-compatible endpoint in a process of its own that costs next to nothing: for benches.

    with FastEndpoint(latency=0.05, capacity=32) as endpoint:
        endpoint.base_url                # http://127.0.0.1:PORT/v1
        endpoint.set(malformed=0.05)     # behave otherwise from here on
        endpoint.stats()["statuses"]     # {"200": 6000, "429": 12}
        endpoint.reset()                 # forget what was counted, behave as at the start

The child ends when its standard input closes. Its answers are those of ``openai_server.py``, which
see for faults in a wanted order.

Every decision is a hash of the body and how often this body came: reruns and resumed runs see the
same faults.
"""

import asyncio
import dataclasses
import hashlib
import http.client
import json
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.fakes.openai_server import completion, decide
from tests.fakes.wire import Connection, Reply, answer, answer_error, answer_json

# The ids of delimiters differ between runs; what a rerun asks is the same all the same.
_FENCE_ID = re.compile(rb'text id=\\"[0-9a-f]{8}\\"')


@dataclass(frozen=True, slots=True)
class Options:
    """Times in seconds; ``limited``, ``unavailable``, ``malformed`` are shares of the requests."""

    latency: float = 0.0
    jitter: float = 0.0
    #: 429 with Retry-After above this many in flight; 0: any number.
    capacity: int = 0
    retry_after: float = 1.0
    #: Requests a second, 429 with the exact retry-after-ms above it; 0: any number. ``burst`` many
    #: may come at once.
    rate: float = 0.0
    burst: int = 1
    limited: float = 0.0
    unavailable: float = 0.0
    malformed: float = 0.0


class FastEndpoint:
    """This file as a child while the ``with`` block lasts."""

    def __init__(self, **options: Any) -> None:
        self._options = Options(**options)

    def __enter__(self) -> Self:
        """Start it and wait until it listens."""
        given = json.dumps(dataclasses.asdict(self._options))
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The endpoint did not start: {self._process.wait(10)}")
        self._port = int(line)
        return self

    def __exit__(self, *_: object) -> None:
        """Close its input, which ends it."""
        self._process.communicate()

    @property
    def base_url(self) -> str:
        """What a provider's ``base_url`` is set to."""
        return f"http://127.0.0.1:{self._port}/v1"

    def stats(self) -> dict[str, Any]:
        """What was counted since the last reset."""
        return self._ask("GET", "/stats")

    def reset(self) -> None:
        """Forget what was counted, behave as at the start."""
        self._ask("POST", "/reset")

    def set(self, **changes: Any) -> None:
        """Behave otherwise."""
        self._ask("POST", "/options", changes)

    def _ask(self, method: str, path: str, body: Any = None) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        try:
            connection.request(method, path, json.dumps(body))
            response = connection.getresponse()
            decoded: dict[str, Any] = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(decoded["error"]["message"])
        return decoded


class Counts:
    """What was seen since the last reset."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.arrivals: Counter[bytes] = Counter()
        self.embeddings = self.most_in_flight = self.tokens_in = self.tokens_out = 0
        self._cpu = time.process_time()

    def report(self) -> dict[str, Any]:
        """As ``GET /stats`` tells it."""
        return {
            "requests": sum(self.statuses.values()),
            "statuses": {str(status): count for status, count in self.statuses.items()},
            "outcomes": dict(self.outcomes),
            "most_in_flight": self.most_in_flight,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "embeddings": self.embeddings,
            "cpu_seconds": round(time.process_time() - self._cpu, 4),
        }


class Bucket:
    """Room for ``rate`` requests a second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._most = self._left = float(burst)
        self._at = time.monotonic()

    def wait(self) -> float:
        """0 when the request has found room, else the seconds until there will be some."""
        now = time.monotonic()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) / self._rate


Malformed = Callable[[str, str, dict[str, int]], bytes]


def _saying(text: Callable[[str], str], finish_reason: str = "stop") -> Malformed:
    """An answer of the right form with the wrong words."""
    return lambda model, good, usage: answer_json(
        200, completion(model, text(good), usage=usage, finish_reason=finish_reason)
    )


#: A proxy's page: no model wrote it, and nobody pays for it.
NOT_WRITTEN = "html"
#: Called with the model, the good answer and the usage.
MALFORMED: dict[str, Malformed] = {
    "not_json": lambda *_: answer(200, b'{"choices": [{"message": {"conte'),
    "no_choices": lambda model, _, usage: answer_json(
        200, completion(model, "", usage=usage, choices=[])
    ),
    "empty": _saying(lambda _: ""),
    "off_menu": _saying(lambda _: "It is about parking.\nFinal Decision: Parking by the moon"),
    "cut_off": _saying(lambda good: good[: good.rfind("Final Decision") + 3], "length"),
    "prose": _saying(lambda _: "That depends on how it is looked at, and there is much to say."),
    NOT_WRITTEN: lambda *_: answer(
        200, b"<html><body>Welcome to the gateway</body></html>", content_type="text/html"
    ),
}


class Service:
    """The endpoint without its connections; belongs to the running event loop."""

    def __init__(self, options: Options) -> None:
        self._initial = options
        self._later = asyncio.get_running_loop().call_later
        self._in_flight = 0
        self._routes: dict[tuple[str, str], Callable[[bytes, Reply], None]] = {
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/embeddings"): self._embed,
            ("GET", "/stats"): self._stats,
            ("POST", "/reset"): self._reset,
            ("POST", "/options"): self._change,
        }
        self._begin(options)

    def handle(self, method: str, path: str, body: bytes, reply: Reply) -> None:
        """Answer one request by calling ``reply``, now or later."""
        route = self._routes.get((method, path))
        if route is None:
            return reply(answer_error(404, "No such page."))
        try:
            return route(body, reply)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            return reply(answer_error(400, f"This cannot be read: {error!r}"))

    def _begin(self, options: Options) -> None:
        self._counts = Counts()
        self._take_up(options)

    def _take_up(self, options: Options) -> None:
        self._options = options
        self._bucket = Bucket(options.rate, options.burst) if options.rate else None

    def _chat(self, raw: bytes, reply: Reply) -> None:
        body = json.loads(raw)
        counts, options = self._counts, self._options
        digest = hashlib.blake2b(_FENCE_ID.sub(b"text", raw), digest_size=12).digest()
        counts.arrivals[digest] += 1

        def draw(name: str) -> float:
            """A number in [0, 1), the same for the n-th arrival of the same body."""
            key = f"{digest.hex()}:{counts.arrivals[digest]}:{name}".encode()
            return int.from_bytes(hashlib.blake2b(key, digest_size=8).digest()) / 2**64

        outcome, status, ready = self._refused(draw) or self._answered(body, draw)
        counts.outcomes[outcome] += 1
        counts.statuses[status] += 1
        if status == 429:
            return reply(ready)
        self._in_flight += 1
        counts.most_in_flight = max(counts.most_in_flight, self._in_flight)
        seconds = options.latency + (options.jitter and options.jitter * draw("jitter"))
        self._later(seconds, partial(self._finish, reply, ready))
        return None

    def _finish(self, reply: Reply, ready: bytes) -> None:
        self._in_flight -= 1
        reply(ready)

    def _refused(self, draw: Callable[[str], float]) -> tuple[str, int, bytes] | None:
        """The refusal that is due: too many at once, too many a second, or by chance."""
        options = self._options
        wait = {"Retry-After": f"{options.retry_after:g}"}
        if options.capacity and self._in_flight >= options.capacity:
            return "over_capacity", 429, answer_error(429, "Too many at once.", wait)
        if self._bucket and (seconds := self._bucket.wait()):
            exact = {"retry-after-ms": f"{seconds * 1000:.3f}"}
            return "over_rate", 429, answer_error(429, "Too many a second.", exact)
        if not options.limited and not options.unavailable:
            return None
        chance = draw("fate")
        if chance < options.limited:
            return "limited", 429, answer_error(429, "Slow down.", wait)
        if chance < options.limited + options.unavailable:
            return "unavailable", 503, answer_error(503, "Overloaded.")
        return None

    def _answered(
        self, body: dict[str, Any], draw: Callable[[str], float]
    ) -> tuple[str, int, bytes]:
        options, model = self._options, body["model"]
        text = decide(body["messages"])
        usage = _usage(sum(len(message["content"]) for message in body["messages"]), len(text))
        name = ""
        if options.malformed and draw("form") < options.malformed:
            name = list(MALFORMED)[int(draw("shape") * len(MALFORMED))]
        if name != NOT_WRITTEN:
            self._counts.tokens_in += usage["prompt_tokens"]
            self._counts.tokens_out += usage["completion_tokens"]
        if name:
            return name, 200, MALFORMED[name](model, text, usage)
        return "ok", 200, answer_json(200, completion(model, text, usage=usage))

    def _embed(self, raw: bytes, reply: Reply) -> None:
        body = json.loads(raw)
        self._counts.embeddings += len(body["input"])
        rows = [
            {"object": "embedding", "index": index, "embedding": [1.0, float(len(text))]}
            for index, text in enumerate(body["input"])
        ]
        usage = _usage(sum(map(len, body["input"])), 0)
        found = {"object": "list", "model": body["model"], "data": rows, "usage": usage}
        self._later(self._options.latency, partial(reply, answer_json(200, found)))

    def _stats(self, _: bytes, reply: Reply) -> None:
        reply(answer_json(200, self._counts.report()))

    def _reset(self, _: bytes, reply: Reply) -> None:
        self._begin(self._initial)
        reply(answer_json(200, {}))

    def _change(self, raw: bytes, reply: Reply) -> None:
        self._take_up(dataclasses.replace(self._options, **json.loads(raw)))
        reply(answer_json(200, {}))


def _usage(prompt: int, completion: int) -> dict[str, int]:
    """Token numbers for so many characters."""
    tokens_in, tokens_out = max(1, prompt // 4), max(1, completion // 4)
    return {
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
        "total_tokens": tokens_in + tokens_out,
    }


async def serve(options: Options) -> None:
    """Listen on a free loopback port, which is printed, until the standard input closes."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    service = Service(options)
    server = await loop.create_server(
        lambda: Connection(service.handle), "127.0.0.1", 0, backlog=1024
    )
    print(server.sockets[0].getsockname()[1], flush=True)

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=wait_for_end, daemon=True).start()
    await over.wait()
    server.close()


def _loop_factory() -> Any:
    """uvloop's loops where it is installed, which halves the cost of a request."""
    try:
        import uvloop  # noqa: PLC0415 - may be missing
    except ImportError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(Options(**json.loads(sys.argv[1]))))
