"""Work that an event loop hands to the database's threads."""

import asyncio
import threading

import pytest

from apps.authors.database import THREADS, in_database


@pytest.mark.django_db(transaction=True)
async def test_what_was_handed_over_is_done_though_nobody_waits_for_it_any_more() -> None:
    go_on, done = threading.Event(), threading.Event()
    busy = [asyncio.ensure_future(in_database(go_on.wait, 20)) for _ in range(THREADS)]
    waits = asyncio.ensure_future(in_database(done.set))
    await asyncio.sleep(0.05)
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    go_on.set()
    await asyncio.gather(*busy)
    assert await asyncio.to_thread(done.wait, 5)
