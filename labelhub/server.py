"""What answers HTTP and websockets: one process, with the worker in it where there is no broker, or
several."""

import fcntl
import logging
import multiprocessing
import os
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from django.conf import settings
from django.db import connections

from apps.authors.consumers.session import wait_for_tasks
from apps.authors.tasks import warm_up
from apps.common.jobs import stop_all_jobs
from apps.common.workers import expect_worker
from labelhub.core.errors import InvalidInput
from labelhub.processor import one_processor
from labelhub.web.connection import Connection, settle

#: Seconds that responses under way get after the order to stop, what goes on beside the sockets
#: after that, and the whole process.
GRACE = 3
AFTER = 1.0
LAST_MOMENT = 6.0
#: Seconds before a process is replaced: one that fails at its start must not use up the machine.
PAUSE = 1.0

Announce = Callable[[str], None]
Work = Callable[[], None]

logger = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """The socket to serve on; ``port`` 0: any free one. Taken before anything else is started.

    Raises:
        InvalidInput: the port is taken, forbidden or none; says what to do.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        settle(listener)
        listener.bind((host, port))
        # Listening now, though nobody answers yet: two servers could bind the same free port.
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        why = getattr(error, "strerror", None) or "there is no such port"
        raise InvalidInput(
            f"Cannot listen on {host}:{port} ({why}); choose another --port."
        ) from None
    return listener


def address_of(listener: socket.socket) -> str:
    """Where a browser finds it."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    listener: socket.socket, *, announce: Announce, warn: Announce, processes: int = 1
) -> None:
    """Serve until SIGINT or SIGTERM; ends within :data:`LAST_MOMENT` seconds of it.

    Args:
        listener: from :func:`listen`.
        processes: how many answer requests; more than one need PostgreSQL and Redis.
        announce: called with the address once requests are answered.
        warn: called with what an operator should know.
    """
    # As Ctrl+C: uvicorn raises the signal it was stopped by again when it has ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        _allow_many_sockets()
        with _data_folder(warn), listener:
            if processes == 1:
                _answer(listener, announce)
            else:
                # What comes before the first of them is ready waits at the socket.
                announce(address_of(listener))
                _run_processes(processes, partial(_answer, listener, _keep_quiet))
    except KeyboardInterrupt:
        return


def _run_processes(count: int, work: Work) -> None:
    """Do ``work`` in ``count`` processes and replace each that ends, until this one is interrupted.

    They end with this process, even if it is killed.

    Raises:
        KeyboardInterrupt: this process was interrupted; its processes have ended.
    """
    connections.close_all()  # processes cannot share a connection
    processes = [_start_process(work) for _ in range(count)]
    try:
        while True:
            wait([process.sentinel for process in processes])
            time.sleep(PAUSE)
            processes = [_replaced(process, work) for process in processes]
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _start_process(work: Work) -> ForkProcess:
    process = multiprocessing.get_context("fork").Process(
        target=_work_below_parent, args=(work,), daemon=True
    )
    process.start()
    return process


def _replaced(process: ForkProcess, work: Work) -> ForkProcess:
    if process.is_alive():
        return process
    logger.warning("A web process ended with code %s; a new one starts.", process.exitcode)
    return _start_process(work)


def _work_below_parent(work: Work) -> None:
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    with suppress(KeyboardInterrupt):
        work()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _answer(listener: socket.socket, announce: Announce) -> None:
    # After the worker's threads, which go where there is room.
    with _worker(), _place():
        _Server(announce).run(sockets=[listener])


def _keep_quiet(_address: str) -> None:
    """The parent process has announced the address."""


#: How uvicorn keeps websockets.
SOCKETS: Mapping[str, Any] = {
    "ws": "websockets-sansio",
    # The widget's frames have 16 KB at most; a little more is refused in its own words.
    "ws_max_size": 64 * 1024,
    "ws_max_queue": 8,
    "ws_per_message_deflate": False,  # costs 50 KB a socket, and our frames are short
    "ws_ping_interval": 20,
    "ws_ping_timeout": 20,
}


class _Server(uvicorn.Server):
    """Tells when it answers, and its process's slices when it is to end."""

    def __init__(self, announce: Announce) -> None:
        config = uvicorn.Config(
            "labelhub.asgi:application",
            http=Connection,
            **SOCKETS,
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_graceful_shutdown=GRACE,
            # Their X-Forwarded-For is believed: allauth's limits then count the real clients.
            forwarded_allow_ips=["127.0.0.1", "::1", *settings.LABELHUB_TRUSTED_PROXIES],
        )
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        await super().startup(sockets)
        if sockets and self.started:
            self._announce(address_of(sockets[0]))
            threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what is open, and let what goes on beside the sockets come to its end."""
        await super().shutdown(sockets)
        await wait_for_tasks(AFTER)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """On the first signal everything begins to stop at once, not one after the other."""
        if not self.should_exit:
            stop_all_jobs()
            _leave_at_the_latest()
        super().handle_exit(sig, frame)


def _leave_at_the_latest() -> None:
    """Python would wait for ever for a thread that waits for a slow model; what such a thread was
    at is unfinished in the database and is taken up at the next start."""
    last = threading.Timer(LAST_MOMENT, os._exit, (0,))
    last.daemon = True
    last.start()


def _allow_many_sockets() -> None:
    """Each is an open file, and what a shell allows is often a thousand."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _place() -> AbstractContextManager[int | None]:
    return one_processor() if settings.LABELHUB_ONE_PROCESSOR else nullcontext()


@contextmanager
def _worker() -> Iterator[None]:
    if not settings.LABELHUB_EMBEDDED_WORKER:
        expect_worker()
        yield
        return
    from labelhub.worker import EmbeddedWorker  # noqa: PLC0415 - only where it works here

    worker = EmbeddedWorker()
    worker.start()
    try:
        yield
    finally:
        # A second Ctrl+C would only break off what the timer above ends in time.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        worker.stop()


def _empty(folder: Path) -> None:
    """Remove what a server that was killed left of requests' bodies."""
    for left in folder.iterdir():
        left.unlink(missing_ok=True)


@contextmanager
def _data_folder(warn: Announce) -> Iterator[None]:
    """Note that this process serves the data folder; says so when another one does already.

    Without a broker both work and nothing is done twice, but live progress stays within a process.
    The kernel drops the lock with the process, however that ends.
    """
    path: Path = settings.DATA_DIR / "server.lock"
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if settings.LABELHUB_EMBEDDED_WORKER:
                warn(
                    f"Another LabelHub server uses {settings.DATA_DIR} already. Both will work, "
                    "but a page shows live progress only of what its own server runs. Set "
                    "LABELHUB_DATA_DIR for a separate one, REDIS_URL for several that work as one."
                )
        else:
            _empty(settings.SPOOL_DIR)
        yield
