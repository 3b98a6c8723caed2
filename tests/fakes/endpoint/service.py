"""What the fast endpoint does with a request: count it, decide its fate, answer after a while."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from tests.fakes.endpoint import answers, shapes
from tests.fakes.endpoint.draw import Draw, digest_of
from tests.fakes.endpoint.options import Options
from tests.fakes.endpoint.wire import Reply, answer_error, answer_json


class Counts:
    """What was seen since the last reset."""

    def __init__(self) -> None:
        self.outcomes: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.models: Counter[str] = Counter()
        self.arrivals: Counter[str] = Counter()
        self.prompt_bytes = self.embeddings = self.most_in_flight = 0
        self.tokens_in = self.tokens_out = 0
        self._cpu = time.process_time()

    def report(self) -> dict[str, Any]:
        """As ``GET /stats`` tells it; ``bodies`` maps how often a body came to how many did."""
        return {
            "requests": sum(self.statuses.values()),
            "statuses": {str(status): count for status, count in self.statuses.items()},
            "outcomes": dict(self.outcomes),
            "models": dict(self.models),
            "most_in_flight": self.most_in_flight,
            "prompt_bytes": self.prompt_bytes,
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "embeddings": self.embeddings,
            "bodies": {str(n): many for n, many in Counter(self.arrivals.values()).items()},
            "cpu_seconds": round(time.process_time() - self._cpu, 4),
        }


class Bucket:
    """Room for ``rate`` requests a second."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate = rate
        self._most = burst or max(1.0, rate / 10)
        self._left = self._most
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


class Service:
    """The endpoint without its connections; belongs to the running event loop."""

    def __init__(self, options: Options) -> None:
        self._initial = options
        self._later = asyncio.get_running_loop().call_later
        self._in_flight = 0
        self._routes: dict[tuple[str, str], Callable[[bytes, Reply], None]] = {
            ("POST", "/v1/chat/completions"): self._chat,
            ("POST", "/v1/embeddings"): self._embed,
            ("GET", "/v1/models"): self._models,
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
        digest = digest_of(raw)
        counts, options = self._counts, self._options
        counts.arrivals[digest] += 1
        counts.models[body["model"]] += 1
        counts.prompt_bytes += len(raw)
        draw = Draw(options.seed, digest, counts.arrivals[digest])
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

    def _refused(self, draw: Draw) -> tuple[str, int, bytes] | None:
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

    def _answered(self, body: dict[str, Any], draw: Draw) -> tuple[str, int, bytes]:
        options, model = self._options, body["model"]
        heard = answers.hear(body["messages"])
        texts = [self._text(heard, draw)]
        texts += [
            self._text(heard, Draw(options.seed, str(draw("choice")), index))
            for index in range(1, min(20, int(body.get("n") or 1)))
        ]
        counts = shapes.usage(options, len(heard.system) + len(heard.user), sum(map(len, texts)))
        name = ""
        if options.malformed and draw("form") < options.malformed:
            name = list(shapes.MALFORMED)[int(draw("shape") * len(shapes.MALFORMED))]
        if name != shapes.NOT_WRITTEN:
            self._counts.tokens_in += counts["prompt_tokens"]
            self._counts.tokens_out += counts["completion_tokens"]
        if name:
            return name, 200, shapes.malformed(name, model, texts[0], counts)
        whole = shapes.completion(model, texts, counts if options.usage else None)
        if options.logprobs and body.get("logprobs"):
            whole = shapes.with_logprobs(whole, heard.menu.names, draw, body.get("top_logprobs", 0))
        return "ok", 200, shapes.good_answer(whole)

    def _text(self, heard: answers.Heard, draw: Draw) -> str:
        options = self._options
        if options.answer == "echo":
            return heard.user
        obedient = options.answer == "obedient"
        return answers.said(heard, draw, obedient=obedient, disagree=options.disagree)

    def _embed(self, raw: bytes, reply: Reply) -> None:
        body = json.loads(raw)
        given = body["input"]
        texts = [given] if isinstance(given, str) else [str(text) for text in given]
        self._counts.embeddings += len(texts)
        packed = body.get("encoding_format") == "base64"
        found = shapes.embeddings(body["model"], texts, self._options, packed=packed)
        self._later(self._options.latency, partial(reply, answer_json(200, found)))

    def _models(self, _: bytes, reply: Reply) -> None:
        names = [name.strip() for name in self._options.models.split(",") if name.strip()]
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "test"} for name in names]
        reply(answer_json(200, {"object": "list", "data": rows}))

    def _stats(self, _: bytes, reply: Reply) -> None:
        stats = {"in_flight": self._in_flight, "options": asdict(self._options)}
        reply(answer_json(200, self._counts.report() | stats))

    def _reset(self, _: bytes, reply: Reply) -> None:
        """Forget what was counted; behave as at the start."""
        self._begin(self._initial)
        reply(answer_json(200, {}))

    def _change(self, raw: bytes, reply: Reply) -> None:
        self._take_up(self._options.changed(json.loads(raw)))
        reply(answer_json(200, asdict(self._options)))
