"""An OpenAI-compatible endpoint in a process of its own that costs next to nothing: for benches.

    with FastEndpoint(latency=0.05, capacity=32) as endpoint:
        endpoint.base_url                # http://127.0.0.1:PORT/v1
        endpoint.set(malformed=0.05)     # behave otherwise from here on
        endpoint.stats()["statuses"]     # {"200": 6000, "429": 12}
        endpoint.reset()                 # forget what was counted, behave as at the start

As a script: ``python tests/fakes/fast_endpoint.py --port 0 --latency 0.05`` prints one line of JSON
with its port; it ends when its standard input closes, or after ``--lifetime`` seconds. Options:
``tests/fakes/endpoint/options.py``. For faults in a wanted order see ``openai_server.py``.

Every decision is a hash of the seed, the body and how often this body came: reruns and resumed runs
see the same faults.
"""

import argparse
import asyncio
import dataclasses
import http.client
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, Self

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from tests.fakes.endpoint.options import Options
from tests.fakes.endpoint.service import Service
from tests.fakes.endpoint.wire import Connection


class FastEndpoint:
    """The script as a child while the ``with`` block lasts."""

    def __init__(self, *, lifetime: float = 3600, **options: Any) -> None:
        wanted = Options().changed(options)
        given = {**dataclasses.asdict(wanted), "lifetime": lifetime}
        self._arguments = [f"--{name.replace('_', '-')}={value}" for name, value in given.items()]
        self.port = 0

    def __enter__(self) -> Self:
        """Start it and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve()), *self._arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"The endpoint did not start: {self._process.wait(10)}")
        self.port = json.loads(line)["port"]
        return self

    def __exit__(self, *_: object) -> None:
        """Close its input, which ends it."""
        self._process.communicate()

    @property
    def base_url(self) -> str:
        """What a provider's ``base_url`` is set to."""
        return f"http://127.0.0.1:{self.port}/v1"

    def stats(self) -> dict[str, Any]:
        """What was counted since the last reset."""
        stats: dict[str, Any] = self.ask("GET", "/stats")[1]
        return stats

    def reset(self) -> None:
        """Forget what was counted, behave as at the start."""
        self.ask("POST", "/reset")

    def set(self, **changes: Any) -> None:
        """Behave otherwise."""
        status, stats = self.ask("POST", "/options", changes)
        if status != 200:
            raise ValueError(stats["error"]["message"])

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """One request on a connection of its own: status and decoded body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body))
            response = connection.getresponse()
            return response.status, json.loads(response.read())
        finally:
            connection.close()


async def serve(options: Options, port: int, lifetime: float) -> None:
    """Listen on loopback until the standard input closes or ``lifetime`` seconds are over."""
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    service = Service(options)
    server = await loop.create_server(
        lambda: Connection(service.handle), "127.0.0.1", port, backlog=1024
    )
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)

    def wait_for_end() -> None:
        sys.stdin.buffer.read()
        loop.call_soon_threadsafe(over.set)

    threading.Thread(target=wait_for_end, daemon=True).start()
    loop.call_later(lifetime, over.set)
    await over.wait()
    server.close()


def main() -> None:
    """Run as a script; see the module's text."""
    parser = argparse.ArgumentParser(description="A fast OpenAI-compatible endpoint for tests.")
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--lifetime", type=float, default=3600, help="seconds")
    for field in dataclasses.fields(Options):
        kind = _truth if isinstance(field.default, bool) else type(field.default)
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=kind, default=field.default)
    given = vars(parser.parse_args())
    port, lifetime = given.pop("port"), given.pop("lifetime")
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve(Options(**given), port, lifetime))


def _truth(text: str) -> bool:
    return text.casefold() in ("1", "true", "yes", "on")


def _loop_factory() -> Any:
    """uvloop's loops where it is installed, which halves the cost of a request."""
    try:
        import uvloop  # noqa: PLC0415 - may be missing
    except ImportError:
        return None
    return uvloop.new_event_loop


if __name__ == "__main__":
    main()
