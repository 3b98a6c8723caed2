"""Messages about runs in the channel layer: "reload", without the change itself.

The data are in the database, so a lost message only delays a page.
"""

import asyncio
import logging
from typing import Literal, TypedDict
from weakref import WeakSet

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer

logger = logging.getLogger(__name__)

#: Event loops of this process in which somebody listens. The in-process layer's queues belong to
#: the loop that reads them and are not safe to fill from another thread.
_listening: WeakSet[asyncio.AbstractEventLoop] = WeakSet()


class RunChanged(TypedDict):
    """Sent to :func:`run_group`; channels calls ``run_changed`` of each consumer there."""

    type: Literal["run.changed"]
    run: int


def run_group(run_id: int) -> str:
    """The group of all consumers that watch a run."""
    return f"run.{run_id}"


def listen_here() -> None:
    """Register the running loop as one in which consumers wait for messages."""
    _listening.add(asyncio.get_running_loop())


def announce_run(run_id: int) -> None:
    """Notify all watchers of the run. Errors of the channel layer are logged, not raised."""
    message = RunChanged(type="run.changed", run=run_id)
    try:
        _send(run_group(run_id), message)
    except Exception:  # noqa: BLE001 - whatever the layer's client raises must not fail a run
        logger.warning("The channel layer did not take a message about run %s", run_id)


def _send(group: str, message: RunChanged) -> None:
    layer = get_channel_layer()
    if layer is None:
        return
    loops = [loop for loop in _listening if loop.is_running()]
    if loops:
        asyncio.run_coroutine_threadsafe(layer.group_send(group, message), loops[0])
    else:
        async_to_sync(layer.group_send)(group, message)
