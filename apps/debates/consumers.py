"""The socket that tells a page to reload a run. It writes nothing and sends no data."""

import asyncio
import time
from contextlib import suppress
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncJsonWebsocketConsumer
from django.urls import path

from apps.accounts.selectors import find_active_user
from apps.accounts.sessions import is_open
from apps.debates import events
from apps.debates.selectors import may_watch

NOT_SIGNED_IN = 4403
NOT_FOUND = 4404
#: Seconds for which the result of a check of rights stays valid.
CHECK_EVERY = 30.0
#: Seconds between looks at a quiet socket: it closes within a minute of the end of its session.
WATCH_EVERY = 30.0


class RunProgressConsumer(AsyncJsonWebsocketConsumer):
    """Sends ``{"type": "changed"}`` to members of the project whenever the run has changed."""

    group = ""
    #: Closes the socket after the session has ended.
    watch: asyncio.Task[None] | None = None
    #: Time of the last check of rights, by :func:`time.monotonic`.
    checked_at = 0.0

    async def connect(self) -> None:
        """Refuse others by a close code (4403: not signed in, 4404: no run to see)."""
        user = self.scope.get("user")
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        # Accept first: before that, a browser gets the code 1006 for any code.
        await self.accept()
        if user is None or not user.is_authenticated:
            await self.close(code=NOT_SIGNED_IN)
            return
        if not await self._may_still_watch():
            await self.close(code=NOT_FOUND)
            return
        events.listen_here()
        self.group = events.run_group(run_id)
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.send_json({"type": "changed"})
        self.watch = asyncio.create_task(self._close_when_ended())

    async def disconnect(self, code: int) -> None:
        """Leave the group."""
        if self.watch is not None:
            self.watch.cancel()
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)

    async def receive(self, text_data: str | None = None, **kwargs: Any) -> None:
        """Ignore messages from pages."""

    async def run_changed(self, event: events.RunChanged) -> None:
        """Send the message, unless the user may no longer see the run."""
        if not await self._may_still_watch():
            await self.close(code=NOT_FOUND)
            return
        await self.send_json({"type": "changed"})

    async def _close_when_ended(self) -> None:
        while await self._may_still_watch():  # noqa: ASYNC110 - the end of a session is no event
            await asyncio.sleep(WATCH_EVERY)
        with suppress(RuntimeError):  # closed meanwhile
            await self.close(code=NOT_FOUND)

    async def _may_still_watch(self) -> bool:
        """Checked at most every :data:`CHECK_EVERY` seconds: sockets may be open for days."""
        if self.checked_at and time.monotonic() - self.checked_at < CHECK_EVERY:
            return True
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        user_id, session_key = self.scope["user"].pk, self.scope["session"].session_key

        def look_up() -> bool:
            # The user in the scope has the rights of the moment when the socket was opened.
            user = find_active_user(user_id)
            return user is not None and is_open(session_key, user_id) and may_watch(user, run_id)

        allowed: bool = await database_sync_to_async(look_up, thread_sensitive=False)()
        self.checked_at = time.monotonic()
        return allowed


websocket_urlpatterns = [
    path("ws/v1/runs/<int:run_id>/", RunProgressConsumer.as_asgi(), name="run_socket"),
]
