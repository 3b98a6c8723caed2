"""Lines in threads of their own: a receiver that takes its time keeps nobody waiting."""

import threading
import time
from collections.abc import Callable

import pytest
from django.conf import LazySettings

from apps.exchange.models import Delivery
from apps.exchange.webhooks import editing, keeping
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


def test_a_slow_receiver_delays_no_other(
    settings: LazySettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.LABELHUB_WEBHOOK_LOOPBACK = True
    lines = keeping._Lines(2)
    monkeypatch.setattr(keeping, "start_line", lines.start)
    answer = threading.Event()
    project = ProjectFactory.create()
    with receiver() as slow, receiver() as quick:
        slow.status = lambda _: 200 if answer.wait(60) else 500
        for each in (slow, quick):
            editing.ping(webhook=webhook_of(project, each.address))
        keeping.tend_webhooks()
        until(lambda: len(slow.received) == 1)
        until(lambda: Delivery.objects.filter(status="delivered").count() == 1)
        assert len(quick.received) == 1
        keeping.tend_webhooks()  # the slow one is at work: it is not sent a second time
        answer.set()
        until(lambda: lines._at_work == set())
        assert len(slow.received) == 1


def test_a_process_works_a_bounded_number_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    lines, held, worked = keeping._Lines(1), threading.Event(), list[int]()

    def work(webhook_id: int) -> int:
        worked.append(webhook_id)
        held.wait(60)
        raise ValueError("of this line alone")

    monkeypatch.setattr(keeping, "work_line", work)
    for webhook_id in (1, 1, 2):
        lines.start(webhook_id)
    until(lambda: worked == [1])
    held.set()
    until(lambda: lines._at_work == set())
    lines.start(2)
    until(lambda: lines._at_work == set())
    assert worked == [1, 2]
