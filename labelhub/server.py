"""The server of HTTP and websockets: one process, with the worker in it without Redis, or several
processes."""

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
from contextlib import contextmanager, nullcontext, suppress
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
from apps.common.health import stopping
from apps.common.jobs import stop_all_jobs
from apps.common.workers import expect_workers
from labelhub.core.errors import InvalidInput
from labelhub.processor import one_processor
from labelhub.web.connection import Connection, set_socket_options

#: Seconds after a stop signal for running responses, then for tasks of sockets, and in all.
GRACE = 3
AFTER = 1.0
LAST_MOMENT = 6.0
#: Seconds that an idle connection stays open. Longer than in the proxy (Caddy: 120): otherwise it
#: sends a request just when we close, and answers 502.
KEEP_ALIVE = 150
#: Seconds before a process is replaced, so that a failing start does not use up the machine.
PAUSE = 1.0

Announce = Callable[[str], None]
Work = Callable[[], None]

logger = logging.getLogger(__name__)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens on ``port``, or on any free one for 0.

    Raises:
        InvalidInput: the port is taken, forbidden or invalid.
    """
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        set_socket_options(listener)
        listener.bind((host, port))
        # Listen at once: two servers could bind the same free port.
        listener.listen(2048)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or "there is no such port"
        raise InvalidInput(
            f"Cannot listen on {host}:{port} ({reason}): choose another --port."
        ) from None
    return listener


def address_of(listener: socket.socket) -> str:
    """The address of ``listener`` for browsers."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def serve(
    listener: socket.socket, *, announce: Announce, warn: Announce, processes: int = 1
) -> None:
    """Serve until SIGINT or SIGTERM; ends within :data:`LAST_MOMENT` seconds of it, after SIGTERM
    that many after ``LABELHUB_DRAIN_SECONDS``.

    Args:
        listener: from :func:`listen`.
        processes: number of web processes; more than one needs PostgreSQL and Redis.
        announce: called with the address once the server responds.
        warn: called with warnings for the operator.
    """
    # Like Ctrl+C: uvicorn raises its stop signal again after it has ended.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        # Each socket is an open file, and the default limit is often 1024.
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < hard:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        with _locked_data_folder(warn), listener:
            if processes == 1:
                _serve_requests(listener, announce)
            else:
                # Early requests wait at the socket.
                announce(address_of(listener))
                _run_processes(processes, partial(_serve_requests, listener, lambda _address: None))
    except KeyboardInterrupt:
        return


def _run_processes(count: int, work: Work) -> None:
    """Run ``work`` in ``count`` processes, replacing any that ends, until an interrupt.

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
            for number, process in enumerate(processes):
                if not process.is_alive():
                    logger.warning(
                        "A web process ended with code %s; a new one starts.", process.exitcode
                    )
                    processes[number] = _start_process(work)
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _start_process(work: Work) -> ForkProcess:
    process = multiprocessing.get_context("fork").Process(
        target=_work_until_parent_ends, args=(work,), daemon=True
    )
    process.start()
    return process


def _work_until_parent_ends(work: Work) -> None:
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    with suppress(KeyboardInterrupt):
        work()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGINT)  # at once: the port must be free for the next server


def _serve_requests(listener: socket.socket, announce: Announce) -> None:
    processor = one_processor() if settings.LABELHUB_ONE_PROCESSOR else nullcontext()
    # The worker first, so that its threads may use all processors.
    with _worker(), processor:
        _Server(announce).run(sockets=[listener])


#: uvicorn's settings of websockets.
SOCKETS: Mapping[str, Any] = {
    "ws": "websockets-sansio",
    # The widget's frames have at most 16 KB; its consumer refuses slightly larger ones itself.
    "ws_max_size": 64 * 1024,
    "ws_max_queue": 8,
    "ws_per_message_deflate": False,  # takes 50 KB per socket for short frames
    "ws_ping_interval": 20,
    "ws_ping_timeout": 20,
}


class _Server(uvicorn.Server):
    """Announces its address, and stops the jobs of its process with it."""

    def __init__(self, announce: Announce) -> None:
        config = uvicorn.Config(
            "labelhub.asgi:application",
            http=Connection,
            **SOCKETS,
            lifespan="off",
            log_config=None,
            log_level="warning",
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE,
            timeout_graceful_shutdown=GRACE,
            proxy_headers=False,  # labelhub/web/clients.py
        )
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets and self.started:
            self._announce(address_of(sockets[0]))
            threading.Thread(target=warm_up, name="warm-up", daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await wait_for_tasks(AFTER)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop everything at once, except on the first SIGTERM: then balancers first learn of it.

        A balancer that sends a request to a closed port may lose it (Caddy does if it has a body).
        """
        drain = settings.LABELHUB_DRAIN_SECONDS
        if sig == signal.SIGTERM and drain and not stopping.is_set():
            stopping.set()
            again = threading.Timer(drain, os.kill, (os.getpid(), sig))
            again.daemon = True
            again.start()
            return
        if not self.should_exit:
            stop_all_jobs()
            # Threads may wait for a slow model; their work resumes at the next start.
            last = threading.Timer(LAST_MOMENT, os._exit, (0,))
            last.daemon = True
            last.start()
        super().handle_exit(sig, frame)


@contextmanager
def _worker() -> Iterator[None]:
    if not settings.LABELHUB_EMBEDDED_WORKER:
        expect_workers()
        yield
        return
    from labelhub.worker import EmbeddedWorker  # noqa: PLC0415 - only if it runs here

    worker = EmbeddedWorker()
    worker.start()
    try:
        yield
    finally:
        # The timer in handle_exit ends the process anyway; a second Ctrl+C must not interrupt this.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        worker.stop()


@contextmanager
def _locked_data_folder(warn: Announce) -> Iterator[None]:
    """Lock the data folder for this server; warn if another server has it.

    Without Redis both work and nothing is done twice, but pages show live progress only of their
    own process. The kernel frees the lock when the process ends.
    """
    path: Path = settings.DATA_DIR / "server.lock"
    with path.open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if settings.LABELHUB_EMBEDDED_WORKER:
                warn(
                    f"Another LabelHub server uses {settings.DATA_DIR} already. Both work, but "
                    "pages show live progress only of their own server. Set LABELHUB_DATA_DIR for "
                    "a separate server, or REDIS_URL for several servers that work together."
                )
        else:
            # Bodies of requests that a killed server has left.
            for file in settings.SPOOL_DIR.iterdir():
                file.unlink(missing_ok=True)
        yield
