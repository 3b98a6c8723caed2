"""An endpoint that takes one request at a time, as a small server at home does.

Others wait in a queue; a request that nobody waits for any more is worked on all the same.

    with OneSlot(seconds=0.1) as server:
        server.base_url, server.asked
"""

import asyncio
import threading
from typing import Self

from aiohttp import web

from tests.fakes.openai_server import completion, decide


class OneSlot:
    """The server on a free loopback port, in a thread of its own; a context manager.

    ``asked`` counts requests.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), daemon=True)
        self.asked = 0
        self.base_url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)

    async def _serve(self) -> None:
        self._loop, self._stop, self._slot = (
            asyncio.get_running_loop(),
            asyncio.Event(),
            asyncio.Lock(),
        )
        app = web.Application()
        app.router.add_post("/v1/chat/completions", self._chat)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._started.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _chat(self, request: web.Request) -> web.Response:
        body = await request.json()
        self.asked += 1
        # A task of its own: it goes on when the client has hung up.
        await asyncio.shield(asyncio.create_task(self._work()))
        return web.json_response(completion(body["model"], decide(body["messages"])))

    async def _work(self) -> None:
        async with self._slot:
            await asyncio.sleep(self._seconds)
