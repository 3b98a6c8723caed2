"""A project is measured for one at a time, and whoever waited gets what was made meanwhile."""

import threading

import pytest

from apps.agreement.report import services
from apps.agreement.report.services import MeasuringBusy, report_turn

PROJECT, OTHER = 7, 8


def test_who_comes_while_another_measures_waits_and_learns_it() -> None:
    entered, order = threading.Event(), []

    def later() -> None:
        entered.set()
        with report_turn(PROJECT) as waited:
            order.append(("later", waited))

    thread = threading.Thread(target=later)
    with report_turn(PROJECT) as waited:
        thread.start()
        entered.wait(5)
        thread.join(0.05)
        order.append(("first", waited))
    thread.join(5)

    assert order == [("first", False), ("later", True)]


def test_nobody_waits_for_ever() -> None:
    refused = []

    def impatient() -> None:
        try:
            with report_turn(PROJECT, patience=0.01):
                refused.append(False)
        except MeasuringBusy as error:
            refused.append(error.retryable)

    with report_turn(PROJECT):
        thread = threading.Thread(target=impatient)
        thread.start()
        thread.join(5)

    assert refused == [True]


def test_other_projects_are_measured_at_the_same_time() -> None:
    with report_turn(PROJECT), report_turn(OTHER) as waited:
        assert not waited


def test_a_turn_is_over_also_when_measuring_fails() -> None:
    with pytest.raises(ValueError, match="broken"), report_turn(PROJECT):
        raise ValueError("broken")

    with report_turn(PROJECT) as waited:
        assert not waited


@pytest.mark.thorough
def test_of_many_only_some_wait_so_that_threads_are_left_for_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(services, "_seats", threading.BoundedSemaphore(1))
    ended: list[str] = []
    refused = threading.Event()

    def ask() -> None:
        try:
            with report_turn(PROJECT, patience=20):
                ended.append("measured")
        except MeasuringBusy:
            ended.append("refused")
            refused.set()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    with report_turn(PROJECT):
        for thread in threads:
            thread.start()
        assert refused.wait(5), "the second does not wait for its patience to end"
    for thread in threads:
        thread.join(5)

    assert ended == ["refused", "measured"]


def test_where_measuring_is_quick_nobody_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "_seats", threading.BoundedSemaphore(1))
    ended: list[bool] = []

    def ask() -> None:
        with report_turn(PROJECT):
            ended.append(True)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    with report_turn(PROJECT):
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(5)

    assert len(ended) == 8
