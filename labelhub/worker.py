"""The embedded Celery worker, and the housekeeping of every worker process.

The broker may lose tasks (``memory://`` always does, Redis when it restarts), but the database has
the unfinished work. So each worker process looks for it every few seconds and starts what no worker
holds. Several processes may do so: each start is one conditional update.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

from celery.signals import worker_ready, worker_shutdown, worker_shutting_down
from celery.worker import WorkController
from django.conf import settings
from django.db import DatabaseError, close_old_connections, connections

from apps.agreement.automation.guarantee import keep_guarantees, look_after_job
from apps.authors.tasks import resume_messages, run_housekeeping
from apps.common.api.idempotency import forget_requests
from apps.common.audit import seal_entries
from apps.common.holds import held_since
from apps.common.jobs import await_threads, resume_jobs, stop_all_jobs
from apps.common.metric_files import set_role, show_process
from apps.common.workers import forget_worker, serve_queues, write_heartbeat
from apps.debates.tasks import drive_run, keep_runs
from apps.echo.services.learning import learn_news
from apps.echo.tasks import keep_echo, keep_offers
from apps.exchange.archive.services import import_project
from apps.exchange.saved.services import keep_exports, write_export
from apps.exchange.services.imports import import_rows, sweep_uploads
from apps.exchange.webhooks.delivery_queue import send_due, tend_webhooks
from apps.learning.services import clear_ranks, train
from apps.learning.tasks import keep_learning
from apps.projects.notifications import mail_notification
from apps.reviews.bulk.jobs import carry_out
from apps.reviews.quality.requeue import put_labels_back
from apps.reviews.schema_changes.services import carry_labels
from apps.reviews.search.saved_filters import apply_first_filter, start_first_filters
from labelhub.celery import app
from labelhub.observe.endpoint import listen_for_scrapes
from labelhub.retention import apply_retention, start_retention

logger = logging.getLogger(__name__)

if settings.REDIS_URL:
    from kombu.transport import redis  # most servers have no Redis

    # The database knows which worker has a task, so Redis need not. Otherwise a worker that has
    # lost Redis acknowledges tasks over the broken connection, and crashes (kombu 5.7).
    redis.Channel.ack_emulation = False
    redis.Channel.do_restore = False

#: The jobs of a worker; importing them registers them.
JOBS = (
    apply_first_filter,
    carry_labels,
    carry_out,
    clear_ranks,
    drive_run,
    import_project,
    import_rows,
    learn_news,
    look_after_job,
    mail_notification,
    put_labels_back,
    send_due,
    train,
    write_export,
    apply_retention,
)
HOUSEKEEPING_SECONDS = 2.0
KEEPERS: tuple[Callable[[], object], ...] = (
    write_heartbeat,
    seal_entries,
    keep_runs,
    sweep_uploads,
    forget_requests,
    keep_exports,
    tend_webhooks,
    start_retention,
    resume_messages,
    run_housekeeping,
    keep_guarantees,
    keep_learning,
    keep_offers,
    keep_echo,
    start_first_filters,
    resume_jobs,  # last, as the others create jobs
)
#: Those of a held server (see :mod:`apps.common.holds`). The others would also delete files that
#: only the original's database names, if a copy was given the same bucket.
HELD_KEEPERS = (write_heartbeat, seal_entries, resume_jobs)


class Housekeeping:
    def __init__(self, keepers: tuple[Callable[[], object], ...], pause: float) -> None:
        self._keepers = keepers
        self._pause = pause
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._troubles: dict[Callable[[], object], str] = {}

    def start(self) -> None:
        """Start the thread if it does not run; a worker that had lost its broker calls it again."""
        if self._thread is None or not self._thread.is_alive():
            self._stop.clear()
            self._thread = threading.Thread(target=self._run, name="housekeeping", daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop after the current keeper; returns at once."""
        self._stop.set()

    def _run(self) -> None:
        while not self._stop.is_set():
            close_old_connections()
            for keeper in self._due_keepers():
                close_old_connections()
                self._run_keeper(keeper)
            close_old_connections()
            self._stop.wait(self._pause)
        connections.close_all()

    def _due_keepers(self) -> tuple[Callable[[], object], ...]:
        try:
            return HELD_KEEPERS if held_since() else self._keepers
        except DatabaseError:
            return HELD_KEEPERS  # they log it

    def _run_keeper(self, keeper: Callable[[], object]) -> None:
        try:
            keeper()
        except Exception as error:  # a worker must survive a missing broker
            # Log the traceback once, not in every round.
            if self._troubles.get(keeper) != str(error):
                logger.exception("Looking for unfinished work failed; it will be tried again.")
            self._troubles[keeper] = str(error)
        else:
            self._troubles.pop(keeper, None)


if not settings.LABELHUB_EMBEDDED_WORKER:
    app.amqp.queues.select(settings.LABELHUB_QUEUES)
housekeeping = Housekeeping(KEEPERS, HOUSEKEEPING_SECONDS)


@worker_ready.connect
def _on_ready(**_: object) -> None:
    set_role("worker")
    show_process()
    if settings.LABELHUB_WORKER_METRICS:
        listen_for_scrapes(*settings.LABELHUB_WORKER_METRICS)
    serve_queues(app.amqp.queues.consume_from)
    housekeeping.start()


@worker_shutting_down.connect
def _on_shutting_down(**_: object) -> None:
    """Sent when a worker process gets its stop signal, while its tasks still run."""
    housekeeping.stop()
    stop_all_jobs()


@worker_shutdown.connect
def _on_shutdown(**_: object) -> None:
    housekeeping.stop()
    await_threads()
    with suppress(DatabaseError):
        forget_worker()


class EmbeddedWorker:
    """A Celery worker in a thread of the server process, for installations without Redis.

    It uses Celery's ``WorkController``, as ``Worker`` would take over the process's signals and
    logging. ``WorkController`` sends no ready signal, hence the callback.
    """

    def __init__(self) -> None:
        self._controller = WorkController(
            app=app,
            pool_cls="threads",
            concurrency=8,
            without_mingle=True,
            without_gossip=True,
            without_heartbeat=True,
            ready_callback=lambda _consumer: housekeeping.start(),
        )
        self._thread = threading.Thread(target=self._controller.start, name="worker", daemon=True)

    def start(self) -> None:
        """Start to take tasks; returns at once."""
        self._thread.start()

    def stop(self) -> None:
        """Take no more tasks, and wait for running ones, which stop at their next check."""
        housekeeping.stop()
        stop_all_jobs()
        self._controller.stop()
        self._thread.join()
        await_threads()
