"""Several processes that answer requests at one listening socket."""

import logging
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess

from django.db import connections

logger = logging.getLogger(__name__)

#: Seconds before a process is replaced: one that fails at its start must not use up the machine.
PAUSE = 1.0

Work = Callable[[], None]


def run_processes(count: int, work: Work) -> None:
    """Do ``work`` in ``count`` processes and replace each that ends, until this one is interrupted.

    They end with this process, even if it is killed.

    Raises:
        KeyboardInterrupt: this process was interrupted; its processes have ended.
    """
    connections.close_all()  # processes cannot share a connection
    processes = [_start(work) for _ in range(count)]
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


def _start(work: Work) -> ForkProcess:
    process = multiprocessing.get_context("fork").Process(target=_run, args=(work,), daemon=True)
    process.start()
    return process


def _replaced(process: ForkProcess, work: Work) -> ForkProcess:
    if process.is_alive():
        return process
    logger.warning("A web process ended with code %s; a new one starts.", process.exitcode)
    return _start(work)


def _run(work: Work) -> None:
    threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    with suppress(KeyboardInterrupt):
        work()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
