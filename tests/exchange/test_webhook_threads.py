"""Lines in threads of their own: a receiver that takes its time keeps nobody waiting."""

import threading
import time
from collections.abc import Callable

import pytest
from django.conf import LazySettings

from apps.common.jobs import resume_jobs
from apps.common.models import Job
from apps.exchange.models import Delivery
from apps.exchange.webhooks import services
from apps.exchange.webhooks.delivery_queue import tend_webhooks
from tests.factories.exchange import webhook_of
from tests.factories.projects import ProjectFactory
from tests.fakes.receiver import receiver

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(120)]


def until(true: Callable[[], bool]) -> None:
    """Wait for it."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def round_of_a_worker() -> None:
    tend_webhooks()
    resume_jobs()


def test_a_slow_receiver_delays_no_other(settings: LazySettings) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = True
    answer = threading.Event()
    project = ProjectFactory.create()
    with receiver() as slow, receiver() as quick:
        slow.status = lambda _: 200 if answer.wait(60) else 500
        for webhook in (slow, quick):
            services.ping(webhook=webhook_of(project, webhook.address))
        round_of_a_worker()
        until(lambda: len(slow.received) == 1)
        until(lambda: Delivery.objects.filter(status="delivered").count() == 1)
        assert len(quick.received) == 1
        round_of_a_worker()  # the slow one is at work: it is not sent a second time
        answer.set()
        until(lambda: not Job.objects.exists())
        assert len(slow.received) == 1
