"""A small server that speaks al.v1 from the server's side, for trying the widget in a browser.

In a test::

    with WidgetServer() as server:
        server.origin            # http://127.0.0.1:PORT, serves /widget/… and /ws/v1/widget/
        server.received("answer")
        server.send(question(qid="q1"))
        server.drop(1012)

It keeps everything in memory, acks by frame id (a resend gets the same ack), and does what
``server.rules`` says: ``rules["answer"]`` may return the ``(type, data)`` to reply with.
As a script: ``python tests/fakes/widget_server.py --port 9100``.
"""

import argparse
import asyncio
import json
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeAlias

from aiohttp import WSMsgType, web

Frame: TypeAlias = dict[str, Any]
Reply: TypeAlias = tuple[str, dict[str, Any]]
Rule: TypeAlias = Callable[[Frame], Reply | None]

STATIC = Path(__file__).resolve().parents[2] / "apps" / "authors" / "widget"
UNDO_MS = 5000
FINAL = {"optout", "erase"}
CORS = {"Access-Control-Allow-Origin": "*"}
CONFIG: Frame = {
    "site": "Trial shop",
    "languages": ["en", "de", "es", "fr", "ja", "ar"],
    "lang": "en",
    "dir": "ltr",
    "mode": ["companion", "chat"],
    "enabled": True,
    "consent": {
        "version": 3,
        "text": "May we read what you write here and now and then ask you one short question "
        "about it?",
        "hash": "c0ffee",
        "why": "Your answers help to understand what people need. You can stop at any time.",
        "privacy_url": "https://example.org/privacy",
        "by": "widget",
    },
    "reward": None,
    "chat": {"title": "Trial shop", "greeting": "Hello! What can I do for you?", "matcher": False},
}


def question(**changes: Any) -> Frame:
    """The data of a question of the kind "choice4"; ``changes`` replace parts of it."""
    labels = ("Very urgent", "Rather urgent", "Not very urgent", "Not urgent at all")
    return {
        "qid": str(uuid.uuid4()),
        "re": "m1",
        "conv": "c1",
        "kind": "choice4",
        "text": "When you wrote this, how urgent did it feel?",
        "quote": None,
        "opts": [{"id": f"o{place}", "label": label} for place, label in enumerate(labels, 1)],
        "min_ms": 5000,
        "expires": int(time.time() * 1000) + 600_000,
        "survey": {"n": 1, "of": 1},
        "lang": "en",
        "dir": "ltr",
        "why": "You wrote about an order that has not arrived.",
        "reward": "",
    } | changes


class WidgetServer:
    """Runs in a thread of its own; ``frames`` is every frame that arrived, hello and ping too."""

    def __init__(
        self, *, port: int = 0, static: Path = STATIC, config: Frame | None = None
    ) -> None:
        self.port = port
        self.static = static
        self.config = CONFIG | (config or {})
        self.config_status = 200
        self.state = "asking"
        self.rules: dict[str, Rule] = {}
        self.frames: list[Frame] = []
        self.requests: list[str] = []
        self.stored: dict[str, Reply] = {}
        self.sockets: list[web.WebSocketResponse] = []
        self._seq = 0
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the widget server did not start; is its port taken?")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)

    def received(self, kind: str) -> list[Frame]:
        """The data of all frames of a type, in the order of arrival, resends too."""
        return [frame["d"] for frame in list(self.frames) if frame["t"] == kind]

    def send(self, data: Frame, kind: str = "question") -> None:
        """To every open socket, with the next seq."""
        self._seq += 1
        frame = _frame(kind, data, seq=self._seq)
        for socket in list(self.sockets):
            self._soon(socket.send_str(json.dumps(frame)))

    def drop(self, code: int) -> None:
        """Closes every open socket with the code."""
        for socket in list(self.sockets):
            self._soon(socket.close(code=code))

    def reply(self, to: str, text: str, *, mid: str = "a1", pause: float = 0.02) -> None:
        """Streams the assistant's answer to the message ``to``, word by word."""

        async def stream() -> None:
            for word in text.split(" "):
                self.send({"mid": mid, "to": to, "delta": f"{word} "}, "reply")
                await asyncio.sleep(pause)
            self.send({"mid": mid, "to": to, "final": True, "text": text}, "reply")

        self._soon(stream())

    def _soon(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        runner = web.AppRunner(self._app())
        self._loop.run_until_complete(self._start(runner))
        self._loop.run_forever()
        self._loop.run_until_complete(runner.cleanup())
        self._loop.close()

    async def _start(self, runner: web.AppRunner) -> None:
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()

    def _app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/widget/v1.js", self._loader)
        app.router.add_get("/widget/config/{key}", self._config)
        app.router.add_get("/widget/{build}/{path:.+}", self._file)
        app.router.add_get("/ws/v1/widget/", self._socket)
        return app

    async def _loader(self, request: web.Request) -> web.Response:
        self.requests.append(request.path)
        script = (self.static / "v1.js").read_text().replace("__LH_BUILD__", "b1")
        return web.Response(text=script, content_type="text/javascript", headers=CORS)

    async def _config(self, request: web.Request) -> web.Response:
        self.requests.append(request.path)
        told = self.config | {"time": int(time.time() * 1000)}
        body = told if self.config_status == 200 else {"code": "origin"}
        return web.json_response(body, status=self.config_status, headers=CORS)

    async def _file(self, request: web.Request) -> web.Response:
        self.requests.append(request.path)
        path = (self.static / request.match_info["path"]).resolve()
        if not path.is_relative_to(self.static) or not path.is_file():
            raise web.HTTPNotFound(headers=CORS)
        return web.Response(text=path.read_text(), content_type="text/javascript", headers=CORS)

    async def _socket(self, request: web.Request) -> web.WebSocketResponse:
        socket = web.WebSocketResponse(protocols=("al.v1",), max_msg_size=16 * 1024)
        await socket.prepare(request)
        async for message in socket:
            if message.type is WSMsgType.TEXT:
                with suppress(ConnectionError):
                    await self._hear(socket, json.loads(message.data))
        if socket in self.sockets:
            self.sockets.remove(socket)
        return socket

    async def _hear(self, socket: web.WebSocketResponse, frame: Frame) -> None:
        self.frames.append(frame)
        if frame["t"] == "hello":
            self.sockets.append(socket)
            await socket.send_str(json.dumps(self._welcome(frame["d"])))
            return
        if frame["t"] == "ping":
            await socket.send_str(json.dumps(_frame("pong", {})))
            return
        kind, data = self._judge(frame)
        await socket.send_str(json.dumps(_frame(kind, data, re=frame["id"])))
        if frame["t"] in FINAL and kind == "ack":
            await socket.close(code=4410)

    def _welcome(self, hello: Frame) -> Frame:
        data = {
            "sid": hello.get("sid") or str(uuid.uuid4()),
            "tok": hello.get("tok") or "token",
            "server_time": int(time.time() * 1000),
            "resumed": bool(hello.get("sid")),
            "hb": 25,
            "consent_version": self.config["consent"]["version"],
            "state": self.state,
            "verified": bool(hello.get("ident")),
            "reward": {"balance": "0.40 USD", "held": "0.10 USD"},
        }
        return _frame("welcome", data)

    def _judge(self, frame: Frame) -> Reply:
        """What is stored gets its first reply again; a nack is not stored."""
        rule = self.rules.get(frame["t"])
        reply = (rule(frame) if rule else None) or self.stored.get(frame["id"]) or _usual(frame)
        if reply[0] != "nack":
            self.stored[frame["id"]] = reply
        return reply


def _usual(frame: Frame) -> Reply:
    if frame["t"] == "erase":
        return "ack", {"receipt": "r-4711", "done": True}
    if frame["t"] == "export":
        return "data", {"author": {"messages": [{"text": "Where is my order?"}], "labels": []}}
    return "ack", {"undo_ms": UNDO_MS} if frame["t"] in {"answer", "dismiss"} else {}


def _frame(kind: str, data: Frame, **more: Any) -> Frame:
    return {
        "v": 1,
        "t": kind,
        "id": str(uuid.uuid4()),
        "ts": int(time.time() * 1000),
        "d": data,
    } | more


def main() -> None:
    """Runs until it is interrupted; every message is answered and followed by a question."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--port", type=int, default=9100)
    with WidgetServer(port=parser.parse_args().port) as server, suppress(KeyboardInterrupt):
        print(f"{server.origin}/widget/v1.js")
        asked = 0
        while True:
            time.sleep(0.5)
            messages = [one for one in server.received("msg") if one["role"] == "author"]
            for message in messages[asked:]:
                server.reply(
                    message["mid"], "Thank you, I am looking into it.", mid=str(uuid.uuid4())
                )
                server.send(question(re=message["mid"], quote=[0, 40]))
            asked = len(messages)


if __name__ == "__main__":
    main()
